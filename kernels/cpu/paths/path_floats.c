/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums in floating point, of the mask or of its factors: how many roundings each product goes through, the end, and one
 * order of additions for each output, whose roundings are counted here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/paths/paths.h"
#include "cpu/paths/rows.h"

#define COST_FLOATS 12.0 /* of values becoming floats */
#define COST_WORDS 5.0   /* of words of 16 bits becoming floats */
#define COST_FLOAT_TAP 1.0
#define COST_DOUBLE_TAP 4.3

#define LEAST_STRIDING 41   /* taps of a symmetric row whose pairs are summed in strides */
#define BLOCKS_OF_STRIDES 4 /* in which all beginnings of strides lie */

/* Columns of a batch that are summed at a time, so that the rows under the mask stay in the L1 cache. */
#define BATCH_COLUMNS 128

/* Loads row y into the ring of n rows. */
static void
load_floats (const ConvolveCpuJob *job, int y, int n)
{
  float *row = convolve_cpu_turn (job->floats, n);

  if (!job->cpu->symmetric) {
    convolve_cpu_load_floats (job, y, row);
    return;
  }
  convolve_cpu_load_floats (job, y, job->float_sums);
  for (int x = 0; x < job->input_count; x += CONVOLVE_TILE, row += n * CONVOLVE_TILE)
    memcpy (row, job->float_sums + x, CONVOLVE_TILE * sizeof (*row));
}

/* Writes row y from few rows of elements, each with one row of `width` taps. */
static void
finish_few (const ConvolveCpuJob *job, const float *taps, int width, const float *const *rows, int n_rows, int y)
{
  const ConvolveTail *tail = &job->cpu->tail;
  const float *at[CONVOLVE_FEW_FLOATS];

  for (int k = 0; k < width * n_rows; k++)
    at[k] = rows[k / width] + k % width * job->samples;
  job->level->values_of_few_floats (taps, width * n_rows, at, job->count, tail->scale_f, tail->offset_f[0],
      (int) tail->maximum, job->results[0]);
  convolve_cpu_store_row (job, y, job->results[0]);
}

/* Writes row y from the rows of the ring. */
static void
sum_row (const ConvolveCpuJob *job, int y)
{
  const ConvolveTaps *taps = &job->plan->taps;
  const float *const *rows = (const float *const *) job->floats;

  if (job->cpu->few) {
    finish_few (job, taps->taps, taps->width, rows, taps->height, y);
  } else if (job->cpu->path == CONVOLVE_CPU_FLOAT) {
    job->level->sum_floats (taps->taps, taps->width, taps->height, job->samples, job->cpu->block, rows, job->count,
        job->float_sums);
    convolve_cpu_store_sums (job, y, CONVOLVE_CPU_FLOATS, job->float_sums);
  } else {
    job->level->sum_floats_in_double (taps->double_taps, taps->width, taps->height, job->samples, rows, 0, job->count,
        job->double_sums);
    convolve_cpu_store_sums (job, y, CONVOLVE_CPU_DOUBLES, job->double_sums);
  }
}

/* Two rows of outputs at a time. A last row of outputs by itself has one beyond the job, which is not written. */
static void
walk_squares (const ConvolveCpuJob *job)
{
  const ConvolveTail *tail = &job->cpu->tail;
  int side = job->plan->taps.height, loaded = job->y - side / 2;

  for (int i = 0; i < job->height; i += 2) {
    for (int end = job->y - side / 2 + i + side + 1; loaded < end; loaded++)
      load_floats (job, loaded, side + 1);
    job->level->values_of_squares (job->plan->taps.taps, side, job->samples, (const float *const *) job->floats,
        job->count, tail->scale_f, tail->offset_f[0], (int) tail->maximum, job->results);
    for (int k = 0; k < 2 && i + k < job->height; k++)
      convolve_cpu_store_row (job, job->y + i + k, job->results[k]);
  }
}

static void
walk_floats (const ConvolveCpuJob *job)
{
  int h = job->plan->taps.height, top = job->y - h / 2;

  if (job->cpu->square) {
    walk_squares (job);
    return;
  }
  for (int i = 1 - h; i < job->height; i++) {
    load_floats (job, top + i + h - 1, h);
    if (i >= 0)
      sum_row (job, job->y + i);
  }
}

/* The column sums of each product, for n rows of outputs. Output row i is made from rows[i] and the rows below. */
static void
sum_batch (const ConvolveCpuJob *job, const float *const *rows, int n)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->plan->taps.height;

  for (int r = 0; r < cpu->rank && cpu->path == CONVOLVE_CPU_FLOAT_FACTORS; r++) {
    float *const *sums = job->factors.float_columns + r;

    if (cpu->symmetric)
      job->level->sum_mirrored_columns (cpu->float_columns + r * (h / 2 + 1), h / 2, rows,
          (h + job->batch - 1) * CONVOLVE_TILE, n, job->input_count, cpu->rank, sums);
    else
      job->level->sum_columns_of_floats (cpu->float_columns + r * h, h, cpu->column_block, rows, n, job->input_count,
          cpu->rank, sums);
  }
  if (cpu->path == CONVOLVE_CPU_FLOAT_FACTORS)
    return;
  for (int x = 0; x < job->input_count; x += BATCH_COLUMNS) {
    int count = job->input_count - x < BATCH_COLUMNS ? job->input_count - x : BATCH_COLUMNS;

    for (int i = 0; i < n; i++)
      for (int r = 0; r < cpu->rank; r++)
        job->level->sum_floats_in_double (cpu->double_columns + r * h, 1, h, job->samples, rows + i, x, count,
            job->factors.double_columns[i * cpu->rank + r]);
  }
}

/* Writes row y from the column sums of row i of the batch. */
static void
finish_batch (const ConvolveCpuJob *job, int i, int y)
{
  const ConvolveCpu *cpu = job->cpu;
  int w = job->plan->taps.width;

  if (cpu->path == CONVOLVE_CPU_FLOAT_FACTORS) {
    const float *const *rows = (const float *const *) job->factors.float_columns + i * cpu->rank;

    if (cpu->symmetric)
      job->level->sum_mirrored_rows (cpu->float_rows, w / 2, job->samples, cpu->strides, rows, cpu->rank, job->count,
          job->float_sums);
    else
      job->level->sum_floats (cpu->float_rows, w, cpu->rank, job->samples, cpu->block, rows, job->count,
          job->float_sums);
    convolve_cpu_store_sums (job, y, CONVOLVE_CPU_FLOATS, job->float_sums);
  } else {
    job->level->sum_doubles (cpu->double_rows, w, cpu->rank, job->samples,
        (const double *const *) job->factors.double_columns + i * cpu->rank, job->count, job->double_sums);
    convolve_cpu_store_sums (job, y, CONVOLVE_CPU_DOUBLES, job->double_sums);
  }
}

/* The rows under the mask, the column sums and the values of one row of outputs stay in the L1 cache. */
static void
walk_few (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  int w = job->plan->taps.width, h = job->plan->taps.height, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    load_floats (job, top + i + h - 1, h);
    if (i < 0)
      continue;
    job->level->sum_few_floats (cpu->float_columns, h, (const float *const *) job->floats, job->input_count,
        job->factors.float_columns[0]);
    finish_few (job, cpu->float_rows, w, (const float *const *) job->factors.float_columns, 1, job->y + i);
  }
}

static void
walk_factors (const ConvolveCpuJob *job)
{
  int h = job->plan->taps.height, ring = h + job->batch - 1, loaded = job->y - h / 2;

  if (job->cpu->few) {
    walk_few (job);
    return;
  }
  for (int y = job->y; y < job->y + job->height; y += job->batch) {
    int left = job->y + job->height - y, n = left < job->batch ? left : job->batch;
    int end = y - h / 2 + h + n - 1; /* behind the last row under the batch */

    for (; loaded < end; loaded++)
      load_floats (job, loaded, ring);
    sum_batch (job, (const float *const *) job->floats + ring - (h + n - 1), n);
    for (int i = 0; i < n; i++)
      finish_batch (job, i, y + i);
  }
}

/* --- errors --- */

/* Bounds the error after n roundings in a row, relative to the sum of the magnitudes (Higham 2002, lemma 3.1). */
static double
growth (double n, double unit)
{
  return n * unit / (1 - n * unit);
}

/* Products of a block. With as many blocks as products in a block, the sum has the fewest roundings in a row. */
static int
block_of (int count)
{
  return (int) ceil (sqrt (count));
}

/*
 * The most roundings that a product goes through: its own, block - 1 in the sum of its block, and those in the sum of
 * the blocks. Additions to 0 do not round.
 */
static double
roundings (int count, int block)
{
  return block + (count - 1) / block;
}

/*
 * Centred values times float taps, added in float. The sums of an exact plan are exact in any order. Underflow is below
 * 1e-30 of all that is counted here.
 */
static bool
floats_fit (const ConvolveCpuAnalysis *a)
{
  int count = a->width * a->height;
  double gain = 0, missed = 0;

  if (a->plan->integers)
    return a->plan->exact;
  for (int i = 0; i < count; i++) {
    gain += fabs (a->plan->taps.taps[i]);
    missed += fabs (a->plan->taps.taps[i] - a->taps[i]);
  }
  return (missed + gain * growth (roundings (count, block_of (count)), CONVOLVE_FLOAT_UNIT)) * a->middle <= a->budget;
}

static bool
is_symmetric (const double *taps, int count)
{
  for (int i = 0; i < count / 2; i++)
    if ((float) taps[i] != (float) taps[count - 1 - i])
      return false;
  return count % 2 == 1;
}

static bool
are_symmetric (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors)
{
  for (int r = 0; r < factors->rank; r++)
    if (!is_symmetric (factors->column[r], a->height) || !is_symmetric (factors->row[r], a->width))
      return false;
  return true;
}

/* Short rows are summed from the middle outwards: too few pairs would share what is in registers. */
static ConvolveStrides
choose_strides (const ConvolveCpuAnalysis *a)
{
  const int stride = a->width < LEAST_STRIDING ? 1
      : a->samples == 3                        ? CONVOLVE_MIRRORED_APART
                                               : CONVOLVE_MIRRORED_APART / a->samples;

  return (ConvolveStrides){ stride, stride < BLOCKS_OF_STRIDES ? 1 : stride / BLOCKS_OF_STRIDES };
}

/* The most roundings of a product in a sum of pairs: that of the pair, and those of a sum of products. */
static double
roundings_of_pairs (int blocks, int block)
{
  return 1 + block + blocks - 1;
}

/*
 * The errors of the column sums pass through the row sums, which add errors of their own. The last term bounds the
 * rounding of `tap`, which is computed here in double.
 */
static bool
float_factors_fit (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors, bool symmetric)
{
  const int count = factors->rank * a->width, pairs = a->width / 2 + 1;
  const ConvolveStrides strides = choose_strides (a);
  double row_roundings = roundings (count, block_of (count)),
         column_roundings = roundings (a->height, block_of (a->height));
  double rows, columns, gain = 0, missed = 0;

  if (symmetric) {
    row_roundings = roundings_of_pairs (factors->rank * (strides.stride / strides.block),
        strides.block * ((pairs - 1) / strides.stride + 1));
    column_roundings = roundings_of_pairs (a->height / 2 / CONVOLVE_MIRRORED_BLOCK + 1, CONVOLVE_MIRRORED_BLOCK);
  }
  rows = growth (row_roundings, CONVOLVE_FLOAT_UNIT);
  columns = growth (column_roundings, CONVOLVE_FLOAT_UNIT);

  for (int j = 0; j < a->height; j++)
    for (int i = 0; i < a->width; i++) {
      double tap = 0;

      for (int r = 0; r < factors->rank; r++) {
        double product = (double) (float) factors->column[r][j] * (float) factors->row[r][i];

        tap += product;
        gain += fabs (product);
      }
      missed += fabs (tap - a->taps[j * a->width + i]);
    }
  return (missed + gain * (rows + columns + rows * columns + 8 * CONVOLVE_DOUBLE_UNIT)) * a->middle <= a->budget;
}

/* The values are not less the middle, and so up to 2 * middle. Sums of integers are exact. */
static bool
double_factors_fit (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors)
{
  double gain = 0, n = a->height + factors->rank * a->width;

  if (a->plan->integers)
    return true;
  for (int r = 0; r < factors->rank; r++)
    gain += convolve_sum_of_magnitudes (factors->column[r], a->height)
        * convolve_sum_of_magnitudes (factors->row[r], a->width);
  return (factors->missed + gain * growth (n + 8, CONVOLVE_DOUBLE_UNIT)) * 2 * a->middle <= a->budget;
}

/* --- few taps --- */

static bool
are_few (int taps)
{
  return taps >= 3 && taps <= CONVOLVE_FEW_FLOATS && taps % 2 == 1;
}

/* Sums are up to twice the middle times the gain. Half of the room is left for all roundings. */
bool
convolve_cpu_has_short_tail (const ConvolveCpuAnalysis *a, double gain)
{
  const ConvolveTail *tail = &a->cpu->tail;
  double most = gain * 2 * a->middle * fabs (tail->scale);

  if (tail->needs_double || a->combined)
    return false;
  for (int i = 1; i < a->samples; i++)
    if (tail->offset_f[i] != tail->offset_f[0])
      return false;
  return most + fabs (tail->offset[0]) <= CONVOLVE_LARGEST_INT / 2;
}

static bool
mask_has_short_tail (const ConvolveCpuAnalysis *a)
{
  return convolve_cpu_has_short_tail (a, convolve_sum_of_magnitudes (a->taps, a->width * a->height));
}

/* Whether the mask, or its only product, has few taps, whose sums become values in the same loop. */
static bool
mask_is_few (const ConvolveCpuAnalysis *a)
{
  return are_few (a->width * a->height) && mask_has_short_tail (a);
}

static bool
product_is_few (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors)
{
  return factors->rank == 1 && are_few (a->width) && are_few (a->height)
      && convolve_cpu_has_short_tail (a,
          convolve_sum_of_magnitudes (factors->column[0], a->height)
              * convolve_sum_of_magnitudes (factors->row[0], a->width));
}

/* --- costs --- */

static double
cost_of_loading (const ConvolveCpuAnalysis *a)
{
  return a->plan->pixel.depth == 16 ? COST_WORDS : COST_FLOATS;
}

double
convolve_cpu_floats_cost (const ConvolveCpuAnalysis *a)
{
  return cost_of_loading (a) + COST_FLOAT_TAP * a->width * a->height;
}

double
convolve_cpu_doubles_cost (const ConvolveCpuAnalysis *a)
{
  return COST_FLOATS + COST_DOUBLE_TAP * a->width * a->height;
}

/* Sums in double are always precise enough, and of integers exact. */
static double
cost_of_double (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  return convolve_cpu_doubles_cost (a) + CONVOLVE_COST_DOUBLE_TAIL;
}

static double
cost_of_float (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  if (!floats_fit (a))
    return INFINITY;
  return convolve_cpu_floats_cost (a) + (mask_is_few (a) ? 0 : convolve_cpu_tail_cost (a));
}

static double
cost_of_double_factors (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  if (!w->factored || a->plan->exact || !double_factors_fit (a, &w->factors))
    return INFINITY;
  return COST_FLOATS + w->factors.rank * COST_DOUBLE_TAP * (a->width + a->height) + CONVOLVE_COST_DOUBLE_TAIL;
}

static double
cost_of_float_factors (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  const bool exact = a->plan->exact;

  if (!w->factored || (!exact && (a->plan->integers || !float_factors_fit (a, &w->factors, false))))
    return INFINITY;
  return cost_of_loading (a) + w->factors.rank * COST_FLOAT_TAP * (a->width + a->height)
      + (product_is_few (a, &w->factors) ? 0 : convolve_cpu_tail_cost (a));
}

/* --- what is derived --- */

/* The tail for sums of signed values. An exact plan keeps its own tail, and its values are not less the middle. */
static void
set_float_end (const ConvolveCpuAnalysis *a)
{
  ConvolveTail *tail = &a->cpu->tail;

  if (a->plan->exact) {
    a->cpu->middle = 0;
    return;
  }
  for (int i = 0; i < a->samples; i++) {
    tail->offset[i] = convolve_cpu_offset (a, i);
    tail->offset_f[i] = (float) tail->offset[i];
  }
}

void
convolve_cpu_use_floats (const ConvolveCpuAnalysis *a)
{
  a->cpu->path = CONVOLVE_CPU_FLOAT;
  a->cpu->block = block_of (a->width * a->height);
  set_float_end (a);
  a->cpu->few = mask_is_few (a);
  a->cpu->square = !a->cpu->few && a->width == a->height && mask_has_short_tail (a);
}

/* Puts the taps of product r behind those of the others. */
static void
put_taps (const double *taps, int count, int r, bool symmetric, float *to)
{
  const int first = symmetric ? count / 2 : 0;

  to += r * (count - first);
  for (int i = first; i < count; i++)
    to[i - first] = (float) taps[i];
  if (symmetric)
    to[0] /= 2;
}

static bool
use_float_factors (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *workspace)
{
  const ConvolveFactors *factors = &workspace->factors;
  int rank = factors->rank, w = a->width, h = a->height;
  ConvolveCpu *cpu = a->cpu;

  cpu->path = CONVOLVE_CPU_FLOAT_FACTORS;
  cpu->rank = rank;
  cpu->block = block_of (rank * w);
  cpu->column_block = block_of (h);
  cpu->float_columns = malloc (rank * (w + h) * sizeof (float));
  if (!cpu->float_columns)
    return false;
  cpu->float_rows = cpu->float_columns + rank * h;
  cpu->few = product_is_few (a, factors);
  cpu->symmetric = !cpu->few && are_symmetric (a, factors) && (a->plan->exact || float_factors_fit (a, factors, true));
  cpu->strides = choose_strides (a);
  for (int r = 0; r < rank; r++) {
    put_taps (factors->column[r], h, r, cpu->symmetric, cpu->float_columns);
    put_taps (factors->row[r], w, r, cpu->symmetric, cpu->float_rows);
  }
  set_float_end (a);
  return true;
}

/* The values are not less the middle, and the tail is the plan's, in double. */
void
convolve_cpu_use_doubles (const ConvolveCpuAnalysis *a)
{
  a->cpu->path = CONVOLVE_CPU_DOUBLE;
  a->cpu->middle = 0;
  a->cpu->tail.needs_double = true;
}

static bool
use_double_factors (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *workspace)
{
  const ConvolveFactors *factors = &workspace->factors;
  int rank = factors->rank, w = a->width, h = a->height;
  ConvolveCpu *cpu = a->cpu;

  convolve_cpu_use_doubles (a);
  cpu->path = CONVOLVE_CPU_DOUBLE_FACTORS;
  cpu->rank = rank;
  cpu->double_columns = malloc (rank * (w + h) * sizeof (double));
  if (!cpu->double_columns)
    return false;
  cpu->double_rows = cpu->double_columns + rank * h;
  for (int i = 0; i < rank * h; i++)
    cpu->double_columns[i] = factors->column[i / h][i % h];
  for (int i = 0; i < rank * w; i++)
    cpu->double_rows[i] = factors->row[i / w][i % w];
  return true;
}

static bool
use_float (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  convolve_cpu_use_floats (a);
  return true;
}

static bool
use_double (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  convolve_cpu_use_doubles (a);
  return true;
}

/* --- memory --- */

static void
take_rows (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  const int n = job->plan->taps.height + job->batch - 1 + (job->cpu->square ? 1 : 0);

  job->floats = convolve_cpu_take_rows (arena, n, length, sizeof (float));
  for (int i = 0; i < n && job->cpu->symmetric && job->floats; i++)
    job->floats[i] = job->floats[0] + i * CONVOLVE_TILE;
}

static void
take_float (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  job->float_sums = convolve_cpu_take (arena, length, sizeof (float));
  take_rows (job, arena, length);
}

static void
take_double (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  job->double_sums = convolve_cpu_take (arena, length, sizeof (double));
  take_rows (job, arena, length);
}

static void
take_float_factors (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  job->factors.float_columns = convolve_cpu_take_rows (arena, job->cpu->rank * job->batch, length, sizeof (float));
  take_float (job, arena, length);
}

static void
take_double_factors (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  job->factors.double_columns = convolve_cpu_take_rows (arena, job->cpu->rank * job->batch, length, sizeof (double));
  take_double (job, arena, length);
}

/* --- row by row --- */

const ConvolveCpuPathRow convolve_cpu_path_double = {
  .name = "double",
  .cost = cost_of_double,
  .use = use_double,
  .memory = take_double,
  .walk = walk_floats,
};

const ConvolveCpuPathRow convolve_cpu_path_float = {
  .name = "float",
  .cost = cost_of_float,
  .use = use_float,
  .memory = take_float,
  .walk = walk_floats,
};

const ConvolveCpuPathRow convolve_cpu_path_double_factors = {
  .name = "double-factors",
  .cost = cost_of_double_factors,
  .use = use_double_factors,
  .memory = take_double_factors,
  .walk = walk_factors,
};

const ConvolveCpuPathRow convolve_cpu_path_float_factors = {
  .name = "float-factors",
  .cost = cost_of_float_factors,
  .use = use_float_factors,
  .memory = take_float_factors,
  .walk = walk_factors,
};
