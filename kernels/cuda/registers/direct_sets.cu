/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* direct for masks of several sets of taps. */
#include "cuda/registers/direct.h"
#include "cuda/registers/sets.cuh"

/* [8 or 16 bits][3x3, 5x5][1, 2, 3, 4 samples] */
static constexpr ConvolveShape shapes[2][2][CONVOLVE_MAX_SAMPLES] = {
  { { { 1, 4 }, { 1, 4 }, { 1, 2 }, { 1, 2 } }, { { 1, 4 }, { 1, 4 }, { 1, 2 }, { 1, 2 } } },
  { { { 1, 4 }, { 1, 4 }, {}, { 1, 2 } }, { { 1, 4 }, { 1, 2 }, {}, { 1, 2 } } },
};

/* The kernel's second parameter. */
template <int K>
struct DirectSets
{
  ConvolveParts parts;
  ConvolveSets sets;
  float tap[CONVOLVE_MAX_SETS][K][K]; /* smaller masks stand in the middle, with 0 around them */
};

/* The instances of the kernel. */
enum DirectRule
{
  NEAR_OF_TWO,    /* a magnitude of two sets by convolve_root_near () */
  PAIR,           /* by convolve_root_pair () */
  PAIR_OF_SLOPES, /* sobel and kin: no weights in the middle column of the first set and the middle row of the other */
  ANY_SETS
};

/* Whether the compiler knows that a tap is 0. */
template <int RULE>
static __device__ __host__ __forceinline__ constexpr bool
is_absent (int k, int j, int i)
{
  return RULE == PAIR_OF_SLOPES && (k == 0 ? i == 1 : j == 1);
}

/* The sum of set k. values[i] is row i of the input, and the output's mask begins at column `at`. */
template <int K, int RULE, int COLUMNS>
static __device__ __forceinline__ float
sum_of (const DirectSets<K> &taps, int k, const float (&values)[K][COLUMNS], int first, int at, int sample)
{
  float sum = taps.sets.start[k][sample];

#pragma unroll
  for (int j = 0; j < K; j++)
#pragma unroll
    for (int i = 0; i < K; i++)
      if (!is_absent<RULE> (k, j, i))
        sum += taps.tap[k][j][i] * values[(first + j) % K][at + i];
  return sum;
}

/* One output. */
template <typename T, int K, int RULE, int COLUMNS>
static __device__ __forceinline__ int
finish_output (const DirectSets<K> &taps, const float (&values)[K][COLUMNS], int first, int at, int sample)
{
  if (RULE == ANY_SETS) {
    ConvolveCombining combining = {};

#pragma unroll 1
    for (int k = 0; k < taps.sets.count; k++)
      convolve_combine<T> (taps.sets, combining, k, sample, sum_of<K, RULE> (taps, k, values, first, at, sample));
    return (int) convolve_combined (taps.sets, combining, sample);
  }
  float a = sum_of<K, RULE> (taps, 0, values, first, at, sample);
  float b = sum_of<K, RULE> (taps, 1, values, first, at, sample);
  float near = convolve_near_root (__fmaf_rn (a, a, b * b));

  if (RULE == NEAR_OF_TWO)
    return (int) CONVOLVE_ROOT_LOW (convolve_root_near (&taps.sets.root, sample, near));
  return (int) convolve_root_pair (&taps.sets.root, sample, a, b, near);
}

/* Stores one row of a thread's tile. source is the same part of the input, for copied samples. */
template <typename T, int S, int COLUMNS>
static __device__ __forceinline__ void
store_row (const ConvolveImage &image, uint8_t *to, const int (&results)[S][COLUMNS], const uint32_t *source)
{
  constexpr int per_word = 4 / sizeof (T), count = COLUMNS * S / per_word;
  uint32_t out[count];

#pragma unroll
  for (int i = 0; i < count; i++) {
    uint32_t copied = 0; /* the bits of samples that are copied */

    out[i] = 0;
#pragma unroll
    for (int k = 0; k < per_word; k++) {
      int at = i * per_word + k;

      out[i] |= (unsigned) results[at % S][at / S] << image.shift << k * 8 * sizeof (T);
      if (!(image.select >> at % S & 1))
        copied |= (sizeof (T) == 1 ? 0xffu : 0xffffu) << k * 8 * sizeof (T);
    }
    if (S > 1)
      out[i] = (out[i] & ~copied) | (source[i] & copied);
  }
  convolve_store_words (to, out);
}

/*
 * The idea: as direct, but a thread finishes one output after the other with all sets, from K rows of input whose
 * samples are converted once. values[n % K] is row n.
 */
template <typename T, int K, int S, int RULE>
struct DirectSetsKernel
{
  static constexpr ConvolveShape shape = shapes[std::is_same<T, uint16_t>::value][K / 2 - 1][S - 1];
  static constexpr bool alone = true;
  typedef DirectSets<K> Taps;

  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps)
  {
    constexpr int W = shape.groups, R = shape.rows;
    constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, bytes = S * sizeof (T);
    const ConvolveParts &parts = taps.parts;
    uint32_t words[rows][(W + 2) * bytes];
    int results[R][S][columns];

    ConvolveOrder order (image);
    if (convolve_border_of_sets<T, S, K> (image, parts, taps.sets, taps.tap))
      return;
    int2 tile = convolve_tile<W, R> (parts);
    convolve_load_tile<bytes, W, K> (image, tile, words);
#pragma unroll
    for (int s = 0; s < S; s++) {
      float values[K][columns + K - 1];

#pragma unroll
      for (int n = 0; n < rows; n++) {
#pragma unroll
        for (int i = 0; i < columns + K - 1; i++)
          values[n % K][i] = convolve_value<T> (image, words[n], (CONVOLVE_GROUP - K / 2 + i) * S + s);
        if (n < K - 1)
          continue;
#pragma unroll
        for (int c = 0; c < columns; c++)
          results[n - K + 1][s][c] = finish_output<T, K, RULE> (taps, values, n - K + 1, c, s);
      }
    }

    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * bytes);
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride)
      store_row<T, S> (image, to, results[r], &words[r + K / 2][bytes]);
  }
};

/* Whether the taps that PAIR_OF_SLOPES leaves out are 0. */
static bool
are_slopes (const DirectSets<3> &taps)
{
  for (int i = 0; i < 18; i++)
    if (is_absent<PAIR_OF_SLOPES> (i / 9, i / 3 % 3, i % 3) && taps.tap[i / 9][i / 3 % 3][i % 3] != 0)
      return false;
  return true;
}

template <typename T, int K, int S>
static ConvolveStatus
load_kernel (ConvolvePlan *plan, const DirectSets<K> &taps, ConvolveError *error)
{
  /* 8-bit samples are mostly for packed, so weights of 0 are not looked for. */
  if constexpr (K == 3 && std::is_same<T, uint16_t>::value)
    if (taps.sets.is_pair && are_slopes (taps))
      return convolve_load_plane<K, DirectSetsKernel<T, K, S, PAIR_OF_SLOPES> > (plan, taps, error);
  if (taps.sets.magnitude && taps.sets.count == 2 && taps.sets.root.near_is_right)
    return convolve_load_plane<K, DirectSetsKernel<T, K, S, NEAR_OF_TWO> > (plan, taps, error);
  return taps.sets.is_pair ? convolve_load_plane<K, DirectSetsKernel<T, K, S, PAIR> > (plan, taps, error)
                           : convolve_load_plane<K, DirectSetsKernel<T, K, S, ANY_SETS> > (plan, taps, error);
}

template <typename T, unsigned LAYOUTS>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  return convolve_load_for<2, LAYOUTS> (plan, [=] (auto k, auto s, auto) {
    DirectSets<k> taps = {};

    convolve_sets_fill (plan, &taps.sets);
    convolve_centre_sets<k> (plan, taps.tap);
    return load_kernel<T, k, s> (plan, taps, error);
  });
}

ConvolveStatus
convolve_direct_load_sets (ConvolvePlan *plan, ConvolveError *error)
{
  return plan->pixel.type == CONVOLVE_SAMPLE_U16 ? load<uint16_t, CONVOLVE_FOR_DEEP> (plan, error)
                                                 : load<uint8_t, CONVOLVE_FOR_SAMPLES> (plan, error);
}
