/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/fft.h"
#include "layer/cuda/launch.cuh"

#define SIDE CONVOLVE_LAYER_FFT_SIDE
#define RADIX 8 /* its square is the side */
#define PITCH (SIDE + 1)
#define HALF CONVOLVE_LAYER_FFT_HALF
#define POINTS CONVOLVE_LAYER_FFT_POINTS
#define THREADS 256
#define LINES (SIDE * RADIX / THREADS) /* transforms of 8 numbers that a thread does in one pass */
#define TILES 4                        /* and filters that a thread multiplies at once */
#define FILTERS 4

static __device__ __forceinline__ float2
times (float2 a, float2 b)
{
  return make_float2 (a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* The transform of four numbers that are two apart, in place, in natural order. */
static __device__ __forceinline__ void
transform_4 (float2 *v)
{
  float2 a = make_float2 (v[0].x + v[4].x, v[0].y + v[4].y), b = make_float2 (v[0].x - v[4].x, v[0].y - v[4].y);
  float2 c = make_float2 (v[2].x + v[6].x, v[2].y + v[6].y), d = make_float2 (v[2].x - v[6].x, v[2].y - v[6].y);

  v[0] = make_float2 (a.x + c.x, a.y + c.y);
  v[2] = make_float2 (b.x + d.y, b.y - d.x);
  v[4] = make_float2 (a.x - c.x, a.y - c.y);
  v[6] = make_float2 (b.x - d.y, b.y + d.x);
}

/* The transform of eight numbers, in place, in natural order: even and odd ones by themselves, then sums. */
static __device__ __forceinline__ void
transform_8 (float2 *v)
{
  const float half = 0.70710678118654752f;
  float2 even[4], odd[4];

  transform_4 (v);
  transform_4 (v + 1);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    even[i] = v[2 * i];
    odd[i] = v[2 * i + 1];
  }
  odd[1] = make_float2 (half * (odd[1].x + odd[1].y), half * (odd[1].y - odd[1].x));
  odd[2] = make_float2 (odd[2].y, -odd[2].x);
  odd[3] = make_float2 (half * (odd[3].y - odd[3].x), -half * (odd[3].x + odd[3].y));
#pragma unroll
  for (int i = 0; i < 4; i++) {
    v[i] = make_float2 (even[i].x + odd[i].x, even[i].y + odd[i].y);
    v[i + 4] = make_float2 (even[i].x - odd[i].x, even[i].y - odd[i].y);
  }
}

/*
 * All lines of the tile, whose numbers are step apart and which are line apart, are transformed: 64 = 8 * 8, so each
 * is 8 transforms of every eighth number, a turn, and 8 transforms of neighbours.
 */
static __device__ void
transform_lines (float2 *tile, int step, int line, const float2 *turns)
{
  for (int pass = 0; pass < 2; pass++) {
    float2 v[LINES][RADIX];

    __syncthreads ();
#pragma unroll
    for (int n = 0; n < LINES; n++) {
      int at = threadIdx.x + n * THREADS, part = at / SIDE;
      const float2 *from = tile + at % SIDE * line;

#pragma unroll
      for (int i = 0; i < RADIX; i++)
        v[n][i] = from[(pass == 0 ? part + RADIX * i : part * RADIX + i) * step];
    }
    __syncthreads ();
#pragma unroll
    for (int n = 0; n < LINES; n++) {
      int at = threadIdx.x + n * THREADS, part = at / SIDE;
      float2 *to = tile + at % SIDE * line;

      transform_8 (v[n]);
#pragma unroll
      for (int i = 0; i < RADIX; i++) {
        if (pass == 0)
          to[(i * RADIX + part) * step] = times (v[n][i], turns[part * i]);
        else
          to[(part + RADIX * i) * step] = v[n][i];
      }
    }
  }
}

static __device__ __forceinline__ void
transform_tile (float2 *tile, float2 *turns)
{
  if (threadIdx.x < SIDE)
    sincospif (-2.0f / SIDE * threadIdx.x, &turns[threadIdx.x].y, &turns[threadIdx.x].x);
  transform_lines (tile, 1, PITCH, turns);
  transform_lines (tile, PITCH, 1, turns);
  __syncthreads ();
}

/* The first idea: a block transforms two channels of a tile at once, as the real and the imaginary part of one. */
__global__ void __launch_bounds__ (THREADS) convolve_layer_fft_forward (const __grid_constant__ ConvolveLayerView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  float2 *tile = (float2 *) convolve_layer_memory, *turns = tile + SIDE * PITCH;
  int left = convolve_layer_tile_left (view) * view.pool_stride_x - view.pad_left;
  int top = convolve_layer_tile_top (view) * view.pool_stride_y - view.pad_top;
  int c = 2 * blockIdx.y, other = min (c + 1, view.channels - 1);
  const uint8_t *first = convolve_layer_plane (&view.source, blockIdx.z, c);
  const uint8_t *second = convolve_layer_plane (&view.source, blockIdx.z, other);
  float2 *to =
      (float2 *) view.fft_spectra + ((size_t) (blockIdx.z * gridDim.x + blockIdx.x) * view.channels + c) * POINTS;

  for (int n = threadIdx.x; n < SIDE * SIDE; n += THREADS) {
    int x = n % SIDE, y = n / SIDE, at = convolve_layer_offset (view, top + y, left + x);
    bool none = at == CONVOLVE_LAYER_ZERO_PADDING || x >= view.tiles.patch_width || y >= view.tiles.patch_height;

    tile[y * PITCH + x] = none
        ? make_float2 (0, 0)
        : make_float2 (convolve_layer_read_any (view, first + at), convolve_layer_read_any (view, second + at));
  }
  transform_tile (tile, turns);
  for (int n = threadIdx.x; n < POINTS; n += THREADS) {
    int x = n % HALF, y = n / HALF;
    float2 here = tile[y * PITCH + x], there = tile[(SIDE - y) % SIDE * PITCH + (SIDE - x) % SIDE];

    to[n] = make_float2 ((here.x + there.x) / 2, (here.y - there.y) / 2);
    if (other > c)
      to[POINTS + n] = make_float2 ((here.y + there.y) / 2, (there.x - here.x) / 2);
  }
}

/* The second: for each point the products of some tiles and some filters, summed over the channels. */
__global__ void __launch_bounds__ (THREADS) convolve_layer_fft_multiply (const __grid_constant__ ConvolveLayerView view)
{
  int n = blockIdx.x * THREADS + threadIdx.x, tile = blockIdx.y * TILES, k = blockIdx.z * FILTERS;
  const float2 *spectra = (const float2 *) view.fft_spectra, *weight_spectra = (const float2 *) view.fft_weight_spectra;
  float2 sums[TILES][FILTERS];

  if (n >= POINTS)
    return;
#pragma unroll
  for (int i = 0; i < TILES * FILTERS; i++)
    sums[i / FILTERS][i % FILTERS] = make_float2 (0, 0);
  for (int c = 0; c < view.channels; c++) {
    float2 input[TILES], weight[FILTERS];

#pragma unroll
    for (int i = 0; i < TILES; i++)
      input[i] = spectra[((size_t) min (tile + i, view.fft_tiles - 1) * view.channels + c) * POINTS + n];
#pragma unroll
    for (int j = 0; j < FILTERS; j++)
      weight[j] = weight_spectra[((size_t) min (k + j, view.filters - 1) * view.channels + c) * POINTS + n];
      /* A correlation: the weights' spectrum is conjugated. */
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
      for (int j = 0; j < FILTERS; j++) {
        sums[i][j].x += input[i].x * weight[j].x + input[i].y * weight[j].y;
        sums[i][j].y += input[i].y * weight[j].x - input[i].x * weight[j].y;
      }
  }
#pragma unroll
  for (int i = 0; i < TILES; i++)
#pragma unroll
    for (int j = 0; j < FILTERS; j++)
      if (tile + i < view.fft_tiles && k + j < view.filters)
        ((float2 *) view.fft_products)[((size_t) (tile + i) * view.filters + k + j) * POINTS + n] = sums[i][j];
}

/*
 * The third: a block transforms two filters of a tile back at once. The inverse is the transform of the conjugate,
 * conjugated; conjugated spectra of real outputs make one complex tile, whose parts they are afterwards.
 */
__global__ void __launch_bounds__ (THREADS) convolve_layer_fft_inverse (const __grid_constant__ ConvolveLayerView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  float2 *tile = (float2 *) convolve_layer_memory, *turns = tile + SIDE * PITCH;
  float *values = (float *) tile;
  int k = 2 * blockIdx.y, other = min (k + 1, view.filters - 1);
  const float2 *from = (const float2 *) view.fft_products + ((size_t) blockIdx.x * view.filters + k) * POINTS;
  const float2 *second_from = from + (other - k) * POINTS;
  float first_bias = view.bias[k], second_bias = view.bias[other];
  float first_scale = view.bias[view.filters + k], second_scale = view.bias[view.filters + other];
  float2 outputs[SIDE * SIDE / THREADS];

  for (int n = threadIdx.x; n < SIDE * SIDE; n += THREADS) {
    int x = n % SIDE, y = n / SIDE;
    bool mirrored = x >= HALF;
    int at = mirrored ? (SIDE - y) % SIDE * HALF + SIDE - x : y * HALF + x;
    float2 a = from[at], b = second_from[at];

    /* conj (A + i B); the mirrored half of a real output's spectrum is the conjugate. */
    a.y = mirrored ? -a.y : a.y;
    b.y = mirrored ? -b.y : b.y;
    tile[y * PITCH + x] = make_float2 (a.x - b.y, -(a.y + b.x));
  }
  transform_tile (tile, turns);
#pragma unroll
  for (int i = 0; i < SIDE * SIDE / THREADS; i++) {
    int n = threadIdx.x + i * THREADS;

    outputs[i] = tile[n / SIDE * PITCH + n % SIDE];
  }
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < SIDE * SIDE / THREADS; i++) {
    int n = threadIdx.x + i * THREADS;

    values[n] = convolve_layer_activate (view, outputs[i].x * first_scale + first_bias);
    values[SIDE * SIDE + n] = convolve_layer_activate (view, outputs[i].y * -second_scale + second_bias);
  }
  __syncthreads ();
  convolve_layer_pool (view, values, SIDE, k, threadIdx.x, THREADS);
  if (other > k)
    convolve_layer_pool (view, values + SIDE * SIDE, SIDE, other, threadIdx.x, THREADS);
}

static const size_t shared = (SIDE * PITCH + SIDE) * sizeof (float2);

/* The weights are transformed as images of the kernel's size. */
ConvolveStatus
convolve_layer_fft_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  int width = layer->kernel_width, height = layer->kernel_height;
  size_t planes = (size_t) layer->filters * layer->channels;
  ConvolveLayerPrepared *prepared = (ConvolveLayerPrepared *) plan->prepared;
  ConvolveLayerJob job = {};
  ConvolveLayerView view;

  prepared->fft.weight_spectra = convolve_device_alloc (plan->device, planes * POINTS * sizeof (float2), error);
  if (!prepared->fft.weight_spectra)
    return error ? error->status : CONVOLVE_NO_DEVICE_MEMORY;
  job.task.source = convolve_layer_nchw (CONVOLVE_LAYER_FLOAT32, prepared->weights, layer->channels, height, width);
  job.task.batch = layer->filters;
  job.task.height = height;
  job.task.width = width;
  job.task.end_row = job.out_width = 1;
  view = convolve_layer_view (plan, &job);
  view.type = CONVOLVE_LAYER_FLOAT32;
  view.boundary = CONVOLVE_BOUNDARY_ZERO;
  view.pad_left = view.pad_top = 0;
  view.fft_spectra = prepared->fft.weight_spectra;
  view.tiles.width = view.tiles.height = 1;
  view.tiles.patch_width = width;
  view.tiles.patch_height = height;
  return convolve_layer_launch (plan, &job, (const void *) convolve_layer_fft_forward, &view, (layer->channels + 1) / 2,
      dim3 (THREADS), shared, error);
}

/* Some rows of tiles of one image. */
static ConvolveStatus
run_band (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveLayerView *view, int tiles,
    ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  dim3 blocks ((POINTS + THREADS - 1) / THREADS, (tiles + TILES - 1) / TILES, (layer->filters + FILTERS - 1) / FILTERS);
  ConvolveStatus status = convolve_layer_launch (plan, job, (const void *) convolve_layer_fft_forward, view,
      (layer->channels + 1) / 2, dim3 (THREADS), shared, error);

  view->fft_tiles = tiles;
  if (status == CONVOLVE_OK)
    status = convolve_layer_enqueue (plan, (const void *) convolve_layer_fft_multiply, view, blocks, dim3 (THREADS), 0,
        error);
  return status != CONVOLVE_OK ? status
                               : convolve_layer_launch (plan, job, (const void *) convolve_layer_fft_inverse, view,
                                   (layer->filters + 1) / 2, dim3 (THREADS), shared, error);
}

ConvolveStatus
convolve_layer_fft_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  ConvolveLayerPrepared *prepared = (ConvolveLayerPrepared *) plan->prepared;
  size_t of_tile = (size_t) (layer->channels + layer->filters) * POINTS * sizeof (float2);
  ConvolveLayerView view = convolve_layer_view (plan, job);
  ConvolveLayerJob one = *job;
  ConvolveStatus status = CONVOLVE_OK;
  int across, down, rows;

  view.tiles = prepared->tiles;
  across = (job->out_width - 1) / view.tiles.width + 1;
  down = (job->task.end_row - job->task.first_row - 1) / view.tiles.height + 1;
  /* As many rows of tiles as a quarter of a gigabyte holds, at least one, and no more than a grid. */
  rows = (int) (((size_t) 1 << 28) / of_tile) / across;
  rows = rows < 1 ? 1 : rows < down ? rows : down;
  rows = (int64_t) rows * across <= 65535 * TILES ? rows : 1;
  if (across > 65535 * TILES)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "an output of %d samples in a row", job->out_width);
  if (prepared->fft.scratch_bytes < (size_t) rows * across * of_tile) {
    convolve_device_release (plan->device, prepared->fft.scratch);
    prepared->fft.scratch_bytes = 0;
    prepared->fft.scratch = convolve_device_alloc (plan->device, rows * across * of_tile, error);
    if (!prepared->fft.scratch)
      return error ? error->status : CONVOLVE_NO_DEVICE_MEMORY;
    prepared->fft.scratch_bytes = rows * across * of_tile;
  }
  view.fft_weight_spectra = prepared->fft.weight_spectra;
  view.fft_spectra = prepared->fft.scratch;
  view.fft_products = (float2 *) prepared->fft.scratch + (size_t) rows * across * layer->channels * POINTS;
  one.task.batch = 1;
  for (int b = 0; b < job->task.batch && status == CONVOLVE_OK; b++) {
    for (int n = 0; n < down && status == CONVOLVE_OK; n += rows) {
      int band = down - n < rows ? down - n : rows;

      view.first_row = job->task.first_row + n * view.tiles.height;
      view.end_row = n + band < down ? view.first_row + band * view.tiles.height : job->task.end_row;
      status = run_band (plan, &one, &view, band * across, error);
    }
    for (int i = 0; i < CONVOLVE_LAYER_PLANES; i++) {
      if (view.source.channel[i])
        view.source.channel[i] = (uint8_t *) view.source.channel[i] + view.source.batch_stride;
      if (view.destination.channel[i])
        view.destination.channel[i] = (uint8_t *) view.destination.channel[i] + view.destination.batch_stride;
    }
  }
  return status;
}
