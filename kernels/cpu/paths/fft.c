/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two squares of samples go through one transform, as its real and its imaginary part. The taps are real, so the two do
 * not mix.
 */
#include "cpu/paths/fft.h"

#include <math.h>
#include <stdlib.h>

#include "common/numbers.h"

#define N CONVOLVE_CPU_FFT_POINTS

/* Cuts a side of the mask into equal parts of at most half a square. */
static int
divide (int side, int *parts)
{
  *parts = (side - 1) / (N / 2) + 1;
  return (side - 1) / *parts + 1;
}

/*
 * The bound is 256 u |z| |h|. Here u is 2^-53, z the two squares of samples as one square of complex numbers, h the
 * taps, and Z and H their transforms. |z| is the Euclidean norm, at most sqrt (2) * middle * N.
 *
 * A root w is off by at most 2.5 u. Its angle, at most pi / 4, has the rounding of a product and that of pi, together
 * 1.1 u. Sine and cosine may be off by their last place, which is u each.
 *
 * A product of complex numbers has an error of sqrt (5) u of its magnitude (Brent, Percival and Zimmermann 2007), and a
 * sum or difference one of u. A level of a transform makes a + b and (a - b) w of a and b. Its error is at most
 * (1 + sqrt (5) + 2.5) u = 5.74 u of the norm of its results. The level whose only root is 1 has an error of u. A
 * transform of a square has 2 * 7 levels of the former kind and 2 of the latter: 82.4 u.
 *
 * On the way forward, an error of 82.4 u |Z| reaches a result as a sum of products with H, divided by the number of
 * points. By Cauchy and Schwarz that is at most 82.4 u |z| |h|. The error of H reaches a result in the same way. The
 * product Z H adds sqrt (5) u |z| |h|.
 *
 * On the way back, a value at any level is a sum over frequencies of Z H times factors of magnitude 1. The values that
 * reach one result are sums over different frequencies. Their magnitudes together are at most |z| |h| at each level,
 * which adds 82.4 u |z| |h|. Rounding to an integer adds 1/2 before the floor, with an error of u of a result.
 *
 * All this is below 251 u |z| |h|. Terms in u^2 are far below the 5 u that are left.
 */
double
convolve_cpu_fft_error (double middle, double taps_norm)
{
  return 256 * CONVOLVE_DOUBLE_UNIT * sqrt (2) * middle * N * taps_norm;
}

/* e^(-2 pi i k / N) for 0 <= k < N / 2. Angles up to pi / 4 have the smallest rounding error. */
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

double
convolve_cpu_fft_digit (double tap, int place, bool upper)
{
  double above = place > 0 ? floor (ldexp (tap, -place) + 0.5) : 0;

  return upper ? above : tap - ldexp (above, place);
}

ConvolveCpuFft *
convolve_cpu_fft_new (const double *taps, int width, int height, int place, const ConvolveCpuLevel *level)
{
  ConvolveCpuFft *fft = calloc (1, sizeof (*fft));

  if (!fft)
    return NULL;
  fft->place = place;
  convolve_cpu_fft_measure (width, height, fft);
  fft->spectra = calloc ((size_t) convolve_cpu_fft_passes (fft) * 2 * CONVOLVE_CPU_FFT_SQUARE, sizeof (double));
  if (!fft->spectra) {
    free (fft);
    return NULL;
  }
  for (int i = 0; i < N / 2; i++)
    find_root (i, &fft->roots[2 * i], &fft->roots[2 * i + 1]);
  for (int pass = 0; pass < convolve_cpu_fft_passes (fft); pass++) {
    const int part = pass % convolve_cpu_fft_parts (fft);
    const int left = part % fft->across * fft->part_width, top = part / fft->across * fft->part_height;
    double *real = fft->spectra + (size_t) pass * 2 * CONVOLVE_CPU_FFT_SQUARE;

    /* Mirrored, because the product of spectra is a convolution. The scale of both transforms is in the taps. */
    for (int y = 0; y < fft->part_height && top + y < height; y++)
      for (int x = 0; x < fft->part_width && left + x < width; x++)
        real[(N - y) % N * CONVOLVE_CPU_FFT_STRIDE + (N - x) % N] =
            convolve_cpu_fft_digit (taps[(size_t) (top + y) * width + left + x], place, pass != part) / (N * N);
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
convolve_cpu_fft_run (const ConvolveCpuFft *fft, const ConvolveCpuLevel *level, int pass, double *real,
    double *imaginary)
{
  const double *spectrum = fft->spectra + (size_t) pass * 2 * CONVOLVE_CPU_FFT_SQUARE;

  level->fourier (real, imaginary, fft->roots, false);
  level->multiply (real, imaginary, spectrum, spectrum + CONVOLVE_CPU_FFT_SQUARE);
  level->fourier (real, imaginary, fft->roots, true);
}
