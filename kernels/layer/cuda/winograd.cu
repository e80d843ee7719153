/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/launch.cuh"
#include "layer/cuda/winograd.h"

#define ACROSS 16 /* threads of a block, side by side; each has 2 x 2 outputs */
#define DOWN 8    /* and one below the other */
#define THREADS (ACROSS * DOWN)
#define WIDTH CONVOLVE_LAYER_WINOGRAD_WIDTH
#define HEIGHT CONVOLVE_LAYER_WINOGRAD_HEIGHT
#define HALO 2 /* a 3x3 kernel needs this many more rows and columns of input than of output */
#define PITCH (WIDTH + HALO)
#define PLANE (PITCH * (HEIGHT + HALO)) /* floats of a channel's patch */
#define FILTERS CONVOLVE_LAYER_WINOGRAD_FILTERS
#define CHANNELS CONVOLVE_LAYER_WINOGRAD_CHANNELS
#define POINTS CONVOLVE_LAYER_WINOGRAD_POINTS
/* For the transformed weights, and for the patches, whose memory the outputs take when all sums are done. */
#define SHARED_BYTES \
  ((CHANNELS * FILTERS * POINTS \
       + (CHANNELS * PLANE > FILTERS * WIDTH * HEIGHT ? CHANNELS * PLANE : FILTERS * WIDTH * HEIGHT)) \
      * sizeof (float))
static_assert (WIDTH == 2 * ACROSS && HEIGHT == 2 * DOWN, "a thread has 2 x 2 outputs");

/*
 * Loads the patches of CHANNELS channels, all threads of the block together. In place of channels that the layer does
 * not have, the last one is loaded: the weights for these are 0, and 0 times any finite sample is 0.
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

/* Transforms a row or a column of the 4 x 4 input: a - c, b + c, c - b, b - d. */
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
 * The idea: Winograd's F(2x2, 3x3) makes 2 x 2 outputs of a 3x3 kernel from 16 products instead of 36. A thread has
 * 2 x 2 outputs of FILTERS filters. For each channel the thread transforms the 4 x 4 input under its outputs to 4 x 4
 * points, and multiplies them with the transformed weights, point by point. The products of all channels are added up
 * in registers, 16 sums for a filter, and the sums are transformed to 2 x 2 outputs once, at the end.
 *
 *     input 4 x 4       points 4 x 4                      weights 4 x 4         sums 4 x 4         outputs 2 x 2
 *      .  .  .  .        .  .  .  .    for each filter     .  .  .  .            .  .  .  .
 *      .  .  .  .  -->   .  .  .  .          x             .  .  .  .   add -->  .  .  .  .  -->    .  .
 *      .  .  .  .        .  .  .  .   (point by point)     .  .  .  .            .  .  .  .         .  .
 *      .  .  .  .        .  .  .  .                        .  .  .  .            .  .  .  .
 *
 * All transforms are done along the rows and along the columns (winograd.c has that of the weights). Along one row,
 * F(2, 3) makes two outputs from the input a b c d and the weights u v w with 4 products instead of 6:
 *
 *     points   a - c    b + c              c - b              b - d
 *     weights  u        (u + v + w) / 2    (u - v + w) / 2    w
 *     sums     s0       s1                 s2                 s3
 *     outputs  s0 + s1 + s2 = a u + b v + c w    and    s1 - s2 - s3 = b u + c v + d w
 *
 * Example: input 1 2 3 4, weights 1 1 2. Points -2 5 1 -2, weights 1 2 1 2, sums -2 10 1 -4. The outputs are
 * -2 + 10 + 1 = 9 = 1 + 2 + 2 * 3, and 10 - 1 + 4 = 13 = 2 + 3 + 2 * 4.
 */
__global__ void __launch_bounds__ (THREADS, 2) convolve_layer_winograd (const __grid_constant__ ConvolveLayerView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  float4 *weights = convolve_layer_memory; /* [CHANNELS][FILTERS][4 rows] of 4 points */
  float *patches = (float *) (weights + CHANNELS * FILTERS * POINTS / 4), *staged = patches;
  int column = threadIdx.x % ACROSS * 2, row = threadIdx.x / ACROSS * 2, first_filter = blockIdx.y * FILTERS;
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
      float points[4][4]; /* the input first */

#pragma unroll
      for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < 2; i++)
          *(float2 *) &points[j][2 * i] = *(const float2 *) (patches + c * PLANE + (row + j) * PITCH + column + 2 * i);
#pragma unroll
      for (int j = 0; j < 4; j++)
        transform (points[j][0], points[j][1], points[j][2], points[j][3]);
#pragma unroll
      for (int i = 0; i < 4; i++)
        transform (points[0][i], points[1][i], points[2][i], points[3][i]);
#pragma unroll
      for (int k = 0; k < FILTERS; k++)
#pragma unroll
        for (int n = 0; n < 4; n++) {
          float4 weight = weights[(c * FILTERS + k) * 4 + n];

          sums[k][4 * n] = fmaf (weight.x, points[n][0], sums[k][4 * n]);
          sums[k][4 * n + 1] = fmaf (weight.y, points[n][1], sums[k][4 * n + 1]);
          sums[k][4 * n + 2] = fmaf (weight.z, points[n][2], sums[k][4 * n + 2]);
          sums[k][4 * n + 3] = fmaf (weight.w, points[n][3], sums[k][4 * n + 3]);
        }
    }
  }

#pragma unroll
  for (int k = 0; k < FILTERS; k++) {
    float bias = first_filter + k < view.filters ? view.bias[first_filter + k] : 0;
    float *to = staged + k * WIDTH * HEIGHT + row * WIDTH + column, columns[2][4];

    /* The transform of the sums: along the columns, below along the rows. */
#pragma unroll
    for (int i = 0; i < 4; i++) {
      columns[0][i] = sums[k][i] + sums[k][4 + i] + sums[k][8 + i];
      columns[1][i] = sums[k][4 + i] - sums[k][8 + i] - sums[k][12 + i];
    }
    if (k == 0)
      __syncthreads (); /* the outputs take the memory of the patches */
#pragma unroll
    for (int j = 0; j < 2; j++)
      *(float2 *) (to + j * WIDTH) =
          make_float2 (convolve_layer_activate (view, columns[j][0] + columns[j][1] + columns[j][2] + bias),
              convolve_layer_activate (view, columns[j][1] - columns[j][2] - columns[j][3] + bias));
  }
  __syncthreads ();
  for (int k = 0; k < FILTERS && first_filter + k < view.filters; k++)
    convolve_layer_pool (view, staged + k * WIDTH * HEIGHT, WIDTH, first_filter + k, threadIdx.x, THREADS);
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
