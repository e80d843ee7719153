/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels of the variant direct. */
#ifndef CONVOLVE_CUDA_DIRECT_H
#define CONVOLVE_CUDA_DIRECT_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

enum
{
  CONVOLVE_DIRECT_ANY,
  CONVOLVE_DIRECT_DEEP,     /* 16-bit samples */
  CONVOLVE_DIRECT_ABSOLUTE, /* the magnitude of a sum */
  CONVOLVE_DIRECT_SETS      /* several sets */
};

/* Each loads one of the kernels. Errors: NO_MEMORY. */
ConvolveStatus convolve_direct_load_deep (ConvolvePlan *plan, ConvolveError *error);
ConvolveStatus convolve_direct_load_sets (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
