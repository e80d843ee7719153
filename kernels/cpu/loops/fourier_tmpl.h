/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fourier transforms of a square: all columns first, then all rows, as the columns of the transposed square. */
#ifndef CONVOLVE_CPU_FOURIER_TMPL_H
#define CONVOLVE_CPU_FOURIER_TMPL_H

#include <math.h>

#include "cpu/loops/vectors_tmpl.h"

#define COLUMNS 8 /* that go through all levels of the transform together, in the L1 cache */

/* One complex number in each lane, and a root of 1. */
typedef struct
{
  Doubles real, imaginary;
} Complexes;

typedef struct
{
  double real, imaginary;
} Root;

/* A butterfly: from samples to frequencies, and back. */
static inline void
butterfly (Complexes *a, Complexes *b, Root w)
{
  Doubles real = a->real - b->real, imaginary = a->imaginary - b->imaginary;

  a->real += b->real;
  a->imaginary += b->imaginary;
  b->real = real * w.real - imaginary * w.imaginary;
  b->imaginary = real * w.imaginary + imaginary * w.real;
}

static inline void
butterfly_back (Complexes *a, Complexes *b, Root w)
{
  Doubles real = b->real * w.real + b->imaginary * w.imaginary;
  Doubles imaginary = b->imaginary * w.real - b->real * w.imaginary;

  b->real = a->real - real;
  b->imaginary = a->imaginary - imaginary;
  a->real += real;
  a->imaginary += imaginary;
}

static inline Root
root_of (const double *roots, int half, int k)
{
  const double *root = roots + CONVOLVE_CPU_FFT_POINTS / half * k;

  return (Root){ root[0], root[1] };
}

/*
 * Two levels of the transform for four rows that are `step` doubles apart. They stay in registers meanwhile. One level
 * has butterflies of rows 0 and 2 and of rows 1 and 3, with the roots `far`, and the other one of neighbours.
 */
static inline __attribute__ ((always_inline)) void
two_levels (double *re, double *im, int step, const Root far[2], Root near, bool back)
{
  Complexes rows[4];

  for (int r = 0; r < 4; r++)
    rows[r] = (Complexes){ *(const DoublesAt *) (re + r * step), *(const DoublesAt *) (im + r * step) };
  if (back) {
    butterfly_back (&rows[0], &rows[1], near);
    butterfly_back (&rows[2], &rows[3], near);
    butterfly_back (&rows[0], &rows[2], far[0]);
    butterfly_back (&rows[1], &rows[3], far[1]);
  } else {
    butterfly (&rows[0], &rows[2], far[0]);
    butterfly (&rows[1], &rows[3], far[1]);
    butterfly (&rows[0], &rows[1], near);
    butterfly (&rows[2], &rows[3], near);
  }
  for (int r = 0; r < 4; r++) {
    *(DoublesAt *) (re + r * step) = rows[r].real;
    *(DoublesAt *) (im + r * step) = rows[r].imaginary;
  }
}

static inline void
transform_columns (double *re, double *im, const double *roots, bool back)
{
  const int n = CONVOLVE_CPU_FFT_POINTS, stride = CONVOLVE_CPU_FFT_STRIDE; /* n is a power of 4 */

  for (int quarter = back ? 1 : n / 4; quarter >= 1 && quarter < n; quarter = back ? quarter * 4 : quarter / 4)
    for (int k = 0; k < quarter; k++) {
      const Root far[2] = { root_of (roots, 2 * quarter, k), root_of (roots, 2 * quarter, k + quarter) };
      const Root near = root_of (roots, quarter, k);

      for (int row = k; row < n; row += 4 * quarter)
        for (int x = 0; x < COLUMNS; x += LANES / 2)
          two_levels (re + row * stride + x, im + row * stride + x, quarter * stride, far, near, back);
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

static void
values_to_doubles (const uint16_t *restrict values, int samples, int count, int middle, double *restrict row)
{
  if (samples == 1) /* compilers have a faster loop for this */
    for (int i = 0; i < count; i++)
      row[i] = values[i] - middle;
  else
    for (int i = 0; i < count; i++)
      row[i] = values[i * samples] - middle;
}

static void
add_rounded (const double *restrict numbers, int count, double unit, double *restrict sums)
{
  for (int i = 0; i < count; i++)
    sums[i] += floor (numbers[i] + 0.5) * unit;
}

#endif
