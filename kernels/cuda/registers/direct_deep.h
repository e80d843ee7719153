/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* direct for 16-bit samples: see cuda/registers/direct_deep.cu. */
#ifndef CONVOLVE_CUDA_DIRECT_DEEP_H
#define CONVOLVE_CUDA_DIRECT_DEEP_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Loads the kernel for a plain mask that direct accepted. *loaded is false where there is none: the kernel for all
 * others is to be loaded then. Errors: NO_MEMORY.
 */
ConvolveStatus convolve_direct_load_deep (ConvolvePlan *plan, bool *loaded, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
