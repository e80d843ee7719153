/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/launch.cuh"
#include "cuda/registers/sets.h"

CONVOLVE_DEVICE_FUNCTIONS (global);

/* The idea: a thread for each output reads its neighbourhood and the mask from global memory. */
template <typename T, int P, typename Sum>
__global__ void __launch_bounds__ (256)
    convolve_global (const __grid_constant__ ConvolveImage image, const void *__restrict__ mask)
{
  const Sum *__restrict__ taps = (const Sum *) mask;
  int left = image.x0 + blockIdx.x * blockDim.x, top = image.y0 + blockIdx.y * blockDim.y;
  int x = left + threadIdx.x, y = top + threadIdx.y;
  bool inside = x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside) || !inside)
    return;

  auto tap = [&] (int k) { return taps[k]; };
  Sum sum = convolve_is_inside (image, left, top, blockDim.x, blockDim.y)
      ? convolve_sum_neighbours<T, CONVOLVE_INSIDE, Sum> (image, tap, x, y)
      : convolve_sum_neighbours<T, P, Sum> (image, tap, x, y);
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_global_load (ConvolvePlan *plan, ConvolveError *error)
{
  static const ConvolveKernels kernels = CONVOLVE_KERNELS (convolve_global);

  if (plan->n_parts > 0)
    return convolve_global_load_sets (plan, error);
  return convolve_load_tiles (plan, convolve_kernel (plan, kernels), { dim3 (32, 8), 32, 8, 0 }, &plan->device_memory,
      error);
}

ConvolveStatus
convolve_global_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
