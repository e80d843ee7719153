/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask for two passes on the integer tensor cores: products of a column and a row, their taps integers of one or two
 * signed bytes (limbs), row sums in between of two bytes.
 *
 * An exact plan's taps and row sums are taken as they are. Otherwise a row sum is scale * (sum of row taps times the
 * words of samples), rounded to bits 16 to 31; a total is the sum of column taps times row sums over 256, rounded down,
 * where there is but one product without those of two low bytes; and total / 2^shift is the value that is rounded down
 * to the sample.
 *
 * A group is 32 samples side by side, whatever pixels they belong to: neighbours in a pixel's sample are `samples`
 * apart, and the band that stands for a row of the mask has its taps as far apart. It is given to the tensor cores in
 * units of 16 bytes, as the left operand of mma.m16n8k16 (or halves of m16n8k32); lane 4 g + t's outputs are samples
 * 4 g to 4 g + 3. Which bytes a unit has is free: see convolve_products_byte (). Row sums of 8 rows come out with rows
 * 2 t and 2 t + 1 in lane t, so two of those blocks make a word of the left operand of the second product, if its right
 * one has its rows in the same order.
 */
#ifndef CONVOLVE_CUDA_TENSOR_PRODUCTS_H
#define CONVOLVE_CUDA_TENSOR_PRODUCTS_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_PRODUCTS_GROUP 32      /* samples */
#define CONVOLVE_PRODUCTS_ROWS 16       /* that are made at a time */
#define CONVOLVE_PRODUCTS_UNIT 16       /* bytes */
#define CONVOLVE_PRODUCTS_WARPS 4       /* of a block, side by side */
#define CONVOLVE_TENSOR_FUSED_HEIGHT 33 /* of masks */
#define CONVOLVE_PRODUCTS_STARTS 3      /* chunks of 16 bytes before the operands */

typedef struct
{
  int row[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE], column[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE];
} ConvolveProductTaps;

/* Limbs of a column's taps, and sums that a row's sum is put together from: limb by limb of the tap and the word. */
static inline int
convolve_products_limbs (const ConvolvePlan *plan)
{
  return plan->exact ? 1 : 2;
}

static inline int
convolve_products_row_sums (const ConvolvePlan *plan)
{
  return convolve_products_limbs (plan) + convolve_sample_size (plan->pixel.type) - 1;
}

/* Finds integers that keep the promise of convolve.h for this plan. False, with the reason, where there are none. */
bool convolve_products_choose (const ConvolvePlan *plan, ConvolveProducts *products, ConvolveProductTaps *taps,
    const char **reason);

/*
 * Rearranges products for tensor-fused: windows are of 64 bytes, 16 side by side for each of four lanes. False, with the
 * reason, where the mask is too large or needs more than one product.
 */
bool convolve_products_widen (const ConvolvePlan *plan, ConvolveProducts *products, const char **reason);

/* Where in the group's window, in bytes, a lane's word of unit u begins. */
static inline int
convolve_products_byte (const ConvolveProducts *products, int u, int lane)
{
  int words = products->run / 4;

  return u / words * 4 * products->run + lane % 4 * products->run + u % words * 4;
}

/*
 * Words of the operands, for a lane of the warp. Of product r's row: unit u, row sum s, register k: the rows of the
 * tensor core's operand for samples 4 g + k. Of its column: pair p, k = 2 * (8 rows of outputs, 0 or 1) + (low limb 0,
 * high or only limb 1).
 */
uint32_t convolve_products_row_word (const ConvolvePlan *plan, const ConvolveProducts *products,
    const ConvolveProductTaps *taps, int r, int u, int s, int lane, int k);
uint32_t convolve_products_column_word (const ConvolvePlan *plan, const ConvolveProductTaps *taps, int r, int p,
    int lane, int k);

/* Whether there is a kernel that keeps the row sums in registers. */
static inline bool
convolve_products_kept (const ConvolveProducts *products)
{
  return products->rank == 1 && (products->pairs == 2 || products->pairs == 3 || products->pairs == 5);
}

/* What the tail, either the plan's or the integer tail, adds to a total of this sample. */
static inline float
convolve_products_offset (const ConvolvePlan *plan, const ConvolveProducts *products, int sample)
{
  return products->integers ? products->integer_tail.offset[sample] : plan->tail.offset_f[sample];
}

/*
 * What all operands take, in bytes. First where totals begin, as a lane has them in a product: for samples 4 g and
 * 4 g + 1, two rows each, then 4 g + 2 and 4 g + 3; and the four offsets of the tail in float. Then [product][two
 * units][sum][half of k][lane][unit][k], or a last unit's [sum][lane][k]; then [product][pair][lane][k], or, where row
 * sums are kept in registers, for a pair and the next one, the first after the last: [pair][8 rows of
 * outputs][lane][limb][this, next].
 */
size_t convolve_products_operands_size (const ConvolvePlan *plan, const ConvolveProducts *products);

/* Chunks of 16 bytes in a row of a block's tile; and the least shared memory that a block needs, in bytes. */
int convolve_tensor_separable_chunks (const ConvolvePlan *plan, const ConvolveProducts *products);
size_t convolve_tensor_separable_shared_size (const ConvolvePlan *plan, const ConvolveProducts *products);

/* Choose the plan's products and put all operands on its device. */
ConvolveStatus convolve_tensor_fused_prepare (ConvolvePlan *plan, ConvolveError *error);
ConvolveStatus convolve_tensor_separable_prepare (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
