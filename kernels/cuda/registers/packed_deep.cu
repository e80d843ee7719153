/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* packed for 16-bit samples. */
#include "cuda/registers/deep.cuh"
#include "cuda/registers/packed.h"
#include "cuda/registers/frame.cuh"

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
  static constexpr int W = shape.groups, R = shape.rows;
  static constexpr bool alone = false;
  typedef PackedDeep<K> Taps;

  template <typename Block>
  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps, const Block &block)
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
};

/* Packs the centred mask and loads the kernel. */
template <int K, int S, bool TOP>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  const int shift = TOP ? plan->pixel.shift : 0;
  float integers[K][K] = {};
  PackedDeep<K> taps = {};

  convolve_deep_init (plan, &taps.deep);
  taps.deep.tail = *(const ConvolveIntegerTail *) plan->prepared;
  taps.deep.tail.scale /= (float) (1 << shift);
  for (int s = 0; s < plan->pixel.samples; s++)
    taps.deep.tail.start[s] *= 1 << shift;
  convolve_centre<K> (&plan->taps, 1, convolve_tap_unit (plan), taps.single);
  convolve_centre<K> (&plan->taps, 1, 1, integers);
  for (int j = 0; j < K; j++)
    for (int i = 0; i < K; i++) {
      const unsigned byte = (unsigned) (int) integers[j][i] & 0xff;
      int *row = &taps.row[j * taps.row_pairs];

      row[i / 2] |= (int) (byte << i % 2 * 8);
      row[(i + 1) / 2] |= (int) (byte << (16 + (i + 1) % 2 * 8));
    }
  return convolve_load_planes<PackedDeepKernel, K, S, TOP> (plan, taps, error);
}

ConvolveStatus
convolve_packed_load_deep (ConvolvePlan *plan, ConvolveError *error)
{
  const bool top = convolve_deep_is_top (plan);

  return convolve_load_for<4, CONVOLVE_FOR_DEEP> (plan,
      [=] (auto k, auto s, auto) { return top ? load<k, s, true> (plan, error) : load<k, s, false> (plan, error); });
}
