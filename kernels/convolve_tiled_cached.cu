/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convolve_cuda.cuh"

#define TILE 32

/*
 * The idea: shared memory holds the tile alone. A neighbour in the halo belongs to another block's tile, so it was
 * read a moment ago and the L2 cache still has it.
 */
template <typename T, ConvolveBoundary B, typename Sum, int N>
__global__ void
convolve_tiled_cached (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveParameters<N> mask)
{
  __shared__ float tile[TILE][TILE];
  int x = image.x0 + blockIdx.x * TILE + threadIdx.x, y = image.y0 + blockIdx.y * TILE + threadIdx.y;
  bool inside = x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside))
    return;

  tile[threadIdx.y][threadIdx.x] = convolve_load<T, B> (image, x, y, blockIdx.z);
  __syncthreads ();
  if (!inside)
    return;

  Sum sum = 0;
  for (int j = 0; j < image.mask_height; j++) {
    int ty = threadIdx.y + j - image.mask_height / 2;
    Sum row = 0;
    for (int i = 0; i < image.mask_width; i++) {
      int tx = threadIdx.x + i - image.mask_width / 2;
      float value;

      if ((unsigned) tx < TILE && (unsigned) ty < TILE)
        value = tile[ty][tx];
      else
        value = convolve_load<T, B> (image, x + i - image.mask_width / 2, y + j - image.mask_height / 2, blockIdx.z);
      row += mask.tap[j * image.mask_width + i] * (Sum) value;
    }
    sum += row;
  }
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_tiled_cached_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  typedef ConvolveParameters<CONVOLVE_FEW_TAPS> Few;
  typedef ConvolveParameters<CONVOLVE_MAX_PARAMETER_TAPS> Many;
  static const ConvolveKernels<Few> few = CONVOLVE_KERNELS (convolve_tiled_cached, CONVOLVE_FEW_TAPS);
  static const ConvolveKernels<Many> many = CONVOLVE_KERNELS (convolve_tiled_cached, CONVOLVE_MAX_PARAMETER_TAPS);
  const void *kernel = convolve_has_few_taps (plan) ? convolve_kernel<Few> (plan, few)
      : convolve_kernel<Many> (plan, many);

  return convolve_launch (plan, plane, kernel,
      { dim3 (TILE, TILE), TILE, TILE, 0 }, plan->taps.taps, error);
}
