/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large masks without structure, by Fourier transforms of overlapping squares (overlap-save). Samples and taps are
 * integers. The transforms are in double precision, with an error that convolve_cpu_fft_error() bounds. A plan uses
 * transforms only where the bound is below 1/2. The results, rounded, are then the exact sums, on every machine and
 * however the plane is cut.
 *
 * Taps that are too large for this are cut into two digits, upper * 2^place + lower. A pass convolves two squares at
 * once, one as the real and one as the imaginary part, with one digit of one part of the mask. The passes of all lower
 * digits come first.
 */
#ifndef CONVOLVE_CPU_FFT_H
#define CONVOLVE_CPU_FFT_H

#include "cpu/loops/level.h"

/*
 * A mask as spectra of its parts. A part is at most half a square wide and high, so that at least half of both are
 * outputs.
 */
typedef struct
{
  int across, down;                      /* numbers of parts */
  int part_width, part_height;           /* in taps */
  int place;                             /* of the upper digits; 0: taps have one digit, themselves */
  double roots[CONVOLVE_CPU_FFT_POINTS]; /* of 1: real and imaginary parts in turn */
  double *spectra;                       /* two squares for each pass, real and imaginary: of all lower digits first */
  double cost;                           /* estimated, of two squares, in terms of a sum of pairs */
} ConvolveCpuFft;

/* Fills the numbers and sizes of the parts alone. */
void convolve_cpu_fft_measure (int width, int height, ConvolveCpuFft *fft);

/* taps are integers, row by row. NULL where memory is short. */
ConvolveCpuFft *convolve_cpu_fft_new (const double *taps, int width, int height, int place,
    const ConvolveCpuLevel *level);
void convolve_cpu_fft_free (ConvolveCpuFft *fft); /* NULL is allowed */

/*
 * Bounds the error of a sum before it is rounded, for samples of magnitude up to middle and taps with this Euclidean
 * norm.
 */
double convolve_cpu_fft_error (double middle, double taps_norm);

/*
 * A digit of a tap. The upper one is 0 where place is 0, and the lower one has `place` bits, its sign included,
 * otherwise.
 */
double convolve_cpu_fft_digit (double tap, int place, bool upper);

/*
 * Replaces two squares of samples, real and imaginary, by sums with one pass's digits. The sum at (x, y) is right where
 * the part, with its first tap at (x, y), lies inside the square: x < convolve_cpu_fft_columns() and
 * y < convolve_cpu_fft_rows().
 */
void convolve_cpu_fft_run (const ConvolveCpuFft *fft, const ConvolveCpuLevel *level, int pass, double *real,
    double *imaginary);

static inline int
convolve_cpu_fft_parts (const ConvolveCpuFft *fft)
{
  return fft->across * fft->down;
}

static inline int
convolve_cpu_fft_passes (const ConvolveCpuFft *fft)
{
  return convolve_cpu_fft_parts (fft) * (fft->place > 0 ? 2 : 1);
}

static inline int
convolve_cpu_fft_columns (const ConvolveCpuFft *fft)
{
  return CONVOLVE_CPU_FFT_POINTS - fft->part_width + 1;
}

static inline int
convolve_cpu_fft_rows (const ConvolveCpuFft *fft)
{
  return CONVOLVE_CPU_FFT_POINTS - fft->part_height + 1;
}

#endif
