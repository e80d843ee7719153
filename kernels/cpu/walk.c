/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a job walks down its rows, in each of the ways that cpu/prepare.c decides between. */
#include <math.h>
#include <string.h>

#include "common/boundary.h"
#include "cpu/job.h"

#define BATCH_COLUMNS 128 /* elements of the rows under a mask that are read again for each row of a batch */
#define PREFETCH_ROWS 3   /* how far ahead rows are asked for */

/* Moves the oldest of n rows to the end. */
static void *
turn (void *rows, int n)
{
  void **ring = rows, *oldest = ring[0];

  memmove (ring, ring + 1, (n - 1) * sizeof (*ring));
  return ring[n - 1] = oldest;
}

/* --- rows in and out --- */

static void
fill_zero (const ConvolveCpuJob *job, uint16_t *values, int pixels)
{
  for (int i = 0; i < pixels; i++)
    for (int k = 0; k < job->step; k++)
      *values++ = (uint16_t) job->work->plan->pixel.zero[k];
}

/* Asks for a row that is wanted soon: caches do not foresee it, for rows are short and lie pages apart. */
static inline void
prefetch (const uint8_t *line, ptrdiff_t bytes, bool to_write)
{
  for (ptrdiff_t i = 0; i < bytes; i += CONVOLVE_CACHE_LINE) {
    if (to_write)
      __builtin_prefetch (line + i, 1);
    else
      __builtin_prefetch (line + i, 0);
  }
}

/* Row y where it lies, or NULL for the zero level; asks for one that comes later. */
static const uint8_t *
find_line (const ConvolveCpuJob *job, int y)
{
  const ConvolvePlane *plane = job->work->plane;
  int stride = job->work->plan->pixel.stride;
  const uint8_t *line;

  y = convolve_boundary_index (job->work->plan->boundary, y, plane->height);
  if (y < 0)
    return NULL;
  line = (const uint8_t *) plane->source + y * plane->source_stride;
  if (y + PREFETCH_ROWS < plane->height)
    prefetch (line + PREFETCH_ROWS * plane->source_stride + (ptrdiff_t) job->first * stride,
        (ptrdiff_t) (job->last - job->first) * stride, false);
  return line;
}

/* Row y of the picture and, by the boundary, of what is around it, as far as the mask reaches. */
static void
load_row (const ConvolveCpuJob *job, int y, uint16_t *values)
{
  const ConvolvePixel *pixel = &job->work->plan->pixel;
  int n = job->step, inside = job->last - job->first;
  const uint8_t *line = find_line (job, y);

  if (!line) {
    fill_zero (job, values, job->reach / n);
    return;
  }
  job->level->load (pixel, line + (ptrdiff_t) job->first * pixel->stride, inside, values + job->left * n);
  for (int i = 0; i < job->n_outside; i++) {
    uint16_t *to = values + (i < job->left ? i : i + inside) * n;
    int at = job->outside[i];

    if (at < 0)
      fill_zero (job, to, 1);
    else if (at >= job->first && at < job->last)
      memcpy (to, values + (job->left + at - job->first) * n, n * sizeof (*to));
    else
      job->level->load (pixel, line + (ptrdiff_t) at * pixel->stride, 1, to);
  }
}

/* Rows y and y + 1 as pairs. Bytes that lie as they are wanted become pairs at once. */
static void
load_pairs (const ConvolveCpuJob *job, int y, ConvolvePair *pairs)
{
  const ConvolvePixel *pixel = &job->work->plan->pixel;
  int n = job->step, inside = job->last - job->first, center = job->cpu->center;
  bool packed = pixel->type == CONVOLVE_SAMPLE_U8 && pixel->stride == n;
  const uint8_t *first = packed ? find_line (job, y) : NULL, *second = packed ? find_line (job, y + 1) : NULL;

  if (!first || !second) {
    load_row (job, y, job->values[0]);
    load_row (job, y + 1, job->values[1]);
    job->level->pair_up (job->values[0], job->values[1], job->reach, center, pairs);
    return;
  }
  job->level->pair_up_bytes (first + (ptrdiff_t) job->first * n, second + (ptrdiff_t) job->first * n, inside * n,
      center, pairs + job->left * n);
  for (int i = 0; i < job->n_outside; i++) {
    ConvolvePair *to = pairs + (i < job->left ? i : i + inside) * n;
    int at = job->outside[i];

    if (at < 0)
      for (int k = 0; k < n; k++)
        to[k] = convolve_pair (pixel->zero[k] - center, pixel->zero[k] - center);
    else if (at >= job->first && at < job->last)
      memcpy (to, pairs + (job->left + at - job->first) * n, n * sizeof (*to));
    else
      job->level->pair_up_bytes (first + (ptrdiff_t) at * n, second + (ptrdiff_t) at * n, n, center, to);
  }
}

static void
store_row (const ConvolveCpuJob *job, int y, const uint16_t *values)
{
  const ConvolvePlane *plane = job->work->plane;
  const ConvolvePixel *pixel = &job->work->plan->pixel;
  ptrdiff_t first = (ptrdiff_t) job->x * pixel->stride, bytes = (ptrdiff_t) job->width * pixel->stride;
  const uint8_t *from = (const uint8_t *) plane->source + y * plane->source_stride + first;
  uint8_t *to = (uint8_t *) plane->destination + y * plane->destination_stride + first;

  if (job->work->streams) {
    job->level->stream (values, job->count, to);
    return;
  }
  if (y + PREFETCH_ROWS < job->y + job->height)
    prefetch (to + PREFETCH_ROWS * plane->destination_stride, bytes, true);
  job->level->store (pixel, values, job->width, from, to);
}

static void
finish_ints (const ConvolveCpuJob *job, int y, const int32_t *sums)
{
  const ConvolveTail *tail = &job->cpu->tail;

  if (tail->wide)
    job->level->finish_ints_wide (sums, job->count, tail->scale, job->offsets, tail->maximum, job->results[0]);
  else
    job->level->finish_ints (sums, job->count, tail->scale_f, job->offsets, tail->maximum, job->results[0]);
  store_row (job, y, job->results[0]);
}

static void
finish_floats (const ConvolveCpuJob *job, int y, const float *sums)
{
  const ConvolveTail *tail = &job->cpu->tail;

  if (tail->wide)
    job->level->finish_floats_wide (sums, job->count, tail->scale, job->offsets, tail->maximum, job->results[0]);
  else
    job->level->finish_floats (sums, job->count, tail->scale_f, job->offsets, tail->maximum, job->results[0]);
  store_row (job, y, job->results[0]);
}

/* --- ways down --- */

static void
walk_copy (const ConvolveCpuJob *job)
{
  for (int y = job->y; y < job->y + job->height; y++)
    store_row (job, y, job->values[0]);
}

static void
walk_box (const ConvolveCpuJob *job)
{
  int w = job->work->plan->taps.width, h = job->work->plan->taps.height, top = job->y - h / 2;

  memset (job->columns, 0, job->reach * sizeof (*job->columns));
  memset (job->values[1], 0, job->reach * sizeof (*job->values[1]));
  for (int j = 0; j < h - 1; j++) {
    load_row (job, top + j, job->values[0]);
    job->level->slide (job->values[0], job->values[1], job->reach, job->columns);
  }
  for (int i = 0; i < job->height; i++) {
    load_row (job, top + i + h - 1, job->values[0]);
    if (i > 0)
      load_row (job, top + i - 1, job->values[1]);
    job->level->slide (job->values[0], job->values[1], job->reach, job->columns);
    job->level->window (job->columns, w, job->step, job->count, (int32_t **) job->scratch, job->sums[0]);
    finish_ints (job, job->y + i, job->sums[0]);
  }
}

/* The column sums of each product, for two rows of outputs. */
static void
sum_columns (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;

  for (int r = 0; r < cpu->rank; r++) {
    job->level->shorts_of_rows (&cpu->columns[r], (const ConvolvePair *const *) job->pairs, job->reach,
        cpu->column_shift[r], job->shorts[0][r], job->shorts[1][r]);
    /* The last elements have no neighbour, and meet a tap of 0 where they should. */
    for (int i = 0; i < 2 && !cpu->neighbours; i++)
      job->level->pair_up (job->shorts[i][r], job->shorts[i][r] + job->step, job->reach, 0, job->products[i][r]);
  }
}

/* The row sums of the products' column sums, to values or to sums[i]. */
static void
sum_products (const ConvolveCpuJob *job, int i)
{
  const ConvolveCpu *cpu = job->cpu;
  const uint16_t *const *shorts = (const uint16_t *const *) job->shorts[i];
  const ConvolvePair *const *products = (const ConvolvePair *const *) job->products[i];

  if (cpu->neighbours && cpu->shifts)
    job->level->values_of_neighbours (&cpu->terms, shorts, job->count, job->starts, &cpu->shift, job->results[i]);
  else if (cpu->neighbours)
    job->level->sum_neighbours (&cpu->terms, shorts, job->count, job->starts, job->sums[i]);
  else if (cpu->shifts)
    job->level->values_of_row (&cpu->terms, products, job->count, job->starts, &cpu->shift, job->results[i]);
  else
    job->level->sum_row (&cpu->terms, products, job->count, job->starts, job->sums[i]);
}

/* The same of a mask as it is. */
static void
sum_pairs (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  const ConvolvePair *const *pairs = (const ConvolvePair *const *) job->pairs;

  if (cpu->shifts)
    job->level->values_of_rows (&cpu->terms, pairs, job->count, job->starts, &cpu->shift, job->results[0],
        job->results[1]);
  else
    job->level->sum_rows (&cpu->terms, pairs, job->count, job->starts, job->sums[0], job->sums[1]);
}

/* Two rows of outputs at a time, from the same pairs of rows: the lower one's mask begins at a pair's second row. */
static void
walk_pairs (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->work->plan->taps.height, n = (h + 1) / 2, top = job->y - h / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    int y = job->y + 2 * i, rows = y + 1 < job->y + job->height ? 2 : 1;

    load_pairs (job, top + 2 * (i + n - 1), turn (job->pairs, n));
    if (i < 0)
      continue;
    if (cpu->path == CONVOLVE_CPU_PAIRS)
      sum_pairs (job);
    else
      sum_columns (job);
    for (int k = 0; k < rows; k++) {
      if (cpu->path == CONVOLVE_CPU_FACTORS)
        sum_products (job, k);
      if (cpu->shifts)
        store_row (job, y + k, job->results[k]);
      else
        finish_ints (job, y + k, job->sums[k]);
    }
  }
}

/* One sample of the rows from y on, and of the columns under a part of the mask, less the center; zeros behind them. */
static void
fill_square (const ConvolveCpuJob *job, int y, int rows, int x, int sample, double *square)
{
  int columns = job->reach / job->step - x, center = job->cpu->center;

  columns = columns < CONVOLVE_CPU_FFT_POINTS ? columns : CONVOLVE_CPU_FFT_POINTS;
  memset (square, 0, CONVOLVE_CPU_FFT_SQUARE * sizeof (*square));
  for (int j = 0; j < rows; j++) {
    const uint16_t *values = job->values[0] + x * job->step + sample;

    load_row (job, y + j, job->values[0]);
    for (int i = 0; i < columns; i++)
      square[j * CONVOLVE_CPU_FFT_STRIDE + i] = values[i * job->step] - center;
  }
}

/* The sums are integers: see cpu/fft.c. */
static void
add_square (const ConvolveCpuJob *job, const double *square, int rows, double *sums)
{
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < job->width; i++)
      sums[j * job->width + i] += floor (square[j * CONVOLVE_CPU_FFT_STRIDE + i] + 0.5);
}

static void
finish_block (const ConvolveCpuJob *job, int rows, int sample)
{
  const ConvolveTail *tail = &job->cpu->tail;

  for (int i = 0; i < job->width; i++)
    ((double *) job->offsets)[i] = tail->offset[sample];
  for (int j = 0; j < rows; j++) {
    double *sums = job->block + (size_t) j * job->width;
    uint16_t *results = job->block_results + (size_t) j * job->count + sample;

    for (int i = 0; i < job->width; i++)
      sums[i] += job->cpu->fft->start;
    job->level->finish_doubles (sums, job->width, tail->scale, job->offsets, tail->maximum, job->results[0]);
    for (int i = 0; i < job->width; i++)
      results[i * job->step] = job->results[0][i];
  }
}

/* One sample of the outputs of two squares, the second of which has lower rows. */
static void
run_squares (const ConvolveCpuJob *job, int y, const int rows[2], int sample)
{
  const ConvolvePlan *plan = job->work->plan;
  const ConvolveCpuFft *fft = job->cpu->fft;

  memset (job->block, 0, (size_t) job->width * (rows[0] + rows[1]) * sizeof (*job->block));
  for (int part = 0; part < fft->across * fft->down; part++) {
    int top = y - plan->taps.height / 2 + part / fft->across * fft->part_height;
    int x = part % fft->across * fft->part_width;

    for (int i = 0; i < 2; i++)
      fill_square (job, top + i * rows[0], rows[i] > 0 ? rows[i] + fft->part_height - 1 : 0, x, sample,
          job->squares[i]);
    convolve_cpu_fft_run (fft, job->level, part, job->squares[0], job->squares[1]);
    for (int i = 0; i < 2; i++)
      add_square (job, job->squares[i], rows[i], job->block + (size_t) i * rows[0] * job->width);
  }
  finish_block (job, rows[0] + rows[1], sample);
}

static void
walk_squares (const ConvolveCpuJob *job)
{
  int most = convolve_cpu_fft_rows (job->cpu);

  for (int y = 0; y < job->height; y += 2 * most) {
    int left = job->height - y, upper = left < most ? left : most, lower = left - upper < most ? left - upper : most;
    const int rows[2] = { upper, lower };

    for (int k = 0; k < job->step; k++)
      if (job->work->plan->pixel.select >> k & 1)
        run_squares (job, job->y + y, rows, k);
    for (int j = 0; j < upper + lower; j++)
      store_row (job, job->y + y + j, job->block_results + (size_t) j * job->count);
  }
}

static void
finish_doubles (const ConvolveCpuJob *job, int y, const double *sums)
{
  const ConvolveTail *tail = &job->cpu->tail;

  job->level->finish_doubles (sums, job->count, tail->scale, job->offsets, tail->maximum, job->results[0]);
  store_row (job, y, job->results[0]);
}

static void
sum_row_of_floats (const ConvolveCpuJob *job, int y)
{
  const ConvolveTaps *taps = &job->work->plan->taps;
  const float *const *rows = (const float *const *) job->floats;

  if (job->cpu->path == CONVOLVE_CPU_FLOAT) {
    job->level->sum_floats (taps->taps, taps->width, taps->height, job->step, job->cpu->block, rows, 0, job->count,
        job->float_sums);
    finish_floats (job, y, job->float_sums);
  } else {
    job->level->sum_doubles (taps->wide_taps, taps->width, taps->height, job->step, rows, 0, job->count,
        job->double_sums);
    finish_doubles (job, y, job->double_sums);
  }
}

static void
walk_floats (const ConvolveCpuJob *job)
{
  int h = job->work->plan->taps.height, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    load_row (job, top + i + h - 1, job->values[0]);
    job->level->to_floats (job->values[0], job->reach, job->cpu->center, turn (job->floats, h));
    if (i >= 0)
      sum_row_of_floats (job, job->y + i);
  }
}

/* The column sums of each product, for n rows of outputs, the first of which is made from rows; some columns at a time. */
static void
sum_batch (const ConvolveCpuJob *job, const float *const *rows, int n)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->work->plan->taps.height;

  for (int x = 0; x < job->reach; x += BATCH_COLUMNS) {
    int count = job->reach - x < BATCH_COLUMNS ? job->reach - x : BATCH_COLUMNS;

    for (int i = 0; i < n; i++)
      for (int r = 0; r < cpu->rank; r++) {
        if (cpu->path == CONVOLVE_CPU_FLOAT_FACTORS)
          job->level->sum_floats (cpu->float_columns + r * h, 1, h, 0, cpu->column_block, rows + i, x, count,
              job->middles[i * cpu->rank + r]);
        else
          job->level->sum_doubles (cpu->double_columns + r * h, 1, h, 0, rows + i, x, count,
              job->wide_middles[i * cpu->rank + r]);
      }
  }
}

/* The row sums of the column sums of row i of a batch. */
static void
finish_batch (const ConvolveCpuJob *job, int i, int y)
{
  const ConvolveCpu *cpu = job->cpu;
  int w = job->work->plan->taps.width;

  if (cpu->path == CONVOLVE_CPU_FLOAT_FACTORS) {
    job->level->sum_floats (cpu->float_rows, w, cpu->rank, job->step, cpu->block,
        (const float *const *) job->middles + i * cpu->rank, 0, job->count, job->float_sums);
    finish_floats (job, y, job->float_sums);
  } else {
    job->level->sum_wide_doubles (cpu->double_rows, w, cpu->rank, job->step,
        (const double *const *) job->wide_middles + i * cpu->rank, job->count, job->double_sums);
    finish_doubles (job, y, job->double_sums);
  }
}

static void
walk_float_factors (const ConvolveCpuJob *job)
{
  int h = job->work->plan->taps.height, ring = h + job->batch - 1, loaded = job->y - h / 2;

  for (int y = job->y; y < job->y + job->height; y += job->batch) {
    int left = job->y + job->height - y, n = left < job->batch ? left : job->batch;
    int end = y - h / 2 + h + n - 1; /* of the rows under the batch */

    for (; loaded < end; loaded++) {
      load_row (job, loaded, job->values[0]);
      job->level->to_floats (job->values[0], job->reach, job->cpu->center, turn (job->floats, ring));
    }
    sum_batch (job, (const float *const *) job->floats + ring - (h + n - 1), n);
    for (int i = 0; i < n; i++)
      finish_batch (job, i, y + i);
  }
}

void
convolve_cpu_walk (const ConvolveCpuJob *job)
{
  switch (job->cpu->path) {
    case CONVOLVE_CPU_COPY:
      walk_copy (job);
      break;
    case CONVOLVE_CPU_BOX:
      walk_box (job);
      break;
    case CONVOLVE_CPU_PAIRS:
    case CONVOLVE_CPU_FACTORS:
      walk_pairs (job);
      break;
    case CONVOLVE_CPU_FFT:
      walk_squares (job);
      break;
    case CONVOLVE_CPU_FLOAT_FACTORS:
    case CONVOLVE_CPU_DOUBLE_FACTORS:
      walk_float_factors (job);
      break;
    case CONVOLVE_CPU_FLOAT:
    case CONVOLVE_CPU_DOUBLE:
      walk_floats (job);
      break;
  }
  if (job->work->streams)
    job->level->settle ();
}
