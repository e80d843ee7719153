/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large masks of no structure, by Fourier transforms of squares that overlap (overlap-save). Samples and taps are
 * integers and the transforms double, with an error that the plan bounds by 1/5: rounded, they give the sums themselves,
 * the same on every machine and however the plane is cut. Two squares of samples go through one
 * transform, as its real and its imaginary part, for the taps are real.
 */
#include <math.h>
#include <stdlib.h>

#include "convolve_cpu.h"

#define N CONVOLVE_CPU_FFT_POINTS

/* A mask in parts of at most half a square, so that half of each square's rows and columns are outputs. */
static int
divide (int side, int *parts)
{
  *parts = (side - 1) / (N / 2) + 1;
  return (side - 1) / *parts + 1;
}

/* Of two transforms and a product, each step of which rounds: so often 2^-53 of the squares' and the taps' norms. */
double
convolve_cpu_fft_error (double center, double taps_norm)
{
  return 100 / 9007199254740992.0 * sqrt (2) * center * N * taps_norm;
}

void
convolve_cpu_fft_measure (int width, int height, ConvolveCpuFft *fft)
{
  fft->part_width = divide (width, &fft->across);
  fft->part_height = divide (height, &fft->down);
}

ConvolveCpuFft *
convolve_cpu_fft_new (const double *taps, int width, int height, const ConvolveCpuLevel *level)
{
  ConvolveCpuFft *fft = calloc (1, sizeof (*fft));
  const double circle = 2 * acos (-1);

  if (!fft)
    return NULL;
  convolve_cpu_fft_measure (width, height, fft);
  fft->spectra = calloc ((size_t) fft->across * fft->down * 2 * CONVOLVE_CPU_FFT_SQUARE, sizeof (double));
  if (!fft->spectra) {
    free (fft);
    return NULL;
  }
  for (int i = 0; i < N / 2; i++) {
    fft->roots[2 * i] = cos (circle * i / N);
    fft->roots[2 * i + 1] = -sin (circle * i / N);
  }
  /* Mirrored, for the product of spectra is a convolution, and the whole transform's scale is in the taps. */
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int part = y / fft->part_height * fft->across + x / fft->part_width;
      int row = (N - y % fft->part_height) % N, column = (N - x % fft->part_width) % N;

      fft->spectra[(size_t) part * 2 * CONVOLVE_CPU_FFT_SQUARE + row * CONVOLVE_CPU_FFT_STRIDE + column]
          = taps[(size_t) y * width + x] / (N * N);
    }
  for (int part = 0; part < fft->across * fft->down; part++) {
    double *real = fft->spectra + (size_t) part * 2 * CONVOLVE_CPU_FFT_SQUARE;

    level->fourier (real, real + CONVOLVE_CPU_FFT_SQUARE, fft->roots, false);
  }
  return fft;
}

void
convolve_cpu_fft_free (ConvolveCpuFft *fft)
{
  if (fft)
    free (fft->spectra);
  free (fft);
}

void
convolve_cpu_fft_run (const ConvolveCpuFft *fft, const ConvolveCpuLevel *level, int part, double *real,
    double *imaginary)
{
  const double *spectrum = fft->spectra + (size_t) part * 2 * CONVOLVE_CPU_FFT_SQUARE;

  level->fourier (real, imaginary, fft->roots, false);
  level->multiply (real, imaginary, spectrum, spectrum + CONVOLVE_CPU_FFT_SQUARE);
  level->fourier (real, imaginary, fft->roots, true);
}
