/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The shapes of gemm. */
#ifndef CONVOLVE_LAYER_CUDA_GEMM_H
#define CONVOLVE_LAYER_CUDA_GEMM_H

#include "layer/cuda/weights.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_LAYER_GEMM_LANES 32
#define CONVOLVE_LAYER_GEMM_WARPS 4
#define CONVOLVE_LAYER_GEMM_STAGES 3 /* stretches of weights in shared memory: one is used, two are on their way */
#define CONVOLVE_LAYER_GEMM_STAGED 8 /* words that separate rows of staged sums in the banks */
#define CONVOLVE_LAYER_GEMM_SHAPES 3

/* What a kernel is made for: tiles of 16 filters, and tiles of 8 outputs that a warp has. */
typedef struct
{
  int filters, outputs;
} ConvolveLayerGemmShape;

/* By the number of filters: index is 0 .. CONVOLVE_LAYER_GEMM_SHAPES - 1, in the order of the kernels. */
int convolve_layer_gemm_shape (const ConvolveLayer *layer, ConvolveLayerGemmShape *shape);

/* Words are split in two terms of float16, for more precision than one has. */
static inline bool
convolve_layer_gemm_is_split (const ConvolveLayer *layer)
{
  return layer->type != CONVOLVE_LAYER_FLOAT16;
}

CONVOLVE_LAYER_DEVICE_FUNCTIONS (gemm);

#ifdef __cplusplus
}
#endif

#endif
