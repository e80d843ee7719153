/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The 1x1 kernels of gemm. pointwise.h has the order of pixels and channels, mma.cuh what each lane holds. */
#include "layer/cuda/launch.cuh"
#include "layer/cuda/mma.cuh"
#include "layer/cuda/pointwise.h"

#define LANES 32
#define WARPS CONVOLVE_LAYER_POINTWISE_WARPS
#define THREADS (LANES * WARPS)
#define STEP CONVOLVE_LAYER_POINTWISE_STEP
#define VECTOR CONVOLVE_LAYER_POINTWISE_VECTOR
#define VECTORS CONVOLVE_LAYER_POINTWISE_VECTORS
#define PITCH CONVOLVE_LAYER_POINTWISE_PITCH
#define STAGE_BYTES (STEP * PITCH)
#define FILTERS CONVOLVE_LAYER_POINTWISE_FILTERS
#define STAGES(T) \
  (sizeof (T) == sizeof (float) ? CONVOLVE_LAYER_POINTWISE_FLOATS_STAGES : CONVOLVE_LAYER_POINTWISE_HALVES_STAGES)
#define PIXELS(T) (VECTORS * VECTOR / (int) sizeof (T)) /* of a warp's tile */
#define PER_VECTOR(T) (VECTOR / (int) sizeof (T))       /* pixels; also the mma tiles of pixels that a warp has */

/* The steps whose sums the tensor cores add up in float32: they round towards zero, so many sums are added elsewhere. */
#define SHORT_STEPS 4

/* The sums that a lane has in registers, and the blocks that should fit a multiprocessor with them. */
#define SUMS(T, M, LONG) ((M) *PER_VECTOR (T) * 4 * ((LONG) ? 2 : 1))
#define BLOCKS(T, M, LONG) (SUMS (T, M, LONG) > 64 ? 1 : 2)

/* The parameter of the kernel. */
struct PointwiseView : ConvolveLayerView
{
  int steps;                    /* as in ConvolveLayerPointwise */
  int n_tiles, image_tiles;     /* of all images, and of one */
  bool aligned_in, aligned_out; /* vectors of samples can be moved at once */
};

/* A warp's tile: pixels of a row of the output. */
struct Tile
{
  int image, row, x;

  __device__ __forceinline__
  Tile (const PointwiseView &view, int number)
  {
    int place = number % view.image_tiles;

    image = number / view.image_tiles;
    row = place / view.tiles.across;
    x = place % view.tiles.across * view.tiles.width;
  }
};

/* The vector whose pixels are column g of the mma tiles. */
static __device__ __forceinline__ int
vector_of (int g)
{
  return g / 2 + g % 2 * 4;
}

/*
 * Starts to copy a step to a stage, all lanes of the warp together. `channels` has the addresses of the step's channels for
 * the first pixel of the first image, of which the last one stands for channels that the layer does not have; `skipped` is
 * the distance in bytes to the tile. Pixels and channels that are not there become 0. A tile that ends within a vector is
 * copied pixel by pixel: no copy may name a byte behind the last pixel, which can be the last one of the memory.
 */
template <typename T>
static __device__ __forceinline__ void
copy_step (const PointwiseView &view, const uint8_t *const *channels, int channels_left, ptrdiff_t skipped,
    int pixels_left, uint8_t *stage)
{
  int lane = threadIdx.x % LANES;

  if (view.aligned_in && (pixels_left >= PIXELS (T) || pixels_left % PER_VECTOR (T) == 0)) {
    int vector = lane % VECTORS;
    bool there = vector * PER_VECTOR (T) < pixels_left;

    skipped += there ? vector * VECTOR : 0;
#pragma unroll
    for (int n = 0; n < STEP * VECTORS / LANES; n++) {
      int c = n * LANES / VECTORS + lane / VECTORS;

      convolve_copy_async_part<16> (stage + c * PITCH + vector * VECTOR, channels[c] + skipped,
          there && c < channels_left ? VECTOR : 0);
    }
    return;
  }
#pragma unroll
  for (int n = 0; n < PIXELS (T) / LANES; n++) {
    int pixel = n * LANES + lane;
    bool there = pixel < pixels_left;
    const ptrdiff_t at = skipped + (there ? pixel * view.source.column_stride : 0);

    if (sizeof (T) == sizeof (float)) {
#pragma unroll 4
      for (int c = 0; c < STEP; c++)
        convolve_copy_async_part<4> (stage + c * PITCH + pixel * sizeof (T), channels[c] + at,
            there && c < channels_left ? 4 : 0);
    } else {
      uint16_t bits[STEP];

      /* A copy of two bytes does not exist. */
#pragma unroll
      for (int c = 0; c < STEP; c++)
        bits[c] = there && c < channels_left ? (uint16_t) convolve_layer_bits<uint16_t> (channels[c] + at) : 0;
#pragma unroll
      for (int c = 0; c < STEP; c++)
        *(uint16_t *) (stage + c * PITCH + pixel * sizeof (T)) = bits[c];
    }
  }
}

/* The steps that a warp copies, of all its tiles, ahead of those that it multiplies. */
template <typename T>
struct Copies
{
  const uint8_t *const *channels;
  uint8_t *ring;
  int number, stride; /* of the tile; numbers from a tile of the warp to its next one */
  int step, slot;     /* that are next */
  ptrdiff_t skipped;
  int pixels_left;

  __device__ __forceinline__ void
  find_tile (const PointwiseView &view)
  {
    Tile tile (view, number);

    skipped =
        tile.image * view.source.batch_stride + tile.row * view.source.row_stride + tile.x * view.source.column_stride;
    pixels_left = view.out_width - tile.x;
  }

  /* Starts the next step, an empty batch where nothing is left. */
  __device__ __forceinline__ void
  start (const PointwiseView &view)
  {
    if (number < view.n_tiles) {
      copy_step<T> (view, channels + step * STEP, view.channels - step * STEP, skipped, pixels_left,
          ring + slot * STAGE_BYTES);
      slot = slot + 1 < STAGES (T) ? slot + 1 : 0;
      if (++step == view.steps) {
        step = 0;
        number += stride;
        if (number < view.n_tiles)
          find_tile (view);
      }
    }
    convolve_commit_copies ();
  }
};

/* Adds the products of a step to the sums. `weights` points to this lane's vectors of the step. */
template <int M>
static __device__ __forceinline__ void
multiply_step (const float *, const uint4 *weights, const uint8_t *stage, int g, int t,
    float (*sums)[PER_VECTOR (float)][4])
{
  constexpr int N = PER_VECTOR (float);

#pragma unroll
  for (int half = 0; half < 2; half++) {
    uint32_t nearest[2][N], rest[2][N];

#pragma unroll
    for (int i = 0; i < 2; i++) {
      uint4 loaded = *(const uint4 *) (stage + (half * 8 + i * 4 + t) * PITCH + vector_of (g) * VECTOR);
      const uint32_t bits[N] = { loaded.x, loaded.y, loaded.z, loaded.w };

#pragma unroll
      for (int n = 0; n < N; n++) {
        nearest[i][n] = bits[n] & 0xffffe000; /* not rounded, so that no number becomes infinite */
        rest[i][n] = __float_as_uint (
            (__uint_as_float (bits[n]) - __uint_as_float (nearest[i][n])) * CONVOLVE_LAYER_POINTWISE_REST_SCALE);
      }
    }
#pragma unroll
    for (int m = 0; m < M; m++) {
      constexpr float down = 1.0f / CONVOLVE_LAYER_POINTWISE_REST_SCALE;
      uint4 a = weights[(half * M + m) * 2 * LANES], a_rest = weights[((half * M + m) * 2 + 1) * LANES];
      uint4 a_down =
          make_uint4 (__float_as_uint (__uint_as_float (a.x) * down), __float_as_uint (__uint_as_float (a.y) * down),
              __float_as_uint (__uint_as_float (a.z) * down), __float_as_uint (__uint_as_float (a.w) * down));

#pragma unroll
      for (int n = 0; n < N; n++)
        convolve_mma_tf32 (sums[m][n], a_rest, nearest[0][n], nearest[1][n]);
#pragma unroll
      for (int n = 0; n < N; n++)
        convolve_mma_tf32 (sums[m][n], a_down, rest[0][n], rest[1][n]);
#pragma unroll
      for (int n = 0; n < N; n++)
        convolve_mma_tf32 (sums[m][n], a, nearest[0][n], nearest[1][n]);
    }
  }
}

template <int M>
static __device__ __forceinline__ void
multiply_step (const uint16_t *, const uint4 *weights, const uint8_t *stage, int g, int t,
    float (*sums)[PER_VECTOR (uint16_t)][4])
{
  constexpr int N = PER_VECTOR (uint16_t);
  uint32_t b[2][N];

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const uint8_t *from = stage + (i * 8 + t) * PITCH + vector_of (g) * VECTOR;
    uint4 low = *(const uint4 *) from, high = *(const uint4 *) (from + 4 * PITCH);
    const uint32_t lows[N / 2] = { low.x, low.y, low.z, low.w }, highs[N / 2] = { high.x, high.y, high.z, high.w };

#pragma unroll
    for (int n = 0; n < N; n++)
      b[i][n] = __byte_perm (lows[n / 2], highs[n / 2], n % 2 ? 0x7632 : 0x5410);
  }
#pragma unroll
  for (int m = 0; m < M; m++) {
    uint4 a = weights[m * LANES];

#pragma unroll
    for (int n = 0; n < N; n++)
      convolve_mma (sums[m][n], a, b[0][n], b[1][n]);
  }
}

/* The outputs of a vector, from the sums of a filter and column; `factors` is a factor and a bias. */
static __device__ __forceinline__ uint4
finish (const ConvolveLayerView &view, float2 factors, const float *values, const float *)
{
  uint32_t words[PER_VECTOR (float)];

#pragma unroll
  for (int j = 0; j < PER_VECTOR (float); j++)
    words[j] = __float_as_uint (convolve_layer_activate (view, fmaf (values[j], factors.x, factors.y)));
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

static __device__ __forceinline__ uint4
finish (const ConvolveLayerView &view, float2 factors, const float *values, const uint16_t *)
{
  const uint32_t kept = view.activation == CONVOLVE_ACTIVATION_ABSOLUTE ? 0x7fff7fff : 0xffffffff;
  const __half2 least = __float2half2_rn (view.activation == CONVOLVE_ACTIVATION_RELU ? 0 : -INFINITY);
  uint32_t words[PER_VECTOR (uint16_t) / 2];

#pragma unroll
  for (int j = 0; j < PER_VECTOR (uint16_t) / 2; j++) {
    __half2 two = __hmax2 (__floats2half2_rn (fmaf (values[2 * j], factors.x, factors.y),
                               fmaf (values[2 * j + 1], factors.x, factors.y)),
        least);

    words[j] = *(const uint32_t *) &two & kept;
  }
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Stores a vector. Its address came through shared memory, so the compiler does not know that it is global memory. */
static __device__ __forceinline__ void
store_vector (uint8_t *to, const uint4 &vector)
{
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global (to)), "r"(vector.x),
               "r"(vector.y), "r"(vector.z), "r"(vector.w)
               : "memory");
}

/*
 * Writes the outputs of a tile: two vectors of each of a lane's filters. `whole`: the output has all pixels of the tile,
 * and vectors can be stored at once.
 */
template <typename T, int M, bool whole>
static __device__ __forceinline__ void
store_tile (const PointwiseView &view, uint8_t *const *planes, const float2 *factors, const Tile &tile, int filters,
    int g, int t, const float (*sums)[PER_VECTOR (T)][4])
{
  const ptrdiff_t skipped = tile.image * view.destination.batch_stride + tile.row * view.destination.row_stride
      + tile.x * view.destination.column_stride;
  const int stride = (int) view.destination.column_stride;

#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int k = m * FILTERS + h * 8 + g;
      uint8_t *to = planes[k] + skipped;
      float2 own = factors[k];

#pragma unroll
      for (int i = 0; i < 2; i++) {
        int x = (t + 4 * i) * PER_VECTOR (T);
        float values[PER_VECTOR (T)];

#pragma unroll
        for (int j = 0; j < PER_VECTOR (T); j++)
          values[j] = sums[m][j][2 * h + i];
        uint4 outputs = finish (view, own, values, (const T *) NULL);
        if (whole) {
          if (k < filters)
            store_vector (to + x * (int) sizeof (T), outputs);
          continue;
        }
        const uint32_t words[4] = { outputs.x, outputs.y, outputs.z, outputs.w };

#pragma unroll
        for (int j = 0; j < PER_VECTOR (T); j++)
          if (k < filters && tile.x + x + j < view.out_width)
            *(T *) (to + (x + j) * stride) =
                sizeof (T) == sizeof (float) ? (T) __uint_as_float (words[j % 4]) : (T) (words[j / 2] >> j % 2 * 16);
      }
    }
}

/*
 * The idea: planes stream through the tensor cores.
 *
 * A block keeps the weights of M x 16 filters in shared memory. Each of its warps takes one tile after the other and
 * multiplies it step by step, while the next steps are copied.
 *
 * LONG: a layer of more than SHORT_STEPS steps, whose sums are added up outside the tensor cores.
 */
template <typename T, int M, bool LONG>
__global__ void __launch_bounds__ (THREADS, BLOCKS (T, M, LONG))
    convolve_layer_pointwise (const __grid_constant__ PointwiseView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  constexpr int N = PER_VECTOR (T), step_vectors = (sizeof (T) == sizeof (float) ? 4 : 1) * M * LANES;
  int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, g = lane / 4, t = lane % 4;
  int first_filter = blockIdx.y * M * FILTERS, filters = min (view.filters - first_filter, M * FILTERS);
  uint4 *weights = (uint4 *) convolve_layer_memory;
  uint8_t *rings = (uint8_t *) (weights + view.steps * step_vectors);
  const uint8_t **channels = (const uint8_t **) (rings + WARPS * STAGES (T) * STAGE_BYTES);
  uint8_t **planes = (uint8_t **) (channels + view.steps * STEP);
  float2 *factors = (float2 *) (planes + M * FILTERS);
  const uint4 *from = (const uint4 *) view.weights + (size_t) blockIdx.y * view.steps * step_vectors;
  float sums[M][N][4], part[LONG ? M : 1][N][4];

  for (int n = threadIdx.x; n < view.steps * STEP; n += THREADS)
    channels[n] = convolve_layer_plane (&view.source, 0, min (n, view.channels - 1));
  for (int n = threadIdx.x; n < M * FILTERS; n += THREADS) {
    int k = first_filter + min (n, filters - 1);

    planes[n] = convolve_layer_plane (&view.destination, 0, k);
    factors[n] = make_float2 (view.bias[view.filters + k], view.bias[k]);
  }
  for (int n = threadIdx.x; n < view.steps * step_vectors; n += THREADS)
    weights[n] = __ldg (from + n);
  __syncthreads ();

  int first = blockIdx.x * WARPS + warp, stride = gridDim.x * WARPS, slot = 0;
  if (first >= view.n_tiles)
    return;
  uint8_t *ring = rings + warp * STAGES (T) * STAGE_BYTES;
  Copies<T> copies = { channels, ring, first, stride, 0, 0, 0, 0 };

  copies.find_tile (view);
  for (int n = 0; n < STAGES (T) - 1; n++)
    copies.start (view);
  for (int number = first; number < view.n_tiles; number += stride) {
#pragma unroll
    for (int i = 0; i < M * N * 4; i++) {
      sums[i / 4 / N][i / 4 % N][i % 4] = 0;
      if (LONG)
        part[i / 4 / N][i / 4 % N][i % 4] = 0;
    }
    for (int step = 0; step < view.steps; step++) {
      /* The step is there for all lanes, and all are done with the step before, whose place the next one takes. */
      convolve_wait_batches<STAGES (T) - 2> ();
      __syncwarp ();
      copies.start (view);
      multiply_step<M> ((const T *) NULL, weights + step * step_vectors + lane, ring + slot * STAGE_BYTES, g, t,
          LONG ? part : sums);
      slot = slot + 1 < STAGES (T) ? slot + 1 : 0;
      if (LONG && (step % SHORT_STEPS == SHORT_STEPS - 1 || step + 1 == view.steps))
#pragma unroll
        for (int i = 0; i < M * N * 4; i++) {
          sums[i / 4 / N][i / 4 % N][i % 4] += part[i / 4 / N][i / 4 % N][i % 4];
          part[i / 4 / N][i / 4 % N][i % 4] = 0;
        }
    }
    Tile tile (view, number);
    if (view.aligned_out && tile.x + PIXELS (T) <= view.out_width)
      store_tile<T, M, true> (view, planes, factors, tile, filters, g, t, sums);
    else
      store_tile<T, M, false> (view, planes, factors, tile, filters, g, t, sums);
  }
}

/* A kernel, and the blocks of it that should fit a multiprocessor. */
struct Kernel
{
  const void *kernel;
  int blocks;
};

#define KERNEL(T, M, LONG) \
  { \
    (const void *) convolve_layer_pointwise<T, M, LONG>, BLOCKS (T, M, LONG) \
  }

/* By the type and length, and by half the mma tiles of filters: 1 / 2 = 0, 2 / 2 = 1, 4 / 2 = 2. */
static const Kernel kernels[3][CONVOLVE_LAYER_POINTWISE_SHAPES] = {
  { KERNEL (uint16_t, 1, false), KERNEL (uint16_t, 2, false), KERNEL (uint16_t, 4, false) },
  { KERNEL (float, 1, false), KERNEL (float, 2, false), KERNEL (float, 4, false) },
  { KERNEL (float, 1, true), KERNEL (float, 2, true), KERNEL (float, 4, true) },
};

static Kernel
kernel_of (const ConvolveLayerPlan *plan)
{
  const ConvolveLayerPointwise *prepared = (const ConvolveLayerPointwise *) plan->prepared;
  int kind = plan->layer.type == CONVOLVE_LAYER_FLOAT16 ? 0 : prepared->steps <= SHORT_STEPS ? 1 : 2;

  return kernels[kind][convolve_layer_pointwise_shape (&plan->layer) / 2];
}

ConvolveStatus
convolve_layer_pointwise_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveLayerPointwise *prepared = (ConvolveLayerPointwise *) plan->prepared;

  prepared->base.kernels[0] = kernel_of (plan).kernel;
  return convolve_allow_shared (plan->device, prepared->base.kernels[0], prepared->base.shared, error);
}

/* The members of tensor->channel that the kernel reads. */
static int
pointers_of (const ConvolveLayerTensor *tensor, int channels)
{
  return tensor->across ? 1 : channels;
}

/* Moves the first sample of every channel down by some rows. */
static void
skip_rows (ConvolveLayerTensor *tensor, int channels, int rows)
{
  for (int i = 0; i < pointers_of (tensor, channels); i++)
    tensor->channel[i] = (uint8_t *) tensor->channel[i] + rows * tensor->row_stride;
}

/* Whether every vector of every row of a channel begins at an address that a vector's size divides. */
static bool
is_aligned (const ConvolveLayerTensor *tensor, int channels, int size, int rows, int batch)
{
  uintptr_t all = (rows > 1 ? (uintptr_t) tensor->row_stride : 0) | (batch > 1 ? (uintptr_t) tensor->batch_stride : 0);

  for (int i = 0; i < pointers_of (tensor, channels); i++)
    all |= (uintptr_t) tensor->channel[i];
  if (tensor->across)
    all |= (uintptr_t) tensor->across_stride | (uintptr_t) tensor->down_stride;
  return tensor->column_stride == size && all % VECTOR == 0;
}

ConvolveStatus
convolve_layer_pointwise_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayerPointwise *prepared = (const ConvolveLayerPointwise *) plan->prepared;
  PointwiseView view = { convolve_layer_view (plan, job) };
  int size = convolve_layer_sample_size (view.type), rows = view.end_row - view.first_row, batch = job->task.batch;
  int filters = convolve_layer_pointwise_shape (&plan->layer) * FILTERS;
  int groups = (plan->layer.filters - 1) / filters + 1;

  view.source.row_stride *= view.stride_y;
  view.source.column_stride *= view.stride_x;
  skip_rows (&view.source, view.channels, view.first_row);
  skip_rows (&view.destination, view.filters, view.first_row);
  /* Rows without gaps are one row. */
  if (view.source.row_stride == view.out_width * view.source.column_stride
      && view.destination.row_stride == view.out_width * view.destination.column_stride) {
    view.out_width *= rows;
    rows = 1;
  }
  view.tiles.width = VECTORS * VECTOR / size;
  view.tiles.across = (view.out_width - 1) / view.tiles.width + 1;
  int64_t tiles = (int64_t) view.tiles.across * rows;
  if (tiles * batch > INT32_MAX / 2)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "%d outputs of %dx%d have more tiles than the variant gemm counts", batch, job->out_width,
        view.end_row - view.first_row);
  view.steps = prepared->steps;
  view.image_tiles = (int) tiles;
  view.n_tiles = (int) tiles * batch;
  view.aligned_in = is_aligned (&view.source, view.channels, size, rows, batch);
  view.aligned_out = is_aligned (&view.destination, view.filters, size, rows, batch);
  /* As many blocks as run at the same time: each goes on until no tile is left. */
  int fitting = (int) (convolve_device_shared_limit (plan->device) / prepared->base.shared);
  int usual = kernel_of (plan).blocks;
  int blocks = convolve_device_multiprocessors (plan->device) * (fitting < usual ? fitting : usual);
  int needed = (view.n_tiles - 1) / WARPS + 1, most = (blocks + groups - 1) / groups;
  return convolve_layer_enqueue (plan, prepared->base.kernels[0], &view, dim3 (needed < most ? needed : most, groups),
      dim3 (THREADS), prepared->base.shared, error);
}
