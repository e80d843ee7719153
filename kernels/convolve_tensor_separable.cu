/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "convolve_products.h"
#include "convolve_rows_tile.cuh"

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
    asm ("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};" : "=r" (sums[0]), "=r" (sums[1]), "=r" (sums[2]), "=r" (sums[3])
        : "r" (a0), "r" (a1), "r" (a2), "r" (a3), "r" (b0), "r" (b1), "r" (start[0]), "r" (start[1]), "r" (start[2]),
        "r" (start[3]));
  else
    asm ("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};" : "=r" (sums[0]), "=r" (sums[1]), "=r" (sums[2]), "=r" (sums[3])
        : "r" (a0), "r" (a1), "r" (a2), "r" (a3), "r" (b0), "r" (b1), "r" (start[0]), "r" (start[1]), "r" (start[2]),
        "r" (start[3]));
#endif
}

template <bool ROW>
static __device__ __forceinline__ void
multiply (int (&sums)[4], unsigned a0, unsigned a1, unsigned b0, const int (&start)[4])
{
#if __CUDA_ARCH__ >= 800
  if (ROW)
    asm ("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r" (sums[0]), "=r" (sums[1]), "=r" (sums[2]), "=r" (sums[3]) : "r" (a0), "r" (a1), "r" (b0),
        "r" (start[0]), "r" (start[1]), "r" (start[2]), "r" (start[3]));
  else
    asm ("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r" (sums[0]), "=r" (sums[1]), "=r" (sums[2]), "=r" (sums[3]) : "r" (a0), "r" (a1), "r" (b0),
        "r" (start[0]), "r" (start[1]), "r" (start[2]), "r" (start[3]));
#endif
}

/* Sums of 16 rows for a group: [8 rows][half of the group's samples][sum s]. Lanes read words of units of 16 bytes. */
template <int SUMS>
static __device__ __forceinline__ void
sum_rows (int (&sums)[2][2][SUMS][4], const unsigned *pixels, int pitch, const uint4 *operands, int units)
{
  const unsigned *below = pixels + 8 * pitch;
  const int zeros[4] = { };

#pragma unroll
  for (int s = 0; s < SUMS; s++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint4 taps = operands[(2 * s + h) * 32];

      multiply<true> (sums[0][h][s], taps.x, taps.y, taps.z, taps.w, pixels[0], pixels[4], zeros);
      multiply<true> (sums[1][h][s], taps.x, taps.y, taps.z, taps.w, below[0], below[4], zeros);
    }
#pragma unroll 1
  for (units -= 2; units > 1; units -= 2) {
    pixels += 8, below += 8, operands += 2 * SUMS * 32;
#pragma unroll
    for (int s = 0; s < SUMS; s++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        uint4 taps = operands[(2 * s + h) * 32];

        multiply<true> (sums[0][h][s], taps.x, taps.y, taps.z, taps.w, pixels[0], pixels[4], sums[0][h][s]);
        multiply<true> (sums[1][h][s], taps.x, taps.y, taps.z, taps.w, below[0], below[4], sums[1][h][s]);
      }
  }
  if (units) {
    pixels += 8, below += 8, operands += 2 * SUMS * 32;
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      uint4 taps = operands[s * 32];

      multiply<true> (sums[0][0][s], taps.x, taps.y, pixels[0], sums[0][0][s]);
      multiply<true> (sums[1][0][s], taps.x, taps.y, below[0], sums[1][0][s]);
      multiply<true> (sums[0][1][s], taps.z, taps.w, pixels[0], sums[0][1][s]);
      multiply<true> (sums[1][1][s], taps.z, taps.w, below[0], sums[1][1][s]);
    }
  }
}

/* Bytes of 16 row sums of both halves: the second product's left operand. */
struct Block
{
  unsigned low[2][2], high[2][2];
};

/*
 * Sums become two bytes: bits 16 and up of all limbs together, scaled and with a start; or 0 and up where there is one
 * limb of one byte, with some bits of high bytes changed.
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
      block.high[h][k] = __byte_perm (pairs[0][k], pairs[1][k], 0x7632) ^ (SUMS > 1 ? 0 : start);
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
  unsigned x, begin, end;       /* in samples; what is to be written of the row */
  unsigned copied;              /* bytes that are not convolved */
};

template <typename T>
static __device__ __forceinline__ Outputs
find_outputs (const ConvolveImage &image, const Products &mask)
{
  Outputs outputs;

  outputs.x = (mask.left + blockIdx.x * mask.width) / (unsigned) sizeof (T) + threadIdx.y * GROUP + threadIdx.x / 4 * 4;
  outputs.begin = image.x0 * mask.samples;
  outputs.end = image.x1 * mask.samples;
  outputs.copied = 0;
  for (int i = 0; i < 4 && mask.copies; i++)
    outputs.copied |= image.select >> (outputs.x + i) % mask.samples & 1 ? 0 : 0xffu << 8 * i;
  return outputs;
}

/* The samples of one row, four, as they lie in memory. FLOAT: by the plan's tail. */
template <typename T, bool FLOAT, bool FULL>
static __device__ __forceinline__ uint2
finish (const ConvolveImage &image, const Products &mask, const Totals (&halves)[2], int row, float4 offsets)
{
  const float offset[4] = { offsets.x, offsets.y, offsets.z, offsets.w };
  int values[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int at = i % 2 * 2 + row;

    values[i] = halves[i / 2].low[at] + 256 * halves[i / 2].high[at] + (FULL ? halves[i / 2].lowest[at] >> 8 : 0);
    values[i] = FLOAT ? convolve_floor_from<T> (image.tail, offset[i], (float) values[i]) : values[i] >> mask.shift;
    if (sizeof (T) == 2)
      values[i] = min (max (values[i], 0), image.maximum) << image.shift;
  }
  if (sizeof (T) == 1)
    return make_uint2 (convolve_clamp_bytes (values[1], values[0], convolve_clamp_bytes (values[3], values[2], 0)), 0);
  return make_uint2 (__byte_perm (values[0], values[1], 0x5410), __byte_perm (values[2], values[3], 0x5410));
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

/* Blocks that a multiprocessor is to hold; with more, they would not have the registers for their rings. */
static constexpr int
blocks_of (int sample_size, int pairs)
{
  return pairs > 3 ? 4 : (pairs == 3 ? 6 : 7) - sample_size;
}

/*
 * The idea: a product of a column and a row, or a sum of few, as two products with banded matrices of bytes on the
 * integer tensor cores. A warp walks down 32 samples' width; the sums of 16 rows leave the first product in the
 * registers in which the second one wants them, see convolve_products.h. Those that the mask's height still needs stay
 * in a ring: of registers where PAIRS says how many there are, otherwise of shared memory, and then for many products.
 * EXACT: one limb for each tap. FULL: see ConvolveProducts. SUMS: for how many limbs of taps and bytes of samples a row
 * has sums of its own.
 */
template <typename T, bool EXACT, int PAIRS, bool FULL>
__global__ void __launch_bounds__ (TILE_THREADS, blocks_of (sizeof (T) + FULL, PAIRS))
convolve_tensor_separable (const __grid_constant__ ConvolveImage image, const __grid_constant__ Products mask)
{
#if __CUDA_ARCH__ >= 800
  constexpr int LIMBS = EXACT ? 1 : 2, SUMS = LIMBS + sizeof (T) - 1, SLOTS = PAIRS ? PAIRS : 1;
  extern __shared__ uint4 shared[];
  const int4 *starts = (const int4 *) shared;   /* of both halves' totals; and four floats of the tail */
  const int lane = threadIdx.x, top = image.y0 + blockIdx.y * mask.height, bottom = min (top + mask.height, image.y1);
  const int pairs = PAIRS ? PAIRS : mask.pairs, rank = PAIRS ? 1 : mask.rank;
  const int total = (bottom - top + ROWS - 1) / ROWS + pairs - 1;
  const uint4 *rows = shared + STARTS + lane, *columns = rows + rank * mask.units * SUMS * 32;
  uint8_t *tile = (uint8_t *) (shared + mask.operands_count);
  uint4 *ring = (uint4 *) (tile + mask.tile_size) + threadIdx.y * rank * pairs * 64 + lane;
  const uint8_t *window = tile + mask.margin + threadIdx.y * GROUP * sizeof (T);
  const unsigned *pixels = (const unsigned *) (window - mask.lead + lane / 4 * mask.pitch + lane % 4 * 4);
  const uint8_t *own = window + lane / 4 * 4 + (image.mask_height / 2 + lane % 4 * 2) * mask.pitch;
  const Outputs outputs = find_outputs<T> (image, mask);
  Block kept[SLOTS];

  convolve_wait ();
  load_tile<T> (image, mask, top, bottom, shared, tile);
  const unsigned group = outputs.x - lane / 4 * 4;
  const bool idle = group >= outputs.end;
  const bool whole = mask.aligned_stores && group >= outputs.begin && group + GROUP <= outputs.end;
  int y = top + lane % 4 * 2;
  uint8_t *to = image.destination + y * image.destination_stride + outputs.x * (unsigned) sizeof (T);

  if (idle)
    return;
#pragma unroll 1
  for (int first = 0; first < total; first += SLOTS) {
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) {
      const int now = first + slot, place = PAIRS ? slot : now % pairs;

      if (now >= total)
        break;
#pragma unroll 1
      for (int r = 0; r < rank; r++) {
        int sums[2][2][SUMS][4];

        sum_rows<SUMS> (sums, pixels, mask.pitch / 4, rows + r * mask.units * SUMS * 32, mask.units);
        pack_rows<SUMS> (kept[slot], sums, mask.scale, mask.row_start[r]);
#pragma unroll
        for (int h = 0; h < 2 && !PAIRS; h++)
          ring[((r * pairs + place) * 2 + h) * 32] = make_uint4 (kept[0].low[h][0], kept[0].low[h][1],
              kept[0].high[h][0], kept[0].high[h][1]);
      }
      pixels += ROWS * mask.pitch / 4;
      if (now < pairs - 1)
        continue;

      Totals totals[2][2];      /* [8 rows][half] */
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int4 four = starts[i % 2];

        totals[i / 2][i % 2] = { { four.x, four.y, four.z, four.w }, { }, { } };
      }
#pragma unroll
      for (int s = 0; s < PAIRS; s += 2) {
        /* What they hold is as old as the slots are far from the one after this. */
        const int age = (s + PAIRS - 1 - slot) % SLOTS, next = s + 1 < PAIRS ? s + 1 : s;

#pragma unroll
        for (int b = 0; b < 2; b++) {
          uint4 taps = columns[(2 * age + b) * 32];

#pragma unroll
          for (int h = 0; h < 2; h++)
            if (next > s)
              add_blocks<LIMBS> (totals[b][h], kept[s], kept[next], h, taps);
            else
              add_block<LIMBS, false> (totals[b][h], kept[s], h, taps.x, taps.z);
        }
      }
#pragma unroll 1
      for (int p = 0, from = place; p < pairs && !PAIRS; p++) {
        from = from + 1 < pairs ? from + 1 : 0;
#pragma unroll 1
        for (int r = 0; r < rank; r++) {
          uint4 taps = columns[(r * pairs + p) * 32];
          Block block;

#pragma unroll
          for (int h = 0; h < 2; h++) {
            uint4 bytes = ring[((r * pairs + from) * 2 + h) * 32];

            block.low[h][0] = bytes.x, block.low[h][1] = bytes.y;
            block.high[h][0] = bytes.z, block.high[h][1] = bytes.w;
            add_block<LIMBS, FULL> (totals[0][h], block, h, taps.x, taps.y);
            add_block<LIMBS, FULL> (totals[1][h], block, h, taps.z, taps.w);
          }
        }
      }
      uint2 words[4];
      if (!EXACT || mask.shift >= 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
          words[i] = finish<T, false, FULL> (image, mask, totals[i / 2], i % 2, make_float4 (0, 0, 0, 0));
      } else {
        float4 offsets = *(const float4 *) (starts + 2);

#pragma unroll
        for (int i = 0; i < 4; i++)
          words[i] = finish<T, true, FULL> (image, mask, totals[i / 2], i % 2, offsets);
      }
      if (sizeof (T) == 1 && mask.copies)
#pragma unroll
        for (int i = 0; i < 4; i++)
          words[i].x = (words[i].x & ~outputs.copied)
              | (*(const unsigned *) (own + (i / 2 * 8 + i % 2) * mask.pitch) & outputs.copied);
      if (whole && y - lane % 4 * 2 + ROWS <= bottom)
        store<T> (to, image.destination_stride, ROWS, true, outputs, words);
      else
        store<T> (to, image.destination_stride, bottom - y, false, outputs, words);
      y += ROWS;
      to += ROWS * image.destination_stride;
      own += ROWS * mask.pitch;
    }
  }
#endif
}

/* How much work a block is that makes so many rows, in instructions of a warp. */
static double
work_of (const ConvolveProducts *products, int limbs, int sums, int height)
{
  double row = products->units * (2 + 3 * sums) + 16 * (sums + 1) + 20, end = 80;
  double column = convolve_products_kept (products) ? 2 * products->pairs * (1 + limbs)
      : (4 * (1 + limbs) + 15) * products->pairs;

  return 150 + (row * (height / ROWS + products->pairs - 1) + column * (height / ROWS)) * products->rank
      + end * (height / ROWS);
}

/*
 * Rows of outputs of a block. The more, the fewer row sums are made twice; the fewer, the more blocks share a
 * multiprocessor, and they wait for memory and for the tensor cores less if there are many: the time is that of the
 * multiprocessor with the most blocks, and the waiting as measured (tests/results/h200-separable.md).
 */
static int
choose_height (const ConvolvePlan *plan, const Products &mask, int columns, int rows, size_t fixed, int multiprocessors)
{
  const int limbs = convolve_products_limbs (plan), sums = convolve_products_row_sums (plan);
  const int most = blocks_of (convolve_sample_size (plan->pixel.type) + plan->products.full,
      convolve_products_kept (&plan->products) ? mask.pairs : 0);
  const size_t limit = convolve_device_shared_limit (plan->device);
  double least = 0;
  int best = ROWS;

  for (int height = ROWS; height <= 256; height += ROWS) {
    size_t shared = fixed + (size_t) (height + ROWS * (mask.pairs - 1)) * mask.pitch;
    double blocks = ceil ((double) columns * ((rows + height - 1) / height) / multiprocessors);
    double together = fmin (fmin (most, floor ((double) limit / (shared + 1024))), blocks);
    double time = work_of (&plan->products, limbs, sums, height) * blocks * (1 + 5.5 / fmax (together, 1));

    if (shared > limit)
      break;
    if (least == 0 || time < least)
      least = time, best = height;
    if (height >= rows)
      break;
  }
  return best;
}

ConvolveStatus
convolve_tensor_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
#define KEPT(T, EXACT, PAIRS) convolve_tensor_separable<T, EXACT, PAIRS, false>
#define PAIRS(T, EXACT) { KEPT (T, EXACT, 2), KEPT (T, EXACT, 3), KEPT (T, EXACT, 5), KEPT (T, EXACT, 0), \
    convolve_tensor_separable<T, EXACT, 0, !EXACT> }
  static const ConvolveKernel<Products> kernels[CONVOLVE_N_SAMPLE_TYPES][2][5] = {
    { PAIRS (uint8_t, false), PAIRS (uint8_t, true) },
    { PAIRS (uint16_t, false), PAIRS (uint16_t, true) },
  };
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveProducts *products = &plan->products;
  const ConvolveRect *region = &plane->region;
  const int bytes = convolve_sample_size (pixel->type), pairs = products->pairs;
  const int right = (region->x + region->width) * pixel->stride;
  const int which = products->full ? 4 : !convolve_products_kept (products) ? 3 : pairs == 2 ? 0 : pairs == 3 ? 1 : 2;
  size_t fixed = convolve_products_operands_size (plan, products);
  int multiprocessors = 1;
  Products mask = { };
  ConvolveGrid grid = { };

  mask.operands = (const uint4 *) plan->device_taps;
  mask.operands_count = (int) (fixed / 16);
  mask.rank = products->rank;
  mask.units = products->units;
  mask.pairs = pairs;
  mask.lead = products->lead;
  mask.left = region->x * pixel->stride / 16 * 16;
  mask.width = TILE_WARPS * GROUP * bytes;
  mask.margin = (products->lead + 15) / 16 * 16;
  mask.chunks = convolve_tensor_separable_chunks (plan, products);
  mask.chunk_factor = (65535 + mask.chunks) / mask.chunks;
  mask.row_step = TILE_THREADS / mask.chunks;
  mask.pitch = (mask.chunks | 1) * 16;  /* so that 8 rows of a column of words lie in all banks */
  mask.samples = pixel->samples;
  mask.aligned = ((uintptr_t) plane->source | (uintptr_t) plane->source_stride) % 16 == 0;
  mask.aligned_stores = ((uintptr_t) plane->destination | (uintptr_t) plane->destination_stride) % (4 * bytes) == 0;
  mask.copies = pixel->select != (1u << pixel->samples) - 1;
  mask.boundary = plan->boundary;
  mask.scale = products->scale;
  memcpy (mask.row_start, products->row_start, sizeof (mask.row_start));
  mask.shift = products->shift;

  if (which >= 3)
    fixed += (size_t) TILE_WARPS * products->rank * pairs * 1024;
  if (cudaDeviceGetAttribute (&multiprocessors, cudaDevAttrMultiProcessorCount, convolve_device_id (plan->device))
      != cudaSuccess)
    multiprocessors = 1;
  grid.blocks.x = (unsigned) (right - mask.left + mask.width - 1) / mask.width;
  mask.height = choose_height (plan, mask, grid.blocks.x, region->height, fixed, multiprocessors);
  mask.tile_size = (mask.height + ROWS * (pairs - 1)) * mask.pitch;
  grid.block = dim3 (32, TILE_WARPS);
  grid.shared = fixed + mask.tile_size;

  const int most_rows = 65535 * mask.height;    /* gridDim.y's limit */
  ConvolvePlane part = *plane;
  ConvolveStatus status = CONVOLVE_OK;
  for (int done = 0; done < region->height && status == CONVOLVE_OK; done += most_rows) {
    part.region.y = region->y + done;
    part.region.height = region->height - done < most_rows ? region->height - done : most_rows;
    grid.blocks.y = (part.region.height + mask.height - 1) / mask.height;
    status = convolve_launch (plan, &part, (const void *) kernels[pixel->type][plan->exact][which], grid, &mask, error);
  }
  return status;
}
