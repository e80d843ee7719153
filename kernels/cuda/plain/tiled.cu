/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/tiled.cuh"

#define OUTPUTS 8 /* of a thread, one below the other */

template <typename T, typename Sum>
static __device__ __forceinline__ void
store (const ConvolveImage &image, const ConvolveTiledTaps &mask, int x, int y, int sample, Sum sum)
{
  convolve_store<T> (image, x, y, sample, sum);
}

template <typename T>
static __device__ __forceinline__ void
store (const ConvolveImage &image, const ConvolveTiledTaps &mask, int x, int y, int sample, uint32_t sum)
{
  int value = ((int) (sum + mask.start[sample]) >> mask.bits) + mask.middle;

  convolve_store_value<T> (image, x, y, sample, (unsigned) min (max (value, 0), image.maximum));
}

/*
 * The idea: a block is an output tile. Its threads together load the tile and the halo round it to shared memory, each
 * sample once, and then read all neighbourhoods from there. A thread makes eight outputs of a column, so that it reads a
 * sample once for eight taps.
 */
template <typename T, typename Sum>
__global__ void __launch_bounds__ (THREADS)
    convolve_tiled (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveTiledTaps mask)
{
  int x = image.x0 + blockIdx.x * WIDTH + threadIdx.x, sample = blockIdx.z;
  int y = image.y0 + (blockIdx.y * WARPS + threadIdx.y) * OUTPUTS;
  bool is_copied = !(image.select >> sample & 1);
  Sum sums[1][OUTPUTS] = {};

  if (!is_copied)
    convolve_tiled_sums<T> (image, mask, sums);
#pragma unroll
  for (int c = 0; c < OUTPUTS; c++) {
    bool writes = x < image.x1 && y + c < image.y1;

    if (!convolve_copied<T> (image, x, y + c, writes) && writes)
      store<T> (image, mask, x, y + c, sample, sums[0][c]);
  }
}

ConvolveStatus
convolve_tiled_load (ConvolvePlan *plan, ConvolveError *error)
{
  static const void *const floats[] = { (const void *) convolve_tiled<uint8_t, float>,
    (const void *) convolve_tiled<uint16_t, float> };
  static const void *const doubles[] = { (const void *) convolve_tiled<uint8_t, double>,
    (const void *) convolve_tiled<uint16_t, double> };
  static const void *const integers[] = { (const void *) convolve_tiled<uint8_t, uint32_t>,
    (const void *) convolve_tiled<uint16_t, uint32_t> };
  const void *const *kernels = convolve_tiled_sums_integers (plan) ? integers
      : convolve_tiled_sums_doubles (plan)                         ? doubles
                                                                   : floats;

  if (plan->n_parts > 0)
    return convolve_tiled_load_sets (plan, error);
  return convolve_load_tiles (plan, kernels[plan->pixel.type], { dim3 (WIDTH, WARPS), WIDTH, WARPS * OUTPUTS, 0 },
      plan->prepared, error);
}

ConvolveStatus
convolve_tiled_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
