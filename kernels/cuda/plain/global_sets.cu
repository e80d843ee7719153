/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* global for masks of several sets of taps, and absolute values. */
#include "cuda/plain/combine.cuh"

#include <stdlib.h>

/* The kernel's second parameter. */
struct GlobalSets
{
  const void *taps; /* in device memory: tap i of set k is taps[i * N + k] */
  ConvolveSets sets;
};

/*
 * The idea: as global, but each sample is loaded once for the sums of all N sets. Each sum takes its products in the
 * order of convolve_sum ().
 */
template <typename T, int N, typename Sum>
__global__ void __launch_bounds__ (256)
    convolve_global_sets (const __grid_constant__ ConvolveImage image, const __grid_constant__ GlobalSets mask)
{
  const Sum *__restrict__ taps = (const Sum *) mask.taps;
  const int sample = blockIdx.z, w = image.mask_width, h = image.mask_height;
  int left = image.x0 + blockIdx.x * blockDim.x, top = image.y0 + blockIdx.y * blockDim.y;
  int x = left + threadIdx.x, y = top + threadIdx.y;
  bool is_output = x < image.x1 && y < image.y1;
  Sum sums[N] = {};

  if (convolve_copied<T> (image, x, y, is_output) || !is_output)
    return;
  bool inside = convolve_is_inside (image, left, top, blockDim.x, blockDim.y);
  for (int j = 0; j < h; j++) {
    Sum row[N] = {};

    for (int i = 0; i < w; i++, taps += N) {
      int from_x = x + i - w / 2, from_y = y + j - h / 2;
      Sum value = inside ? convolve_load<T, CONVOLVE_INSIDE> (image, from_x, from_y, sample)
                         : convolve_load<T, CONVOLVE_ANYWHERE> (image, from_x, from_y, sample);

#pragma unroll
      for (int k = 0; k < N; k++)
        row[k] += taps[k] * value;
    }
#pragma unroll
    for (int k = 0; k < N; k++)
      sums[k] += row[k];
  }

  unsigned value = convolve_combine_sums<T, N, Sum> (mask.sets, sample, sums);
  if (sizeof (T) > 1)
    value = convolve_swap (image, value << image.shift);
  *convolve_destination<T> (image, x, y, sample) = (T) value;
}

template <typename T, typename Sum>
static const void *
kernel_of (int padded)
{
  return padded == 2 ? (const void *) convolve_global_sets<T, 2, Sum>
      : padded == 4  ? (const void *) convolve_global_sets<T, 4, Sum>
                     : (const void *) convolve_global_sets<T, 8, Sum>;
}

ConvolveStatus
convolve_global_load_sets (ConvolvePlan *plan, ConvolveError *error)
{
  GlobalSets *mask = (GlobalSets *) calloc (1, sizeof (GlobalSets));
  int padded = convolve_sets_padded (plan);
  const void *kernel;

  plan->prepared = mask;
  if (!mask)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no host memory for a plan");
  mask->taps = plan->device_memory;
  convolve_sets_fill (plan, &mask->sets);
  if (plan->pixel.type == CONVOLVE_SAMPLE_U8)
    kernel =
        convolve_sets_need_double (plan) ? kernel_of<uint8_t, double> (padded) : kernel_of<uint8_t, float> (padded);
  else
    kernel =
        convolve_sets_need_double (plan) ? kernel_of<uint16_t, double> (padded) : kernel_of<uint16_t, float> (padded);
  return convolve_load_tiles (plan, kernel, { dim3 (32, 8), 32, 8, 0 }, mask, error);
}
