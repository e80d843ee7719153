/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The conditions of the variants that divide a plane in an inner part and a rim: see cuda/border.cuh. */
#ifndef CONVOLVE_CUDA_BORDER_H
#define CONVOLVE_CUDA_BORDER_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* The largest side of a mask that direct, fused, packed and packed-separable do. */
#define CONVOLVE_BORDER_SIDE 9

/* The row of a table of kernels for masks of 3x3, 5x5, 7x7 and 9x9: the first that is large enough. */
static inline int
convolve_border_size (const ConvolvePlan *plan)
{
  int side = plan->taps.width > plan->taps.height ? plan->taps.width : plan->taps.height;

  return side <= 3 ? 0 : (side - 3) / 2;
}

/* Whether the pixels can be read in aligned words, and results stay small enough to be rounded down in a float. */
bool convolve_border_accepts_pixels (const ConvolvePlan *plan, const char **reason);

/* They can, and the mask is 9x9 at most. */
bool convolve_border_accepts (const ConvolvePlan *plan, const char **reason);

/* The same for a mask of integers. Leaves the plan's ConvolveIntegerTail in *found. */
bool convolve_border_accepts_integers (const ConvolvePlan *plan, void **found, const char **reason);

double convolve_border_magnitude (const float *taps, int count);

/* All are integers within -128 .. 127. */
bool convolve_border_are_bytes (const float *taps, int count);

#ifdef __cplusplus
}
#endif

#endif
