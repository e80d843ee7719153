/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the layer's CUDA variants share on the host's side, and the filling of channels. */
#include <cuda_fp16.h>

#include "convolve_device.cuh"
#include "convolve_layer_private.h"

/* The idea: a thread per sample, the channel in blockIdx.z. */
template <typename T>
__global__ void
convolve_layer_fill (const __grid_constant__ ConvolveLayerTensor to, int first_row, int rows, int width, int channel,
    int channels, T value)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;

  if (x >= width)
    return;
  for (int z = blockIdx.z; z < channels; z += gridDim.z)
    for (int y = blockIdx.y; y < rows; y += gridDim.y)
      *(T *) (convolve_layer_plane (&to, 0, channel + z) + (first_row + y) * to.row_stride
          + x * to.column_stride) = value;
}

template <typename T>
static void
fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, T value)
{
  ConvolveLayerTensor to = job->task.destination;
  int rows = job->task.end_row - job->task.first_row;
  dim3 blocks ((job->out_width + 127) / 128, rows < 65535 ? rows : 65535, job->task.filled);

  for (int b = 0; b < job->task.batch; b++) {
    convolve_layer_fill<T> <<<blocks, 128, 0, plan->device->streams[PHASE_KERNEL]>>> (to, job->task.first_row, rows,
        job->out_width, plan->layer.filters, job->task.filled, value);
    for (int i = 0; i < CONVOLVE_LAYER_PLANES; i++)
      if (to.channel[i])
        to.channel[i] = (uint8_t *) to.channel[i] + to.batch_stride;
  }
}

ConvolveStatus
convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  float value = job->task.fill;
  ConvolveStatus status = convolve_device_enter (plan->device, error);
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  if (plan->layer.type == CONVOLVE_LAYER_FLOAT32) {
    fill<float> (plan, job, value);
  } else if (plan->layer.type == CONVOLVE_LAYER_FLOAT16) {
    fill<uint16_t> (plan, job, convolve_float_to_half (value));
  } else {
    uint8_t byte;

    convolve_layer_store (CONVOLVE_LAYER_U8, &byte, value);
    fill<uint8_t> (plan, job, byte);
  }
  code = cudaGetLastError ();
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (plan->device, code, "fill", error);
}
