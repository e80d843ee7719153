/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/launch.cuh"
#include "layer/cuda/shared.h"

#define WIDTH CONVOLVE_LAYER_SHARED_WIDTH
#define HEIGHT CONVOLVE_LAYER_SHARED_HEIGHT

/*
 * The idea: a block computes a tile of outputs of one filter. Channel by channel, its threads together load the patch
 * and the filter's weights to shared memory, each sample once. Then each thread reads its own window there. Windows of
 * neighbours overlap, so most samples are read by many threads. Where the pooling has padding, what lies in it becomes
 * the smallest number.
 */
template <bool PLAIN>
__global__ void __launch_bounds__ (WIDTH *HEIGHT) convolve_layer_shared (const __grid_constant__ ConvolveLayerView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  const ConvolveLayerTiles &tiles = view.tiles;
  float *patch = (float *) convolve_layer_memory, *weights = patch + tiles.plane;
  int thread = threadIdx.y * WIDTH + threadIdx.x, k = blockIdx.y, taps = view.kernel_height * view.kernel_width;
  int left = convolve_layer_tile_left (view) * view.pool_stride_x * view.stride_x - view.pad_left
      - (PLAIN ? 0 : view.pool_pad_left * view.stride_x);
  int top = convolve_layer_tile_top (view) * view.pool_stride_y * view.stride_y - view.pad_top
      - (PLAIN ? 0 : view.pool_pad_top * view.stride_y);
  const float *window = patch + threadIdx.y * view.stride_y * tiles.pitch + threadIdx.x * view.stride_x;
  int first_channel = PLAIN ? 0 : convolve_layer_group_start (view, k);
  float sum = view.bias[k]; /* over the channels before this one; part: over this one */

  for (int c = 0; c < (PLAIN ? view.channels : view.group_channels); c++) {
    const uint8_t *plane = convolve_layer_plane (&view.source, blockIdx.z, first_channel + c);
    float part = 0;

    for (int y = threadIdx.y; y < tiles.patch_height; y += HEIGHT)
      for (int x = threadIdx.x; x < tiles.patch_width; x += WIDTH) {
        int at = convolve_layer_offset (view, top + y, left + x);

        patch[y * tiles.pitch + x] = at == CONVOLVE_LAYER_ZERO_PADDING ? 0 : convolve_layer_read_any (view, plane + at);
      }
    for (int n = thread; n < taps; n += WIDTH * HEIGHT)
      weights[n] = view.weights[((size_t) k * (PLAIN ? view.channels : view.group_channels) + c) * taps + n];
    __syncthreads ();
    for (int j = 0; j < view.kernel_height; j++)
      for (int i = 0; i < view.kernel_width; i++)
        part += weights[j * view.kernel_width + i]
            * (PLAIN ? window[j * tiles.pitch + i] : window[j * view.dilation_y * tiles.pitch + i * view.dilation_x]);
    sum += part;
    __syncthreads ();
  }
  /* The outputs before pooling take the memory of the patch, which is at least as large. */
  sum = convolve_layer_activate (view, sum);
  if (!PLAIN) {
    int x = convolve_layer_tile_left (view) * view.pool_stride_x - view.pool_pad_left + threadIdx.x;
    int y = convolve_layer_tile_top (view) * view.pool_stride_y - view.pool_pad_top + threadIdx.y;

    sum = x >= 0 && x < view.conv_width && y >= 0 && y < view.conv_height ? sum : -INFINITY;
  }
  patch[thread] = sum;
  __syncthreads ();
  convolve_layer_pool<PLAIN> (view, patch, WIDTH, k, thread, WIDTH * HEIGHT);
}

ConvolveStatus
convolve_layer_shared_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveLayerPrepared *prepared = (ConvolveLayerPrepared *) plan->prepared;
  const char *reason;

  prepared->kernels[0] = convolve_layer_is_plain (&plan->layer, &reason) ? (const void *) convolve_layer_shared<true>
                                                                         : (const void *) convolve_layer_shared<false>;
  return convolve_allow_shared (plan->device, prepared->kernels[0], prepared->shared, error);
}

ConvolveStatus
convolve_layer_shared_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayerPrepared *prepared = (const ConvolveLayerPrepared *) plan->prepared;
  ConvolveLayerView view = convolve_layer_view (plan, job);

  view.tiles = prepared->tiles;
  return convolve_layer_launch (plan, job, prepared->kernels[0], &view, plan->layer.filters, dim3 (WIDTH, HEIGHT),
      prepared->shared, error);
}
