/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/gemm.cuh"

#define STAGED CONVOLVE_LAYER_GEMM_STAGED

static_assert (sizeof (ConvolveHalves) == 4 && sizeof (ConvolveSplit) == 8, "as the kernels load them");

/* Two neighbours of a row of outputs. */
static __device__ __forceinline__ void
store_pair (const ConvolveLayerView &view, uint8_t *row, int x, float first, float second)
{
  int stride = (int) view.destination.column_stride;
  uint8_t *to = row + x * stride;
  bool both = x + 1 < view.out_width;

  if (both && view.type == CONVOLVE_LAYER_FLOAT32 && stride == 4 && ((uintptr_t) to & 7) == 0) {
    *(float2 *) to = make_float2 (first, second);
  } else if (both && view.type == CONVOLVE_LAYER_FLOAT16 && stride == 2 && ((uintptr_t) to & 3) == 0) {
    *(__half2 *) to = __floats2half2_rn (first, second);
  } else {
    if (x < view.out_width)
      convolve_layer_write (view, to, first);
    if (both)
      convolve_layer_write (view, to + stride, second);
  }
}

/*
 * The idea: filters times windows is a product of matrices, on tensor cores, and the matrix of windows is never made:
 * each of its columns is a place in the patch of input in shared memory, each pair of its rows an offset from there.
 * float32 is multiplied as sums of two float16 each, all products of them but the smallest.
 */
template <typename Pair, int M, int N>
__global__ void __launch_bounds__ (THREADS, M *N *Pair::terms > 16 ? 2 : 3)
    convolve_layer_gemm (const __grid_constant__ ConvolveLayerView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  constexpr bool split = Pair::terms == 2;
  const ConvolveLayerTiles &tiles = view.tiles;
  int per_chunk = view.gemm_row_pairs ? tiles.planes : 2 * tiles.planes,
      places_count = tiles.patch_height * tiles.pitch;
  typedef Stretches<Pair, M> Weights;
  uint4 *ring = (uint4 *) convolve_layer_memory;
  const uint8_t **planes = (const uint8_t **) (ring + STAGES * Weights::size);
  Pair *patches = (Pair *) (planes + per_chunk);
  int *offsets = (int *) (patches + tiles.planes * tiles.plane), *places = offsets + view.gemm_slices * 8;
  unsigned *mosts = (unsigned *) (places + places_count + 1);
  float *staged = (float *) patches;
  int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, g = lane / 4, t = lane % 4;
  int left = convolve_layer_tile_left (view) * view.pool_stride_x,
      top = convolve_layer_tile_top (view) * view.pool_stride_y;
  int first = blockIdx.y * M * 16, across = tiles.conv_width / 8, bases[N];
  size_t skipped = (size_t) blockIdx.y * tiles.chunks * view.gemm_slices * Weights::step;
  Weights weights = { (const uint4 *) view.weights + skipped, ring, 0, view.gemm_slices, tiles.chunks };
  const float *scales = view.bias + view.filters;
  int used = 0; /* stretches */
  float sums[M][N][4], parts[M][N][4];

  weights.fetch (view.gemm_slices);
  weights.fetch (view.gemm_slices);
  for (int n = threadIdx.x; n < view.gemm_slices * 8; n += THREADS)
    offsets[n] = __ldg ((const int *) scales + view.filters + n);
  for (int y = warp; y < tiles.patch_height; y += WARPS)
    for (int x = lane; x < tiles.pitch; x += LANES)
      places[y * tiles.pitch + x] = convolve_layer_offset (view, top * view.stride_y - view.pad_top + y,
          left * view.stride_x - view.pad_left + x);
  if (threadIdx.x < 2)
    mosts[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    places[places_count] = CONVOLVE_LAYER_ZERO_PADDING;
#pragma unroll
  for (int n = 0; n < N; n++) {
    int column = warp * N + n;

    bases[n] = column / across * view.stride_y * tiles.pitch + (column % across * 8 + g) * view.stride_x;
  }
#pragma unroll
  for (int i = 0; i < M * N * 4; i++) {
    sums[i / 4 / N][i / 4 % N][i % 4] = 0;
    if (split)
      parts[i / 4 / N][i / 4 % N][i % 4] = 0;
  }

  for (int chunk = 0; chunk < tiles.chunks; chunk++) {
    int c = chunk * per_chunk + threadIdx.x;

    for (int n = threadIdx.x; n < per_chunk; n += THREADS, c += THREADS)
      planes[n] = convolve_layer_plane (&view.source, blockIdx.z, min (c, view.channels - 1));
    __syncthreads ();
    /* Channels and planes that are missing have no weights, but must be numbers: others, or what was there before. */
    int left_over = (view.channels - chunk * per_chunk + (view.gemm_row_pairs ? 0 : 1)) / (view.gemm_row_pairs ? 1 : 2);
    int count = chunk == 0 ? tiles.planes : min (tiles.planes, left_over);
    float most = view.type == CONVOLVE_LAYER_FLOAT32 ? load_patches<float> (view, places, planes, count, patches)
        : view.type == CONVOLVE_LAYER_FLOAT16        ? load_patches<uint16_t> (view, places, planes, count, patches)
                                                     : load_patches<uint8_t> (view, places, planes, count, patches);
    float inverse = scale_patches (view, most, &mosts[chunk % 2], &mosts[(chunk + 1) % 2], count, patches);

    for (int step = 0; step < view.gemm_slices; step += Weights::steps, used++) {
      const uint4 *stretch = ring + used % STAGES * Weights::size + lane;
      int end = min (Weights::steps, view.gemm_slices - step);

      convolve_await ();
      __syncthreads ();
      weights.fetch (view.gemm_slices);
#pragma unroll 2
      for (int s = 0; s < end; s++)
        multiply<M, N> (stretch + s * Weights::step, patches, bases, offsets[8 * (step + s) + t],
            offsets[8 * (step + s) + 4 + t], split ? parts : sums);
      if (split)
        add_up<M, N> (sums, parts, inverse);
    }
  }

#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int k = first + m * 16 + h * 8 + g;
      float scale = k < view.filters ? scales[k] : 0, bias = k < view.filters ? view.bias[k] : 0;

#pragma unroll
      for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 2; i++)
          sums[m][n][2 * h + i] = convolve_layer_activate (view, fmaf (sums[m][n][2 * h + i], scale, bias));
    }
  if (tiles.width == tiles.conv_width && tiles.height == tiles.conv_height) {
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        int k = first + m * 16 + h * 8 + g;
        uint8_t *plane = convolve_layer_plane (&view.destination, blockIdx.z, k < view.filters ? k : 0);

#pragma unroll
        for (int n = 0; n < N; n++) {
          int column = warp * N + n, y = top + column / across;

          if (k < view.filters && y < view.end_row)
            store_pair (view, plane + y * view.destination.row_stride, left + column % across * 8 + 2 * t,
                sums[m][n][2 * h], sums[m][n][2 * h + 1]);
        }
      }
    return;
  }

  /* Pooling: sixteen filters at a time through shared memory. */
  constexpr int pitch = WARPS * N * 8 + STAGED;
#pragma unroll
  for (int m = 0; m < M; m++) {
    __syncthreads ();
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        staged[(i / 2 * 8 + g) * pitch + (warp * N + n) * 8 + 2 * t + i % 2] = sums[m][n][i];
    __syncthreads ();
    for (int k = 0; k < 16 && first + m * 16 + k < view.filters; k++)
      convolve_layer_pool (view, staged + k * pitch, tiles.conv_width, first + m * 16 + k, threadIdx.x, THREADS);
  }
}

static const void *const kernels[2][CONVOLVE_LAYER_GEMM_SHAPES] = {
  { (const void *) convolve_layer_gemm<ConvolveHalves, 4, 4>, (const void *) convolve_layer_gemm<ConvolveHalves, 2, 8>,
      (const void *) convolve_layer_gemm<ConvolveHalves, 1, 8> },
  { (const void *) convolve_layer_gemm<ConvolveSplit, 4, 4>, (const void *) convolve_layer_gemm<ConvolveSplit, 2, 8>,
      (const void *) convolve_layer_gemm<ConvolveSplit, 1, 8> },
};

ConvolveStatus
convolve_layer_gemm_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveLayerPrepared *prepared = (ConvolveLayerPrepared *) plan->prepared;
  ConvolveLayerGemmShape shape;
  const int index = convolve_layer_gemm_shape (&plan->layer, &shape);

  prepared->kernels[0] = kernels[convolve_layer_gemm_is_split (&plan->layer)][index];
  return convolve_allow_shared (plan->device, prepared->kernels[0], prepared->shared, error);
}

ConvolveStatus
convolve_layer_gemm_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayerPrepared *prepared = (const ConvolveLayerPrepared *) plan->prepared;
  ConvolveLayerView view = convolve_layer_view (plan, job);
  ConvolveLayerGemmShape shape;

  convolve_layer_gemm_shape (&plan->layer, &shape);
  view.tiles = prepared->tiles;
  view.gemm_slices = prepared->gemm.slices;
  view.gemm_row_pairs = prepared->gemm.row_pairs;
  return convolve_layer_launch (plan, job, prepared->kernels[0], &view,
      (plan->layer.filters + shape.filters * 16 - 1) / (shape.filters * 16), dim3 (THREADS), prepared->shared, error);
}
