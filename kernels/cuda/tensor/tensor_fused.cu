/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/tensor/tensor_products.cuh"

CONVOLVE_DEVICE_FUNCTIONS (tensor_fused);

#define WARPS 4         /* of a block, side by side */
#define WINDOW_BYTES 64 /* of a row: 16 for each of four lanes */
#define WINDOW_CHUNKS 4 /* one for each of four lanes */

/* Copies those chunks of the window that lie in the image, and puts the zero level where their rows lie outside. */
template <typename T, int CHUNKS, int COUNT>
static __device__ __forceinline__ void
copy_chunks (const ConvolveImage &image, const ProductsParameters &mask, int left, int above, int first, int stop,
    uint4 *window)
{
  const int lane = threadIdx.x, own = lane % CHUNKS;
  uint4 level = make_uint4 (0, 0, 0, 0);

  if (mask.boundary == CONVOLVE_BOUNDARY_ZERO && (above < 0 || above + COUNT > image.height))
    level = zero_level<T> (image, mask, left + own * CHUNK);
#pragma unroll 1
  for (int row = lane / CHUNKS; row < COUNT && own >= first && own < stop; row += 32 / CHUNKS) {
    const int y = convolve_boundary_index (mask.boundary, above + row, image.height);

    if (y >= 0)
      convolve_copy_line_later (window + row * CHUNKS + own,
          image.source + y * image.source_stride + left + own * CHUNK);
    else
      window[row * CHUNKS + own] = level;
  }
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
  __syncwarp ();
}

/*
 * Brings a warp's input to shared memory: COUNT rows of CHUNKS chunks, from byte `left` of row `above` on. Only warps
 * near an edge, or with unaligned memory, come here. The code is short rather than fast, because so few warps would
 * wait for long code to be fetched.
 */
template <typename T, int CHUNKS, int COUNT>
static __device__ __forceinline__ void
fill_window (const ConvolveImage &image, const ProductsParameters &mask, int left, int above, uint4 *window)
{
  /* Chunks first .. stop - 1 lie in the image. */
  const int first = !mask.aligned ? CHUNKS : left < 0 ? min (-left / CHUNK, CHUNKS) : 0;
  const int stop = max (min ((image.width * image.pixel_stride - left) / CHUNK, CHUNKS), first);
  const int lane = threadIdx.x;

  copy_chunks<T, CHUNKS, COUNT> (image, mask, left, above, first, stop, window);
  /* The other chunks, a word for each lane in 8 rows at a time; from the copied chunks where these have the samples. */
#pragma unroll 1
  for (int side = 0; side < CHUNKS - (stop - first); side++) {
    const int chunk = side + (side < first ? 0 : stop - first), column = chunk * CHUNK + lane % 4 * 4;
    Word<T> word = find_word<T> (image, mask, left + column);
    const bool is_copied = find_in_tile (word, left, first * CHUNK, stop * CHUNK, column);

#pragma unroll 1
    for (int row = lane / 4; row < COUNT; row += 8) {
      const int y = is_copied ? 0 : convolve_boundary_index (mask.boundary, above + row, image.height);
      uint8_t *to = (uint8_t *) (window + row * CHUNKS);
      const uint8_t *line = is_copied ? to : image.source + max (y, 0) * image.source_stride;

      *(unsigned *) (to + column) = read_word (image, word, line, y < 0);
    }
  }
  __syncwarp ();
}

/* The place of a lane's row taps for product i, sum s and half h: the operands are [product i][sum][half]. */
static __attribute__ ((unused)) constexpr __device__ int
taps_at (int sums, int i, int s, int h)
{
  return (i * sums + s) * 2 + h;
}

/*
 * The first pass for 8 rows and one half of the group, from the lane's words of each window: [sum]. Sum 0 begins at
 * start.
 */
template <int SUMS, int WINDOWS>
static __device__ __forceinline__ void
sum_rows (int (&sums)[SUMS][4], const uint4 (&words)[WINDOWS], const uint4 *taps, int h, const int (&start)[4])
{
#pragma unroll
  for (int s = 0; s < SUMS; s++) {
#pragma unroll
    for (int k = 0; k < 4; k++)
      sums[s][k] = s > 0 ? 0 : start[k];
#pragma unroll
    for (int w = 0; w < WINDOWS; w++) {
      const uint4 one = taps[taps_at (SUMS, 2 * w, s, h)], two = taps[taps_at (SUMS, 2 * w + 1, s, h)];

      multiply<true> (sums[s], one.x, one.y, one.z, one.w, words[w].x, words[w].y, sums[s]);
      multiply<true> (sums[s], two.x, two.y, two.z, two.w, words[w].z, words[w].w, sums[s]);
    }
  }
}

/* Adds one byte each of the row sums of three slabs, times one digit each of the column's taps. */
static __attribute__ ((unused)) __device__ __forceinline__ void
add_bytes (int (&sums)[4], const unsigned (&one)[2], const unsigned (&two)[2], const unsigned (&three)[2],
    unsigned first_taps, unsigned second_taps, unsigned third_taps)
{
  multiply<false> (sums, one[0], one[1], two[0], two[1], first_taps, second_taps, sums);
  multiply<false> (sums, three[0], three[1], third_taps, sums);
}

/*
 * The second pass for 8 rows of outputs and one half of the group, from a ring of 2 or 3 slabs of which number `newest`
 * is the last. columns are the lane's taps for these 8 rows: by age of a slab, for it and the next one. Low digits
 * times low bytes are first, because their sums need registers of their own until these are folded. With 3 slabs the
 * sums of high bytes are last: fewer registers are in use then.
 */
template <int DIGITS, int SLABS>
static __device__ __forceinline__ void
sum_slabs (Totals &totals, const Slab (&ring)[SLABS], int newest, int h, const uint4 (&columns)[SLABS][2], int b)
{
  const Slab &one = ring[0], &two = ring[1], &three = ring[SLABS - 1];
  /* The oldest slab, in the slot after the newest one, meets the taps of slab 0. */
  const uint4 taps = columns[(SLABS - 1 - newest) % SLABS][b], last = columns[(2 * SLABS - 2 - newest) % SLABS][b];
  int low[4] = {};

  if (DIGITS > 1 && SLABS > 2) {
    add_bytes (low, one.low[h], two.low[h], three.low[h], taps.x, taps.y, last.x);
    fold (totals, low);
    add_bytes (totals.middle, one.low[h], two.low[h], three.low[h], taps.z, taps.w, last.z);
    add_bytes (totals.middle, one.high[h], two.high[h], three.high[h], taps.x, taps.y, last.x);
    add_bytes (totals.high, one.high[h], two.high[h], three.high[h], taps.z, taps.w, last.z);
    return;
  }
  if (DIGITS > 1) {
    add_two_low (low, one, two, h, taps);
    fold (totals, low);
  }
  add_two_slabs<DIGITS> (totals, one, two, h, taps);
  if (SLABS > 2)
    add_slab<DIGITS> (totals, three, h, last.x, last.z);
}

/*
 * The second pass for 8 rows of outputs and one half of the group where a halo of 8 rows is enough: from the row sums
 * of 8 rows and of the next 8. Low and high bytes stay together in a word, so that one product adds both terms of
 * `middle`.
 */
template <int DIGITS>
static __device__ __forceinline__ void
sum_packed (Totals &totals, const PackedRows &one, const PackedRows &two, const ConvolveTensorPackedColumns &columns)
{
  int low[4] = {};

  if (DIGITS > 1) {
    multiply<false> (low, one[0], one[1], two[0], two[1], columns.low[0], columns.low[1], low);
    fold (totals, low);
  }
  multiply<false> (totals.middle, one[0], one[1], two[0], two[1], columns.middle[0], columns.middle[1], totals.middle);
  multiply<false> (totals.high, one[0], one[1], two[0], two[1], columns.high[0], columns.high[1], totals.high);
}

/*
 * Whether the kernel adds packed row sums. Plans of PRODUCTS save one product in four by that. Exact plans save none:
 * as measured, packing is slower for 8 bits and faster for deep samples.
 */
static __attribute__ ((unused)) constexpr __host__ __device__ bool
is_packed (int sample_size, bool exact, int halo)
{
  return halo == 1 && (!exact || sample_size > 1);
}

/*
 * Warps on a multiprocessor, for the compiler. With more, the registers would not hold what a warp needs. Kernels of
 * small HEIGHT for plans of PRODUCTS do with fewer registers, and are faster with more warps (h200-kinds.md in
 * tests/results/).
 */
static constexpr int
warps_of (int sample_size, bool exact, int halo, int height)
{
  const bool more = !exact && (halo == 1 ? height <= 2 : halo == 2 && height == 1);

  return sample_size > 1 ? 12 : more ? 20 : 16;
}

/* Writes 16 rows of outputs. The lane's first row is y and begins at `to`. */
template <typename T, Finish F>
static __device__ __forceinline__ void
write_rows (const ConvolveImage &image, const ProductsParameters &mask, const Totals (&totals)[2][2],
    const float4 &offsets, const Outputs &outputs, bool unclipped, int y, uint8_t *to)
{
  uint2 done[4];

  finish_rows<T, F> (image, mask, totals, offsets, done);
  if (unclipped && y - (int) threadIdx.x % 4 * 2 + ROWS <= image.y1)
    store<T> (to, image.destination_stride, ROWS, true, outputs, done);
  else
    store<T> (to, image.destination_stride, image.y1 - y, false, outputs, done);
}

/* The order 0, count - 1, 1, 2 and so on: blocks at the edges of the image take longest, so they begin first. */
static __attribute__ ((unused)) __device__ __forceinline__ int
outermost_first (int i, int count)
{
  return i == 0 ? 0 : i == 1 ? count - 1 : i - 1;
}

/*
 * The idea: the two passes of tensor-separable, drawn in tensor_separable.cu, from registers alone. A warp makes HEIGHT
 * slabs of outputs and loads all their input at once. The words of a lane are operands of the first pass as they are.
 *
 * Who loads which bytes of 8 rows of a window; a window is 64 bytes, and deep samples have two windows:
 *
 *            bytes 0 .. 15   16 .. 31   32 .. 47   48 .. 63      lane 4 g + t: row g, bytes 16 t .. 16 t + 15,
 *   row 0       lane 0        lane 1     lane 2     lane 3       in the words .x .y .z .w
 *   row 1       lane 4        lane 5     lane 6     lane 7
 *    ..                                                          first product:  b0 = .x, b1 = .y
 *   row 7       lane 28       lane 29    lane 30    lane 31      second product: b0 = .z, b1 = .w
 *
 * So the first product takes bytes 0 .. 7, 16 .. 23, 32 .. 39 and 48 .. 55 of the window. The order in which a product
 * adds is free, and the operands with taps have the same order.
 *
 * Example: row taps 1 2 1, lead 16. Output 0 takes the bytes 15, 16 and 17 of the window; these are 10, 20 and 40.
 * Byte 15 is the highest byte of .w in lane 0, and bytes 16 and 17 are the two lowest bytes of .x in lane 1. So lane 0
 * has the tap 1 in the highest byte of a2 for the second product, which adds 1 * 10. Lane 1 has the taps 2 and 1 in the
 * lowest bytes of a0 for the first product, which adds 2 * 20 + 1 * 40. The row sum is 90.
 *
 * words[n] has rows 8 n .. 8 n + 7 of the input; two of these make a slab of row sums. 8 * HALO is at least the mask's
 * height less 1. With HALO 4 (33 rows) and HEIGHT 1, a warp loads 6 times 8 rows, and 3 slabs make its outputs. Kernels
 * for which is_packed () is true make no slabs: they make 8 rows of outputs from the PackedRows of 8 rows and of the
 * next 8.
 */
template <typename T, bool EXACT, bool SHORT, Finish F, int HALO, int HEIGHT>
__global__ void __launch_bounds__ (32 * WARPS, warps_of (sizeof (T), EXACT, HALO, HEIGHT) / WARPS)
    convolve_tensor_fused (const __grid_constant__ ConvolveImage image, const __grid_constant__ ProductsParameters mask)
{
#if __CUDA_ARCH__ >= 800
  constexpr int WINDOWS = sizeof (T), DIGITS = EXACT ? 1 : 2, SUMS = DIGITS + sizeof (T) - 1;
  constexpr int EIGHTS = 2 * HEIGHT + HALO, SLABS = (HALO + 3) / 2; /* 8 rows each, of input; slabs of the ring */
  constexpr int PRODUCTS = 2 * WINDOWS, ROW_TAPS = taps_at (SUMS, PRODUCTS, 0, 0);
  __shared__ uint4 windows[WARPS][8 * EIGHTS * WINDOW_CHUNKS * WINDOWS];
  const int lane = threadIdx.x, top = image.y0 + outermost_first (blockIdx.x, gridDim.x) * mask.height;
  const uint4 *operands = mask.operands + HEADER + lane;
  const int4 *starts = (const int4 *) mask.operands;
  const Outputs outputs = find_outputs<T> (image, mask, outermost_first (blockIdx.y, gridDim.y));
  const unsigned group = outputs.x - lane / 4 * 4;
  /* Operands are loaded before the wait, because no launch before this one writes them. */
  uint4 taps[ROW_TAPS], columns[SLABS][2], words[EIGHTS][WINDOWS];

  if (group >= outputs.end)
    return;
#pragma unroll
  for (int i = 0; i < ROW_TAPS; i++)
    taps[i] = __ldg (operands + i * 32);
#pragma unroll
  for (int i = 0; i < 2 * SLABS; i++)
    columns[i / 2][i % 2] = __ldg (operands + (ROW_TAPS + i) * 32);
  /* The starts, too, are loaded: as parameters of the launch they would be fetched anew for each product. */
  const int4 start[2] = { __ldg (starts), __ldg (starts + 1) };
  /* For the compiler, lanes load these from different places: otherwise each product would begin with four moves. */
  const int4 row_start = SHORT ? __ldg (starts + ROW_STARTS + lane / 32) : make_int4 (0, 0, 0, 0);
  const int begin = SHORT || SUMS > 1 ? 0 : mask.row_start[0];
  const int row_starts[4] = { row_start.x + begin, row_start.y + begin, row_start.z + begin, row_start.w + begin };
  const float4 offsets = make_float4 (mask.offset[0], mask.offset[1], mask.offset[2], mask.offset[3]);

  ConvolveOrder order (image);
  const int left = (int) (group * sizeof (T)) - mask.lead, above = top - image.mask_height / 2;
  if (mask.aligned && left >= 0 && left + WINDOW_BYTES * WINDOWS <= image.width * image.pixel_stride && above >= 0
      && above + 8 * EIGHTS <= image.height) {
    const uint8_t *from =
        image.source + (above + lane / 4) * image.source_stride + (unsigned) (left + lane % 4 * CHUNK);

#pragma unroll
    for (int n = 0; n < EIGHTS; n++, from += 8 * image.source_stride)
#pragma unroll
      for (int w = 0; w < WINDOWS; w++)
        words[n][w] = __ldg ((const uint4 *) (from + WINDOW_BYTES * w));
  } else {
    fill_window<T, WINDOW_CHUNKS * WINDOWS, 8 * EIGHTS> (image, mask, left, above, windows[threadIdx.y]);
#pragma unroll
    for (int n = 0; n < EIGHTS; n++)
#pragma unroll
      for (int w = 0; w < WINDOWS; w++)
        words[n][w] = windows[threadIdx.y][((n * 8 + lane / 4) * WINDOWS + w) * WINDOW_CHUNKS + lane % 4];
  }
  if (sizeof (T) > 1)
#pragma unroll
    for (int i = 0; i < EIGHTS * WINDOWS; i++)
      words[0][i] = clean_chunk (image, words[0][i]);
  if (sizeof (T) > 1 && mask.down)
#pragma unroll
    for (int i = 0; i < EIGHTS * WINDOWS; i++)
      words[0][i] = shift_chunk (mask, words[0][i]);

  const bool unclipped = mask.aligned_stores && group >= outputs.begin && group + GROUP <= outputs.end;
  int y = top + lane % 4 * 2;
  uint8_t *to = image.destination + y * image.destination_stride + outputs.x * (unsigned) sizeof (T);

  if constexpr (is_packed (sizeof (T), EXACT, HALO)) {
    const ConvolveTensorPackedColumns packed = convolve_tensor_pack_columns (columns[0][0].x, columns[0][0].z);
    PackedRows rows[2][2]; /* [8 rows, by turns][half] */
    Totals totals[2][2];   /* [8 rows][half] */

#pragma unroll
    for (int n = 0; n < EIGHTS; n++) {
      const int b = (n + 1) % 2;

#pragma unroll
      for (int h = 0; h < 2; h++) {
        int sums[SUMS][4];

        sum_rows<SUMS, WINDOWS> (sums, words[n], taps, h, row_starts);
        pack_half<SUMS, SHORT> (rows[n % 2][h], sums, mask.scale[0], mask.row_start[0]);
        if (n == 0) /* the next 8 rows are not there yet */
          continue;
        totals[b][h] = { { start[h].x, start[h].y, start[h].z, start[h].w }, {} };
        sum_packed<DIGITS> (totals[b][h], rows[b][h], rows[n % 2][h], packed);
      }
      if (n > 0 && b == 1) {
        write_rows<T, F> (image, mask, totals, offsets, outputs, unclipped, y, to);
        y += ROWS;
        to += ROWS * image.destination_stride;
      }
    }
  } else {
    Slab ring[SLABS];

#pragma unroll
    for (int slab = 0; slab < HEIGHT + SLABS - 1; slab++) {
      const int slot = slab % SLABS;
      int sums[2][2][SUMS][4] = {}; /* the last slab may have input for its first 8 rows only */

#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int n = 2 * slab + i / 2;

        if (n < EIGHTS)
          sum_rows<SUMS, WINDOWS> (sums[i / 2][i % 2], words[n < EIGHTS ? n : 0], taps, i % 2, row_starts);
      }
      pack_rows<SUMS, SHORT> (ring[slot], sums, mask.scale[0], mask.row_start[0]);
      if (slab < SLABS - 1) /* the ring is not full yet */
        continue;

      Totals totals[2][2]; /* [8 rows][half] */

#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int b = i / 2, h = i % 2;

        totals[b][h] = { { start[h].x, start[h].y, start[h].z, start[h].w }, {} };
        sum_slabs<DIGITS, SLABS> (totals[b][h], ring, slot, h, columns, b);
      }
      write_rows<T, F> (image, mask, totals, offsets, outputs, unclipped, y, to);
      y += ROWS;
      to += ROWS * image.destination_stride;
    }
  }
#endif
}

#define HEIGHTS 3 /* heights of blocks that there are kernels for, the smallest first */
#define HALOS 3   /* halos that there are kernels for: 1, 2 and 4 */

/* A kernel, and the slabs of outputs that one of its blocks makes. */
struct Entry
{
  const void *kernel;
  int height;
};

/* What load () leaves for run (): the kernels by height, and the parameters that do not depend on the plane. */
struct Loaded
{
  Entry entries[HEIGHTS];
  ProductsParameters mask;
};

/* The ways through a kernel: a Finish each for exact plans, and those for plans of PRODUCTS. */
enum
{
  ANY_PRODUCTS = BY_CLAMPED_INTEGER_TAIL + 1,
  BYTE_PRODUCTS,
  SHORT_BYTE_PRODUCTS,
  N_WAYS
};

ConvolveStatus
convolve_tensor_fused_load (ConvolvePlan *plan, ConvolveError *error)
{
#define ENTRY(T, EXACT, SHORT, F, HALO, HEIGHT) \
  { \
    (const void *) convolve_tensor_fused<T, EXACT, SHORT, F, HALO, HEIGHT>, HEIGHT \
  }
#define ALL_HALOS(T, EXACT, SHORT, F, HEIGHT) \
  { \
    ENTRY (T, EXACT, SHORT, F, 1, HEIGHT), ENTRY (T, EXACT, SHORT, F, 2, HEIGHT), \
        ENTRY (T, EXACT, SHORT, F, 4, HEIGHT) \
  }
#define ALL_HEIGHTS(T, EXACT, SHORT, F, SMALL, MIDDLE, LARGE) \
  { \
    ALL_HALOS (T, EXACT, SHORT, F, SMALL), ALL_HALOS (T, EXACT, SHORT, F, MIDDLE), \
        ALL_HALOS (T, EXACT, SHORT, F, LARGE) \
  }
#define EXACT_HEIGHTS(T, F, SMALL, MIDDLE, LARGE) ALL_HEIGHTS (T, true, false, F, SMALL, MIDDLE, LARGE)
  /* Each kernel takes long to compile, so what is rare has fewer heights. Deep samples have no integer tail. */
  static const Entry entries[CONVOLVE_N_SAMPLE_TYPES][N_WAYS][HEIGHTS][HALOS] = {
    { {}, EXACT_HEIGHTS (uint8_t, BY_SHIFT, 1, 2, 4), EXACT_HEIGHTS (uint8_t, BY_FLOAT_TAIL, 1, 1, 1),
        EXACT_HEIGHTS (uint8_t, BY_INTEGER_TAIL, 1, 2, 4), EXACT_HEIGHTS (uint8_t, BY_CLAMPED_INTEGER_TAIL, 1, 1, 1),
        ALL_HEIGHTS (uint8_t, false, false, BY_SHIFT, 1, 2, 4), ALL_HEIGHTS (uint8_t, false, false, BY_BYTE, 1, 2, 4),
        ALL_HEIGHTS (uint8_t, false, true, BY_BYTE, 1, 2, 4) },
    { {}, EXACT_HEIGHTS (uint16_t, BY_SHIFT, 1, 3, 3), EXACT_HEIGHTS (uint16_t, BY_FLOAT_TAIL, 1, 3, 3), {}, {},
        ALL_HEIGHTS (uint16_t, false, false, BY_SHIFT, 1, 1, 1), {}, {} },
  };
  const ConvolveTensorProducts *products = &((const ConvolveTensorProductsFound *) plan->prepared)->products;
  const Finish finish = products->shift >= 0 ? BY_SHIFT
      : !products->has_integer_tail          ? BY_FLOAT_TAIL
      : products->integer_tail.clamps        ? BY_CLAMPED_INTEGER_TAIL
                                             : BY_INTEGER_TAIL;
  const int way = plan->exact ? (int) finish
      : products->short_rows  ? (int) SHORT_BYTE_PRODUCTS
      : products->is_byte     ? (int) BYTE_PRODUCTS
                              : (int) ANY_PRODUCTS;
  const int eights = (plan->taps.height - 1 + 7) / 8; /* of the halo, 8 rows each */
  const int halo = eights <= 1 ? 0 : eights <= 2 ? 1 : 2;
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  for (int i = 0; i < HEIGHTS; i++)
    loaded->entries[i] = entries[plan->pixel.type][way][i][halo];
  loaded->mask = describe_products (plan);
  loaded->mask.width = WARPS * GROUP * convolve_sample_size (plan->pixel.type);
  return CONVOLVE_OK;
}

/*
 * The number of the height for this region: the largest that gives each multiprocessor 1.5 times the warps that it
 * holds at once. With fewer warps, multiprocessors would be idle at the end of the launch. The warps held are those of
 * the tallest kernels, and heights count as 1, 2 and 4 slabs here, also where the table has others.
 */
static int
choose_height (const ConvolvePlan *plan, const ConvolveRect *region)
{
  const double enough = 1.5;
  const double groups = (double) region->width * plan->pixel.samples / GROUP;
  const int resident = warps_of (convolve_sample_size (plan->pixel.type), plan->exact, 4, 4);
  const int multiprocessors = convolve_device_multiprocessors (plan->device);
  int height = HEIGHTS - 1;

  while (height > 0 && groups * region->height / (ROWS << height) < enough * multiprocessors * resident)
    height--;
  return height;
}

ConvolveStatus
convolve_tensor_fused_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const Entry &entry = loaded->entries[choose_height (plan, &plane->region)];
  ProductsParameters mask = loaded->mask;
  ConvolveGrid grid = {};

  describe_plane (plan, plane, &mask);
  int columns = products_columns (plan, plane, mask);

  if (columns > CONVOLVE_MOST_BLOCKS_DOWN)
    return convolve_run_halves (plan, plane, CONVOLVE_SIDE_BY_SIDE, convolve_tensor_fused_run, error);
  mask.height = ROWS * entry.height;
  grid.block = dim3 (32, WARPS);
  grid.blocks = dim3 ((plane->region.height + mask.height - 1) / mask.height, columns);
  grid.ordered = true;
  return convolve_launch (plan, plane, entry.kernel, grid, &mask, error);
}
