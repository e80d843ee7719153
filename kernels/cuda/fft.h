/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transforms of fft: how their results lie, and when they are proved to keep the promise of convolve.h. */
#ifndef CONVOLVE_CUDA_FFT_H
#define CONVOLVE_CUDA_FFT_H

#include "common/boundary.h"
#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_FFT_POINTS 512 /* of a transform, in both directions; what the mask leaves of them are outputs */
#define CONVOLVE_FFT_THREADS 32 /* of one transform */
#define CONVOLVE_FFT_HELD (CONVOLVE_FFT_POINTS / CONVOLVE_FFT_THREADS) /* points that a thread holds */

/*
 * The frequency that stands at a place of a transform's result: register r of thread t stands at 32 r + t. Thread t
 * first makes sums of the points t + 32 j; those go to the threads anew, and threads 2 k and 2 k + 1 make the
 * frequencies k + 16 m of k, the second those of m = 8 .. 15 and 24 .. 31. The second half of the registers has the
 * larger m.
 */
static CONVOLVE_BOTH int
convolve_fft_frequency (int place)
{
  int t = place % CONVOLVE_FFT_THREADS, r = place / CONVOLVE_FFT_THREADS;

  return t / 2 + CONVOLVE_FFT_HELD * (r % 8 + t % 2 * 8 + r / 8 * 16);
}

typedef struct
{
  bool is_double;  /* the transforms are in double precision */
  double middle;   /* of the samples: transforms are of samples less this */
  double constant; /* what the mask makes of the middle: added back to every sum */
} ConvolveFft;

/* Chooses single or double precision for the plan. False, with the reason, where neither is proved good enough. */
bool convolve_fft_choose (const ConvolvePlan *plan, bool *is_double, const char **reason);

CONVOLVE_DEVICE_FUNCTIONS (fft);

/* The spectrum of the plan's mask and the roots of the transforms, to plan->device_memory. */
CONVOLVE_EXTERN_C ConvolveStatus convolve_fft_put_spectrum (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
