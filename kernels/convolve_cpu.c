/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variant cpu: how a plane is cut into jobs, and how a job walks down its rows. What is computed is decided in
 * convolve_cpu_plan.c, and how in the loops of convolve_cpu_rows.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convolve_boundary.h"
#include "convolve_cpu.h"

#define RING_BYTES (512 << 10)  /* for the rows under the mask: what is read again and again should stay near */
#define STRIP 2048              /* elements of a job's row, where the mask is small */
#define JOBS_PER_THREAD 16      /* so that threads that are held up do not hold up all */
#define CACHE_LINE 64
#define PREFETCH_ROWS 3         /* how far ahead rows are asked for */
#define LEAST_WORK (1 << 18)    /* terms of a job, about 10 us: less is not worth waking a thread */

/* One call of convolve_run(). */
typedef struct
{
  const ConvolvePlan *plan;
  const ConvolvePlane *plane;
  int samples;                  /* elements of a pixel */
  int strip, band;              /* pixels and rows of a job */
  int strips, bands;
} Work;

/* A job: a rectangle of the region, and the rows it needs, all in the thread's memory. */
typedef struct
{
  const Work *work;
  const ConvolveCpu *cpu;
  const ConvolveCpuLevel *level;
  int x, y, width, height;      /* pixels to write */
  int step, count, reach;       /* elements: of a pixel, to write in a row, and of a row under the mask */

  int first, last;              /* pixels of a row that are loaded as they lie: first .. last - 1 */
  int *outside;                 /* where the pixels before and behind those come from, -1 for the zero level */
  int left, n_outside;          /* how many are before, and all */
  void *offsets;                /* the tail's, for each element: float, or double where it is wide */
  uint16_t *values[2], *results[2];
  int32_t *sums[2];

  ConvolvePair **pairs;         /* ring of pairs of rows, the topmost first */
  uint16_t **shorts[2];         /* each product's column sums, for the upper and the lower row of outputs */
  ConvolvePair **products[2];   /* the same, paired up with the neighbours a pixel further */
  int32_t *starts;              /* of the sums, for each element */
  float **floats, *middle, *float_sums;
  double *double_sums;
  int32_t *columns, *scratch[2];
  double *squares[2];
  double *block;                /* sums of the outputs of two squares, one sample of each pixel */
  uint16_t *block_results;      /* of all samples */
} Job;

/* Outputs of one square. */
static int
fft_columns (const ConvolveCpu *cpu)
{
  return CONVOLVE_FFT - cpu->fft->part_width + 1;
}

static int
fft_rows (const ConvolveCpu *cpu)
{
  return CONVOLVE_FFT - cpu->fft->part_height + 1;
}

/* --- memory --- */

typedef struct
{
  uint8_t *base;                /* NULL: only counts */
  size_t used;
} Arena;

static void *
take (Arena *arena, size_t count, size_t size)
{
  void *taken = arena->base ? arena->base + arena->used : NULL;

  arena->used += (count * size + 63) / 64 * 64;
  return taken;
}

/* n rows and the pointers to them. */
static void *
take_rows (Arena *arena, int n, size_t length, size_t size)
{
  uint8_t **rows = take (arena, n, sizeof (*rows));

  for (int i = 0; i < n; i++) {
    uint8_t *row = take (arena, length, size);

    if (rows)
      rows[i] = row;
  }
  return rows;
}

/*
 * What a job's path needs. Rows are whole blocks and one more, so that loops may pass their ends, and an odd number of
 * blocks, so that rows do not lie one below the other in the cache.
 */
static void
take_memory (Job *job, Arena *arena)
{
  const ConvolvePlan *plan = job->work->plan;
  const ConvolveCpu *cpu = job->cpu;
  int h = plan->taps.height;
  size_t blocks = ((size_t) job->reach + CONVOLVE_CPU_BLOCK - 1) / CONVOLVE_CPU_BLOCK + 1;
  size_t length = (blocks | 1) * CONVOLVE_CPU_BLOCK;

  job->outside = take (arena, plan->taps.width, sizeof (int));
  job->offsets = take (arena, length, cpu->tail.wide ? sizeof (double) : sizeof (float));
  for (int i = 0; i < 2; i++)
    job->results[i] = take (arena, length, sizeof (uint16_t));
  for (int i = 0; i < 2; i++)
    job->values[i] = take (arena, length, sizeof (uint16_t));

  switch (cpu->path) {
    case CONVOLVE_CPU_COPY:
      break;
    case CONVOLVE_CPU_BOX:
      job->columns = take (arena, length, sizeof (int32_t));
      for (int i = 0; i < 2; i++)
        job->scratch[i] = take (arena, length, sizeof (int32_t));
      job->sums[0] = take (arena, length, sizeof (int32_t));
      break;
    case CONVOLVE_CPU_FFT:
      for (int i = 0; i < 2; i++)
        job->squares[i] = take (arena, CONVOLVE_FFT_SQUARE, sizeof (double));
      job->block = take (arena, (size_t) job->width * 2 * fft_rows (cpu), sizeof (double));
      job->block_results = take (arena, (size_t) job->count * 2 * fft_rows (cpu) + CONVOLVE_CPU_BLOCK,
          sizeof (uint16_t));
      break;
    case CONVOLVE_CPU_FACTORS:
      for (int i = 0; i < 2; i++)
        job->shorts[i] = take_rows (arena, cpu->rank, length, sizeof (uint16_t));
      for (int i = 0; i < 2 && !cpu->neighbours; i++)
        job->products[i] = take_rows (arena, cpu->rank, length, sizeof (ConvolvePair));
      /* fall through */
    case CONVOLVE_CPU_PAIRS:
      job->starts = take (arena, length, sizeof (int32_t));
      for (int i = 0; i < 2; i++)
        job->sums[i] = take (arena, length, sizeof (int32_t));
      job->pairs = take_rows (arena, (h + 1) / 2, length, sizeof (ConvolvePair));
      break;
    case CONVOLVE_CPU_FLOAT_RANK_1:
      job->middle = take (arena, length, sizeof (float));
      /* fall through */
    case CONVOLVE_CPU_FLOAT:
      job->float_sums = take (arena, length, sizeof (float));
      job->floats = take_rows (arena, h, length, sizeof (float));
      break;
    case CONVOLVE_CPU_DOUBLE:
      job->double_sums = take (arena, length, sizeof (double));
      job->floats = take_rows (arena, h, length, sizeof (float));
      break;
  }
}

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
fill_zero (const Job *job, uint16_t *values, int pixels)
{
  for (int i = 0; i < pixels; i++)
    for (int k = 0; k < job->step; k++)
      *values++ = (uint16_t) job->work->plan->pixel.zero[k];
}

/* Asks for a row that is wanted soon: caches do not foresee it, for rows are short and lie pages apart. */
static inline void
prefetch (const uint8_t *line, ptrdiff_t bytes, bool to_write)
{
  for (ptrdiff_t i = 0; i < bytes; i += CACHE_LINE) {
    if (to_write)
      __builtin_prefetch (line + i, 1);
    else
      __builtin_prefetch (line + i, 0);
  }
}

/* Row y where it lies, or NULL for the zero level; asks for one that comes later. */
static const uint8_t *
find_line (const Job *job, int y)
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
load_row (const Job *job, int y, uint16_t *values)
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
load_pairs (const Job *job, int y, ConvolvePair *pairs)
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
store_row (const Job *job, int y, const uint16_t *values)
{
  const ConvolvePlane *plane = job->work->plane;
  const ConvolvePixel *pixel = &job->work->plan->pixel;
  ptrdiff_t first = (ptrdiff_t) job->x * pixel->stride;
  uint8_t *to = (uint8_t *) plane->destination + y * plane->destination_stride + first;

  if (y + PREFETCH_ROWS < job->y + job->height)
    prefetch (to + PREFETCH_ROWS * plane->destination_stride, (ptrdiff_t) job->width * pixel->stride, true);
  job->level->store (pixel, values, job->width, (const uint8_t *) plane->source + y * plane->source_stride + first, to);
}

static void
finish_ints (const Job *job, int y, const int32_t *sums)
{
  const ConvolveTail *tail = &job->cpu->tail;

  if (tail->wide)
    job->level->finish_ints_wide (sums, job->count, tail->scale, job->offsets, tail->maximum, job->results[0]);
  else
    job->level->finish_ints (sums, job->count, tail->scale_f, job->offsets, tail->maximum, job->results[0]);
  store_row (job, y, job->results[0]);
}

static void
finish_floats (const Job *job, int y, const float *sums)
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
walk_copy (const Job *job)
{
  for (int y = job->y; y < job->y + job->height; y++)
    store_row (job, y, job->values[0]);
}

static void
walk_box (const Job *job)
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
sum_columns (const Job *job)
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
sum_products (const Job *job, int i)
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
sum_pairs (const Job *job)
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
walk_pairs (const Job *job)
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
fill_square (const Job *job, int y, int rows, int x, int sample, double *square)
{
  int columns = job->reach / job->step - x, center = job->cpu->center;

  columns = columns < CONVOLVE_FFT ? columns : CONVOLVE_FFT;
  memset (square, 0, CONVOLVE_FFT_SQUARE * sizeof (*square));
  for (int j = 0; j < rows; j++) {
    const uint16_t *values = job->values[0] + x * job->step + sample;

    load_row (job, y + j, job->values[0]);
    for (int i = 0; i < columns; i++)
      square[j * CONVOLVE_FFT_STRIDE + i] = values[i * job->step] - center;
  }
}

/* The sums are integers: see convolve_cpu_fft.c. */
static void
add_square (const Job *job, const double *square, int rows, double *sums)
{
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < job->width; i++)
      sums[j * job->width + i] += floor (square[j * CONVOLVE_FFT_STRIDE + i] + 0.5);
}

static void
finish_block (const Job *job, int rows, int sample)
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
run_squares (const Job *job, int y, const int rows[2], int sample)
{
  const ConvolvePlan *plan = job->work->plan;
  const ConvolveFft *fft = job->cpu->fft;

  memset (job->block, 0, (size_t) job->width * (rows[0] + rows[1]) * sizeof (*job->block));
  for (int part = 0; part < fft->across * fft->down; part++) {
    int top = y - plan->taps.height / 2 + part / fft->across * fft->part_height;
    int x = part % fft->across * fft->part_width;

    for (int i = 0; i < 2; i++)
      fill_square (job, top + i * rows[0], rows[i] > 0 ? rows[i] + fft->part_height - 1 : 0, x, sample,
          job->squares[i]);
    convolve_fft_run (fft, job->level, part, job->squares[0], job->squares[1]);
    for (int i = 0; i < 2; i++)
      add_square (job, job->squares[i], rows[i], job->block + (size_t) i * rows[0] * job->width);
  }
  finish_block (job, rows[0] + rows[1], sample);
}

static void
walk_squares (const Job *job)
{
  int most = fft_rows (job->cpu);

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
sum_row_of_floats (const Job *job, int y)
{
  const ConvolveTaps *taps = &job->work->plan->taps;
  const ConvolveTail *tail = &job->cpu->tail;
  const float *const *rows = (const float *const *) job->floats;
  const float *middle = job->middle;

  switch (job->cpu->path) {
    case CONVOLVE_CPU_FLOAT_RANK_1:
      job->level->sum_floats (taps->column, 1, taps->height, 0, rows, job->reach, job->middle);
      job->level->sum_floats (taps->row, taps->width, 1, job->step, &middle, job->count, job->float_sums);
      finish_floats (job, y, job->float_sums);
      break;
    case CONVOLVE_CPU_FLOAT:
      job->level->sum_floats (taps->taps, taps->width, taps->height, job->step, rows, job->count, job->float_sums);
      finish_floats (job, y, job->float_sums);
      break;
    default:
      job->level->sum_doubles (taps->wide_taps, taps->width, taps->height, job->step, rows, job->count,
          job->double_sums);
      job->level->finish_doubles (job->double_sums, job->count, tail->scale, job->offsets, tail->maximum,
          job->results[0]);
      store_row (job, y, job->results[0]);
      break;
  }
}

static void
walk_floats (const Job *job)
{
  int h = job->work->plan->taps.height, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    load_row (job, top + i + h - 1, job->values[0]);
    job->level->to_floats (job->values[0], job->reach, turn (job->floats, h));
    if (i >= 0)
      sum_row_of_floats (job, job->y + i);
  }
}

/* --- jobs --- */

static void
find_outside (Job *job)
{
  const ConvolvePlan *plan = job->work->plan;
  int width = job->work->plane->width, from = job->x - plan->taps.width / 2, to = from + job->reach / job->step;

  job->first = from > 0 ? from : 0;
  job->last = to < width ? to : width;
  job->left = job->first - from;
  for (int x = from; x < to; x++)
    if (x < job->first || x >= job->last)
      job->outside[job->n_outside++] = convolve_boundary_index (plan->boundary, x, width);
}

static void
fill_offsets (const Job *job)
{
  const ConvolveTail *tail = &job->cpu->tail;

  /* Loops start sums for whole blocks. */
  for (int i = 0; i < job->count + CONVOLVE_CPU_BLOCK && job->starts; i++)
    job->starts[i] = job->cpu->starts[i % job->step];

  for (int i = 0; i < job->count; i++)
    if (tail->wide)
      ((double *) job->offsets)[i] = tail->offset[i % job->step];
    else
      ((float *) job->offsets)[i] = tail->offset_f[i % job->step];
}

static void
start_job (Job *job, const Work *work, int x, int y, int width, int height)
{
  *job = (Job) {
    .work = work,
    .cpu = work->plan->cpu,
    .level = work->plan->cpu->level,
    .x = x,
    .y = y,
    .width = width,
    .height = height,
    .step = work->samples,
    .count = width * work->samples,
    .reach = (width + work->plan->taps.width - 1) * work->samples,
  };
}

static void
run_rectangle (const Work *work, int x, int y, int width, int height, void *memory)
{
  Arena arena = {.base = memory };
  Job job;

  start_job (&job, work, x, y, width, height);
  take_memory (&job, &arena);
  if (job.cpu->path != CONVOLVE_CPU_COPY) {
    find_outside (&job);
    fill_offsets (&job);
  }
  switch (job.cpu->path) {
    case CONVOLVE_CPU_COPY:
      walk_copy (&job);
      return;
    case CONVOLVE_CPU_BOX:
      walk_box (&job);
      return;
    case CONVOLVE_CPU_PAIRS:
    case CONVOLVE_CPU_FACTORS:
      walk_pairs (&job);
      return;
    case CONVOLVE_CPU_FFT:
      walk_squares (&job);
      return;
    case CONVOLVE_CPU_FLOAT_RANK_1:
    case CONVOLVE_CPU_FLOAT:
    case CONVOLVE_CPU_DOUBLE:
      walk_floats (&job);
      return;
  }
}

/* Bands of one strip, one below the other, are walked down as one. */
static void
run_jobs (const void *data, int first, int count, void *memory)
{
  const Work *work = data;
  const ConvolveRect *region = &work->plane->region;

  while (count > 0) {
    int band = first % work->bands, n = work->bands - band < count ? work->bands - band : count;
    int x = first / work->bands * work->strip, y = band * work->band;
    int width = region->width - x < work->strip ? region->width - x : work->strip;
    int height = region->height - y < n * work->band ? region->height - y : n * work->band;

    run_rectangle (work, region->x + x, region->y + y, width, height, memory);
    first += n;
    count -= n;
  }
}

/* parts of at most most, all of about one size. */
static int
divide (int total, int most)
{
  int parts;

  most = most < 1 ? 1 : most;
  parts = (total - 1) / most + 1;
  return (total - 1) / parts + 1;
}

/* Strips as wide as the cache has room for the rows under the mask; bands for threads, where there is work enough. */
static void
cut (Work *work)
{
  const ConvolvePlan *plan = work->plan;
  const ConvolveCpu *cpu = plan->cpu;
  const ConvolveRect *region = &work->plane->region;
  int threads = plan->pool ? convolve_pool_threads (plan->pool) : 1;
  int room = RING_BYTES / 2 / (plan->taps.height + 1) - (plan->taps.width - 1) * work->samples;
  int elements = room < STRIP ? room : STRIP;
  double terms = (double) region->width * region->height * work->samples * (cpu->terms.count + 16);
  int jobs = threads * JOBS_PER_THREAD;

  /* A strip narrower than the mask would load more than it writes. */
  if (elements < plan->taps.width * work->samples)
    elements = plan->taps.width * work->samples;
  if (elements < 256)
    elements = 256;
  if (cpu->strip > 0)
    elements = cpu->strip;
  if (cpu->fft && (cpu->strip <= 0 || elements > fft_columns (cpu) * work->samples))
    elements = fft_columns (cpu) * work->samples;
  work->strip = divide (region->width, elements / work->samples);
  work->strips = (region->width - 1) / work->strip + 1;

  jobs = terms / LEAST_WORK < jobs ? (int) (terms / LEAST_WORK) : jobs;
  work->band = region->height;
  if (threads > 1 && jobs > work->strips)
    work->band = divide (region->height, (region->height - 1) / (jobs / work->strips) + 1);
  if (work->band < plan->taps.height)
    work->band = plan->taps.height;
  if (cpu->fft)
    work->band = 2 * fft_rows (cpu);
  if (cpu->band > 0)
    work->band = cpu->band;
  work->bands = (region->height - 1) / work->band + 1;
}

/* Cuts the plane; returns what the largest of the jobs needs. */
static size_t
plan_work (Work *work, const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  Arena arena = { 0 };
  Job job;

  *work = (Work) {.plan = plan,.plane = plane,.samples = plan->pixel.samples };
  cut (work);
  start_job (&job, work, 0, 0, work->strip, work->band);
  take_memory (&job, &arena);
  return arena.used;
}

size_t
convolve_cpu_memory (const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  Work work;

  return plan_work (&work, plan, plane);
}

ConvolveStatus
convolve_cpu_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  Work work;
  size_t memory = plan_work (&work, plan, plane);

  return convolve_pool_run (plan->pool, work.strips * work.bands, memory, run_jobs, &work, error);
}
