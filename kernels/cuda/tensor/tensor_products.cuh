/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernels of tensor-separable and tensor-fused share: the products, the bytes of row sums between the two
 * passes, and the way from totals to samples. The words, and the order of registers, are those of
 * cuda/tensor/tensor_products.h.
 */
#ifndef CONVOLVE_CUDA_TENSOR_PRODUCTS_CUH
#define CONVOLVE_CUDA_TENSOR_PRODUCTS_CUH

#include <string.h>

#include "cuda/tensor/tensor_rows.cuh"

#define GROUP CONVOLVE_TENSOR_PRODUCTS_GROUP
#define ROWS CONVOLVE_TENSOR_PRODUCTS_ROWS
#define HEADER CONVOLVE_TENSOR_PRODUCTS_HEADER
#define ROW_STARTS CONVOLVE_TENSOR_PRODUCTS_ROW_STARTS

/*
 * sums = a * b + start. a is 16 x 32 and b is 32 x 8 bytes in the first function, 16 x 16 and 16 x 8 in the second.
 * Taps are signed bytes, and the left operand where TAPS_LEFT; the other operand has unsigned bytes.
 */
template <bool TAPS_LEFT>
static __device__ __forceinline__ void
multiply (int (&sums)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1,
    const int (&start)[4])
{
#if __CUDA_ARCH__ >= 800
  if (TAPS_LEFT)
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(start[0]), "r"(start[1]), "r"(start[2]),
        "r"(start[3]));
  else
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(start[0]), "r"(start[1]), "r"(start[2]),
        "r"(start[3]));
#endif
}

template <bool TAPS_LEFT>
static __device__ __forceinline__ void
multiply (int (&sums)[4], unsigned a0, unsigned a1, unsigned b0, const int (&start)[4])
{
#if __CUDA_ARCH__ >= 800
  if (TAPS_LEFT)
    asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
        : "r"(a0), "r"(a1), "r"(b0), "r"(start[0]), "r"(start[1]), "r"(start[2]), "r"(start[3]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
        : "r"(a0), "r"(a1), "r"(b0), "r"(start[0]), "r"(start[1]), "r"(start[2]), "r"(start[3]));
#endif
}

/*
 * A lane's part of a slab of row sums, [half][k]: lane 4 g + t has the sample 4 g + 2 * half + k in rows 2 t, 2 t + 1,
 * 2 t + 8 and 2 t + 9, from the lowest byte to the highest. Low and high bytes of the sums are apart. Each half is a
 * left operand of the second pass.
 */
struct Slab
{
  unsigned low[2][2], high[2][2];
};

/*
 * A lane's row sums of 8 rows and one half of the group, by k: low bytes of rows 2 t and 2 t + 1, and above them high
 * bytes.
 */
typedef unsigned PackedRows[2];

/*
 * Makes the two bytes of each row sum. sums is [sum][register]; register 2 k + i has sample k of the half in row 2 t +
 * i. With several sums, their total, scaled and with the start added, has the bytes at bit 16. The total of short rows
 * has begun at the start, and has the bytes at bit 8; and so has a single sum, with the bytes at bit 0.
 */
template <int SUMS, bool SHORT>
static __device__ __forceinline__ void
pack_half (PackedRows &packed, const int (&sums)[SUMS][4], unsigned scale, unsigned start)
{
  constexpr unsigned bytes = SHORT ? A1_B1_A2_B2 : SUMS > 1 ? A2_B2_A3_B3 : A0_B0_A1_B1;
  constexpr bool begun = SHORT || SUMS == 1;

#pragma unroll
  for (int k = 0; k < 2; k++) {
    unsigned sum[2];

#pragma unroll
    for (int i = 0; i < 2; i++) {
      sum[i] = begun ? 0 : start;
#pragma unroll
      for (int s = 0; s < SUMS; s++)
        sum[i] += sums[s][2 * k + i] * ((begun ? 1 : scale) << 8 * s);
    }
    packed[k] = __byte_perm (sum[0], sum[1], bytes);
  }
}

/* Makes the two bytes of the row sums of a slab. sums is [8 rows][half][sum][register], as pack_half () has it. */
template <int SUMS, bool SHORT>
static __device__ __forceinline__ void
pack_rows (Slab &slab, const int (&sums)[2][2][SUMS][4], unsigned scale, unsigned start)
{
#pragma unroll
  for (int h = 0; h < 2; h++) {
    PackedRows packed[2];

#pragma unroll
    for (int b = 0; b < 2; b++)
      pack_half<SUMS, SHORT> (packed[b], sums[b][h], scale, start);
#pragma unroll
    for (int k = 0; k < 2; k++) {
      slab.low[h][k] = __byte_perm (packed[0][k], packed[1][k], A0_A1_B0_B1);
      slab.high[h][k] = __byte_perm (packed[0][k], packed[1][k], A2_A3_B2_B3);
    }
  }
}

/*
 * A lane's totals of 8 rows of outputs and one half of the group, by the weight of their terms: register 2 k + i has
 * sample k of the half in row 2 t + i. A total is 256 * high + middle.
 */
struct Totals
{
  int middle[4], high[4];
};

/*
 * Adds the terms of one slab. low_taps and high_taps have the low and the high digits of the column. Taps of one digit
 * have it in high_taps, and so their totals are not divided by 256. The terms of low digits and low bytes, which are,
 * have sums of their own: add_low () makes these, and fold () adds them.
 */
template <int DIGITS>
static __device__ __forceinline__ void
add_slab (Totals &totals, const Slab &slab, int h, unsigned low_taps, unsigned high_taps)
{
  multiply<false> (totals.high, slab.high[h][0], slab.high[h][1], high_taps, totals.high);
  multiply<false> (totals.middle, slab.low[h][0], slab.low[h][1], high_taps, totals.middle);
  if (DIGITS > 1)
    multiply<false> (totals.middle, slab.high[h][0], slab.high[h][1], low_taps, totals.middle);
}

static __device__ __forceinline__ void
add_low (int (&low)[4], const Slab &slab, int h, unsigned low_taps)
{
  multiply<false> (low, slab.low[h][0], slab.low[h][1], low_taps, low);
}

/* The same for two slabs at once: taps has the low digits for them in x and y, and the high digits in z and w. */
template <int DIGITS>
static __device__ __forceinline__ void
add_two_slabs (Totals &totals, const Slab &one, const Slab &two, int h, uint4 taps)
{
  multiply<false> (totals.high, one.high[h][0], one.high[h][1], two.high[h][0], two.high[h][1], taps.z, taps.w,
      totals.high);
  multiply<false> (totals.middle, one.low[h][0], one.low[h][1], two.low[h][0], two.low[h][1], taps.z, taps.w,
      totals.middle);
  if (DIGITS > 1)
    multiply<false> (totals.middle, one.high[h][0], one.high[h][1], two.high[h][0], two.high[h][1], taps.x, taps.y,
        totals.middle);
}

static __device__ __forceinline__ void
add_two_low (int (&low)[4], const Slab &one, const Slab &two, int h, uint4 taps)
{
  multiply<false> (low, one.low[h][0], one.low[h][1], two.low[h][0], two.low[h][1], taps.x, taps.y, low);
}

/* Adds the 256th part of all terms of low digits and low bytes, rounded down once. */
static __device__ __forceinline__ void
fold (Totals &totals, const int (&low)[4])
{
#pragma unroll
  for (int k = 0; k < 4; k++)
    totals.middle[k] += low[k] >> 8;
}

/* What a lane writes in each of its rows: the four samples from x on. Places are samples from the row's first one. */
struct Outputs
{
  unsigned x;
  unsigned begin, end; /* of the samples that may be written */
  unsigned copied;     /* 0xff in each of the four bytes that is copied instead of convolved */
};

/* column is the number of the block in its row of blocks. */
template <typename T>
static __device__ __forceinline__ Outputs
find_outputs (const ConvolveImage &image, const ProductsParameters &mask, int column)
{
  Outputs outputs;

  outputs.x = (mask.left + column * mask.width) / (unsigned) sizeof (T) + threadIdx.y * GROUP + threadIdx.x / 4 * 4;
  outputs.begin = image.x0 * mask.samples;
  outputs.end = image.x1 * mask.samples;
  outputs.copied = 0;
  for (int i = 0; i < 4 && mask.copies; i++)
    outputs.copied |= image.select >> (outputs.x + i) % mask.samples & 1 ? 0 : 0xffu << 8 * i;
  return outputs;
}

/* What turns totals into samples. */
typedef enum
{
  BY_BYTE, /* bits 16 .. 23 of a total are the sample */
  BY_SHIFT,
  BY_FLOAT_TAIL,          /* the plan's tail in single precision, rounded down */
  BY_INTEGER_TAIL,        /* the integer tail, for a mask whose results are all in 0 .. 255 */
  BY_CLAMPED_INTEGER_TAIL /* the integer tail for any other mask */
} Finish;

/* The lane's four samples of row 2 t + i, as they lie in memory. halves are those of these 8 rows. */
template <typename T, Finish F>
static __device__ __forceinline__ uint2
finish_row (const ConvolveImage &image, const ProductsParameters &mask, const Totals (&halves)[2], int i,
    const float4 &offsets)
{
  const float offset[4] = { offsets.x, offsets.y, offsets.z, offsets.w };
  int values[4];

#pragma unroll
  for (int n = 0; n < 4; n++) {
    const Totals &totals = halves[n / 2];
    const int at = n % 2 * 2 + i;

    values[n] = totals.middle[at] + 256 * totals.high[at];
    if (F == BY_BYTE)
      continue;
    if (F == BY_SHIFT)
      values[n] >>= mask.shift;
    else if (F == BY_FLOAT_TAIL)
      values[n] = convolve_floor_from<T> (image.tail, offset[n], (float) values[n]);
    else
      values[n] = __float_as_int (__fmaf_rd (__int_as_float (values[n]), mask.integer_tail.scale, offset[n]));
    if (F == BY_CLAMPED_INTEGER_TAIL)
      values[n] -= CONVOLVE_MAGIC_BITS;
    if (sizeof (T) == 2)
      values[n] = min (max (values[n], 0), image.maximum) << image.shift;
  }
  if (F == BY_BYTE)
    return make_uint2 (__byte_perm (__byte_perm (values[0], values[1], A2_B2),
                           __byte_perm (values[2], values[3], A2_B2), A0_A1_B0_B1),
        0);
  if (F == BY_INTEGER_TAIL)
    return make_uint2 (__byte_perm (__byte_perm (values[0], values[1], A0_B0),
                           __byte_perm (values[2], values[3], A0_B0), A0_A1_B0_B1),
        0);
  if (sizeof (T) == 1)
    return make_uint2 (convolve_clamp_bytes (values[1], values[0], convolve_clamp_bytes (values[3], values[2], 0)), 0);
  return make_uint2 (__byte_perm (values[0], values[1], A0_A1_B0_B1), __byte_perm (values[2], values[3], A0_A1_B0_B1));
}

/* The lane's outputs of 16 rows: rows 2 t, 2 t + 1, 2 t + 8 and 2 t + 9. totals is [8 rows][half]. */
template <typename T, Finish F>
static __device__ __forceinline__ void
finish_rows (const ConvolveImage &image, const ProductsParameters &mask, const Totals (&totals)[2][2],
    const float4 &offsets, uint2 (&words)[4])
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    words[i] = finish_row<T, F> (image, mask, totals[i / 2], i % 2, offsets);
}

/*
 * The same, where for exact plans the way from totals to samples is a parameter of the launch and not of the template.
 */
template <typename T, bool EXACT, Finish F>
static __device__ __forceinline__ void
finish (const ConvolveImage &image, const ProductsParameters &mask, const Totals (&totals)[2][2], const float4 *offsets,
    uint2 (&words)[4])
{
  if (!EXACT)
    finish_rows<T, F> (image, mask, totals, make_float4 (0, 0, 0, 0), words);
  else if (mask.shift >= 0)
    finish_rows<T, BY_SHIFT> (image, mask, totals, make_float4 (0, 0, 0, 0), words);
  else if (sizeof (T) == 2 || !mask.has_integer_tail)
    finish_rows<T, BY_FLOAT_TAIL> (image, mask, totals, *offsets, words);
  else if (mask.integer_tail.clamps)
    finish_rows<T, BY_CLAMPED_INTEGER_TAIL> (image, mask, totals, *offsets, words);
  else
    finish_rows<T, BY_INTEGER_TAIL> (image, mask, totals, *offsets, words);
}

/* Writes four samples one by one, without those before `begin` and from `end` on. x is the place of the first. */
template <typename T>
static __device__ __noinline__ void
store_some (uint8_t *to, unsigned x, unsigned begin, unsigned end, uint2 words)
{
  for (int i = 0; i < 4; i++)
    if (x + i >= begin && x + i < end)
      ((T *) to)[i] = (T) ((i * sizeof (T) < 4 ? words.x : words.y) >> i * 8 * sizeof (T) % 32);
}

/*
 * Writes four samples of row y whose places in memory lie apart, and copies those that are not convolved. The words
 * have this machine's byte order; first is the place of the first sample, as in Outputs.
 */
template <typename T>
static __device__ __noinline__ void
store_apart (const ConvolveImage &image, int samples, unsigned first, unsigned begin, unsigned end, int y, uint2 words)
{
  for (int i = 0; i < 4; i++) {
    const unsigned at = first + i, x = at / samples, sample = at - x * samples;
    const unsigned word = (i * sizeof (T) < 4 ? words.x : words.y) >> i * 8 * sizeof (T) % 32;

    if (at < begin || at >= end)
      continue;
    *convolve_destination<T> (image, x, y, sample) = image.select >> sample & 1
        ? (T) (sizeof (T) > 1 ? convolve_swap (image, word & 0xffff) : word)
        : *convolve_source<T> (image, x, y, sample);
  }
}

/* Writes the lane's outputs of 16 rows from row y on, but none from row `bottom` on, by store_apart (). */
template <typename T>
static __device__ __forceinline__ void
store_rows_apart (const ConvolveImage &image, const ProductsParameters &mask, const Outputs &outputs, int y, int bottom,
    const uint2 (&words)[4])
{
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int row = y + i / 2 * 8 + i % 2;

    if (row < bottom)
      store_apart<T> (image, mask.samples, outputs.x, outputs.begin, outputs.end, row, words[i]);
  }
}

/*
 * Writes the lane's outputs of 16 rows; `to` is the place of the first. unclipped: all outputs of the warp may be
 * written, and each four as one word. Otherwise only those of the first `rows` rows from the lane's first row on.
 */
template <typename T>
static __device__ __forceinline__ void
store (uint8_t *to, int64_t stride, int rows, bool unclipped, const Outputs &outputs, const uint2 (&words)[4])
{
#pragma unroll
  for (int i = 0; i < 4; i++, to += i == 2 ? 7 * stride : stride) { /* 7 rows from row 2 t + 1 to row 2 t + 8 */
    if (unclipped && sizeof (T) == 1)
      *(unsigned *) to = words[i].x;
    else if (unclipped)
      *(uint2 *) to = words[i];
    else if (i / 2 * 8 + i % 2 < rows)
      store_some<T> (to, outputs.x, outputs.begin, outputs.end, words[i]);
  }
}

/* The parameters that depend on the plan alone and that both variants need. */
static inline ProductsParameters
describe_products (const ConvolvePlan *plan)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveTensorProducts *products = &((const ConvolveTensorProductsFound *) plan->prepared)->products;
  ProductsParameters mask = {};

  mask.operands = (const uint4 *) plan->device_memory;
  mask.operands_count = (int) (convolve_tensor_products_operands_size (plan, products) / CHUNK);
  mask.rank = products->rank;
  mask.segments = products->segments;
  mask.slabs = products->slabs;
  mask.lead = products->lead;
  mask.width = TILE_WARPS * GROUP * convolve_sample_size (pixel->type);
  mask.samples = pixel->samples;
  mask.apart = products->apart;
  mask.copies = pixel->select != (1u << pixel->samples) - 1;
  mask.boundary = plan->boundary;
  mask.down = products->down;
  mask.centre = products->centre;
  memcpy (mask.scale, products->scale, sizeof (mask.scale));
  memcpy (mask.row_start, products->row_start, sizeof (mask.row_start));
  mask.shift = products->shift;
  mask.has_integer_tail = products->has_integer_tail;
  mask.integer_tail = products->integer_tail;
  for (int i = 0; i < 4; i++)
    mask.offset[i] = convolve_tensor_products_offset (plan, products, i % pixel->samples);
  return mask;
}

/* The length of a pixel where its samples, and those of the next pixel, lie side by side: as in a tile. */
static inline int
dense_pixel (const ConvolvePlan *plan)
{
  return plan->pixel.samples * convolve_sample_size (plan->pixel.type);
}

/* Adds those that depend on the plane. */
static inline void
describe_plane (const ConvolvePlan *plan, const ConvolvePlane *plane, ProductsParameters *mask)
{
  const int store = 4 * convolve_sample_size (plan->pixel.type);

  mask->left = plane->region.x * dense_pixel (plan) / CHUNK * CHUNK;
  mask->aligned = !mask->apart && ((uintptr_t) plane->source | (uintptr_t) plane->source_stride) % CHUNK == 0;
  mask->aligned_stores =
      !mask->apart && ((uintptr_t) plane->destination | (uintptr_t) plane->destination_stride) % store == 0;
}

/* The number of blocks side by side. */
static inline int
products_columns (const ConvolvePlan *plan, const ConvolvePlane *plane, const ProductsParameters &mask)
{
  return ((plane->region.x + plane->region.width) * dense_pixel (plan) - mask.left + mask.width - 1) / mask.width;
}

#endif
