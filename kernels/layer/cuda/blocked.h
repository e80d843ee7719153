/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile of blocked. */
#ifndef CONVOLVE_LAYER_CUDA_BLOCKED_H
#define CONVOLVE_LAYER_CUDA_BLOCKED_H

#include "layer/cuda/weights.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_LAYER_BLOCKED_WIDTH 128 /* outputs of a tile, before pooling */
#define CONVOLVE_LAYER_BLOCKED_HEIGHT 32
#define CONVOLVE_LAYER_BLOCKED_GROUP 16 /* filters of a block */
#define CONVOLVE_LAYER_BLOCKED_MAX_SIDE 7
#define CONVOLVE_LAYER_BLOCKED_MAX_CHANNELS 4

/* The side of the kernel for this layer: 1, 3, 5 or 7. */
int convolve_layer_blocked_side (const ConvolveLayer *layer);

/* The first byte of pixels of four, all of which the task writes; NULL where they are not that. */
uint8_t *convolve_layer_blocked_pixels (const ConvolveLayerPlan *plan, const ConvolveLayerTask *task);

CONVOLVE_LAYER_DEVICE_FUNCTIONS (blocked);

#ifdef __cplusplus
}
#endif

#endif
