/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant tensor-separable, two passes of cuda/tensor/tensor_products.h with tiles in shared memory. */
#ifndef CONVOLVE_CUDA_TENSOR_SEPARABLE_H
#define CONVOLVE_CUDA_TENSOR_SEPARABLE_H

#include "cuda/tensor/tensor_products.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Chunks of 16 bytes in a row of a block's tile: the windows of its 4 groups, from a multiple of 16 on. */
int convolve_tensor_separable_chunks (const ConvolvePlan *plan, const ConvolveTensorProducts *products);

CONVOLVE_DEVICE_FUNCTIONS (tensor_separable);

#ifdef __cplusplus
}
#endif

#endif
