/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tensor-separable and tensor-fused share: a mask for two passes on the integer tensor cores.
 *
 * The mask is a sum of products of a column and a row of taps. The first pass convolves rows: it makes row sums. The
 * second pass convolves columns of row sums: it makes totals. All taps are integers of one or two digits in base 256,
 * as cuda/tensor/tensor.h defines digits, and a row sum is kept in two bytes.
 *
 * An exact plan has column taps of one digit, and keeps taps and row sums as they are. A plan of PRODUCTS has the
 * integers of common/arithmetic.h, and the kernels compute
 *   row sum = (scale * (sum of row taps times words of samples) + row_start) / 2^16, rounded down
 *   total   = start + centre * sample + (sum of column taps times row sums) / 2^8, rounded down
 *   sample  = total / 2^shift, rounded down and clamped.
 * With digits hi and lo of a column tap and bytes HI and LO of a row sum, the total has the four terms
 *   256 * hi * HI + (hi * LO + lo * HI) + lo * LO / 256.
 * The last term is rounded down once, for the sum of all products.
 *
 * The words of both variants:
 *   group    32 samples side by side, whatever pixels they belong to: the outputs of one warp. The same sample of the
 *            next pixel is `samples` samples away, and so is the next tap in the banded operand
 *   half     of a group: the samples 4 g and 4 g + 1 for all g (half 0), or 4 g + 2 and 4 g + 3 (half 1)
 *   window   the bytes of one row of samples that a group reads
 *   lead     the bytes of the window before the group's first sample
 *   segment  16 bytes of the window, what one mma.m16n8k16 takes; mma.m16n8k32 takes two
 *   slab     the row sums of one group in 16 rows
 *   chunk    16 bytes of memory, which one thread loads together
 *
 * How the passes fit together. Row taps are the left operand of the first pass and samples the right one. So lane 4 g +
 * t gets the sums of rows 2 t and 2 t + 1, for sample 4 g + 2 * half and the next one. As left operand of the second
 * pass, a lane has to give four bytes along the dimension that is summed: the rows. These bytes are of the sums that
 * the lane has already, of rows 2 t, 2 t + 1, 2 t + 8 and 2 t + 9. The rows are then in the order 0, 1, 8, 9, 2, 3, 10,
 * 11 and so on. A sum may add in any order, so the column taps, the right operand, are put in the same one. Row sums
 * never leave their lane.
 *
 * Packed row sums. Where 8 rows of outputs need only 16 rows of row sums (masks of up to 9 rows), a lane's four bytes
 * may instead be both bytes of the sums of rows 2 t and 2 t + 1; a second word has those of the next 8 rows. They are
 * multiplied by ConvolveTensorPackedColumns.
 */
#ifndef CONVOLVE_CUDA_TENSOR_PRODUCTS_H
#define CONVOLVE_CUDA_TENSOR_PRODUCTS_H

#include "common/boundary.h"
#include "common/factors.h"
#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_TENSOR_PRODUCTS_GROUP 32     /* samples of a group */
#define CONVOLVE_TENSOR_PRODUCTS_ROWS 16      /* rows of a slab, of row sums or of outputs */
#define CONVOLVE_TENSOR_PRODUCTS_SEGMENT 16   /* bytes of a segment */
#define CONVOLVE_TENSOR_PRODUCTS_CHUNK 16     /* bytes of a chunk */
#define CONVOLVE_TENSOR_PRODUCTS_WARPS 4      /* warps of a block, side by side */
#define CONVOLVE_TENSOR_PRODUCTS_PHASES 3     /* samples of a pixel that may be the first of four side by side */
#define CONVOLVE_TENSOR_PRODUCTS_ROW_STARTS 9 /* chunks of the header before those with the starts of row sums */
#define CONVOLVE_TENSOR_PRODUCTS_HEADER 13    /* chunks of the header: see ..._operands_size () */
#define CONVOLVE_TENSOR_FUSED_HEIGHT 33       /* rows of the highest mask of tensor-fused */

/* In each half of a slab, a lane has 8 row sums of two bytes: one chunk. */
#define CONVOLVE_TENSOR_PRODUCTS_SLAB_CHUNKS 64 /* chunks of a slab: two halves of 32 lanes */
#define CONVOLVE_TENSOR_PRODUCTS_SLAB_BYTES (CONVOLVE_TENSOR_PRODUCTS_CHUNK * CONVOLVE_TENSOR_PRODUCTS_SLAB_CHUNKS)

/* The integer arithmetic that was chosen for a plan. */
typedef struct
{
  int rank;        /* products of a column and a row, 1 .. CONVOLVE_MAX_RANK */
  int lead;        /* bytes, a multiple of 4 */
  int segments;    /* of a window */
  int lane_bytes;  /* bytes of the window, side by side, that one lane holds: 4, or 16 in tensor-fused */
  bool apart;      /* samples have something between them in memory, the other byte order, or deep ones are copied */
  int slabs;       /* slabs of row sums that 16 rows of outputs are made from: 2, 3, 5 or more */
  int down;        /* bits that words of deep samples are shifted down by; unused bits of the pixel, which are 0 */
  bool short_rows; /* row sums are not scaled, bits 8 .. 23 are kept, and is_byte is true */
  uint32_t scale[CONVOLVE_MAX_RANK];    /* of row sums, whose bits 16 .. 31 are kept; 0: bits 0 .. 15, or short rows */
  int32_t row_start[CONVOLVE_MAX_RANK]; /* added to a row sum after scaling, before the bits are cut */
  int32_t start[CONVOLVE_MAX_SAMPLES];  /* by sample of a pixel: what totals begin with */
  bool is_byte;          /* no total needs clamping, and bits 16 .. 23 of a total are the sample; shift is 16 */
  int32_t centre;        /* what totals have of the output's own sample */
  int shift;             /* bits of a total behind the point; -1: the integer tail or the plan's tail ends the total */
  bool has_integer_tail; /* integer_tail ends the total */
  ConvolveIntegerTail integer_tail;
} ConvolveTensorProducts;

/* The integer taps by product: of the row, plan->taps.width, and of the column, plan->taps.height. */
typedef struct
{
  int row[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE], column[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE];
} ConvolveTensorProductsTaps;

/* plan->prepared of tensor-fused and tensor-separable, from accepts (). */
typedef struct
{
  ConvolveTensorProducts products;
  ConvolveTensorProductsTaps taps;
} ConvolveTensorProductsFound;

/* Digits of a column tap: 1 or 2. */
static inline int
convolve_tensor_products_digits (const ConvolvePlan *plan)
{
  return plan->exact ? 1 : 2;
}

/* The digits of a tap that has two: tap = 256 * high + low. */
static inline int
convolve_tensor_products_low_digit (int tap)
{
  return ((tap + 128) & 255) - 128;
}

static inline int
convolve_tensor_products_high_digit (int tap)
{
  return (tap - convolve_tensor_products_low_digit (tap)) / 256;
}

/*
 * Sums that a row sum is put together from, with the weights 1, 256 and 65536: 1 .. 3. Digit d of a tap and byte b of a
 * sample's word belong to sum d + b.
 */
static inline int
convolve_tensor_products_row_sums (const ConvolvePlan *plan)
{
  return convolve_tensor_products_digits (plan) + convolve_sample_size (plan->pixel.type) - 1;
}

/*
 * Fills in the integers of an exact plan or of one of PRODUCTS, laid out for tensor-separable. False, with *reason set,
 * for any other plan, and where the integers of an exact plan are too large.
 */
bool convolve_tensor_products_choose (const ConvolvePlan *plan, ConvolveTensorProducts *products,
    ConvolveTensorProductsTaps *taps, const char **reason);

/*
 * Changes the layout to that of tensor-fused: windows of 64 bytes for each byte of a sample, in which a lane holds 16
 * bytes side by side. False, with *reason set, where the mask is too large or has more than one product.
 */
bool convolve_tensor_products_for_fused (const ConvolvePlan *plan, ConvolveTensorProducts *products,
    const char **reason);

/*
 * Where in the window, in bytes, the word begins that a lane gives for segment u. The order in which a product adds is
 * free: with lane_bytes 16, segments 0 .. 3 are the four words of the 16 bytes that each of four lanes holds.
 */
static inline int
convolve_tensor_products_byte (const ConvolveTensorProducts *products, int u, int lane)
{
  int words = products->lane_bytes / 4;

  return u / words * 4 * products->lane_bytes + lane % 4 * products->lane_bytes + u % words * 4;
}

/*
 * Registers of the operands with taps, four digits each, for lane 0 .. 31 and product r.
 *
 * Row: segment u, sum s. k is 0 .. 3: the taps of the outputs 4 (lane / 4) + k. So k = 2 * half and 2 * half + 1 are
 * registers a0 and a1 of the half.
 *
 * Column: slab p of row sums. k is 2 * b + d: b is 0 for output rows 0 .. 7 and 1 for rows 8 .. 15, and d is 0 for low
 * digits, 1 for high ones. Taps of one digit have that digit at d = 1, and zeros at d = 0.
 */
uint32_t convolve_tensor_products_row_word (const ConvolvePlan *plan, const ConvolveTensorProducts *products,
    const ConvolveTensorProductsTaps *taps, int r, int u, int s, int lane, int k);
uint32_t convolve_tensor_products_column_word (const ConvolvePlan *plan, const ConvolveTensorProductsTaps *taps, int r,
    int p, int lane, int k);

/*
 * The taps of a lane that packed row sums are multiplied by: [0] for the first 8 rows and [1] for the next. Low bytes
 * of row sums are the two lower bytes of a word, and high bytes the two upper ones. Each 8 rows of outputs have the
 * same taps.
 */
typedef struct
{
  uint32_t middle[2]; /* high digits for low bytes, and low digits for high bytes */
  uint32_t high[2];   /* high digits for high bytes */
  uint32_t low[2];    /* low digits for low bytes */
} ConvolveTensorPackedColumns;

/*
 * low and high are the lane's digits for slab 0 and output rows 0 .. 7, made by convolve_tensor_products_column_word
 * ().
 */
static CONVOLVE_BOTH ConvolveTensorPackedColumns
convolve_tensor_pack_columns (uint32_t low, uint32_t high)
{
  ConvolveTensorPackedColumns columns = { { (high & 0xffff) | low << 16, high >> 16 | (low & 0xffff0000) },
    { high << 16, high & 0xffff0000 }, { low & 0xffff, low >> 16 } };

  return columns;
}

/*
 * Whether there is a kernel of tensor-separable that keeps the slabs of row sums in registers. Samples that lie apart
 * and centres are for the other kernels, so that the fast ones have no code for these.
 */
static inline bool
convolve_tensor_products_in_registers (const ConvolveTensorProducts *products)
{
  return products->rank == 1 && !products->apart && !products->centre
      && (products->slabs == 2 || products->slabs == 3 || products->slabs == 5);
}

/* What the tail in use, the integer tail or the plan's, adds to a total of this sample. */
static inline float
convolve_tensor_products_offset (const ConvolvePlan *plan, const ConvolveTensorProducts *products, int sample)
{
  return products->has_integer_tail ? products->integer_tail.offset[sample] : plan->tail.offset_f[sample];
}

/*
 * The size in bytes of all operands on the device. The operands are, in this order:
 *  - the header. For each sample of a pixel that may be the first of four samples side by side: 8 words, the starts of
 *    totals as a lane's sums begin with them (for samples 4 g and 4 g + 1, two rows each, and then for 4 g + 2 and
 *    4 g + 3); and 4 floats, the offsets of the samples 4 g .. 4 g + 3. Then for each of CONVOLVE_MAX_RANK products 4
 *    words, all of them row_start, as a lane's row sums begin with them
 *  - rows: [product][two segments][sum][half][lane][segment][register]; a last odd segment is [sum][lane][k]
 *  - columns: [product][slab][lane][k]; or, where slabs stay in registers, [slab][8 rows of outputs][lane][digit][this
 *    slab, next slab], in which the first slab comes after the last.
 */
size_t convolve_tensor_products_operands_size (const ConvolvePlan *plan, const ConvolveTensorProducts *products);

/*
 * accepts () of both variants: whether the device and the pixels suit the kernels, and integers were found. These are
 * left in *found, which the caller frees.
 */
bool convolve_tensor_products_accept (const ConvolvePlan *plan, bool for_fused, ConvolveTensorProductsFound **found,
    const char **reason);

/* Puts the operands for plan->prepared on the device. */
ConvolveStatus convolve_tensor_products_put (ConvolvePlan *plan, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
