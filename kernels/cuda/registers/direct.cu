/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/border.cuh"
#include "cuda/registers/direct.h"
#include "cuda/registers/floats.cuh"

CONVOLVE_DEVICE_FUNCTIONS (direct);

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
template <typename T, int K, int S, int W, int R, bool ABSOLUTE>
__global__ void __launch_bounds__ (CONVOLVE_LANES *CONVOLVE_WARPS, S == 1 ? 8 : 1)
    convolve_direct (const __grid_constant__ ConvolveImage image, const __grid_constant__ DirectTaps<K> taps)
{
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

/* Centres the mask in K x K taps and loads the kernel. */
template <typename T, int K, int S, int W, int R, bool ABSOLUTE>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  DirectTaps<K> taps = {};

  for (int j = 0; j < from->height; j++)
    for (int i = 0; i < from->width; i++)
      taps.tap[j + (K - from->height) / 2][i + (K - from->width) / 2] =
          from->taps[j * from->width + i] * convolve_tap_unit (plan);
  return convolve_border_load<K, W, R> (plan, (const void *) convolve_direct<T, K, S, W, R, ABSOLUTE>, taps,
      CONVOLVE_WARPS, error);
}

template <bool ABSOLUTE>
static ConvolveStatus
load_plain (ConvolvePlan *plan, ConvolveError *error)
{
  /* [sample type][3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples]; the last two arguments are W and R. */
  typedef ConvolveStatus (*Load) (ConvolvePlan * plan, ConvolveError * error);
  static const Load loads[CONVOLVE_N_SAMPLE_TYPES][4][CONVOLVE_MAX_SAMPLES] = {
    {
        { load<uint8_t, 3, 1, 2, 4, ABSOLUTE>, load<uint8_t, 3, 2, 1, 4, ABSOLUTE>, load<uint8_t, 3, 3, 1, 2, ABSOLUTE>,
            load<uint8_t, 3, 4, 1, 2, ABSOLUTE> },
        { load<uint8_t, 5, 1, 2, 4, ABSOLUTE>, load<uint8_t, 5, 2, 1, 4, ABSOLUTE>, load<uint8_t, 5, 3, 1, 4, ABSOLUTE>,
            load<uint8_t, 5, 4, 1, 2, ABSOLUTE> },
        { load<uint8_t, 7, 1, 1, 8, ABSOLUTE>, load<uint8_t, 7, 2, 1, 4, ABSOLUTE>, load<uint8_t, 7, 3, 1, 2, ABSOLUTE>,
            load<uint8_t, 7, 4, 1, 2, ABSOLUTE> },
        { load<uint8_t, 9, 1, 1, 8, ABSOLUTE>, load<uint8_t, 9, 2, 1, 4, ABSOLUTE>, load<uint8_t, 9, 3, 1, 2, ABSOLUTE>,
            load<uint8_t, 9, 4, 1, 2, ABSOLUTE> },
    },
    {
        { load<uint16_t, 3, 1, 1, 4, ABSOLUTE>, load<uint16_t, 3, 2, 1, 4, ABSOLUTE>, NULL,
            load<uint16_t, 3, 4, 1, 2, ABSOLUTE> },
        { load<uint16_t, 5, 1, 1, 4, ABSOLUTE>, load<uint16_t, 5, 2, 1, 4, ABSOLUTE>, NULL,
            load<uint16_t, 5, 4, 1, 2, ABSOLUTE> },
        { load<uint16_t, 7, 1, 1, 8, ABSOLUTE>, load<uint16_t, 7, 2, 1, 4, ABSOLUTE>, NULL,
            load<uint16_t, 7, 4, 1, 2, ABSOLUTE> },
        { load<uint16_t, 9, 1, 1, 8, ABSOLUTE>, load<uint16_t, 9, 2, 1, 4, ABSOLUTE>, NULL,
            load<uint16_t, 9, 4, 1, 2, ABSOLUTE> },
    },
  };
  return loads[plan->pixel.type][convolve_border_size (plan)][plan->pixel.samples - 1](plan, error);
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
