/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How tensor-separable and tensor-fused bring rows of samples to shared memory. Samples keep the order that they have
 * in memory, and those outside the image have their places beside the others. A block of tensor-separable copies the
 * operands, too. The words group, window, lead and chunk are those of cuda/tensor/tensor_products.h.
 */
#ifndef CONVOLVE_CUDA_TENSOR_ROWS_CUH
#define CONVOLVE_CUDA_TENSOR_ROWS_CUH

#include "cuda/tensor/tensor_common.cuh"
#include "cuda/tensor/tensor_products.h"
#include "cuda/device/words.cuh"

#define TILE_WARPS CONVOLVE_TENSOR_PRODUCTS_WARPS /* side by side */
#define TILE_THREADS (32 * TILE_WARPS)
#define CHUNK CONVOLVE_TENSOR_PRODUCTS_CHUNK
#define LEFT_PIXELS (1 << 14) /* no tile begins further left of the image, in pixels */

/* The mask and the plane as the kernels take them. Lengths along a row are bytes. */
struct ProductsParameters
{
  const uint4 *operands;
  int operands_count;                   /* chunks, with the header */
  int rank, segments, slabs, lead;      /* as in ConvolveTensorProducts */
  int left;                             /* of the first block's outputs, in the row; a multiple of 16 */
  int width, height;                    /* of a block's outputs; height is rows */
  int margin;                           /* of a tile before its first output: the lead, rounded up to 16 */
  int pitch, chunks, chunks_reciprocal; /* of a row of the tile; chunks in it; for divide () */
  int rows_at_once;                     /* rows that all threads of a block load at once */
  int tile_size;
  int samples;         /* of a pixel */
  bool aligned;        /* rows of the source begin at multiples of 16 */
  bool aligned_stores; /* a lane's four outputs can be written as one word */
  bool copies;         /* not all samples of a pixel are convolved */
  bool apart;    /* as in ConvolveTensorProducts: nothing is aligned then, and lengths are those of dense samples */
  bool overlaps; /* launches overlap, so that the kernel calls convolve_wait () */
  ConvolveBoundary boundary;
  int down, centre;
  unsigned scale[CONVOLVE_MAX_RANK];
  int row_start[CONVOLVE_MAX_RANK], shift;
  bool has_integer_tail;
  ConvolveIntegerTail integer_tail;
  float offset[4]; /* of the tail in use, for four samples side by side */
};

/* The sources of a word of four bytes that may lie outside the image: of four samples, or of two deep ones. */
template <typename T>
struct Word
{
  static constexpr int count = 4 / (int) sizeof (T);
  int from[count];       /* where each sample is, in bytes from the beginning of its row */
  bool outside[count];   /* the zero level stands for the sample; from is a place that can be read all the same */
  unsigned level[count]; /* the zero level, as it would lie in memory */
};

/* For the word that begins at byte `at` of a row, which may be negative or beyond the row's end. */
template <typename T>
static __device__ __forceinline__ Word<T>
find_word (const ConvolveImage &image, const ProductsParameters &mask, int64_t at)
{
  Word<T> word;

#pragma unroll
  for (int i = 0; i < word.count; i++) {
    unsigned index = (unsigned) (at / (int) sizeof (T) + i + mask.samples * LEFT_PIXELS); /* not negative */
    int x = (int) (index / mask.samples), sample = (int) (index - x * mask.samples);

    x = convolve_find_index (mask.boundary, x - LEFT_PIXELS, image.width);
    word.outside[i] = x < 0;
    word.from[i] = x < 0 ? 0 : x * image.pixel_stride + sample * (int) sizeof (T);
    word.level[i] = (unsigned) (int) image.zero[sample] << image.shift;
  }
  return word;
}

/*
 * Whether a tile has all samples of the word in its bytes first .. stop - 1. The tile's byte 0 is byte `begin` of the
 * image's row. If so, word.from becomes places in the tile; for samples outside the image that is `column`, the place
 * of the word itself.
 */
template <typename T>
static __device__ __forceinline__ bool
find_in_tile (Word<T> &word, int64_t begin, int first, int stop, int column)
{
  bool found = true;

#pragma unroll
  for (int i = 0; i < word.count; i++)
    found = found && (word.outside[i] || (word.from[i] >= begin + first && word.from[i] < begin + stop));
#pragma unroll
  for (int i = 0; i < word.count && found; i++)
    word.from[i] = word.outside[i] ? column : word.from[i] - (int) begin;
  return found;
}

/*
 * The word, read from a row of the image or of the tile. outside: the row lies outside the image, and the zero
 * level stands for all samples. Every sample is loaded even if it is not used: with a branch, each load would wait for
 * the one before.
 */
template <typename T>
static __device__ __forceinline__ unsigned
read_word (const ConvolveImage &image, const Word<T> &word, const uint8_t *row, bool outside)
{
  unsigned all = 0;

#pragma unroll
  for (int i = 0; i < word.count; i++) {
    unsigned sample = *(const T *) (row + word.from[i]);

    if (sizeof (T) > 1)
      sample = convolve_swap (image, sample);
    all |= (outside || word.outside[i] ? word.level[i] : sample) << i * 8 * sizeof (T);
  }
  return all;
}

/* The chunk at byte `at` of a row outside the image. */
template <typename T>
static __device__ __noinline__ uint4
zero_level (const ConvolveImage &image, const ProductsParameters &mask, unsigned at)
{
  unsigned words[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    words[i] = read_word (image, find_word<T> (image, mask, at + 4 * i), image.source, true);
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Four words of deep samples, without unused bits and none above the largest. */
static __device__ __forceinline__ uint4
clean_chunk (const ConvolveImage &image, uint4 words)
{
  return make_uint4 (convolve_clean (image, words.x), convolve_clean (image, words.y), convolve_clean (image, words.z),
      convolve_clean (image, words.w));
}

/* Four clean words with as many of the unused bits as the first pass takes. */
static __device__ __forceinline__ uint4
shift_chunk (const ProductsParameters &mask, uint4 words)
{
  return make_uint4 (words.x >> mask.down, words.y >> mask.down, words.z >> mask.down, words.w >> mask.down);
}

/*
 * Loads n chunks of each of `rows` rows into the tile. The chunks lie inside the image's width and begin at byte
 * `column` of its rows; y is the image's row of the first, which may lie outside. Bytes are copied, deep samples go
 * through registers to be cleaned.
 */
template <typename T>
static __device__ __forceinline__ void
load_rows (const ConvolveImage &image, const ProductsParameters &mask, int rows, int y, unsigned column, int thread,
    int n, uint8_t *tile)
{
  /* A thread loads several rows before it writes the first, so that their latencies overlap. Copies do not wait. */
  const int BATCH = sizeof (T) == 1 ? 1 : 4;
  int row = divide (thread, n == mask.chunks ? mask.chunks_reciprocal : reciprocal (n));
  int at = (thread - row * n) * CHUNK;
  int at_once = n == mask.chunks ? mask.rows_at_once : TILE_THREADS / n; /* rows, by all threads */

  if (row >= at_once)
    return;
  tile += at;
  column += at;
  if (sizeof (T) == 1 && y >= 0 && y + rows <= image.height) {
    const uint8_t *next = image.source + (y + row) * image.source_stride + column;
    const int64_t stride = at_once * image.source_stride;

    tile += row * mask.pitch;
#pragma unroll 1
    for (; row < rows; row += at_once, next += stride, tile += at_once * mask.pitch)
      convolve_copy_line_later (tile, next);
    return;
  }
#pragma unroll 1
  for (; row < rows; row += at_once * BATCH) {
    uint4 words[BATCH];

#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      int inside = convolve_boundary_index (mask.boundary, y + row + b * at_once, image.height);
      const uint8_t *line = image.source + inside * image.source_stride + column;

      words[b] = make_uint4 (0, 0, 0, 0);
      if (row + b * at_once < rows && inside >= 0) {
        if (sizeof (T) == 1)
          convolve_copy_line_later (tile + row * mask.pitch, line);
        else
          words[b] = __ldg ((const uint4 *) line);
      } else if (row + b * at_once < rows) {
        words[b] = zero_level<T> (image, mask, column);
        if (sizeof (T) == 1)
          *(uint4 *) (tile + row * mask.pitch) = words[b];
      }
    }
    if (sizeof (T) == 2)
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        if (row + b * at_once < rows)
          *(uint4 *) (tile + (row + b * at_once) * mask.pitch) = shift_chunk (mask, clean_chunk (image, words[b]));
  }
}

/*
 * Fills the chunks of the tile before number `first` and from number `stop` on, word by word. Waits for all other
 * threads before: where the boundary takes a word's samples from the chunks that are loaded, the tile has them, which
 * is faster than to load them again from the image.
 */
template <typename T>
static __device__ __noinline__ void
fill_sides (const ConvolveImage &image, const ProductsParameters &mask, int64_t begin, int first, int stop, int y,
    int rows, uint8_t *tile)
{
  const int thread = threadIdx.y * 32 + threadIdx.x, words = (first + mask.chunks - stop) * 4;
  const int across = min (words, TILE_THREADS), at_once = TILE_THREADS / across, start = thread / across;

#pragma unroll 1
  for (int w = thread - start * across, waited = 0; w < words; w += across) {
    const int column = (w < first * 4 ? w : w + (stop - first) * 4) * 4;
    Word<T> word = find_word<T> (image, mask, begin + column);

    if (!waited)
      convolve_wait_for_copies ();
    waited = 1;
    if (find_in_tile (word, begin, first * CHUNK, stop * CHUNK, column)) {
#pragma unroll
      for (int i = 0; i < word.count && sizeof (T) > 1; i++)
        word.level[i] >>= mask.down; /* as the samples of the tile are */
#pragma unroll 4
      for (int row = start; row < rows && start < at_once; row += at_once)
        *(unsigned *) (tile + row * mask.pitch + column) = read_word (image, word, tile + row * mask.pitch, false);
    } else {
#pragma unroll 4
      for (int row = start; row < rows && start < at_once; row += at_once) {
        int inside = convolve_boundary_index (mask.boundary, y + row, image.height);
        unsigned all = read_word (image, word, image.source + max (inside, 0) * image.source_stride, inside < 0);

        *(unsigned *) (tile + row * mask.pitch + column) =
            sizeof (T) == 1 ? all : convolve_clean (image, all) >> mask.down;
      }
    }
  }
}

/* For a block of tensor-separable: loads the operands, and the tile for its outputs of rows top .. bottom - 1. */
template <typename T>
static __device__ __forceinline__ void
load_tile (const ConvolveImage &image, const ProductsParameters &mask, int top, int bottom, uint4 *operands,
    uint8_t *tile)
{
  const int thread = threadIdx.y * 32 + threadIdx.x, rows = bottom - top + image.mask_height - 1;
  const int y = top - image.mask_height / 2;
  const int64_t begin = (int64_t) mask.left + blockIdx.x * mask.width - mask.margin;
  /* Chunks first .. stop - 1 lie in the image and are loaded as they are. */
  const int first = !mask.aligned ? mask.chunks : begin < 0 ? min ((int) -begin / CHUNK, mask.chunks) : 0;
  const int stop = max ((int) min ((image.width * image.pixel_stride - begin) / CHUNK, (int64_t) mask.chunks), first);

  if (stop > first)
    load_rows<T> (image, mask, rows, y, (unsigned) (begin + first * CHUNK), thread, stop - first, tile + first * CHUNK);
#pragma unroll 1
  for (int i = thread; i < mask.operands_count; i += TILE_THREADS)
    convolve_copy_line_later (operands + i, mask.operands + i);
  if (first > 0 || stop < mask.chunks)
    fill_sides<T> (image, mask, begin, first, stop, y, rows, tile);
  convolve_wait_for_copies ();
}

#endif
