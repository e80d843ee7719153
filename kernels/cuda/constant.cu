/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/image.cuh"

template <typename T, ConvolveBoundary B, typename Sum, int N>
static __device__ __forceinline__ Sum
sum_neighbours (const ConvolveImage &image, const ConvolveParameters<N> &mask, int x, int y)
{
  Sum sum = 0;

  for (int j = 0; j < image.mask_height; j++) {
    Sum row = 0;
    for (int i = 0; i < image.mask_width; i++)
      row += mask.tap[j * image.mask_width + i]
          * (Sum) convolve_load<T, B> (image, x + i - image.mask_width / 2, y + j - image.mask_height / 2, blockIdx.z);
    sum += row;
  }
  return sum;
}

/*
 * The idea: all threads read the same weight at the same time, which is what constant memory is made for.
 * The weights come as a launch parameter; parameters stand in the constant bank.
 */
template <typename T, ConvolveBoundary B, typename Sum, int N>
__global__ void __launch_bounds__ (256)
    convolve_constant (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveParameters<N> mask)
{
  int left = image.x0 + blockIdx.x * blockDim.x, top = image.y0 + blockIdx.y * blockDim.y;
  int x = left + threadIdx.x, y = top + threadIdx.y;
  bool inside = x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside) || !inside)
    return;

  Sum sum = convolve_is_inside (image, left, top, blockDim.x, blockDim.y)
      ? sum_neighbours<T, CONVOLVE_INSIDE, Sum> (image, mask, x, y)
      : sum_neighbours<T, B, Sum> (image, mask, x, y);
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_constant_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  typedef ConvolveParameters<CONVOLVE_FEW_TAPS> Few;
  typedef ConvolveParameters<CONVOLVE_MAX_PARAMETER_TAPS> Many;
  static const ConvolveKernels<Few> few = CONVOLVE_KERNELS (convolve_constant, CONVOLVE_FEW_TAPS);
  static const ConvolveKernels<Many> many = CONVOLVE_KERNELS (convolve_constant, CONVOLVE_MAX_PARAMETER_TAPS);
  const void *kernel =
      convolve_has_few_taps (plan) ? convolve_kernel<Few> (plan, few) : convolve_kernel<Many> (plan, many);

  return convolve_launch (plan, plane, kernel, { dim3 (32, 8), 32, 8, 0 }, plan->taps.taps, error);
}
