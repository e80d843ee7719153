/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/blocked.h"
#include "layer/cuda/launch.cuh"

#define LANES 32
#define WARPS 4   /* of a block, one below the other */
#define COLUMNS 4 /* outputs of a thread, side by side */
#define ROWS 8    /* and one below the other */
#define WIDTH CONVOLVE_LAYER_BLOCKED_WIDTH
#define HEIGHT CONVOLVE_LAYER_BLOCKED_HEIGHT
#define MAX_CHANNELS CONVOLVE_LAYER_BLOCKED_MAX_CHANNELS
#define GROUP CONVOLVE_LAYER_BLOCKED_GROUP
#define PADDED(n) (((n) + 3) / 4 * 4) /* floats, rounded up so that float4 can be loaded */
/* Blocks that should fit a multiprocessor. More would leave a thread too few registers for its sums and weights. */
#define BLOCKS(K, PIXELS) ((K) < 7 && !(PIXELS) ? 4 : 3)
static_assert (WIDTH == LANES * COLUMNS && HEIGHT == WARPS * ROWS, "the outputs of all threads make the tile");

/* The parameter of the kernel. */
struct BlockedView : ConvolveLayerView
{
  uint8_t *pixels;  /* the first packed pixel of four bytes; NULL: each channel is written by itself */
  uint32_t filling; /* the bytes of a packed pixel that no filter writes; its other bytes are 0 */
};

/*
 * Loads the patches of all channels, all threads of the block together. A thread loads two rows of a patch before it
 * uses the first sample. Samples outside the image are loaded from row or column 0 and replaced by 0 afterwards: a load
 * without a condition lets the others start at once.
 */
template <typename T, int K>
static __device__ __forceinline__ void
load_patches (const ConvolveLayerView &view, float *patches)
{
  constexpr int loads = (WIDTH + K - 1 + LANES - 1) / LANES;
  const ConvolveLayerTiles &tiles = view.tiles;
  int left = convolve_layer_tile_left (view) * view.pool_stride_x - view.pad_left;
  int top = convolve_layer_tile_top (view) * view.pool_stride_y - view.pad_top;
  int columns[loads];

#pragma unroll
  for (int n = 0; n < loads; n++)
    columns[n] = convolve_boundary_index (view.boundary, left + (int) threadIdx.x + n * LANES, view.width);
  for (int c = 0; c < view.channels; c++) {
    const uint8_t *plane = convolve_layer_plane (&view.source, blockIdx.z, c);

    for (int y = threadIdx.y; y < tiles.patch_height; y += 2 * WARPS) {
      uint32_t bits[2][loads];
      int rows[2];

#pragma unroll
      for (int j = 0; j < 2; j++) {
        rows[j] = convolve_boundary_index (view.boundary, top + y + j * WARPS, view.height);
#pragma unroll
        for (int n = 0; n < loads; n++)
          bits[j][n] = convolve_layer_bits<T> (plane + max (rows[j], 0) * view.source.row_stride
              + max (columns[n], 0) * (int) view.source.column_stride);
      }
#pragma unroll
      for (int j = 0; j < 2; j++)
#pragma unroll
        for (int n = 0; n < loads; n++) {
          int x = n * LANES + threadIdx.x;

          if (y + j * WARPS < tiles.patch_height && x < tiles.pitch)
            patches[c * tiles.plane + (y + j * WARPS) * tiles.pitch + x] =
                rows[j] < 0 || columns[n] < 0 ? 0 : convolve_layer_value<T> (view, bits[j][n]);
        }
    }
  }
}

/* Writes four neighbours in a row of the output, in one piece where type and alignment allow. */
static __device__ __forceinline__ void
store_row (const ConvolveLayerView &view, uint8_t *row, int x, const float *values)
{
  int size = convolve_layer_sample_size (view.type), stride = (int) view.destination.column_stride;
  uint8_t *to = row + x * stride;

  if (x + COLUMNS <= view.out_width && stride == size && ((uintptr_t) to & (COLUMNS * size - 1)) == 0) {
    if (view.type == CONVOLVE_LAYER_FLOAT32) {
      *(float4 *) to = make_float4 (values[0], values[1], values[2], values[3]);
    } else if (view.type == CONVOLVE_LAYER_FLOAT16) {
      __half2 halves[2] = { __floats2half2_rn (values[0], values[1]), __floats2half2_rn (values[2], values[3]) };

      *(uint2 *) to = *(const uint2 *) halves;
    } else {
      *(uint32_t *) to = convolve_layer_code (view, values[0]) | convolve_layer_code (view, values[1]) << 8
          | convolve_layer_code (view, values[2]) << 16 | convolve_layer_code (view, values[3]) << 24;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < COLUMNS; i++)
    if (x + i < view.out_width)
      convolve_layer_write (view, to + i * stride, values[i]);
}

/* Writes four packed pixels in a row, in one piece where the alignment allows. */
static __device__ __forceinline__ void
store_pixels (const ConvolveLayerView &view, uint32_t *to, int x, const uint32_t *pixels)
{
  if (x + COLUMNS <= view.out_width && ((uintptr_t) to & 15) == 0) {
    *(uint4 *) to = make_uint4 (pixels[0], pixels[1], pixels[2], pixels[3]);
    return;
  }
#pragma unroll
  for (int i = 0; i < COLUMNS; i++)
    if (x + i < view.out_width)
      to[i] = pixels[i];
}

/*
 * The idea: register blocking. A thread computes 4 x 8 outputs of a filter, and keeps their sums and the filter's K x K
 * weights for one channel in registers. Each row of the patch under these outputs is loaded once from shared memory and
 * used for every output that it belongs to. For K = 3 a thread's outputs r0 .. r7 use the rows n0 .. n9 of the patch:
 *
 *             4 columns + K - 1 = 6 samples, loaded as two float4
 *              s0  s1  s2  s3  s4  s5 (s6  s7)
 *             +-----------------------+
 *     row n0  | .   .   .   .   .   . |
 *     row n1  | .   .   .   .   .   . |
 *     row n2  | .   .   .   .   .   . |  times weights row 2 for r0, weights row 1 for r1, weights row 0 for r2
 *     ...     |                       |
 *     row n9  | .   .   .   .   .   . |
 *             +-----------------------+
 *
 * For example row n2 adds to column 3 of r1: sums[1][3] += w[1][0] * s3 + w[1][1] * s4 + w[1][2] * s5. All in all the
 * row gives 36 products (3 output rows, 4 columns, 3 weights) for two loads from shared memory.
 *
 * A warp has 32 x 4 outputs side by side, and four warps one below the other make the tile of 128 x 32. Lane 5 of
 * warp 1 has columns 20 .. 23 and rows 8 .. 15.
 *
 * PIXELS: the outputs of the filters, and the filled channels, are the four bytes of packed pixels. The bytes are
 * gathered in registers and written when all filters are done.
 */
template <int K, bool PIXELS>
__global__ void __launch_bounds__ (LANES *WARPS, BLOCKS (K, PIXELS))
    convolve_layer_blocked (const __grid_constant__ BlockedView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  constexpr int taps = PADDED (K * K), span = PADDED (COLUMNS + K - 1);
  const ConvolveLayerTiles &tiles = view.tiles;
  float *patches = (float *) convolve_layer_memory, *weights = patches + view.channels * tiles.plane;
  float *staged = weights + GROUP * view.channels * taps;
  int thread = threadIdx.y * LANES + threadIdx.x;
  int first_filter = blockIdx.y * GROUP, end_filter = min (first_filter + GROUP, view.filters);
  int x = convolve_layer_tile_left (view) + threadIdx.x * COLUMNS,
      y = convolve_layer_tile_top (view) + threadIdx.y * ROWS;
  bool pools = tiles.width < WIDTH || tiles.height < HEIGHT;
  uint32_t pixels[ROWS][COLUMNS];

  if (PIXELS)
#pragma unroll
    for (int n = 0; n < ROWS * COLUMNS; n++)
      pixels[n / COLUMNS][n % COLUMNS] = view.filling;
  if (view.type == CONVOLVE_LAYER_FLOAT32)
    load_patches<float, K> (view, patches);
  else if (view.type == CONVOLVE_LAYER_FLOAT16)
    load_patches<uint16_t, K> (view, patches);
  else
    load_patches<uint8_t, K> (view, patches);
  for (int n = thread; n < (end_filter - first_filter) * view.channels * taps; n += LANES * WARPS)
    weights[n] = view.weights[first_filter * view.channels * taps + n];
  __syncthreads ();

  for (int k = first_filter; k < end_filter; k++) {
    float sums[ROWS][COLUMNS];

#pragma unroll
    for (int n = 0; n < ROWS * COLUMNS; n++)
      sums[n / COLUMNS][n % COLUMNS] = view.bias[k];
    for (int c = 0; c < view.channels; c++) {
      const float4 *from = (const float4 *) (weights + ((k - first_filter) * view.channels + c) * taps);
      const float *window = patches + c * tiles.plane + threadIdx.y * ROWS * tiles.pitch + threadIdx.x * COLUMNS;
      float weight[taps], row[span];

#pragma unroll
      for (int n = 0; n < taps / 4; n++)
        *(float4 *) (weight + 4 * n) = from[n];
#pragma unroll
      for (int n = 0; n < ROWS + K - 1; n++) {
#pragma unroll
        for (int i = 0; i < span / 4; i++)
          *(float4 *) (row + 4 * i) = *(const float4 *) (window + n * tiles.pitch + 4 * i);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
          if (n - r >= 0 && n - r < K) /* row n of the patch meets weights row n - r for output row r */
#pragma unroll
            for (int i = 0; i < K; i++)
#pragma unroll
              for (int j = 0; j < COLUMNS; j++)
                sums[r][j] = fmaf (weight[(n - r < 0 || n - r >= K ? 0 : n - r) * K + i], row[i + j], sums[r][j]);
      }
    }
#pragma unroll
    for (int n = 0; n < ROWS * COLUMNS; n++)
      sums[n / COLUMNS][n % COLUMNS] = convolve_layer_activate (view, sums[n / COLUMNS][n % COLUMNS]);
    if (PIXELS) {
      int shift = (int) ((uint8_t *) view.destination.channel[k] - view.pixels) * 8;

#pragma unroll
      for (int n = 0; n < ROWS * COLUMNS; n++)
        pixels[n / COLUMNS][n % COLUMNS] |= convolve_layer_code (view, sums[n / COLUMNS][n % COLUMNS]) << shift;
    } else if (pools) {
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        *(float4 *) (staged + (threadIdx.y * ROWS + r) * WIDTH + threadIdx.x * COLUMNS) = *(const float4 *) sums[r];
      __syncthreads ();
      convolve_layer_pool (view, staged, WIDTH, k, thread, LANES * WARPS);
      __syncthreads ();
    } else {
      uint8_t *plane = convolve_layer_plane (&view.destination, blockIdx.z, k);

#pragma unroll
      for (int r = 0; r < ROWS; r++)
        if (y + r < view.end_row)
          store_row (view, plane + (y + r) * view.destination.row_stride, x, sums[r]);
    }
  }
  if (PIXELS) {
    uint8_t *plane = view.pixels + blockIdx.z * view.destination.batch_stride;

#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (y + r < view.end_row)
        store_pixels (view, (uint32_t *) (plane + (y + r) * view.destination.row_stride) + x, x, pixels[r]);
  }
}

ConvolveStatus
convolve_layer_blocked_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  /* By whether pixels are packed, and by half the side: 1 / 2 = 0, 3 / 2 = 1, 5 / 2 = 2, 7 / 2 = 3. */
  static const void *const kernels[2][4] = {
    { (const void *) convolve_layer_blocked<1, false>, (const void *) convolve_layer_blocked<3, false>,
        (const void *) convolve_layer_blocked<5, false>, (const void *) convolve_layer_blocked<7, false> },
    { (const void *) convolve_layer_blocked<1, true>, (const void *) convolve_layer_blocked<3, true>,
        (const void *) convolve_layer_blocked<5, true>, (const void *) convolve_layer_blocked<7, true> },
  };
  ConvolveLayerPrepared *prepared = (ConvolveLayerPrepared *) plan->prepared;
  ConvolveStatus status = CONVOLVE_OK;

  for (int pixels = 0; pixels < 2 && status == CONVOLVE_OK; pixels++) {
    prepared->kernels[pixels] = kernels[pixels][convolve_layer_blocked_side (&plan->layer) / 2];
    status = convolve_allow_shared (plan->device, prepared->kernels[pixels], prepared->shared, error);
  }
  return status;
}

ConvolveStatus
convolve_layer_blocked_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayerPrepared *prepared = (const ConvolveLayerPrepared *) plan->prepared;
  BlockedView view = { convolve_layer_view (plan, job) };

  view.tiles = prepared->tiles;
  view.pixels = convolve_layer_blocked_pixels (plan, &job->task);
  if (view.pixels) {
    uint8_t fill;

    convolve_layer_store (CONVOLVE_LAYER_U8, &fill, job->task.fill);
    for (int i = plan->layer.filters; i < 4; i++)
      view.filling |= (uint32_t) fill << 8 * ((uint8_t *) view.destination.channel[i] - view.pixels);
  }
  return convolve_layer_launch (plan, job, prepared->kernels[view.pixels != NULL], &view,
      (plan->layer.filters + GROUP - 1) / GROUP, dim3 (LANES, WARPS), prepared->shared, error);
}
