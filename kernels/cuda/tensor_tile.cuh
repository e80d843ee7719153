/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How tensor's blocks fill their tiles: bytes of one sample each, plane after plane, deep samples as a plane of low and
 * one of high bytes. What lies outside the image is in the tile like everything else.
 */
#ifndef CONVOLVE_CUDA_TENSOR_TILE_CUH
#define CONVOLVE_CUDA_TENSOR_TILE_CUH

#include "cuda/launch.cuh"
#include "cuda/tensor.h"

#define WIDTH CONVOLVE_TENSOR_WIDTH
#define ROWS CONVOLVE_TENSOR_ROWS
#define WARPS CONVOLVE_TENSOR_WARPS
#define THREADS (32 * WARPS)
#define HEIGHT (WARPS * ROWS) /* of a tile's outputs */

/* Where a coordinate i below 0, or beyond n - 1, goes: factor * i + offset if that is inside; -1 for the zero level. */
struct ConvolveFold
{
  int before, before_offset, beyond, beyond_offset;
};

/* What a launch needs to know of the mask besides its size. The lengths are those of cuda/tensor.h. */
struct ConvolveBands
{
  const uint2 *operands; /* [step][limb][lane] */
  int units, radius, margin, pitch, plane_size;
  int chunks, chunk_factor; /* of 16 columns: in a row of the tile; 2^16 / chunks, rounded up */
  int rows_together;        /* rows that all threads load at once */
  bool together;            /* a block takes all samples of its pixels; otherwise one, blockIdx.z */
  ConvolveBoundary boundary;
  ConvolveFold fold_x, fold_y;
  bool fits, integers;
  ConvolveTail tail;
  ConvolveIntegerTail integer_tail;                           /* where integers; zeros otherwise */
  float range, unit_scale, unit_offset[CONVOLVE_MAX_SAMPLES]; /* what finish() takes instead of the tail */
};

static __device__ __forceinline__ void
copy_later (uint4 *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned) __cvta_generic_to_shared (to)), "l"(from)
               : "memory");
#endif
}

/* Byte number at of each stride bytes, of the 16 pixels in words. */
template <int N>
static __device__ __forceinline__ uint4
pick (const unsigned (&words)[N], int stride, int at)
{
  unsigned result[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (N < 8) {
      result[i] = words[i];
    } else if (N < 16 || stride == 2) {
      result[i] = __byte_perm (words[2 * i % N], words[(2 * i + 1) % N], at ? 0x7531 : 0x6420);
    } else if (stride == 3) {
      unsigned three = __byte_perm (words[3 * i % N], words[(3 * i + 1) % N], 0x0630 + 0x111 * at);

      result[i] = __byte_perm (three, words[(3 * i + 2) % N], at == 0 ? 0x5210 : at == 1 ? 0x6210 : 0x7410);
    } else {
      unsigned two = at | (at + 4) << 4;

      result[i] = __byte_perm (__byte_perm (words[4 * i % N], words[(4 * i + 1) % N], two),
          __byte_perm (words[(4 * i + 2) % N], words[(4 * i + 3) % N], two), 0x5410);
    }
  }
  return make_uint4 (result[0], result[1], result[2], result[3]);
}

/* The low and the high bytes of four words become those of their samples. */
static __device__ __forceinline__ void
convert (const ConvolveImage &image, unsigned &low, unsigned &high)
{
  unsigned bits = (0xffffu >> image.shift) * 0x10001, most = image.maximum * 0x10001;
  unsigned a = __vminu2 (__byte_perm (low, high, 0x5140) >> image.shift & bits, most);
  unsigned b = __vminu2 (__byte_perm (low, high, 0x7362) >> image.shift & bits, most);

  low = __byte_perm (a, b, 0x6420);
  high = __byte_perm (a, b, 0x7531);
}

static __device__ __forceinline__ int
fold (const ConvolveFold &fold, ConvolveBoundary boundary, int i, int n)
{
  if ((unsigned) i < (unsigned) n)
    return i;
  int at = i < 0 ? fold.before * i + fold.before_offset : fold.beyond * i + fold.beyond_offset;
  return (unsigned) at < (unsigned) n || boundary == CONVOLVE_BOUNDARY_ZERO ? at
                                                                            : convolve_boundary_index (boundary, i, n);
}

/* Row y's memory, or NULL where the zero level stands for all of it. */
static __device__ __forceinline__ const uint8_t *
find_row (const ConvolveImage &image, const ConvolveBands &mask, int y)
{
  y = fold (mask.fold_y, mask.boundary, y, image.height);
  return y < 0 ? NULL : image.source + y * image.source_stride;
}

/* Columns of the tile: those from .. to - 1 are loaded 16 samples at a time. */
struct Columns
{
  int x; /* of the first in the image */
  int from, to;
};

template <typename T, bool PLANAR>
static __device__ __forceinline__ Columns
find_columns (const ConvolveImage &image, const ConvolveBands &mask, int left)
{
  int stride = PLANAR ? sizeof (T) : image.pixel_stride;
  /* The last pixel may lack the bytes behind its samples. */
  int last = image.width - (!PLANAR && stride > gridDim.z * sizeof (T));
  bool regular = sizeof (T) == 1 ? stride <= 4 : stride == 2 || stride == 4;
  Columns columns;

  columns.x = left - mask.margin;
  columns.from = columns.x < 0 ? min ((15 - columns.x) & ~15, mask.pitch) : 0;
  columns.to = max (min (last - columns.x, mask.pitch) & ~15, columns.from);
  if ((((unsigned) (uintptr_t) image.source + columns.x * stride) | (unsigned) image.source_stride) & 15 || !regular)
    columns.to = columns.from;
  return columns;
}

/* Those columns. y is the row of the tile's first outputs, first .. last - 1 are the samples to take. */
template <typename T, bool PLANAR>
static __device__ __forceinline__ void
load_inside (const ConvolveImage &image, const ConvolveBands &mask, const Columns &columns, int y, int first, int last,
    int slice, uint8_t *tile)
{
  int rows = HEIGHT + image.mask_height - 1, stride = PLANAR ? sizeof (T) : image.pixel_stride;
  int thread = (slice * WARPS + threadIdx.y) * 32 + threadIdx.x, row = thread * mask.chunk_factor >> 16;
  int column = (thread - row * mask.chunks) * 16;

  if (row >= mask.rows_together || column < columns.from || column >= columns.to)
    return;
  y -= image.mask_height / 2;
  const int64_t offset = (int64_t) (columns.x + column) * stride, step = mask.rows_together * image.source_stride;
  const uint8_t *next = image.source + (y + row) * image.source_stride + offset;
  uint8_t *to = tile + row * mask.pitch + column;
  const int BATCH = !PLANAR && sizeof (T) == 1 ? 1 : 4;

  if (PLANAR && sizeof (T) == 1 && y >= 0 && y + rows <= image.height) {
    for (; row < rows; row += mask.rows_together, next += step, to += mask.rows_together * mask.pitch)
      copy_later ((uint4 *) to, next);
    return;
  }
  /* Several at a time, so that the later ones are on their way while the first is waited for. */
  for (; row < rows; row += BATCH * mask.rows_together) {
    unsigned words[BATCH][PLANAR ? 4 * sizeof (T) : 16];
    bool zero[BATCH];

#pragma unroll
    for (int b = 0; b < BATCH; b++, next += step) {
      int at = row + b * mask.rows_together;
      const uint8_t *pixels = next;

      if ((unsigned) (y + at) >= (unsigned) image.height) {
        pixels = find_row (image, mask, y + at);
        pixels = pixels ? pixels + offset : NULL;
      }
      zero[b] = !pixels;
      if (pixels && at < rows) {
        if (sizeof (T) == 1 && stride == 1) {
          copy_later ((uint4 *) (tile + at * mask.pitch + column), pixels);
        } else {
#pragma unroll
          for (int i = 0; i < (PLANAR ? (int) sizeof (T) : 4); i++) {
            uint4 four = i < stride ? ((const uint4 *) pixels)[i] : make_uint4 (0, 0, 0, 0);

            words[b][4 * i] = four.x;
            words[b][4 * i + 1] = four.y;
            words[b][4 * i + 2] = four.z;
            words[b][4 * i + 3] = four.w;
          }
        }
      }
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      int at = row + b * mask.rows_together;

      if (at >= rows || (sizeof (T) == 1 && stride == 1 && !zero[b]))
        continue;
      to = tile + at * mask.pitch + column;
      for (int sample = first; sample < last; sample++, to += sizeof (T) * mask.plane_size) {
        unsigned level = (unsigned) image.zero[sample], level_low = (level & 255) * 0x1010101;
        unsigned level_high = (level >> 8) * 0x1010101;
        uint4 low = make_uint4 (level_low, level_low, level_low, level_low);
        uint4 high = make_uint4 (level_high, level_high, level_high, level_high);

        if (!zero[b] && sizeof (T) == 1) {
          low = pick (words[b], stride, sample);
        } else if (!zero[b]) {
          low = pick (words[b], stride, 2 * sample + image.swapped);
          high = pick (words[b], stride, 2 * sample + !image.swapped);
          convert (image, low.x, high.x);
          convert (image, low.y, high.y);
          convert (image, low.z, high.z);
          convert (image, low.w, high.w);
        }
        *(uint4 *) to = low;
        if (sizeof (T) == 2)
          *(uint4 *) (to + mask.plane_size) = high;
      }
    }
  }
}

/* The other columns, 4 at a time: from the tile where that has the samples already, otherwise from the image. */
template <typename T>
static __device__ __forceinline__ void
load_outside (const ConvolveImage &image, const ConvolveBands &mask, const Columns &columns, int y, int first, int last,
    int slice, int slices, uint8_t *tile)
{
  int inside = columns.to - columns.from, words = (mask.pitch - inside) / 4;
  int rows = HEIGHT + image.mask_height - 1;

  y -= image.mask_height / 2;
  for (int i = (slice * WARPS + threadIdx.y) * 32 + threadIdx.x; i < rows * words; i += slices * THREADS) {
    int row = i / words, column = (i - row * words) * 4, x[4];
    uint8_t *line = tile + row * mask.pitch;
    bool known = true;

    column += column >= columns.from ? inside : 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      x[k] = fold (mask.fold_x, mask.boundary, columns.x + column + k, image.width);
      known &= x[k] >= columns.x + columns.from && x[k] < columns.x + columns.to;
    }
    if (known) {
      for (int plane = 0; plane < (last - first) * (int) sizeof (T); plane++, line += mask.plane_size) {
        const uint8_t *from = line - columns.x;

        *(unsigned *) (line + column) = __byte_perm (__byte_perm (from[x[0]], from[x[1]], 0x0040),
            __byte_perm (from[x[2]], from[x[3]], 0x0040), 0x5410);
      }
      continue;
    }
    const uint8_t *source = find_row (image, mask, y + row);
    for (int sample = first; sample < last; sample++, line += sizeof (T) * mask.plane_size) {
      unsigned word[4];

#pragma unroll
      for (int k = 0; k < 4; k++) {
        word[k] = (unsigned) image.zero[sample];
        if (source && x[k] >= 0) {
          word[k] = ((const T *) (source + (unsigned) (x[k] * image.pixel_stride)))[sample];
          if (sizeof (T) == 2)
            word[k] = min ((int) (convolve_swap (image, word[k]) >> image.shift), image.maximum);
        }
      }
      *(unsigned *) (line + column) =
          __byte_perm (__byte_perm (word[0], word[1], 0x0040), __byte_perm (word[2], word[3], 0x0040), 0x5410);
      if (sizeof (T) == 2)
        *(unsigned *) (line + column + mask.plane_size) =
            __byte_perm (__byte_perm (word[0], word[1], 0x0051), __byte_perm (word[2], word[3], 0x0051), 0x5410);
    }
  }
}

#endif
