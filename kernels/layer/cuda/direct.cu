/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/launch.cuh"

CONVOLVE_LAYER_DEVICE_FUNCTIONS (direct);

#define WIDTH 32 /* threads of a block, and outputs of its tile */
#define HEIGHT 8

/* Output (y, x) of filter k before pooling. */
static __device__ __forceinline__ float
convolve_at (const ConvolveLayerView &view, int k, int y, int x)
{
  const float *weight = view.weights + (size_t) k * view.channels * view.kernel_height * view.kernel_width;
  float sum = view.bias[k];

  for (int c = 0; c < view.channels; c++) {
    const uint8_t *plane = convolve_layer_plane (&view.source, blockIdx.z, c);
    float part = 0;

    for (int j = 0; j < view.kernel_height; j++)
      for (int i = 0; i < view.kernel_width; i++, weight++) {
        int at =
            convolve_layer_offset (view, y * view.stride_y + j - view.pad_top, x * view.stride_x + i - view.pad_left);

        if (at != CONVOLVE_LAYER_ZERO_PADDING)
          part += *weight * convolve_layer_read_any (view, plane + at);
      }
    sum += part;
  }
  return convolve_layer_activate (view, sum);
}

/* The idea: one thread for each output, which reads all its samples and weights from global memory. */
__global__ void __launch_bounds__ (WIDTH *HEIGHT) convolve_layer_direct (const __grid_constant__ ConvolveLayerView view)
{
  int x = convolve_layer_tile_left (view) + threadIdx.x, y = convolve_layer_tile_top (view) + threadIdx.y,
      k = blockIdx.y;
  float largest = -INFINITY;

  if (x >= view.out_width || y >= view.end_row)
    return;
  for (int j = 0; j < view.pool_height; j++)
    for (int i = 0; i < view.pool_width; i++)
      largest = fmaxf (largest, convolve_at (view, k, y * view.pool_stride_y + j, x * view.pool_stride_x + i));
  convolve_layer_write (view,
      convolve_layer_plane (&view.destination, blockIdx.z, k) + y * view.destination.row_stride
          + x * view.destination.column_stride,
      largest);
}

ConvolveStatus
convolve_layer_direct_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_layer_direct_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  ConvolveLayerView view = convolve_layer_view (plan, job);

  view.tiles.width = WIDTH;
  view.tiles.height = HEIGHT;
  return convolve_layer_launch (plan, job, (const void *) convolve_layer_direct, &view, plan->layer.filters,
      dim3 (WIDTH, HEIGHT), 0, error);
}
