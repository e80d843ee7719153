/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel of gemm. gemm.cuh has its parts, gemm.h the order of the reduction, mma.cuh what each lane holds. */
#include "layer/cuda/gemm.cuh"
#include "layer/cuda/pointwise.h"

#define FILTERS CONVOLVE_LAYER_GEMM_FILTERS /* of an mma tile */
#define OUTPUTS CONVOLVE_LAYER_GEMM_OUTPUTS
#define PAIRS CONVOLVE_LAYER_GEMM_PAIRS /* of a slice */

/*
 * Blocks that should fit a multiprocessor, which limits the registers of a thread. A lane has 4 sums for each of its
 * M x N mma tiles, and with two terms 4 more.
 */
#define BLOCKS(Pair, M, N) ((M) * (N) *Pair::terms > 16 ? 2 : 3)

static_assert (sizeof (ConvolveHalves) == 4 && sizeof (ConvolveSplit) == 8, "the kernel loads pairs in one piece");

/* Writes two neighbours in a row of the output, in one piece where type and alignment allow. */
static __device__ __forceinline__ void
store_two (const ConvolveLayerView &view, uint8_t *row, int x, float first, float second)
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
 * The epilogue. A lane's sums[m][n][2 * h + i] belongs to filter first_filter + 16 m + 8 h + g, and to output 2t + i of
 * the warp's mma tile n (mma.cuh).
 */

/* Sums become outputs before pooling: the filter's scale and bias, and the activation. */
template <int M, int N>
static __device__ __forceinline__ void
activate_sums (const ConvolveLayerView &view, int first_filter, int g, const float *scales, float (*sums)[N][4])
{
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int k = first_filter + m * FILTERS + h * 8 + g;
      float scale = k < view.filters ? scales[k] : 0, bias = k < view.filters ? view.bias[k] : 0;

#pragma unroll
      for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 2; i++)
          sums[m][n][2 * h + i] = convolve_layer_activate (view, fmaf (sums[m][n][2 * h + i], scale, bias));
    }
}

/* Writes the outputs of a layer without pooling. */
template <int M, int N>
static __device__ __forceinline__ void
store_outputs (const ConvolveLayerView &view, int first_filter, int top, int left, int tiles_across, int warp, int g,
    int t, float (*outputs)[N][4])
{
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int k = first_filter + m * FILTERS + h * 8 + g;
      uint8_t *plane = convolve_layer_plane (&view.destination, blockIdx.z, k < view.filters ? k : 0);

#pragma unroll
      for (int n = 0; n < N; n++) {
        int tile = warp * N + n, y = top + tile / tiles_across;

        if (k < view.filters && y < view.end_row)
          store_two (view, plane + y * view.destination.row_stride, left + tile % tiles_across * OUTPUTS + 2 * t,
              outputs[m][n][2 * h], outputs[m][n][2 * h + 1]);
      }
    }
}

/*
 * The idea: an implicit GEMM on tensor cores.
 *
 * A block has M x 16 filters and a tile of WARPS x N x 8 outputs. Each warp has all these filters and N mma tiles of 8
 * outputs side by side, so weights are loaded once for N mma instructions and samples once for M. With N = 4 and a tile
 * 16 outputs wide, the mma tiles of the four warps are:
 *
 *     warp 0, n = 0 | warp 0, n = 1         row 0
 *     warp 0, n = 2 | warp 0, n = 3         row 1
 *     warp 1, n = 0 | warp 1, n = 1         row 2
 *     ...                                   up to row 7
 *
 * So output 3 of warp 1's tile n = 1 is in row 2, column 8 + 3 = 11. With stride 1 and a pitch of 18, its window starts
 * at word 2 * 18 + 11 = 47 of each plane, and the pair for kernel row 1, column 2 is at word 47 + 18 + 2.
 *
 * Shared memory:
 *     ring           STAGES stages of weights
 *     channels       the address of each channel of a chunk
 *     patches        tiles.planes planes of pairs; after the last chunk the outputs that are to be pooled
 *     pair_offsets   for each pair of a chunk: from the first word of a window to the pair
 *     sources        for each position of a plane: the offset of its sample in a channel; behind these, zero padding
 *     largest        bits of the largest magnitude, of this chunk and of the next one in turns
 */
template <typename Pair, int M, int N>
__global__ void __launch_bounds__ (THREADS, BLOCKS (Pair, M, N))
    convolve_layer_gemm (const __grid_constant__ ConvolveLayerView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  typedef WeightPipeline<Pair, M> Weights;
  constexpr bool split = Pair::terms == 2;
  const ConvolveLayerTiles &tiles = view.tiles;
  int channels_per_chunk = view.gemm_row_pairs ? tiles.planes : 2 * tiles.planes;
  int positions = tiles.patch_height * tiles.pitch;
  uint4 *ring = (uint4 *) convolve_layer_memory;
  const uint8_t **channels = (const uint8_t **) (ring + STAGES * Weights::stage_size);
  Pair *patches = (Pair *) (channels + channels_per_chunk);
  int *pair_offsets = (int *) (patches + tiles.planes * tiles.plane);
  int *sources = pair_offsets + view.gemm_slices * PAIRS;
  unsigned *largest = (unsigned *) (sources + positions + 1);
  int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, g = lane / 4, t = lane % 4;
  int left = convolve_layer_tile_left (view) * view.pool_stride_x;
  int top = convolve_layer_tile_top (view) * view.pool_stride_y;
  int first_filter = blockIdx.y * M * FILTERS, tiles_across = tiles.conv_width / OUTPUTS, windows[N];
  size_t skipped = (size_t) blockIdx.y * tiles.chunks * view.gemm_slices * Weights::slice_size;
  Weights weights = { (const uint4 *) view.weights + skipped, ring, 0, view.gemm_slices, tiles.chunks };
  const float *scales = view.bias + view.filters; /* prepare() puts scales and offsets behind the biases */
  int stage = 0;
  float sums[M][N][4], slice_sums[M][N][4];

  weights.prefetch (view.gemm_slices);
  weights.prefetch (view.gemm_slices);
  for (int n = threadIdx.x; n < view.gemm_slices * PAIRS; n += THREADS)
    pair_offsets[n] = __ldg ((const int *) scales + view.filters + n);
  for (int y = warp; y < tiles.patch_height; y += WARPS)
    for (int x = lane; x < tiles.pitch; x += LANES)
      sources[y * tiles.pitch + x] = convolve_layer_offset (view, top * view.stride_y - view.pad_top + y,
          left * view.stride_x - view.pad_left + x);
  if (threadIdx.x < 2)
    largest[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    sources[positions] = CONVOLVE_LAYER_ZERO_PADDING;
#pragma unroll
  for (int n = 0; n < N; n++) {
    int tile = warp * N + n;

    windows[n] =
        tile / tiles_across * view.stride_y * tiles.pitch + (tile % tiles_across * OUTPUTS + g) * view.stride_x;
  }
#pragma unroll
  for (int i = 0; i < M * N * 4; i++) {
    sums[i / 4 / N][i / 4 % N][i % 4] = 0;
    if (split)
      slice_sums[i / 4 / N][i / 4 % N][i % 4] = 0;
  }

  for (int chunk = 0; chunk < tiles.chunks; chunk++) {
    int c = chunk * channels_per_chunk + threadIdx.x;

    for (int n = threadIdx.x; n < channels_per_chunk; n += THREADS, c += THREADS)
      channels[n] = convolve_layer_plane (&view.source, blockIdx.z, min (c, view.channels - 1));
    __syncthreads ();
    /* The last chunk may have fewer planes, and its last plane one channel less. The weights for what is missing are 0;
     * samples there must be finite, because 0 times infinity is not 0. So the last channel is loaded once more, and the
     * planes of the chunk before stay. */
    int planes_left =
        (view.channels - chunk * channels_per_chunk + (view.gemm_row_pairs ? 0 : 1)) / (view.gemm_row_pairs ? 1 : 2);
    int count = chunk == 0 ? tiles.planes : min (tiles.planes, planes_left);
    float own_largest = view.type == CONVOLVE_LAYER_FLOAT32
        ? load_patches<float> (view, sources, channels, count, patches)
        : view.type == CONVOLVE_LAYER_FLOAT16 ? load_patches<uint16_t> (view, sources, channels, count, patches)
                                              : load_patches<uint8_t> (view, sources, channels, count, patches);
    float scale = scale_patches (view, own_largest, &largest[chunk % 2], &largest[(chunk + 1) % 2], count, patches);

    for (int slice = 0; slice < view.gemm_slices; slice += Weights::slices, stage++) {
      const uint4 *vectors = ring + stage % STAGES * Weights::stage_size + lane;
      int slices = min (Weights::slices, view.gemm_slices - slice);

      /* The stage is there for all threads, and all are done with the stage before, whose place the next one takes. */
      convolve_wait_copies ();
      __syncthreads ();
      weights.prefetch (view.gemm_slices);
#pragma unroll 2
      for (int s = 0; s < slices; s++)
        multiply<M, N> (vectors + s * Weights::slice_size, patches, windows, pair_offsets[PAIRS * (slice + s) + t],
            pair_offsets[PAIRS * (slice + s) + PAIRS / 2 + t], split ? slice_sums : sums);
      if (split)
        add_scaled<M, N> (sums, slice_sums, scale);
    }
  }

  activate_sums<M, N> (view, first_filter, g, scales, sums);
  if (tiles.width == tiles.conv_width && tiles.height == tiles.conv_height) {
    store_outputs<M, N> (view, first_filter, top, left, tiles_across, warp, g, t, sums);
    return;
  }

  /* Pooling, 16 filters at a time: their outputs meet in shared memory, where the patches were. */
  constexpr int pitch = WARPS * N * OUTPUTS + CONVOLVE_LAYER_GEMM_STAGED_GAP;
  float *staged = (float *) patches;
#pragma unroll
  for (int m = 0; m < M; m++) {
    __syncthreads ();
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        staged[(i / 2 * 8 + g) * pitch + (warp * N + n) * OUTPUTS + 2 * t + i % 2] = sums[m][n][i];
    __syncthreads ();
    for (int k = 0; k < FILTERS && first_filter + m * FILTERS + k < view.filters; k++)
      convolve_layer_pool (view, staged + k * pitch, tiles.conv_width, first_filter + m * FILTERS + k, threadIdx.x,
          THREADS);
  }
}

/* By whether numbers are split, and by the index of the shape in gemm.c. */
static const void *const kernels[2][CONVOLVE_LAYER_GEMM_SHAPES] = {
  { (const void *) convolve_layer_gemm<ConvolveHalves, 4, 4>, (const void *) convolve_layer_gemm<ConvolveHalves, 2, 8>,
      (const void *) convolve_layer_gemm<ConvolveHalves, 1, 8> },
  { (const void *) convolve_layer_gemm<ConvolveSplit, 4, 4>, (const void *) convolve_layer_gemm<ConvolveSplit, 2, 8>,
      (const void *) convolve_layer_gemm<ConvolveSplit, 1, 8> },
};

ConvolveStatus
convolve_layer_gemm_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveLayerGemm *prepared = (ConvolveLayerGemm *) plan->prepared;
  ConvolveLayerGemmShape shape;
  const int index = convolve_layer_gemm_shape (&plan->layer, &shape);

  if (plan->kernel == CONVOLVE_LAYER_GEMM_POINTWISE)
    return convolve_layer_pointwise_load (plan, error);
  prepared->base.kernels[0] = kernels[convolve_layer_gemm_is_split (&plan->layer)][index];
  return convolve_allow_shared (plan->device, prepared->base.kernels[0], prepared->base.shared, error);
}

ConvolveStatus
convolve_layer_gemm_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayerGemm *prepared = (const ConvolveLayerGemm *) plan->prepared;
  ConvolveLayerView view = convolve_layer_view (plan, job);
  ConvolveLayerGemmShape shape;

  if (plan->kernel == CONVOLVE_LAYER_GEMM_POINTWISE)
    return convolve_layer_pointwise_run (plan, job, error);
  convolve_layer_gemm_shape (&plan->layer, &shape);
  view.tiles = prepared->base.tiles;
  view.gemm_slices = prepared->slices;
  view.gemm_row_pairs = prepared->row_pairs;
  return convolve_layer_launch (plan, job, prepared->base.kernels[0], &view,
      (plan->layer.filters + shape.filters * FILTERS - 1) / (shape.filters * FILTERS), dim3 (THREADS),
      prepared->base.shared, error);
}
