/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The samples outside the image, for C and for CUDA. */
#ifndef CONVOLVE_COMMON_BOUNDARY_H
#define CONVOLVE_COMMON_BOUNDARY_H

#include "convolve.h"

#ifdef __CUDACC__
#define CONVOLVE_BOTH __host__ __device__ __forceinline__
#else
#define CONVOLVE_BOTH inline
#endif

/*
 * The coordinate from 0 to n - 1 whose sample stands at i, or -1 where a level stands at i. i may be any number,
 * because a mask may be many times as wide as the image; n is 1 to 2^28.
 */
static CONVOLVE_BOTH int
convolve_boundary_index (ConvolveBoundary boundary, int i, int n)
{
  if ((unsigned) i < (unsigned) n)
    return i;

  switch (boundary) {
    case CONVOLVE_BOUNDARY_REPLICATE:
      return i < 0 ? 0 : n - 1;
    case CONVOLVE_BOUNDARY_REFLECT: {
      int m = i % (2 * n); /* the picture and its mirror image together repeat every 2 n samples */

      m = m < 0 ? m + 2 * n : m;
      return m < n ? m : 2 * n - 1 - m;
    }
    case CONVOLVE_BOUNDARY_REFLECT_101: {
      int period = n > 1 ? 2 * (n - 1) : 1;
      int m = i % period;

      m = m < 0 ? m + period : m;
      return m < n ? m : period - m;
    }
    case CONVOLVE_BOUNDARY_WRAP: {
      int m = i % n;

      return m < 0 ? m + n : m;
    }
    case CONVOLVE_BOUNDARY_ZERO:
    case CONVOLVE_BOUNDARY_CONSTANT:
    case CONVOLVE_N_BOUNDARIES:
      break;
  }
  return -1;
}

#endif
