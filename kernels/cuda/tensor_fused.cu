/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/tensor_products.cuh"

CONVOLVE_DEVICE_FUNCTIONS (tensor_fused);

#define WARPS 4 /* of a block, side by side */

/*
 * What a warp reads near an edge, or of memory that is not aligned, goes to shared memory first: rows of so many chunks
 * of 16 bytes, from byte left of row above on. Few warps come here, and would wait for long code to be fetched.
 */
template <typename T, int CHUNKS, int COUNT>
static __device__ __forceinline__ void
fill_window (const ConvolveImage &image, const Products &mask, int left, int above, uint4 *window)
{
  /* Chunks from first to stop lie in the image. */
  const int first = !mask.aligned ? CHUNKS : left < 0 ? min (-left / 16, CHUNKS) : 0;
  const int stop = max (min ((image.width * image.pixel_stride - left) / 16, CHUNKS), first);
  const int lane = threadIdx.x, own = lane % CHUNKS;
  uint4 level = make_uint4 (0, 0, 0, 0);

  if (mask.boundary == CONVOLVE_BOUNDARY_ZERO && (above < 0 || above + COUNT > image.height))
    level = zero_level<T> (image, mask, left + own * 16);
#pragma unroll 1
  for (int row = lane / CHUNKS; row < COUNT && own >= first && own < stop; row += 32 / CHUNKS) {
    const int y = convolve_boundary_index (mask.boundary, above + row, image.height);

    if (y >= 0)
      copy_later (window + row * CHUNKS + own, image.source + y * image.source_stride + left + own * 16);
    else
      window[row * CHUNKS + own] = level;
  }
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
  __syncwarp ();
  /* The others: a word for each lane of 8 rows, from those above where they have its samples. */
#pragma unroll 1
  for (int side = 0; side < CHUNKS - (stop - first); side++) {
    const int chunk = side + (side < first ? 0 : stop - first), column = chunk * 16 + lane % 4 * 4;
    Word<T> word = find_word<T> (image, mask, left + column);
    const bool known = find_in_tile (word, left, first * 16, stop * 16, column);

#pragma unroll 1
    for (int row = lane / 4; row < COUNT; row += 8) {
      const int y = known ? 0 : convolve_boundary_index (mask.boundary, above + row, image.height);
      uint8_t *to = (uint8_t *) (window + row * CHUNKS);
      const uint8_t *line = known ? to : image.source + max (y, 0) * image.source_stride;

      *(unsigned *) (to + column) = read_word (word, line, y < 0);
    }
  }
  __syncwarp ();
}

/* Sums of 8 rows for half of the group, [sum s]. A lane's 16 bytes of a window are right operands of two products. */
template <int SUMS, int C>
static __device__ __forceinline__ void
sum_rows (int (&sums)[SUMS][4], const uint4 (&words)[C], const uint4 *taps, int h, int start)
{
#pragma unroll
  for (int s = 0; s < SUMS; s++) {
#pragma unroll
    for (int k = 0; k < 4; k++)
      sums[s][k] = start;
#pragma unroll
    for (int c = 0; c < C; c++) {
      const uint4 one = taps[4 * c * SUMS + 2 * s + h], two = taps[(4 * c + 2) * SUMS + 2 * s + h];

      multiply<true> (sums[s], one.x, one.y, one.z, one.w, words[c].x, words[c].y, sums[s]);
      multiply<true> (sums[s], two.x, two.y, two.z, two.w, words[c].z, words[c].w, sums[s]);
    }
  }
}

/* How many a multiprocessor is to hold; of more, some would not have their registers. */
static constexpr int
warps_of (int sample_size)
{
  return sample_size == 1 ? 16 : 12;
}

/* What has edges takes longest, so it is to begin first. */
static __attribute__ ((unused)) __device__ __forceinline__ int
outermost_first (int i, int count)
{
  return i == 0 ? 0 : i == 1 ? count - 1 : i - 1;
}

/*
 * The idea: tensor-separable from registers alone. A warp has 32 samples' width of R times 16 rows and loads all that
 * it needs at once: a lane 16 bytes of each of C windows of 64, in every eighth row, which are operands of the products
 * as they come, since the order in which these add is free. 8 * HALO is at least the mask's height less 1.
 */
template <typename T, bool EXACT, Finish F, int HALO, int R>
__global__ void __launch_bounds__ (32 * WARPS, warps_of (sizeof (T)) / WARPS)
    convolve_tensor_fused (const __grid_constant__ ConvolveImage image, const __grid_constant__ Products mask)
{
#if __CUDA_ARCH__ >= 800
  constexpr int C = sizeof (T), LIMBS = EXACT ? 1 : 2, SUMS = LIMBS + sizeof (T) - 1;
  constexpr int N = 2 * R + HALO, PAIRS = (HALO + 3) / 2;
  __shared__ uint4 windows[WARPS][8 * N * 4 * C];
  const int lane = threadIdx.x, top = image.y0 + outermost_first (blockIdx.x, gridDim.x) * mask.height;
  const uint4 *operands = mask.operands + STARTS + lane;
  /* Loaded, since parameters would be fetched anew for each product. */
  const int4 *starts = (const int4 *) mask.operands;
  const Outputs outputs = find_outputs<T> (image, mask, outermost_first (blockIdx.y, gridDim.y));
  const unsigned group = outputs.x - lane / 4 * 4;
  uint4 taps[4 * C * SUMS], columns[PAIRS][2], words[N][C];

  if (group >= outputs.end)
    return;
    /* The plan's, which no launch before this one writes. */
#pragma unroll
  for (int i = 0; i < 4 * C * SUMS; i++)
    taps[i] = __ldg (operands + i * 32);
#pragma unroll
  for (int i = 0; i < 2 * PAIRS; i++)
    columns[i / 2][i % 2] = __ldg (operands + (4 * C * SUMS + i) * 32);
  const int4 start[2] = { __ldg (starts), __ldg (starts + 1) };
  const float4 offsets = make_float4 (mask.offset[0], mask.offset[1], mask.offset[2], mask.offset[3]);

  convolve_wait ();
  const int left = (int) (group * sizeof (T)) - mask.lead, above = top - image.mask_height / 2;
  if (mask.aligned && left >= 0 && left + 64 * C <= image.width * image.pixel_stride && above >= 0
      && above + 8 * N <= image.height) {
    const uint8_t *from = image.source + (above + lane / 4) * image.source_stride + (unsigned) (left + lane % 4 * 16);

#pragma unroll
    for (int n = 0; n < N; n++, from += 8 * image.source_stride)
#pragma unroll
      for (int c = 0; c < C; c++)
        words[n][c] = __ldg ((const uint4 *) (from + 64 * c));
  } else {
    fill_window<T, 4 * C, 8 * N> (image, mask, left, above, windows[threadIdx.y]);
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
      for (int c = 0; c < C; c++)
        words[n][c] = windows[threadIdx.y][(n * 8 + lane / 4) * 4 * C + 4 * c + lane % 4];
  }
  if (sizeof (T) > 1)
#pragma unroll
    for (int i = 0; i < N * C; i++)
      words[0][i] = make_uint4 (convolve_clean (image, words[0][i].x), convolve_clean (image, words[0][i].y),
          convolve_clean (image, words[0][i].z), convolve_clean (image, words[0][i].w));

  const bool whole = mask.aligned_stores && group >= outputs.begin && group + GROUP <= outputs.end;
  int y = top + lane % 4 * 2;
  uint8_t *to = image.destination + y * image.destination_stride + outputs.x * (unsigned) sizeof (T);
  Block kept[PAIRS]; /* a ring */

#pragma unroll
  for (int step = 0; step < R + PAIRS - 1; step++) {
    const int slot = step % PAIRS;
    int sums[2][2][SUMS][4] = {};

#pragma unroll
    for (int i = 0; i < 4; i++)
      if (2 * step + i / 2 < N)
        sum_rows<SUMS, C> (sums[i / 2][i % 2], words[2 * step + i / 2 < N ? 2 * step + i / 2 : 0], taps, i % 2,
            SUMS > 1 ? 0 : mask.row_start[0]);
    pack_rows<SUMS> (kept[slot], sums, mask.scale, mask.row_start[0]);
    if (step < PAIRS - 1)
      continue;

    Totals totals[2][2]; /* [8 rows][half] */
    uint2 done[4];

#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int b = i / 2, h = i % 2;

      totals[b][h] = { { start[h].x, start[h].y, start[h].z, start[h].w }, {}, {} };
      /* What slots hold is as old as they are far from the one after this. */
      add_blocks<LIMBS> (totals[b][h], kept[0], kept[1], h, columns[(PAIRS - 1 - slot) % PAIRS][b]);
      if (PAIRS > 2) {
        const uint4 last = columns[(2 * PAIRS - 2 - slot) % PAIRS][b];

        add_block<LIMBS, false> (totals[b][h], kept[PAIRS - 1], h, last.x, last.z);
      }
    }
    finish_rows<T, F, false> (image, mask, totals, offsets, done);
    if (whole && y - lane % 4 * 2 + ROWS <= image.y1)
      store<T> (to, image.destination_stride, ROWS, true, outputs, done);
    else
      store<T> (to, image.destination_stride, image.y1 - y, false, outputs, done);
    y += ROWS;
    to += ROWS * image.destination_stride;
  }
#endif
}

#define HEIGHTS 3 /* of tiles that there are kernels for, in table order: the smallest first */

/* What load () leaves: the kernels by height, and the rows of 16 outputs that each makes. */
struct Loaded
{
  const void *kernels[HEIGHTS];
  int rows[HEIGHTS];
  Products mask;
};

/* A kernel, and its rows of 16 outputs. */
struct Entry
{
  const void *kernel;
  int rows;
};

ConvolveStatus
convolve_tensor_fused_load (ConvolvePlan *plan, ConvolveError *error)
{
#define ENTRY(T, EXACT, F, HALO, R) \
  { \
    (const void *) convolve_tensor_fused<T, EXACT, F, HALO, R>, R \
  }
#define HALOS(T, EXACT, F, R) \
  { \
    ENTRY (T, EXACT, F, 1, R), ENTRY (T, EXACT, F, 2, R), ENTRY (T, EXACT, F, 4, R) \
  }
#define ALL_HEIGHTS(T, EXACT, F, SMALL, MIDDLE, LARGE) \
  { \
    HALOS (T, EXACT, F, SMALL), HALOS (T, EXACT, F, MIDDLE), HALOS (T, EXACT, F, LARGE) \
  }
  /* By how an exact plan finishes, the last for others. What is rare has few kernels, for each takes long to compile. */
  static const Entry entries[CONVOLVE_N_SAMPLE_TYPES][CLAMPED_INTEGERS + 2][HEIGHTS][3] = {
    { ALL_HEIGHTS (uint8_t, true, SHIFTED, 1, 2, 4), ALL_HEIGHTS (uint8_t, true, FLOATS, 1, 1, 1),
        ALL_HEIGHTS (uint8_t, true, INTEGERS, 1, 2, 4), ALL_HEIGHTS (uint8_t, true, CLAMPED_INTEGERS, 1, 1, 1),
        ALL_HEIGHTS (uint8_t, false, SHIFTED, 1, 2, 4) },
    { ALL_HEIGHTS (uint16_t, true, SHIFTED, 1, 3, 3), ALL_HEIGHTS (uint16_t, true, FLOATS, 1, 3, 3), {}, {},
        ALL_HEIGHTS (uint16_t, false, SHIFTED, 1, 1, 1) },
  };
  const ConvolveProducts *products = &((const ConvolveFoundProducts *) plan->prepared)->products;
  const Finish finish = products->shift >= 0 ? SHIFTED
      : !products->integers                  ? FLOATS
      : products->integer_tail.clamps        ? CLAMPED_INTEGERS
                                             : INTEGERS;
  const int halo = (plan->taps.height - 1 + 7) / 8; /* in rows of 8 */
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  for (int i = 0; i < HEIGHTS; i++) {
    const Entry (&by_halo)[3] = entries[plan->pixel.type][plan->exact ? finish : CLAMPED_INTEGERS + 1][i];
    const Entry &entry = by_halo[halo <= 1 ? 0 : halo <= 2 ? 1 : 2];

    loaded->kernels[i] = entry.kernel;
    loaded->rows[i] = entry.rows;
  }
  loaded->mask = describe_products (plan);
  loaded->mask.width = WARPS * GROUP * convolve_sample_size (plan->pixel.type);
  return CONVOLVE_OK;
}

/* The highest of which multiprocessors get half as many again as they hold, so that few of them wait at the end. */
static int
choose_height (const ConvolvePlan *plan, const ConvolveRect *region)
{
  const double groups = (double) region->width * plan->pixel.samples / GROUP;
  const int held = warps_of (convolve_sample_size (plan->pixel.type));
  const int multiprocessors = convolve_device_multiprocessors (plan->device);
  int height = HEIGHTS - 1;

  while (height > 0 && groups * region->height / (ROWS << height) < 1.5 * multiprocessors * held)
    height--;
  return height;
}

ConvolveStatus
convolve_tensor_fused_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const int height = choose_height (plan, &plane->region);
  Products mask = loaded->mask;
  ConvolveGrid grid = {};

  describe_plane (plan, plane, &mask);
  int columns = products_columns (plan, plane, mask);

  if (columns > CONVOLVE_MOST_BLOCKS_DOWN)
    return convolve_run_halves (plan, plane, CONVOLVE_SIDE_BY_SIDE, convolve_tensor_fused_run, error);
  mask.height = ROWS * loaded->rows[height];
  grid.block = dim3 (32, WARPS);
  grid.blocks = dim3 ((plane->region.height + mask.height - 1) / mask.height, columns);
  grid.waits = true;
  return convolve_launch (plan, plane, loaded->kernels[height], grid, &mask, error);
}
