/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How tensor-separable's blocks fill their tiles: rows of samples as they lie in memory, with those outside the image
 * in their place, and the operands before them.
 */
#ifndef CONVOLVE_CUDA_TENSOR_ROWS_CUH
#define CONVOLVE_CUDA_TENSOR_ROWS_CUH

#include "cuda/border.cuh"
#include "cuda/tensor_products.h"

#define TILE_WARPS CONVOLVE_PRODUCTS_WARPS /* side by side */
#define TILE_THREADS (32 * TILE_WARPS)

/* What a launch needs to know of the mask and the plane. Lengths in a row are bytes. */
struct Products
{
  const uint4 *operands;
  int operands_count;
  int rank, units, pairs, lead;
  int left, width, height;         /* of the first block's outputs; of a block's outputs; in rows */
  int margin, pitch, chunks;       /* before a tile's first output; of its rows, and chunks of 16 in one */
  int chunk_factor, rows_together; /* 2^16 / chunks, rounded up; rows that all threads load at once */
  int tile_size;
  int samples;
  bool aligned, aligned_stores, copies, overlaps;
  ConvolveBoundary boundary;
  unsigned scale;
  int row_start[CONVOLVE_MAX_RANK], shift;
  bool integers;
  ConvolveIntegerTail integer_tail;
  float offset[4]; /* of the tail, for four samples side by side */
};

/* What lies beside it in the same 128 bytes is a neighbour's, or the next row's of this block: soon wanted too. */
static __device__ __forceinline__ void
copy_later (void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"
               :
               : "r"((unsigned) __cvta_generic_to_shared (to)), "l"(from)
               : "memory");
#endif
}

/* Where a word of samples has them from; the word begins at byte `at` of a row. */
template <typename T>
struct Word
{
  static constexpr int count = 4 / (int) sizeof (T);
  int from[count];     /* bytes of the row */
  bool outside[count]; /* the zero level stands for it, and from is any place that can be read */
  unsigned level[count];
};

template <typename T>
static __device__ __forceinline__ Word<T>
find_word (const ConvolveImage &image, const Products &mask, int64_t at)
{
  Word<T> word;

#pragma unroll
  for (int i = 0; i < word.count; i++) {
    unsigned index = (unsigned) (at / (int) sizeof (T) + i + mask.samples * 16384); /* not negative */
    int x = (int) (index / mask.samples), sample = (int) (index - x * mask.samples);

    x = convolve_find_index (mask.boundary, x - 16384, image.width);
    word.outside[i] = x < 0;
    word.from[i] = x < 0 ? 0 : x * image.pixel_stride + sample * (int) sizeof (T);
    word.level[i] = (unsigned) (int) image.zero[sample] << image.shift;
  }
  return word;
}

/* Whether a tile that begins at byte begin has its samples in bytes first .. stop; if so, it is now about that tile. */
template <typename T>
static __device__ __forceinline__ bool
find_in_tile (Word<T> &word, int64_t begin, int first, int stop, int column)
{
  bool known = true;

#pragma unroll
  for (int i = 0; i < word.count; i++)
    known = known && (word.outside[i] || (word.from[i] >= begin + first && word.from[i] < begin + stop));
#pragma unroll
  for (int i = 0; i < word.count && known; i++)
    word.from[i] = word.outside[i] ? column : word.from[i] - (int) begin;
  return known;
}

/*
 * Its samples from a row's memory; the zero level for all where that is outside. All are loaded, whatever becomes of
 * them: a choice would make each wait for the one before.
 */
template <typename T>
static __device__ __forceinline__ unsigned
read_word (const Word<T> &word, const uint8_t *row, bool outside)
{
  unsigned all = 0;

#pragma unroll
  for (int i = 0; i < word.count; i++) {
    unsigned sample = *(const T *) (row + word.from[i]);

    all |= (outside || word.outside[i] ? word.level[i] : sample) << i * 8 * sizeof (T);
  }
  return all;
}

/* A chunk of a row outside the image. */
template <typename T>
static __device__ __noinline__ uint4
zero_level (const ConvolveImage &image, const Products &mask, unsigned at)
{
  unsigned words[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    words[i] = read_word (find_word<T> (image, mask, at + 4 * i), image.source, true);
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Whole chunks, inside the image across; n of them in each row. */
template <typename T>
static __device__ __forceinline__ void
load_rows (const ConvolveImage &image, const Products &mask, int rows, int y, unsigned column, int thread, int n,
    uint8_t *tile)
{
  const int BATCH = sizeof (T) == 1 ? 1 : 4;
  int row = thread * (n == mask.chunks ? mask.chunk_factor : (65535 + n) / n) >> 16, at = (thread - row * n) * 16;
  int step = n == mask.chunks ? mask.rows_together : TILE_THREADS / n;

  if (row >= step)
    return;
  tile += at;
  column += at;
  if (sizeof (T) == 1 && y >= 0 && y + rows <= image.height) {
    const uint8_t *next = image.source + (y + row) * image.source_stride + column;
    const int64_t stride = step * image.source_stride;

    tile += row * mask.pitch;
#pragma unroll 1
    for (; row < rows; row += step, next += stride, tile += step * mask.pitch)
      copy_later (tile, next);
    return;
  }
#pragma unroll 1
  for (; row < rows; row += step * BATCH) {
    uint4 words[BATCH];

#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      int inside = convolve_boundary_index (mask.boundary, y + row + b * step, image.height);
      const uint8_t *line = image.source + inside * image.source_stride + column;

      words[b] = make_uint4 (0, 0, 0, 0);
      if (row + b * step < rows && inside >= 0) {
        if (sizeof (T) == 1)
          copy_later (tile + row * mask.pitch, line);
        else
          words[b] = __ldg ((const uint4 *) line);
      } else if (row + b * step < rows) {
        words[b] = zero_level<T> (image, mask, column);
        if (sizeof (T) == 1)
          *(uint4 *) (tile + row * mask.pitch) = words[b];
      }
    }
    if (sizeof (T) == 2)
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        if (row + b * step < rows)
          *(uint4 *) (tile + (row + b * step) * mask.pitch) =
              make_uint4 (convolve_clean (image, words[b].x), convolve_clean (image, words[b].y),
                  convolve_clean (image, words[b].z), convolve_clean (image, words[b].w));
  }
}

/*
 * Waits for the others, and then fills the chunks before number first and from number stop on, word by word: from the
 * tile where that has their samples, which spares the way to memory, otherwise from the image.
 */
template <typename T>
static __device__ __noinline__ void
fill_sides (const ConvolveImage &image, const Products &mask, int64_t begin, int first, int stop, int y, int rows,
    uint8_t *tile)
{
  const int thread = threadIdx.y * 32 + threadIdx.x, words = (first + mask.chunks - stop) * 4;
  const int across = min (words, TILE_THREADS), step = TILE_THREADS / across, start = thread / across;

#pragma unroll 1
  for (int w = thread - start * across, waited = 0; w < words; w += across) {
    const int column = (w < first * 4 ? w : w + (stop - first) * 4) * 4;
    Word<T> word = find_word<T> (image, mask, begin + column);

    if (!waited)
      convolve_wait_for_copies ();
    waited = 1;
    if (find_in_tile (word, begin, first * 16, stop * 16, column)) {
#pragma unroll 4
      for (int row = start; row < rows && start < step; row += step)
        *(unsigned *) (tile + row * mask.pitch + column) = read_word (word, tile + row * mask.pitch, false);
    } else {
#pragma unroll 4
      for (int row = start; row < rows && start < step; row += step) {
        int inside = convolve_boundary_index (mask.boundary, y + row, image.height);
        unsigned all = read_word (word, image.source + max (inside, 0) * image.source_stride, inside < 0);

        *(unsigned *) (tile + row * mask.pitch + column) = sizeof (T) == 1 ? all : convolve_clean (image, all);
      }
    }
  }
}

/* Loads the operands and the tile for outputs of rows top .. bottom - 1. */
template <typename T>
static __device__ __forceinline__ void
load_tile (const ConvolveImage &image, const Products &mask, int top, int bottom, uint4 *operands, uint8_t *tile)
{
  const int thread = threadIdx.y * 32 + threadIdx.x, rows = bottom - top + image.mask_height - 1;
  const int y = top - image.mask_height / 2;
  const int64_t begin = (int64_t) mask.left + blockIdx.x * mask.width - mask.margin;
  /* Chunks from first to stop lie in the image. */
  const int first = !mask.aligned ? mask.chunks : begin < 0 ? min ((int) -begin / 16, mask.chunks) : 0;
  const int stop = max ((int) min ((image.width * image.pixel_stride - begin) / 16, (int64_t) mask.chunks), first);

  if (stop > first)
    load_rows<T> (image, mask, rows, y, (unsigned) (begin + first * 16), thread, stop - first, tile + first * 16);
#pragma unroll 1
  for (int i = thread; i < mask.operands_count; i += TILE_THREADS)
    copy_later (operands + i, mask.operands + i);
  if (first > 0 || stop < mask.chunks)
    fill_sides<T> (image, mask, begin, first, stop, y, rows, tile);
  convolve_wait_for_copies ();
}

#endif
