/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* packed for 16-bit samples. */
#include "cuda/registers/deep.cuh"
#include "cuda/registers/packed.h"
#include "cuda/registers/two_planes.cuh"

/* The shapes of tiles and blocks: [3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples], and those in kernels for two planes. */
static constexpr ConvolveShape shapes[4][CONVOLVE_MAX_SAMPLES] = {
  { { 2, 4, 4 }, { 1, 2, 4 }, {}, { 1, 4, 4 } },
  { { 2, 4, 4 }, { 1, 4, 4 }, {}, { 1, 2, 4 } },
  { { 1, 12, 4 }, { 1, 4, 4 }, {}, { 1, 2, 4 } },
  { { 1, 8, 4 }, { 1, 4, 4 }, {}, { 1, 2, 4 } },
};

static constexpr ConvolveShape two_shapes[2][2] = {
  { { 2, 4, 4 }, { 1, 4, 4 } },
  { { 1, 4, 4 }, { 1, 4, 4 } },
};

/* The kernel's second parameter. */
template <int K>
struct PackedDeep
{
  static constexpr int row_pairs = (K + 1) / 2;

  ConvolveParts parts;
  ConvolveDeep deep;      /* the tail's scale and starts take the factor of samples with TOP back */
  float single[K][K];     /* all weights, for the border */
  int row[K * row_pairs]; /* the weights as signed bytes, see below */
};

/* sum plus two products of an unsigned 16-bit sample and a signed byte. UPPER: the upper two bytes of weights. */
template <bool UPPER>
static __device__ __forceinline__ int
dot (uint32_t samples, int weights, int sum)
{
  int result;

  if (UPPER)
    asm("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(samples), "r"(weights), "r"(sum));
  else
    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(samples), "r"(weights), "r"(sum));
  return result;
}

/* Two neighbouring samples of one kind: the pair i of a row of words. */
template <int S>
static __device__ __forceinline__ uint32_t
pair_of (const uint32_t *words, int i, int sample)
{
  const uint32_t *pixels = words + i * S + sample / 2;

  return S == 1 ? words[i] : __byte_perm (pixels[0], pixels[S / 2], sample % 2 ? A2_A3_B2_B3 : A0_A1_B0_B1);
}

/*
 * The idea: 16-bit samples are multiplied as they lie in memory, without a conversion. One dp2a instruction adds two
 * products of a sample and an 8-bit weight to a sum.
 *
 * The tile is drawn in cuda/registers/border.cuh, above convolve_tile (). A word has two neighbouring samples of a row.
 * An output whose mask begins with the first sample of a word takes the weights in pairs from the left. Any other one
 * takes them in pairs that begin one sample further left, where the weight is 0, so that no word is ever shifted. A
 * word of row has a pair of each kind. For K = 3:
 *
 *     words:               | s0  s1 | s2  s3 |
 *     mask from s0 on:       w0  w1   w2   0     row[0] = w0 w1, 0 w0: the lower two bytes
 *     mask from s1 on:        0  w0   w1  w2     row[1] = w2 0, w1 w2: the upper two bytes
 *
 * With two or four samples to a pixel, the words are made of two pixels' first.
 */
template <int K, int S, bool TOP, bool TWO>
struct PackedDeepKernel
{
  static constexpr ConvolveShape shape = TWO ? two_shapes[K / 2 - 1][S - 1] : shapes[K / 2 - 1][S - 1];
  static constexpr int W = shape.groups, R = shape.rows, V = shape.warps;
  typedef PackedDeep<K> Taps;

  template <typename Block>
  static __device__ __forceinline__ void run (const ConvolveImage &image, const Taps &taps, const Block &block);
};

template <int K, int S, bool TOP, bool TWO>
template <typename Block>
__device__ __forceinline__ void
PackedDeepKernel<K, S, TOP, TWO>::run (const ConvolveImage &image, const Taps &taps, const Block &block)
{
  constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, pairs = (W + 2) * 2;
  uint32_t words[rows][pairs * S];
  int sums[R][S][columns], row[K * taps.row_pairs];

  if (convolve_border<uint16_t, S, K> (image, taps.parts, taps.single, block))
    return;
  int2 tile = convolve_tile<W, R> (taps.parts, block);
  convolve_load_deep<S, W, K> (image, tile, words);
  convolve_take (row, taps.row);
#pragma unroll
  for (int i = 0; i < R * S * columns; i++)
    sums[0][0][i] = taps.deep.tail.start[i / columns % S];
#pragma unroll
  for (int n = 0; n < rows; n++)
#pragma unroll
    for (int s = 0; s < S; s++) {
      uint32_t samples[pairs];

#pragma unroll
      for (int i = 0; i < pairs; i++)
        samples[i] = convolve_clean_deep<TOP> (taps.deep, pair_of<S> (words[n], i, s));
#pragma unroll
      for (int c = 0; c < columns; c++) {
        const int left = CONVOLVE_GROUP + c - K / 2; /* the mask's end */

#pragma unroll
        for (int w = 0; w < taps.row_pairs; w++)
#pragma unroll
          for (int r = 0; r < R; r++)
            if (n - r >= 0 && n - r < K) {
              const int at = (n - r < 0 || n - r >= K ? 0 : n - r) * taps.row_pairs + w;

              sums[r][s][c] = left % 2 ? dot<true> (samples[left / 2 + w], row[at], sums[r][s][c])
                                       : dot<false> (samples[left / 2 + w], row[at], sums[r][s][c]);
            }
      }
    }
  convolve_store_deep<S, W, R, TOP> (image, taps.deep, tile, sums, &words[K / 2]);
}

/* Centres the mask in K x K taps, packs them and loads the kernel. */
template <int K, int S, bool TOP>
static ConvolveStatus
load_as (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  const int top = (K - from->height) / 2, left = (K - from->width) / 2, shift = TOP ? plan->pixel.shift : 0;
  PackedDeep<K> taps = {};

  convolve_deep_init (plan, &taps.deep);
  taps.deep.tail = *(const ConvolveIntegerTail *) plan->prepared;
  taps.deep.tail.scale /= (float) (1 << shift);
  for (int s = 0; s < plan->pixel.samples; s++)
    taps.deep.tail.start[s] *= 1 << shift;
  for (int j = 0; j < from->height; j++)
    for (int i = 0; i < from->width; i++) {
      const float tap = from->taps[j * from->width + i];
      const unsigned byte = (unsigned) (int) tap & 0xff;
      int *row = &taps.row[(j + top) * taps.row_pairs], at = i + left;

      taps.single[j + top][at] = tap * convolve_tap_unit (plan);
      row[at / 2] |= (int) (byte << at % 2 * 8);
      row[(at + 1) / 2] |= (int) (byte << (16 + (at + 1) % 2 * 8));
    }
  return convolve_load_planes<PackedDeepKernel, K, S, TOP> (plan, taps, error);
}

template <int K, int S>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  return convolve_deep_is_top (plan) ? load_as<K, S, true> (plan, error) : load_as<K, S, false> (plan, error);
}

ConvolveStatus
convolve_packed_load_deep (ConvolvePlan *plan, ConvolveError *error)
{
  /* [3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples]. */
  typedef ConvolveStatus (*Load) (ConvolvePlan * plan, ConvolveError * error);
  static const Load loads[4][CONVOLVE_MAX_SAMPLES] = {
    { load<3, 1>, load<3, 2>, NULL, load<3, 4> },
    { load<5, 1>, load<5, 2>, NULL, load<5, 4> },
    { load<7, 1>, load<7, 2>, NULL, load<7, 4> },
    { load<9, 1>, load<9, 2>, NULL, load<9, 4> },
  };
  return loads[convolve_border_size (plan)][plan->pixel.samples - 1](plan, error);
}
