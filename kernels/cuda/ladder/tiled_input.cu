/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/ladder/tiled_input.h"

#include "cuda/device/launch.cuh"

/*
 * The idea: a block is an input tile. Each thread loads one sample, which is simple; then the outer threads rest,
 * since the output tile is smaller by the mask.
 */
template <typename T, int P, typename Sum, int N>
__global__ void __launch_bounds__ (1024) convolve_tiled_input (const __grid_constant__ ConvolveImage image,
    const __grid_constant__ ConvolveParameters<N> mask)
{
  extern __shared__ float tile[];
  int output_width = blockDim.x - image.mask_width + 1, output_height = blockDim.y - image.mask_height + 1;
  int x = image.x0 + blockIdx.x * output_width + threadIdx.x;
  int y = image.y0 + blockIdx.y * output_height + threadIdx.y;
  bool inside = threadIdx.x < output_width && threadIdx.y < output_height && x < image.x1 && y < image.y1;

  if (convolve_copied<T> (image, x, y, inside))
    return;

  tile[threadIdx.y * blockDim.x + threadIdx.x] =
      convolve_load<T, P> (image, x - image.mask_width / 2, y - image.mask_height / 2, blockIdx.z);
  __syncthreads ();
  if (!inside)
    return;

  Sum sum = convolve_sum<Sum> (
      image, [&] (int k) { return mask.tap[k]; },
      [&] (int i, int j) { return tile[(threadIdx.y + j) * blockDim.x + threadIdx.x + i]; });
  convolve_store<T> (image, x, y, blockIdx.z, sum);
}

ConvolveStatus
convolve_tiled_input_load (ConvolvePlan *plan, ConvolveError *error)
{
  static const ConvolveParameterKernels kernels = CONVOLVE_PARAMETER_KERNELS (convolve_tiled_input);
  int width = 0, height = 0;

  convolve_tiled_input_block (plan, &width, &height);
  return convolve_load_tiles (plan, convolve_parameter_kernel (plan, kernels),
      { dim3 (width, height), width - plan->taps.width + 1, height - plan->taps.height + 1,
          width * height * sizeof (float) },
      plan->taps.taps, error);
}

ConvolveStatus
convolve_tiled_input_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
