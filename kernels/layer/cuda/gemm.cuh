/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the kernel in gemm.cu: the patch and the weights come to shared memory, and are multiplied there. */
#ifndef CONVOLVE_LAYER_CUDA_GEMM_CUH
#define CONVOLVE_LAYER_CUDA_GEMM_CUH

#include "layer/cuda/gemm.h"
#include "layer/cuda/launch.cuh"
#include "layer/cuda/mma.cuh"

#define LANES CONVOLVE_LAYER_GEMM_LANES
#define WARPS CONVOLVE_LAYER_GEMM_WARPS
#define THREADS (LANES * WARPS)
#define STAGES CONVOLVE_LAYER_GEMM_STAGES

/* The largest number among the lanes of a warp. */
__device__ __forceinline__ unsigned
warp_largest (unsigned number)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync (0xffffffff, number);
#else
  return number;
#endif
}

/*
 * Stores a pair of samples whose bits were loaded; those in zero padding become 0. Returns the larger magnitude, or 0
 * where the pair needs no scale.
 */
template <typename T, typename Pair>
__device__ __forceinline__ float
store_bits (const ConvolveLayerView &view, uint32_t first, uint32_t second, bool has_first, bool has_second, Pair *pair)
{
  if (sizeof (T) == sizeof (uint16_t) && Pair::terms == 1) {
    pair->word = (has_first ? first : 0) | (has_second ? second : 0) << 16;
    return 0;
  }
  float a = has_first ? convolve_layer_value<T> (view, first) : 0;
  float b = has_second ? convolve_layer_value<T> (view, second) : 0;
  convolve_store_pair (a, b, pair);
  return fmaxf (fabsf (a), fabsf (b));
}

/*
 * Loads the first `count` planes of a chunk as pairs, all threads of the block together. A thread loads POSITIONS
 * positions of PLANES planes before it uses the first sample, so that many loads are in flight. `sources` has the
 * offset of each position of a patch in its channel, `channels` the address of each channel. Returns the largest
 * magnitude that this thread has loaded.
 */
template <typename T, int POSITIONS, int PLANES, typename Pair>
__device__ __forceinline__ float
load_planes (const ConvolveLayerView &view, const int *sources, const uint8_t *const *channels, int count,
    Pair *patches)
{
  const ConvolveLayerTiles &tiles = view.tiles;
  int positions = tiles.patch_height * tiles.pitch;
  float largest = 0;

  for (int n = threadIdx.x; n < positions; n += POSITIONS * THREADS) {
    int first_source[POSITIONS], second_source[POSITIONS];

#pragma unroll
    for (int i = 0; i < POSITIONS; i++) {
      int at = min (n + i * THREADS, positions); /* sources[positions] is zero padding */

      first_source[i] = sources[at];
      second_source[i] = view.gemm_row_pairs ? sources[min (at + 1, positions)] : first_source[i];
    }
    for (int p = 0; p < count; p += PLANES) {
      uint32_t bits[POSITIONS][PLANES][2];

#pragma unroll
      for (int j = 0; j < PLANES; j++) {
        int plane = min (p + j, count - 1);
        const uint8_t *first = channels[view.gemm_row_pairs ? plane : 2 * plane];
        const uint8_t *second = channels[view.gemm_row_pairs ? plane : 2 * plane + 1];

#pragma unroll
        for (int i = 0; i < POSITIONS; i++) {
          bits[i][j][0] =
              convolve_layer_bits<T> (first + (first_source[i] == CONVOLVE_LAYER_ZERO_PADDING ? 0 : first_source[i]));
          bits[i][j][1] = convolve_layer_bits<T> (
              second + (second_source[i] == CONVOLVE_LAYER_ZERO_PADDING ? 0 : second_source[i]));
        }
      }
#pragma unroll
      for (int i = 0; i < POSITIONS; i++)
#pragma unroll
        for (int j = 0; j < PLANES; j++)
          if (n + i * THREADS < positions)
            largest = fmaxf (largest,
                store_bits<T> (view, bits[i][j][0], bits[i][j][1], first_source[i] != CONVOLVE_LAYER_ZERO_PADDING,
                    second_source[i] != CONVOLVE_LAYER_ZERO_PADDING,
                    &patches[min (p + j, count - 1) * tiles.plane + n + i * THREADS]));
    }
  }
  return largest;
}

/* load_planes() with the loads in flight that suit the number of planes: 2 x 4 pairs, or 4 of one plane. */
template <typename T, typename Pair>
__device__ __forceinline__ float
load_patches (const ConvolveLayerView &view, const int *sources, const uint8_t *const *channels, int count,
    Pair *patches)
{
  return count >= 4 ? load_planes<T, 2, 4> (view, sources, channels, count, patches)
                    : load_planes<T, 4, 1> (view, sources, channels, count, patches);
}

/* One float16 for each number needs no scale. */
__device__ __forceinline__ float
scale_patches (const ConvolveLayerView &view, float largest, unsigned *chunk_largest, unsigned *next_largest, int count,
    ConvolveHalves *patches)
{
  return 1;
}

#define FLOAT_FRACTION_BITS 23
#define FLOAT_BIAS 127
/* The exponents by which the sums of a chunk are too large, but for the samples' own. */
#define SUM_EXPONENT (CONVOLVE_LAYER_GEMM_LARGEST_EXPONENT + CONVOLVE_LAYER_GEMM_COMMON_EXPONENT)

/* The float32 number 2^(biased_exponent - FLOAT_BIAS). */
__device__ __forceinline__ float
power_of_two (unsigned biased_exponent)
{
  return __uint_as_float (biased_exponent << FLOAT_FRACTION_BITS);
}

/*
 * Multiplies the samples of a chunk by the power of two that brings the largest magnitude to 2^14 .. 2^15, and splits
 * them. Returns the scale that the sums of the chunk need: the inverse of that power, and 2^-15 for the weights.
 * *chunk_largest is 0 before; it collects the bits of the block's largest magnitude, which order as the magnitudes do.
 * *next_largest becomes 0 for the next chunk.
 */
__device__ __forceinline__ float
scale_patches (const ConvolveLayerView &view, float largest, unsigned *chunk_largest, unsigned *next_largest, int count,
    ConvolveSplit *patches)
{
  const ConvolveLayerTiles &tiles = view.tiles;
  unsigned bits = warp_largest (__float_as_uint (largest)), exponent;

  if (threadIdx.x % LANES == 0)
    atomicMax (chunk_largest, bits);
  __syncthreads ();
  if (threadIdx.x == 0)
    *next_largest = 0;
  /* Biased. The smallest one allowed makes the result the smallest normal float32. */
  exponent = max (*chunk_largest >> FLOAT_FRACTION_BITS, SUM_EXPONENT + 1u);
#pragma unroll 4
  for (int n = threadIdx.x; n < count * tiles.plane; n += THREADS)
    convolve_split (power_of_two (2 * FLOAT_BIAS + CONVOLVE_LAYER_GEMM_LARGEST_EXPONENT - exponent), &patches[n]);
  return power_of_two (exponent - SUM_EXPONENT);
}

/*
 * Multiplies one slice: adds to the sums of M x 16 filters and N x 8 outputs the products of 8 pairs. `weights` has
 * this lane's vectors and `windows` the first word under each of this lane's N outputs. `first` and `second` are the
 * offsets of this lane's two pairs, which are b0 and b1 in mma.cuh.
 */
template <int M, int N>
__device__ __forceinline__ void
multiply (const uint4 *weights, const ConvolveHalves *patches, const int *windows, int first, int second,
    float (*sums)[N][4])
{
  uint4 a[M];

#pragma unroll
  for (int m = 0; m < M; m++)
    a[m] = weights[m * LANES];
#pragma unroll
  for (int n = 0; n < N; n++) {
    uint32_t b0 = patches[windows[n] + first].word, b1 = patches[windows[n] + second].word;

#pragma unroll
    for (int m = 0; m < M; m++)
      convolve_mma (sums[m][n], a[m], b0, b1);
  }
}

/* The same for numbers in two terms: three of the four products, the small ones first. */
template <int M, int N>
__device__ __forceinline__ void
multiply (const uint4 *weights, const ConvolveSplit *patches, const int *windows, int first, int second,
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
    uint2 b0 = *(const uint2 *) &patches[windows[n] + first], b1 = *(const uint2 *) &patches[windows[n] + second];

#pragma unroll
    for (int m = 0; m < M; m++)
      convolve_mma (sums[m][n], rest[m], b0.x, b1.x);
#pragma unroll
    for (int m = 0; m < M; m++)
      convolve_mma (sums[m][n], a[m], b0.y, b1.y);
#pragma unroll
    for (int m = 0; m < M; m++)
      convolve_mma (sums[m][n], a[m], b0.x, b1.x);
  }
}

/* Adds the sums of some slices, times their scale, to the sums of the layer, and clears them. */
template <int M, int N>
__device__ __forceinline__ void
add_scaled (float (*sums)[N][4], float (*slice_sums)[N][4], float scale)
{
#pragma unroll
  for (int i = 0; i < M * N * 4; i++) {
    sums[i / 4 / N][i / 4 % N][i % 4] =
        fmaf (slice_sums[i / 4 / N][i / 4 % N][i % 4], scale, sums[i / 4 / N][i / 4 % N][i % 4]);
    slice_sums[i / 4 / N][i / 4 % N][i % 4] = 0;
  }
}

/*
 * The pipeline that brings the weights of M x 16 filters to shared memory, in the order in which they are used. A stage
 * has `slices` slices; the last stage of a chunk may have fewer.
 */
template <typename Pair, int M>
struct WeightPipeline
{
  static constexpr int slices = CONVOLVE_LAYER_GEMM_STAGE_VECTORS / Pair::terms;
  static constexpr int slice_size = M * Pair::terms * LANES, stage_size = slices * slice_size; /* vectors */
  const uint4 *from;     /* the next stage, in global memory */
  uint4 *ring;           /* STAGES stages, in shared memory */
  int next, slices_left; /* number of the next stage; slices of its chunk that are not copied yet */
  int chunks_left;       /* chunks that are not copied yet, with the one of the next stage */

  /* Starts to copy the next stage, all threads of the block together; an empty batch where nothing is left. */
  __device__ __forceinline__ void
  prefetch (int slices_of_chunk)
  {
    int n = min (slices, slices_left) * slice_size;

    if (chunks_left > 0)
      for (int i = threadIdx.x; i < n; i += THREADS)
        convolve_copy_async (ring + next % STAGES * stage_size + i, from + i);
    convolve_commit_copies ();
    from += n;
    next++;
    slices_left -= slices;
    if (slices_left <= 0) {
      slices_left = slices_of_chunk;
      chunks_left--;
    }
  }
};

#endif
