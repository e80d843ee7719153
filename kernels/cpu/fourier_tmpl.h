/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fourier transforms of a square: all columns first, then all rows, as the columns of the transposed square. */
#ifndef CONVOLVE_CPU_FOURIER_TMPL_H
#define CONVOLVE_CPU_FOURIER_TMPL_H

#include "cpu/level.h"

#define COLUMNS 8 /* that go through all levels of the transform together, in the L1 cache */

/* A butterfly of two rows, in COLUMNS columns: from samples to frequencies, and back. w is a root of 1. */
static inline void
butterfly (double *restrict ar, double *restrict ai, double *restrict br, double *restrict bi, double wr, double wi)
{
  for (int i = 0; i < COLUMNS; i++) {
    double real = ar[i] - br[i], imaginary = ai[i] - bi[i];

    ar[i] += br[i];
    ai[i] += bi[i];
    br[i] = real * wr - imaginary * wi;
    bi[i] = real * wi + imaginary * wr;
  }
}

static inline void
butterfly_back (double *restrict ar, double *restrict ai, double *restrict br, double *restrict bi, double wr,
    double wi)
{
  for (int i = 0; i < COLUMNS; i++) {
    double real = br[i] * wr + bi[i] * wi, imaginary = bi[i] * wr - br[i] * wi;

    br[i] = ar[i] - real;
    bi[i] = ai[i] - imaginary;
    ar[i] += real;
    ai[i] += imaginary;
  }
}

static inline void
transform_columns (double *re, double *im, const double *roots, bool back)
{
  const int n = CONVOLVE_CPU_FFT_POINTS, stride = CONVOLVE_CPU_FFT_STRIDE;

  for (int half = back ? 1 : n / 2; half >= 1 && half < n; half = back ? half * 2 : half / 2)
    for (int k = 0; k < half; k++) {
      double wr = roots[n / half * k], wi = roots[n / half * k + 1];

      for (int row = k; row < n; row += 2 * half) {
        int a = row * stride, b = (row + half) * stride;

        if (back)
          butterfly_back (re + a, im + a, re + b, im + b, wr, wi);
        else
          butterfly (re + a, im + a, re + b, im + b, wr, wi);
      }
    }
}

/* Transposes a square, in blocks that the L1 cache holds. */
static void
transpose (double *square)
{
  const int n = CONVOLVE_CPU_FFT_POINTS, stride = CONVOLVE_CPU_FFT_STRIDE, block = 16;

  for (int y = 0; y < n; y += block)
    for (int x = y; x < n; x += block)
      for (int j = y; j < y + block; j++)
        for (int i = x > y ? x : j + 1; i < x + block; i++) {
          double kept = square[j * stride + i];

          square[j * stride + i] = square[i * stride + j];
          square[i * stride + j] = kept;
        }
}

static void
fourier (double *real, double *imaginary, const double *roots, bool back)
{
  for (int pass = 0; pass < 2; pass++) {
    for (int x = 0; x < CONVOLVE_CPU_FFT_POINTS; x += COLUMNS)
      transform_columns (real + x, imaginary + x, roots, back);
    if (pass == 0) {
      transpose (real);
      transpose (imaginary);
    }
  }
}

static void
multiply (double *restrict real, double *restrict imaginary, const double *restrict by_real,
    const double *restrict by_imaginary)
{
  for (int i = 0; i < CONVOLVE_CPU_FFT_SQUARE; i++) {
    double product = real[i] * by_real[i] - imaginary[i] * by_imaginary[i];

    imaginary[i] = real[i] * by_imaginary[i] + imaginary[i] * by_real[i];
    real[i] = product;
  }
}

#endif
