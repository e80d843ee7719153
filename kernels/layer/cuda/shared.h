/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the host side and the kernel of shared agree on. */
#ifndef CONVOLVE_LAYER_CUDA_SHARED_H
#define CONVOLVE_LAYER_CUDA_SHARED_H

#include "layer/cuda/weights.h"

/* Threads of a block; each computes one output of the tile before pooling. */
#define CONVOLVE_LAYER_SHARED_WIDTH 32
#define CONVOLVE_LAYER_SHARED_HEIGHT 8

CONVOLVE_LAYER_DEVICE_FUNCTIONS (shared);

#endif
