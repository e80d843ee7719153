/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums in floating point, of the mask or of its factors: how many roundings each product goes through, and the end. */
#include <math.h>
#include <stdlib.h>

#include "cpu/prepare_paths.h"

#define COST_FLOATS 12.0 /* of values becoming floats */
#define COST_FLOAT_TAP 2.0
#define COST_DOUBLE_TAP 4.3

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
bool
convolve_cpu_floats_fit (const ConvolveCpuAnalysis *a)
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

/*
 * The errors of the column sums pass through the row sums, which add errors of their own. The last term bounds the
 * rounding of `tap`, which is computed here in double.
 */
bool
convolve_cpu_float_factors_fit (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors)
{
  double rows = growth (roundings (factors->rank * a->width, block_of (factors->rank * a->width)), CONVOLVE_FLOAT_UNIT);
  double columns = growth (roundings (a->height, block_of (a->height)), CONVOLVE_FLOAT_UNIT), gain = 0, missed = 0;

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
bool
convolve_cpu_double_factors_fit (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors)
{
  double gain = 0, n = a->height + factors->rank * a->width;

  if (a->plan->integers)
    return true;
  for (int r = 0; r < factors->rank; r++)
    gain += convolve_sum_of_magnitudes (factors->column[r], a->height)
        * convolve_sum_of_magnitudes (factors->row[r], a->width);
  return (factors->missed + gain * growth (n + 8, CONVOLVE_DOUBLE_UNIT)) * 2 * a->middle <= a->budget;
}

/* --- costs --- */

double
convolve_cpu_floats_cost (const ConvolveCpuAnalysis *a)
{
  return COST_FLOATS + COST_FLOAT_TAP * a->width * a->height;
}

double
convolve_cpu_doubles_cost (const ConvolveCpuAnalysis *a)
{
  return COST_FLOATS + COST_DOUBLE_TAP * a->width * a->height;
}

double
convolve_cpu_float_factors_cost (const ConvolveCpuAnalysis *a, int rank)
{
  return COST_FLOATS + rank * COST_FLOAT_TAP * (a->width + a->height);
}

double
convolve_cpu_double_factors_cost (const ConvolveCpuAnalysis *a, int rank)
{
  return COST_FLOATS + rank * COST_DOUBLE_TAP * (a->width + a->height);
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

static bool
are_few (int taps)
{
  return taps >= 3 && taps <= CONVOLVE_FEW_FLOATS && taps % 2 == 1;
}

/*
 * Whether the tail is one that the loops for few taps have: results fit 32 bits before they are clamped, of sums up to twice
 * the middle times the gain. Half of that leaves room for all roundings. One offset serves all samples of a pixel.
 */
static bool
has_short_tail (const ConvolveCpuAnalysis *a, double gain)
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

void
convolve_cpu_use_floats (const ConvolveCpuAnalysis *a)
{
  const int count = a->width * a->height;

  a->cpu->path = CONVOLVE_CPU_FLOAT;
  a->cpu->block = block_of (count);
  set_float_end (a);
  a->cpu->few = are_few (count) && has_short_tail (a, convolve_sum_of_magnitudes (a->taps, count));
}

bool
convolve_cpu_use_float_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors)
{
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
  for (int i = 0; i < rank * h; i++)
    cpu->float_columns[i] = (float) factors->column[i / h][i % h];
  for (int i = 0; i < rank * w; i++)
    cpu->float_rows[i] = (float) factors->row[i / w][i % w];
  set_float_end (a);
  cpu->few = rank == 1 && are_few (w) && are_few (h)
      && has_short_tail (a,
          convolve_sum_of_magnitudes (factors->column[0], h) * convolve_sum_of_magnitudes (factors->row[0], w));
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

bool
convolve_cpu_use_double_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors)
{
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
