/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile of tiled. */
#ifndef CONVOLVE_CUDA_TILED_H
#define CONVOLVE_CUDA_TILED_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Outputs of a block; also its threads. */
#define CONVOLVE_TILED_WIDTH 32
#define CONVOLVE_TILED_HEIGHT 16

/* The tile with its halo, a float for each sample, in bytes. */
size_t convolve_tiled_shared_size (const ConvolvePlan *plan);

CONVOLVE_DEVICE_FUNCTIONS (tiled);

#ifdef __cplusplus
}
#endif

#endif
