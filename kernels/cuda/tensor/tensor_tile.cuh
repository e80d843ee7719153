/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a block of tensor fills its tile in shared memory. The tile has one plane of bytes for each sample of a pixel.
 * Deep samples have two planes, one of their low and one of their high bytes. Places outside the image hold what the
 * boundary puts there, so the products need no test for edges.
 */
#ifndef CONVOLVE_CUDA_TENSOR_TILE_CUH
#define CONVOLVE_CUDA_TENSOR_TILE_CUH

#include "cuda/device/words.cuh"
#include "cuda/tensor/tensor.h"
#include "cuda/tensor/tensor_common.cuh"

#define WIDTH CONVOLVE_TENSOR_WIDTH
#define ROWS CONVOLVE_TENSOR_ROWS
#define WARPS CONVOLVE_TENSOR_WARPS
#define THREADS (32 * WARPS)
#define HEIGHT (WARPS * ROWS) /* outputs of a block, one below the other */
#define CHUNK 16              /* samples of a row that one thread loads together */
#define COLOURS 3             /* samples of a pixel that have planes where its fourth is copied */

/*
 * Where a coordinate i outside 0 .. n - 1 is reflected, repeated or wrapped to: factor * i + offset. The result counts
 * only if it lies inside the image; otherwise a slower function finds the place. -1 stands for the zero level.
 */
struct ConvolveFold
{
  int before, before_offset; /* factor and offset for i < 0 */
  int beyond, beyond_offset; /* for i >= n */
};

/* The mask as the kernel takes it. Lengths are samples, as in cuda/tensor/tensor.h. */
struct TensorParameters
{
  const uint2 *bands; /* [band][digit][lane] */
  int segments, lead, margin, pitch;
  int plane_size;                /* bytes of a plane of the tile */
  int chunks, chunks_reciprocal; /* chunks in a row of the tile; for divide () */
  int rows_at_once;              /* rows that all threads of a block load at once */
  bool all_samples;              /* a block convolves all samples of its pixels; otherwise sample blockIdx.z alone */
  ConvolveBoundary boundary;
  ConvolveFold fold_x, fold_y;
  ConvolveTensorFinish finish; /* this and the next five members are those of ConvolveTensorDigits */
  bool total_fits;
  ConvolveTail tail;
  ConvolveIntegerTail integer_tail;
  int start[CONVOLVE_MAX_SAMPLES], shift;
  ConvolvePlaces places;
  float range, range_scale, range_offset[CONVOLVE_MAX_SAMPLES]; /* see finish () */
};

/* Of 16 pixels in words, with `stride` bytes each: byte number `at` of every pixel. */
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
      result[i] = __byte_perm (words[2 * i % N], words[(2 * i + 1) % N], at ? A1_A3_B1_B3 : A0_A2_B0_B2);
    } else if (stride == 3) {
      /*
       * Four pixels lie in 12 bytes of three words: at, at + 3, at + 6 and at + 9. The first three are bytes of the
       * first two words, unless at is 2; byte 8 is then the lowest byte of the third word.
       */
      const unsigned first_three = 0x0630 + 0x111 * at;
      unsigned three = __byte_perm (words[3 * i % N], words[(3 * i + 1) % N], first_three);

      result[i] = __byte_perm (three, words[(3 * i + 2) % N],
          at == 0       ? A0_A1_A2_B1
              : at == 1 ? A0_A1_A2_B2
                        : A0_A1_B0_B3);
    } else {
      const unsigned from_both = at | (at + 4) << 4;

      result[i] = __byte_perm (__byte_perm (words[4 * i % N], words[(4 * i + 1) % N], from_both),
          __byte_perm (words[(4 * i + 2) % N], words[(4 * i + 3) % N], from_both), A0_A1_B0_B1);
    }
  }
  return make_uint4 (result[0], result[1], result[2], result[3]);
}

/*
 * Turns four 16-bit words of memory into samples: without unused bits, and none above the largest. low and high have
 * the low and the high bytes of the four words, and then those of the four samples.
 */
static __device__ __forceinline__ void
convert (const ConvolveImage &image, unsigned &low, unsigned &high)
{
  unsigned bits = (0xffffu >> image.shift) * 0x10001, most = image.maximum * 0x10001;
  unsigned a = __vminu2 (__byte_perm (low, high, A0_B0_A1_B1) >> image.shift & bits, most);
  unsigned b = __vminu2 (__byte_perm (low, high, A2_B2_A3_B3) >> image.shift & bits, most);

  low = __byte_perm (a, b, A0_A2_B0_B2);
  high = __byte_perm (a, b, A1_A3_B1_B3);
}

/* The coordinate inside 0 .. n - 1 that the boundary puts in the place of i, or -1 for the zero level. */
static __device__ __forceinline__ int
fold (const ConvolveFold &fold, ConvolveBoundary boundary, int i, int n)
{
  if ((unsigned) i < (unsigned) n)
    return i;
  int at = i < 0 ? fold.before * i + fold.before_offset : fold.beyond * i + fold.beyond_offset;
  return (unsigned) at < (unsigned) n || boundary == CONVOLVE_BOUNDARY_ZERO ? at
                                                                            : convolve_boundary_index (boundary, i, n);
}

/* The image's row for coordinate y, or NULL where the zero level stands for the row. */
static __device__ __forceinline__ const uint8_t *
find_row (const ConvolveImage &image, const TensorParameters &mask, int y)
{
  y = fold (mask.fold_y, mask.boundary, y, image.height);
  return y < 0 ? NULL : image.source + y * image.source_stride;
}

/* Columns of the tile. Those from `from` to `to` - 1 lie in the image and are loaded in chunks of 16. */
struct Columns
{
  int x; /* the image's column of the tile's first; may be negative */
  int from, to;
};

template <typename T, int PIXEL>
static __device__ __forceinline__ Columns
find_columns (const ConvolveImage &image, const TensorParameters &mask, int left)
{
  int stride = PIXEL ? PIXEL * sizeof (T) : image.pixel_stride;
  /* Memory may end after the samples of the last pixel, so a chunk does not take padding bytes of that pixel. */
  int readable = image.width - (!PIXEL && stride > gridDim.z * sizeof (T));
  bool has_pick = sizeof (T) == 1 ? stride <= 4 : stride == 2 || stride == 4;
  Columns columns;

  columns.x = left - mask.margin;
  columns.from = columns.x < 0 ? min ((15 - columns.x) & ~15, mask.pitch) : 0;
  columns.to = max (min (readable - columns.x, mask.pitch) & ~15, columns.from);
  if ((((unsigned) (uintptr_t) image.source + columns.x * stride) | (unsigned) image.source_stride) & 15 || !has_pick)
    columns.to = columns.from;
  return columns;
}

/* Of four pixels of PIXEL bytes each, in as many words: the four bytes of each of the first three samples. */
template <int PIXEL>
static __device__ __forceinline__ void
take_apart (const unsigned *words, unsigned &first, unsigned &second, unsigned &third)
{
  if (PIXEL == 4) { /* two samples share permutations */
    unsigned a = __byte_perm (words[0], words[1], A0_B0_A1_B1), b = __byte_perm (words[2], words[3], A0_B0_A1_B1);

    first = __byte_perm (a, b, A0_A1_B0_B1);
    second = __byte_perm (a, b, A2_A3_B2_B3);
    third = __byte_perm (__byte_perm (words[0], words[1], A2_B2), __byte_perm (words[2], words[3], A2_B2), A0_A1_B0_B1);
  } else {
    first = __byte_perm (__byte_perm (words[0], words[1], A0_A3_B2), words[2], A0_A1_A2_B1);
    second = __byte_perm (__byte_perm (words[0], words[1], A1_B0_B3), words[2], A0_A1_A2_B2);
    third = __byte_perm (__byte_perm (words[0], words[1], A2_B1), words[2], A0_A1_B0_B3);
  }
}

/* Writes a chunk of pixels of PIXEL samples to the planes of the first three; see unpack_chunk (). */
template <int PIXEL, int N>
static __device__ __forceinline__ void
unpack_colours (const ConvolveImage &image, const TensorParameters &mask, const unsigned (&words)[N], bool is_zero,
    uint8_t *to)
{
  unsigned samples[COLOURS][4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    take_apart<PIXEL> (&words[PIXEL * i % N], samples[0][i], samples[1][i], samples[2][i]);
#pragma unroll
  for (int s = 0; s < COLOURS; s++, to += mask.plane_size) {
    const unsigned level = is_zero ? (unsigned) image.zero[s] * 0x1010101 : 0;

    *(uint4 *) to = is_zero ? make_uint4 (level, level, level, level)
                            : make_uint4 (samples[s][0], samples[s][1], samples[s][2], samples[s][3]);
  }
}

/* Loads a chunk of `stride` times 16 bytes into N words; words that the chunk does not have become 0. */
template <int N>
static __device__ __forceinline__ void
load_chunk (const uint8_t *pixels, int stride, unsigned (&words)[N])
{
#pragma unroll
  for (int i = 0; i < N / 4; i++) {
    uint4 four = i < stride ? ((const uint4 *) pixels)[i] : make_uint4 (0, 0, 0, 0);

    words[4 * i] = four.x;
    words[4 * i + 1] = four.y;
    words[4 * i + 2] = four.z;
    words[4 * i + 3] = four.w;
  }
}

/*
 * Writes a chunk to the planes of samples first .. last - 1; `to` is its place in the first of these. is_zero: the
 * chunk lies outside the image, and words are not read.
 */
template <typename T, int N>
static __device__ __forceinline__ void
unpack_chunk (const ConvolveImage &image, const TensorParameters &mask, const unsigned (&words)[N], bool is_zero,
    int stride, int first, int last, uint8_t *to)
{
  for (int sample = first; sample < last; sample++, to += sizeof (T) * mask.plane_size) {
    unsigned level = (unsigned) image.zero[sample], level_low = (level & 255) * 0x1010101;
    unsigned level_high = (level >> 8) * 0x1010101;
    uint4 low = make_uint4 (level_low, level_low, level_low, level_low);
    uint4 high = make_uint4 (level_high, level_high, level_high, level_high);

    if (!is_zero && sizeof (T) == 1) {
      low = pick (words, stride, sample);
    } else if (!is_zero) {
      low = pick (words, stride, 2 * sample + image.swapped);
      high = pick (words, stride, 2 * sample + !image.swapped);
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

/*
 * Loads the columns that lie in the image. top is the image's row of the block's first outputs, first .. last - 1 are
 * the samples to take, and set is the number of the thread's set of warps (see the kernel).
 */
template <typename T, int PIXEL>
static __device__ __forceinline__ void
load_inside (const ConvolveImage &image, const TensorParameters &mask, const Columns &columns, int top, int first,
    int last, int set, uint8_t *tile)
{
  /* A thread loads several rows before it unpacks the first, so that their latencies overlap. */
  const int BATCH = PIXEL > 1 ? 2 : PIXEL == 1 || sizeof (T) == 2 ? 4 : 1;
  int rows = HEIGHT + image.mask_height - 1, stride = PIXEL ? PIXEL * sizeof (T) : image.pixel_stride;
  int thread = (set * WARPS + threadIdx.y) * 32 + threadIdx.x, row = divide (thread, mask.chunks_reciprocal);
  int column = (thread - row * mask.chunks) * CHUNK;

  if (row >= mask.rows_at_once || column < columns.from || column >= columns.to)
    return;
  const int y = top - image.mask_height / 2;
  const int64_t offset = (int64_t) (columns.x + column) * stride, advance = mask.rows_at_once * image.source_stride;
  const uint8_t *next = image.source + (y + row) * image.source_stride + offset;
  uint8_t *to = tile + row * mask.pitch + column;

  if (PIXEL == 1 && sizeof (T) == 1 && y >= 0 && y + rows <= image.height) {
    for (; row < rows; row += mask.rows_at_once, next += advance, to += mask.rows_at_once * mask.pitch)
      convolve_copy_later (to, next);
    return;
  }
  for (; row < rows; row += BATCH * mask.rows_at_once) {
    unsigned words[BATCH][PIXEL ? 4 * PIXEL * sizeof (T) : 16];
    bool is_zero[BATCH];

#pragma unroll
    for (int b = 0; b < BATCH; b++, next += advance) {
      int at = row + b * mask.rows_at_once;
      const uint8_t *pixels = next;

      if ((unsigned) (y + at) >= (unsigned) image.height) {
        pixels = find_row (image, mask, y + at);
        pixels = pixels ? pixels + offset : NULL;
      }
      is_zero[b] = !pixels;
      if (pixels && at < rows) {
        if (sizeof (T) == 1 && stride == 1)
          convolve_copy_later (tile + at * mask.pitch + column, pixels);
        else
          load_chunk (pixels, stride, words[b]);
      }
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      int at = row + b * mask.rows_at_once;
      bool is_copied = sizeof (T) == 1 && stride == 1 && !is_zero[b];

      if (PIXEL > 1 && at < rows)
        unpack_colours<PIXEL> (image, mask, words[b], is_zero[b], tile + at * mask.pitch + column);
      else if (at < rows && !is_copied)
        unpack_chunk<T> (image, mask, words[b], is_zero[b], stride, first, last, tile + at * mask.pitch + column);
    }
  }
}

/*
 * Fills the other columns, four samples at a time, after load_inside () is done in all threads. Where the boundary
 * takes all four from columns that are loaded, the tile has them; otherwise they come from the image.
 */
template <typename T>
static __device__ __forceinline__ void
load_outside (const ConvolveImage &image, const TensorParameters &mask, const Columns &columns, int top, int first,
    int last, int set, int sets, uint8_t *tile)
{
  int inside = columns.to - columns.from, words = (mask.pitch - inside) / 4;
  int rows = HEIGHT + image.mask_height - 1, y = top - image.mask_height / 2;

  for (int i = (set * WARPS + threadIdx.y) * 32 + threadIdx.x; i < rows * words; i += sets * THREADS) {
    int row = i / words, column = (i - row * words) * 4, x[4];
    uint8_t *line = tile + row * mask.pitch;
    bool is_loaded = true;

    column += column >= columns.from ? inside : 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      x[k] = fold (mask.fold_x, mask.boundary, columns.x + column + k, image.width);
      is_loaded &= x[k] >= columns.x + columns.from && x[k] < columns.x + columns.to;
    }
    if (is_loaded) {
      for (int plane = 0; plane < (last - first) * (int) sizeof (T); plane++, line += mask.plane_size) {
        const uint8_t *from = line - columns.x;

        *(unsigned *) (line + column) = __byte_perm (__byte_perm (from[x[0]], from[x[1]], A0_B0),
            __byte_perm (from[x[2]], from[x[3]], A0_B0), A0_A1_B0_B1);
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
          __byte_perm (__byte_perm (word[0], word[1], A0_B0), __byte_perm (word[2], word[3], A0_B0), A0_A1_B0_B1);
      if (sizeof (T) == 2)
        *(unsigned *) (line + column + mask.plane_size) =
            __byte_perm (__byte_perm (word[0], word[1], A1_B1), __byte_perm (word[2], word[3], A1_B1), A0_A1_B0_B1);
    }
  }
}

#endif
