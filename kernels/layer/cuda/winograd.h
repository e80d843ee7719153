/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the host side and the kernel of winograd agree on. */
#ifndef CONVOLVE_LAYER_CUDA_WINOGRAD_H
#define CONVOLVE_LAYER_CUDA_WINOGRAD_H

#include "layer/cuda/weights.h"

#define CONVOLVE_LAYER_WINOGRAD_WIDTH 32 /* outputs of a tile, before pooling */
#define CONVOLVE_LAYER_WINOGRAD_HEIGHT 16
#define CONVOLVE_LAYER_WINOGRAD_FILTERS 8  /* of a block */
#define CONVOLVE_LAYER_WINOGRAD_CHANNELS 4 /* in shared memory at once */
#define CONVOLVE_LAYER_WINOGRAD_POINTS 16  /* of the 4 x 4 input under 2 x 2 outputs */

CONVOLVE_LAYER_DEVICE_FUNCTIONS (winograd);

#endif
