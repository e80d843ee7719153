/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How box's blocks come by the sums of their columns: each thread has a chunk of every row, loaded as it lies in the
 * image or gathered sample by sample, and sums that over as many rows as it is asked to.
 */
#ifndef CONVOLVE_CUDA_BOX_COLUMNS_CUH
#define CONVOLVE_CUDA_BOX_COLUMNS_CUH

#include "cuda/border.cuh"
#include "cuda/box.h"

#define THREADS CONVOLVE_BOX_THREADS

typedef ConvolveBoxTask Box;

/* What a thread has of each row: see cuda/box.h. N samples side by side, rows of outputs made together. */
template <typename T, int S>
struct Chunk
{
  static constexpr int bytes = CONVOLVE_BOX_BYTES (sizeof (T), S), N = CONVOLVE_BOX_SAMPLES ((int) sizeof (T), S);
  static constexpr int words = bytes / 4, rows = CONVOLVE_BOX_ROWS (sizeof (T), S);
  static constexpr int loaded = CONVOLVE_BOX_LOADED (sizeof (T), S), sums = CONVOLVE_BOX_SUMS (sizeof (T), S);
  static_assert (N % S == 0 && loaded >= 2 * rows, "rows of one sample in one place; rows that come and that go");
};

template <typename T, int S>
struct Shared
{
  uint32_t totals[Chunk<T, S>::rows * S][THREADS];            /* of a thread's row, for each sample */
  uint32_t sums[Chunk<T, S>::rows][Chunk<T, S>::N * THREADS]; /* of all columns up to this one */
  int64_t lines[32];                                          /* where the rows begin that are to be loaded */
  unsigned absent;                                    /* a bit for each of those that the zero level stands for */
  alignas (16) uint32_t chunks[][Chunk<T, S>::words]; /* [row][gathered chunk] */
};

/* box.c counts with the macro, for the limit and for each launch. */
template <typename T, int S>
constexpr bool shared_is_counted = sizeof (Shared<T, S>) == CONVOLVE_BOX_SHARED (sizeof (T), S);
static_assert (shared_is_counted<uint8_t, 1> &&shared_is_counted<uint8_t, 2> &&shared_is_counted<uint8_t, 3>
                   &&shared_is_counted<uint8_t, 4> &&shared_is_counted<uint16_t, 1> &&shared_is_counted<uint16_t, 2>
                       &&shared_is_counted<uint16_t, 4>,
    "CONVOLVE_BOX_SHARED");

/* The rows to be loaded: count from first on, and the rest from second on. For one warp. */
template <typename T, int S>
static __device__ __forceinline__ void
find_rows (const ConvolveImage &image, const Box &box, Shared<T, S> &shared, int first, int count, int second)
{
  const int k = threadIdx.x, row = k < count ? first + k : second + k - count;
  const int y = (unsigned) row < (unsigned) image.height ? row : convolve_find_index (box.boundary, row, image.height);
  const unsigned absent = __ballot_sync (~0u, y < 0);

  shared.lines[k] = max (y, 0) * image.source_stride;
  if (k == 0)
    shared.absent = absent;
}

/*
 * Chunks that do not lie in the image as they are wanted are gathered: those across its edges and beyond them, and all
 * of a plane that is not aligned. They are numbered from the left, without those from number begin to end that are
 * loaded as they lie. Finds where each of their samples is in every row; -1 where the zero level stands for it.
 */
template <typename T, int S>
static __device__ __forceinline__ void
find_places (const ConvolveImage &image, const Box &box, int first, int begin, int end, int count, int *places)
{
  constexpr int N = Chunk<T, S>::N;

#pragma unroll 1
  for (int i = threadIdx.x; i < (count - end + begin) * N; i += blockDim.x) {
    const int slot = i / N, n = i % N, chunk = first + (slot < begin ? slot : slot - begin + end);
    const int x = convolve_find_index (box.boundary, chunk * (N / S) + n / S, image.width);

    places[i] = x < 0 ? -1 : x * image.pixel_stride + (n % S + (int) blockIdx.z) * (int) sizeof (T);
  }
}

/* Brings R rows of them together, a column of samples to a thread. */
template <typename T, int S, int R>
static __device__ __forceinline__ void
gather (const ConvolveImage &image, const Box &box, Shared<T, S> &shared, int gathered, const int *places)
{
  constexpr int N = Chunk<T, S>::N;

#pragma unroll 1
  for (int i = threadIdx.x; i < gathered * N; i += blockDim.x) {
    const int place = places[i];
    const uint8_t *from = image.source + (unsigned) max (place, 0);
    T *to = (T *) shared.chunks + i;
    T values[R];

#pragma unroll
    for (int r = 0; r < R; r++)
      values[r] = *(const T *) (from + shared.lines[r]);
    if (place < 0)
#pragma unroll
      for (int r = 0; r < R; r++)
        values[r] = (T) ((int) image.zero[i % S + blockIdx.z] << image.shift);
#pragma unroll
    for (int r = 0; r < R; r++, to += box.gathered * N)
      *to = place < 0 ? values[r] : (T) convolve_swap (image, values[r]);
  }
}

/* R rows of a thread's chunk, of which it has loaded what is not gathered; as they count. */
template <typename T, int S, int R, int W>
static __device__ __forceinline__ void
complete (const ConvolveImage &image, const Box &box, const Shared<T, S> &shared, int slot, unsigned absent,
    uint32_t (&words)[R][W])
{
  constexpr int per_word = 4 / sizeof (T);

  if (slot >= 0)
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int i = 0; i < W; i++)
        words[r][i] = shared.chunks[r * box.gathered + slot][i];
  if (absent)
#pragma unroll
    for (int i = 0; i < W; i++) {
      uint32_t level = 0;

#pragma unroll
      for (int k = 0; k < per_word; k++)
        level |= (unsigned) (int) image.zero[(i * per_word + k) % S + blockIdx.z] << image.shift + k * 8 * sizeof (T);
#pragma unroll
      for (int r = 0; r < R; r++)
        words[r][i] = absent >> r & 1 ? level : words[r][i];
    }
  if (sizeof (T) > 1)
#pragma unroll
    for (int i = 0; i < R * W; i++)
      words[0][i] = convolve_clean (image, words[0][i]);
}

/* Two samples of a word of bytes, as halves of a word; one of deep samples. */
template <typename T>
static __device__ __forceinline__ uint32_t
unpack (const uint32_t *words, int i)
{
  if (sizeof (T) == 1)
    return __byte_perm (words[i / 2], 0, i % 2 ? 0x4342 : 0x4140);
  return i % 2 ? words[i / 2] >> 16 : words[i / 2] & 0xffff;
}

/* A thread's part of a block's inputs. */
template <typename T, int S>
struct Own
{
  int outputs;         /* chunks that the block has */
  int chunk;           /* of the block's first output */
  int gathered, slot;  /* chunks of the block; this thread's among them, or -1 */
  bool loads;          /* it has one that is loaded as it lies */
  const uint8_t *from; /* that one, in the image's first row */
  int *places;         /* see find_places () */
};

template <typename T, int S>
static __device__ __forceinline__ Own<T, S>
find_own (const ConvolveImage &image, const Box &box, Shared<T, S> &shared)
{
  const int t = threadIdx.x, before = blockIdx.x * box.chunks, first = box.first + before - box.lead;
  const int outputs = min (box.chunks, box.count - before), count = outputs > 0 ? outputs + box.halo : 0;
  /* Chunks from begin to end are loaded as they lie. */
  const int begin = box.aligned ? min (max (-first, 0), count) : count;
  const int end = min (max (image.width * S / Chunk<T, S>::N - first, begin), count);
  Own<T, S> own;

  own.outputs = outputs;
  own.chunk = first + box.lead;
  own.gathered = count - end + begin;
  own.slot = t < begin ? t : t >= end && t < count ? t - end + begin : -1;
  own.loads = t >= begin && t < end;
  own.from = image.source + (int64_t) (first + t) * Chunk<T, S>::bytes;
  own.places = (int *) shared.chunks[Chunk<T, S>::loaded * box.gathered];
  find_places<T, S> (image, box, first, begin, end, count, own.places);
  return own;
}

/* Adds count rows from this one on to the sums of a thread's columns. */
template <typename T, int S, int C>
static __device__ __forceinline__ void
add_rows (const ConvolveImage &image, const Box &box, Shared<T, S> &shared, const Own<T, S> &own, int row, int count,
    uint32_t (&columns)[C])
{
  constexpr int W = Chunk<T, S>::words, M = Chunk<T, S>::loaded;

#pragma unroll 1
  for (int j = 0; j < count; j += M) {
    uint32_t words[M][W] = {};

    __syncthreads (); /* nobody needs the rows before */
    if (threadIdx.x < 32)
      find_rows (image, box, shared, row + j, 32, 0);
    __syncthreads ();
#pragma unroll
    for (int r = 0; r < M && own.loads; r++)
      convolve_load_words<W> (own.from + shared.lines[r], words[r]);
    gather<T, S, M> (image, box, shared, own.gathered, own.places);
    __syncthreads ();
    complete (image, box, shared, own.slot, shared.absent, words);
    if (j + M > count)
#pragma unroll
      for (int i = 0; i < M * W; i++)
        words[0][i] = j + i / W < count ? words[0][i] : 0;
#pragma unroll
    for (int r = 0; r < M; r += 2)
#pragma unroll
      for (int i = 0; i < C; i++)
        columns[i] += unpack<T> (words[r], i) + unpack<T> (words[r + 1], i);
  }
}

/* Where strips have this thread's sums, two words of them side by side: pairs of one strip follow after the threads. */
template <typename T, int S>
static __device__ __forceinline__ uint2 *
find_strip (const Box &box, int strip)
{
  const int64_t block = ((int64_t) blockIdx.z * gridDim.x + blockIdx.x) * box.n_strips + strip;

  return (uint2 *) box.strips + block * (Chunk<T, S>::sums / 2) * THREADS + threadIdx.x;
}

/*
 * The sums of columns over strips of rows, from the mask's height above the first output on. A strip is as high as a
 * block of convolve_box () has outputs: what that begins with is some strips and less than the height of one.
 */
template <typename T, int S>
__global__ void __launch_bounds__ (THREADS, 2)
    convolve_box_strips (const __grid_constant__ ConvolveImage image, const __grid_constant__ Box box)
{
  extern __shared__ __align__ (16) unsigned char memory[];
  Shared<T, S> &shared = *(Shared<T, S> *) memory;
  uint32_t columns[Chunk<T, S>::sums] = {};

  convolve_wait ();
  const Own<T, S> own = find_own (image, box, shared);
  const int row = image.y0 - image.mask_height / 2 + (int) blockIdx.y * box.rows;
  uint2 *to = find_strip<T, S> (box, blockIdx.y);

  add_rows (image, box, shared, own, row, box.rows, columns);
#pragma unroll
  for (int i = 0; i < Chunk<T, S>::sums; i += 2, to += THREADS)
    *to = make_uint2 (columns[i], columns[i + 1]);
}

#endif
