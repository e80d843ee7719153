/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the variant packed. cuda/registers/sets.h has those for masks of several sets. */
#ifndef CONVOLVE_CUDA_PACKED_H
#define CONVOLVE_CUDA_PACKED_H

#include "cuda/registers/border.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* The kernels of the variant. */
enum
{
  CONVOLVE_PACKED_BYTES, /* integer weights of 8 bits; plan->prepared is a ConvolveIntegerTail */
  CONVOLVE_PACKED_DEEP,  /* the same, of 16-bit samples */
  CONVOLVE_PACKED_WIDE,  /* weights of 16 bits */
  CONVOLVE_PACKED_SETS,  /* several sets */
  CONVOLVE_PACKED_RING   /* eight sets that are turns of each other */
};

/*
 * Eight 3x3 sets that are turns of one ring: three weights side by side are `high` above the five others, which are
 * `low`. least is added to each value, so that it is 0 to 65535.
 */
typedef struct
{
  unsigned high;
  int low;
  unsigned least;
} ConvolvePackedRing;

/* Whether the sets are such turns, in any order, without a weight in the centre. Then fills *ring. */
bool convolve_packed_find_ring (const ConvolvePlan *plan, ConvolvePackedRing *ring);

/* The largest side of a mask with weights of 16 bits. */
#define CONVOLVE_PACKED_WIDE_SIDE 5

/*
 * Weights of 16 bits, of a plan of ONE_STEP that packed accepted. A total is start + sum of tap * s, an integer of 32
 * bits with a sign. Where no result needs a clamp and CONVOLVE_PACKED_WIDE_BITS bits are behind the point, the result
 * is the third byte of the total. Otherwise the start has the middle of the samples, 128, less: the result is the total
 * shifted down by bits, plus 128, clamped.
 */
#define CONVOLVE_PACKED_WIDE_BITS 16

/*
 * Words of two weights each, the first in the lower half, for outputs whose mask begins at an even place of memory, and
 * at an odd one.
 */
typedef struct
{
  /*
   * Of each row, without its last weight where the mask begins at an even place, and without its first one elsewhere.
   */
  int row[CONVOLVE_PACKED_WIDE_SIDE][CONVOLVE_PACKED_WIDE_SIDE / 2];

  /*
   * The column of the weights that are left out. Two words are for four rows from the top, and the last two for the
   * last four rows, of which those that had their turn have 0.
   */
  int column[2 * ((CONVOLVE_PACKED_WIDE_SIDE + 3) / 4)];
} ConvolvePackedPairs;

typedef struct
{
  int tap[CONVOLVE_PACKED_WIDE_SIDE][CONVOLVE_PACKED_WIDE_SIDE]; /* [row][column], in the middle of the kernel's side */
  ConvolvePackedPairs pairs[2];                                  /* the same taps: [even, odd] */
  int start[CONVOLVE_MAX_SAMPLES];                               /* by sample */
  int bits;
  bool clamps;
} ConvolvePackedWide;

/*
 * Whether the plan is one of ONE_STEP with taps of at most 16 bits, narrow totals and a mask up to 5x5. The samples
 * have 8 bits.
 */
bool convolve_packed_accepts_wide (const ConvolvePlan *plan, const char **reason);

/* Fills wide for a kernel with side x side weights. */
void convolve_packed_wide_init (const ConvolvePlan *plan, int side, ConvolvePackedWide *wide);

/* Each loads one of the kernels. Errors: NO_MEMORY. */
ConvolveStatus convolve_packed_load_deep (ConvolvePlan *plan, ConvolveError *error);
ConvolveStatus convolve_packed_load_wide (ConvolvePlan *plan, ConvolveError *error);
ConvolveStatus convolve_packed_load_sets (ConvolvePlan *plan, ConvolveError *error);
ConvolveStatus convolve_packed_load_ring (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
