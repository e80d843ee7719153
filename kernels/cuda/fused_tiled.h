/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile of fused-tiled. */
#ifndef CONVOLVE_CUDA_FUSED_TILED_H
#define CONVOLVE_CUDA_FUSED_TILED_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_FUSED_TILED_SAMPLES 128 /* outputs in a row of the tile */
#define CONVOLVE_FUSED_TILED_HEIGHT 64

/* The masks that there are kernels for: the first that is large enough is taken. */
#define CONVOLVE_FUSED_TILED_SIDES \
  { \
    15, 31, 63 \
  }

/* The side of the kernel for this mask, or 0. */
int convolve_fused_tiled_side (const ConvolvePlan *plan);

CONVOLVE_DEVICE_FUNCTIONS (fused_tiled);

#ifdef __cplusplus
}
#endif

#endif
