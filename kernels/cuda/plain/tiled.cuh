/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile of tiled, and the sums of its threads. */
#ifndef CONVOLVE_CUDA_TILED_CUH
#define CONVOLVE_CUDA_TILED_CUH

#include "cuda/device/launch.cuh"
#include "cuda/plain/tiled.h"

#define WIDTH 32 /* outputs of a block side by side, one for each lane */
#define WARPS 8  /* of a block */
#define THREADS (WIDTH * WARPS)
#define TALL 32 /* rows and columns of a mask that are done with one tile */
#define WIDE 30
#define PITCH 64           /* samples from row to row of the tile: WIDTH + WIDE - 1, and 3 in front of them */
#define CHUNKS (PITCH / 4) /* of four samples that a thread loads together, in a row of the tile */

static_assert (CONVOLVE_TILED_STEP == 4 && WIDTH + WIDE - 1 + 3 <= PITCH,
    "four samples are a chunk, and four taps a step");

/* Values that a thread takes from memory, or puts there, in one word or in words of 16 bytes. */
template <typename Value>
struct alignas (sizeof (Value) < 4 ? 4 * sizeof (Value) : 16) Four
{
  Value at[4];
};

/* In sums of integers, samples in shared memory are integers, too. Doubles would take too much of it. */
template <typename Sum>
struct Tiled
{
  typedef float Value;
};
template <>
struct Tiled<uint32_t>
{
  typedef uint32_t Value;
};

/* Four samples side by side. With WORDS, they lie in one word. */
template <typename T, int P, bool WORDS, typename Value>
static __device__ __forceinline__ Four<Value>
load_four (const ConvolveImage &image, int x, int y)
{
  Four<Value> four;

  if (P == CONVOLVE_ANYWHERE && x >= 0 && y >= 0 && x + 4 <= image.width && y < image.height)
    return load_four<T, CONVOLVE_INSIDE, false, Value> (image, x, y);
  if (WORDS) {
    const Four<T> words = *(const Four<T> *) convolve_source<T> (image, x, y, 0);

#pragma unroll
    for (int k = 0; k < 4; k++)
      four.at[k] = sizeof (T) == 1
          ? (Value) words.at[k]
          : (Value) min ((int) (convolve_swap (image, words.at[k]) >> image.shift), image.maximum);
  } else {
#pragma unroll
    for (int k = 0; k < 4; k++)
      four.at[k] = (Value) convolve_load<T, P> (image, x + k, y, blockIdx.z);
  }
  return four;
}

/* All threads together fill width x height samples of the tile. The first is the one at left and top in the image. */
template <typename T, int P, bool WORDS, typename Value>
static __device__ __forceinline__ void
load_tile (const ConvolveImage &image, int left, int top, int width, int height, Value (*tile)[PITCH])
{
  const int thread = threadIdx.y * WIDTH + threadIdx.x, column = thread % CHUNKS * 4;

  if (column >= width)
    return;
#pragma unroll(P == CONVOLVE_INSIDE ? 4 : 1)
  for (int j = thread / CHUNKS; j < height; j += THREADS / CHUNKS)
    *(Four<Value> *) &tile[j][column] = load_four<T, P, WORDS, Value> (image, left + column, top + j);
}

/*
 * Adds the products of a column of taps to N outputs below each other, for S sets of taps. samples is the sample under
 * the first tap of the first output, and count a multiple of 4. In a step, four taps of each set meet a window of N + 3
 * samples, which then slides down by four:
 *
 *     sums[s][c] += tap[k] * window[c + k]      c = 0 .. N - 1, k = 0 .. 3
 *
 * After three steps, a window of 12 samples is in the registers in which it was, so that nothing is moved.
 */
template <int S, int N, typename Sum, typename Value>
static __device__ __forceinline__ void
add_column (const Sum *__restrict__ taps, int count, const Value *samples, Sum (&sums)[S][N])
{
  Sum window[N + 4];

#pragma unroll
  for (int c = 0; c < N; c++, samples += PITCH)
    window[c] = (Sum) *samples;
#pragma unroll 3
  for (int j = 0; j < count; j += 4, taps += S * 4) {
#pragma unroll
    for (int k = 0; k < 4; k++, samples += PITCH)
      window[N + k] = (Sum) *samples;
#pragma unroll
    for (int s = 0; s < S; s++) {
      const Four<Sum> own = *(const Four<Sum> *) (taps + s * 4);

#pragma unroll
      for (int k = 0; k < 4; k++)
#pragma unroll
        for (int c = 0; c < N; c++)
          sums[s][c] += own.at[k] * window[c + k];
    }
#pragma unroll
    for (int c = 0; c < N; c++)
      window[c] = window[c + 4];
  }
}

/*
 * The sums of a thread: N outputs below each other, for S sets of taps. All threads of the block call this. A mask is
 * done in pieces of up to 32 rows and 30 columns, and the tile with its halo is that of a piece, so that it has one size
 * for all masks. Rows that only taps of 0 meet are loaded, too, because they have to be numbers.
 *
 * The sum of a piece adds up the sums of its columns. So a product goes through no more roundings than the mask has rows
 * and columns together, as common/taps.c has it.
 */
template <typename T, int S, int N, typename Sum>
static __device__ __forceinline__ void
convolve_tiled_sums (const ConvolveImage &image, const ConvolveTiledTaps &mask, Sum (&sums)[S][N])
{
  typedef typename Tiled<Sum>::Value Value;
  const int outputs = WARPS * N;
  __shared__ __align__ (16) Value tile[outputs + TALL][PITCH];
  int left = image.x0 + blockIdx.x * WIDTH - image.mask_width / 2, row = threadIdx.y * N;
  int top = image.y0 + blockIdx.y * outputs - image.mask_height / 2;
  bool has_outputs = image.y0 + (int) blockIdx.y * outputs + row < image.y1;
  bool are_words = image.pixel_stride == sizeof (T)
      && ((uintptr_t) image.source | (uintptr_t) image.source_stride) % sizeof (Four<T>) == 0;

  for (int j = 0; j < mask.column_height; j += TALL)
    for (int i = 0; i < image.mask_width; i += WIDE) {
      int columns = min (WIDE, image.mask_width - i), rows = min (TALL, mask.column_height - j);
      int x = (left + i) & ~3, y = top + j, before = (left + i) & 3; /* samples that only align the tile */
      int width = (before + WIDTH + columns - 1 + 3) & ~3, height = outputs + rows;
      bool inside = x >= 0 && y >= 0 && x + width <= image.width && y + height <= image.height;
      Sum piece[S][N] = {};

      __syncthreads (); /* the tile of the piece before is done with */
      if (inside && are_words)
        load_tile<T, CONVOLVE_INSIDE, true> (image, x, y, width, height, tile);
      else if (inside)
        load_tile<T, CONVOLVE_INSIDE, false> (image, x, y, width, height, tile);
      else
        load_tile<T, CONVOLVE_ANYWHERE, false> (image, x, y, width, height, tile);
      __syncthreads (); /* the tile is whole */

      for (int k = 0; k < columns && has_outputs; k++) {
        Sum column[S][N] = {};

        add_column<S, N, Sum> ((const Sum *) mask.columns + S * ((i + k) * mask.column_height + j), rows,
            &tile[row][before + threadIdx.x + k], column);
#pragma unroll
        for (int c = 0; c < S * N; c++)
          piece[c / N][c % N] += column[c / N][c % N];
      }
#pragma unroll
      for (int c = 0; c < S * N; c++)
        sums[c / N][c % N] += piece[c / N][c % N];
    }
}

#endif
