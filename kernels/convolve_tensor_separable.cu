/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "convolve_products.h"
#include "convolve_rows_tile.cuh"

#define GROUP CONVOLVE_PRODUCTS_GROUP
#define ROWS CONVOLVE_PRODUCTS_ROWS

/* Operands for one half of a group: samples 4 g + 0 and 1, or 2 and 3. */
struct Half
{
  unsigned low[2], high[2];     /* bytes of 16 row sums: the second product's left operand */
};

/* sums += left * right on bytes, 16 x 32 by 32 x 8, or 16 x 16 by 16 x 8; row products have the taps on the left. */
template <bool ROW>
static __device__ __forceinline__ void
multiply (int (&sums)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
#if __CUDA_ARCH__ >= 800
  if (ROW)
    asm ("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};" : "+r" (sums[0]), "+r" (sums[1]), "+r" (sums[2]), "+r" (sums[3])
        : "r" (a0), "r" (a1), "r" (a2), "r" (a3), "r" (b0), "r" (b1));
  else
    asm ("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};" : "+r" (sums[0]), "+r" (sums[1]), "+r" (sums[2]), "+r" (sums[3])
        : "r" (a0), "r" (a1), "r" (a2), "r" (a3), "r" (b0), "r" (b1));
#endif
}

template <bool ROW>
static __device__ __forceinline__ void
multiply (int (&sums)[4], unsigned a0, unsigned a1, unsigned b0)
{
#if __CUDA_ARCH__ >= 800
  if (ROW)
    asm ("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+r" (sums[0]), "+r" (sums[1]), "+r" (sums[2]), "+r" (sums[3]) : "r" (a0), "r" (a1), "r" (b0));
  else
    asm ("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+r" (sums[0]), "+r" (sums[1]), "+r" (sums[2]), "+r" (sums[3]) : "r" (a0), "r" (a1), "r" (b0));
#endif
}

/* Sums of 16 rows for a group: [8 rows][half][sum s]; from one tap to the next `units` of 16 bytes are walked. */
template <int SUMS>
static __device__ __forceinline__ void
add_rows (int (&sums)[2][2][SUMS][4], const unsigned *pixels, int pitch, const uint4 *operands, int units)
{
  const unsigned *below = pixels + 8 * pitch;

#pragma unroll 1
  for (; units > 1; units -= 2, pixels += 8, below += 8, operands += 2 * SUMS * 32) {
    unsigned words[2][2] = { { pixels[0], pixels[4] }, { below[0], below[4] } };

#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      uint4 left = operands[s * 32], right = operands[(SUMS + s) * 32];

#pragma unroll
      for (int b = 0; b < 2; b++) {
        multiply<true> (sums[b][0][s], left.x, left.y, right.x, right.y, words[b][0], words[b][1]);
        multiply<true> (sums[b][1][s], left.z, left.w, right.z, right.w, words[b][0], words[b][1]);
      }
    }
  }
  if (units) {
    unsigned words[2] = { pixels[0], below[0] };

#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      uint4 left = operands[s * 32];

#pragma unroll
      for (int b = 0; b < 2; b++) {
        multiply<true> (sums[b][0][s], left.x, left.y, words[b]);
        multiply<true> (sums[b][1][s], left.z, left.w, words[b]);
      }
    }
  }
}

/* The sums of all limbs become two bytes: bits 16 and up of the scaled sum, or 0 and up of a whole one. */
template <int SUMS>
static __device__ __forceinline__ void
pack_rows (Half (&halves)[2], const int (&sums)[2][2][SUMS][4], unsigned scale)
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
          total[i] = sums[b][h][0][2 * k + i];
          if (SUMS > 1)
            total[i] *= scale;
#pragma unroll
          for (int s = 1; s < SUMS; s++)
            total[i] += sums[b][h][s][2 * k + i] * (scale << 8 * s);
        }
        pairs[b][k] = __byte_perm (total[0], total[1], SUMS > 1 ? 0x7362 : 0x5140);
      }
#pragma unroll
    for (int k = 0; k < 2; k++) {
      halves[h].low[k] = __byte_perm (pairs[0][k], pairs[1][k], 0x5410);
      halves[h].high[k] = __byte_perm (pairs[0][k], pairs[1][k], 0x7632);
    }
  }
}

/* The second product's right operands for two blocks of 16 row sums: [8 rows of outputs][block][low, high limbs]. */
struct Limbs
{
  unsigned of[2][2][2];
};

static __device__ __forceinline__ Limbs
load_limbs (const uint4 *operands, bool both)
{
  uint4 one = operands[0], two = both ? operands[32] : make_uint4 (0, 0, 0, 0);

  return { { { { one.x, one.y }, { two.x, two.y } }, { { one.z, one.w }, { two.z, two.w } } } };
}

/* Adds what one or two blocks of 16 row sums give to 8 rows of outputs. */
template <int LIMBS, bool TWO>
static __device__ __forceinline__ void
add_columns (int (&low)[4], int (&high)[4], const Half &one, const Half &two, const unsigned (&limbs)[2][2])
{
#pragma unroll
  for (int i = 0; i < 1 + LIMBS; i++) {
    const unsigned (&bytes)[2] = i == 1 ? one.low : one.high, (&next)[2] = i == 1 ? two.low : two.high;
    int (&sums)[4] = i == 0 ? high : low;
    int limb = i == 2 ? 0 : 1;

    if (TWO)
      multiply<false> (sums, bytes[0], bytes[1], next[0], next[1], limbs[0][limb], limbs[1][limb]);
    else
      multiply<false> (sums, bytes[0], bytes[1], limbs[0][limb]);
  }
}

/* Where a lane's outputs go. */
struct Outputs
{
  int y;                        /* of its first row */
  unsigned x, begin, end;       /* in samples: its first, and those to write */
  bool whole;                   /* all four, with one store */
  unsigned copied;              /* bytes that are not convolved */
  int starts[4], samples[4];
};

template <typename T, bool EXACT>
static __device__ __forceinline__ void
store (const ConvolveImage &image, const Products &mask, const Outputs &outputs, int y, const int (&totals)[4],
    const uint8_t *source)
{
  unsigned words[sizeof (T)];
  int values[4];

  if (!EXACT || mask.shift >= 0) {
#pragma unroll
    for (int i = 0; i < 4; i++)
      values[i] = totals[i] >> mask.shift;
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++)
      values[i] = convolve_floor<T> (image.tail, outputs.samples[i], (float) totals[i]);
  }
  if (sizeof (T) == 1) {
    words[0] = convolve_clamp_bytes (values[1], values[0], convolve_clamp_bytes (values[3], values[2], 0));
    if (mask.copies)
      words[0] = (words[0] & ~outputs.copied) | (*(const unsigned *) source & outputs.copied);
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++)
      values[i] = min (max (values[i], 0), image.maximum) << image.shift;
    words[0] = __byte_perm (values[0], values[1], 0x5410);
    words[sizeof (T) - 1] = __byte_perm (values[2], values[3], 0x5410);
  }
  if (y >= image.y1)
    return;
  uint8_t *to = image.destination + y * image.destination_stride + outputs.x * (unsigned) sizeof (T);
  if (outputs.whole && sizeof (T) == 1) {
    *(unsigned *) to = words[0];
  } else if (outputs.whole) {
    *(uint2 *) to = make_uint2 (words[0], words[sizeof (T) - 1]);
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (outputs.x + i >= outputs.begin && outputs.x + i < outputs.end)
        ((T *) to)[i] = (T) (words[i * sizeof (T) / 4] >> i * 8 * sizeof (T) % 32);
  }
}

template <typename T>
static __device__ __forceinline__ Outputs
find_outputs (const ConvolveImage &image, const Products &mask, int top, int lane)
{
  Outputs outputs;

  outputs.y = top + lane % 4 * 2;
  outputs.x = (mask.left + blockIdx.x * mask.width) / (unsigned) sizeof (T) + threadIdx.y * GROUP + lane / 4 * 4;
  outputs.begin = image.x0 * mask.samples;
  outputs.end = image.x1 * mask.samples;
  outputs.whole = mask.aligned_stores && outputs.x >= outputs.begin && outputs.x + 4 <= outputs.end;
  outputs.copied = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    int sample = mask.samples == 3 ? (int) ((outputs.x + i) % 3) : i & (mask.samples - 1);

    outputs.samples[i] = sample;
    outputs.starts[i] = mask.start[sample];
    outputs.copied |= image.select >> sample & 1 ? 0 : 0xffu << 8 * i;
  }
  return outputs;
}

/*
 * The idea: a product of a column and a row, or a sum of few, as two products with banded matrices of bytes on the
 * integer tensor cores. A warp walks down 32 samples' width; the sums of 16 rows leave the first product in the
 * registers in which the second one wants them, see convolve_products.h. Those that the mask's height still needs stay
 * in a ring: of registers where PAIRS says how many there are, otherwise of shared memory, and then for many products.
 * EXACT: one limb for each tap. SUMS: for how many limbs of taps and bytes of samples a row has sums of its own.
 */
template <typename T, bool EXACT, int PAIRS>
__global__ void __launch_bounds__ (TILE_THREADS, PAIRS > 3 ? 4 : 5)
convolve_tensor_separable (const __grid_constant__ ConvolveImage image, const __grid_constant__ Products mask)
{
#if __CUDA_ARCH__ >= 800
  constexpr int LIMBS = EXACT ? 1 : 2, SUMS = LIMBS + sizeof (T) - 1;
  extern __shared__ uint4 shared[];
  const int lane = threadIdx.x, top = image.y0 + blockIdx.y * mask.height, bottom = min (top + mask.height, image.y1);
  const int pairs = PAIRS ? PAIRS : mask.pairs, rank = PAIRS ? 1 : mask.rank;
  const int total = (bottom - top + ROWS - 1) / ROWS + pairs - 1, half = (total + 1) / 2;
  const uint4 *rows = shared + lane, *columns = rows + rank * mask.units * SUMS * 32;
  uint8_t *tile = (uint8_t *) (shared + mask.operands_count);
  uint4 *ring = (uint4 *) (tile + mask.tile_size) + threadIdx.y * rank * pairs * 64 + lane;
  const uint8_t *window = tile + mask.margin + threadIdx.y * GROUP * sizeof (T);
  const unsigned *pixels = (const unsigned *) (window - mask.lead + lane / 4 * mask.pitch + lane % 4 * 4);
  const uint8_t *own = window + lane / 4 * 4 + (image.mask_height / 2 + lane % 4 * 2) * mask.pitch;
  Half kept[PAIRS ? PAIRS : 1][2];

  convolve_wait ();
  load_tile<T> (image, mask, top, bottom, half * ROWS, shared, tile);
  wait_for_copies<1> ();
  __syncthreads ();
  const Outputs outputs = find_outputs<T> (image, mask, top, lane);
  const bool idle = outputs.x - lane / 4 * 4 >= outputs.end;

#pragma unroll 1
  for (int first = 0; first < total; first += PAIRS ? PAIRS : 1) {
#pragma unroll
    for (int slot = 0; slot < (PAIRS ? PAIRS : 1); slot++) {
      const int now = first + slot, place = PAIRS ? slot : now % pairs;

      if (now >= total)
        break;
      if (now == half) {
        wait_for_copies<0> ();
        __syncthreads ();
      }
      if (idle)
        continue;
#pragma unroll 1
      for (int r = 0; r < rank; r++) {
        int sums[2][2][SUMS][4];

#pragma unroll
        for (int i = 0; i < 2 * 2 * SUMS * 4; i++)
          sums[i / 8 / SUMS][i / 4 / SUMS % 2][i / 4 % SUMS][i % 4] = i / 4 % SUMS ? 0 : mask.row_start[r];
        add_rows<SUMS> (sums, pixels + now * ROWS * mask.pitch / 4, mask.pitch / 4, rows + r * mask.units * SUMS * 32,
            mask.units);
        pack_rows<SUMS> (kept[PAIRS ? slot : 0], sums, mask.scale);
#pragma unroll
        for (int h = 0; h < 2 && !PAIRS; h++)
          ring[((r * pairs + place) * 2 + h) * 32] = make_uint4 (kept[0][h].low[0], kept[0][h].low[1],
              kept[0][h].high[0], kept[0][h].high[1]);
      }
      if (now < pairs - 1)
        continue;

      int low[2][2][4], high[2][2][4];  /* [8 rows][half] */
#pragma unroll
      for (int i = 0; i < 2 * 2 * 4; i++) {
        low[i / 8][i / 4 % 2][i % 4] = outputs.starts[i / 4 % 2 * 2 + i % 4 / 2];
        high[i / 8][i / 4 % 2][i % 4] = 0;
      }
      if (PAIRS) {
#pragma unroll
        for (int p = 0; p < PAIRS; p += 2) {
          const int one = (slot + 1 + p) % (PAIRS ? PAIRS : 1), two = (slot + 2 + p) % (PAIRS ? PAIRS : 1);
          const bool both = p + 1 < PAIRS;
          const Limbs limbs = load_limbs (columns + p * 32, both);

#pragma unroll
          for (int i = 0; i < 4; i++)
            if (both)
              add_columns<LIMBS, true> (low[i / 2][i % 2], high[i / 2][i % 2], kept[one][i % 2], kept[two][i % 2],
                  limbs.of[i / 2]);
            else
              add_columns<LIMBS, false> (low[i / 2][i % 2], high[i / 2][i % 2], kept[one][i % 2], kept[one][i % 2],
                  limbs.of[i / 2]);
        }
      } else {
        int from = place;

#pragma unroll 1
        for (int p = 0; p < pairs; p += 2) {
          const bool odd = p + 1 == pairs;
          const int one = from + 1 < pairs ? from + 1 : 0, two = one + 1 < pairs ? one + 1 : 0;

          from = two;
#pragma unroll 1
          for (int r = 0; r < rank; r++) {
            const uint4 *at = columns + (r * pairs + p) * 32, *bytes = ring + r * pairs * 64;
            const Limbs limbs = load_limbs (at, !odd);
            Half parts[2][2];

#pragma unroll
            for (int i = 0; i < 4; i++) {
              uint4 part = bytes[((i / 2 ? two : one) * 2 + i % 2) * 32];

              parts[i / 2][i % 2] = { { part.x, part.y }, { part.z, part.w } };
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
              add_columns<LIMBS, true> (low[i / 2][i % 2], high[i / 2][i % 2], parts[0][i % 2], parts[1][i % 2],
                  limbs.of[i / 2]);
          }
        }
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int b = i / 2, k = i % 2, row = (now - pairs + 1) * ROWS + 8 * b + k;
        int totals[4];

#pragma unroll
        for (int j = 0; j < 4; j++)
          totals[j] = low[b][j / 2][j % 2 * 2 + k] + 256 * high[b][j / 2][j % 2 * 2 + k];
        store<T, EXACT> (image, mask, outputs, outputs.y + row, totals, own + row * mask.pitch);
      }
    }
  }
#endif
}

/* How much work a block is that makes so many rows, in instructions of a warp. */
static double
work_of (const ConvolveProducts *products, int limbs, int sums, int height)
{
  double row = products->units * (2 + 3 * sums) + 16 * (sums + 1);
  double column = 2 * products->pairs * (1 + limbs), end = 70;

  return 400 + (row * (height / ROWS + products->pairs - 1) + column * (height / ROWS)) * products->rank
      + end * (height / ROWS);
}

/*
 * Rows of outputs of a block: the more, the fewer rows of sums are made twice; but what the multiprocessor with the most
 * blocks has to do is to be the least.
 */
static int
choose_height (const ConvolvePlan *plan, const Products &mask, int columns, int rows, size_t fixed, int multiprocessors)
{
  const int limbs = convolve_products_limbs (plan), sums = convolve_products_row_sums (plan);
  const size_t limit = convolve_device_shared_limit (plan->device);
  double least = 0;
  int best = ROWS;

  for (int height = ROWS; height <= 256; height += ROWS) {
    size_t shared = fixed + (size_t) (height + ROWS * (mask.pairs - 1)) * mask.pitch;
    int64_t blocks = (int64_t) columns * ((rows + height - 1) / height);
    double most = (double) ((blocks + multiprocessors - 1) / multiprocessors), together = limit / (shared + 1024);
    double work = most * work_of (&plan->products, limbs, sums, height);

    if (shared > limit)
      break;
    together = together < most ? together : most;
    work *= together < 4 ? 4 / together : 1;
    if (least == 0 || work < least)
      least = work, best = height;
    if (height >= rows)
      break;
  }
  return best;
}

ConvolveStatus
convolve_tensor_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
#define PAIRS(T, EXACT) { convolve_tensor_separable<T, EXACT, 2>, convolve_tensor_separable<T, EXACT, 3>, \
    convolve_tensor_separable<T, EXACT, 5>, convolve_tensor_separable<T, EXACT, 0> }
  static const ConvolveKernel<Products> kernels[CONVOLVE_N_SAMPLE_TYPES][2][4] = {
    { PAIRS (uint8_t, false), PAIRS (uint8_t, true) },
    { PAIRS (uint16_t, false), PAIRS (uint16_t, true) },
  };
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveProducts *products = &plan->products;
  const ConvolveRect *region = &plane->region;
  const int bytes = convolve_sample_size (pixel->type), pairs = products->pairs;
  const int right = (region->x + region->width) * pixel->stride;
  const int which = products->rank > 1 ? 3 : pairs == 2 ? 0 : pairs == 3 ? 1 : pairs == 5 ? 2 : 3;
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
  mask.pitch = (mask.chunks | 1) * 16;  /* so that 8 rows of a column of words lie in all banks */
  mask.samples = pixel->samples;
  mask.aligned = ((uintptr_t) plane->source | (uintptr_t) plane->source_stride) % 16 == 0;
  mask.aligned_stores = ((uintptr_t) plane->destination | (uintptr_t) plane->destination_stride) % (4 * bytes) == 0;
  mask.copies = pixel->select != (1u << pixel->samples) - 1;
  mask.boundary = plan->boundary;
  mask.scale = products->scale;
  memcpy (mask.row_start, products->row_start, sizeof (mask.row_start));
  memcpy (mask.start, products->start, sizeof (mask.start));
  mask.shift = products->shift;

  if (which == 3)
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
