/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/launch.cuh"

CONVOLVE_DEVICE_FUNCTIONS (constant);

/*
 * The idea: all threads read the same weight at the same time, which is what constant memory is made for. The weights
 * come as a launch parameter, and parameters stand in the constant bank.
 */
template <typename T, int P, typename Sum, int N>
__global__ void __launch_bounds__ (256)
    convolve_constant (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveParameters<N> mask)
{
  int left = image.x0 + blockIdx.x * blockDim.x, top = image.y0 + blockIdx.y * blockDim.y;
  int x = left + threadIdx.x, y = top + threadIdx.y;
  bool inside = x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside) || !inside)
    return;

  auto tap = [&] (int k) { return mask.tap[k]; };
  Sum sum = convolve_is_inside (image, left, top, blockDim.x, blockDim.y)
      ? convolve_sum_neighbours<T, CONVOLVE_INSIDE, Sum> (image, tap, x, y)
      : convolve_sum_neighbours<T, P, Sum> (image, tap, x, y);
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_constant_load (ConvolvePlan *plan, ConvolveError *error)
{
  static const ConvolveParameterKernels kernels = CONVOLVE_PARAMETER_KERNELS (convolve_constant);

  return convolve_load_tiles (plan, convolve_parameter_kernel (plan, kernels), { dim3 (32, 8), 32, 8, 0 },
      plan->taps.taps, error);
}

ConvolveStatus
convolve_constant_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
