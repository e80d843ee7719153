/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Large masks without structure, of integers whose sums the Fourier transforms of cpu/fft.h give exactly. */
#include <math.h>

#include "common/numbers.h"
#include "cpu/prepare_paths.h"

#define COST_SQUARE 200.0  /* of an element of a square: transforms, loading and rounding */
#define LARGEST_ERROR 0.49 /* of sums before they are rounded to integers: below 1/2 with some room */

/* Whether all sums are exact with digits at this place. */
static bool
digits_fit (const ConvolveCpuAnalysis *a, int place)
{
  const int count = a->width * a->height;
  double squares[2] = { 0, 0 }, magnitudes = 0, largest;

  for (int i = 0; i < count; i++)
    for (int upper = 0; upper < 2; upper++) {
      double digit = convolve_cpu_fft_digit (a->taps[i], place, upper);

      squares[upper] += digit * digit;
      magnitudes += fabs (upper ? ldexp (digit, place) : digit);
    }
  largest = sqrt (fmax (squares[0], squares[1]));
  return convolve_cpu_fft_error (a->middle, largest) <= LARGEST_ERROR && a->middle * magnitudes <= CONVOLVE_2_53;
}

/* The place of the digits: 0 where taps are taken whole, or -1 where some sums would not be exact in either way. */
static int
choose_place (const ConvolveCpuAnalysis *a)
{
  static const int places[] = { 0, 12 };

  for (size_t p = 0; p < sizeof (places) / sizeof (places[0]) && a->plan->integers; p++)
    if (digits_fit (a, places[p]))
      return places[p];
  return -1;
}

static double
cost_of_squares (const ConvolveCpuFft *fft)
{
  return 2 * COST_SQUARE * CONVOLVE_CPU_FFT_POINTS * CONVOLVE_CPU_FFT_POINTS * convolve_cpu_fft_passes (fft);
}

double
convolve_cpu_fft_cost (const ConvolveCpuAnalysis *a)
{
  ConvolveCpuFft fft = { .place = choose_place (a) };

  if (fft.place < 0)
    return INFINITY;
  convolve_cpu_fft_measure (a->width, a->height, &fft);
  return cost_of_squares (&fft) / (2.0 * convolve_cpu_fft_columns (&fft) * convolve_cpu_fft_rows (&fft));
}

bool
convolve_cpu_use_fft (const ConvolveCpuAnalysis *a)
{
  ConvolveCpu *cpu = a->cpu;

  cpu->fft = convolve_cpu_fft_new (a->taps, a->width, a->height, choose_place (a), cpu->level);
  if (!cpu->fft)
    return false;
  cpu->fft->cost = cost_of_squares (cpu->fft);
  cpu->path = CONVOLVE_CPU_FFT;
  cpu->tail.needs_double = true;
  cpu->fft_start = a->middle * a->sum;
  return true;
}
