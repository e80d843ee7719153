/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/sums/box_columns.cuh"

/*
 * The idea: where all weights are equal, an output is a difference of prefix sums that its neighbours share. The work
 * is the same for masks of every size.
 *
 * - Columns: a thread keeps the sum of each of its columns over the mask's height. From one row of outputs to the
 *   next, a row enters the window at the bottom and a row leaves it at the top.
 * - Rows: prefix sums of the column sums run along the row over all threads of a block. An output is the prefix sum at
 *   the last column of its window less the prefix sum before its first column.
 *
 * Sums are unsigned integers of 32 bits. A prefix sum may overflow, but the difference of two is right, because the
 * result fits into 32 bits.
 *
 * For example, a mask of 3x3 ones, three threads and chunks of two samples, with these column sums over three rows:
 *
 *     thread                          |   0   |   1   |   2   |
 *     column sums                     | 4   5 | 2   1 | 6   3 |
 *     totals of the threads           |   9   |   3   |   9   |      sum_chunks ()
 *     sums of all threads before      |   0   |   9   |  12   |      scan (), an exclusive prefix sum
 *     prefix sums                     | 4   9 |11  12 |18  21 |      write_prefix_sums (), inclusive
 *
 * The window of the output at the fourth column has the column sums 2, 1 and 6. Their sum is the prefix sum at the
 * fifth column less the prefix sum at the second: 18 - 9 = 9.
 *
 * With EDGES, the first and last weights differ. In a column, the sum is inner * (all rows) + (edge - inner) * (first
 * and last row); in a row, edge * (all columns) + (inner - edge) * (the columns between), both as differences of
 * prefix sums.
 */

/*
 * Adds column n to sum. columns are the sums over all rows of the window, edges those over its first and last row.
 * Sums of 8-bit samples are halves of a word: dp2a multiplies one half by the weight and the other half by 0.
 */
template <typename T, bool EDGES>
static __device__ __forceinline__ uint32_t
add_column (const Box &box, const uint32_t *columns, const uint32_t *edges, int n, uint32_t sum)
{
  const int less = box.column.edge - box.column.inner, shift = n % 2 * 8;

  if (sizeof (T) > 1)
    return EDGES ? columns[n] * box.column.inner + edges[n] * less + sum : columns[n] + sum;
  sum = __dp2a_lo (columns[n / 2], (unsigned) (EDGES ? box.column.inner : 1) << shift, sum);
  return EDGES ? (uint32_t) __dp2a_lo ((int) edges[n / 2], (less & 0xff) << shift, (int) sum) : sum;
}

/*
 * Replaces 256 totals by the sums of all totals before each, an exclusive prefix sum. One warp calls this, and each
 * lane has 8 totals. The totals of threads that a smaller block does not have are undefined, but no earlier total
 * depends on them.
 */
static __device__ __forceinline__ void
scan (uint32_t *totals)
{
  uint4 *own = (uint4 *) totals + 2 * threadIdx.x % 64; /* 2 words of 4 totals for each lane */
  uint4 low = own[0], high = own[1];
  uint32_t part[8] = { low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w }, sum = 0, all;

#pragma unroll
  for (int i = 0; i < 8; i++) {
    uint32_t total = part[i];

    part[i] = sum;
    sum += total;
  }
  all = sum;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    uint32_t before = __shfl_up_sync (~0u, all, distance);

    if (threadIdx.x % 32 >= distance)
      all += before;
  }
  all -= sum; /* the sum of the lanes before this one */
  own[0] = make_uint4 (part[0] + all, part[1] + all, part[2] + all, part[3] + all);
  own[1] = make_uint4 (part[4] + all, part[5] + all, part[6] + all, part[7] + all);
}

/* The sample that a sum becomes, with the tail in double. A call, because few masks need it and it would be long. */
static __device__ __noinline__ int
finish_double (const ConvolveTail *tail, int sample, uint32_t sum)
{
  return (int) convolve_tail_double (tail, sample, sum);
}

/* The word that sums become. Its first sample is sample number `first` of the chunk. */
template <typename T, int S, ConvolveBoxTail TAIL>
static __device__ __forceinline__ uint32_t
finish (const ConvolveImage &image, const Box &box, int first, const uint32_t *sums)
{
  const ConvolveIntegerTail &tail = box.integer_tail;
  float floats[4];
  int values[4];

#pragma unroll
  for (int k = 0; k < 4 / (int) sizeof (T); k++) {
    const int sample = (first + k) % S + blockIdx.z;

    if (TAIL == CONVOLVE_BOX_INTEGERS)
      floats[k] = __fmaf_rd (__uint_as_float (sums[k] + tail.start[sample]), tail.scale, tail.offset[sample]);
    else if (TAIL == CONVOLVE_BOX_FLOATS)
      values[k] = convolve_floor<T> (box.tail, sample, sums[k]);
    else if (TAIL == CONVOLVE_BOX_PRODUCTS)
      values[k] = convolve_box_product (box.factor, box.start[sample], sums[k]);
    else
      values[k] = finish_double (&box.tail, sample, sums[k]);
  }
  if (TAIL == CONVOLVE_BOX_INTEGERS)
    return convolve_pack_integers<false> (floats);
  if (sizeof (T) == 1)
    return convolve_clamp_bytes (values[1], values[0], convolve_clamp_bytes (values[3], values[2], 0));
  if (TAIL == CONVOLVE_BOX_PRODUCTS)
    return (convolve_clamp_words (values[1], values[0]) & box.places.samples) >> box.places.down;
  return (unsigned) values[0] << image.shift | (unsigned) values[1] << image.shift << 16;
}

/*
 * Stores the chunk of outputs in words sample by sample, where the chunk is not aligned or not all of it is written.
 * Samples that are not convolved are copied. out is the index in its row of the chunk's first sample.
 */
template <typename T, int S>
static __device__ __noinline__ void
store_samples (const ConvolveImage &image, int out, int y, uint4 words)
{
  for (int n = 0; n < Chunk<T, S>::N; n++) {
    const int x = out / S + n / S, sample = n % S + blockIdx.z;

    if (x >= image.x0 && x < image.x1)
      *convolve_destination<T> (image, x, y, sample) =
          image.select >> sample & 1 ? (T) convolve_swap (image, words.x) : *convolve_source<T> (image, x, y, sample);
    words.x = __funnelshift_r (words.x, words.y, 8 * sizeof (T));
    words.y = __funnelshift_r (words.y, words.z, 8 * sizeof (T));
    words.z = __funnelshift_r (words.z, words.w, 8 * sizeof (T));
    words.w >>= 8 * sizeof (T);
  }
}

/* Makes the words of a thread's outputs in one row from the prefix sums of that row. */
template <typename T, int S, bool EDGES, ConvolveBoxTail TAIL, int W>
static __device__ __forceinline__ void
make_outputs (const ConvolveImage &image, const Box &box, const uint32_t *sums, uint32_t (&words)[W])
{
  constexpr int per_word = 4 / sizeof (T);

#pragma unroll
  for (int i = 0; i < W; i++) {
    uint32_t own[4];

#pragma unroll
    for (int k = 0; k < per_word; k++) {
      const int n = i * per_word + k;

      own[k] = sums[box.after[n + S] + threadIdx.x] - sums[box.before[n] + threadIdx.x];
      if (EDGES)
        own[k] = own[k] * box.row.edge
            + (box.row.inner - box.row.edge)
                * (sums[box.after[n] + threadIdx.x] - sums[box.before[n + S] + threadIdx.x]);
    }
    words[i] = finish<T, S, TAIL> (image, box, i * per_word, own);
  }
}

/* Stores a chunk of outputs as words, `at` bytes from the beginning of row y, with the samples that are copied. */
template <typename T, int S, int W>
static __device__ __forceinline__ void
store_chunk (const ConvolveImage &image, const Box &box, int y, int64_t at, uint32_t (&words)[W])
{
  if (S > 1 && box.copies) {
    uint32_t source[W];

    convolve_load_words<W> (image.source + y * image.source_stride + at, source);
#pragma unroll
    for (int i = 0; i < W; i++)
      words[i] = (words[i] & ~box.keep[i]) | (source[i] & box.keep[i]);
  }
  convolve_store_words (image.destination + y * image.destination_stride + at, words);
}

/*
 * Makes and stores a thread's outputs in up to R rows from y on. Rows that are stored as words have no branch between
 * them, so that the compiler can interleave their instructions.
 */
template <typename T, int S, bool EDGES, ConvolveBoxTail TAIL>
static __device__ __forceinline__ void
write_rows (const ConvolveImage &image, const Box &box, const Shared<T, S> &shared, int out, int y, int bottom)
{
  constexpr int R = Chunk<T, S>::rows, W = Chunk<T, S>::words;
  const bool stores_words = box.aligned_stores && out >= image.x0 * S && out + Chunk<T, S>::N <= image.x1 * S;
  const int64_t at = (int64_t) out * (int) sizeof (T);

  if (TAIL != CONVOLVE_BOX_DOUBLES && stores_words && y + R <= bottom) {
#pragma unroll
    for (int r = 0; r < R; r++) {
      uint32_t words[W];

      make_outputs<T, S, EDGES, TAIL> (image, box, shared.sums[r], words);
      store_chunk<T, S> (image, box, y + r, at, words);
    }
    return;
  }
#pragma unroll 1
  for (int r = 0; y + r < bottom && r < R; r++) {
    uint32_t words[W];

    make_outputs<T, S, EDGES, TAIL> (image, box, shared.sums[r], words);
    if (stores_words)
      store_chunk<T, S> (image, box, y + r, at, words);
    else
      store_samples<T, S> (image, out, y + r, make_uint4 (words[0], words[1], words[2 % W], words[3 % W]));
  }
}

/*
 * Starts the column sums with `count` rows from row `first` on. They are made of strips, as far as there are any, and
 * of single rows. first is the first row of the window of the block's first outputs.
 */
template <typename T, int S, int C>
static __device__ __forceinline__ void
start_columns (const ConvolveImage &image, const Box &box, Shared<T, S> &shared, const Share<T, S> &own, int first,
    int count, uint32_t (&columns)[C])
{
  const int strips = box.strips ? count / box.rows : 0;

#pragma unroll 2
  for (int k = 0; k < strips; k++) {
    const uint2 *from = find_strip<T, S> (box, blockIdx.y + k);

#pragma unroll
    for (int i = 0; i < C; i += 2, from += THREADS) {
      columns[i] += __ldg (&from->x);
      columns[i + 1] += __ldg (&from->y);
    }
  }
  add_rows (image, box, shared, own, first + strips * box.rows, count - strips * box.rows, columns);
}

/*
 * Moves the column sums down by R rows. words has the R rows that enter the window and the R rows that leave it.
 * rows[r] are the column sums for output row r, edges[r] the sums of its window's first and last row. Writes the
 * threads' totals.
 */
template <typename T, int S, bool EDGES, int R, int C, int W>
static __device__ __forceinline__ void
sum_chunks (const Box &box, Shared<T, S> &shared, const uint32_t (&words)[2 * R][W], uint32_t (&columns)[C],
    uint32_t (&rows)[R][C], uint32_t (&edges)[R][C])
{
#pragma unroll
  for (int r = 0; r < R; r++) {
    uint32_t sums[S] = {};

#pragma unroll
    for (int i = 0; i < C; i++) {
      const uint32_t enters = unpack<T> (words[r], i), leaves = unpack<T> (words[R + r], i);

      rows[r][i] = columns[i] + enters;
      edges[r][i] = enters + leaves;
      columns[i] += enters - leaves;
    }
#pragma unroll
    for (int n = 0; n < Chunk<T, S>::N; n++)
      if (sizeof (T) > 1 || S > 1 || EDGES)
        sums[n % S] = add_column<T, EDGES> (box, rows[r], edges[r], n, sums[n % S]);
      else if (n % 2 == 0) /* both halves of a word in one dp2a, with the weights 1 and 1 */
        sums[0] = __dp2a_lo (rows[r][n / 2], 0x0101u, sums[0]);
#pragma unroll
    for (int s = 0; s < S; s++)
      shared.totals[r * S + s][threadIdx.x] = sums[s];
  }
}

/* Writes the prefix sums of R rows at all columns of this thread. totals are those of the threads before. */
template <typename T, int S, bool EDGES, int R, int C>
static __device__ __forceinline__ void
write_prefix_sums (const Box &box, Shared<T, S> &shared, const uint32_t (&rows)[R][C], const uint32_t (&edges)[R][C])
{
#pragma unroll
  for (int r = 0; r < R; r++) {
    uint32_t sums[S];

#pragma unroll
    for (int s = 0; s < S; s++)
      sums[s] = shared.totals[r * S + s][threadIdx.x];
#pragma unroll
    for (int n = 0; n < Chunk<T, S>::N; n++)
      shared.sums[r][n * THREADS + threadIdx.x] = sums[n % S] =
          add_column<T, EDGES> (box, rows[r], edges[r], n, sums[n % S]);
  }
}

/* The kernel whose idea stands at the top of this file. A block has box.chunks chunks of outputs in box.rows rows. */
template <typename T, int S, bool EDGES>
__global__ void __launch_bounds__ (THREADS, 2)
    convolve_box (const __grid_constant__ ConvolveImage image, const __grid_constant__ Box box)
{
  typedef Chunk<T, S> Chunk;
  constexpr int R = Chunk::rows, W = Chunk::words, C = Chunk::sums;
  extern __shared__ __align__ (16) unsigned char memory[];
  Shared<T, S> &shared = *(Shared<T, S> *) memory;
  const int t = threadIdx.x, all_but_last = image.mask_height - 1, radius = all_but_last / 2; /* rows of the mask */
  const int top = image.y0 + blockIdx.y * box.rows, bottom = min (top + box.rows, image.y1);
  uint32_t columns[C] = {}, words[2 * R][W] = {};
  unsigned absent = 0;

  convolve_wait ();
  const Share<T, S> own = find_share (image, box, shared);

  start_columns (image, box, shared, own, top - radius, all_but_last, columns);
  /* The first iteration only loads. Each iteration loads the rows of the next one while it sums its own. */
#pragma unroll 1
  for (int y = top - R; y < bottom; y += R) {
    uint32_t rows[R][C], edges[R][C];

    if (y >= top) {
      complete (image, box, shared, own.slot, absent, words);
      sum_chunks<T, S, EDGES> (box, shared, words, columns, rows, edges);
    } else
      __syncthreads ();
    if (t < 32)
      find_rows (image, box, shared, y + R + radius, R, y + R - radius);
    __syncthreads ();
#pragma unroll
    for (int r = 0; r < 2 * R && own.loads; r++)
      convolve_load_words<W> (own.from + shared.lines[r], words[r]);
    gather<T, S, 2 * R> (image, box, shared, own.gathered, own.places);
    absent = shared.absent;
    if (y >= top)
      for (int line = t / 32; line < R * S; line += blockDim.x / 32)
        scan (shared.totals[line]);
    __syncthreads ();
    if (y < top)
      continue;
    write_prefix_sums<T, S, EDGES> (box, shared, rows, edges);
    __syncthreads ();

    if (t < own.outputs) {
      const int out = (own.chunk + t) * Chunk::N;

      if (sizeof (T) == 1 && box.tail_kind == CONVOLVE_BOX_INTEGERS)
        write_rows<T, S, EDGES, CONVOLVE_BOX_INTEGERS> (image, box, shared, out, y, bottom);
      else if (box.tail_kind == CONVOLVE_BOX_FLOATS)
        write_rows<T, S, EDGES, CONVOLVE_BOX_FLOATS> (image, box, shared, out, y, bottom);
      else if (box.tail_kind == CONVOLVE_BOX_PRODUCTS)
        write_rows<T, S, EDGES, CONVOLVE_BOX_PRODUCTS> (image, box, shared, out, y, bottom);
      else
        write_rows<T, S, EDGES, CONVOLVE_BOX_DOUBLES> (image, box, shared, out, y, bottom);
    }
  }
}

/* convolve_box_strips () and convolve_box () for one kind of pixels. */
struct Kernels
{
  const void *strips, *sums;
};

/* plan->loaded: the kernels of both layouts. */
struct Loaded
{
  Kernels aligned, gathered;
};

/* Pixels of 3 and 4 samples have no kernel for other weights at the edges: see convolve_box_choose (). */
template <typename T, int S>
static Kernels
kernels_of (bool edges_differ)
{
  constexpr bool has_edges = S < 3;

  return { (const void *) convolve_box_strips<T, S>,
    edges_differ ? (const void *) convolve_box<T, S, has_edges> : (const void *) convolve_box<T, S, false> };
}

ConvolveStatus
convolve_box_load (ConvolvePlan *plan, ConvolveError *error)
{
  typedef Kernels (*KernelsOf) (bool edges_differ);
  static const KernelsOf all[CONVOLVE_N_SAMPLE_TYPES][CONVOLVE_MAX_SAMPLES] = {
    { kernels_of<uint8_t, 1>, kernels_of<uint8_t, 2>, kernels_of<uint8_t, 3>, kernels_of<uint8_t, 4> },
    { kernels_of<uint16_t, 1>, kernels_of<uint16_t, 2>, NULL, kernels_of<uint16_t, 4> },
  };
  const ConvolveBox *box = (const ConvolveBox *) plan->prepared;
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  loaded->gathered = all[plan->pixel.type][0](box->edges_differ);
  loaded->aligned =
      box->can_align ? all[plan->pixel.type][plan->pixel.samples - 1](box->edges_differ) : loaded->gathered;
  const void *kernels[] = { loaded->gathered.strips, loaded->gathered.sums, loaded->aligned.strips,
    loaded->aligned.sums };

  for (const void *kernel : kernels) {
    ConvolveStatus status = convolve_allow_shared (plan->device, kernel, SIZE_MAX, error);

    if (status != CONVOLVE_OK)
      return status;
  }
  return CONVOLVE_OK;
}

/* Divides the region into as few blocks side by side as possible, all of one width. Returns their number. */
static int
cut_columns (const ConvolvePlan *plan, const ConvolveRect *region, const ConvolveBoxLayout *layout, Box *box)
{
  const int n = layout->samples, samples = box->aligned ? plan->pixel.samples : 1;

  box->first = region->x * samples / n;
  box->count = ((region->x + region->width) * samples + n - 1) / n - box->first;
  const int columns = (box->count + layout->most - box->halo - 1) / (layout->most - box->halo);

  box->chunks = (box->count + columns - 1) / columns;
  /* In an aligned plane, a block gathers the chunks of its halo outside the image, and one across the image's edge. */
  box->gather_capacity = box->aligned ? box->halo + 1 : box->chunks + box->halo;
  return columns;
}

/*
 * Divides the region into bands of rows, one for each row of blocks, and returns their number. All blocks together just
 * fill the device: more blocks would only add work, because each begins with the sums of the mask's height of rows.
 */
static int
cut_rows (const ConvolvePlan *plan, const ConvolveRect *region, int threads, int beside, Box *box)
{
  /* A multiprocessor holds 2 * THREADS threads: see the __launch_bounds__ of convolve_box (). */
  const int held = 2 * THREADS / threads * convolve_device_multiprocessors (plan->device);
  int bands = held / beside;

  bands = bands < 1 ? 1 : bands > region->height ? region->height : bands;
  box->rows = (region->height + bands - 1) / bands;
  return (region->height + box->rows - 1) / box->rows;
}

/*
 * Whether convolve_box_strips () is to be launched. For masks up to these heights, which were measured, the launch
 * costs more than it saves.
 */
static bool
has_strips (const ConvolvePlan *plan, const Box *box)
{
  return plan->taps.height > (plan->pixel.type == CONVOLVE_SAMPLE_U8 ? 80 : 48) && plan->taps.height > box->rows;
}

ConvolveStatus
convolve_box_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveBox *prepared = (const ConvolveBox *) plan->prepared;
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const bool aligned =
      prepared->can_align && ((uintptr_t) plane->source | (uintptr_t) plane->source_stride) % prepared->alignment == 0;
  const ConvolveBoxLayout *layout = aligned ? &prepared->aligned : &prepared->gathered;
  const Kernels *kernels = aligned ? &loaded->aligned : &loaded->gathered;
  ConvolveStatus status = CONVOLVE_OK;
  ConvolveGrid grid = {};
  Box box = layout->task;

  box.aligned_stores = aligned && (!box.copies || plan->pixel.samples > 1)
      && ((uintptr_t) plane->destination | (uintptr_t) plane->destination_stride) % prepared->alignment == 0;
  const int columns = cut_columns (plan, &plane->region, layout, &box);

  grid.block = dim3 ((box.chunks + box.halo + 31) / 32 * 32);
  grid.shared = layout->shared + box.gather_capacity * layout->shared_by_chunk;
  grid.waits = true;
  const int bands = cut_rows (plan, &plane->region, grid.block.x, layout->layers * columns, &box);

  if (has_strips (plan, &box)) {
    void *memory;

    box.n_strips = bands + (plan->taps.height - 1) / box.rows - 1;
    status = convolve_device_scratch (plan->device,
        (size_t) layout->layers * columns * box.n_strips * layout->sums * THREADS * sizeof (uint32_t), &memory, error);
    box.strips = (uint32_t *) memory;
    grid.blocks = dim3 (columns, box.n_strips, layout->layers);
    if (status == CONVOLVE_OK)
      status = convolve_launch (plan, plane, kernels->strips, grid, &box, error);
  }
  grid.blocks = dim3 (columns, bands, layout->layers);
  return status == CONVOLVE_OK ? convolve_launch (plan, plane, kernels->sums, grid, &box, error) : status;
}
