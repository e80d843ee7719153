/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/launch.cuh"

CONVOLVE_LAYER_DEVICE_FUNCTIONS (direct);

#define WIDTH 32 /* threads of a block, and outputs of its tile */
#define HEIGHT 8

/* Output (y, x) of filter k before pooling. */
template <bool PLAIN>
static __device__ __forceinline__ float
convolve_at (const ConvolveLayerView &view, int k, int y, int x)
{
  int channels = PLAIN ? view.channels : view.group_channels;
  int first_channel = PLAIN ? 0 : convolve_layer_group_start (view, k);
  const float *weight = view.weights + (size_t) k * channels * view.kernel_height * view.kernel_width;
  float sum = view.bias[k];

  for (int c = 0; c < channels; c++) {
    const uint8_t *plane = convolve_layer_plane (&view.source, blockIdx.z, first_channel + c);
    float part = 0;

    for (int j = 0; j < view.kernel_height; j++)
      for (int i = 0; i < view.kernel_width; i++, weight++) {
        int row = PLAIN ? j : j * view.dilation_y, column = PLAIN ? i : i * view.dilation_x;
        int at = convolve_layer_offset (view, y * view.stride_y + row - view.pad_top,
            x * view.stride_x + column - view.pad_left);

        if (at != CONVOLVE_LAYER_ZERO_PADDING)
          part += *weight * convolve_layer_read_any (view, plane + at);
      }
    sum += part;
  }
  return convolve_layer_activate (view, sum);
}

/* The idea: one thread for each output, which reads all its samples and weights from global memory. */
template <bool PLAIN>
__global__ void __launch_bounds__ (WIDTH *HEIGHT) convolve_layer_direct (const __grid_constant__ ConvolveLayerView view)
{
  int x = convolve_layer_tile_left (view) + threadIdx.x, y = convolve_layer_tile_top (view) + threadIdx.y,
      k = blockIdx.y;
  float largest = -INFINITY;

  if (x >= view.out_width || y >= view.end_row)
    return;
  for (int j = 0; j < view.pool_height; j++)
    for (int i = 0; i < view.pool_width; i++) {
      int row = y * view.pool_stride_y + j, column = x * view.pool_stride_x + i;

      if (!PLAIN) {
        row = y * view.pool_stride_y + j * view.pool_dilation_y - view.pool_pad_top;
        column = x * view.pool_stride_x + i * view.pool_dilation_x - view.pool_pad_left;
        if (row < 0 || row >= view.conv_height || column < 0 || column >= view.conv_width)
          continue;
      }
      largest = fmaxf (largest, convolve_at<PLAIN> (view, k, row, column));
    }
  convolve_layer_write (view,
      convolve_layer_plane (&view.destination, blockIdx.z, k) + y * view.destination.row_stride
          + x * view.destination.column_stride,
      largest);
}

ConvolveStatus
convolve_layer_direct_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveLayerPrepared *prepared = (ConvolveLayerPrepared *) plan->prepared;
  const char *reason;

  prepared->kernels[0] = convolve_layer_is_plain (&plan->layer, &reason) ? (const void *) convolve_layer_direct<true>
                                                                         : (const void *) convolve_layer_direct<false>;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_layer_direct_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayerPrepared *prepared = (const ConvolveLayerPrepared *) plan->prepared;
  ConvolveLayerView view = convolve_layer_view (plan, job);

  view.tiles.width = WIDTH;
  view.tiles.height = HEIGHT;
  return convolve_layer_launch (plan, job, prepared->kernels[0], &view, plan->layer.filters, dim3 (WIDTH, HEIGHT), 0,
      error);
}
