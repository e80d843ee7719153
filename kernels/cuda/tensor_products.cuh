/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the variants share that make two products of a row and a column on the integer tensor cores. */
#ifndef CONVOLVE_CUDA_TENSOR_PRODUCTS_CUH
#define CONVOLVE_CUDA_TENSOR_PRODUCTS_CUH

#include <string.h>

#include "cuda/tensor_rows.cuh"

#define GROUP CONVOLVE_PRODUCTS_GROUP
#define ROWS CONVOLVE_PRODUCTS_ROWS
#define STARTS CONVOLVE_PRODUCTS_STARTS

/* sums = left * right + start on bytes, 16 x 32 by 32 x 8, or 16 x 16 by 16 x 8. In a row's product taps are left. */
template <bool ROW>
static __device__ __forceinline__ void
multiply (int (&sums)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1,
    const int (&start)[4])
{
#if __CUDA_ARCH__ >= 800
  if (ROW)
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

template <bool ROW>
static __device__ __forceinline__ void
multiply (int (&sums)[4], unsigned a0, unsigned a1, unsigned b0, const int (&start)[4])
{
#if __CUDA_ARCH__ >= 800
  if (ROW)
    asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
        : "r"(a0), "r"(a1), "r"(b0), "r"(start[0]), "r"(start[1]), "r"(start[2]), "r"(start[3]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
        : "r"(a0), "r"(a1), "r"(b0), "r"(start[0]), "r"(start[1]), "r"(start[2]), "r"(start[3]));
#endif
}

/* Bytes of 16 row sums of both halves: the second product's left operand. */
struct Block
{
  unsigned low[2][2], high[2][2];
};

/*
 * Sums become two bytes: bits 16 and up of all limbs together, scaled and with a start; or 0 and up where there is one
 * limb of one byte, which began at the start.
 */
template <int SUMS>
static __device__ __forceinline__ void
pack_rows (Block &block, const int (&sums)[2][2][SUMS][4], unsigned scale, unsigned start)
{
#pragma unroll
  for (int h = 0; h < 2; h++) {
    unsigned pairs[2][2];

#pragma unroll
    for (int b = 0; b < 2; b++)
#pragma unroll
      for (int k = 0; k < 2; k++) {
        unsigned total[2];

#pragma unroll
        for (int i = 0; i < 2; i++) {
          total[i] = SUMS > 1 ? start : (unsigned) sums[b][h][0][2 * k + i];
#pragma unroll
          for (int s = 0; s < SUMS && SUMS > 1; s++)
            total[i] += sums[b][h][s][2 * k + i] * (scale << 8 * s);
        }
        pairs[b][k] = __byte_perm (total[0], total[1], SUMS > 1 ? 0x7362 : 0x5140);
      }
#pragma unroll
    for (int k = 0; k < 2; k++) {
      block.low[h][k] = __byte_perm (pairs[0][k], pairs[1][k], 0x5410);
      block.high[h][k] = __byte_perm (pairs[0][k], pairs[1][k], 0x7632);
    }
  }
}

/*
 * Totals of 8 rows of outputs, half of the group: low has high bytes times low limbs and low bytes times high limbs,
 * high is worth 256 times that, and lowest the 256th part.
 */
struct Totals
{
  int low[4], high[4], lowest[4];
};

/* A block with the words of its taps, low limbs and high. */
template <int LIMBS, bool FULL>
static __device__ __forceinline__ void
add_block (Totals &totals, const Block &block, int h, unsigned low, unsigned high)
{
  multiply<false> (totals.high, block.high[h][0], block.high[h][1], high, totals.high);
  multiply<false> (totals.low, block.low[h][0], block.low[h][1], high, totals.low);
  if (LIMBS > 1)
    multiply<false> (totals.low, block.high[h][0], block.high[h][1], low, totals.low);
  if (FULL)
    multiply<false> (totals.lowest, block.low[h][0], block.low[h][1], low, totals.lowest);
}

/* Two blocks with theirs: low limbs in x and y, high ones in z and w. */
template <int LIMBS>
static __device__ __forceinline__ void
add_blocks (Totals &totals, const Block &one, const Block &two, int h, uint4 taps)
{
  multiply<false> (totals.high, one.high[h][0], one.high[h][1], two.high[h][0], two.high[h][1], taps.z, taps.w,
      totals.high);
  multiply<false> (totals.low, one.low[h][0], one.low[h][1], two.low[h][0], two.low[h][1], taps.z, taps.w, totals.low);
  if (LIMBS > 1)
    multiply<false> (totals.low, one.high[h][0], one.high[h][1], two.high[h][0], two.high[h][1], taps.x, taps.y,
        totals.low);
}

/* What a lane writes: four samples side by side, from x on, of two rows in eight. */
struct Outputs
{
  unsigned x, begin, end; /* in samples; what is to be written of the row */
  unsigned copied;        /* bytes that are not convolved */
};

template <typename T>
static __device__ __forceinline__ Outputs
find_outputs (const ConvolveImage &image, const Products &mask, int column)
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

/* How totals become samples: by a shift, the plan's tail, or the integer tail without results to be clamped or with. */
typedef enum
{
  SHIFTED,
  FLOATS,
  INTEGERS,
  CLAMPED_INTEGERS
} Finish;

/* The samples of one row, four, as they lie in memory. */
template <typename T, Finish F, bool FULL>
static __device__ __forceinline__ uint2
finish_row (const ConvolveImage &image, const Products &mask, const Totals (&halves)[2], int row, const float4 &offsets)
{
  const float offset[4] = { offsets.x, offsets.y, offsets.z, offsets.w };
  int values[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int at = i % 2 * 2 + row;

    values[i] = halves[i / 2].low[at] + 256 * halves[i / 2].high[at] + (FULL ? halves[i / 2].lowest[at] >> 8 : 0);
    if (F == SHIFTED)
      values[i] >>= mask.shift;
    else if (F == FLOATS)
      values[i] = convolve_floor_from<T> (image.tail, offset[i], (float) values[i]);
    else
      values[i] = __float_as_int (__fmaf_rd (__int_as_float (values[i]), mask.integer_tail.scale, offset[i]));
    if (F == CLAMPED_INTEGERS)
      values[i] -= CONVOLVE_MAGIC_BITS;
    if (sizeof (T) == 2)
      values[i] = min (max (values[i], 0), image.maximum) << image.shift;
  }
  if (F == INTEGERS)
    return make_uint2 (__byte_perm (__byte_perm (values[0], values[1], 0x0040),
                           __byte_perm (values[2], values[3], 0x0040), 0x5410),
        0);
  if (sizeof (T) == 1)
    return make_uint2 (convolve_clamp_bytes (values[1], values[0], convolve_clamp_bytes (values[3], values[2], 0)), 0);
  return make_uint2 (__byte_perm (values[0], values[1], 0x5410), __byte_perm (values[2], values[3], 0x5410));
}

template <typename T, Finish F, bool FULL>
static __device__ __forceinline__ void
finish_rows (const ConvolveImage &image, const Products &mask, const Totals (&totals)[2][2], const float4 &offsets,
    uint2 (&words)[4])
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    words[i] = finish_row<T, F, FULL> (image, mask, totals[i / 2], i % 2, offsets);
}

/* Those of all rows that a lane writes: 0 and 1, 8 and 9. */
template <typename T, bool EXACT, bool FULL>
static __device__ __forceinline__ void
finish (const ConvolveImage &image, const Products &mask, const Totals (&totals)[2][2], const float4 *offsets,
    uint2 (&words)[4])
{
  if (!EXACT || mask.shift >= 0)
    finish_rows<T, SHIFTED, FULL> (image, mask, totals, make_float4 (0, 0, 0, 0), words);
  else if (sizeof (T) == 2 || !mask.integers)
    finish_rows<T, FLOATS, FULL> (image, mask, totals, *offsets, words);
  else if (mask.integer_tail.clamps)
    finish_rows<T, CLAMPED_INTEGERS, FULL> (image, mask, totals, *offsets, words);
  else
    finish_rows<T, INTEGERS, FULL> (image, mask, totals, *offsets, words);
}

/* Those of them that are to be written, one by one. */
template <typename T>
static __device__ __noinline__ void
store_some (uint8_t *to, unsigned x, unsigned begin, unsigned end, uint2 words)
{
  for (int i = 0; i < 4; i++)
    if (x + i >= begin && x + i < end)
      ((T *) to)[i] = (T) ((i * sizeof (T) < 4 ? words.x : words.y) >> i * 8 * sizeof (T) % 32);
}

/* Writes rows 0, 1, 8 and 9 from `to` on, as many as are in the image; whole: nothing of the warp's lies outside. */
template <typename T>
static __device__ __forceinline__ void
store (uint8_t *to, int64_t stride, int rows, bool whole, const Outputs &outputs, const uint2 (&words)[4])
{
#pragma unroll
  for (int i = 0; i < 4; i++, to += i == 2 ? 7 * stride : stride) {
    if (whole && sizeof (T) == 1)
      *(unsigned *) to = words[i].x;
    else if (whole)
      *(uint2 *) to = words[i];
    else if (i / 2 * 8 + i % 2 < rows)
      store_some<T> (to, outputs.x, outputs.begin, outputs.end, words[i]);
  }
}

/* What both variants tell their kernels of the plan. */
static inline Products
describe_products (const ConvolvePlan *plan)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveProducts *products = &((const ConvolveFoundProducts *) plan->prepared)->products;
  Products mask = {};

  mask.operands = (const uint4 *) plan->device_memory;
  mask.operands_count = (int) (convolve_products_operands_size (plan, products) / 16);
  mask.rank = products->rank;
  mask.units = products->units;
  mask.pairs = products->pairs;
  mask.lead = products->lead;
  mask.width = TILE_WARPS * GROUP * convolve_sample_size (pixel->type);
  mask.samples = pixel->samples;
  mask.copies = pixel->select != (1u << pixel->samples) - 1;
  mask.boundary = plan->boundary;
  mask.scale = products->scale;
  memcpy (mask.row_start, products->row_start, sizeof (mask.row_start));
  mask.shift = products->shift;
  mask.integers = products->integers;
  mask.integer_tail = products->integer_tail;
  for (int i = 0; i < 4; i++)
    mask.offset[i] = convolve_products_offset (plan, products, i % pixel->samples);
  return mask;
}

/* And of the plane. */
static inline void
describe_plane (const ConvolvePlan *plan, const ConvolvePlane *plane, Products *mask)
{
  const int bytes = convolve_sample_size (plan->pixel.type);

  mask->left = plane->region.x * plan->pixel.stride / 16 * 16;
  mask->aligned = ((uintptr_t) plane->source | (uintptr_t) plane->source_stride) % 16 == 0;
  mask->aligned_stores = ((uintptr_t) plane->destination | (uintptr_t) plane->destination_stride) % (4 * bytes) == 0;
}

/* How many blocks stand side by side. */
static inline int
products_columns (const ConvolvePlan *plan, const ConvolvePlane *plane, const Products &mask)
{
  return ((plane->region.x + plane->region.width) * plan->pixel.stride - mask.left + mask.width - 1) / mask.width;
}

#endif
