/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The variant fft: the convolution of overlapping tiles by Fourier transforms. Here are the order of a transform's
 * result, and the choice between single and double precision.
 */
#ifndef CONVOLVE_CUDA_FFT_H
#define CONVOLVE_CUDA_FFT_H

#include <math.h>

#include "common/boundary.h"
#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_FFT_POINTS \
  512 /* of a transform, in rows and in columns; a tile has 512 - mask side + 1 outputs a side */
#define CONVOLVE_FFT_THREADS 32                                        /* of one transform */
#define CONVOLVE_FFT_HELD (CONVOLVE_FFT_POINTS / CONVOLVE_FFT_THREADS) /* points that a thread holds */

/*
 * The frequency at a place of a transform's result. The place of register r of thread t is 32 r + t. Threads 2 k and 2
 * k + 1 have the frequencies k + 16 m: the first those with m = 0 .. 7 and 16 .. 23, the second those with m = 8 .. 15
 * and 24 .. 31. Registers 0 .. 7 have the smaller m. The drawing in cuda/fourier/fft_transform.cuh shows where this
 * order comes from.
 */
static CONVOLVE_BOTH int
convolve_fft_frequency (int place)
{
  int t = place % CONVOLVE_FFT_THREADS, r = place / CONVOLVE_FFT_THREADS;

  return t / 2 + CONVOLVE_FFT_HELD * (r % 8 + t % 2 * 8 + r / 8 * 16);
}

/* plan->prepared of fft. */
typedef struct
{
  bool is_double;  /* the transforms are in double precision */
  double unit;     /* above 0: a tap is unit * its upper part + its lower part, each with a spectrum of its own */
  double middle;   /* half the range of samples; subtracted from them, so that the transforms' errors are smaller */
  double constant; /* the middle times the sum of the taps: added to every sum for that */
} ConvolveFft;

/* The spectra of a mask: 2 where taps have two parts. */
static inline int
convolve_fft_parts (const ConvolveFft *fft)
{
  return fft->unit > 0 ? 2 : 1;
}

/*
 * The part of a tap that spectrum `part` holds: of two spectra, 0 has the upper part and 1 the lower; one has all of
 * the tap.
 */
static inline double
convolve_fft_part (const ConvolveFft *fft, double tap, int part)
{
  double upper = fft->unit > 0 ? floor (tap / fft->unit + 0.5) : tap;

  return part == 0 ? upper : tap - upper * fft->unit;
}

/*
 * Chooses the precision whose error bound keeps the promise of convolve.h, and for integers the unit. Fills is_double
 * and unit. False, with the reason, where nothing does.
 */
bool convolve_fft_choose (const ConvolvePlan *plan, ConvolveFft *fft, const char **reason);

CONVOLVE_DEVICE_FUNCTIONS (fft);

/*
 * Allocates plan->device_memory and fills it with the mask's spectrum and the transforms' twiddle factors. Errors:
 * NO_MEMORY, NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
CONVOLVE_EXTERN_C ConvolveStatus convolve_fft_put_spectrum (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
