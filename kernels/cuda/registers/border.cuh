/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What direct, fused, packed and packed-separable share: the division of a plane, its border, and the tiles of the
 * inner part.
 *
 * A plane has an inner part and a border. An output of the inner part depends on samples inside the image alone, and
 * its thread reads aligned words. A tile that would extend beyond the inner part is moved back inside: some outputs
 * are then computed twice, with the same result. The border is the rest: outputs near the image's edges and at the
 * unaligned ends of rows, or all outputs of a plane that is not aligned. In the border a thread has four outputs of
 * one sample. The blocks of the border have the lowest indices: they are slow, and must not be the last to finish.
 *
 *        image.x0   parts.left              parts.right   image.x1
 *           +-----------------------------------------+   image.y0
 *           |        border: rows above               |
 *           |    +----------------------------+       |   parts.top
 *           |left|        inner part          | right |
 *           |    +----------------------------+       |   parts.bottom
 *           |        border: rows below               |
 *           +-----------------------------------------+   image.y1
 *
 * Template parameters have the meanings that cuda/registers/bytes.cuh gives them.
 */
#ifndef CONVOLVE_CUDA_BORDER_CUH
#define CONVOLVE_CUDA_BORDER_CUH

#include "cuda/registers/border.h"
#include "cuda/device/words.cuh"

#define CONVOLVE_LANES 32 /* of a warp */
#define CONVOLVE_WARPS 4  /* of a block, one above the other; packed-separable has other numbers for some masks */

struct ConvolveParts
{
  int left, top, right, bottom; /* pixels of the inner part; the inner part is empty where left == right */
  int border_rows;              /* rows of the grid whose blocks do the border */
  ConvolveBoundary boundary;
};

/* The place of this block among those over its plane, where all blocks of the launch are over one plane. */
struct ConvolveBlock
{
  __device__ __forceinline__ unsigned
  x (void) const
  {
    return blockIdx.x;
  }

  __device__ __forceinline__ unsigned
  y (void) const
  {
    return blockIdx.y;
  }

  /* How many blocks are side by side. */
  __device__ __forceinline__ unsigned
  columns (void) const
  {
    return gridDim.x;
  }
};

/*
 * The offsets of the columns of four border pixels from x on, with their neighbours, in a row, in bytes; -1: the zero
 * level.
 */
template <int K>
static __device__ __forceinline__ void
convolve_border_columns (const ConvolveImage &image, const ConvolveParts &parts, int x,
    int (&column)[K + CONVOLVE_GROUP - 1])
{
#pragma unroll
  for (int i = 0; i < K + CONVOLVE_GROUP - 1; i++) {
    int at = convolve_boundary_index (parts.boundary, x + i - K / 2, image.width);
    column[i] = at < 0 ? -1 : at * image.pixel_stride;
  }
}

/* One sample of these columns in row y, which goes through the boundary as well. */
template <typename T, int K>
static __device__ __forceinline__ void
convolve_border_values (const ConvolveImage &image, const ConvolveParts &parts,
    const int (&column)[K + CONVOLVE_GROUP - 1], int y, int sample, int (&values)[K + CONVOLVE_GROUP - 1])
{
  int row = convolve_boundary_index (parts.boundary, y, image.height);
  const uint8_t *line = image.source + row * image.source_stride + sample * sizeof (T);

#pragma unroll
  for (int i = 0; i < K + CONVOLVE_GROUP - 1; i++) {
    int word = (int) image.zero[sample] << image.shift;

    if (row >= 0 && column[i] >= 0)
      word = *(const T *) (line + column[i]);
    values[i] = sizeof (T) > 1 ? min (word >> image.shift, image.maximum) : word;
  }
}

/*
 * Adds the products of one sample of the four border pixels from x on. Coordinates of neighbours go through the
 * boundary.
 */
template <typename T, int K>
static __device__ __forceinline__ void
convolve_border_sums (const ConvolveImage &image, const ConvolveParts &parts, const float (&taps)[K][K], int x, int y,
    int sample, float (&sums)[CONVOLVE_GROUP])
{
  int column[K + CONVOLVE_GROUP - 1];

  convolve_border_columns<K> (image, parts, x, column);
#pragma unroll(K > 5 ? 1 : K)
  for (int j = 0; j < K; j++) {
    int words[K + CONVOLVE_GROUP - 1];
    float values[K + CONVOLVE_GROUP - 1];

    convolve_border_values<T, K> (image, parts, column, y + j - K / 2, sample, words);
#pragma unroll
    for (int i = 0; i < K + CONVOLVE_GROUP - 1; i++)
      values[i] = sizeof (T) > 1 ? words[i] << image.shift : words[i]; /* with the factor of convolve_value () */
#pragma unroll
    for (int c = 0; c < CONVOLVE_GROUP; c++) {
      float part = 0;

#pragma unroll
      for (int i = 0; i < K; i++)
        part += taps[j][i] * values[c + i];
      sums[c] += part;
    }
  }
}

/* Copies one sample of the four border pixels that begin at x, or of as many as are left of end. */
template <typename T>
static __device__ __forceinline__ void
convolve_border_copy (const ConvolveImage &image, int x, int y, int end, int sample)
{
  for (end = min (end, x + CONVOLVE_GROUP); x < end; x++)
    *convolve_destination<T> (image, x, y, sample) = *convolve_source<T> (image, x, y, sample);
}

/* Computes or copies them. ABSOLUTE: the magnitudes of the sums are what the tail takes. */
template <typename T, int K, bool ABSOLUTE>
static __device__ __forceinline__ void
convolve_border_group (const ConvolveImage &image, const ConvolveParts &parts, const float (&taps)[K][K], int x, int y,
    int end, int sample)
{
  float sums[CONVOLVE_GROUP] = {};

  if (!(image.select >> sample & 1)) {
    convolve_border_copy<T> (image, x, y, end, sample);
    return;
  }
  convolve_border_sums<T, K> (image, parts, taps, x, y, sample, sums);
#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    if (x + c < end) {
      if (ABSOLUTE)
        sums[c] = fabsf (sums[c]);
      int value = convolve_floor<T> (image.tail, sample, sums[c]);
      unsigned word = sizeof (T) == 1 ? convolve_clamp_bytes (0, value, 0) : (unsigned) value << image.shift;

      *convolve_destination<T> (image, x + c, y, sample) =
          (T) (image.tail.floor_needs_double ? convolve_finish_double (&image, sample, sums[c]) : word);
    }
}

/*
 * Does the border where this block is one of the border's. Returns true for such a block, which is then finished. The
 * groups of the rows above and below the inner part are counted first, then those left and right of it. group () does
 * one sample of four pixels from x, y on, or of as many as are left of end.
 */
template <int S, typename Block, typename Group>
static __device__ __forceinline__ bool
convolve_walk_border (const ConvolveImage &image, const ConvolveParts &parts, const Block &block, Group group)
{
  if (block.y () >= parts.border_rows)
    return false;

  /* Groups in a row above or below the inner part, and left and right of the inner part. */
  const unsigned per_row = (image.x1 - image.x0 + 3) / 4 * S;
  const unsigned left = (parts.left - image.x0 + 3) / 4 * S, right = (image.x1 - parts.right + 3) / 4 * S;
  const unsigned above = parts.top - image.y0, below = image.y1 - parts.bottom; /* rows */
  const unsigned in_rows = (above + below) * per_row, count = in_rows + (parts.bottom - parts.top) * (left + right);
  const unsigned threads = blockDim.x * blockDim.y;
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;

  for (unsigned i = ((block.y () * block.columns ()) + block.x ()) * threads + thread; i < count;
       i += parts.border_rows * block.columns () * threads) {
    unsigned row, at;
    int x = image.x0, end = image.x1;

    if (i < in_rows) {
      row = i / per_row, at = i - row * per_row;
      row = row < above ? image.y0 + row : parts.bottom + row - above;
    } else {
      row = (i - in_rows) / (left + right), at = i - in_rows - row * (left + right), row += parts.top;
      if (at < left)
        end = parts.left;
      else
        at -= left, x = parts.right;
    }
    group (x + (int) (at / S) * CONVOLVE_GROUP, row, end, at % S);
  }
  return true;
}

/* convolve_walk_border () for one set of taps. */
template <typename T, int S, int K, bool ABSOLUTE = false, typename Block = ConvolveBlock>
static __device__ __forceinline__ bool
convolve_border (const ConvolveImage &image, const ConvolveParts &parts, const float (&taps)[K][K],
    const Block &block = Block ())
{
  return convolve_walk_border<S> (image, parts, block, [&] (int x, int y, int end, int sample) {
    convolve_border_group<T, K, ABSOLUTE> (image, parts, taps, x, y, end, sample);
  });
}

/*
 * The tile of a thread: W groups of four outputs in R rows. Below, W = 1, R = 2 and K = 3. The lanes of a warp have
 * tiles side by side, and the warps of a block have theirs one below the other.
 *
 *               lane 0   lane 1   lane 2          lane 1 loads R + K - 1 = 4 rows of W + 2 = 3 groups:
 *
 *     warp 0    |oooo|   |oooo|   |oooo|  ..                   left group  own group  right group
 *               |oooo|   |oooo|   |oooo|  ..       words[0]     . . . h     h h h h     h . . .
 *     warp 1    |oooo|   |oooo|   |oooo|  ..       words[1]     . . . h     o o o o     h . . .
 *               |oooo|   |oooo|   |oooo|  ..       words[2]     . . . h     o o o o     h . . .
 *                                                  words[3]     . . . h     h h h h     h . . .
 *
 * o is the place of an output, with the sums sums[0][s][0 .. 3] in words[1] and sums[1][s][0 .. 3] in words[2]. h is
 * the halo of K / 2 = 1 pixel. A dot is loaded with its group, and no tap meets it.
 */

/* The first output of this thread's tile. */
template <int W, int R, typename Block = ConvolveBlock>
static __device__ __forceinline__ int2
convolve_tile (const ConvolveParts &parts, const Block &block = Block ())
{
  const int columns = W * CONVOLVE_GROUP;
  int x = parts.left + (int) (block.x () * CONVOLVE_LANES + threadIdx.x) * columns;
  int y = parts.top + (int) ((block.y () - parts.border_rows) * blockDim.y + threadIdx.y) * R;

  return make_int2 (min (x, parts.right - columns), min (y, parts.bottom - R));
}

/*
 * Loads the input of a tile: its rows and K / 2 rows above and below, with a group on both sides. A group is N words.
 */
template <int N, int W, int K, int ROWS>
static __device__ __forceinline__ void
convolve_load_tile (const ConvolveImage &image, int2 tile, uint32_t (&words)[ROWS][(W + 2) * N])
{
  const uint8_t *from = image.source + (tile.y - K / 2) * image.source_stride + (unsigned) (tile.x * N);

#pragma unroll
  for (int n = 0; n < ROWS; n++, from += image.source_stride) {
    convolve_load_words<N> (from - N * CONVOLVE_GROUP, words[n]);
    convolve_load_words<W * N> (from, words[n] + N);
    convolve_load_words<N> (from + W * N * CONVOLVE_GROUP, words[n] + N + W * N);
  }
}

/* A kernel over a plane with an inner part and a border, as the host sees it. */
struct ConvolveBorderKernel
{
  const void *kernel;
  int pixels, rows; /* of a thread's tile */
  int warps;        /* of a block */
  int side;         /* of the kernel's mask, K */
};

/* The part for this plane of kernels for two planes of a frame, see cuda/registers/frame.cuh. */
struct ConvolveBorderTwo
{
  const void *kernels[CONVOLVE_MOST_TWO]; /* or NULL */
  ConvolveBorderKernel part;              /* the same in all of them */
  int64_t most_pixels;                    /* of the first plane: larger ones are faster by launches of their own */
};

/*
 * The kernels of a plan and their mask: convolve_border_load () makes it, and convolve_border_run () launches one of
 * them.
 */
struct ConvolveBorderLoaded
{
  ConvolveBorderKernel alone;
  ConvolveBorderTwo two;
  size_t mask_size;                                     /* bytes of mask that are used */
  alignas (16) unsigned char mask[CONVOLVE_SMALL_MASK]; /* the kernels' second parameter, without the ConvolveParts */
};

/* Copies the kernels and their mask, which begins with ConvolveParts, to plan->loaded. Errors: NO_MEMORY. */
ConvolveStatus convolve_border_load (ConvolvePlan *plan, const ConvolveBorderKernel &alone,
    const ConvolveBorderTwo &two, const void *mask, size_t mask_size, ConvolveError *error);

/*
 * Divides the plane and launches the loaded kernel. Where runs are independent and the plan has a kernel for two
 * planes, the launch for the first plane waits for the second one, or for any other work.
 */
ConvolveStatus convolve_border_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/*
 * Divides the plane's region into the inner part and the border, and fills the grid that covers both. A thread of the
 * inner part has a tile of pixels x rows outputs; it reads halo pixels on the left and right of the tile, and side / 2
 * rows above and below.
 */
ConvolveParts convolve_divide (const ConvolvePlan *plan, const ConvolvePlane *plane, int pixels, int halo, int rows,
    int warps, int side, ConvolveGrid *grid);

#endif
