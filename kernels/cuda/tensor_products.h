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

#include "common/factors.h"
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

/* The mask as up to CONVOLVE_MAX_RANK products of a column and a row of integers. */
typedef struct
{
  int rank;
  int lead;       /* bytes from where a group's window begins to its first sample, a multiple of 4 */
  int units;      /* of 16 bytes in a window */
  int lane_bytes; /* that a lane has side by side: 4, or 16 in tensor-fused */
  int pairs;      /* blocks of 16 rows of row sums that 16 rows of outputs are made from */
  uint32_t scale; /* of row sums, whose bits from 16 on are kept; 0: row sums are kept as they are, bits from 0 on */
  int32_t row_start[CONVOLVE_MAX_RANK]; /* of row sums, scaled or not */
  int32_t start[CONVOLVE_MAX_SAMPLES];  /* of the totals of each sample */
  int shift;     /* from a total to the sample; -1: the integer tail or the plan's tail does it */
  bool integers; /* the integer tail does it */
  ConvolveIntegerTail integer_tail;
  bool full; /* totals have the products of low bytes and low limbs, too */
} ConvolveProducts;

typedef struct
{
  int row[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE], column[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE];
} ConvolveProductTaps;

/* What accepts () leaves for prepare (). */
typedef struct
{
  ConvolveProducts products;
  ConvolveProductTaps taps;
} ConvolveFoundProducts;

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
  int words = products->lane_bytes / 4;

  return u / words * 4 * products->lane_bytes + lane % 4 * products->lane_bytes + u % words * 4;
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

/*
 * For tensor-fused (widens) and tensor-separable: whether the device and the pixels are such as the kernels need, and
 * the mask has such products, which are left in *found.
 */
bool convolve_products_accept (const ConvolvePlan *plan, bool widens, ConvolveFoundProducts **found,
    const char **reason);

/* Puts all operands of the plan's ConvolveFoundProducts on its device. */
ConvolveStatus convolve_products_prepare (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
