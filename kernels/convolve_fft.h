/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How fft divides its transforms, and when they are proved to keep the promise of convolve.h. */
#ifndef CONVOLVE_FFT_H
#define CONVOLVE_FFT_H

#include "convolve_boundary.h"
#include "convolve_private.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONVOLVE_FFT_HELD 32    /* points of a transform that one thread holds */
#define CONVOLVE_FFT_POINTS 512 /* of a transform; and twice as many where the mask is long */
#define CONVOLVE_FFT_SHORT 159  /* the longest side for which the fewer points are less work */

#define CONVOLVE_FFT_SHARED 65536       /* bytes that a block of its kernels takes at most */

/* The threads of one transform; also what the points that one of them holds first lie apart. */
#define CONVOLVE_FFT_THREADS(points) ((points) / CONVOLVE_FFT_HELD)

/* The points of a transform along a side of the mask. What is not used up by the mask are outputs. */
static inline int
convolve_fft_points (int side)
{
  return side <= CONVOLVE_FFT_SHORT ? CONVOLVE_FFT_POINTS : 2 * CONVOLVE_FFT_POINTS;
}

/*
 * The frequency that stands at a place of a transform's result. Thread t of its T threads first makes the sums of
 * points t + T j, which go to the threads anew, and then those of frequencies k + 32 * m for k = t, t + T, ...; it
 * leaves them in the order of its registers, m with its bits reversed, and register r stands at r T + t.
 */
static CONVOLVE_BOTH int
convolve_fft_frequency (int points, int place)
{
  int threads = CONVOLVE_FFT_THREADS (points), held = place / threads, m = 0;

  for (int bit = 1, reversed = threads / 2; bit < threads; bit *= 2, reversed /= 2)
    if (held & bit)
      m |= reversed;
  return place % threads + held / threads * threads + CONVOLVE_FFT_HELD * m;
}

/* Chooses single or double precision for the plan. False, with the reason, where neither is proved good enough. */
bool convolve_fft_choose (const ConvolvePlan *plan, ConvolveFft *fft, const char **reason);

/* Makes the mask's spectrum on the plan's device. */
ConvolveStatus convolve_fft_prepare (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
