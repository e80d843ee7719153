/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/launch.cuh"

CONVOLVE_DEVICE_FUNCTIONS (tiled_cached);

#define TILE 32

/*
 * As convolve_sum_neighbours (), with samples from the tile where that has them. Written out, for by convolve_sum ()
 * the kernel is up to 6% slower.
 */
template <typename T, int P, typename Sum, typename Tap>
static __device__ __forceinline__ Sum
sum_neighbours (const ConvolveImage &image, Tap tap, const float (*tile)[TILE], int x, int y)
{
  Sum sum = 0;

  for (int j = 0; j < image.mask_height; j++) {
    int dy = j - image.mask_height / 2;
    Sum row = 0;
    for (int i = 0; i < image.mask_width; i++) {
      int dx = i - image.mask_width / 2;
      bool cached = threadIdx.x + dx < TILE && threadIdx.y + dy < TILE; /* unsigned: what is negative is not less */
      float value =
          cached ? tile[threadIdx.y + dy][threadIdx.x + dx] : convolve_load<T, P> (image, x + dx, y + dy, blockIdx.z);

      row += tap (j * image.mask_width + i) * (Sum) value;
    }
    sum += row;
  }
  return sum;
}

/*
 * The idea: shared memory holds the tile alone. A neighbour in the halo belongs to another block's tile, so it was
 * read a moment ago and the L2 cache still has it.
 */
template <typename T, int P, typename Sum, int N>
__global__ void
convolve_tiled_cached (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveParameters<N> mask)
{
  __shared__ float tile[TILE][TILE];
  int left = image.x0 + blockIdx.x * TILE, top = image.y0 + blockIdx.y * TILE;
  int x = left + threadIdx.x, y = top + threadIdx.y;
  bool inside = x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside))
    return;

  tile[threadIdx.y][threadIdx.x] = convolve_load<T, P> (image, x, y, blockIdx.z);
  __syncthreads ();
  if (!inside)
    return;

  auto tap = [&] (int k) { return mask.tap[k]; };
  Sum sum = convolve_is_inside (image, left, top, TILE, TILE)
      ? sum_neighbours<T, CONVOLVE_INSIDE, Sum> (image, tap, tile, x, y)
      : sum_neighbours<T, P, Sum> (image, tap, tile, x, y);
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_tiled_cached_load (ConvolvePlan *plan, ConvolveError *error)
{
  static const ConvolveParameterKernels kernels = CONVOLVE_PARAMETER_KERNELS (convolve_tiled_cached);

  return convolve_load_tiles (plan, convolve_parameter_kernel (plan, kernels), { dim3 (TILE, TILE), TILE, TILE, 0 },
      plan->taps.taps, error);
}

ConvolveStatus
convolve_tiled_cached_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
