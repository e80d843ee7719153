/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/box_columns.cuh"

/* What goes up to column n, with its own: sums of bytes are halves of a word. ends are of its first and last rows. */
template <typename T, bool SOFT>
static __device__ __forceinline__ uint32_t
add_column (const Box &box, const uint32_t *columns, const uint32_t *ends, int n, uint32_t sum)
{
  const int less = box.column.end - box.column.inner, half = n % 2 * 8;

  if (sizeof (T) > 1)
    return SOFT ? columns[n] * box.column.inner + ends[n] * less + sum : columns[n] + sum;
  sum = __dp2a_lo (columns[n / 2], (unsigned) (SOFT ? box.column.inner : 1) << half, sum);
  return SOFT ? (uint32_t) __dp2a_lo ((int) ends[n / 2], (less & 0xff) << half, (int) sum) : sum;
}

/* 256 totals become the sums of all before each. Those of threads that are not there have no effect on others. */
static __device__ __forceinline__ void
scan (uint32_t *totals)
{
  uint4 *own = (uint4 *) totals + 2 * threadIdx.x % 64;
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
  all -= sum;
  own[0] = make_uint4 (part[0] + all, part[1] + all, part[2] + all, part[3] + all);
  own[1] = make_uint4 (part[4] + all, part[5] + all, part[6] + all, part[7] + all);
}

static __device__ __noinline__ int
finish_wide (const ConvolveTail *tail, int sample, uint32_t sum)
{
  return (int) convolve_tail_double (tail, sample, sum);
}

/* Sums become the samples of one word, the first of which is sample number first of its chunk. */
template <typename T, int S, ConvolveBoxEnd END>
static __device__ __forceinline__ uint32_t
finish (const ConvolveImage &image, const Box &box, int first, const uint32_t *sums)
{
  const ConvolveIntegerTail &tail = box.integer_tail;
  float floats[4];
  int values[4];

#pragma unroll
  for (int k = 0; k < 4 / (int) sizeof (T); k++) {
    const int sample = (first + k) % S + blockIdx.z;

    if (END == CONVOLVE_BOX_INTEGERS)
      floats[k] = __fmaf_rd (__uint_as_float (sums[k] + tail.start[sample]), tail.scale, tail.offset[sample]);
    else if (END == CONVOLVE_BOX_FLOATS)
      values[k] = convolve_floor<T> (box.tail, sample, sums[k]);
    else
      values[k] = finish_wide (&box.tail, sample, sums[k]);
  }
  if (END == CONVOLVE_BOX_INTEGERS)
    return convolve_pack_integers<false> (floats);
  if (sizeof (T) == 1)
    return convolve_clamp_bytes (values[1], values[0], convolve_clamp_bytes (values[3], values[2], 0));
  return (unsigned) values[0] << image.shift | (unsigned) values[1] << image.shift << 16;
}

/* A chunk that is not stored as it is: sample by sample, and those that are not convolved are copied. */
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

/* The thread's outputs in one row: all of it as often as its ends weigh, and what is between these the rest. */
template <typename T, int S, bool SOFT, ConvolveBoxEnd END, int W>
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
      if (SOFT)
        own[k] = own[k] * box.row.end
            + (box.row.inner - box.row.end)
                * (sums[box.after[n] + threadIdx.x] - sums[box.before[n + S] + threadIdx.x]);
    }
    words[i] = finish<T, S, END> (image, box, i * per_word, own);
  }
}

template <typename T, int S, int W>
static __device__ __forceinline__ void
store_whole (const ConvolveImage &image, const Box &box, int y, int64_t at, uint32_t (&words)[W])
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

/* The thread's outputs in the rows from y on. All rows of a whole chunk come without a branch between them. */
template <typename T, int S, bool SOFT, ConvolveBoxEnd END>
static __device__ __forceinline__ void
write_rows (const ConvolveImage &image, const Box &box, const Shared<T, S> &shared, int out, int y, int bottom)
{
  constexpr int R = Chunk<T, S>::rows, W = Chunk<T, S>::words;
  const bool whole = box.aligned_stores && out >= image.x0 * S && out + Chunk<T, S>::N <= image.x1 * S;
  const int64_t at = (int64_t) out * (int) sizeof (T);

  if (END != CONVOLVE_BOX_DOUBLES && whole && y + R <= bottom) {
#pragma unroll
    for (int r = 0; r < R; r++) {
      uint32_t words[W];

      make_outputs<T, S, SOFT, END> (image, box, shared.sums[r], words);
      store_whole<T, S> (image, box, y + r, at, words);
    }
    return;
  }
#pragma unroll 1
  for (int r = 0; y + r < bottom && r < R; r++) {
    uint32_t words[W];

    make_outputs<T, S, SOFT, END> (image, box, shared.sums[r], words);
    if (whole)
      store_whole<T, S> (image, box, y + r, at, words);
    else
      store_samples<T, S> (image, out, y + r, make_uint4 (words[0], words[1], words[2 % W], words[3 % W]));
  }
}

/*
 * The idea: where all weights are equal, an output is a difference of sums that its neighbours share. A thread walks
 * down a few columns and keeps the sum of each over the mask's height: a row below comes in, one above goes out. These
 * are summed along the row over all of the block; an output is the sum up to its right end less that before its left
 * one. Sums are whole numbers of 32 bits, of which differences are right even where the sums overflow. SOFT: the mask's
 * edges have other weights.
 */
template <typename T, int S, bool SOFT>
__global__ void __launch_bounds__ (THREADS, 2)
    convolve_box (const __grid_constant__ ConvolveImage image, const __grid_constant__ Box box)
{
  typedef Chunk<T, S> Chunk;
  constexpr int N = Chunk::N, R = Chunk::rows, W = Chunk::words, C = Chunk::sums;
  extern __shared__ __align__ (16) unsigned char memory[];
  Shared<T, S> &shared = *(Shared<T, S> *) memory;
  const int t = threadIdx.x, kept = image.mask_height - 1, reach = kept / 2;
  const int top = image.y0 + blockIdx.y * box.rows, bottom = min (top + box.rows, image.y1);
  uint32_t columns[C] = {}, words[2 * R][W] = {};
  unsigned absent = 0;

  convolve_wait ();
  const Own<T, S> own = find_own (image, box, shared);

  /* The sums of the first row, without the last of what it needs. */
  const int strips = box.strips ? kept / box.rows : 0;
#pragma unroll 2
  for (int k = 0; k < strips; k++) {
    const uint2 *from = find_strip<T, S> (box, blockIdx.y + k);

#pragma unroll
    for (int i = 0; i < C; i += 2, from += THREADS) {
      columns[i] += __ldg (&from->x);
      columns[i + 1] += __ldg (&from->y);
    }
  }
  add_rows (image, box, shared, own, top - reach + strips * box.rows, kept - strips * box.rows, columns);

  /* What comes and goes in the next rows is loaded while these are summed. */
#pragma unroll 1
  for (int y = top - R; y < bottom; y += R) {
    uint32_t rows[R][C], ends[R][C];

    if (y >= top) {
      complete (image, box, shared, own.slot, absent, words);
#pragma unroll
      for (int r = 0; r < R; r++) {
        uint32_t sums[S] = {};

#pragma unroll
        for (int i = 0; i < C; i++) {
          const uint32_t comes = unpack<T> (words[r], i), goes = unpack<T> (words[R + r], i);

          rows[r][i] = columns[i] + comes;
          ends[r][i] = comes + goes;
          columns[i] += comes - goes;
        }
#pragma unroll
        for (int n = 0; n < N; n++)
          if (sizeof (T) > 1 || S > 1 || SOFT)
            sums[n % S] = add_column<T, SOFT> (box, rows[r], ends[r], n, sums[n % S]);
          else if (n % 2 == 0)
            sums[0] = __dp2a_lo (rows[r][n / 2], 0x0101u, sums[0]);
#pragma unroll
        for (int s = 0; s < S; s++)
          shared.totals[r * S + s][t] = sums[s];
      }
    } else
      __syncthreads ();
    if (t < 32)
      find_rows (image, box, shared, y + R + reach, R, y + R - reach);
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
#pragma unroll
    for (int r = 0; r < R; r++) {
      uint32_t sums[S];

#pragma unroll
      for (int s = 0; s < S; s++)
        sums[s] = shared.totals[r * S + s][t];
#pragma unroll
      for (int n = 0; n < N; n++)
        shared.sums[r][n * THREADS + t] = sums[n % S] = add_column<T, SOFT> (box, rows[r], ends[r], n, sums[n % S]);
    }
    __syncthreads ();

    if (t < own.outputs) {
      const int out = (own.chunk + t) * N;

      if (sizeof (T) == 1 && box.end == CONVOLVE_BOX_INTEGERS)
        write_rows<T, S, SOFT, CONVOLVE_BOX_INTEGERS> (image, box, shared, out, y, bottom);
      else if (box.end == CONVOLVE_BOX_FLOATS)
        write_rows<T, S, SOFT, CONVOLVE_BOX_FLOATS> (image, box, shared, out, y, bottom);
      else
        write_rows<T, S, SOFT, CONVOLVE_BOX_DOUBLES> (image, box, shared, out, y, bottom);
    }
  }
}

struct Kernels
{
  const void *strips, *sums;
};

/* The kernels of a plan, for planes that are aligned and for others. */
struct Loaded
{
  Kernels aligned, gathered;
};

/* Pixels of 3 and 4 samples have no kernel for other edges: see convolve_box_choose (). */
template <typename T, int S>
static Kernels
kernels_of (bool soft)
{
  constexpr bool has_soft = S < 3;

  return { (const void *) convolve_box_strips<T, S>,
    soft ? (const void *) convolve_box<T, S, has_soft> : (const void *) convolve_box<T, S, false> };
}

ConvolveStatus
convolve_box_load (ConvolvePlan *plan, ConvolveError *error)
{
  typedef Kernels (*KernelsOf) (bool soft);
  static const KernelsOf all[CONVOLVE_N_SAMPLE_TYPES][CONVOLVE_MAX_SAMPLES] = {
    { kernels_of<uint8_t, 1>, kernels_of<uint8_t, 2>, kernels_of<uint8_t, 3>, kernels_of<uint8_t, 4> },
    { kernels_of<uint16_t, 1>, kernels_of<uint16_t, 2>, NULL, kernels_of<uint16_t, 4> },
  };
  const ConvolveBox *box = (const ConvolveBox *) plan->prepared;
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  loaded->gathered = all[plan->pixel.type][0](box->soft);
  loaded->aligned = box->can_align ? all[plan->pixel.type][plan->pixel.samples - 1](box->soft) : loaded->gathered;
  const void *kernels[] = { loaded->gathered.strips, loaded->gathered.sums, loaded->aligned.strips,
    loaded->aligned.sums };

  for (const void *kernel : kernels) {
    ConvolveStatus status = convolve_allow_shared (plan->device, kernel, SIZE_MAX, error);

    if (status != CONVOLVE_OK)
      return status;
  }
  return CONVOLVE_OK;
}

/* As few blocks side by side as can be, all of one width. Returns their number. */
static int
cut_columns (const ConvolvePlan *plan, const ConvolveRect *region, const ConvolveBoxWay *way, Box *box)
{
  const int n = way->samples, samples = box->aligned ? plan->pixel.samples : 1;

  box->first = region->x * samples / n;
  box->count = ((region->x + region->width) * samples + n - 1) / n - box->first;
  const int columns = (box->count + way->most - box->halo - 1) / (way->most - box->halo);

  box->chunks = (box->count + columns - 1) / columns;
  box->gathered = box->aligned ? box->halo + 1 : box->chunks + box->halo;
  return columns;
}

/* As many blocks below each other as the device has at work at once: each begins with the mask's height of rows. */
static int
cut_rows (const ConvolvePlan *plan, const ConvolveRect *region, int threads, int beside, Box *box)
{
  const int held = 2 * THREADS / threads * convolve_device_multiprocessors (plan->device);
  int bands = held / beside;

  bands = bands < 1 ? 1 : bands > region->height ? region->height : bands;
  box->rows = (region->height + bands - 1) / bands;
  return (region->height + box->rows - 1) / box->rows;
}

/* Below these heights of a mask the launch of convolve_box_strips () costs more than it saves. */
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
  const ConvolveBoxWay *way = aligned ? &prepared->aligned : &prepared->gathered;
  const Kernels *kernels = aligned ? &loaded->aligned : &loaded->gathered;
  ConvolveStatus status = CONVOLVE_OK;
  ConvolveGrid grid = {};
  Box box = way->task;

  box.aligned_stores = aligned && (!box.copies || plan->pixel.samples > 1)
      && ((uintptr_t) plane->destination | (uintptr_t) plane->destination_stride) % prepared->alignment == 0;
  const int columns = cut_columns (plan, &plane->region, way, &box);

  grid.block = dim3 ((box.chunks + box.halo + 31) / 32 * 32);
  grid.shared = way->shared + box.gathered * way->shared_by_chunk;
  grid.waits = true;
  const int bands = cut_rows (plan, &plane->region, grid.block.x, way->layers * columns, &box);

  if (has_strips (plan, &box)) {
    void *memory;

    box.n_strips = bands + (plan->taps.height - 1) / box.rows - 1;
    status = convolve_device_scratch (plan->device,
        (size_t) way->layers * columns * box.n_strips * way->sums * THREADS * sizeof (uint32_t), &memory, error);
    box.strips = (uint32_t *) memory;
    grid.blocks = dim3 (columns, box.n_strips, way->layers);
    if (status == CONVOLVE_OK)
      status = convolve_launch (plan, plane, kernels->strips, grid, &box, error);
  }
  grid.blocks = dim3 (columns, bands, way->layers);
  return status == CONVOLVE_OK ? convolve_launch (plan, plane, kernels->sums, grid, &box, error) : status;
}
