/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the blurs, blocks and colours of a batch to jobs and tiles of kernels. */
#include <string.h>

#include "common/area.h"
#include "cuda/regions/batch_tables.h"

#define ALIGNMENT 256 /* bytes, of each shrunk picture */

/* --- blurs --- */

static bool
has_c (const ConvolveBlur *blur)
{
  return blur->factor > 1;
}

static size_t
bytes_of_c (const ConvolveWork *work)
{
  const ConvolveBlur *blur = work->blur.blur;
  ConvolveRect cell = convolve_blur_cell (blur, convolve_blur_result (blur, &work->plane));
  size_t bytes = (size_t) cell.width * (size_t) cell.height * (size_t) work->pixel.samples * sizeof (uint16_t);

  return has_c (blur) ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
}

size_t
convolve_tables_plan_blurs (const ConvolveBatch *batch)
{
  size_t bytes = 0;

  for (size_t i = 0; i < batch->n_works; i++)
    if (batch->works[i].kind == CONVOLVE_WORK_BLUR)
      bytes += bytes_of_c (&batch->works[i]);
  return bytes;
}

/* The last pixel of b in a tile is the first one of the next tile, where samples lie between two. */
static void
add_blur_tiles (ConvolveTables *tables, const ConvolveBlurJob *job, int number)
{
  int step = job->bits > 0 ? job->tile - 1 : job->tile, last = job->bits > 0 ? 1 : 0;
  const ConvolveRect *result = &job->result;
  int columns = (result->width - last + step - 1) / step, rows = (result->height - last + step - 1) / step;
  ConvolvePixel pixel = job->pixel;
  ConvolveBlurTile *tile = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_BLUR_TILES], sizeof (*tile),
      (size_t) columns * rows * pixel.samples);
  int x = result->x, y = result->y;

  for (int i = 0; i < rows && tile; i++)
    for (int k = 0; k < columns; k++)
      for (int sample = 0; sample < pixel.samples; sample++)
        *tile++ = (ConvolveBlurTile){ number, sample, x + k * step, y + i * step };
}

static void
add_blur (ConvolveTables *tables, const ConvolveWork *work, uint8_t *c)
{
  const ConvolveBlur *blur = work->blur.blur;
  const ConvolvePlane *plane = &work->plane;
  size_t number = tables->table[CONVOLVE_TABLE_BLUR_JOBS].count;
  ConvolveBlurJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_BLUR_JOBS], sizeof (*job), 1);
  bool constant = work->blur.boundary == CONVOLVE_BOUNDARY_CONSTANT;

  if (!job)
    return;
  job->pixel = work->pixel;
  job->source = plane->source;
  job->source_stride = plane->source_stride;
  job->width = plane->width;
  job->height = plane->height;
  job->bits = convolve_blur_bits (blur);
  job->boundary = constant ? CONVOLVE_BOUNDARY_ZERO : work->blur.boundary;
  memcpy (job->outside, constant ? work->pixel.outside : work->pixel.zero, sizeof (job->outside));
  job->result = convolve_blur_result (blur, plane);
  job->cell = convolve_blur_cell (blur, job->result);
  job->c = (uint16_t *) c;
  job->tile = convolve_clamp ((CONVOLVE_BLUR_OUTPUTS >> job->bits) + 1, 2, CONVOLVE_BLUR_TILE);
  job->destination = plane->destination;
  job->destination_stride = plane->destination_stride;
  job->region = plane->region;
  job->row_count = blur->width;
  job->column_count = blur->height;
  memcpy (job->row, blur->row, sizeof (blur->row));
  memcpy (job->column, blur->column, sizeof (blur->column));
  add_blur_tiles (tables, job, (int) number);
  if (has_c (blur))
    convolve_table_add_tiles (tables, CONVOLVE_TABLE_SHRINK_TILES, number,
        (ConvolveRect){ 0, 0, job->cell.width, job->cell.height }, convolve_shrink_width (job->bits),
        convolve_shrink_height (job->bits));
}

void
convolve_tables_add_blurs (ConvolveTables *tables, const ConvolveBatch *batch, uint8_t *arena)
{
  for (size_t i = 0; i < batch->n_works && !tables->failed; i++)
    if (batch->works[i].kind == CONVOLVE_WORK_BLUR) {
      add_blur (tables, &batch->works[i], arena);
      arena += bytes_of_c (&batch->works[i]);
    }
}

/* --- blocks and colours --- */

static void
add_pixelate (ConvolveTables *tables, const ConvolveWork *work)
{
  const ConvolveBlocks *blocks = &work->blocks;
  const ConvolvePlane *plane = &work->plane;
  const ConvolveRect *region = &plane->region;
  size_t number = tables->table[CONVOLVE_TABLE_PIXELATE_JOBS].count;
  ConvolvePixelateJob *job =
      convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_PIXELATE_JOBS], sizeof (*job), 1);
  int left = convolve_floor_div (region->x * blocks->x_step - blocks->x, blocks->size);
  int right = convolve_floor_div ((region->x + region->width - 1) * blocks->x_step - blocks->x, blocks->size);
  int top = convolve_floor_div (region->y * blocks->y_step - blocks->y, blocks->size);
  int bottom = convolve_floor_div ((region->y + region->height - 1) * blocks->y_step - blocks->y, blocks->size);

  if (!job)
    return;
  job->pixel = work->pixel;
  job->blocks = *blocks;
  job->source = plane->source;
  job->source_stride = plane->source_stride;
  job->width = plane->width;
  job->height = plane->height;
  job->destination = plane->destination;
  job->destination_stride = plane->destination_stride;
  job->region = *region;
  convolve_table_add_tiles (tables, CONVOLVE_TABLE_PIXELATE_TILES, number,
      (ConvolveRect){ left, top, right - left + 1, bottom - top + 1 }, 1, 1);
}

static void
add_fill (ConvolveTables *tables, const ConvolveWork *work)
{
  size_t number = tables->table[CONVOLVE_TABLE_FILL_JOBS].count;
  ConvolveFillJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_FILL_JOBS], sizeof (*job), 1);

  if (!job)
    return;
  job->pixel = work->pixel;
  memcpy (job->values, work->values, sizeof (job->values));
  job->destination = work->plane.destination;
  job->destination_stride = work->plane.destination_stride;
  job->region = work->plane.region;
  convolve_table_add_tiles (tables, CONVOLVE_TABLE_FILL_TILES, number, work->plane.region, CONVOLVE_TILE_WIDTH,
      CONVOLVE_TILE_HEIGHT);
}

void
convolve_tables_add_simple (ConvolveTables *tables, const ConvolveBatch *batch)
{
  for (size_t i = 0; i < batch->n_works && !tables->failed; i++)
    switch (batch->works[i].kind) {
      case CONVOLVE_WORK_PIXELATE:
        add_pixelate (tables, &batch->works[i]);
        break;
      case CONVOLVE_WORK_FILL:
        add_fill (tables, &batch->works[i]);
        break;
      case CONVOLVE_WORK_CONVOLVE:
      case CONVOLVE_WORK_BLUR:
      case CONVOLVE_WORK_COPY:
      case CONVOLVE_WORK_BLEND:
        break;
    }
}
