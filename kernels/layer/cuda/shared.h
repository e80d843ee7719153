/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block of shared. */
#ifndef CONVOLVE_LAYER_CUDA_SHARED_H
#define CONVOLVE_LAYER_CUDA_SHARED_H

#include "layer/cuda/weights.h"

/* Threads of a block, and outputs of its tile before pooling. */
#define CONVOLVE_LAYER_SHARED_WIDTH 32
#define CONVOLVE_LAYER_SHARED_HEIGHT 8

CONVOLVE_LAYER_DEVICE_FUNCTIONS (shared);

#endif
