/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* packed for 16-bit samples: see cuda/registers/packed_deep.cu. */
#ifndef CONVOLVE_CUDA_PACKED_DEEP_H
#define CONVOLVE_CUDA_PACKED_DEEP_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Loads the kernel for a plan that packed accepted. Errors: NO_MEMORY. */
ConvolveStatus convolve_packed_load_deep (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
