/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of layer/cuda/gemm.cu: input to shared memory, weights to shared memory, and products of both. */
#ifndef CONVOLVE_LAYER_CUDA_GEMM_CUH
#define CONVOLVE_LAYER_CUDA_GEMM_CUH

#include "layer/cuda/gemm.h"
#include "layer/cuda/launch.cuh"
#include "layer/cuda/mma.cuh"

#define LANES CONVOLVE_LAYER_GEMM_LANES
#define WARPS CONVOLVE_LAYER_GEMM_WARPS
#define THREADS (LANES * WARPS)
#define STAGES CONVOLVE_LAYER_GEMM_STAGES

/* The largest number of a warp's. */
__device__ __forceinline__ unsigned
warp_most (unsigned number)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync (0xffffffff, number);
#else
  return number;
#endif
}

/* Keeps two neighbours whose bits were read; those outside the image are 0. Returns the larger magnitude. */
template <typename T, typename Pair>
__device__ __forceinline__ float
keep_bits (const ConvolveLayerView &view, uint32_t first, uint32_t second, bool has_first, bool has_second, Pair *pair)
{
  if (sizeof (T) == sizeof (uint16_t) && Pair::terms == 1) {
    pair->word = (has_first ? first : 0) | (has_second ? second : 0) << 16;
    return 0;
  }
  float a = has_first ? convolve_layer_value<T> (view, first) : 0;
  float b = has_second ? convolve_layer_value<T> (view, second) : 0;
  convolve_keep (a, b, pair);
  return fmaxf (fabsf (a), fabsf (b));
}

/*
 * All threads together load a chunk of planes of the input under the tile as pairs: each PLACES places of PLANES planes
 * at once, so that many loads are under way before the first is used. Returns the largest magnitude.
 */
template <typename T, int PLACES, int PLANES, typename Pair>
__device__ __forceinline__ float
load_places (const ConvolveLayerView &view, const int *places, const uint8_t *const *planes, int count, Pair *patches)
{
  const ConvolveLayerTiles &tiles = view.tiles;
  int all = tiles.patch_height * tiles.pitch;
  float most = 0;

  for (int n = threadIdx.x; n < all; n += PLACES * THREADS) {
    int here[PLACES], next[PLACES];

#pragma unroll
    for (int i = 0; i < PLACES; i++) {
      int at = min (n + i * THREADS, all); /* the last is nowhere */

      here[i] = places[at];
      next[i] = view.gemm_row_pairs ? places[min (at + 1, all)] : here[i];
    }
    for (int p = 0; p < count; p += PLANES) {
      uint32_t bits[PLACES][PLANES][2];

#pragma unroll
      for (int j = 0; j < PLANES; j++) {
        int plane = min (p + j, count - 1);
        const uint8_t *first = planes[view.gemm_row_pairs ? plane : 2 * plane];
        const uint8_t *second = planes[view.gemm_row_pairs ? plane : 2 * plane + 1];

#pragma unroll
        for (int i = 0; i < PLACES; i++) {
          bits[i][j][0] = convolve_layer_bits<T> (first + (here[i] == CONVOLVE_LAYER_ZERO_PADDING ? 0 : here[i]));
          bits[i][j][1] = convolve_layer_bits<T> (second + (next[i] == CONVOLVE_LAYER_ZERO_PADDING ? 0 : next[i]));
        }
      }
#pragma unroll
      for (int i = 0; i < PLACES; i++)
#pragma unroll
        for (int j = 0; j < PLANES; j++)
          if (n + i * THREADS < all)
            most = fmaxf (most,
                keep_bits<T> (view, bits[i][j][0], bits[i][j][1], here[i] != CONVOLVE_LAYER_ZERO_PADDING,
                    next[i] != CONVOLVE_LAYER_ZERO_PADDING,
                    &patches[min (p + j, count - 1) * tiles.plane + n + i * THREADS]));
    }
  }
  return most;
}

template <typename T, typename Pair>
__device__ __forceinline__ float
load_patches (const ConvolveLayerView &view, const int *places, const uint8_t *const *planes, int count, Pair *patches)
{
  return count >= 4 ? load_places<T, 2, 4> (view, places, planes, count, patches)
                    : load_places<T, 4, 1> (view, places, planes, count, patches);
}

/* float16 needs no scale. */
__device__ __forceinline__ float
scale_patches (const ConvolveLayerView &view, float most, unsigned *chunk_most, unsigned *next_most, int count,
    ConvolveHalves *patches)
{
  return 1;
}

/*
 * Brings the largest sample of the chunk to 2^14 .. 2^15, where float16 has its full precision, and splits all of them.
 * Returns the inverse of that scale and of the weights' common one, 2^15. chunk_most is 0 before; the next chunk's
 * becomes that.
 */
__device__ __forceinline__ float
scale_patches (const ConvolveLayerView &view, float most, unsigned *chunk_most, unsigned *next_most, int count,
    ConvolveSplit *patches)
{
  const ConvolveLayerTiles &tiles = view.tiles;
  unsigned bits = warp_most (__float_as_uint (most)), exponent;

  if (threadIdx.x % LANES == 0)
    atomicMax (chunk_most, bits);
  __syncthreads ();
  if (threadIdx.x == 0)
    *next_most = 0;
  exponent = max (*chunk_most >> 23, 30u);
#pragma unroll 4
  for (int n = threadIdx.x; n < count * tiles.plane; n += THREADS)
    convolve_split (__uint_as_float ((268 - exponent) << 23), &patches[n]);
  return __uint_as_float ((exponent - 29) << 23); /* 2^-14, and 2^-15 for the weights */
}

/* Sixteen products of M x 16 filters and N x 8 outputs. */
template <int M, int N>
__device__ __forceinline__ void
multiply (const uint4 *weights, const ConvolveHalves *patches, const int *bases, int first, int second,
    float (*sums)[N][4])
{
  uint4 a[M];

#pragma unroll
  for (int m = 0; m < M; m++)
    a[m] = weights[m * LANES];
#pragma unroll
  for (int n = 0; n < N; n++) {
    uint32_t b0 = patches[bases[n] + first].word, b1 = patches[bases[n] + second].word;

#pragma unroll
    for (int m = 0; m < M; m++)
      convolve_multiply (sums[m][n], a[m], b0, b1);
  }
}

template <int M, int N>
__device__ __forceinline__ void
multiply (const uint4 *weights, const ConvolveSplit *patches, const int *bases, int first, int second,
    float (*sums)[N][4])
{
  uint4 a[M], rest[M];

#pragma unroll
  for (int m = 0; m < M; m++) {
    a[m] = weights[2 * m * LANES];
    rest[m] = weights[(2 * m + 1) * LANES];
  }
#pragma unroll
  for (int n = 0; n < N; n++) {
    uint2 b0 = *(const uint2 *) &patches[bases[n] + first], b1 = *(const uint2 *) &patches[bases[n] + second];

#pragma unroll
    for (int m = 0; m < M; m++)
      convolve_multiply (sums[m][n], rest[m], b0.x, b1.x);
#pragma unroll
    for (int m = 0; m < M; m++)
      convolve_multiply (sums[m][n], a[m], b0.y, b1.y);
#pragma unroll
    for (int m = 0; m < M; m++)
      convolve_multiply (sums[m][n], a[m], b0.x, b1.x);
  }
}

template <int M, int N>
__device__ __forceinline__ void
add_up (float (*sums)[N][4], float (*parts)[N][4], float scale)
{
#pragma unroll
  for (int i = 0; i < M * N * 4; i++) {
    sums[i / 4 / N][i / 4 % N][i % 4] =
        fmaf (parts[i / 4 / N][i / 4 % N][i % 4], scale, sums[i / 4 / N][i / 4 % N][i % 4]);
    parts[i / 4 / N][i / 4 % N][i % 4] = 0;
  }
}

/*
 * The stretches of weights of a group of filters, one behind the other as they are used; steps of 16 products make
 * one.
 */
template <typename Pair, int M>
struct Stretches
{
  static constexpr int steps = 4 / Pair::terms, step = M * Pair::terms * LANES, size = steps * step;
  const uint4 *from; /* the next */
  uint4 *ring;
  int number, left; /* of the next; steps that are left of its chunk */
  int chunks;       /* that are left */

  __device__ __forceinline__ void
  fetch (int steps_of_chunk)
  {
    int n = min (steps, left) * step;

    if (chunks > 0)
      for (int i = threadIdx.x; i < n; i += THREADS)
        convolve_fetch (ring + number % STAGES * size + i, from + i);
    convolve_fetched ();
    from += n;
    number++;
    left -= steps;
    if (left <= 0) {
      left = steps_of_chunk;
      chunks--;
    }
  }
};

#endif
