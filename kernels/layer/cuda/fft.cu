/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The idea: a convolution is a product of Fourier transforms. The input is cut into tiles of 64 x 64 samples, which
 * overlap by the kernel's size less 1. Three kernels run one after the other:
 *
 *     forward     [tile][channel]  64 x 64 samples   -->  spectrum
 *     multiply    [tile][filter]   for each point the sum, over the channels, of input x conjugated weights
 *     inverse     [tile][filter]   spectrum          -->  up to 64 x 64 outputs, then the epilogue
 *
 * Samples and outputs are real, which saves half the work twice. The spectrum of a real tile is symmetric, so 33 of its
 * 64 columns are kept. And one complex transform does two real tiles at once, as its real and its imaginary part: two
 * channels on the way there, the outputs of two filters on the way back.
 */
#include "layer/cuda/fft.h"
#include "layer/cuda/launch.cuh"

#define SIDE CONVOLVE_LAYER_FFT_SIDE
#define RADIX 8          /* its square is SIDE */
#define PITCH (SIDE + 1) /* complex numbers from row to row in shared memory, against bank conflicts */
#define HALF CONVOLVE_LAYER_FFT_HALF
#define POINTS CONVOLVE_LAYER_FFT_POINTS
#define THREADS 256
#define TRANSFORMS (SIDE * RADIX / THREADS) /* of RADIX numbers, that a thread does in one pass */
#define TILES 4                             /* a thread of the kernel multiply has one point of 4 x 4 products */
#define FILTERS 4
#define MAX_GRID_Y 65535 /* CUDA's limit for gridDim.y */
/* Scratch memory for the tiles of a launch; one row of tiles may take more. */
#define BAND_BYTES ((size_t) 1 << 28)

/* The parameter of the three kernels. */
struct FftView : ConvolveLayerView
{
  int n_tiles;                /* of the launch, in all rows */
  void *spectra, *products;   /* transforms of the input's tiles, and of the output's tiles */
  const void *weight_spectra; /* transforms of the weights */
};

/* The product of two complex numbers. */
static __device__ __forceinline__ float2
multiply (float2 a, float2 b)
{
  return make_float2 (a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* The Fourier transform of v[0], v[2], v[4] and v[6], in place, in natural order. */
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

/*
 * The Fourier transform of eight numbers, in place, in natural order: those of the even and of the odd ones, then sums
 * and differences after a multiplication by the powers of exp (-i pi / 4).
 */
static __device__ __forceinline__ void
transform_8 (float2 *v)
{
  const float root = 0.70710678118654752f; /* of 1/2 */
  float2 even[4], odd[4];

  transform_4 (v);
  transform_4 (v + 1);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    even[i] = v[2 * i];
    odd[i] = v[2 * i + 1];
  }
  odd[1] = make_float2 (root * (odd[1].x + odd[1].y), root * (odd[1].y - odd[1].x));
  odd[2] = make_float2 (odd[2].y, -odd[2].x);
  odd[3] = make_float2 (root * (odd[3].y - odd[3].x), -root * (odd[3].x + odd[3].y));
#pragma unroll
  for (int i = 0; i < 4; i++) {
    v[i] = make_float2 (even[i].x + odd[i].x, even[i].y + odd[i].y);
    v[i + 4] = make_float2 (even[i].x - odd[i].x, even[i].y - odd[i].y);
  }
}

/*
 * Transforms all 64 rows or all 64 columns of the tile, all threads of the block together. The numbers of a line are
 * `stride` apart in memory, and lines are `line_stride` apart. 64 = 8 * 8, so a line takes two passes (Cooley-Tukey):
 *
 *     pass 0, p = 0 .. 7:   x[p], x[p + 8], .., x[p + 56]   -- transform of 8 -->  y[0] .. y[7]
 *                           y[i] * twiddles[p * i]          -->  element 8 i + p of the line
 *     pass 1, p = 0 .. 7:   elements 8 p .. 8 p + 7         -- transform of 8 -->  elements p, p + 8, .., p + 56
 *
 * twiddles[n] is exp (-2 pi i n / 64). In each pass a thread does TRANSFORMS of the 64 * 8 transforms. For example
 * thread 70 has p = 1 of line 6, then p = 5 of line 6.
 */
static __device__ void
transform_lines (float2 *tile, int stride, int line_stride, const float2 *twiddles)
{
  for (int pass = 0; pass < 2; pass++) {
    float2 v[TRANSFORMS][RADIX];

    __syncthreads ();
#pragma unroll
    for (int n = 0; n < TRANSFORMS; n++) {
      int number = threadIdx.x + n * THREADS, p = number / SIDE;
      const float2 *from = tile + number % SIDE * line_stride;

#pragma unroll
      for (int i = 0; i < RADIX; i++)
        v[n][i] = from[(pass == 0 ? p + RADIX * i : p * RADIX + i) * stride];
    }
    __syncthreads ();
#pragma unroll
    for (int n = 0; n < TRANSFORMS; n++) {
      int number = threadIdx.x + n * THREADS, p = number / SIDE;
      float2 *to = tile + number % SIDE * line_stride;

      transform_8 (v[n]);
#pragma unroll
      for (int i = 0; i < RADIX; i++) {
        if (pass == 0)
          to[(i * RADIX + p) * stride] = multiply (v[n][i], twiddles[p * i]);
        else
          to[(p + RADIX * i) * stride] = v[n][i];
      }
    }
  }
}

/* The transform of the tile in both directions. Fills the table of twiddles, which has SIDE numbers. */
static __device__ __forceinline__ void
transform_tile (float2 *tile, float2 *twiddles)
{
  if (threadIdx.x < SIDE)
    sincospif (-2.0f / SIDE * threadIdx.x, &twiddles[threadIdx.x].y, &twiddles[threadIdx.x].x);
  transform_lines (tile, 1, PITCH, twiddles);
  transform_lines (tile, PITCH, 1, twiddles);
  __syncthreads ();
}

/*
 * A block transforms two channels of a tile. With Z the transform of a + i b, where a and b are real, the transforms
 * are A[n] = (Z[n] + conj (Z[-n])) / 2 and B[n] = (Z[n] - conj (Z[-n])) / 2i.
 */
__global__ void __launch_bounds__ (THREADS) convolve_layer_fft_forward (const __grid_constant__ FftView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  float2 *tile = (float2 *) convolve_layer_memory, *twiddles = tile + SIDE * PITCH;
  int left = convolve_layer_tile_left (view) * view.pool_stride_x - view.pad_left;
  int top = convolve_layer_tile_top (view) * view.pool_stride_y - view.pad_top;
  int c = 2 * blockIdx.y, other = min (c + 1, view.channels - 1);
  const uint8_t *first = convolve_layer_plane (&view.source, blockIdx.z, c);
  const uint8_t *second = convolve_layer_plane (&view.source, blockIdx.z, other);
  float2 *to = (float2 *) view.spectra + ((size_t) (blockIdx.z * gridDim.x + blockIdx.x) * view.channels + c) * POINTS;

  for (int n = threadIdx.x; n < SIDE * SIDE; n += THREADS) {
    int x = n % SIDE, y = n / SIDE, at = convolve_layer_offset (view, top + y, left + x);
    bool none = at == CONVOLVE_LAYER_ZERO_PADDING || x >= view.tiles.patch_width || y >= view.tiles.patch_height;

    tile[y * PITCH + x] = none
        ? make_float2 (0, 0)
        : make_float2 (convolve_layer_read_any (view, first + at), convolve_layer_read_any (view, second + at));
  }
  transform_tile (tile, twiddles);
  for (int n = threadIdx.x; n < POINTS; n += THREADS) {
    int x = n % HALF, y = n / HALF;
    float2 here = tile[y * PITCH + x], there = tile[(SIDE - y) % SIDE * PITCH + (SIDE - x) % SIDE];

    to[n] = make_float2 ((here.x + there.x) / 2, (here.y - there.y) / 2);
    if (other > c)
      to[POINTS + n] = make_float2 ((here.y + there.y) / 2, (there.x - here.x) / 2);
  }
}

/* A thread has one point of the spectra, and sums the products of TILES tiles and FILTERS filters over the channels. */
__global__ void __launch_bounds__ (THREADS) convolve_layer_fft_multiply (const __grid_constant__ FftView view)
{
  int n = blockIdx.x * THREADS + threadIdx.x, tile = blockIdx.y * TILES, k = blockIdx.z * FILTERS;
  const float2 *spectra = (const float2 *) view.spectra, *weight_spectra = (const float2 *) view.weight_spectra;
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
      input[i] = spectra[((size_t) min (tile + i, view.n_tiles - 1) * view.channels + c) * POINTS + n];
#pragma unroll
    for (int j = 0; j < FILTERS; j++)
      weight[j] = weight_spectra[((size_t) min (k + j, view.filters - 1) * view.channels + c) * POINTS + n];
      /* The layer is a correlation, so the weights' spectrum is conjugated. */
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
      if (tile + i < view.n_tiles && k + j < view.filters)
        ((float2 *) view.products)[((size_t) (tile + i) * view.filters + k + j) * POINTS + n] = sums[i][j];
}

/*
 * A block transforms the spectra A and B of two filters back. The inverse transform of Z = A + i B is the conjugate of
 * the transform of conj (Z), but for a factor that the filters' scales have. Its real part has the outputs of A, its
 * imaginary part those of B.
 */
__global__ void __launch_bounds__ (THREADS) convolve_layer_fft_inverse (const __grid_constant__ FftView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  float2 *tile = (float2 *) convolve_layer_memory, *twiddles = tile + SIDE * PITCH;
  float *values = (float *) tile;
  int k = 2 * blockIdx.y, other = min (k + 1, view.filters - 1);
  const float2 *from = (const float2 *) view.products + ((size_t) blockIdx.x * view.filters + k) * POINTS;
  const float2 *second_from = from + (other - k) * POINTS;
  float first_bias = view.bias[k], second_bias = view.bias[other];
  float first_scale = view.bias[view.filters + k], second_scale = view.bias[view.filters + other];
  float2 outputs[SIDE * SIDE / THREADS];

  for (int n = threadIdx.x; n < SIDE * SIDE; n += THREADS) {
    int x = n % SIDE, y = n / SIDE;
    bool mirrored = x >= HALF;
    int at = mirrored ? (SIDE - y) % SIDE * HALF + SIDE - x : y * HALF + x;
    float2 a = from[at], b = second_from[at];

    /* conj (A + i B). The columns that are not kept are the conjugates of the mirrored ones. */
    a.y = mirrored ? -a.y : a.y;
    b.y = mirrored ? -b.y : b.y;
    tile[y * PITCH + x] = make_float2 (a.x - b.y, -(a.y + b.x));
  }
  transform_tile (tile, twiddles);
#pragma unroll
  for (int i = 0; i < SIDE * SIDE / THREADS; i++) {
    int n = threadIdx.x + i * THREADS;

    outputs[i] = tile[n / SIDE * PITCH + n % SIDE];
  }
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < SIDE * SIDE / THREADS; i++) {
    int n = threadIdx.x + i * THREADS;

    /* The second scale is negative: that is the conjugation of the result. */
    values[n] = convolve_layer_activate (view, outputs[i].x * first_scale + first_bias);
    values[SIDE * SIDE + n] = convolve_layer_activate (view, outputs[i].y * -second_scale + second_bias);
  }
  __syncthreads ();
  convolve_layer_pool (view, values, SIDE, k, threadIdx.x, THREADS);
  if (other > k)
    convolve_layer_pool (view, values + SIDE * SIDE, SIDE, other, threadIdx.x, THREADS);
}

static const size_t shared = (SIDE * PITCH + SIDE) * sizeof (float2); /* of a block: the tile and the twiddles */

/* Transforms the weights: as a batch of images of the kernel's size, one for each filter, each with one tile. */
ConvolveStatus
convolve_layer_fft_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  int width = layer->kernel_width, height = layer->kernel_height;
  size_t planes = (size_t) layer->filters * layer->channels;
  ConvolveLayerFft *prepared = (ConvolveLayerFft *) plan->prepared;
  ConvolveLayerJob job = {};
  FftView view;

  prepared->weight_spectra = convolve_device_alloc (plan->device, planes * POINTS * sizeof (float2), error);
  if (!prepared->weight_spectra)
    return error ? error->status : CONVOLVE_NO_DEVICE_MEMORY;
  job.task.source =
      convolve_layer_nchw (CONVOLVE_LAYER_FLOAT32, prepared->base.weights, layer->channels, height, width);
  job.task.batch = layer->filters;
  job.task.height = height;
  job.task.width = width;
  job.task.end_row = job.out_width = 1;
  view = { convolve_layer_view (plan, &job) };
  view.type = CONVOLVE_LAYER_FLOAT32;
  view.boundary = CONVOLVE_BOUNDARY_ZERO;
  view.pad_left = view.pad_top = 0;
  view.spectra = prepared->weight_spectra;
  view.tiles.width = view.tiles.height = 1;
  view.tiles.patch_width = width;
  view.tiles.patch_height = height;
  return convolve_layer_launch (plan, &job, (const void *) convolve_layer_fft_forward, &view, (layer->channels + 1) / 2,
      dim3 (THREADS), shared, error);
}

/* Runs the three kernels over a band, which is some rows of tiles of one image with `tiles` tiles. */
static ConvolveStatus
run_band (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, FftView *view, int tiles, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  dim3 blocks ((POINTS + THREADS - 1) / THREADS, (tiles + TILES - 1) / TILES, (layer->filters + FILTERS - 1) / FILTERS);
  ConvolveStatus status = convolve_layer_launch (plan, job, (const void *) convolve_layer_fft_forward, view,
      (layer->channels + 1) / 2, dim3 (THREADS), shared, error);

  view->n_tiles = tiles;
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
  ConvolveLayerFft *prepared = (ConvolveLayerFft *) plan->prepared;
  size_t of_tile = (size_t) (layer->channels + layer->filters) * POINTS * sizeof (float2);
  FftView view = { convolve_layer_view (plan, job) };
  ConvolveLayerJob one = *job;
  ConvolveStatus status = CONVOLVE_OK;
  int across, down, rows;

  view.tiles = prepared->base.tiles;
  across = (job->out_width - 1) / view.tiles.width + 1;
  down = (job->task.end_row - job->task.first_row - 1) / view.tiles.height + 1;
  /* Rows of tiles in a band: as many as BAND_BYTES hold and a grid allows, and at least one. */
  rows = (int) (BAND_BYTES / of_tile) / across;
  rows = rows < 1 ? 1 : rows < down ? rows : down;
  rows = (int64_t) rows * across <= MAX_GRID_Y * TILES ? rows : 1;
  if (across > MAX_GRID_Y * TILES)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "an output of %d samples in a row has too many tiles for a grid",
        job->out_width);
  if (prepared->scratch_bytes < (size_t) rows * across * of_tile) {
    convolve_device_release (plan->device, prepared->scratch);
    prepared->scratch_bytes = 0;
    prepared->scratch = convolve_device_alloc (plan->device, rows * across * of_tile, error);
    if (!prepared->scratch)
      return error ? error->status : CONVOLVE_NO_DEVICE_MEMORY;
    prepared->scratch_bytes = rows * across * of_tile;
  }
  view.weight_spectra = prepared->weight_spectra;
  view.spectra = prepared->scratch;
  view.products = (float2 *) prepared->scratch + (size_t) rows * across * layer->channels * POINTS;
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
