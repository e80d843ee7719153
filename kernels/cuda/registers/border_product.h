/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One product of CONVOLVE_ARITHMETIC_PRODUCTS, as packed-separable and fused compute it for masks up to 9x9:
 * common/arithmetic.h has the rule. Row sums stay below 2^24, and totals are integers of 32 bits that may wrap around:
 *
 *     R = (sum of row * s + row_start) >> CONVOLVE_SHORT_CUT       0 .. 65535
 *     total = start + sum of column * R                            modulo 2^32
 *
 * Where no result needs a clamp, the columns and the start carry a power of two more, so that the result is the
 * uppermost bits of the total. Otherwise the start has the middle of the samples less, and the result is the total as a
 * signed number, shifted down, plus the middle, clamped.
 */
#ifndef CONVOLVE_CUDA_BORDER_PRODUCT_H
#define CONVOLVE_CUDA_BORDER_PRODUCT_H

#include "cuda/registers/border.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct
{
  int row[CONVOLVE_BORDER_SIDE], column[CONVOLVE_BORDER_SIDE]; /* in the middle of the kernel's side, 0 around them */
  int row_start;
  uint32_t start[CONVOLVE_MAX_SAMPLES]; /* by sample */
  int bits;                             /* that a total is shifted down by; 32 - depth where nothing is clamped */
  int middle;                           /* what is added then; 0 where nothing is clamped */
} ConvolveBorderProduct;

/*
 * The additions of the variant fused. Samples and row sums have the factor 2^shift in single precision, which the cut
 * takes back. Column sums are made of the bits of a row sum with CONVOLVE_MAGIC added, so the start has less what
 * CONVOLVE_MAGIC adds to a total.
 */
typedef struct
{
  float row_start, cut;
  uint32_t start[CONVOLVE_MAX_SAMPLES]; /* by sample */
} ConvolveBorderFloats;

/*
 * Whether the plan has PRODUCTS of this kind: a single product without a tap of its own at the centre, short rows,
 * narrow totals, up to 9x9, and pixels that can be read in aligned words.
 */
bool convolve_border_accepts_product (const ConvolvePlan *plan, const char **reason);

/* Whether the column of a kernel with side weights is the same from below. */
bool convolve_border_product_is_mirrored (const ConvolveBorderProduct *product, int side);

/* Whether some results are outside 0 .. M, or the uppermost bits of a total cannot be the result. */
bool convolve_border_product_clamps (const ConvolvePlan *plan);

/*
 * Fills the product for a kernel with side x side weights. The plan was accepted. clamps may be true for every plan,
 * and false where convolve_border_product_clamps () is.
 */
void convolve_border_product_init (const ConvolvePlan *plan, int side, bool clamps, ConvolveBorderProduct *product);

void convolve_border_product_floats (const ConvolvePlan *plan, const ConvolveBorderProduct *product,
    ConvolveBorderFloats *floats);

#ifdef __cplusplus
}
#endif

#endif
