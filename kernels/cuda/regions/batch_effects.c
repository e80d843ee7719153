/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the blurs, blocks, colours and drawings of a batch to jobs and tiles of kernels. */
#include <string.h>

#include "common/area.h"
#include "cuda/regions/batch_tables.h"

#define ALIGNMENT 256 /* bytes, of each shrunk picture */

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

/* Adds the boxes of a blend to the effect's table, and lets the effect write to the picture. */
static void
blend_at_once (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *blend, ConvolveEffect *effect)
{
  ConvolveTable *table = &tables->table[CONVOLVE_TABLE_EFFECT_BOXES];
  ConvolveExtras extras;
  ConvolveArea area = convolve_batch_area (batch, blend, &extras);
  ConvolveRect *boxes;

  effect->first_box = (int) table->count;
  effect->n_boxes = area.count;
  effect->shape = (uint8_t) area.shape;
  effect->feather = (uint8_t) area.feather;
  effect->x_step = (uint8_t) area.x_step;
  effect->y_step = (uint8_t) area.y_step;
  effect->outside = area.outside;
  effect->transparency = area.transparency;
  effect->is_blended = true;
  effect->target = convolve_table_add_target (tables, blend);
  boxes = convolve_table_extend (tables, table, sizeof (*boxes), (size_t) area.count);
  if (boxes && area.count > 0)
    memcpy (boxes, area.boxes, (size_t) area.count * sizeof (*boxes));
}

/* Fills what all effects have, for a job of `columns` x `rows` tiles, of which *tiles were there before. */
static void
init_effect (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work, int columns, size_t count,
    size_t *tiles, ConvolveEffect *effect)
{
  const ConvolveWork *blend = convolve_tables_blend_of (tables, batch, work);

  effect->first_tile = (int) *tiles;
  effect->columns = columns;
  effect->source = convolve_table_add_source (tables, work);
  effect->destination = work->plane.destination;
  effect->destination_stride = work->plane.destination_stride;
  effect->region = work->plane.region;
  if (blend)
    blend_at_once (tables, batch, blend, effect);
  *tiles += count;
}

static int
divide_up (int a, int b)
{
  return (a + b - 1) / b;
}

/* --- blurs --- */

/* The number of the blur's weights in their table: blurs are few, and each has many boxes. */
static int
add_weights (ConvolveTables *tables, const ConvolveBlur *blur)
{
  const ConvolveBlur **blurs = tables->blurs.elements;
  ConvolveBlurWeights *weights;

  for (size_t i = 0; i < tables->blurs.count; i++)
    if (blurs[i] == blur)
      return (int) i;
  blurs = convolve_table_extend (tables, &tables->blurs, sizeof (*blurs), 1);
  weights = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_WEIGHTS], sizeof (*weights), 1);
  if (!blurs || !weights)
    return 0;
  *blurs = blur;
  weights->row_count = blur->width;
  weights->column_count = blur->height;
  memcpy (weights->row, blur->row, sizeof (blur->row));
  memcpy (weights->column, blur->column, sizeof (blur->column));
  return (int) tables->blurs.count - 1;
}

/* The last pixel of b in a tile is the first one of the next tile, where samples lie between two. */
static void
add_blur (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work, uint8_t *c)
{
  const ConvolveBlur *blur = work->blur.blur;
  ConvolveBlurJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_BLUR_JOBS], sizeof (*job), 1);
  ConvolveRect cell;
  int step, last, columns, rows;

  if (!job)
    return;
  job->weights = add_weights (tables, blur);
  job->bits = (uint8_t) convolve_blur_bits (blur);
  job->tile = (uint8_t) convolve_clamp ((CONVOLVE_BLUR_OUTPUTS >> job->bits) + 1, 2, CONVOLVE_BLUR_TILE);
  job->outside_is_constant = work->blur.boundary == CONVOLVE_BOUNDARY_CONSTANT;
  job->fine = blur->fine;
  job->boundary = job->outside_is_constant ? CONVOLVE_BOUNDARY_ZERO : work->blur.boundary;
  job->result = convolve_blur_result (blur, &work->plane);
  job->c = (uint16_t *) c;
  last = job->bits > 0 ? 1 : 0;
  step = job->tile - last;
  columns = divide_up (job->result.width - last, step);
  rows = divide_up (job->result.height - last, step);
  init_effect (tables, batch, work, columns, (size_t) columns * rows * work->pixel.samples, &tables->blur_tiles,
      &job->effect);
  cell = convolve_blur_cell (blur, job->result);
  job->first_shrink_tile = (int) tables->shrink_tiles;
  job->shrink_columns = divide_up (cell.width, convolve_shrink_width (job->bits));
  if (has_c (blur))
    tables->shrink_tiles += (size_t) job->shrink_columns * divide_up (cell.height, convolve_shrink_height (job->bits));
}

void
convolve_tables_add_blurs (ConvolveTables *tables, const ConvolveBatch *batch, uint8_t *arena)
{
  for (size_t i = 0; i < batch->n_works && !tables->failed; i++)
    if (batch->works[i].kind == CONVOLVE_WORK_BLUR) {
      add_blur (tables, batch, &batch->works[i], arena);
      arena += bytes_of_c (&batch->works[i]);
    }
}

/* --- blocks, colours and drawings --- */

/* Pixels of a block that one block of threads adds up and writes, and of a piece of a larger one, about. */
#define LARGE_BLOCK 2048
#define PIECE 1024
#define MOST_PIECES 32 /* at most CONVOLVE_BATCH_THREADS, because each thread of a block adds one sum */

static int
pieces_of (const ConvolveBlocks *blocks)
{
  int64_t pixels = (int64_t) divide_up (blocks->size, blocks->x_step) * divide_up (blocks->size, blocks->y_step);

  if (pixels <= LARGE_BLOCK)
    return 1;
  return pixels > (int64_t) MOST_PIECES * PIECE ? MOST_PIECES : divide_up ((int) pixels, PIECE);
}

static size_t
bytes_of_sums (const ConvolveWork *work)
{
  ConvolveRect blocks = convolve_blocks_around (&work->blocks, work->plane.region);
  int pieces = pieces_of (&work->blocks);

  return pieces == 1
      ? 0
      : (size_t) blocks.width * (size_t) blocks.height * (size_t) pieces * CONVOLVE_MAX_SAMPLES * sizeof (uint64_t);
}

size_t
convolve_tables_plan_sums (const ConvolveBatch *batch)
{
  size_t bytes = 0;

  for (size_t i = 0; i < batch->n_works; i++)
    if (batch->works[i].kind == CONVOLVE_WORK_PIXELATE)
      bytes += bytes_of_sums (&batch->works[i]);
  return bytes;
}

static void
add_pixelate (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work, uint8_t *sums)
{
  const ConvolveBlocks *blocks = &work->blocks;
  ConvolvePixelateJob *job =
      convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_PIXELATE_JOBS], sizeof (*job), 1);
  ConvolveRect around = convolve_blocks_around (blocks, work->plane.region);
  size_t tiles;

  if (!job)
    return;
  job->blocks = *blocks;
  job->first_column = around.x;
  job->first_row = around.y;
  job->columns = around.width;
  job->pieces = pieces_of (blocks);
  job->sums = (uint64_t *) sums;
  job->first_sum_tile = (int) tables->sum_tiles;
  tiles = (size_t) around.width * (size_t) around.height * (size_t) job->pieces;
  init_effect (tables, batch, work, around.width * job->pieces, tiles, &tables->pixelate_tiles, &job->effect);
  tables->sum_tiles += job->pieces > 1 ? tiles : 0;
}

static void
add_fill (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work)
{
  ConvolveFillJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_FILL_JOBS], sizeof (*job), 1);
  const ConvolveRect *region = &work->plane.region;
  const int columns = divide_up (region->width, CONVOLVE_TILE_WIDTH);

  if (!job)
    return;
  memcpy (job->values, work->values, sizeof (job->values));
  init_effect (tables, batch, work, columns, (size_t) columns * divide_up (region->height, CONVOLVE_TILE_HEIGHT),
      &tables->fill_tiles, &job->effect);
}

static void
add_draw (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work)
{
  ConvolveDrawJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_DRAW_JOBS], sizeof (*job), 1);
  const ConvolveRect *region = &work->plane.region;
  const int columns = divide_up (region->width, CONVOLVE_TILE_WIDTH);

  if (!job)
    return;
  job->drawing = work->drawing;
  init_effect (tables, batch, work, columns, (size_t) columns * divide_up (region->height, CONVOLVE_TILE_HEIGHT),
      &tables->draw_tiles, &job->effect);
}

void
convolve_tables_add_simple (ConvolveTables *tables, const ConvolveBatch *batch, uint8_t *arena)
{
  for (size_t i = 0; i < batch->n_works && !tables->failed; i++)
    switch (batch->works[i].kind) {
      case CONVOLVE_WORK_PIXELATE:
        add_pixelate (tables, batch, &batch->works[i], arena);
        arena += bytes_of_sums (&batch->works[i]);
        break;
      case CONVOLVE_WORK_FILL:
        add_fill (tables, batch, &batch->works[i]);
        break;
      case CONVOLVE_WORK_DRAW:
        add_draw (tables, batch, &batch->works[i]);
        break;
      case CONVOLVE_WORK_CONVOLVE:
      case CONVOLVE_WORK_BLUR:
      case CONVOLVE_WORK_COPY:
      case CONVOLVE_WORK_BLEND:
        break;
    }
}
