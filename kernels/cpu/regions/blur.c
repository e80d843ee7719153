/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wide blurs on the CPU. The part of the shrunk picture that a region needs is called its cell: the result's pixels,
 * with as many around them as the weights reach. Samples of a pixel lie side by side in the cell and in the result.
 */
#include "cpu/regions/blur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/area.h"
#include "common/batch.h"
#include "common/internal.h"
#include "common/sample.h"
#include "cpu/paths/integers.h"
#include "cpu/loops/levels.h"

#define MIDDLE \
  32768 /* subtracted from c and r, so that they fit signed 16 bits; weights add up to one, so it comes back */

/* --- the cell --- */

/* A task, and the rows that one thread fills. */
typedef struct
{
  const ConvolveBlurTask *task;
  uint32_t *sums; /* of samples in full size, for one row of squares */
  uint16_t *c;    /* one row of the cell, from its first column on */
  ConvolvePair *neighbours;
  uint16_t *r[2];    /* two rows */
  uint32_t *between; /* one row of what lies between two rows of b */
  uint16_t *values;  /* one row of the region */
} Rows;

static const uint8_t *
source_at (const ConvolveBlurTask *job, int x, int y)
{
  return (const uint8_t *) job->plane.source + y * job->plane.source_stride + (ptrdiff_t) x * job->pixel->stride;
}

/* The code value of sample k outside the picture, where the boundary has a level there. */
static int
level_of (const ConvolveBlurTask *job, int k)
{
  return job->boundary == CONVOLVE_BOUNDARY_CONSTANT ? job->pixel->outside[k] : job->pixel->zero[k];
}

static void
add_bytes (const uint8_t *from, int count, uint32_t *sums)
{
  for (int i = 0; i < count; i++)
    sums[i] += from[i];
}

/* Adds the samples of `count` pixels of a row to sums, one for each sample. */
static void
add_inside (const ConvolvePixel *pixel, const uint8_t *from, int count, uint32_t *sums)
{
  int size = convolve_sample_size (pixel->type);

  if (pixel->type == CONVOLVE_SAMPLE_U8 && pixel->stride == pixel->samples) {
    add_bytes (from, count * pixel->samples, sums);
    return;
  }
  for (int i = 0; i < count; i++, from += pixel->stride)
    for (int k = 0; k < pixel->samples; k++)
      sums[i * pixel->samples + k] += (uint32_t) convolve_read_sample (pixel, from + k * size);
}

/* Adds row v of the picture, with the boundary around it, from column `first` up to `end`; none of them is inside. */
static void
add_outside (const ConvolveBlurTask *job, int v, int first, int end, uint32_t *sums)
{
  int size = convolve_sample_size (job->pixel->type);
  int y = convolve_boundary_index (job->boundary, v, job->plane.height);

  for (int u = first; u < end; u++) {
    int x = y < 0 ? -1 : convolve_boundary_index (job->boundary, u, job->plane.width);

    for (int k = 0; k < job->pixel->samples; k++)
      *sums++ +=
          (uint32_t) (x < 0 ? level_of (job, k) : convolve_read_sample (job->pixel, source_at (job, x, y) + k * size));
  }
}

/* Adds row v of the picture, with the boundary around the picture, from column `first` up to `end`. */
static void
add_row (const ConvolveBlurTask *job, int v, int first, int end, uint32_t *sums)
{
  int y = convolve_boundary_index (job->boundary, v, job->plane.height), samples = job->pixel->samples;
  int left = y < 0 ? end : convolve_clamp (0, first, end), right = convolve_clamp (job->plane.width, left, end);

  add_outside (job, v, first, left, sums);
  if (left < right)
    add_inside (job->pixel, source_at (job, left, y), right - left, sums + (ptrdiff_t) (left - first) * samples);
  add_outside (job, v, right, end, sums + (ptrdiff_t) (right - first) * samples);
}

/* c of `width` pixels, from sums of rows of samples; for the compiler to make a loop of each kind. */
static inline __attribute__ ((always_inline)) void
add_columns (const uint32_t *restrict square, int width, int samples, int bits, int depth, uint16_t *restrict to)
{
  for (int i = 0; i < width; i++)
    for (int k = 0; k < samples; k++) {
      uint32_t sum = 0;

      for (int n = 0; n < 1 << bits; n++)
        sum += square[(i << bits) * samples + n * samples + k];
      to[i * samples + k] = convolve_blur_mean (sum, bits, depth);
    }
}

/* c of row j of the cell: the rows of the picture are added first, and then the columns. */
static void
make_c (const Rows *rows, int j)
{
  const ConvolveBlurTask *job = rows->task;
  const ConvolveRect *cell = &job->cell;
  int factor = 1 << job->bits, samples = job->pixel->samples, depth = job->pixel->depth;
  int first = cell->x * factor, end = first + cell->width * factor;

  memset (rows->sums, 0, (size_t) (end - first) * samples * sizeof (rows->sums[0]));
  for (int v = (cell->y + j) * factor; v < (cell->y + j + 1) * factor; v++)
    add_row (job, v, first, end, rows->sums);
  if (job->bits == 0)
    add_columns (rows->sums, cell->width * samples, 1, 0, depth, rows->c);
  else if (samples == 1 && job->bits == 1)
    add_columns (rows->sums, cell->width, 1, 1, depth, rows->c);
  else if (samples == 1 && job->bits == 2)
    add_columns (rows->sums, cell->width, 1, 2, depth, rows->c);
  else if (samples == 2 && job->bits == 1)
    add_columns (rows->sums, cell->width, 2, 1, depth, rows->c);
  else if (samples == 2 && job->bits == 2)
    add_columns (rows->sums, cell->width, 2, 2, depth, rows->c);
  else
    add_columns (rows->sums, cell->width, samples, job->bits, depth, rows->c);
}

/* --- the passes --- */

/* (sum >> 15) + MIDDLE, of sums that begin with the half that rounds them. */
static const ConvolveShift shift = { .bits = 15, .middle = MIDDLE, .maximum = 65535 };

static size_t
padded (int count)
{
  return (size_t) count + CONVOLVE_CPU_PADDING;
}

/* r of row j of the cell, from c. One weight is 2^15 alone, which is no signed number of 16 bits. */
static void
make_r (const Rows *rows, int j)
{
  const ConvolveBlurTask *job = rows->task;
  uint16_t *to = rows->r[j % 2];
  const ConvolvePair *neighbours = rows->neighbours;

  make_c (rows, j);
  if (job->blur->width == 1) {
    memcpy (to, rows->c, (size_t) job->count * sizeof (*to));
    return;
  }
  job->level->pair_up (rows->c, rows->c + job->pixel->samples, job->cell.width * job->pixel->samples, MIDDLE,
      rows->neighbours);
  job->level->values_of_row (&job->row, &neighbours, job->count, job->starts, &shift, to);
}

static ConvolvePair *
pairs_at (const ConvolveBlurTask *job, int m)
{
  return job->pairs + (size_t) m * padded (job->count);
}

static uint16_t *
b_at (const ConvolveBlurTask *job, int j)
{
  return job->b + (size_t) j * padded (job->count);
}

/* The pair of rows 2 m and 2 m + 1 of r; b of these rows where the blur has one weight in this direction. */
static void
make_pair (const Rows *rows, int m)
{
  const ConvolveBlurTask *job = rows->task;

  for (int j = 2 * m; j < 2 * m + 2; j++) {
    if (j < job->cell.height)
      make_r (rows, j);
    else
      memset (rows->r[1], 0, (size_t) job->count * sizeof (*rows->r[1]));
    if (job->blur->height == 1 && j < job->cell.height)
      memcpy (b_at (job, j), rows->r[j % 2], (size_t) job->count * sizeof (*job->b));
  }
  if (job->blur->height > 1)
    job->level->pair_up (rows->r[0], rows->r[1], job->count, MIDDLE, pairs_at (job, m));
}

static void
make_coarse (uint16_t *b, int count, int depth, bool fine)
{
  for (int i = 0; i < count; i++)
    b[i] = convolve_blur_coarse (b[i], depth, fine);
}

/* b of rows j and j + 1 of the result. */
static void
make_b (const ConvolveBlurTask *job, int j)
{
  const ConvolvePair *rows[(CONVOLVE_MAX_BLUR + 1) / 2];

  for (int m = 0; m < (job->blur->height + 1) / 2; m++)
    rows[m] = pairs_at (job, j / 2 + m);
  if (job->blur->height > 1)
    job->level->values_of_rows (&job->column, rows, job->count, (const int32_t *const[]){ job->starts, job->starts },
        &shift, b_at (job, j), b_at (job, j + 1));
  for (int i = j; i < j + 2 && i < job->result.height; i++)
    make_coarse (b_at (job, i), job->count, job->pixel->depth, job->blur->fine);
}

/* --- the samples --- */

/* Interpolates between two rows of b; weight is that of the row below, of 2 factor. */
static void
find_between (const uint16_t *restrict above, const uint16_t *restrict below, int count, int weight, int bits,
    uint32_t *restrict between)
{
  for (int i = 0; i < count; i++)
    between[i] = convolve_blur_between (above[i], below[i], weight, bits);
}

/* The samples of `count` pixels from pixel x on; between begins at pixel `first` of b. */
static inline __attribute__ ((always_inline)) void
find_samples (const uint32_t *restrict between, int first, int x, int count, int samples, int bits, int depth,
    uint16_t *restrict values)
{
  for (int i = 0; i < count; i++) {
    ConvolveNeighbours across = convolve_find_neighbours (x + i, bits);
    const uint32_t *at = between + (ptrdiff_t) (across.first - first) * samples;

    for (int k = 0; k < samples; k++)
      values[i * samples + k] =
          (uint16_t) convolve_blur_sample (convolve_blur_between (at[k], bits == 0 ? at[k] : at[k + samples],
                                               across.weight, bits),
              bits, depth);
  }
}

static void
write_row (const Rows *rows, int y)
{
  const ConvolveBlurTask *job = rows->task;
  const ConvolvePixel *pixel = job->pixel;
  const ConvolveRect *region = &job->plane.region;
  ConvolveNeighbours down = convolve_find_neighbours (y, job->bits);
  const uint16_t *above = b_at (job, down.first - job->result.y);
  uint8_t *to = (uint8_t *) ((uintptr_t) job->plane.destination
      + (uintptr_t) (y * job->plane.destination_stride + (ptrdiff_t) region->x * pixel->stride));
  int samples = pixel->samples, depth = pixel->depth, x = region->x, first = job->result.x;

  find_between (above, job->bits == 0 ? above : above + padded (job->count), job->count, down.weight, job->bits,
      rows->between);
  if (job->bits == 0)
    find_samples (rows->between, first * samples, x * samples, region->width * samples, 1, 0, depth, rows->values);
  else if (samples == 1)
    find_samples (rows->between, first, x, region->width, 1, job->bits, depth, rows->values);
  else if (samples == 2)
    find_samples (rows->between, first, x, region->width, 2, job->bits, depth, rows->values);
  else
    find_samples (rows->between, first, x, region->width, samples, job->bits, depth, rows->values);
  job->level->store (pixel, rows->values, region->width, to, to);
}

/* The bytes of `count` numbers of `size` bytes, from *bytes on, which moves behind them. */
static size_t
place (size_t *bytes, size_t count, size_t size)
{
  size_t start = *bytes;

  *bytes += (count * size + CONVOLVE_CACHE_LINE - 1) / CONVOLVE_CACHE_LINE * CONVOLVE_CACHE_LINE;
  return start;
}

/* Lays what threads share out from `memory` on, which may be NULL; gives the bytes. */
static size_t
lay_out_task (ConvolveBlurTask *job, uint8_t *memory)
{
  const ConvolveBlur *blur = job->blur;
  size_t bytes = 0, row = padded (job->count);
  size_t starts = place (&bytes, row, sizeof (*job->starts));
  size_t pairs = place (&bytes, (size_t) (job->cell.height / 2 + 2) * row, sizeof (*job->pairs));
  size_t b = place (&bytes, (size_t) (job->result.height + 1) * row, sizeof (*job->b));
  size_t across = place (&bytes, (size_t) (blur->width + 1) / 2, sizeof (ConvolveTerm));
  size_t down = place (&bytes, (size_t) (blur->height + 1) / 2, sizeof (ConvolveTerm));

  if (!memory)
    return bytes;
  job->starts = (int32_t *) (memory + starts);
  job->pairs = (ConvolvePair *) (memory + pairs);
  job->b = (uint16_t *) (memory + b);
  job->row.terms = (ConvolveTerm *) (memory + across);
  job->column.terms = (ConvolveTerm *) (memory + down);
  return bytes;
}

size_t
convolve_blur_begin (ConvolveBlurTask *job, const ConvolvePixel *pixel, ConvolveBoundary boundary,
    const ConvolveBlur *blur, const ConvolvePlane *plane)
{
  *job = (ConvolveBlurTask){ .pixel = pixel, .boundary = boundary, .blur = blur, .plane = *plane };
  job->bits = convolve_blur_bits (blur);
  job->level = convolve_cpu_level (convolve_cpu_level_count () - 1);
  job->result = convolve_blur_result (blur, plane);
  job->cell = convolve_blur_cell (blur, job->result);
  job->count = job->result.width * pixel->samples;
  return lay_out_task (job, NULL);
}

void
convolve_blur_place (ConvolveBlurTask *job, void *memory)
{
  const ConvolveBlur *blur = job->blur;
  int row[CONVOLVE_MAX_BLUR], column[CONVOLVE_MAX_BLUR];

  lay_out_task (job, memory);
  for (size_t i = 0; i < padded (job->count); i++)
    job->starts[i] = CONVOLVE_BLUR_SUM / 2;
  for (int i = 0; i < blur->width; i++)
    row[i] = blur->row[i];
  for (int j = 0; j < blur->height; j++)
    column[j] = blur->column[j];
  job->row.count = job->column.count = 0;
  convolve_cpu_add_row (&job->row, row, blur->width, 0, 0, job->pixel->samples);
  convolve_cpu_add_pairs (&job->column, column, blur->height, 1, 0, 0, true);
}

/* Lays the rows of a thread out from `memory` on, which may be NULL; gives their bytes. */
static size_t
lay_out (const ConvolveBlurTask *job, uint8_t *memory, Rows *rows)
{
  int samples = job->pixel->samples, cell = job->cell.width * samples;
  size_t bytes = 0, row = padded (job->count);
  size_t sums = place (&bytes, (size_t) cell * (size_t) job->blur->factor, sizeof (*rows->sums));
  size_t c = place (&bytes, padded (cell + samples), sizeof (*rows->c));
  size_t neighbours = place (&bytes, padded (cell), sizeof (*rows->neighbours));
  size_t r = place (&bytes, 2 * row, sizeof (*rows->r[0]));
  size_t between = place (&bytes, row, sizeof (*rows->between));
  size_t values = place (&bytes, padded (job->plane.region.width * samples), sizeof (*rows->values));

  if (!memory)
    return bytes;
  rows->task = job;
  rows->sums = (uint32_t *) (memory + sums);
  rows->c = (uint16_t *) (memory + c);
  memset (rows->c + cell, 0, (padded (cell + samples) - (size_t) cell) * sizeof (*rows->c));
  rows->neighbours = (ConvolvePair *) (memory + neighbours);
  rows->r[0] = (uint16_t *) (memory + r);
  rows->r[1] = rows->r[0] + row;
  rows->between = (uint32_t *) (memory + between);
  rows->values = (uint16_t *) (memory + values);
  return bytes;
}

size_t
convolve_blur_thread_bytes (const ConvolveBlurTask *job)
{
  return lay_out (job, NULL, NULL);
}

int
convolve_blur_rows (const ConvolveBlurTask *job, int step)
{
  return step == 0 ? (job->cell.height + 1) / 2 : step == 1 ? (job->result.height + 1) / 2 : job->plane.region.height;
}

void
convolve_blur_run (const ConvolveBlurTask *job, int step, int first, int end, void *memory)
{
  Rows rows = { 0 };

  lay_out (job, memory, &rows);
  for (int i = first; i < end; i++)
    if (step == 0)
      make_pair (&rows, i);
    else if (step == 1)
      make_b (job, 2 * i);
    else
      write_row (&rows, job->plane.region.y + i);
}
