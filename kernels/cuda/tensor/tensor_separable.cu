/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "cuda/tensor/tensor_products.cuh"
#include "cuda/tensor/tensor_separable.h"

#define SEGMENT_WORDS (CONVOLVE_TENSOR_PRODUCTS_SEGMENT / 4)
#define SLAB_CHUNKS CONVOLVE_TENSOR_PRODUCTS_SLAB_CHUNKS

/*
 * The first pass for 16 rows: sums is [8 rows][half][sum]. pixels is the lane's word of the first segment in its first
 * row, pitch is in words, and rows are the lane's operands of one product. Sum 0 begins at `start`.
 */
template <int SUMS>
static __device__ __forceinline__ void
sum_rows (int (&sums)[2][2][SUMS][4], const unsigned *pixels, int pitch, const uint4 *rows, int segments,
    const int4 &start)
{
  const unsigned *below = pixels + 8 * pitch;
  const int starts[2][4] = { { start.x, start.y, start.z, start.w }, {} };

#pragma unroll
  for (int s = 0; s < SUMS; s++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint4 taps = rows[(2 * s + h) * 32];

      multiply<true> (sums[0][h][s], taps.x, taps.y, taps.z, taps.w, pixels[0], pixels[SEGMENT_WORDS], starts[s > 0]);
      multiply<true> (sums[1][h][s], taps.x, taps.y, taps.z, taps.w, below[0], below[SEGMENT_WORDS], starts[s > 0]);
    }
#pragma unroll 1
  for (segments -= 2; segments > 1; segments -= 2) {
    pixels += 2 * SEGMENT_WORDS, below += 2 * SEGMENT_WORDS, rows += 2 * SUMS * 32;
#pragma unroll
    for (int s = 0; s < SUMS; s++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        uint4 taps = rows[(2 * s + h) * 32];

        multiply<true> (sums[0][h][s], taps.x, taps.y, taps.z, taps.w, pixels[0], pixels[SEGMENT_WORDS], sums[0][h][s]);
        multiply<true> (sums[1][h][s], taps.x, taps.y, taps.z, taps.w, below[0], below[SEGMENT_WORDS], sums[1][h][s]);
      }
  }
  if (segments) {
    pixels += 2 * SEGMENT_WORDS, below += 2 * SEGMENT_WORDS, rows += 2 * SUMS * 32;
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      uint4 taps = rows[s * 32];

      multiply<true> (sums[0][0][s], taps.x, taps.y, pixels[0], sums[0][0][s]);
      multiply<true> (sums[1][0][s], taps.x, taps.y, below[0], sums[1][0][s]);
      multiply<true> (sums[0][1][s], taps.z, taps.w, pixels[0], sums[0][1][s]);
      multiply<true> (sums[1][1][s], taps.z, taps.w, below[0], sums[1][1][s]);
    }
  }
}

/*
 * The second pass from a ring of SLABS slabs in registers, of which number `slot` is the newest. Low digits times low
 * bytes are first, because their sums need registers of their own until these are folded.
 */
template <int DIGITS, int SLABS, int SLOTS>
static __device__ __forceinline__ void
sum_slabs_in_registers (Totals (&totals)[2][2], const Slab (&kept)[SLOTS], int slot, const uint4 *columns)
{
  int low[2][2][4] = {};

#pragma unroll
  for (int pass = DIGITS > 1 ? 0 : 1; pass < 2; pass++) {
#pragma unroll
    for (int s = 0; s < SLABS; s += 2) {
      /* The oldest slab, in the slot after the newest one, meets the taps of slab 0. */
      const int age = (s + SLABS - 1 - slot) % SLOTS, next = s + 1 < SLABS ? s + 1 : s;

#pragma unroll
      for (int b = 0; b < 2; b++) {
        uint4 taps = columns[(2 * age + b) * 32];

#pragma unroll
        for (int h = 0; h < 2; h++)
          if (pass == 0 && next > s)
            add_two_low (low[b][h], kept[s], kept[next], h, taps);
          else if (pass == 0)
            add_low (low[b][h], kept[s], h, taps.x);
          else if (next > s)
            add_two_slabs<DIGITS> (totals[b][h], kept[s], kept[next], h, taps);
          else
            add_slab<DIGITS> (totals[b][h], kept[s], h, taps.x, taps.z);
      }
    }
#pragma unroll
    for (int i = 0; i < 4 && pass == 0; i++)
      fold (totals[i / 2][i % 2], low[i / 2][i % 2]);
  }
}

/* The second pass from a ring in shared memory, [product][slab][half][lane]. newest is the place of the last slab. */
template <int DIGITS>
static __device__ __forceinline__ void
sum_slabs_in_shared (Totals (&totals)[2][2], const uint4 *ring, int newest, int slabs, int rank, const uint4 *columns)
{
  int low[2][2][4] = {};

#pragma unroll 1
  for (int p = 0, from = newest; p < slabs; p++) {
    from = from + 1 < slabs ? from + 1 : 0;
#pragma unroll 1
    for (int r = 0; r < rank; r++) {
      uint4 taps = columns[(r * slabs + p) * 32];
      Slab slab;

#pragma unroll
      for (int h = 0; h < 2; h++) {
        uint4 bytes = ring[((r * slabs + from) * 2 + h) * 32];

        slab.low[h][0] = bytes.x, slab.low[h][1] = bytes.y;
        slab.high[h][0] = bytes.z, slab.high[h][1] = bytes.w;
        add_slab<DIGITS> (totals[0][h], slab, h, taps.x, taps.y);
        add_slab<DIGITS> (totals[1][h], slab, h, taps.z, taps.w);
        if (DIGITS > 1) {
          add_low (low[0][h], slab, h, taps.x);
          add_low (low[1][h], slab, h, taps.z);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4 && DIGITS > 1; i++)
    fold (totals[i / 2][i % 2], low[i / 2][i % 2]);
}

/*
 * Adds the centre's own tap times the lane's samples to the totals of 16 rows. own is the place of the first sample in
 * the tile.
 */
template <typename T>
static __device__ __forceinline__ void
add_centre (const ConvolveImage &image, const ProductsParameters &mask, const uint8_t *own, Totals (&totals)[2][2])
{
#pragma unroll
  for (int i = 0; i < 4; i++) { /* rows 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 */
    const uint8_t *row = own + (i / 2 * 8 + i % 2) * mask.pitch;

#pragma unroll
    for (int n = 0; n < 4; n++)
      totals[i / 2][n / 2].middle[n % 2 * 2 + i % 2] +=
          mask.centre * (int) (sizeof (T) == 1 ? row[n] : ((const uint16_t *) row)[n] >> (image.shift - mask.down));
  }
}

/* Blocks on a multiprocessor, for the compiler. With more, the registers would not hold the ring. */
static constexpr int
blocks_of (int sample_size, bool exact, int slabs)
{
  return slabs > 3 ? 4 : (slabs == 3 ? 6 : 7) - sample_size - (!exact && !slabs);
}

/*
 * The idea: a product of a column and a row is convolved in two passes, both products with banded matrices of bytes on
 * the tensor cores. A warp walks down one group of 32 samples and keeps the row sums that the mask's height still
 * needs.
 *
 * First pass, taps a b c of a row, half 0, lead 4          Second pass, taps d e f of a column, output rows p0 .. p7
 * (dots are 0): left operand, one row for each output      (dots are 0): right operand, one row for each row sum
 *
 *            w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 ..                    p0 p1 p2 p3 p4 p5 p6 p7
 *   output 0  .  .  .  a  b  c  .  .  .  .                   r0   d  .  .  .  .  .  .  .   lanes with t = 0
 *   output 4  .  .  .  .  .  .  .  a  b  c                   r1   e  d  .  .  .  .  .  .
 *     ..                                                     r8   .  .  .  .  .  .  f  e
 *   output 1  .  .  .  .  a  b  c  .  .  .                   r9   .  .  .  .  .  .  .  f
 *   output 5  .  .  .  .  .  .  .  .  a  b                   r2   f  e  d  .  .  .  .  .   lanes with t = 1
 *     ..      times the windows w of 8 rows                  r3   .  f  e  d  .  .  .  .   and so on
 *
 * Lane 4 g + t of the warp holds, with h for the half and o for output 4 g + 2 h:
 *   first     a0, a1  taps of o and of o + 1 for bytes 4 t .. 4 t + 3 of a segment; a2, a3: for the next segment
 *   pass      b0, b1  bytes 4 t .. 4 t + 3 of the segment in row g of the 8 rows; of the next segment
 *             c0 .. c3  the sums of o in rows 2 t and 2 t + 1, and of o + 1 in these rows
 *   second    a0, a1  one byte each of the sums of o, and of o + 1, in rows 2 t, 2 t + 1, 2 t + 8 and 2 t + 9
 *   pass      b0      one digit each of the taps of output row g for these four row sums
 *             c0 .. c3  the totals of o in output rows 2 t and 2 t + 1, and of o + 1 in these rows
 *
 * Example: column tap 300 (digits 1 and 44) times row sum 1000 (bytes 3 and 232). The terms are 256 * 1 * 3 = 768,
 * 1 * 232 + 44 * 3 = 364 and 44 * 232 / 256 = 39: the total is 1171, which is 300 * 1000 / 256 rounded down.
 *
 * EXACT: column taps have one digit. SLABS: the slabs of the ring, in registers; 0 for a ring in shared memory, of any
 * size and for any number of products. SHORT: row sums are short, see ConvolveTensorProducts. F: of a
 * plan that is not exact.
 */
template <typename T, bool EXACT, bool SHORT, Finish F, int SLABS>
__global__ void __launch_bounds__ (TILE_THREADS, blocks_of (sizeof (T), EXACT, SLABS))
    convolve_tensor_separable (const __grid_constant__ ConvolveImage image,
        const __grid_constant__ ProductsParameters mask)
{
#if __CUDA_ARCH__ >= 800
  constexpr int DIGITS = EXACT ? 1 : 2, SUMS = DIGITS + sizeof (T) - 1, SLOTS = SLABS ? SLABS : 1;
  extern __shared__ uint4 shared[];
  const int lane = threadIdx.x, top = image.y0 + blockIdx.y * mask.height, bottom = min (top + mask.height, image.y1);
  const int slabs = SLABS ? SLABS : mask.slabs, rank = SLABS ? 1 : mask.rank;
  const int slabs_made = (bottom - top + ROWS - 1) / ROWS + slabs - 1; /* of row sums, by this block */
  const uint4 *rows = shared + HEADER + lane, *columns = rows + rank * mask.segments * SUMS * 32;
  uint8_t *tile = (uint8_t *) (shared + mask.operands_count);
  uint4 *ring = (uint4 *) (tile + mask.tile_size) + threadIdx.y * rank * slabs * SLAB_CHUNKS + lane;
  const uint8_t *first_output = tile + mask.margin + threadIdx.y * GROUP * sizeof (T);
  const unsigned *pixels = (const unsigned *) (first_output - mask.lead + lane / 4 * mask.pitch + lane % 4 * 4);
  /* The tile's samples at the lane's outputs, for those that are copied and for the centre's own tap. */
  const uint8_t *own = first_output + lane / 4 * 4 * sizeof (T) + (image.mask_height / 2 + lane % 4 * 2) * mask.pitch;
  const Outputs outputs = find_outputs<T> (image, mask, blockIdx.x);
  /* The header: starts of both halves' totals and four offsets; and the starts of row sums. */
  const int4 *starts = (const int4 *) shared + (mask.samples == 3 ? outputs.x % 3 * 3 : 0);
  const int4 *row_starts = (const int4 *) shared + ROW_STARTS;
  Slab kept[SLOTS]; /* the ring in registers, or the newest slab alone */

  if (mask.overlaps)
    convolve_wait ();
  load_tile<T> (image, mask, top, bottom, shared, tile);
  const unsigned group = outputs.x - lane / 4 * 4;
  const bool idle = group >= outputs.end;
  const bool unclipped = mask.aligned_stores && group >= outputs.begin && group + GROUP <= outputs.end;
  int y = top + lane % 4 * 2;
  uint8_t *to = image.destination + y * image.destination_stride + outputs.x * (unsigned) sizeof (T);

  if (idle)
    return;
#pragma unroll 1
  for (int first = 0; first < slabs_made; first += SLOTS) {
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) {
      const int now = first + slot, place = SLABS ? slot : now % slabs;

      if (now >= slabs_made)
        break;
#pragma unroll 1
      for (int r = 0; r < rank; r++) {
        const int begin = SUMS > 1 ? 0 : mask.row_start[r];
        int sums[2][2][SUMS][4];

        sum_rows<SUMS> (sums, pixels, mask.pitch / 4, rows + r * mask.segments * SUMS * 32, mask.segments,
            SHORT ? row_starts[r] : make_int4 (begin, begin, begin, begin));
        pack_rows<SUMS, SHORT> (kept[slot], sums, mask.scale[r], mask.row_start[r]);
#pragma unroll
        for (int h = 0; h < 2 && !SLABS; h++)
          ring[((r * slabs + place) * 2 + h) * 32] =
              make_uint4 (kept[0].low[h][0], kept[0].low[h][1], kept[0].high[h][0], kept[0].high[h][1]);
      }
      pixels += ROWS * mask.pitch / 4;
      if (now < slabs - 1) /* the ring is not full yet */
        continue;

      Totals totals[2][2]; /* [8 rows][half] */
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int4 start = starts[i % 2];

        totals[i / 2][i % 2] = { { start.x, start.y, start.z, start.w }, {} };
      }
      if (!EXACT && !SLABS && mask.centre)
        add_centre<T> (image, mask, own, totals);
      if (SLABS)
        sum_slabs_in_registers<DIGITS, SLABS, SLOTS> (totals, kept, slot, columns);
      else
        sum_slabs_in_shared<DIGITS> (totals, ring, place, slabs, rank, columns);
      uint2 words[4];
      finish<T, EXACT, F> (image, mask, totals, (const float4 *) (starts + 2), words);
      if (sizeof (T) == 1 && mask.copies)
#pragma unroll
        for (int i = 0; i < 4; i++)
          words[i].x = (words[i].x & ~outputs.copied)
              | (*(const unsigned *) (own + (i / 2 * 8 + i % 2) * mask.pitch) & outputs.copied);
      if (unclipped && y - lane % 4 * 2 + ROWS <= bottom)
        store<T> (to, image.destination_stride, ROWS, true, outputs, words);
      else if (EXACT || SLABS || !mask.apart)
        store<T> (to, image.destination_stride, bottom - y, false, outputs, words);
      else
        store_rows_apart<T> (image, mask, outputs, y, bottom, words);
      y += ROWS;
      to += ROWS * image.destination_stride;
      own += ROWS * mask.pitch;
    }
  }
#endif
}

/* The work of a block of `height` rows, as an estimate of the instructions of one warp. */
static double
work_of (const ConvolveTensorProducts *products, int digits, int sums, int height)
{
  const double begin = 150, end = 80; /* of a block before the first slab; from totals to memory, for 16 rows */
  const int slabs = products->slabs, outputs = height / ROWS;
  double row = products->segments * (2 + 3 * sums) + 16 * (sums + 1) + 20; /* loads and products; packing; the loop */
  double column =
      convolve_tensor_products_in_registers (products) ? 2 * slabs * (1 + digits) : (4 * (1 + digits) + 15) * slabs;

  return begin + (row * (outputs + slabs - 1) + column * outputs) * products->rank + end * outputs;
}

/*
 * Rows of outputs of a block. Higher blocks make fewer row sums twice. More blocks share a multiprocessor if they are
 * low, and then wait less for memory and for the tensor cores. The time is that of the multiprocessor with the most
 * blocks. What waiting costs was measured (tests/results/h200-separable.md). fixed is the shared memory of a block, in
 * bytes, without its tile.
 */
static int
choose_height (const ConvolvePlan *plan, const ProductsParameters &mask, int columns, int rows, size_t fixed)
{
  const int highest = 256, reserved = 1024; /* bytes of shared memory that CUDA takes of each block */
  const double waiting = 5.5;               /* of a block that is alone, in times of its work */
  const ConvolveTensorProducts *products = &((const ConvolveTensorProductsFound *) plan->prepared)->products;
  const int multiprocessors = convolve_device_multiprocessors (plan->device);
  const int digits = convolve_tensor_products_digits (plan), sums = convolve_tensor_products_row_sums (plan);
  const int most = blocks_of (convolve_sample_size (plan->pixel.type), plan->exact,
      convolve_tensor_products_in_registers (products) ? mask.slabs : 0);
  const size_t limit = convolve_device_shared_limit (plan->device);
  double least = 0;
  int best = ROWS;

  for (int height = ROWS; height <= highest; height += ROWS) {
    size_t shared = fixed + (size_t) (height + ROWS * (mask.slabs - 1)) * mask.pitch;
    double blocks = ceil ((double) columns * ((rows + height - 1) / height) / multiprocessors);
    double resident = fmin (fmin (most, floor ((double) limit / (shared + reserved))), blocks);
    double time = work_of (products, digits, sums, height) * blocks * (1 + waiting / fmax (resident, 1));

    if (shared > limit)
      break;
    if (least == 0 || time < least)
      least = time, best = height;
    if (height >= rows)
      break;
  }
  return best;
}

/* What load () leaves for run (), which adds the parameters that depend on the plane. */
struct Loaded
{
  const void *kernel;
  size_t fixed; /* bytes of shared memory that do not depend on the height of a tile */
  ProductsParameters mask;
};

/* The kernels by the ring: of 2, 3 or 5 slabs in registers, or in shared memory. */
enum
{
  RING_OF_2,
  RING_OF_3,
  RING_OF_5,
  RING_IN_SHARED,
  N_RINGS
};

static int
choose_ring (const ConvolveTensorProducts *products)
{
  if (!convolve_tensor_products_in_registers (products))
    return RING_IN_SHARED;
  return products->slabs == 2 ? RING_OF_2 : products->slabs == 3 ? RING_OF_3 : RING_OF_5;
}

/* The kernels by what is done with row sums and totals. */
enum
{
  EXACT_PLAN,
  ANY_PRODUCTS,
  BYTE_PRODUCTS,
  SHORT_BYTE_PRODUCTS,
  N_WAYS
};

ConvolveStatus
convolve_tensor_separable_load (ConvolvePlan *plan, ConvolveError *error)
{
#define KERNEL(T, EXACT, SHORT, F, SLABS) (const void *) convolve_tensor_separable<T, EXACT, SHORT, F, SLABS>
#define BY_RING(T, EXACT, SHORT, F) \
  { \
    KERNEL (T, EXACT, SHORT, F, 2), KERNEL (T, EXACT, SHORT, F, 3), KERNEL (T, EXACT, SHORT, F, 5), \
        KERNEL (T, EXACT, SHORT, F, 0) \
  }
  static const void *const kernels[CONVOLVE_N_SAMPLE_TYPES][N_WAYS][N_RINGS] = {
    { BY_RING (uint8_t, true, false, BY_SHIFT), BY_RING (uint8_t, false, false, BY_SHIFT),
        BY_RING (uint8_t, false, false, BY_BYTE), BY_RING (uint8_t, false, true, BY_BYTE) },
    { BY_RING (uint16_t, true, false, BY_SHIFT), BY_RING (uint16_t, false, false, BY_SHIFT), {}, {} },
  };
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveTensorProducts *products = &((const ConvolveTensorProductsFound *) plan->prepared)->products;
  const int ring = choose_ring (products);
  const int way = plan->exact ? EXACT_PLAN
      : products->short_rows  ? SHORT_BYTE_PRODUCTS
      : products->is_byte     ? BYTE_PRODUCTS
                              : ANY_PRODUCTS;
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  ProductsParameters *mask = &loaded->mask;
  *mask = describe_products (plan);
  mask->margin = (products->lead + CHUNK - 1) / CHUNK * CHUNK;
  mask->chunks = convolve_tensor_separable_chunks (plan, products);
  mask->chunks_reciprocal = reciprocal (mask->chunks);
  mask->rows_at_once = TILE_THREADS / mask->chunks;
  mask->pitch = (mask->chunks | 1) * CHUNK; /* odd, so that one column of words in 8 rows lies in all banks */
  /*
   * All blocks of a launch fit on the device at once, and should be divided evenly among the multiprocessors. Blocks
   * that come while another launch ends are not, if the blocks of that launch differ: those of another plane, or the
   * larger ones of deep samples. Blocks that come early also get no more of the L1 cache than the ending blocks leave.
   */
  mask->overlaps = pixel->type == CONVOLVE_SAMPLE_U8 && pixel->samples != 2;
  loaded->fixed = convolve_tensor_products_operands_size (plan, products);
  if (ring == RING_IN_SHARED)
    loaded->fixed += (size_t) TILE_WARPS * products->rank * products->slabs * CONVOLVE_TENSOR_PRODUCTS_SLAB_BYTES;
  loaded->kernel = kernels[pixel->type][way][ring];
  return convolve_allow_shared (plan->device, loaded->kernel, SIZE_MAX, error);
}

ConvolveStatus
convolve_tensor_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const int rows = plane->region.height;
  ProductsParameters mask = loaded->mask;
  ConvolveGrid grid = {};

  describe_plane (plan, plane, &mask);
  const int columns = products_columns (plan, plane, mask);

  mask.height = choose_height (plan, mask, columns, rows, loaded->fixed);
  mask.tile_size = (mask.height + ROWS * (mask.slabs - 1)) * mask.pitch;
  grid.block = dim3 (32, TILE_WARPS);
  grid.blocks = dim3 (columns, (rows + mask.height - 1) / mask.height);
  grid.shared = loaded->fixed + mask.tile_size;
  grid.waits = mask.overlaps;
  if (grid.blocks.y > CONVOLVE_MOST_BLOCKS_DOWN)
    return convolve_run_halves (plan, plane, CONVOLVE_ONE_BELOW_THE_OTHER, convolve_tensor_separable_run, error);
  return convolve_launch (plan, plane, loaded->kernel, grid, &mask, error);
}
