/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/tiled.h"

#include "cuda/device/launch.cuh"

#define WIDTH CONVOLVE_TILED_WIDTH
#define HEIGHT CONVOLVE_TILED_HEIGHT

/* All threads together fill the tile and its halo. */
template <typename T, int P>
static __device__ __forceinline__ void
load_tile (const ConvolveImage &image, int left, int top, int tile_width, int tile_height, float *tile)
{
  for (int j = threadIdx.y; j < tile_height; j += HEIGHT)
    for (int i = threadIdx.x; i < tile_width; i += WIDTH)
      tile[j * tile_width + i] =
          convolve_load<T, P> (image, left + i - image.mask_width / 2, top + j - image.mask_height / 2, blockIdx.z);
}

/*
 * The idea: a block is an output tile. Its threads together load the tile and the halo round it to shared memory,
 * each sample once, and then read all neighbourhoods from there.
 */
template <typename T, int P, typename Sum, int N>
__global__ void __launch_bounds__ (WIDTH *HEIGHT)
    convolve_tiled (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveParameters<N> mask)
{
  extern __shared__ float tile[];
  int tile_width = WIDTH + image.mask_width - 1;
  int tile_height = HEIGHT + image.mask_height - 1;
  int left = image.x0 + blockIdx.x * WIDTH, top = image.y0 + blockIdx.y * HEIGHT;
  int x = left + threadIdx.x, y = top + threadIdx.y;
  bool inside = x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside))
    return;

  if (convolve_is_inside (image, left, top, WIDTH, HEIGHT))
    load_tile<T, CONVOLVE_INSIDE> (image, left, top, tile_width, tile_height, tile);
  else
    load_tile<T, P> (image, left, top, tile_width, tile_height, tile);
  __syncthreads ();
  if (!inside)
    return;

  Sum sum = convolve_sum<Sum> (
      image, [&] (int k) { return mask.tap[k]; },
      [&] (int i, int j) { return tile[(threadIdx.y + j) * tile_width + threadIdx.x + i]; });
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_tiled_load (ConvolvePlan *plan, ConvolveError *error)
{
  static const ConvolveParameterKernels kernels = CONVOLVE_PARAMETER_KERNELS (convolve_tiled);

  return convolve_load_tiles (plan, convolve_parameter_kernel (plan, kernels),
      { dim3 (WIDTH, HEIGHT), WIDTH, HEIGHT, convolve_tiled_shared_size (plan) }, plan->taps.taps, error);
}

ConvolveStatus
convolve_tiled_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
