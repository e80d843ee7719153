/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant fused-tiled: its tile, and the sides of the masks that have kernels. */
#ifndef CONVOLVE_CUDA_FUSED_TILED_H
#define CONVOLVE_CUDA_FUSED_TILED_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_FUSED_TILED_SAMPLES 128 /* samples in a row of outputs of the tile */
#define CONVOLVE_FUSED_TILED_HEIGHT 64   /* rows of outputs */

/* The sides of masks that there are kernels for. A mask takes the first that is large enough. */
#define CONVOLVE_FUSED_TILED_SIDES \
  { \
    15, 31, 63 \
  }

/* The side of the kernel that the plan's mask takes, or 0 where the mask is larger than all of them. */
int convolve_fused_tiled_side (const ConvolvePlan *plan);

CONVOLVE_DEVICE_FUNCTIONS (fused_tiled);

#ifdef __cplusplus
}
#endif

#endif
