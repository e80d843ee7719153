/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "layer/cuda/gemm.cuh"

#define STAGED 8 /* words that separate rows of staged sums in the banks */

static_assert (sizeof (ConvolveHalves) == 4 && sizeof (ConvolveSplit) == 8, "as the kernels load them");

/* How the reduction is ordered and what lies in shared memory, for a tile of 8 * tiles outputs. */
struct Geometry
{
  ConvolveLayerTiles tiles;
  int steps;
  bool along;
  int pairs; /* of a plane */
  size_t shared;
};

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
      convolve_layer_set (view, to, first);
    if (both)
      convolve_layer_set (view, to + stride, second);
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
  int per_chunk = view.along ? tiles.planes : 2 * tiles.planes, places_count = tiles.patch_height * tiles.pitch;
  typedef Stretches<Pair, M> Weights;
  uint4 *ring = (uint4 *) convolve_layer_memory;
  const uint8_t **planes = (const uint8_t **) (ring + STAGES * Weights::size);
  Pair *patches = (Pair *) (planes + per_chunk);
  int *offsets = (int *) (patches + tiles.planes * tiles.plane), *places = offsets + view.steps * 8;
  unsigned *mosts = (unsigned *) (places + places_count + 1);
  float *staged = (float *) patches;
  int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, g = lane / 4, t = lane % 4;
  int left = convolve_layer_left (view) * view.pool_stride_x, top = convolve_layer_top (view) * view.pool_stride_y;
  int first = blockIdx.y * M * 16, across = tiles.conv_width / 8, bases[N];
  size_t skipped = (size_t) blockIdx.y * tiles.chunks * view.steps * Weights::step;
  Weights weights = { (const uint4 *) view.weights + skipped, ring, 0, view.steps, tiles.chunks };
  const float *scales = view.bias + view.filters;
  int used = 0; /* stretches */
  float sums[M][N][4], parts[M][N][4];

  weights.fetch (view.steps);
  weights.fetch (view.steps);
  for (int n = threadIdx.x; n < view.steps * 8; n += THREADS)
    offsets[n] = __ldg ((const int *) scales + view.filters + n);
  for (int y = warp; y < tiles.patch_height; y += WARPS)
    for (int x = lane; x < tiles.pitch; x += LANES)
      places[y * tiles.pitch + x] = convolve_layer_offset (view, top * view.stride_y - view.pad_top + y,
          left * view.stride_x - view.pad_left + x);
  if (threadIdx.x < 2)
    mosts[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    places[places_count] = CONVOLVE_LAYER_NOWHERE;
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
    int left_over = (view.channels - chunk * per_chunk + (view.along ? 0 : 1)) / (view.along ? 1 : 2);
    int count = chunk == 0 ? tiles.planes : min (tiles.planes, left_over);
    float most = view.type == CONVOLVE_LAYER_FLOAT32 ? load_patches<float> (view, places, planes, count, patches)
        : view.type == CONVOLVE_LAYER_FLOAT16        ? load_patches<uint16_t> (view, places, planes, count, patches)
                                                     : load_patches<uint8_t> (view, places, planes, count, patches);
    float inverse = scale_patches (view, most, &mosts[chunk % 2], &mosts[(chunk + 1) % 2], count, patches);

    for (int step = 0; step < view.steps; step += Weights::steps, used++) {
      const uint4 *stretch = ring + used % STAGES * Weights::size + lane;
      int end = min (Weights::steps, view.steps - step);

      convolve_await ();
      __syncthreads ();
      weights.fetch (view.steps);
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

/* What the kernels are made for: tiles of 16 filters and of 8 outputs that a warp has. */
struct Shape
{
  int filters, outputs;
  const void *kernel;
};

static const Shape shapes[2][3] = {
  {
      { 4, 4, (const void *) convolve_layer_gemm<ConvolveHalves, 4, 4> },
      { 2, 8, (const void *) convolve_layer_gemm<ConvolveHalves, 2, 8> },
      { 1, 8, (const void *) convolve_layer_gemm<ConvolveHalves, 1, 8> },
  },
  {
      { 4, 4, (const void *) convolve_layer_gemm<ConvolveSplit, 4, 4> },
      { 2, 8, (const void *) convolve_layer_gemm<ConvolveSplit, 2, 8> },
      { 1, 8, (const void *) convolve_layer_gemm<ConvolveSplit, 1, 8> },
  },
};

static bool
is_split (const ConvolveLayer *layer)
{
  return layer->type != CONVOLVE_LAYER_FLOAT16;
}

static const Shape *
shape_of (const ConvolveLayer *layer)
{
  return &shapes[is_split (layer)][layer->filters > 32 ? 0 : layer->filters > 16 ? 1 : 2];
}

/* Fills what depends on the number of planes in shared memory at once. */
static void
take_planes (const ConvolveLayer *layer, int planes, int all, Geometry *geometry)
{
  int size = is_split (layer) ? sizeof (ConvolveSplit) : sizeof (ConvolveHalves);
  ConvolveLayerTiles *tiles = &geometry->tiles;
  size_t staged = 16 * sizeof (float) * (tiles->conv_width * tiles->conv_height + STAGED);
  size_t patches = (size_t) planes * tiles->plane * size;
  /* A stretch is four vectors a lane for each tile of filters, whatever the terms. */
  size_t ring = STAGES * 4 * LANES * sizeof (uint4) * shape_of (layer)->filters;

  tiles->planes = planes;
  tiles->chunks = (all + planes - 1) / planes;
  geometry->steps = (int) (((int64_t) planes * geometry->pairs + 7) / 8);
  geometry->shared = ring + planes * 2 * sizeof (void *) + geometry->steps * 8 * sizeof (int)
      + ((size_t) tiles->patch_height * tiles->pitch + 3) * sizeof (int) + (patches > staged ? patches : staged);
}

/*
 * Pairs are of neighbours in a row or in channels, whichever leaves fewer without a partner; as many planes are taken
 * at once as leave the fewest steps and stay in half the shared memory that two blocks share, or, where not even one
 * does, in all of a block's. False where that is too little.
 */
static bool
plan_reduction (const ConvolveLayer *layer, size_t limit, Geometry *geometry)
{
  int taps = layer->kernel_height * layer->kernel_width;
  int along = layer->kernel_height * ((layer->kernel_width + 1) / 2) * layer->channels;
  int pairs = (layer->channels + 1) / 2 * taps, all;
  size_t usual = limit / 2 < 80 * 1024 ? limit / 2 : 80 * 1024;
  ConvolveLayerTiles *tiles = &geometry->tiles;
  int64_t best = INT64_MAX;
  int planes = 1;

  geometry->along = along < pairs;
  geometry->pairs = geometry->along ? along / layer->channels : taps;
  all = geometry->along ? layer->channels : (layer->channels + 1) / 2;
  /* What lanes load at once, eight words and mostly of four planes, or half of them where words are double, is put into
   * different banks. */
  tiles->pitch = tiles->patch_width;
  tiles->plane = tiles->pitch * tiles->patch_height;
  tiles->plane += ((layer->stride_x > 1 ? 9 : is_split (layer) ? 4 : 8) - tiles->plane % 32 + 32) % 32;
  for (int n = 1; n <= all && n <= 256; n++) {
    take_planes (layer, n, all, geometry);
    if (geometry->shared > usual)
      break;
    int64_t cost = (int64_t) tiles->chunks * (2 * geometry->steps + 3);
    if (cost <= best) {
      best = cost;
      planes = n;
    }
  }
  take_planes (layer, planes, all, geometry);
  return geometry->shared <= limit;
}

/*
 * The tile with the least input, of those of 8 * outputs * WARPS outputs that hold a pooling window; of equals the
 * widest.
 */
static bool
plan_tiles (const ConvolveLayerPlan *plan, Geometry *geometry, const char **reason)
{
  const ConvolveLayer *layer = &plan->layer;
  int outputs = shape_of (layer)->outputs * WARPS * 8;
  int64_t best = INT64_MAX;
  int width = 0;
  Geometry tried = {};

  for (int n = 8; n <= outputs && n <= 64; n *= 2)
    if (convolve_layer_cut (layer, n, outputs / n, &tried.tiles)) {
      int64_t input = (int64_t) tried.tiles.patch_width * tried.tiles.patch_height;

      /* For each output that is used; narrow rows are stored in small pieces. */
      input = (n == 8 ? 2 : 1) * (1024 * input + 65536) / (tried.tiles.width * tried.tiles.height);
      if (input <= best) {
        best = input;
        width = n;
      }
    }
  if (width == 0) {
    *reason = "its pooling window is larger than a block's outputs";
    return false;
  }
  *geometry = Geometry ();
  convolve_layer_cut (layer, width, outputs / width, &geometry->tiles);
  *reason = "the input under a block of outputs does not fit the device's shared memory";
  return (int64_t) geometry->tiles.patch_width * geometry->tiles.patch_height < 1 << 20
      && plan_reduction (layer, convolve_device_shared_limit (plan->device), geometry);
}

bool
convolve_layer_gemm_accepts (const ConvolveLayerPlan *plan, const char **reason)
{
  Geometry geometry;

  if (!convolve_tensor_possible (plan->device)) {
    *reason = "it needs a GPU of compute capability 8.0 or later";
    return false;
  }
  return plan_tiles (plan, &geometry, reason);
}

/* A filter's weight that meets product number product of a chunk, or 0. */
static float
weight_at (const ConvolveLayer *layer, const Geometry *geometry, int k, int chunk, int product)
{
  const ConvolveLayerTiles *tiles = &geometry->tiles;
  int columns = geometry->along ? (layer->kernel_width + 1) / 2 : layer->kernel_width;
  int pair = product / 2, plane = chunk * tiles->planes + pair % tiles->planes;
  int i = pair / tiles->planes % columns, j = pair / tiles->planes / columns;
  int c = geometry->along ? plane : 2 * plane + product % 2;

  i = geometry->along ? 2 * i + product % 2 : i;
  if (k >= layer->filters || c >= layer->channels || j >= layer->kernel_height || i >= layer->kernel_width)
    return 0;
  return layer->weights[(((size_t) k * layer->channels + c) * layer->kernel_height + j) * layer->kernel_width + i];
}

/* One term of a weight, as bits. */
static uint16_t
term_of (float weight, int term)
{
  uint16_t near = convolve_float_to_half (weight);

  return term == 0 ? near : convolve_float_to_half (weight - convolve_half_to_float (near));
}

/* Where the words of a pair of products lie in the patch, relative to the output's first. */
static int
offset_of (const ConvolveLayer *layer, const Geometry *geometry, int pair)
{
  const ConvolveLayerTiles *tiles = &geometry->tiles;
  int columns = geometry->along ? (layer->kernel_width + 1) / 2 : layer->kernel_width;
  int plane = pair % tiles->planes, i = pair / tiles->planes % columns, j = pair / tiles->planes / columns;

  return j < layer->kernel_height ? plane * tiles->plane + j * tiles->pitch + (geometry->along ? 2 * i : i) : 0;
}

/*
 * Weights as lanes load them: for each group of filters, chunk and step its tiles of 16 x 16, each term of each a
 * vector of four words to a lane. Scales come behind the biases, and the pairs' offsets behind them.
 */
ConvolveStatus
convolve_layer_gemm_prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  const Shape *shape = shape_of (layer);
  bool split = is_split (layer);
  int terms = split ? 2 : 1, groups = (layer->filters + shape->filters * 16 - 1) / (shape->filters * 16);
  Geometry geometry;
  const char *reason;

  plan_tiles (plan, &geometry, &reason);
  size_t steps = (size_t) geometry.tiles.chunks * geometry.steps;
  size_t words = groups * steps * shape->filters * terms * LANES * 4;
  uint32_t *packed = (uint32_t *) malloc (words * sizeof (uint32_t)), *word = packed;
  size_t pairs = (size_t) geometry.steps * 8, after = 2 * (size_t) layer->filters + pairs;
  float *bias = (float *) malloc (after * sizeof (float));
  int *powers = (int *) malloc (layer->filters * sizeof (int));
  ConvolveStatus status;

  if (packed && bias && powers) {
    for (int k = 0; k < layer->filters; k++) {
      /* The largest weight becomes 2^14 .. 2^15. */
      powers[k] = 14 - convolve_layer_exponent (layer, k);
      powers[k] = powers[k] < 126 ? powers[k] : 126;
      bias[k] = layer->bias[k];
      bias[layer->filters + k] = ldexpf (1, (split ? 15 : 0) - powers[k]);
    }
    for (size_t n = 0; n < groups * steps * shape->filters * terms; n++)
      for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++, word++) {
          size_t m = n / terms % shape->filters, step = n / terms / shape->filters % steps;
          size_t group = n / terms / shape->filters / steps;
          int k = (int) ((group * shape->filters + m) * 16) + lane / 4 + i % 2 * 8;
          int chunk = (int) (step / geometry.steps);
          int product = (int) (step % geometry.steps) * 16 + lane % 4 * 2 + i / 2 * 8;

          *word = 0;
          for (int j = 0; j < 2 && k < layer->filters; j++)
            *word |= (uint32_t) term_of (ldexpf (weight_at (layer, &geometry, k, chunk, product + j), powers[k]),
                         (int) (n % terms))
                << 16 * j;
        }
    for (size_t n = 0; n < pairs; n++)
      ((int *) bias)[2 * layer->filters + n] = offset_of (layer, &geometry, (int) n);
    status = convolve_layer_put (plan, packed, words, bias, after, error);
    if (plan->prepared) {
      ConvolveLayerMemory *memory = (ConvolveLayerMemory *) plan->prepared;

      memory->tiles = geometry.tiles;
      memory->steps = geometry.steps;
      memory->along = geometry.along;
      memory->shared = geometry.shared;
    }
  } else {
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu words of weights", words);
  }
  free (packed);
  free (bias);
  free (powers);
  return status;
}

ConvolveStatus
convolve_layer_gemm_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const Shape *shape = shape_of (&plan->layer);
  const ConvolveLayerMemory *memory = (const ConvolveLayerMemory *) plan->prepared;
  ConvolveLayerView view = convolve_layer_view (plan, job);

  view.tiles = memory->tiles;
  view.steps = memory->steps;
  view.along = memory->along;
  return convolve_layer_launch (plan, job, shape->kernel, &view,
      (plan->layer.filters + shape->filters * 16 - 1) / (shape->filters * 16), dim3 (THREADS), memory->shared, error);
}
