/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transforms of fft: how their results lie, and when they are proved to keep the promise of convolve.h. */
#ifndef CONVOLVE_FFT_H
#define CONVOLVE_FFT_H

#include "convolve_boundary.h"
#include "convolve_private.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONVOLVE_FFT_POINTS 512 /* of a transform, in both directions; what the mask leaves of them are outputs */
#define CONVOLVE_FFT_THREADS 16 /* of one transform */
#define CONVOLVE_FFT_HELD (CONVOLVE_FFT_POINTS / CONVOLVE_FFT_THREADS)  /* points that a thread holds */
#define CONVOLVE_FFT_SHARED 65536       /* bytes that a block of its kernels takes at most */

/*
 * The frequency that stands at a place of a transform's result. Thread t first makes the sums of the points
 * t + 16 j; those go to the threads anew, and thread t makes the frequencies k + 32 m of k = t and t + 16. It leaves
 * them in the order of its registers, m with its bits reversed, and register r stands at 16 r + t.
 */
static CONVOLVE_BOTH int
convolve_fft_frequency (int place)
{
  int held = place / CONVOLVE_FFT_THREADS, m = 0;

  for (int bit = 1, reversed = CONVOLVE_FFT_THREADS / 2; reversed > 0; bit *= 2, reversed /= 2)
    if (held & bit)
      m |= reversed;
  return place % CONVOLVE_FFT_THREADS + held / CONVOLVE_FFT_THREADS * CONVOLVE_FFT_THREADS + CONVOLVE_FFT_HELD * m;
}

/* Chooses single or double precision for the plan. False, with the reason, where neither is proved good enough. */
bool convolve_fft_choose (const ConvolvePlan *plan, bool *wide, const char **reason);

/* Makes the mask's spectrum on the plan's device. */
ConvolveStatus convolve_fft_prepare (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
