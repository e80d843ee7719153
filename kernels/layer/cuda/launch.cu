/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The launch that the layer's CUDA variants share, and the kernel that fills channels. */
#include "layer/cuda/launch.cuh"

ConvolveLayerView
convolve_layer_view (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  const ConvolveLayer *layer = &plan->layer;
  const ConvolveLayerTask *task = &job->task;
  const ConvolveLayerPrepared *prepared = (const ConvolveLayerPrepared *) plan->prepared;
  ConvolveLayerView view = {};

  view.source = task->source;
  view.destination = task->destination;
  view.type = layer->type;
  view.boundary = layer->boundary;
  view.activation = layer->activation;
  view.height = task->height;
  view.width = task->width;
  view.out_width = job->out_width;
  view.first_row = task->first_row;
  view.end_row = task->end_row;
  view.filters = layer->filters;
  view.channels = layer->channels;
  view.kernel_height = layer->kernel_height;
  view.kernel_width = layer->kernel_width;
  view.stride_y = layer->stride_y;
  view.stride_x = layer->stride_x;
  view.pad_top = layer->pad_top;
  view.pad_left = layer->pad_left;
  view.pool_height = layer->pool_height;
  view.pool_width = layer->pool_width;
  view.pool_stride_y = layer->pool_stride_y;
  view.pool_stride_x = layer->pool_stride_x;
  view.in_scale = layer->in_scale;
  view.in_offset = layer->in_offset;
  view.out_scale = layer->out_scale;
  view.out_offset = layer->out_offset;
  view.weights = prepared->weights;
  view.bias = prepared->bias;
  view.dilation_y = layer->dilation_y;
  view.dilation_x = layer->dilation_x;
  view.pool_dilation_y = layer->pool_dilation_y;
  view.pool_dilation_x = layer->pool_dilation_x;
  view.pool_pad_top = layer->pool_pad_top;
  view.pool_pad_left = layer->pool_pad_left;
  view.conv_height = job->conv_height;
  view.conv_width = job->conv_width;
  view.first_filter = plan->first_filter;
  view.group_filters = plan->group_filters;
  view.group_channels = plan->group_channels;
  return view;
}

ConvolveStatus
convolve_layer_enqueue (const ConvolveLayerPlan *plan, const void *kernel, ConvolveLayerView *view, dim3 blocks,
    dim3 block, size_t shared, ConvolveError *error)
{
  ConvolveDevice *device = plan->device;
  const char *name = plan->variant->name;
  ConvolveEntry entry (device, error);
  void *arguments[] = { view };
  cudaError_t code;

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  if ((code = convolve_frame_enqueue (device, PHASE_KERNEL)) != cudaSuccess)
    return convolve_device_fail (device, code, name, error);
  return convolve_enqueue (device, { kernel, blocks, block, shared, false, false }, arguments, name, error);
}

ConvolveStatus
convolve_layer_launch (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, const void *kernel,
    ConvolveLayerView *view, int groups, dim3 block, size_t shared, ConvolveError *error)
{
  int down = (view->end_row - view->first_row - 1) / view->tiles.height + 1;

  view->tiles.across = (view->out_width - 1) / view->tiles.width + 1;
  if ((int64_t) view->tiles.across * down > INT32_MAX)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "an output of %dx%d has more tiles than a grid of blocks",
        view->out_width, view->end_row - view->first_row);
  return convolve_layer_enqueue (plan, kernel, view, dim3 (view->tiles.across * down, groups, job->task.batch), block,
      shared, error);
}

#define FILL_WIDTH 128 /* threads of a block, each with one sample of one row */

/* The idea: one thread for each sample of the channels behind the filters, which all get the value view.in_offset. */
__global__ void __launch_bounds__ (FILL_WIDTH) convolve_layer_fill (const __grid_constant__ ConvolveLayerView view)
{
  int x = convolve_layer_tile_left (view) + threadIdx.x, y = convolve_layer_tile_top (view);

  if (x < view.out_width)
    convolve_layer_write (view,
        convolve_layer_plane (&view.destination, blockIdx.z, view.filters + blockIdx.y)
            + y * view.destination.row_stride + x * view.destination.column_stride,
        view.in_offset);
}

ConvolveStatus
convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  ConvolveLayerView view = convolve_layer_view (plan, job);

  /* The fill of 8-bit channels is a code value already. */
  view.in_offset = job->task.fill;
  view.out_scale = 1;
  view.out_offset = 0;
  view.tiles.width = FILL_WIDTH;
  view.tiles.height = 1;
  return convolve_layer_launch (plan, job, (const void *) convolve_layer_fill, &view, job->task.filled,
      dim3 (FILL_WIDTH), 0, error);
}
