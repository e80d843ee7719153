/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the host side and the kernel of blocked agree on. */
#ifndef CONVOLVE_LAYER_CUDA_BLOCKED_H
#define CONVOLVE_LAYER_CUDA_BLOCKED_H

#include "layer/cuda/weights.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_LAYER_BLOCKED_WIDTH 128 /* outputs of a tile, before pooling */
#define CONVOLVE_LAYER_BLOCKED_HEIGHT 32
#define CONVOLVE_LAYER_BLOCKED_GROUP 16   /* filters of a block, whose weights share shared memory */
#define CONVOLVE_LAYER_BLOCKED_MAX_SIDE 7 /* of the convolution kernel */
#define CONVOLVE_LAYER_BLOCKED_MAX_CHANNELS 4

/* The side of the square that a layer's kernel is padded to with zeros: 1, 3, 5 or 7. */
int convolve_layer_blocked_side (const ConvolveLayer *layer);

/*
 * Whether the filters and the filled channels of the task are the four bytes of packed pixels, such as RGBA, that the
 * kernel can write in one piece. Returns the first byte of the first pixel, or NULL where they are not.
 */
uint8_t *convolve_layer_blocked_pixels (const ConvolveLayerPlan *plan, const ConvolveLayerTask *task);

CONVOLVE_LAYER_DEVICE_FUNCTIONS (blocked);

#ifdef __cplusplus
}
#endif

#endif
