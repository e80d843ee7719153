/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Large masks without structure, as integers whose sums the Fourier transforms of cpu/fft.h give exactly. */
#include <math.h>
#include <stdlib.h>

#include "cpu/prepare_paths.h"

#define COST_SQUARE 1200.0 /* of an output, if all of a square were outputs */
#define SCALES 32          /* that are tried for the taps */
#define LARGEST_ERROR 0.49 /* of sums before they are rounded to integers: below 1/2 with some room */

double
convolve_cpu_fft_cost (const ConvolveCpuAnalysis *a)
{
  ConvolveCpuFft fft;

  convolve_cpu_fft_measure (a->width, a->height, &fft);
  return COST_SQUARE * fft.across * fft.down * CONVOLVE_CPU_FFT_POINTS / (double) convolve_cpu_fft_columns (&fft)
      * CONVOLVE_CPU_FFT_POINTS / (double) convolve_cpu_fft_rows (&fft);
}

/* Rounds the taps times scale. Returns the sum of the errors' magnitudes; norm becomes that of the rounded taps. */
static double
round_taps (const ConvolveCpuAnalysis *a, double scale, double *taps, double *norm)
{
  double missed = 0, squares = 0;

  for (int i = 0; i < a->width * a->height; i++) {
    taps[i] = floor (a->taps[i] * scale + 0.5);
    missed += fabs (taps[i] / scale - a->taps[i]);
    squares += taps[i] * taps[i];
  }
  *norm = sqrt (squares);
  return missed;
}

/*
 * The scale with the least rounding errors, among scales from the largest that keeps the transforms' error small down
 * to half of it. Masks often have many equal taps, so that a smaller scale may round better.
 */
static double
choose_scale (const ConvolveCpuAnalysis *a, double *taps)
{
  double norm = 0, missed = INFINITY, scale = 1, largest;

  for (int i = 0; i < a->width * a->height; i++)
    norm += a->taps[i] * a->taps[i];
  largest = LARGEST_ERROR / convolve_cpu_fft_error (a->center, sqrt (norm));
  for (int i = 0; i < SCALES; i++) {
    double tried = largest * (1 - 0.5 * i / SCALES), rest = round_taps (a, tried, taps, &norm);

    if (rest < missed && convolve_cpu_fft_error (a->center, norm) <= LARGEST_ERROR) {
      missed = rest;
      scale = tried;
    }
  }
  return scale;
}

bool
convolve_cpu_use_fft (const ConvolveCpuAnalysis *a)
{
  ConvolveCpu *cpu = a->cpu;
  bool exact = a->plan->exact;
  double *taps = malloc ((size_t) a->width * a->height * sizeof (*taps)), norm, scale;

  if (!taps)
    return false;
  scale = exact ? 1 : choose_scale (a, taps);
  if (round_taps (a, scale, taps, &norm) * a->center <= (exact ? 0 : a->budget)
      && convolve_cpu_fft_error (a->center, norm) <= LARGEST_ERROR)
    cpu->fft = convolve_cpu_fft_new (taps, a->width, a->height, cpu->level);
  free (taps);
  if (!cpu->fft)
    return false;
  cpu->path = CONVOLVE_CPU_FFT;
  cpu->tail.needs_double = true;
  if (exact) {
    cpu->fft_start = a->center * a->sum;
    return true;
  }
  for (int i = 0; i < a->samples; i++)
    cpu->tail.offset[i] = convolve_cpu_offset (a, i);
  cpu->tail.scale = 1 / scale;
  return true;
}
