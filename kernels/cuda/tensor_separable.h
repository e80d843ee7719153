/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile of tensor-separable. */
#ifndef CONVOLVE_CUDA_TENSOR_SEPARABLE_H
#define CONVOLVE_CUDA_TENSOR_SEPARABLE_H

#include "cuda/tensor_products.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Chunks of 16 bytes in a row of a block's tile. */
int convolve_tensor_separable_chunks (const ConvolvePlan *plan, const ConvolveProducts *products);

CONVOLVE_DEVICE_FUNCTIONS (tensor_separable);

#ifdef __cplusplus
}
#endif

#endif
