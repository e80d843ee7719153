/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block of separable, and what its kernel for PRODUCTS takes. */
#ifndef CONVOLVE_CUDA_SEPARABLE_H
#define CONVOLVE_CUDA_SEPARABLE_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_SEPARABLE_WIDTH 32  /* outputs of a block side by side; also the threads of a row */
#define CONVOLVE_SEPARABLE_ROWS 8    /* rows of samples that a block takes at a time; also its rows of threads */
#define CONVOLVE_SEPARABLE_HEIGHT 64 /* outputs of a block, one below the other */

/*
 * One product of CONVOLVE_ARITHMETIC_PRODUCTS. A row sum before the cut is below 2^32, so sums may wrap around on the
 * way.
 */
typedef struct
{
  int16_t row[CONVOLVE_MAX_SIDE], column[CONVOLVE_MAX_SIDE];
  int cut;
  uint32_t row_start;
} ConvolveSeparableProduct;

/*
 * The second parameter of the kernel for PRODUCTS. A total with its start is a number with a sign, of 32 bits in narrow
 * plans.
 */
typedef struct
{
  int64_t start[CONVOLVE_MAX_SAMPLES]; /* the plan's, less the middle of the samples */
  int bits, middle, rank, centre;
  ConvolveSeparableProduct products[CONVOLVE_MAX_RANK];
} ConvolveSeparableProducts;

/* The rows that are loaded, and the ring of row sums, in bytes; of several products, their totals, too. */
size_t convolve_separable_shared_size (const ConvolvePlan *plan);

/* The host's part of prepare (): where there are products, plan->prepared becomes them. Errors: NO_MEMORY. */
ConvolveStatus convolve_separable_derive (ConvolvePlan *plan, ConvolveError *error);

CONVOLVE_DEVICE_FUNCTIONS (separable);

#ifdef __cplusplus
}
#endif

#endif
