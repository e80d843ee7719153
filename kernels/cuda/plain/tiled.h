/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of the variant tiled. */
#ifndef CONVOLVE_CUDA_TILED_H
#define CONVOLVE_CUDA_TILED_H

#include "cuda/registers/sets.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_TILED_STEP 4 /* taps of a column that a thread takes together */

/*
 * The second parameter of the kernel for plain masks. Taps are floats, doubles or integers of 32 bits, as the sums are.
 * The taps of a column lie together, and columns from left to right: four taps of each set, then the next four.
 */
typedef struct
{
  const void *columns; /* in device memory */
  int column_height;   /* a multiple of 4, with taps of 0 below those of the mask */

  /* For sums of integers: a sum plus start has a sign, and the middle of the samples off. */
  int bits, middle;
  uint32_t start[CONVOLVE_MAX_SAMPLES];
} ConvolveTiledTaps;

/* The second parameter of the kernel for combinations. */
typedef struct
{
  ConvolveTiledTaps taps;
  ConvolveSets sets;
} ConvolveTiledSets;

/* Whether sums are integers of 32 bits, which wrap around on the way, or doubles. Otherwise they are floats. */
bool convolve_tiled_sums_integers (const ConvolvePlan *plan);
bool convolve_tiled_sums_doubles (const ConvolvePlan *plan);

CONVOLVE_DEVICE_FUNCTIONS (tiled);

/* The part of convolve_tiled_load () for combinations. */
ConvolveStatus convolve_tiled_load_sets (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
