/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first half of box: rows of chunks in registers, and column sums over a number of rows. A thread has one chunk of
 * every row. A chunk inside an aligned image is loaded as it is; all other chunks are gathered sample by sample.
 */
#ifndef CONVOLVE_CUDA_BOX_COLUMNS_CUH
#define CONVOLVE_CUDA_BOX_COLUMNS_CUH

#include "cuda/sums/box.h"
#include "cuda/device/words.cuh"

#define THREADS CONVOLVE_BOX_THREADS

typedef ConvolveBoxTask Box;

/* The sizes of cuda/sums/box.h as constants; N is the number of samples of a chunk. */
template <typename T, int S>
struct Chunk
{
  static constexpr int bytes = CONVOLVE_BOX_BYTES (sizeof (T), S), N = CONVOLVE_BOX_SAMPLES ((int) sizeof (T), S);
  static constexpr int words = bytes / 4, rows = CONVOLVE_BOX_ROWS (sizeof (T), S);
  static constexpr int loaded = CONVOLVE_BOX_LOADED (sizeof (T), S), sums = CONVOLVE_BOX_SUMS (sizeof (T), S);
  static_assert (N % S == 0, "a sample of a pixel is at the same place in all chunks");
  static_assert (loaded >= 2 * rows, "the gathered rows have room for the rows that enter and those that leave");
};

/* The shared memory of a block. After the chunks follow the places of their samples, see find_places (). */
template <typename T, int S>
struct Shared
{
  /* For each sample of a pixel, the sum of all columns of a thread; then the sum of all threads before this one. */
  uint32_t totals[Chunk<T, S>::rows * S][THREADS];
  /* Prefix sums along the row, at [sample of the chunk * THREADS + thread]. */
  uint32_t sums[Chunk<T, S>::rows][Chunk<T, S>::N * THREADS];
  int64_t lines[32];                                  /* offsets of the rows that are loaded next, in bytes */
  unsigned absent;                                    /* bit k: row k of these is outside, and has the zero level */
  alignas (16) uint32_t chunks[][Chunk<T, S>::words]; /* [row][gathered chunk] */
};

/* The macro CONVOLVE_BOX_SHARED is for host code in C. */
template <typename T, int S>
constexpr bool shared_is_counted = sizeof (Shared<T, S>) == CONVOLVE_BOX_SHARED (sizeof (T), S);
static_assert (shared_is_counted<uint8_t, 1> &&shared_is_counted<uint8_t, 2> &&shared_is_counted<uint8_t, 3>
                   &&shared_is_counted<uint8_t, 4> &&shared_is_counted<uint16_t, 1> &&shared_is_counted<uint16_t, 2>
                       &&shared_is_counted<uint16_t, 4>,
    "CONVOLVE_BOX_SHARED is the size of Shared without chunks");

/*
 * Finds the offsets of the next 32 rows to load: `count` rows from row `first` on, and then rows from `second` on. One
 * warp calls this.
 */
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
 * Finds the place in a row of each sample of the gathered chunks, in bytes, or -1 for the zero level. Gathered are all
 * chunks of a block but those from `begin` to `end`, which lie inside the image and are aligned. The gathered chunks
 * are numbered from the left. first is the block's first chunk, count the number of its chunks.
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

/* Gathers R rows of these chunks into shared.chunks. A thread takes one place of a row in all R rows. */
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
    for (int r = 0; r < R; r++, to += box.gather_capacity * N)
      *to = place < 0 ? values[r] : (T) convolve_swap (image, values[r]);
  }
}

/*
 * Completes R rows of a thread's chunk, of which words has what was loaded from the image: takes a gathered chunk from
 * shared memory, puts the zero level into absent rows, and clears the unused bits of 16-bit samples.
 */
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
        words[r][i] = shared.chunks[r * box.gather_capacity + slot][i];
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

/*
 * What one row adds to word i of a thread's column sums: two 8-bit samples as halves of a word, or one 16-bit sample.
 * The half of a word holds a column sum, because 255 rows of 255 are 65025.
 */
template <typename T>
static __device__ __forceinline__ uint32_t
unpack (const uint32_t *words, int i)
{
  if (sizeof (T) == 1)
    return __byte_perm (words[i / 2], 0, i % 2 ? 0x4342 : 0x4140);
  return i % 2 ? words[i / 2] >> 16 : words[i / 2] & 0xffff;
}

/* The share of a thread in the input of its block. */
template <typename T, int S>
struct Share
{
  int outputs;         /* chunks of outputs of the block */
  int chunk;           /* the first of them */
  int gathered;        /* gathered chunks of the block */
  int slot;            /* the number of this thread's chunk among the gathered ones, or -1 */
  bool loads;          /* this thread's chunk is loaded as it is */
  const uint8_t *from; /* that chunk in the image's first row */
  int *places;         /* see find_places () */
};

/* Finds the share of this thread, and the places of the samples that its block gathers. */
template <typename T, int S>
static __device__ __forceinline__ Share<T, S>
find_share (const ConvolveImage &image, const Box &box, Shared<T, S> &shared)
{
  const int t = threadIdx.x, before = blockIdx.x * box.chunks, first = box.first + before - box.lead;
  const int outputs = min (box.chunks, box.count - before), count = outputs > 0 ? outputs + box.halo : 0;
  /* The chunks from begin to end lie inside the image, and are loaded as they are. */
  const int begin = box.aligned ? min (max (-first, 0), count) : count;
  const int end = min (max (image.width * S / Chunk<T, S>::N - first, begin), count);
  Share<T, S> own;

  own.outputs = outputs;
  own.chunk = first + box.lead;
  own.gathered = count - end + begin;
  own.slot = t < begin ? t : t >= end && t < count ? t - end + begin : -1;
  own.loads = t >= begin && t < end;
  own.from = image.source + (int64_t) (first + t) * Chunk<T, S>::bytes;
  own.places = (int *) shared.chunks[Chunk<T, S>::loaded * box.gather_capacity];
  find_places<T, S> (image, box, first, begin, end, count, own.places);
  return own;
}

/* Adds the rows row .. row + count - 1 to the thread's column sums. */
template <typename T, int S, int C>
static __device__ __forceinline__ void
add_rows (const ConvolveImage &image, const Box &box, Shared<T, S> &shared, const Share<T, S> &own, int row, int count,
    uint32_t (&columns)[C])
{
  constexpr int W = Chunk<T, S>::words, M = Chunk<T, S>::loaded;

#pragma unroll 1
  for (int j = 0; j < count; j += M) {
    uint32_t words[M][W] = {};

    __syncthreads (); /* all threads have read the rows before */
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

/*
 * The memory of this thread's sums in a strip: [layer][block][strip][word / 2][thread], so that a warp reads and writes
 * its sums side by side.
 */
template <typename T, int S>
static __device__ __forceinline__ uint2 *
find_strip (const Box &box, int strip)
{
  const int64_t block = ((int64_t) blockIdx.z * gridDim.x + blockIdx.x) * box.n_strips + strip;

  return (uint2 *) box.strips + block * (Chunk<T, S>::sums / 2) * THREADS + threadIdx.x;
}

/*
 * The idea: a block of convolve_box () begins with column sums over almost the mask's height, and the blocks below it
 * begin with almost the same rows. This kernel sums strips of rows once; a block then adds strips, and less than one
 * strip's rows. A strip is as high as the outputs of a block. The first strip begins with the first row that any
 * output needs.
 */
template <typename T, int S>
__global__ void __launch_bounds__ (THREADS, 2)
    convolve_box_strips (const __grid_constant__ ConvolveImage image, const __grid_constant__ Box box)
{
  extern __shared__ __align__ (16) unsigned char memory[];
  Shared<T, S> &shared = *(Shared<T, S> *) memory;
  uint32_t columns[Chunk<T, S>::sums] = {};

  convolve_wait ();
  const Share<T, S> own = find_share (image, box, shared);
  const int row = image.y0 - image.mask_height / 2 + (int) blockIdx.y * box.rows;
  uint2 *to = find_strip<T, S> (box, blockIdx.y);

  add_rows (image, box, shared, own, row, box.rows, columns);
#pragma unroll
  for (int i = 0; i < Chunk<T, S>::sums; i += 2, to += THREADS)
    *to = make_uint2 (columns[i], columns[i + 1]);
}

#endif
