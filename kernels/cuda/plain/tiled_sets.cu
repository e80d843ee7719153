/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tiled for masks of several sets of taps, and absolute values. */
#include "cuda/plain/combine.cuh"
#include "cuda/plain/tiled.cuh"

/* Outputs of a thread, one below the other: with S sets it has 16 sums, or 8 in double, and those of columns and pieces. */
#define OUTPUTS(S, Sum) (sizeof (Sum) == sizeof (float) ? 16 / S : 8 / S)

/* The idea: as tiled, and a sample that was read is multiplied by the taps of all S sets. */
template <typename T, int S, typename Sum>
__global__ void __launch_bounds__ (THREADS)
    convolve_tiled_sets (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveTiledSets mask)
{
  constexpr int N = OUTPUTS (S, Sum);
  int x = image.x0 + blockIdx.x * WIDTH + threadIdx.x, sample = blockIdx.z;
  int y = image.y0 + (blockIdx.y * WARPS + threadIdx.y) * N;
  bool is_copied = !(image.select >> sample & 1);
  Sum sums[S][N] = {};

  if (!is_copied)
    convolve_tiled_sums<T> (image, mask.taps, sums);
#pragma unroll
  for (int c = 0; c < N; c++) {
    bool writes = x < image.x1 && y + c < image.y1;
    Sum own[S];

#pragma unroll
    for (int k = 0; k < S; k++)
      own[k] = sums[k][c];
    if (!convolve_copied<T> (image, x, y + c, writes) && writes)
      convolve_store_value<T> (image, x, y + c, sample, convolve_combine_sums<T, S, Sum> (mask.sets, sample, own));
  }
}

template <typename T, int S, typename Sum>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  return convolve_load_tiles (plan, (const void *) convolve_tiled_sets<T, S, Sum>,
      { dim3 (WIDTH, WARPS), WIDTH, WARPS * OUTPUTS (S, Sum), 0 }, plan->prepared, error);
}

ConvolveStatus
convolve_tiled_load_sets (ConvolvePlan *plan, ConvolveError *error)
{
  typedef ConvolveStatus (*Load) (ConvolvePlan * plan, ConvolveError * error);
  static const Load loads[2][CONVOLVE_N_SAMPLE_TYPES][3] = {
    { { load<uint8_t, 2, float>, load<uint8_t, 4, float>, load<uint8_t, 8, float> },
        { load<uint16_t, 2, float>, load<uint16_t, 4, float>, load<uint16_t, 8, float> } },
    { { load<uint8_t, 2, double>, load<uint8_t, 4, double>, load<uint8_t, 8, double> },
        { load<uint16_t, 2, double>, load<uint16_t, 4, double>, load<uint16_t, 8, double> } },
  };
  const int padded = convolve_sets_padded (plan);

  return loads[convolve_tiled_sums_doubles (plan)][plan->pixel.type][padded == 2 ? 0
          : padded == 4                                                          ? 1
                                                                                 : 2](plan, error);
}
