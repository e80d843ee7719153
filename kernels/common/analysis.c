/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/analysis.h"

#define TOTAL_LIMIT 549755813888. /* 2^39, of PRODUCTS: a total divided by 256 fits 32 bits below this limit */

/* The range of all results before clamping, by the true taps and with every error that is allowed, gives the bits. */
void
convolve_analysis_init (ConvolveAnalysis *a, const ConvolveArithmeticInput *input)
{
  double below = 0, above = 0, low = INFINITY, high = -INFINITY;

  a->input = input;
  a->count = input->width * input->height;
  a->maximum = (1 << input->depth) - 1;
  a->middle = 1 << (input->depth - 1);
  a->limit = CONVOLVE_SHARE * input->budget;
  a->sum = 0;
  a->magnitudes = convolve_sum_of_magnitudes (input->taps, a->count);
  for (int i = 0; i < a->count; i++) {
    a->sum += input->taps[i];
    *(input->taps[i] < 0 ? &below : &above) += input->taps[i] * a->maximum;
  }
  for (int i = 0; i < input->samples; i++) {
    low = fmin (low, below + input->offset[i]);
    high = fmax (high, above + input->offset[i]);
  }
  low -= a->limit;
  high += a->limit;
  a->narrow = 31;
  while (ldexp (low - a->middle, a->narrow) < -CONVOLVE_2_31 || ldexp (high - a->middle, a->narrow) > CONVOLVE_2_31 - 1)
    a->narrow--;
  a->largest = fmax (-low, high) + a->middle;
  a->most = CONVOLVE_MOST_BITS;
  while (a->most > 0 && ldexp (a->largest, a->most) >= TOTAL_LIMIT)
    a->most--;
}

void
convolve_set_starts (const ConvolveAnalysis *a, int bits, double sum, double known, ConvolveArithmetic *arithmetic)
{
  for (int i = 0; i < a->input->samples; i++) {
    double start = ldexp (a->input->offset[i] + a->middle * (a->sum - sum), bits) - known,
           fine = convolve_fineness (bits);

    arithmetic->start[i] = (int64_t) (convolve_round_half_up (start / fine) * fine);
  }
  arithmetic->bits = bits;
  arithmetic->narrow = bits <= a->narrow;
}
