/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How tensor-separable's blocks fill their tiles: rows of samples as they lie in memory, with those outside the image
 * in their place, and the operands before them.
 */
#ifndef CONVOLVE_ROWS_TILE_CUH
#define CONVOLVE_ROWS_TILE_CUH

#include "convolve_parts.cuh"
#include "convolve_products.h"

#define TILE_WARPS CONVOLVE_PRODUCTS_WARPS      /* side by side */
#define TILE_THREADS (32 * TILE_WARPS)

/* What a launch needs to know of the mask and the plane. Lengths in a row are bytes. */
struct Products
{
  const uint4 *operands;
  int operands_count;
  int rank, units, pairs, lead;
  int left, width, height;      /* of the first block's outputs; of a block's outputs; in rows */
  int margin, pitch, chunks;    /* before a tile's first output; of its rows, and chunks of 16 in one */
  int tile_size;
  int samples;
  bool aligned, aligned_stores, copies;
  ConvolveBoundary boundary;
  unsigned scale;
  int row_start[CONVOLVE_MAX_RANK], start[CONVOLVE_MAX_SAMPLES], shift;
};

static __device__ __forceinline__ void
copy_later (void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile ("cp.async.cg.shared.global [%0], [%1], 16;" : : "r" ((unsigned) __cvta_generic_to_shared (to)),
      "l" (from) : "memory");
#endif
}

static __device__ __forceinline__ void
end_copies (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile ("cp.async.commit_group;" : : : "memory");
#endif
}

/* All but the last so many groups. */
template <int GROUPS>
static __device__ __forceinline__ void
wait_for_copies (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile ("cp.async.wait_group %0;" : : "n" (GROUPS) : "memory");
#endif
}

/* A word of samples from byte `at` of row y, or of no row where y is -1, one by one, with the boundary applied. */
template <typename T>
static __device__ __noinline__ unsigned
gather (const ConvolveImage &image, const Products &mask, int64_t at, int y)
{
  constexpr int count = 4 / (int) sizeof (T);
  unsigned word = 0;

#pragma unroll
  for (int i = 0; i < count; i++) {
    unsigned first = (unsigned) (at / (int) sizeof (T) + i + mask.samples * 16384);     /* not negative */
    int x = (int) (first / mask.samples), sample = (int) (first - x * mask.samples);

    x = y < 0 ? -1 : convolve_boundary_index (mask.boundary, x - 16384, image.width);
    word |= (x < 0 ? (unsigned) (int) image.zero[sample] << image.shift : *convolve_source<T> (image, x, y, sample))
        << i * 8 * sizeof (T);
  }
  return word;
}

/* Deep samples without what their words have beside them. */
static __device__ __forceinline__ unsigned
clean (const ConvolveImage &image, unsigned word)
{
  return __vminu2 (word & (0xffff << image.shift & 0xffff) * 0x10001, (image.maximum << image.shift) * 0x10001);
}

/* Whole chunks of rows from .. to - 1 of the tile, inside the image across; n of them in a row. */
template <typename T>
static __device__ __forceinline__ void
load_rows (const ConvolveImage &image, const Products &mask, int from, int to, int y, unsigned column, int thread, int n,
    uint8_t *tile)
{
  const int BATCH = sizeof (T) == 1 ? 1 : 4;
  int row = thread / n, step = TILE_THREADS / n, at = (thread - row * n) * 16;

  if (row >= step)
    return;
  tile += at;
  column += at;
  if (sizeof (T) == 1 && y + from >= 0 && y + to <= image.height) {
    const uint8_t *next = image.source + (y + from + row) * image.source_stride + column;
    const int64_t stride = step * image.source_stride;

    for (row += from; row < to; row += step, next += stride)
      copy_later (tile + row * mask.pitch, next);
    return;
  }
  for (row += from; row < to; row += step * BATCH) {
    uint4 words[BATCH];

#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      int inside = convolve_boundary_index (mask.boundary, y + row + b * step, image.height);
      const uint8_t *line = image.source + inside * image.source_stride + column;

      words[b] = make_uint4 (0, 0, 0, 0);
      if (row + b * step < to && inside >= 0) {
        if (sizeof (T) == 1)
          copy_later (tile + row * mask.pitch, line);
        else
          words[b] = __ldg ((const uint4 *) line);
      } else if (row + b * step < to) {
        words[b] = make_uint4 (gather<T> (image, mask, column, -1), gather<T> (image, mask, column + 4, -1),
            gather<T> (image, mask, column + 8, -1), gather<T> (image, mask, column + 12, -1));
        if (sizeof (T) == 1)
          *(uint4 *) (tile + row * mask.pitch) = words[b];
      }
    }
#pragma unroll
    for (int b = 0; b < BATCH && sizeof (T) == 2; b++)
      if (row + b * step < to)
        *(uint4 *) (tile + (row + b * step) * mask.pitch) = make_uint4 (clean (image, words[b].x),
            clean (image, words[b].y), clean (image, words[b].z), clean (image, words[b].w));
  }
}

/*
 * Begins to load the operands and the tile for outputs of rows top .. bottom - 1: a first group of copies for its first
 * rows, and one for the rest.
 */
template <typename T>
static __device__ __forceinline__ void
load_tile (const ConvolveImage &image, const Products &mask, int top, int bottom, int first_rows, uint4 *operands,
    uint8_t *tile)
{
  const int thread = threadIdx.y * 32 + threadIdx.x, rows = bottom - top + image.mask_height - 1;
  const int y = top - image.mask_height / 2;
  const int64_t begin = (int64_t) mask.left + blockIdx.x * mask.width - mask.margin;
  /* Chunks from first to stop lie in the image. */
  const int first = !mask.aligned ? mask.chunks : begin < 0 ? min ((int) -begin / 16, mask.chunks) : 0;
  const int stop = max ((int) min ((image.width * image.pixel_stride - begin) / 16, (int64_t) mask.chunks), first);

  for (int i = thread; i < mask.operands_count; i += TILE_THREADS)
    copy_later (operands + i, mask.operands + i);
  if (stop > first)
    load_rows<T> (image, mask, 0, min (first_rows, rows), y, (unsigned) (begin + first * 16), thread, stop - first,
        tile + first * 16);
  end_copies ();
  if (stop > first)
    load_rows<T> (image, mask, min (first_rows, rows), rows, y, (unsigned) (begin + first * 16), thread, stop - first,
        tile + first * 16);
  end_copies ();
#pragma unroll 1
  for (int i = thread; i < rows * (first + mask.chunks - stop) * 4; i += TILE_THREADS) {
    int column = i / rows, row = i - column * rows;

    column = (column < first * 4 ? column : column + (stop - first) * 4) * 4;
    unsigned word = gather<T> (image, mask, begin + column,
        convolve_boundary_index (mask.boundary, y + row, image.height));
    *(unsigned *) (tile + row * mask.pitch + column) = sizeof (T) == 1 ? word : clean (image, word);
  }
}

#endif
