/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/image.cuh"

/* All threads together fill the tile and its halo. */
template <typename T, ConvolveBoundary B>
static __device__ __forceinline__ void
load_tile (const ConvolveImage &image, int left, int top, int tile_width, int tile_height, float *tile)
{
  for (int j = threadIdx.y; j < tile_height; j += CONVOLVE_TILE_HEIGHT)
    for (int i = threadIdx.x; i < tile_width; i += CONVOLVE_TILE_WIDTH)
      tile[j * tile_width + i] =
          convolve_load<T, B> (image, left + i - image.mask_width / 2, top + j - image.mask_height / 2, blockIdx.z);
}

/*
 * The idea: a block is an output tile. Its threads together load the tile and the halo round it to shared memory,
 * each sample once, and then read all neighbourhoods from there.
 */
template <typename T, ConvolveBoundary B, typename Sum, int N>
__global__ void __launch_bounds__ (CONVOLVE_TILE_WIDTH *CONVOLVE_TILE_HEIGHT)
    convolve_tiled (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveParameters<N> mask)
{
  extern __shared__ float tile[];
  int tile_width = CONVOLVE_TILE_WIDTH + image.mask_width - 1;
  int tile_height = CONVOLVE_TILE_HEIGHT + image.mask_height - 1;
  int left = image.x0 + blockIdx.x * CONVOLVE_TILE_WIDTH, top = image.y0 + blockIdx.y * CONVOLVE_TILE_HEIGHT;
  int x = left + threadIdx.x, y = top + threadIdx.y;
  bool inside = x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside))
    return;

  if (convolve_is_inside (image, left, top, CONVOLVE_TILE_WIDTH, CONVOLVE_TILE_HEIGHT))
    load_tile<T, CONVOLVE_INSIDE> (image, left, top, tile_width, tile_height, tile);
  else
    load_tile<T, B> (image, left, top, tile_width, tile_height, tile);
  __syncthreads ();
  if (!inside)
    return;

  Sum sum = 0;
  for (int j = 0; j < image.mask_height; j++) {
    Sum row = 0;
    for (int i = 0; i < image.mask_width; i++)
      row += mask.tap[j * image.mask_width + i] * (Sum) tile[(threadIdx.y + j) * tile_width + threadIdx.x + i];
    sum += row;
  }
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_tiled_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  typedef ConvolveParameters<CONVOLVE_FEW_TAPS> Few;
  typedef ConvolveParameters<CONVOLVE_MAX_PARAMETER_TAPS> Many;
  static const ConvolveKernels<Few> few = CONVOLVE_KERNELS (convolve_tiled, CONVOLVE_FEW_TAPS);
  static const ConvolveKernels<Many> many = CONVOLVE_KERNELS (convolve_tiled, CONVOLVE_MAX_PARAMETER_TAPS);
  const int width = CONVOLVE_TILE_WIDTH, height = CONVOLVE_TILE_HEIGHT;
  const void *kernel =
      convolve_has_few_taps (plan) ? convolve_kernel<Few> (plan, few) : convolve_kernel<Many> (plan, many);

  return convolve_launch (plan, plane, kernel,
      { dim3 (width, height), width, height, convolve_tiled_shared_size (plan) }, plan->taps.taps, error);
}
