/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "cuda/tensor_products.cuh"
#include "cuda/tensor_separable.h"

/* Sums of 16 rows for a group: [8 rows][half of the group's samples][sum s]. Lanes read words of units of 16 bytes. */
template <int SUMS>
static __device__ __forceinline__ void
sum_rows (int (&sums)[2][2][SUMS][4], const unsigned *pixels, int pitch, const uint4 *operands, int units, int start)
{
  const unsigned *below = pixels + 8 * pitch;
  const int starts[4] = { start, start, start, start };

#pragma unroll
  for (int s = 0; s < SUMS; s++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint4 taps = operands[(2 * s + h) * 32];

      multiply<true> (sums[0][h][s], taps.x, taps.y, taps.z, taps.w, pixels[0], pixels[4], starts);
      multiply<true> (sums[1][h][s], taps.x, taps.y, taps.z, taps.w, below[0], below[4], starts);
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

/* Blocks that a multiprocessor is to hold; with more, they would not have the registers for their rings. */
static constexpr int
blocks_of (int sample_size, int pairs)
{
  return pairs > 3 ? 4 : (pairs == 3 ? 6 : 7) - sample_size;
}

/*
 * The idea: a product of a column and a row, or a sum of few, as two products with banded matrices of bytes on the
 * integer tensor cores. A warp walks down 32 samples' width; the sums of 16 rows leave the first product in the
 * registers in which the second one wants them, see cuda/tensor_products.h. Those that the mask's height still needs stay
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
  const int4 *starts = (const int4 *) shared; /* of both halves' totals; and four floats of the tail */
  const int lane = threadIdx.x, top = image.y0 + blockIdx.y * mask.height, bottom = min (top + mask.height, image.y1);
  const int pairs = PAIRS ? PAIRS : mask.pairs, rank = PAIRS ? 1 : mask.rank;
  const int total = (bottom - top + ROWS - 1) / ROWS + pairs - 1;
  const uint4 *rows = shared + STARTS + lane, *columns = rows + rank * mask.units * SUMS * 32;
  uint8_t *tile = (uint8_t *) (shared + mask.operands_count);
  uint4 *ring = (uint4 *) (tile + mask.tile_size) + threadIdx.y * rank * pairs * 64 + lane;
  const uint8_t *window = tile + mask.margin + threadIdx.y * GROUP * sizeof (T);
  const unsigned *pixels = (const unsigned *) (window - mask.lead + lane / 4 * mask.pitch + lane % 4 * 4);
  const uint8_t *own = window + lane / 4 * 4 + (image.mask_height / 2 + lane % 4 * 2) * mask.pitch;
  const Outputs outputs = find_outputs<T> (image, mask, blockIdx.x);
  Block kept[SLOTS];

  if (mask.overlaps)
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

        sum_rows<SUMS> (sums, pixels, mask.pitch / 4, rows + r * mask.units * SUMS * 32, mask.units,
            SUMS > 1 ? 0 : mask.row_start[r]);
        pack_rows<SUMS> (kept[slot], sums, mask.scale, mask.row_start[r]);
#pragma unroll
        for (int h = 0; h < 2 && !PAIRS; h++)
          ring[((r * pairs + place) * 2 + h) * 32] =
              make_uint4 (kept[0].low[h][0], kept[0].low[h][1], kept[0].high[h][0], kept[0].high[h][1]);
      }
      pixels += ROWS * mask.pitch / 4;
      if (now < pairs - 1)
        continue;

      Totals totals[2][2]; /* [8 rows][half] */
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int4 four = starts[i % 2];

        totals[i / 2][i % 2] = { { four.x, four.y, four.z, four.w }, {}, {} };
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
      finish<T, EXACT, FULL> (image, mask, totals, (const float4 *) (starts + 2), words);
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
  double column =
      convolve_products_kept (products) ? 2 * products->pairs * (1 + limbs) : (4 * (1 + limbs) + 15) * products->pairs;

  return 150 + (row * (height / ROWS + products->pairs - 1) + column * (height / ROWS)) * products->rank
      + end * (height / ROWS);
}

/*
 * Rows of outputs of a block. The more, the fewer row sums are made twice; the fewer, the more blocks share a
 * multiprocessor, and they wait for memory and for the tensor cores less if there are many: the time is that of the
 * multiprocessor with the most blocks, and the waiting as measured (tests/results/h200-separable.md).
 */
static int
choose_height (const ConvolvePlan *plan, const Products &mask, int columns, int rows, size_t fixed)
{
  const ConvolveProducts *products = &((const ConvolveFoundProducts *) plan->prepared)->products;
  const int multiprocessors = convolve_device_multiprocessors (plan->device);
  const int limbs = convolve_products_limbs (plan), sums = convolve_products_row_sums (plan);
  const int most = blocks_of (convolve_sample_size (plan->pixel.type) + products->full,
      convolve_products_kept (products) ? mask.pairs : 0);
  const size_t limit = convolve_device_shared_limit (plan->device);
  double least = 0;
  int best = ROWS;

  for (int height = ROWS; height <= 256; height += ROWS) {
    size_t shared = fixed + (size_t) (height + ROWS * (mask.pairs - 1)) * mask.pitch;
    double blocks = ceil ((double) columns * ((rows + height - 1) / height) / multiprocessors);
    double together = fmin (fmin (most, floor ((double) limit / (shared + 1024))), blocks);
    double time = work_of (products, limbs, sums, height) * blocks * (1 + 5.5 / fmax (together, 1));

    if (shared > limit)
      break;
    if (least == 0 || time < least)
      least = time, best = height;
    if (height >= rows)
      break;
  }
  return best;
}

/* What load () leaves. */
struct Loaded
{
  const void *kernel;
  size_t fixed; /* bytes of shared memory, whatever the height of a tile */
  Products mask;
};

ConvolveStatus
convolve_tensor_separable_load (ConvolvePlan *plan, ConvolveError *error)
{
#define KEPT(T, EXACT, PAIRS) (const void *) convolve_tensor_separable<T, EXACT, PAIRS, false>
#define PAIRS(T, EXACT) \
  { \
    KEPT (T, EXACT, 2), KEPT (T, EXACT, 3), KEPT (T, EXACT, 5), KEPT (T, EXACT, 0), \
        (const void *) convolve_tensor_separable<T, EXACT, 0, !EXACT> \
  }
  static const void *const kernels[CONVOLVE_N_SAMPLE_TYPES][2][5] = {
    { PAIRS (uint8_t, false), PAIRS (uint8_t, true) },
    { PAIRS (uint16_t, false), PAIRS (uint16_t, true) },
  };
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveProducts *products = &((const ConvolveFoundProducts *) plan->prepared)->products;
  const int pairs = products->pairs;
  const int which = products->full ? 4 : !convolve_products_kept (products) ? 3 : pairs == 2 ? 0 : pairs == 3 ? 1 : 2;
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  Products *mask = &loaded->mask;
  *mask = describe_products (plan);
  mask->margin = (products->lead + 15) / 16 * 16;
  mask->chunks = convolve_tensor_separable_chunks (plan, products);
  mask->chunk_factor = (65535 + mask->chunks) / mask->chunks;
  mask->rows_together = TILE_THREADS / mask->chunks;
  mask->pitch = (mask->chunks | 1) * 16; /* so that 8 rows of a column of words lie in all banks */
  /*
   * The blocks all fit at once, and are to be divided evenly. That fails where they come while a launch of other blocks
   * ends, such as another plane's, or their own larger ones of deep samples. And what comes while they end has no more
   * of the L1 cache than they leave.
   */
  mask->overlaps = pixel->type == CONVOLVE_SAMPLE_U8 && pixel->samples != 2;
  loaded->fixed = convolve_products_operands_size (plan, products);
  if (which >= 3)
    loaded->fixed += (size_t) TILE_WARPS * products->rank * pairs * 1024;
  loaded->kernel = kernels[pixel->type][plan->exact][which];
  return convolve_allow_shared (plan->device, loaded->kernel, SIZE_MAX, error);
}

ConvolveStatus
convolve_tensor_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const int rows = plane->region.height;
  Products mask = loaded->mask;
  ConvolveGrid grid = {};

  describe_plane (plan, plane, &mask);
  const int columns = products_columns (plan, plane, mask);

  mask.height = choose_height (plan, mask, columns, rows, loaded->fixed);
  mask.tile_size = (mask.height + ROWS * (mask.pairs - 1)) * mask.pitch;
  grid.block = dim3 (32, TILE_WARPS);
  grid.blocks = dim3 (columns, (rows + mask.height - 1) / mask.height);
  grid.shared = loaded->fixed + mask.tile_size;
  grid.waits = mask.overlaps;
  if (grid.blocks.y > CONVOLVE_MOST_BLOCKS_DOWN)
    return convolve_run_halves (plan, plane, CONVOLVE_ONE_BELOW_THE_OTHER, convolve_tensor_separable_run, error);
  return convolve_launch (plan, plane, loaded->kernel, grid, &mask, error);
}
