/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/image.cuh"

template <typename T, ConvolveBoundary B, typename Sum>
static __device__ __forceinline__ Sum
sum_neighbours (const ConvolveImage &image, const Sum *__restrict__ taps, int x, int y)
{
  Sum sum = 0;

  for (int j = 0; j < image.mask_height; j++) {
    Sum row = 0;
    for (int i = 0; i < image.mask_width; i++)
      row += taps[j * image.mask_width + i]
          * (Sum) convolve_load<T, B> (image, x + i - image.mask_width / 2, y + j - image.mask_height / 2, blockIdx.z);
    sum += row;
  }
  return sum;
}

/*
 * The idea: a thread for each output reads its neighbourhood and the mask from global memory. The taps have the type
 * of the sums, so that masks whose taps float does not hold well enough are done too.
 */
template <typename T, ConvolveBoundary B, typename Sum>
__global__ void __launch_bounds__ (256)
    convolve_global (const __grid_constant__ ConvolveImage image, const void *__restrict__ mask)
{
  const Sum *taps = (const Sum *) mask;
  int left = image.x0 + blockIdx.x * blockDim.x, top = image.y0 + blockIdx.y * blockDim.y;
  int x = left + threadIdx.x, y = top + threadIdx.y;
  bool inside = x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside) || !inside)
    return;

  Sum sum = convolve_is_inside (image, left, top, blockDim.x, blockDim.y)
      ? sum_neighbours<T, CONVOLVE_INSIDE, Sum> (image, taps, x, y)
      : sum_neighbours<T, B, Sum> (image, taps, x, y);
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_global_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  static const ConvolveKernels<const void *> kernels = CONVOLVE_KERNELS (convolve_global);

  return convolve_launch (plan, plane, convolve_kernel<const void *> (plan, kernels), { dim3 (32, 8), 32, 8, 0 },
      &plan->device_taps, error);
}
