/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block of separable. */
#ifndef CONVOLVE_CUDA_SEPARABLE_H
#define CONVOLVE_CUDA_SEPARABLE_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_SEPARABLE_WIDTH 32 /* outputs of a block side by side; also the threads of a row */
#define CONVOLVE_SEPARABLE_ROWS 8   /* rows of samples that a block takes at a time; also its rows of threads */

/* The rows that are loaded, and the ring of row sums, in bytes. */
size_t convolve_separable_shared_size (const ConvolvePlan *plan);

CONVOLVE_DEVICE_FUNCTIONS (separable);

#ifdef __cplusplus
}
#endif

#endif
