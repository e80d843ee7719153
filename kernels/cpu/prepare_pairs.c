/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any taps as integers of 16 bits, in sums of pairs. */
#include <math.h>

#include "cpu/integers.h"

static bool
round_at (const ConvolveCpuAnalysis *a, double scale, int bits, ConvolveIntegerTaps *integers)
{
  int count = a->width * a->height;
  ConvolveRange sums;

  integers->scale = scale;
  integers->bits = bits;
  if (!(scale > 0) || convolve_cpu_quantise (a->taps, count, scale, integers->taps) * a->center > a->budget)
    return false;
  sums = convolve_cpu_range_of_sum (integers->taps, count, convolve_cpu_centred (a));
  return bits >= 0 ? convolve_cpu_can_shift (a, bits, sums) : convolve_cpu_range_fits (sums, 0, CONVOLVE_LARGEST_INT);
}

bool
convolve_cpu_round_taps (const ConvolveCpuAnalysis *a, ConvolveIntegerTaps *integers)
{
  int count = a->width * a->height, bits;
  double largest = convolve_largest_magnitude (a->taps, count), gain = convolve_sum_of_magnitudes (a->taps, count);

  if (a->plan->exact) {
    if (largest > CONVOLVE_LARGEST_SHORT)
      return false;
    convolve_cpu_quantise (a->taps, count, 1, integers->taps);
    integers->scale = 1;
    integers->bits =
        convolve_cpu_exact_bits (a, convolve_cpu_range_of_sum (integers->taps, count, convolve_cpu_centred (a)));
    return true;
  }
  bits = (int) floor (log2 (fmin (CONVOLVE_LARGEST_SHORT / largest, 2 * CONVOLVE_LARGEST_INT / (a->center * gain))));
  for (int less = 0; less < CONVOLVE_POWERS_TRIED && bits - less >= 0; less++)
    if (round_at (a, ldexp (1, bits - less), bits - less, integers))
      return true;
  /* Rounding adds at most 1/2 for each tap to the sum of magnitudes, and `count` leaves room for twice that. */
  return round_at (a, fmin (CONVOLVE_LARGEST_SHORT / largest, (CONVOLVE_LARGEST_INT / a->center - count) / gain), -1,
      integers);
}

/* The number of terms: pairs of taps in a column that are not both 0, with the tap above for the lower output. */
double
convolve_cpu_pairs_cost (const ConvolveCpuAnalysis *a, const ConvolveIntegerTaps *integers)
{
  const int *taps = integers->taps;
  int terms = 0;

  for (int i = 0; i < a->width; i++)
    for (int j = 0; j < a->height; j += 2)
      terms += taps[j * a->width + i] || (j > 0 && taps[(j - 1) * a->width + i])
          || (j + 1 < a->height && taps[(j + 1) * a->width + i]);
  return CONVOLVE_COST_PAIRS + terms;
}

bool
convolve_cpu_use_pairs (const ConvolveCpuAnalysis *a, const ConvolveIntegerTaps *integers)
{
  ConvolveCpu *cpu = a->cpu;

  cpu->path = CONVOLVE_CPU_PAIRS;
  if (!convolve_cpu_allocate_terms (&cpu->terms, a->width * ((a->height + 1) / 2)))
    return false;
  for (int i = 0; i < a->width; i++)
    convolve_cpu_add_pairs (&cpu->terms, integers->taps + i, a->height, a->width, 0, i * a->samples, true);
  convolve_cpu_set_end (a, integers->scale, integers->bits);
  return true;
}
