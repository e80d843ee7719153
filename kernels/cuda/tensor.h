/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask for the integer tensor cores: each tap an integer of one to three signed bytes, its limbs, times one step; and
 * the banded operands that multiply a row of samples by a row of the mask.
 */
#ifndef CONVOLVE_CUDA_TENSOR_H
#define CONVOLVE_CUDA_TENSOR_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_TENSOR_WIDTH 128 /* outputs of a block */
#define CONVOLVE_TENSOR_ROWS 8    /* rows of outputs of a warp */
#define CONVOLVE_TENSOR_WARPS 4   /* of a block, one below the other */
#define CONVOLVE_TENSOR_OUTPUTS 8 /* side by side, of one product */
#define CONVOLVE_TENSOR_UNIT 16   /* samples side by side that go into a product together */

#define CONVOLVE_MAX_LIMBS 3

/* The taps as integers of one to three signed bytes each, the limbs, times one step. */
typedef struct
{
  int count; /* limbs of a tap: tap = step * sum of limb[l] * 256^l */
  double step;
  bool fits;         /* the sum over all limbs stays inside 32 bits */
  ConvolveTail tail; /* from a sum of the integers to the sample */
  bool integers;     /* bytes by one limb, with the integer tail */
  ConvolveIntegerTail integer_tail;
} ConvolveLimbs;

/*
 * Finds the fewest limbs that keep the promise of convolve.h for this plan. Integer taps are taken as they are.
 * False, with the reason, where there are none.
 */
bool convolve_tensor_choose (const ConvolvePlan *plan, ConvolveLimbs *limbs, const char **reason);

/* Limb l of tap i of row j, chosen as above. */
int convolve_tensor_limb (const ConvolvePlan *plan, const ConvolveLimbs *limbs, int l, int i, int j);

/* Samples left of the first output where the mask's window begins: the mask's radius, rounded up to whole words. */
static inline int
convolve_tensor_radius (int mask_width)
{
  return (mask_width / 2 + 3) / 4 * 4;
}

/* Units of a window: 8 outputs, what the mask reaches on the right, and the window's left part. */
static inline int
convolve_tensor_units (int mask_width)
{
  return (convolve_tensor_radius (mask_width) + CONVOLVE_TENSOR_OUTPUTS + mask_width / 2 + CONVOLVE_TENSOR_UNIT - 1)
      / CONVOLVE_TENSOR_UNIT;
}

/* Products for one row of outputs: two units of a mask row at a time, a last odd one with that of the row below. */
static inline int
convolve_tensor_steps (int mask_width, int mask_height)
{
  int units = convolve_tensor_units (mask_width);

  return units / 2 * mask_height + units % 2 * ((mask_height + 1) / 2);
}

/* What a block loads before its first output, so that loads begin at multiples of 16 samples. */
static inline int
convolve_tensor_margin (int mask_width)
{
  return (mask_width / 2 + 15) / 16 * 16;
}

/* Samples in a row of the block's tile. */
static inline int
convolve_tensor_pitch (int mask_width)
{
  int samples = convolve_tensor_margin (mask_width) - convolve_tensor_radius (mask_width) + CONVOLVE_TENSOR_WIDTH
      - CONVOLVE_TENSOR_OUTPUTS + convolve_tensor_units (mask_width) * CONVOLVE_TENSOR_UNIT;

  return (samples + 15) / 16 * 16;
}

/* Rows of the tile. The sums read ahead by up to three rows, which they do not use. */
static inline int
convolve_tensor_tile_rows (int mask_height)
{
  return CONVOLVE_TENSOR_WARPS * CONVOLVE_TENSOR_ROWS + mask_height - 1 + 3;
}

/* The shared memory that tensor needs for this mask, in bytes. */
size_t convolve_tensor_shared_size (const ConvolvePlan *plan);

/*
 * Word of the operand of step s (0 .. steps - 1) and limb l for a lane of the warp (0..31), h = 0 or 1: four limbs,
 * as mma.m16n8k32 expects them of its second operand.
 */
uint32_t convolve_tensor_word (const ConvolvePlan *plan, const ConvolveLimbs *limbs, int s, int l, int lane, int h);

CONVOLVE_DEVICE_FUNCTIONS (tensor);

#ifdef __cplusplus
}
#endif

#endif
