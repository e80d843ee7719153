/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/direct.h"
#include "cuda/registers/floats.cuh"
#include "cuda/registers/frame.cuh"

CONVOLVE_DEVICE_FUNCTIONS (direct);

/* [8 or 16 bits][3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples] */
static constexpr ConvolveShape shapes[2][4][CONVOLVE_MAX_SAMPLES] = {
  {
      { { 2, 4, 4, 8 }, { 1, 4, 4, 1 }, { 1, 2, 4, 1 }, { 1, 2, 4, 1 } },
      { { 2, 4, 4, 8 }, { 1, 4, 4, 1 }, { 1, 4, 4, 1 }, { 1, 2, 4, 1 } },
      { { 1, 8, 4, 8 }, { 1, 4, 4, 1 }, { 1, 2, 4, 1 }, { 1, 2, 4, 1 } },
      { { 1, 8, 4, 8 }, { 1, 4, 4, 1 }, { 1, 2, 4, 1 }, { 1, 2, 4, 1 } },
  },
  {
      { { 1, 4, 4, 8 }, { 1, 4, 4, 1 }, {}, { 1, 2, 4, 1 } },
      { { 1, 4, 4, 8 }, { 1, 4, 4, 1 }, {}, { 1, 2, 4, 1 } },
      { { 1, 8, 4, 8 }, { 1, 4, 4, 1 }, {}, { 1, 2, 4, 1 } },
      { { 1, 8, 4, 8 }, { 1, 4, 4, 1 }, {}, { 1, 2, 4, 1 } },
  },
};

/* The kernel's second parameter. */
template <int K>
struct DirectTaps
{
  ConvolveParts parts;
  float tap[K][K]; /* smaller masks stand in the middle, with 0 around them */
};

/*
 * The idea: the sums of a thread's tile stay in registers, and each sample is loaded and converted once.
 *
 * The tile is drawn in cuda/registers/border.cuh, above convolve_tile (). Row n of the input meets row n - r of the
 * mask for outputs of row r, and sample i of it meets column i - c for outputs of column c. All loops are unrolled and
 * all indices are constants: one fused multiply-add is left of each product.
 *
 * For example, with K = 3, W = 1 and R = 2, the sample at n = 1, i = 3 is used by six outputs:
 *
 *                   column c:      0   1           2           3
 *     sums[0] (mask row n - r = 1) .   tap[1][2]   tap[1][1]   tap[1][0]
 *     sums[1] (mask row n - r = 0) .   tap[0][2]   tap[0][1]   tap[0][0]
 *
 * ABSOLUTE: the magnitudes of the sums are what the tail takes.
 */
template <typename T, int K, int S, bool ABSOLUTE>
struct DirectKernel
{
  static constexpr ConvolveShape shape = shapes[std::is_same<T, uint16_t>::value][K / 2 - 1][S - 1];
  static constexpr bool alone = true;
  typedef DirectTaps<K> Taps;

  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps)
  {
    constexpr int W = shape.groups, R = shape.rows;
    constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, bytes = S * sizeof (T);
    const ConvolveParts &parts = taps.parts;
    uint32_t words[rows][(W + 2) * bytes];
    float sums[R][S][columns];

    ConvolveOrder order (image);
    if (convolve_border<T, S, K, ABSOLUTE> (image, parts, taps.tap))
      return;
    int2 tile = convolve_tile<W, R> (parts);
    convolve_load_tile<bytes, W, K> (image, tile, words);
#pragma unroll
    for (int i = 0; i < R * S * columns; i++)
      sums[0][0][i] = 0;
#pragma unroll
    for (int n = 0; n < rows; n++)
#pragma unroll
      for (int s = 0; s < S; s++)
#pragma unroll
        for (int i = 0; i < columns + K - 1; i++) {
          float value = convolve_value<T> (image, words[n], (CONVOLVE_GROUP - K / 2 + i) * S + s);

#pragma unroll
          for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < columns; c++)
              if (n - r >= 0 && n - r < K && i - c >= 0 && i - c < K)
                sums[r][s][c] +=
                    taps.tap[n - r < 0 || n - r >= K ? 0 : n - r][i - c < 0 || i - c >= K ? 0 : i - c] * value;
        }
#pragma unroll
    for (int i = 0; i < R * S * columns && ABSOLUTE; i++)
      sums[0][0][i] = fabsf (sums[0][0][i]);
    convolve_store_sums<T, S, W, R> (image, tile, sums, &words[K / 2]);
  }
};

template <typename T, unsigned LAYOUTS, bool ABSOLUTE>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  return convolve_load_for<4, LAYOUTS> (plan, [=] (auto k, auto s, auto) {
    DirectTaps<k> taps = {};

    convolve_centre<k> (&plan->taps, 1, convolve_tap_unit (plan), taps.tap);
    return convolve_load_plane<k, DirectKernel<T, k, s, ABSOLUTE> > (plan, taps, error);
  });
}

template <bool ABSOLUTE>
static ConvolveStatus
load_plain (ConvolvePlan *plan, ConvolveError *error)
{
  return plan->pixel.type == CONVOLVE_SAMPLE_U16 ? load<uint16_t, CONVOLVE_FOR_DEEP, ABSOLUTE> (plan, error)
                                                 : load<uint8_t, CONVOLVE_FOR_SAMPLES, ABSOLUTE> (plan, error);
}

ConvolveStatus
convolve_direct_load (ConvolvePlan *plan, ConvolveError *error)
{
  switch (plan->kernel) {
    case CONVOLVE_DIRECT_DEEP:
      return convolve_direct_load_deep (plan, error);
    case CONVOLVE_DIRECT_ABSOLUTE:
      return load_plain<true> (plan, error);
    case CONVOLVE_DIRECT_SETS:
      return convolve_direct_load_sets (plan, error);
  }
  return load_plain<false> (plan, error);
}

ConvolveStatus
convolve_direct_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_border_run (plan, plane, error);
}
