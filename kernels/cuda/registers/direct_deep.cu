/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* direct for 16-bit samples whose unused bits are all below them, or all above them. */
#include "cuda/registers/deep.cuh"
#include "cuda/registers/direct.h"
#include "cuda/registers/frame.cuh"

/* The kernel's second parameter. */
template <int K>
struct DirectDeep
{
  ConvolveParts parts;
  ConvolveDeep deep;
  float start[CONVOLVE_MAX_SAMPLES]; /* of a sum: that of the tail, or 0 */
  float tap[K][K];                   /* smaller masks stand in the middle, with 0 around them */
};

/* The shapes of tiles and blocks: [3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples], and those in kernels for two planes. */
static constexpr ConvolveShape shapes[4][CONVOLVE_MAX_SAMPLES] = {
  { { 1, 8, 4 }, { 1, 4, 4 }, {}, { 1, 2, 4 } },
  { { 1, 8, 4 }, { 1, 4, 4 }, {}, { 1, 2, 4 } },
  { { 1, 8, 4 }, { 1, 4, 4 }, {}, { 1, 2, 4 } },
  { { 1, 8, 4 }, { 1, 4, 4 }, {}, { 1, 2, 4 } },
};

static constexpr ConvolveShape two_shapes[2][2] = {
  { { 1, 4, 4 }, { 1, 4, 4 } },
  { { 1, 4, 4 }, { 1, 4, 4 } },
};

/*
 * As convolve_direct (), with fewer instructions for a sample. FLOOR: the plan has the tail of
 * convolve_deep_tail_choose (), which is shorter; otherwise, the last step is that of convolve_direct ().
 */
template <int K, int S, bool TOP, bool FLOOR, bool TWO>
struct DirectDeepKernel
{
  static constexpr ConvolveShape shape = TWO ? two_shapes[K / 2 - 1][S - 1] : shapes[K / 2 - 1][S - 1];
  static constexpr int W = shape.groups, R = shape.rows;
  static constexpr bool alone = false;
  typedef DirectDeep<K> Taps;

  template <typename Block>
  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps, const Block &block)
  {
    constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, count = (W + 2) * 2 * S;
    uint32_t words[rows][count];
    float sums[R][S][columns];

    if (convolve_border<uint16_t, S, K> (image, taps.parts, taps.tap, block))
      return;
    int2 tile = convolve_tile<W, R> (taps.parts, block);
    convolve_load_deep<S, W, K> (image, tile, words);
#pragma unroll
    for (int i = 0; i < R * S * columns; i++)
      sums[0][0][i] = FLOOR ? taps.start[i / columns % S] : 0;
#pragma unroll
    for (int n = 0; n < rows; n++) {
      uint32_t clean[count];

      convolve_clean_deep_row<TOP> (taps.deep, words[n], clean);
#pragma unroll
      for (int s = 0; s < S; s++)
#pragma unroll
        for (int i = 0; i < columns + K - 1; i++) {
          float value = convolve_deep_value<TOP> (taps.deep, clean, (CONVOLVE_GROUP - K / 2 + i) * S + s);

#pragma unroll
          for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < columns; c++)
              if (n - r >= 0 && n - r < K && i - c >= 0 && i - c < K)
                sums[r][s][c] +=
                    taps.tap[n - r < 0 || n - r >= K ? 0 : n - r][i - c < 0 || i - c >= K ? 0 : i - c] * value;
        }
    }
    if (FLOOR)
      convolve_store_deep<S, W, R, TOP> (image, taps.deep, tile, sums, &words[K / 2]);
    else
      convolve_store_sums<uint16_t, S, W, R> (image, tile, sums, &words[K / 2]);
  }
};

template <int K, int S, bool TOP, bool TWO>
using DirectFloor = DirectDeepKernel<K, S, TOP, true, TWO>;

template <int K, int S, bool TOP, bool FLOOR>
static ConvolveStatus
load_as (ConvolvePlan *plan, const ConvolveIntegerTail &tail, ConvolveError *error)
{
  DirectDeep<K> taps = {};

  convolve_deep_init (plan, &taps.deep);
  taps.deep.tail = tail;
  for (int s = 0; s < plan->pixel.samples; s++)
    taps.start[s] = (float) tail.start[s];
  convolve_centre<K> (&plan->taps, 1, convolve_tap_unit (plan), taps.tap);
  if constexpr (FLOOR)
    return convolve_load_planes<DirectFloor, K, S, TOP> (plan, taps, error);
  return convolve_load_plane<K, DirectDeepKernel<K, S, TOP, FLOOR, false> > (plan, taps, error);
}

ConvolveStatus
convolve_direct_load_deep (ConvolvePlan *plan, ConvolveError *error)
{
  const bool top = convolve_deep_is_top (plan);
  ConvolveIntegerTail tail = {};
  const char *unused;
  const bool floor = convolve_deep_tail_choose (plan, &tail, &unused);

  return convolve_load_for<4, CONVOLVE_FOR_DEEP> (plan, [=] (auto k, auto s, auto) {
    if (!floor)
      return load_as<k, s, true, false> (plan, {}, error);
    return top ? load_as<k, s, true, true> (plan, tail, error) : load_as<k, s, false, true> (plan, tail, error);
  });
}
