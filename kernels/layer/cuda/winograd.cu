/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/launch.cuh"
#include "layer/cuda/winograd.h"

#define ACROSS 16 /* threads of a block, each with 2 x 2 outputs */
#define DOWN 8
#define THREADS (ACROSS * DOWN)
#define WIDTH CONVOLVE_LAYER_WINOGRAD_WIDTH
#define HEIGHT CONVOLVE_LAYER_WINOGRAD_HEIGHT
#define PITCH (WIDTH + 2)
#define PLANE (PITCH * (HEIGHT + 2))
#define FILTERS CONVOLVE_LAYER_WINOGRAD_FILTERS
#define CHANNELS CONVOLVE_LAYER_WINOGRAD_CHANNELS
#define POINTS CONVOLVE_LAYER_WINOGRAD_POINTS
/* The points of the weights, and the patches or, after these, the outputs. */
#define SHARED_BYTES \
  ((CHANNELS * FILTERS * POINTS \
       + (CHANNELS * PLANE > FILTERS * WIDTH * HEIGHT ? CHANNELS * PLANE : FILTERS * WIDTH * HEIGHT)) \
      * sizeof (float))
static_assert (WIDTH == 2 * ACROSS && HEIGHT == 2 * DOWN, "a thread has 2 x 2 outputs");

/*
 * All threads together load some channels of the input under the tile; in place of those that the layer has not,
 * others.
 */
template <typename T>
static __device__ __forceinline__ void
load_patches (const ConvolveLayerView &view, int first, float *patches)
{
  int left = convolve_layer_tile_left (view) * view.pool_stride_x - view.pad_left;
  int top = convolve_layer_tile_top (view) * view.pool_stride_y - view.pad_top;
  const uint8_t *planes[CHANNELS];

#pragma unroll
  for (int c = 0; c < CHANNELS; c++)
    planes[c] = convolve_layer_plane (&view.source, blockIdx.z, min (first + c, view.channels - 1));
#pragma unroll 2
  for (int n = threadIdx.x; n < PLANE; n += THREADS) {
    int at = convolve_layer_offset (view, top + n / PITCH, left + n % PITCH);
    uint32_t bits[CHANNELS];

#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      bits[c] = convolve_layer_bits<T> (planes[c] + (at == CONVOLVE_LAYER_ZERO_PADDING ? 0 : at));
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      patches[c * PLANE + n] = at == CONVOLVE_LAYER_ZERO_PADDING ? 0 : convolve_layer_value<T> (view, bits[c]);
  }
}

/* A row or column of an input window of 4 on its way to the products: a - c, b + c, c - b, b - d. */
static __device__ __forceinline__ void
transform (float &a, float &b, float &c, float &d)
{
  float first = a - c, second = b + c, third = c - b;

  d = b - d;
  a = first;
  b = second;
  c = third;
}

/*
 * The idea: 2 x 2 outputs of a 3x3 kernel from 16 products instead of 36 (Winograd's F(2x2, 3x3)): a thread transforms
 * its 4 x 4 window of a channel, multiplies it point by point with the transformed weights of eight filters, and adds
 * up over the channels; the sums are transformed back to outputs once.
 */
__global__ void __launch_bounds__ (THREADS, 2) convolve_layer_winograd (const __grid_constant__ ConvolveLayerView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  float4 *weights = convolve_layer_memory;
  float *patches = (float *) (weights + CHANNELS * FILTERS * POINTS / 4), *staged = patches;
  int column = threadIdx.x % ACROSS * 2, row = threadIdx.x / ACROSS * 2, first = blockIdx.y * FILTERS;
  float sums[FILTERS][POINTS];

#pragma unroll
  for (int n = 0; n < FILTERS * POINTS; n++)
    sums[n / POINTS][n % POINTS] = 0;
  for (int channel = 0; channel < view.channels; channel += CHANNELS) {
    const float4 *from = (const float4 *) view.weights
        + ((size_t) blockIdx.y * view.tiles.chunks * CHANNELS + channel) * FILTERS * POINTS / 4;

    __syncthreads ();
    if (view.type == CONVOLVE_LAYER_FLOAT32)
      load_patches<float> (view, channel, patches);
    else if (view.type == CONVOLVE_LAYER_FLOAT16)
      load_patches<uint16_t> (view, channel, patches);
    else
      load_patches<uint8_t> (view, channel, patches);
    for (int n = threadIdx.x; n < CHANNELS * FILTERS * POINTS / 4; n += THREADS)
      weights[n] = from[n];
    __syncthreads ();

    for (int c = 0; c < CHANNELS; c++) {
      float window[4][4];

#pragma unroll
      for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < 2; i++)
          *(float2 *) &window[j][2 * i] = *(const float2 *) (patches + c * PLANE + (row + j) * PITCH + column + 2 * i);
#pragma unroll
      for (int j = 0; j < 4; j++)
        transform (window[j][0], window[j][1], window[j][2], window[j][3]);
#pragma unroll
      for (int i = 0; i < 4; i++)
        transform (window[0][i], window[1][i], window[2][i], window[3][i]);
#pragma unroll
      for (int k = 0; k < FILTERS; k++)
#pragma unroll
        for (int n = 0; n < 4; n++) {
          float4 weight = weights[(c * FILTERS + k) * 4 + n];

          sums[k][4 * n] = fmaf (weight.x, window[n][0], sums[k][4 * n]);
          sums[k][4 * n + 1] = fmaf (weight.y, window[n][1], sums[k][4 * n + 1]);
          sums[k][4 * n + 2] = fmaf (weight.z, window[n][2], sums[k][4 * n + 2]);
          sums[k][4 * n + 3] = fmaf (weight.w, window[n][3], sums[k][4 * n + 3]);
        }
    }
  }

#pragma unroll
  for (int k = 0; k < FILTERS; k++) {
    float bias = first + k < view.filters ? view.bias[first + k] : 0;
    float *to = staged + k * WIDTH * HEIGHT + row * WIDTH + column, halves[2][4];

#pragma unroll
    for (int i = 0; i < 4; i++) {
      halves[0][i] = sums[k][i] + sums[k][4 + i] + sums[k][8 + i];
      halves[1][i] = sums[k][4 + i] - sums[k][8 + i] - sums[k][12 + i];
    }
    if (k == 0)
      __syncthreads ();
#pragma unroll
    for (int j = 0; j < 2; j++)
      *(float2 *) (to + j * WIDTH) =
          make_float2 (convolve_layer_activate (view, halves[j][0] + halves[j][1] + halves[j][2] + bias),
              convolve_layer_activate (view, halves[j][1] - halves[j][2] - halves[j][3] + bias));
  }
  __syncthreads ();
  for (int k = 0; k < FILTERS && first + k < view.filters; k++)
    convolve_layer_pool (view, staged + k * WIDTH * HEIGHT, WIDTH, first + k, threadIdx.x, THREADS);
}

ConvolveStatus
convolve_layer_winograd_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  return convolve_allow_shared (plan->device, (const void *) convolve_layer_winograd, SHARED_BYTES, error);
}

ConvolveStatus
convolve_layer_winograd_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  ConvolveLayerView view = convolve_layer_view (plan, job);

  view.tiles = ((const ConvolveLayerPrepared *) plan->prepared)->tiles;
  return convolve_layer_launch (plan, job, (const void *) convolve_layer_winograd, &view,
      (layer->filters + FILTERS - 1) / FILTERS, dim3 (THREADS), SHARED_BYTES, error);
}
