/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Integer taps of 16 bits, in sums of pairs of 32 bits. */
#include "cpu/integers.h"

/* The number of terms: pairs of taps in a column that are not both 0, with the tap above for the lower output. */
static double
count_terms (const ConvolveCpuAnalysis *a)
{
  const double *taps = a->taps;
  double terms = 0;

  for (int i = 0; i < a->width; i++)
    for (int j = 0; j < a->height; j += 2)
      terms += taps[j * a->width + i] != 0 || (j > 0 && taps[(j - 1) * a->width + i] != 0)
          || (j + 1 < a->height && taps[(j + 1) * a->width + i] != 0);
  return terms;
}

/* The bits by which sums are shifted down, or -1 where the tail follows. False where 32 bits do not hold the sums. */
static bool
find_bits (const ConvolveCpuAnalysis *a, int *bits)
{
  ConvolveRange sums = convolve_cpu_range_of_taps (a, convolve_cpu_signed_values (a));

  *bits = a->plan->exact ? convolve_cpu_exact_bits (a, sums) : a->plan->arithmetic.bits;
  return a->plan->exact || convolve_cpu_can_shift (a, *bits, sums);
}

bool
convolve_cpu_choose_pairs (const ConvolveCpuAnalysis *a, ConvolveCpuPairs *pairs)
{
  const int count = a->width * a->height;

  if (!a->plan->integers || convolve_largest_magnitude (a->taps, count) > CONVOLVE_LARGEST_SHORT
      || !find_bits (a, &pairs->bits))
    return false;
  pairs->cost = CONVOLVE_COST_PAIRS + count_terms (a);
  return true;
}

bool
convolve_cpu_use_pairs (const ConvolveCpuAnalysis *a, const ConvolveCpuPairs *pairs)
{
  ConvolveCpu *cpu = a->cpu;
  int column[CONVOLVE_MAX_SIDE];

  cpu->path = CONVOLVE_CPU_PAIRS;
  if (!convolve_cpu_allocate_terms (&cpu->terms, a->width * ((a->height + 1) / 2)))
    return false;
  for (int i = 0; i < a->width; i++) {
    for (int j = 0; j < a->height; j++)
      column[j] = (int) a->taps[j * a->width + i];
    convolve_cpu_add_pairs (&cpu->terms, column, a->height, 1, 0, i * a->samples, true);
  }
  convolve_cpu_set_end (a, pairs->bits);
  return true;
}
