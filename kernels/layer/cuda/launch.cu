/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the layer's CUDA variants share on the host's side, and the filling of channels. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "cuda/device.cuh"
#include "layer/cuda/image.cuh"

static ConvolveStatus
put_floats (ConvolveDevice *device, const float *values, size_t count, float **copy, ConvolveError *error)
{
  void *memory;
  ConvolveStatus status = convolve_device_put (device, values, count * sizeof (float), &memory, error);

  *copy = (float *) memory;
  return status;
}

ConvolveStatus
convolve_layer_put (ConvolveLayerPlan *plan, const void *weights, size_t count, const float *bias, size_t bias_count,
    ConvolveError *error)
{
  ConvolveLayerMemory *memory = (ConvolveLayerMemory *) calloc (1, sizeof (ConvolveLayerMemory));
  ConvolveStatus status;

  if (!memory)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a plan");
  plan->prepared = memory;
  status = put_floats (plan->device, (const float *) weights, count, &memory->weights, error);
  return status != CONVOLVE_OK ? status : put_floats (plan->device, bias, bias_count, &memory->bias, error);
}

void
convolve_layer_device_clear (ConvolveLayerPlan *plan)
{
  ConvolveLayerMemory *memory = (ConvolveLayerMemory *) plan->prepared;

  if (!memory)
    return;
  convolve_device_release (plan->device, memory->weights);
  convolve_device_release (plan->device, memory->bias);
  convolve_device_release (plan->device, memory->weight_spectra);
  convolve_device_release (plan->device, memory->scratch);
  free (memory);
}

int
convolve_layer_exponent (const ConvolveLayer *layer, int k)
{
  size_t count = (size_t) layer->channels * layer->kernel_height * layer->kernel_width;
  float most = 0;
  int exponent;

  for (size_t i = 0; i < count; i++)
    most = fmaxf (most, fabsf (layer->weights[k * count + i]));
  frexpf (most, &exponent);
  return most > 0 ? exponent - 1 : INT_MIN / 2;
}

ConvolveLayerView
convolve_layer_view (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  const ConvolveLayer *layer = &plan->layer;
  const ConvolveLayerTask *task = &job->task;
  const ConvolveLayerMemory *memory = (const ConvolveLayerMemory *) plan->prepared;
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
  view.weights = memory->weights;
  view.bias = memory->bias;
  return view;
}

bool
convolve_layer_cut (const ConvolveLayer *layer, int conv_width, int conv_height, ConvolveLayerTiles *tiles)
{
  if (layer->pool_width > conv_width || layer->pool_height > conv_height)
    return false;
  tiles->conv_width = conv_width;
  tiles->conv_height = conv_height;
  tiles->width = (conv_width - layer->pool_width) / layer->pool_stride_x + 1;
  tiles->height = (conv_height - layer->pool_height) / layer->pool_stride_y + 1;
  tiles->patch_width = (conv_width - 1) * layer->stride_x + layer->kernel_width;
  tiles->patch_height = (conv_height - 1) * layer->stride_y + layer->kernel_height;
  return true;
}

ConvolveStatus
convolve_layer_enqueue (const ConvolveLayerPlan *plan, const void *kernel, ConvolveLayerView *view, dim3 blocks,
    dim3 block, size_t shared, ConvolveError *error)
{
  ConvolveDevice *device = plan->device;
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status;
  void *arguments[] = { view };
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  if ((code = convolve_frame_enqueue (device, PHASE_KERNEL)) == cudaSuccess && shared > 48 * 1024)
    code = cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared);
  if (code == cudaSuccess)
    code = cudaLaunchKernel (kernel, blocks, block, arguments, shared, device->streams[PHASE_KERNEL]);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, plan->variant->name, error);
}

ConvolveStatus
convolve_layer_launch (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, const void *kernel,
    ConvolveLayerView *view, int groups, dim3 block, size_t shared, ConvolveError *error)
{
  int down = (view->end_row - view->first_row - 1) / view->tiles.height + 1;

  view->tiles.across = (view->out_width - 1) / view->tiles.width + 1;
  if ((int64_t) view->tiles.across * down > INT32_MAX)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "an output of %dx%d", view->out_width,
        view->end_row - view->first_row);
  return convolve_layer_enqueue (plan, kernel, view, dim3 (view->tiles.across * down, groups, job->task.batch), block,
      shared, error);
}

/* The idea: a thread per sample; the value is a bias without a sum. */
__global__ void __launch_bounds__ (128) convolve_layer_fill (const __grid_constant__ ConvolveLayerView view)
{
  int x = convolve_layer_left (view) + threadIdx.x, y = convolve_layer_top (view);

  if (x < view.out_width)
    convolve_layer_set (view,
        convolve_layer_plane (&view.destination, blockIdx.z, view.filters + blockIdx.y)
            + y * view.destination.row_stride + x * view.destination.column_stride,
        view.in_offset);
}

ConvolveStatus
convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  ConvolveLayerView view = convolve_layer_view (plan, job);

  view.in_offset = job->task.fill;
  view.out_scale = 1;
  view.out_offset = 0;
  view.tiles.width = 128;
  view.tiles.height = 1;
  return convolve_layer_launch (plan, job, (const void *) convolve_layer_fill, &view, job->task.filled, dim3 (128), 0,
      error);
}
