/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Large masks without structure, of integers whose sums the Fourier transforms of cpu/fft.h give exactly. */
#include <math.h>

#include "cpu/prepare_paths.h"

#define COST_SQUARE 1200.0 /* of an output, if all of a square were outputs */
#define LARGEST_ERROR 0.49 /* of sums before they are rounded to integers: below 1/2 with some room */

double
convolve_cpu_fft_cost (const ConvolveCpuAnalysis *a)
{
  ConvolveCpuFft fft;

  convolve_cpu_fft_measure (a->width, a->height, &fft);
  return COST_SQUARE * fft.across * fft.down * CONVOLVE_CPU_FFT_POINTS / (double) convolve_cpu_fft_columns (&fft)
      * CONVOLVE_CPU_FFT_POINTS / (double) convolve_cpu_fft_rows (&fft);
}

bool
convolve_cpu_use_fft (const ConvolveCpuAnalysis *a)
{
  ConvolveCpu *cpu = a->cpu;
  double squares = 0;

  for (int i = 0; i < a->width * a->height; i++)
    squares += a->taps[i] * a->taps[i];
  if (!a->plan->integers || !(convolve_cpu_fft_error (a->center, sqrt (squares)) <= LARGEST_ERROR))
    return false;
  cpu->fft = convolve_cpu_fft_new (a->taps, a->width, a->height, cpu->level);
  if (!cpu->fft)
    return false;
  cpu->path = CONVOLVE_CPU_FFT;
  cpu->tail.needs_double = true;
  cpu->fft_start = a->center * a->sum;
  return true;
}
