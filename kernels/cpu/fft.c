/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two squares of samples go through one transform, as its real and its imaginary part. That is possible because the taps
 * are real: they leave both parts apart.
 */
#include "cpu/fft.h"

#include <math.h>
#include <stdlib.h>

#define N CONVOLVE_CPU_FFT_POINTS

/* Cuts a side of the mask into equal parts of at most half a square. */
static int
divide (int side, int *parts)
{
  *parts = (side - 1) / (N / 2) + 1;
  return (side - 1) / *parts + 1;
}

/*
 * Let u be 2^-53, z two squares of samples as one of complex numbers, h the taps, and Z and H their transforms. |z| is
 * the Euclidean norm, at most sqrt (2) * center * N.
 *
 * A root w is off by 2.5 u at most: its angle, at most pi / 4, has the rounding of a product and the one of pi, 1.1 u
 * together, and sine and cosine may be off by their last place, u each. A product of complex numbers has an error of sqrt (5) u of its
 * magnitude (Brent, Percival and Zimmermann 2007), and a sum or difference one of u. So a level of a transform, which
 * makes a + b and (a - b) w of a and b, has an error of at most (1 + sqrt (5) + 2.5) u = 5.74 u of the norm of what the
 * level makes. The level whose only root is 1 has u alone. A transform of a square has 2 * 7 levels of the former and 2
 * of the latter kind: 82.4 u.
 *
 * Forward, an error of 82.4 u |Z| reaches a result as a sum of products with H, divided by the points, which is at most
 * 82.4 u |z| |h| by Cauchy and Schwarz; the error of H reaches it in the same way. The product Z H adds sqrt (5) u. On
 * the way back a value at any level is a sum over frequencies of Z H times factors of magnitude 1, and the values that
 * reach one result are over different frequencies: their magnitudes together are at most |z| |h| at each level, which
 * adds 82.4 u |z| |h|. Rounding to an integer adds 1/2 before the floor, with an error of u of a result. The sum is
 * below 251 u |z| |h|, and what terms in u^2 add is far below the 5 u that are left.
 */
double
convolve_cpu_fft_error (double center, double taps_norm)
{
  return 256 / 9007199254740992.0 * sqrt (2) * center * N * taps_norm;
}

/* e^(-2 pi i k / N) for 0 <= k < N / 2, from sines and cosines of angles up to pi / 4, which have the smallest error. */
static void
find_root (int k, double *real, double *imaginary)
{
  const double circle = 2 * acos (-1);
  int turned = (k + N / 8) / (N / 4); /* the nearest multiple of a quarter circle: 0, 1 or 2 */
  double angle = circle * (k - turned * (N / 4)) / N, c = cos (angle), s = sin (angle);

  *real = turned == 0 ? c : turned == 1 ? -s : -c;
  *imaginary = turned == 0 ? -s : turned == 1 ? -c : s;
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

  if (!fft)
    return NULL;
  convolve_cpu_fft_measure (width, height, fft);
  fft->spectra = calloc ((size_t) fft->across * fft->down * 2 * CONVOLVE_CPU_FFT_SQUARE, sizeof (double));
  if (!fft->spectra) {
    free (fft);
    return NULL;
  }
  for (int i = 0; i < N / 2; i++)
    find_root (i, &fft->roots[2 * i], &fft->roots[2 * i + 1]);
  /* Mirrored, because the product of spectra is a convolution and the mask is a correlation. Both scales are in here. */
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int part = y / fft->part_height * fft->across + x / fft->part_width;
      int row = (N - y % fft->part_height) % N, column = (N - x % fft->part_width) % N;

      fft->spectra[(size_t) part * 2 * CONVOLVE_CPU_FFT_SQUARE + row * CONVOLVE_CPU_FFT_STRIDE + column] =
          taps[(size_t) y * width + x] / (N * N);
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
