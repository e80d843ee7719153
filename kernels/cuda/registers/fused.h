/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels of the variant fused. */
#ifndef CONVOLVE_CUDA_FUSED_H
#define CONVOLVE_CUDA_FUSED_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

enum
{
  CONVOLVE_FUSED_FLOATS,       /* an exact mask, or one that is FREE */
  CONVOLVE_FUSED_PRODUCT,      /* PRODUCTS */
  CONVOLVE_FUSED_DEEP_PRODUCT, /* PRODUCTS of 16-bit samples, where the product is the same upside down */
};

/* Loads the last of these. Errors: NO_MEMORY. */
ConvolveStatus convolve_fused_load_deep (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
