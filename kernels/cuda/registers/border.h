/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The conditions of the variants that divide a plane into an inner part and a border: see cuda/registers/border.cuh. */
#ifndef CONVOLVE_CUDA_BORDER_H
#define CONVOLVE_CUDA_BORDER_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* The largest side of a mask for direct, fused, packed and packed-separable. */
#define CONVOLVE_BORDER_SIDE 9

/* Results of 8-bit samples must stay below this: convolve_floor () is right up to 2^22, which is 4.19 million. */
#define CONVOLVE_FLOOR_LIMIT 4e6

/* The index of the smallest kernel that is large enough for the mask: 0 .. 3 for 3x3, 5x5, 7x7 and 9x9. */
static inline int
convolve_border_size (const ConvolvePlan *plan)
{
  int side = plan->taps.width > plan->taps.height ? plan->taps.width : plan->taps.height;

  return side <= 3 ? 0 : (side - 3) / 2;
}

#define CONVOLVE_BORDER_LAYOUTS (CONVOLVE_MAX_SAMPLES + 1)

/*
 * The index of the kernel for these pixels, below CONVOLVE_BORDER_LAYOUTS: 0 .. 3 for 1 to 4 samples, 4 for four
 * samples of which the last is copied.
 */
static inline int
convolve_border_layout (const ConvolvePlan *plan)
{
  return plan->pixel.samples == 4 && plan->pixel.select == 7 ? 4 : plan->pixel.samples - 1;
}

/* Whether the pixels can be read in aligned words. */
bool convolve_border_accepts_layout (const ConvolvePlan *plan, const char **reason);

/* Whether the mask is up to 9x9. */
bool convolve_border_accepts_side (const ConvolvePlan *plan, const char **reason);

/* As convolve_border_accepts_layout (), where results stay small enough for convolve_floor (), too. */
bool convolve_border_accepts_pixels (const ConvolvePlan *plan, const char **reason);

/* As convolve_border_accepts_pixels (), for masks up to 9x9. */
bool convolve_border_accepts (const ConvolvePlan *plan, const char **reason);

/* As convolve_border_accepts (), for masks with an integer tail. Leaves the ConvolveIntegerTail in *found. */
bool convolve_border_accepts_integers (const ConvolvePlan *plan, ConvolveFound *found, const char **reason);

/*
 * As convolve_border_accepts_integers (), for samples of more than 8 bits: convolve_deep_tail_choose () finds the tail.
 */
bool convolve_border_accepts_deep (const ConvolvePlan *plan, ConvolveFound *found, const char **reason);

/*
 * For samples that fill 16 bits at the top: what moves one, without its unused bits, into the low bits of the float
 * 2^23 in one instruction. An upper one of a word loses its factor 2^shift by this, and gets that back in the
 * subtraction of 2^23.
 */
typedef struct
{
  uint32_t lower;   /* the bits of the lower sample of a word */
  uint32_t above;   /* what is put above the upper one, which is shifted down */
  int down;         /* by so many bits */
  float unit, base; /* 2^shift, and -2^23 times that */
} ConvolveTopFloats;

/* Whether the samples fill 16 bits at the top. */
static inline bool
convolve_deep_is_top (const ConvolvePlan *plan)
{
  return plan->pixel.shift + plan->pixel.depth == 16;
}

void convolve_border_top_floats (const ConvolvePlan *plan, ConvolveTopFloats *floats);

/* Whether all taps, which are integers, lie within -128 .. 127. */
bool convolve_border_are_bytes (const float *taps, int count);

/*
 * Packs a row of side weights, each -32768 .. 32767, as cuda/registers/row_pairs.cuh reads them: (side + 1) / 2 words
 * each, two weights in a word. even has 0 after the last weight. odd is moved by one weight, with 0 before the first.
 */
void convolve_border_pairs (const int *row, int side, int *even, int *odd);

#ifdef __cplusplus
}
#endif

#endif
