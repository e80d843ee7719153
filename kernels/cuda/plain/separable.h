/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of separable, and what its kernels take. */
#ifndef CONVOLVE_CUDA_SEPARABLE_H
#define CONVOLVE_CUDA_SEPARABLE_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_SEPARABLE_WIDTH 32    /* outputs of a warp side by side, in PRODUCTS of a block */
#define CONVOLVE_SEPARABLE_EIGHT 8     /* neighbouring sums of a thread, and rows of a warp */
#define CONVOLVE_SEPARABLE_BLOCK 32    /* products that are summed before they are added to the sum: fewer roundings */
#define CONVOLVE_SEPARABLE_THREADS 128 /* of a block, at most */
#define CONVOLVE_SEPARABLE_TAPS 256    /* of a row or a column, with taps of 0 behind them */

/* Of a block in PRODUCTS: rows of samples that it takes at a time, also its rows of threads; outputs below each other. */
#define CONVOLVE_SEPARABLE_ROWS 8
#define CONVOLVE_SEPARABLE_HEIGHT 64

/* A block and its shared memory: the lines, and a ring of groups of eight rows of row sums. */
typedef struct
{
  int warps_across, warps_down;
  int height;                 /* outputs of a block, one below the other */
  int lag;                    /* groups of row sums from the first to the last that eight rows of outputs need */
  int groups;                 /* of the ring */
  int line_pitch, ring_pitch; /* values from row to row, so that eight rows begin in different banks */
  int chunks;                 /* of 16 bytes, in all */
} ConvolveSeparableShape;

/* The second parameter of the kernel for sums in float or double. Its sums are of samples less the middle. */
typedef struct
{
  float row[CONVOLVE_SEPARABLE_TAPS] __attribute__ ((aligned (16)));
  float column[CONVOLVE_SEPARABLE_TAPS];
  float middle, restored; /* the middle, or 0; what its weights come to, for the sums */
  ConvolveSeparableShape shape;
} ConvolveSeparableTaps;

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

/* Whether sums are in float, and otherwise in double. Not for PRODUCTS. */
bool convolve_separable_sums_floats (const ConvolvePlan *plan);

/* The rows that are loaded, and the ring of row sums, in bytes; of several products, their totals, too. */
size_t convolve_separable_shared_size (const ConvolvePlan *plan);

/* The host's part of prepare (): plan->prepared becomes the kernel's second parameter. Errors: NO_MEMORY. */
ConvolveStatus convolve_separable_derive (ConvolvePlan *plan, ConvolveError *error);

CONVOLVE_DEVICE_FUNCTIONS (separable);

#ifdef __cplusplus
}
#endif

#endif
