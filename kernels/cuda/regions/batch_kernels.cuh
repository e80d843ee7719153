/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of a batch. A block of CONVOLVE_BATCH_THREADS threads takes one tile of the kernel's table. Every formula
 * is that of the host, from common/area.h and common/noise.h.
 */
#ifndef CONVOLVE_CUDA_BATCH_KERNELS_CUH
#define CONVOLVE_CUDA_BATCH_KERNELS_CUH

#include "common/area.h"
#include "common/noise.h"
#include "common/sample.h"
#include "cuda/regions/batch_tables.h"
#include "cuda/device/image.cuh"

#define CONVOLVE_PLANES_SPACE 2000 /* bytes of parameters for the table of planes alone */

/*
 * The tables of a kernel, in the order in which the kernel names them: in the launch's own parameters where they fit
 * SPACE bytes, so that nothing has to be sent before, and otherwise in device memory. The first table, that of the frame's
 * planes, is in the parameters in both cases, as long as it fits, because it changes from frame to frame.
 */
template <int SPACE>
struct ConvolveTableParameters
{
  const uint8_t *sent;
  bool sends_planes;                      /* the planes are in device memory, too */
  int n_jobs;                             /* in the last table, of kernels that find their tiles */
  unsigned offsets[CONVOLVE_MOST_TABLES]; /* bytes */
  alignas (16) uint8_t bytes[SPACE];

  template <typename Element>
  __device__ __forceinline__ const Element *
  table (int n) const
  {
    return (const Element *) ((SPACE > CONVOLVE_PLANES_SPACE ? bytes : sent) + offsets[n]);
  }

  /* The first table, that of planes. */
  __device__ __forceinline__ const ConvolveFramePlane *
  planes () const
  {
    return (const ConvolveFramePlane *) ((SPACE > CONVOLVE_PLANES_SPACE || !sends_planes ? bytes : sent) + offsets[0]);
  }
};

/* The pixel of a tile that a thread takes. */
static __device__ __forceinline__ int2
convolve_pixel_of_thread (const ConvolveTile &tile)
{
  return make_int2 (tile.x + threadIdx.x % CONVOLVE_TILE_WIDTH, tile.y + threadIdx.x / CONVOLVE_TILE_WIDTH);
}

static __device__ __forceinline__ bool
convolve_is_in (const ConvolveRect &rect, int x, int y)
{
  return x >= rect.x && y >= rect.y && x < rect.x + rect.width && y < rect.y + rect.height;
}

static __device__ __forceinline__ uint8_t *
convolve_pixel_of (const ConvolveFramePlane &plane, int x, int y)
{
  return plane.data + y * plane.stride + (int64_t) x * plane.pixel.stride;
}

static __device__ __forceinline__ int
convolve_bytes_of_sample (const ConvolvePixel &pixel)
{
  return pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2;
}

/* --- an atlas --- */

/* A pixel of a cell, with all its bytes. */
template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_gather_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  convolve_wait ();
  const ConvolveTile tile = tables.template table<ConvolveTile> (2)[blockIdx.x];
  const ConvolveGatherJob &job = tables.template table<ConvolveGatherJob> (1)[tile.job];
  const ConvolveFramePlane &source = tables.planes ()[job.source];
  const ConvolvePixel &pixel = source.pixel;
  int2 at = convolve_pixel_of_thread (tile);

  if (at.x >= job.place.width || at.y >= job.place.height)
    return;
  int x = convolve_boundary_index (job.boundary, job.place.x + at.x, source.width);
  int y = convolve_boundary_index (job.boundary, job.place.y + at.y, source.height);
  int size = convolve_bytes_of_sample (pixel);
  const uint8_t *from = convolve_pixel_of (source, x, y);
  uint8_t *to = job.cell + at.y * job.cell_stride + (int64_t) at.x * pixel.stride;

#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (k < pixel.samples)
      convolve_write_sample (&pixel, to + k * size,
          x < 0 || y < 0 ? job.outside[k] : convolve_read_sample (&pixel, from + k * size));
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_take_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  convolve_wait ();
  const ConvolveTile tile = tables.template table<ConvolveTile> (2)[blockIdx.x];
  const ConvolveTakeJob &job = tables.template table<ConvolveTakeJob> (1)[tile.job];
  int2 at = convolve_pixel_of_thread (tile);

  if (!convolve_is_in (job.region, at.x, at.y))
    return;
  const uint8_t *from = job.source + at.y * job.source_stride + (int64_t) at.x * job.pixel.stride;
  uint8_t *to = job.destination + at.y * job.destination_stride + (int64_t) at.x * job.pixel.stride;
  int size = convolve_bytes_of_sample (job.pixel);

#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (k < job.pixel.samples && job.pixel.select >> k & 1)
      convolve_write_sample (&job.pixel, to + k * size, convolve_read_sample (&job.pixel, from + k * size));
}

/* --- effects --- */

/*
 * The job that a tile belongs to: the last one that begins at or before it. first () gives the number of a job's first
 * tile.
 */
template <typename First>
static __device__ __forceinline__ int
convolve_find_job (int jobs, First first)
{
  int from = 0, to = jobs;

  while (to - from > 1) {
    int middle = (from + to) / 2;

    *(first (middle) <= (int) blockIdx.x ? &from : &to) = middle;
  }
  return from;
}

/* Column and row of this block's tile among those of its job. */
static __device__ __forceinline__ int2
convolve_tile_of_job (int first_tile, int columns)
{
  int number = (int) blockIdx.x - first_tile;

  return make_int2 (number % columns, number / columns);
}

/* Where an effect is written: to its target, or to the batch's memory, where pixel (0, 0) may lie anywhere. */
struct ConvolveOutput
{
  uint8_t *data;
  int64_t stride;
  int pixel_stride;

  __device__ __forceinline__
  ConvolveOutput (const ConvolveEffect &effect, const ConvolveFramePlane *planes, const ConvolvePixel &pixel)
      : data (effect.is_blended ? planes[effect.target].data : effect.destination),
        stride (effect.is_blended ? planes[effect.target].stride : effect.destination_stride),
        pixel_stride (pixel.stride)
  {
  }

  __device__ __forceinline__ uint8_t *
  at (int x, int y) const
  {
    return data + y * stride + (int64_t) x * pixel_stride;
  }
};

/* Whether a pixel has a luma pixel in the box; with outside set, whether all of its luma pixels are there. */
static __device__ __forceinline__ bool
convolve_box_has (const ConvolveArea &area, const ConvolveRect &box, int x, int y)
{
  int left = x * area.x_step, right = left + area.x_step, top = y * area.y_step, bottom = top + area.y_step;

  if (area.outside)
    return left >= box.x && top >= box.y && right <= box.x + box.width && bottom <= box.y + box.height;
  return right > box.x && bottom > box.y && left < box.x + box.width && top < box.y + box.height;
}

/* convolve_box_weight () as a call, because its square roots take many registers, and few pixels need them. */
static __device__ __noinline__ int
convolve_soft_weight (const ConvolveArea &area, const ConvolveRect &box, int x, int y)
{
  return convolve_box_weight (&area, box, x, y);
}

/* convolve_area_weight () with these boxes. */
static __device__ __forceinline__ int
convolve_boxes_weight (const ConvolveArea &area, const ConvolveRect *boxes, int n_boxes, int x, int y)
{
  const bool hard = area.shape == CONVOLVE_SHAPE_RECTANGLE && area.feather == 0;
  int most = 0;

  for (int i = 0; i < n_boxes && most < CONVOLVE_WHOLE_WEIGHT; i++)
    most = max (most,
        hard ? (convolve_box_has (area, boxes[i], x, y) ? CONVOLVE_WHOLE_WEIGHT : 0)
             : convolve_soft_weight (area, boxes[i], x, y));
  return convolve_lessen_weight (area.outside ? CONVOLVE_WHOLE_WEIGHT - most : most, area.transparency);
}

/* The weight with which an effect is written at once; the whole one where it is blended in later. */
static __device__ __forceinline__ int
convolve_effect_weight (const ConvolveEffect &effect, const ConvolveRect *boxes, int x, int y)
{
  if (!effect.is_blended)
    return CONVOLVE_WHOLE_WEIGHT;
  const ConvolveArea area = { NULL, effect.n_boxes, (ConvolveShape) effect.shape, effect.feather, effect.outside,
    effect.transparency, effect.x_step, effect.y_step, NULL };

  return convolve_boxes_weight (area, boxes + effect.first_box, effect.n_boxes, x, y);
}

/* Writes an effect's sample with a weight above 0. */
static __device__ __forceinline__ void
convolve_put_sample (const ConvolvePixel &pixel, uint8_t *to, int value, int weight)
{
  convolve_write_sample (&pixel, to,
      weight < CONVOLVE_WHOLE_WEIGHT ? convolve_blend_values (value, convolve_read_sample (&pixel, to), weight)
                                     : value);
}

/* Writes the samples of pixel x, y, where it has a weight. */
static __device__ __forceinline__ void
convolve_put_pixel (const ConvolveEffect &effect, const ConvolveOutput &output, const ConvolvePixel &pixel,
    const ConvolveRect *boxes, int x, int y, const int (&values)[CONVOLVE_MAX_SAMPLES])
{
  const int size = convolve_bytes_of_sample (pixel), weight = convolve_effect_weight (effect, boxes, x, y);
  uint8_t *to = output.at (x, y);

  if (weight == 0)
    return;
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (k < pixel.samples && pixel.select >> k & 1)
      convolve_put_sample (pixel, to + k * size, values[k], weight);
}

/* --- blurs --- */

/* Copies a value to the memory that a block shares; all threads of the block call it, and then wait. */
template <typename Value>
static __device__ __forceinline__ void
convolve_share (Value &shared, const Value &value)
{
  static_assert (sizeof (Value) % 4 == 0, "a value is whole words");

  for (int n = threadIdx.x; n < (int) sizeof (Value) / 4; n += blockDim.x)
    ((unsigned *) &shared)[n] = ((const unsigned *) &value)[n];
}

/* A blur as a block shares it. */
struct ConvolveBlurWork
{
  ConvolveBlurJob job;
  ConvolveFramePlane source;
  ConvolveRect cell; /* of c */
};

/* The tables of blurs: the planes, the boxes of effects, the weights and the jobs. */
template <typename Tables>
static __device__ __forceinline__ void
convolve_share_work (ConvolveBlurWork &work, const Tables &tables, int number)
{
  const ConvolveBlurJob &job = tables.template table<ConvolveBlurJob> (3)[number];
  const ConvolveBlurWeights &weights = tables.template table<ConvolveBlurWeights> (2)[job.weights];

  convolve_share (work.job, job);
  convolve_share (work.source, tables.planes ()[job.effect.source]);
  if (threadIdx.x == 0)
    work.cell = convolve_widen (job.result, weights.row_count / 2, weights.column_count / 2);
  __syncthreads ();
}

/* convolve_boundary_index (), which is called outside the picture alone. */
static __device__ __forceinline__ int
convolve_index (ConvolveBoundary boundary, int i, int n)
{
  return (unsigned) i < (unsigned) n ? i : convolve_find_index (boundary, i, n);
}

/* Sample k of pixel x, y, of type T; the level where x or y is below 0. */
template <typename T>
static __device__ __forceinline__ unsigned
convolve_sample_at (const ConvolveBlurWork &work, int x, int y, int k)
{
  const ConvolveFramePlane &source = work.source;

  if (x < 0 || y < 0)
    return work.job.outside_is_constant ? source.pixel.outside[k] : source.pixel.zero[k];
  const uint8_t *at = source.data + y * source.stride + (int64_t) x * source.pixel.stride + k * sizeof (T);

  return sizeof (T) == 1 ? *at : convolve_read_sample (&source.pixel, at);
}

/* The sum of sample k of row v of the picture, `count` pixels from column left on. */
template <typename T>
static __device__ __forceinline__ unsigned
convolve_sum_line (const ConvolveBlurWork &work, int left, int v, int count, int k)
{
  const ConvolveBoundary boundary = (ConvolveBoundary) work.job.boundary;
  const int row = convolve_index (boundary, v, work.source.height);
  unsigned sum = 0;

#pragma unroll 4
  for (int u = left; u < left + count; u++)
    sum += convolve_sample_at<T> (work, convolve_index (boundary, u, work.source.width), row, k);
  return sum;
}

/*
 * c of pixel i, j of the cell, by the lanes that work on a pixel, each of which takes every lanes-th row. Beyond the
 * cell nothing is read and written, but all threads of a warp take part in the sums.
 */
template <typename T>
static __device__ __forceinline__ void
convolve_shrink_pixel (const ConvolveBlurWork &work, int i, int j, int lane, int lanes)
{
  const ConvolveRect &cell = work.cell;
  const int bits = work.job.bits, factor = 1 << bits;
  const int left = (cell.x + i) * factor, top = (cell.y + j) * factor;
  const bool inside = i < cell.width && j < cell.height;

  for (int k = 0; k < work.source.pixel.samples; k++) {
    unsigned sum = 0;

    for (int v = lane; v < factor && inside; v += lanes)
      sum += convolve_sum_line<T> (work, left, top + v, factor, k);
    for (int step = lanes / 2; step > 0; step /= 2)
      sum += __shfl_xor_sync (0xffffffff, sum, step);
    if (lane == 0 && inside)
      work.job.c[((int64_t) k * cell.height + j) * cell.width + i] =
          convolve_blur_mean (sum, bits, work.source.pixel.depth);
  }
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_shrink_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  __shared__ ConvolveBlurWork work;
  const ConvolveBlurJob *jobs = tables.template table<ConvolveBlurJob> (3);

  convolve_wait ();
  convolve_share_work (work, tables,
      convolve_find_job (tables.n_jobs, [&] (int n) { return jobs[n].first_shrink_tile; }));
  const int bits = work.job.bits, lanes = convolve_shrink_lanes (bits), width = convolve_shrink_width (bits);
  const int2 tile = convolve_tile_of_job (work.job.first_shrink_tile, work.job.shrink_columns);
  const int pixel = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  const int x = tile.x * width + pixel % width, y = tile.y * convolve_shrink_height (bits) + pixel / width;

  if (work.source.pixel.type == CONVOLVE_SAMPLE_U8)
    convolve_shrink_pixel<uint8_t> (work, x, y, lane, lanes);
  else
    convolve_shrink_pixel<uint16_t> (work, x, y, lane, lanes);
}

#define CONVOLVE_BLUR_SIDE (CONVOLVE_BLUR_TILE + CONVOLVE_MAX_BLUR - 1)

/* The shared memory of a block of threads that blurs one tile of one sample. */
struct ConvolveBlurShared
{
  uint16_t c[CONVOLVE_BLUR_SIDE][CONVOLVE_BLUR_SIDE], r[CONVOLVE_BLUR_SIDE][CONVOLVE_BLUR_TILE];
  uint16_t b[CONVOLVE_BLUR_TILE][CONVOLVE_BLUR_TILE];
  ConvolveBlurWork work;
  ConvolveBlurWeights weights;
};

/*
 * Calls work (i, j) for all i below width and j below height, in the threads of a block, which are 2^BITS side by side,
 * and waits for all of them.
 */
template <int BITS, typename Work>
static __device__ __forceinline__ void
convolve_for_all (int width, int height, Work work)
{
  for (int j = threadIdx.x >> BITS; j < height; j += CONVOLVE_BATCH_THREADS >> BITS)
    for (int i = threadIdx.x & ((1 << BITS) - 1); i < width; i += 1 << BITS)
      work (i, j);
  __syncthreads ();
}

/* Loads a part of c: each thread has several numbers on their way at once. */
static __device__ __forceinline__ void
convolve_load_c (const uint16_t *c, int64_t stride, int width, int height, ConvolveBlurShared &shared)
{
  constexpr int across = 64, down = CONVOLVE_BATCH_THREADS / across, turns = 4;
  const int x = threadIdx.x % across, y = threadIdx.x / across;

  for (int i = x; i < width; i += across)
    for (int j = y; j < height; j += turns * down) {
      uint16_t values[turns];

#pragma unroll
      for (int n = 0; n < turns; n++)
        values[n] = j + n * down < height ? c[(j + n * down) * stride + i] : 0;
#pragma unroll
      for (int n = 0; n < turns; n++)
        if (j + n * down < height)
          shared.c[j + n * down][i] = values[n];
    }
}

/* Makes a part of c, from pixel x, y of a picture that is not shrunk, of one sample. */
template <typename T>
static __device__ __forceinline__ void
convolve_make_c (int x, int y, int sample, int width, int height, ConvolveBlurShared &shared)
{
  const ConvolveBlurWork &work = shared.work;
  const ConvolveBoundary boundary = (ConvolveBoundary) work.job.boundary;
  const int shift = 16 - work.source.pixel.depth;

  for (int j = threadIdx.x >> 6; j < height; j += CONVOLVE_BATCH_THREADS >> 6) {
    const int row = convolve_index (boundary, y + j, work.source.height);

    for (int i = threadIdx.x & 63; i < width; i += 64)
      shared.c[j][i] = convolve_sample_at<T> (work, convolve_index (boundary, x + i, work.source.width), row, sample)
          << shift;
  }
}

/* The part of c that the tile at pixel x, y of b needs, of width x height pixels, for all threads of the block. */
static __device__ __forceinline__ void
convolve_find_c (int x, int y, int sample, int width, int height, ConvolveBlurShared &shared)
{
  const ConvolveBlurWork &work = shared.work;
  const ConvolveRect &cell = work.cell;

  x -= work.job.result.x;
  y -= work.job.result.y;
  if (work.job.bits > 0)
    convolve_load_c (work.job.c + ((int64_t) sample * cell.height + y) * cell.width + x, cell.width, width, height,
        shared);
  else if (work.source.pixel.type == CONVOLVE_SAMPLE_U8)
    convolve_make_c<uint8_t> (cell.x + x, cell.y + y, sample, width, height, shared);
  else
    convolve_make_c<uint16_t> (cell.x + x, cell.y + y, sample, width, height, shared);
  __syncthreads ();
}

/* The sum of `count` values, `step` apart, times weights. */
static __device__ __forceinline__ unsigned
convolve_weigh (const uint16_t *weights, const uint16_t *values, int step, int count)
{
  unsigned sum = 0;

#pragma unroll 8
  for (int n = 0; n < count; n++)
    sum += weights[n] * values[n * step];
  return sum;
}

/* b of a tile of width x height pixels, from c. A tile has up to 2^BITS pixels side by side. */
template <int BITS>
static __device__ __forceinline__ void
convolve_blur_tile (int width, int height, ConvolveBlurShared &shared)
{
  const ConvolveBlurWeights &weights = shared.weights;
  const int row_count = weights.row_count, column_count = weights.column_count;
  const int depth = shared.work.source.pixel.depth;
  const bool fine = shared.work.job.fine;

  convolve_for_all<BITS> (width, height + column_count - 1, [&] (int i, int j) {
    shared.r[j][i] = convolve_blur_round (convolve_weigh (weights.row, &shared.c[j][i], 1, row_count));
  });
  convolve_for_all<BITS> (width, height, [&] (int i, int j) {
    const unsigned sum = convolve_weigh (weights.column, &shared.r[j][i], CONVOLVE_BLUR_TILE, column_count);

    shared.b[j][i] = convolve_blur_coarse (convolve_blur_round (sum), depth, fine);
  });
}

/* The samples whose first pixels of b are in the tile but for the last ones, which the next tile begins with. */
template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_blur_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  __shared__ ConvolveBlurShared shared;
  const ConvolveBlurJob *jobs = tables.template table<ConvolveBlurJob> (3);
  const ConvolveBlurJob &job = shared.work.job;
  const ConvolvePixel &pixel = shared.work.source.pixel;

  convolve_wait ();
  const int number = convolve_find_job (tables.n_jobs, [&] (int n) { return jobs[n].effect.first_tile; });

  convolve_share (shared.weights, tables.template table<ConvolveBlurWeights> (2)[jobs[number].weights]);
  convolve_share_work (shared.work, tables, number);
  const ConvolveEffect &effect = job.effect;
  const ConvolveRect &region = effect.region;
  const int bits = job.bits, last = bits > 0 ? 1 : 0, depth = pixel.depth;
  const int2 tile = convolve_tile_of_job (effect.first_tile, effect.columns * pixel.samples);
  const int sample = tile.x % pixel.samples;
  const int x = job.result.x + tile.x / pixel.samples * (job.tile - last);
  const int y = job.result.y + tile.y * (job.tile - last);

  if (!(pixel.select >> sample & 1))
    return;
  const int width = min (job.tile, job.result.x + job.result.width - x);
  const int height = min (job.tile, job.result.y + job.result.height - y);

  convolve_find_c (x, y, sample, width + shared.weights.row_count - 1, height + shared.weights.column_count - 1,
      shared);
  if (job.tile > 16)
    convolve_blur_tile<5> (width, height, shared);
  else if (job.tile > 8)
    convolve_blur_tile<4> (width, height, shared);
  else
    convolve_blur_tile<3> (width, height, shared);
  const int factor = 1 << bits, half = factor / 2;
  const int left = max (x * factor + half, region.x), top = max (y * factor + half, region.y);
  const int right = min ((x + width - last) * factor + half, region.x + region.width);
  const int bottom = min ((y + height - last) * factor + half, region.y + region.height);
  const int offset = sample * convolve_bytes_of_sample (pixel);
  const ConvolveRect *boxes = tables.template table<ConvolveRect> (1);
  const ConvolveOutput output (effect, tables.planes (), pixel);

  if (left >= right || top >= bottom)
    return;
  convolve_for_all<5> (right - left, bottom - top, [&] (int i, int j) {
    const int weight = convolve_effect_weight (effect, boxes, left + i, top + j);

    if (weight == 0)
      return;
    ConvolveNeighbours across = convolve_find_neighbours (left + i, bits);
    ConvolveNeighbours down = convolve_find_neighbours (top + j, bits);
    const uint16_t *at = &shared.b[down.first - y][across.first - x];
    const uint16_t *below = at + last * CONVOLVE_BLUR_TILE;
    unsigned above_between = convolve_blur_between (at[0], below[0], down.weight, bits);
    unsigned next_between = convolve_blur_between (at[last], below[last], down.weight, bits);

    convolve_put_sample (pixel, output.at (left + i, top + j) + offset,
        convolve_blur_sample (convolve_blur_between (above_between, next_between, across.weight, bits), bits, depth),
        weight);
  });
}

/* --- blocks, colours and drawings --- */

/* The sums of all threads of the block, in every thread. */
static __device__ __forceinline__ void
convolve_add_threads (unsigned long long *sums)
{
  __shared__ unsigned long long shared[CONVOLVE_BATCH_THREADS / 32][CONVOLVE_MAX_SAMPLES];

#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++) {
    for (int step = 16; step > 0; step /= 2)
      sums[k] += __shfl_xor_sync (0xffffffff, sums[k], step);
    if (threadIdx.x % 32 == 0)
      shared[threadIdx.x / 32][k] = sums[k];
  }
  __syncthreads ();
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++) {
    sums[k] = 0;
    for (int i = 0; i < CONVOLVE_BATCH_THREADS / 32; i++)
      sums[k] += shared[i][k];
  }
}

/* The pixels of block `column`, `row` that lie in the picture. */
static __device__ __forceinline__ ConvolveRect
convolve_block_rect (const ConvolvePixelateJob &job, const ConvolveFramePlane &source, int column, int row)
{
  const ConvolveBlocks &blocks = job.blocks;
  int left = convolve_clamp (convolve_block_start (blocks.x, blocks.size, blocks.x_step, column), 0, source.width);
  int right = convolve_clamp (convolve_block_start (blocks.x, blocks.size, blocks.x_step, column + 1), 0, source.width);
  int top = convolve_clamp (convolve_block_start (blocks.y, blocks.size, blocks.y_step, row), 0, source.height);
  int bottom = convolve_clamp (convolve_block_start (blocks.y, blocks.size, blocks.y_step, row + 1), 0, source.height);
  ConvolveRect rect = { left, top, right - left, bottom - top };

  return rect;
}

/* convolve_add_noise () as a call, because hashing takes many registers, and only blocks with noise need them. */
static __device__ __noinline__ int
convolve_noisy_mean (const ConvolveBlocks &blocks, int column, int row, int k, int mean, int depth)
{
  return convolve_add_noise (&blocks, column, row, k, mean, depth);
}

/* Calls work (x, y) for all pixels of a rectangle, in the threads of a block. */
template <typename Work>
static __device__ __forceinline__ void
convolve_for_rect (const ConvolveRect &rect, Work work)
{
  for (int y = rect.y + threadIdx.x / 32; y < rect.y + rect.height; y += CONVOLVE_BATCH_THREADS / 32)
    for (int x = rect.x + threadIdx.x % 32; x < rect.x + rect.width; x += 32)
      work (x, y);
}

/* The rows of one of so many pieces of a block. */
static __device__ __forceinline__ ConvolveRect
convolve_piece_of (const ConvolveRect &block, int piece, int pieces)
{
  const int top = (int) ((int64_t) block.height * piece / pieces);
  const int bottom = (int) ((int64_t) block.height * (piece + 1) / pieces);
  const ConvolveRect rect = { block.x, block.y + top, block.width, bottom - top };

  return rect;
}

/* Adds the samples of a rectangle to the sums of all threads together; each thread has several pixels on their way. */
static __device__ __forceinline__ void
convolve_sum_rect (const ConvolveFramePlane &source, const ConvolveRect &rect, unsigned long long *sums)
{
  constexpr unsigned turns = 4;
  const ConvolvePixel &pixel = source.pixel;
  const unsigned width = (unsigned) rect.width, count = width * (unsigned) rect.height;
  const int size = convolve_bytes_of_sample (pixel);

  for (unsigned first = threadIdx.x; first < count; first += turns * CONVOLVE_BATCH_THREADS) {
#pragma unroll
    for (unsigned n = 0; n < turns; n++) {
      const unsigned i = first + n * CONVOLVE_BATCH_THREADS;
      const uint8_t *at = convolve_pixel_of (source, rect.x + (int) (i % width), rect.y + (int) (i / width));

#pragma unroll
      for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
        if (i < count && k < pixel.samples)
          sums[k] += size == 1 ? at[k] : convolve_read_sample (&pixel, at + k * size);
    }
  }
}

/* The sums of pieces of blocks. */
template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_sum_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  const ConvolvePixelateJob *jobs = tables.template table<ConvolvePixelateJob> (2);

  convolve_wait ();
  const ConvolvePixelateJob &job =
      jobs[convolve_find_job (tables.n_jobs, [&] (int n) { return jobs[n].first_sum_tile; })];
  const ConvolveFramePlane &source = tables.planes ()[job.effect.source];
  const int number = (int) blockIdx.x - job.first_sum_tile, block = number / job.pieces;
  const ConvolveRect rect =
      convolve_block_rect (job, source, job.first_column + block % job.columns, job.first_row + block / job.columns);
  unsigned long long sums[CONVOLVE_MAX_SAMPLES] = { 0, 0, 0, 0 };

  convolve_sum_rect (source, convolve_piece_of (rect, number % job.pieces, job.pieces), sums);
  convolve_add_threads (sums);
  if (threadIdx.x == 0)
#pragma unroll
    for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
      job.sums[(int64_t) number * CONVOLVE_MAX_SAMPLES + k] = sums[k];
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_pixelate_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  const ConvolvePixelateJob *jobs = tables.template table<ConvolvePixelateJob> (2);

  convolve_wait ();
  const ConvolvePixelateJob &job =
      jobs[convolve_find_job (tables.n_jobs, [&] (int n) { return jobs[n].effect.first_tile; })];
  const ConvolveFramePlane &source = tables.planes ()[job.effect.source];
  const ConvolvePixel &pixel = source.pixel;
  const int number = (int) blockIdx.x - job.effect.first_tile, block = number / job.pieces;
  const int column = job.first_column + block % job.columns, row = job.first_row + block / job.columns;
  const ConvolveRect rect = convolve_block_rect (job, source, column, row);
  unsigned long long sums[CONVOLVE_MAX_SAMPLES] = { 0, 0, 0, 0 };
  int means[CONVOLVE_MAX_SAMPLES];

  /* A block between two samples of chroma has no pixel. All threads of the block leave together. */
  if (rect.width == 0 || rect.height == 0)
    return;
  if (job.pieces == 1)
    convolve_sum_rect (source, rect, sums);
  else if ((int) threadIdx.x < job.pieces)
#pragma unroll
    for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
      sums[k] = job.sums[((int64_t) block * job.pieces + threadIdx.x) * CONVOLVE_MAX_SAMPLES + k];
  convolve_add_threads (sums);
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    means[k] = convolve_mean (sums[k], (uint64_t) rect.width * rect.height);
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (job.blocks.noise > 0 && k < pixel.samples)
      means[k] = convolve_noisy_mean (job.blocks, column, row, k, means[k], pixel.depth);
  const ConvolveRect *boxes = tables.template table<ConvolveRect> (1);
  const ConvolveOutput output (job.effect, tables.planes (), pixel);

  convolve_for_rect (convolve_piece_of (rect, number % job.pieces, job.pieces), [&] (int x, int y) {
    if (convolve_is_in (job.effect.region, x, y))
      convolve_put_pixel (job.effect, output, pixel, boxes, x, y, means);
  });
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_fill_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  const ConvolveFillJob *jobs = tables.template table<ConvolveFillJob> (2);

  convolve_wait ();
  const ConvolveFillJob &job =
      jobs[convolve_find_job (tables.n_jobs, [&] (int n) { return jobs[n].effect.first_tile; })];
  const ConvolveEffect &effect = job.effect;
  const int2 tile = convolve_tile_of_job (effect.first_tile, effect.columns);
  const int x = effect.region.x + tile.x * CONVOLVE_TILE_WIDTH + threadIdx.x % CONVOLVE_TILE_WIDTH;
  const int y = effect.region.y + tile.y * CONVOLVE_TILE_HEIGHT + threadIdx.x / CONVOLVE_TILE_WIDTH;

  const ConvolvePixel &pixel = tables.planes ()[effect.source].pixel;
  const ConvolveOutput output (effect, tables.planes (), pixel);

  if (convolve_is_in (effect.region, x, y))
    convolve_put_pixel (effect, output, pixel, tables.template table<ConvolveRect> (1), x, y, job.values);
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_draw_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  const ConvolveDrawJob *jobs = tables.template table<ConvolveDrawJob> (2);

  convolve_wait ();
  const ConvolveDrawJob &job =
      jobs[convolve_find_job (tables.n_jobs, [&] (int n) { return jobs[n].effect.first_tile; })];
  const ConvolveEffect &effect = job.effect;
  const ConvolveDrawing &drawing = job.drawing;
  const ConvolvePixel &pixel = tables.planes ()[effect.source].pixel;
  const ConvolveOutput output (effect, tables.planes (), pixel);
  const int2 tile = convolve_tile_of_job (effect.first_tile, effect.columns);
  const int x = effect.region.x + tile.x * CONVOLVE_TILE_WIDTH + threadIdx.x % CONVOLVE_TILE_WIDTH;
  const int y = effect.region.y + tile.y * CONVOLVE_TILE_HEIGHT + threadIdx.x / CONVOLVE_TILE_WIDTH;
  int values[CONVOLVE_MAX_SAMPLES];

  if (!convolve_is_in (effect.region, x, y))
    return;
  const ConvolveNeighbours across = convolve_find_drawn (drawing.x + x * drawing.across, drawing.width);
  const ConvolveNeighbours down = convolve_find_drawn (drawing.y + y * drawing.down, drawing.height);

#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    values[k] = k < pixel.samples ? convolve_drawn_value (&drawing, pixel.samples, across, down, k) : 0;
  convolve_put_pixel (effect, output, pixel, tables.template table<ConvolveRect> (1), x, y, values);
}

/* --- blending --- */

struct ConvolveBlendTables
{
  const ConvolveFramePlane *planes;
  const ConvolveBlendJob *jobs;
  const ConvolveRect *boxes;
  const ConvolveCover *covers;

  /* Of convolve_blend_shapes alone. */
  const ConvolveOutline *outlines;
  const ConvolvePoint *corners;
  const ConvolveMatte *mattes;
};

/* The weight of a pixel in the boxes of one tile, of which some have polygons, and in mattes. */
static __device__ __forceinline__ int
convolve_inside_weight (const ConvolveBlendTables &tables, const ConvolveBlendJob &job, const ConvolveArea &area,
    const ConvolveCover &cover, int x, int y)
{
  int most = 0;

  for (int i = cover.first_box; i < cover.first_box + cover.n_boxes && most < CONVOLVE_WHOLE_WEIGHT; i++) {
    const ConvolveOutline *outline = job.outlined ? &tables.outlines[i + job.to_outlines] : nullptr;

    most = max (most,
        outline && outline->count > 0
            ? convolve_corners_weight (&area, tables.boxes[i], tables.corners + outline->first, *outline, x, y)
            : convolve_box_weight (&area, tables.boxes[i], x, y));
  }
  for (int i = job.first_matte; i < job.first_matte + job.n_mattes; i++)
    most = max (most, convolve_matte_weight (&area, &tables.mattes[i], x, y));
  return most;
}

/* Whether two boxes of a tile reach a pixel, or something that is not a box does. */
static __device__ __forceinline__ bool
convolve_is_shared (const ConvolveBlendTables &tables, const ConvolveBlendJob &job, const ConvolveCover &cover, int x,
    int y)
{
  int count = job.outlined || job.n_mattes > 0 ? 2 : 0;

  for (int i = cover.first_box; i < cover.first_box + cover.n_boxes && count < 2; i++)
    count += convolve_box_reaches (&job.area, tables.boxes[i], x, y);
  return count > 1;
}

/*
 * convolve_area_weight () with the boxes of one tile. Outside, the luma pixels of a pixel that several boxes share are looked
 * at one by one.
 */
static __device__ __forceinline__ int
convolve_shapes_weight (const ConvolveBlendTables &tables, const ConvolveBlendJob &job, const ConvolveCover &cover,
    int x, int y)
{
  const bool outside = job.area.outside;

  if (outside && !convolve_is_shared (tables, job, cover, x, y))
    return convolve_boxes_weight (job.area, tables.boxes + cover.first_box, cover.n_boxes, x, y);
  const int across = outside ? job.area.x_step : 1, down = outside ? job.area.y_step : 1;
  const ConvolveArea area = outside ? convolve_luma_area (&job.area) : job.area;
  int least = CONVOLVE_WHOLE_WEIGHT;

#pragma unroll 1
  for (int i = 0; i < across * down; i++)
    least =
        min (least, convolve_inside_weight (tables, job, area, cover, x * across + i % across, y * down + i / across));
  return convolve_lessen_weight (outside ? CONVOLVE_WHOLE_WEIGHT - least : least, job.area.transparency);
}

/* Blends all effects of a tile into one pixel, and writes the pixel where any has a weight. */
template <bool SHAPES>
static __device__ __forceinline__ void
convolve_blend_pixel (const ConvolveBlendTables &tables, const ConvolveBlendTile &tile, int x, int y)
{
  const ConvolveFramePlane &target = tables.planes[tile.target];
  const ConvolvePixel &pixel = target.pixel;
  int size = convolve_bytes_of_sample (pixel), values[CONVOLVE_MAX_SAMPLES] = { 0, 0, 0, 0 };
  uint8_t *to = convolve_pixel_of (target, x, y);
  bool touched = false;

  for (int i = tile.first_cover, next; i >= 0; i = next) {
    const ConvolveCover &cover = tables.covers[i];
    const ConvolveBlendJob &job = tables.jobs[cover.job];

    next = cover.next;

    if (!convolve_is_in (job.region, x, y))
      continue;
    int weight = SHAPES && job.has_shapes
        ? convolve_shapes_weight (tables, job, cover, x, y)
        : convolve_boxes_weight (job.area, tables.boxes + cover.first_box, cover.n_boxes, x, y);

    if (weight == 0)
      continue;
    const uint8_t *from = job.source + y * job.source_stride + (int64_t) x * pixel.stride;

#pragma unroll
    for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
      if (k < pixel.samples && pixel.select >> k & 1) {
        int effect = convolve_read_sample (&pixel, from + k * size);

        if (weight < CONVOLVE_WHOLE_WEIGHT && !touched)
          values[k] = convolve_read_sample (&pixel, to + k * size);
        values[k] = weight < CONVOLVE_WHOLE_WEIGHT ? convolve_blend_values (effect, values[k], weight) : effect;
      }
    touched = true;
  }
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (touched && k < pixel.samples && pixel.select >> k & 1)
      convolve_write_sample (&pixel, to + k * size, values[k]);
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BLEND_THREADS, 2)
    convolve_blend_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  constexpr int rows = CONVOLVE_BLEND_THREADS / CONVOLVE_BLEND_TILE;

  convolve_wait ();
  const ConvolveBlendTile tile = tables.template table<ConvolveBlendTile> (4)[blockIdx.x];
  const ConvolveBlendTables others = { tables.planes (), tables.template table<ConvolveBlendJob> (1),
    tables.template table<ConvolveRect> (2), tables.template table<ConvolveCover> (3), nullptr, nullptr, nullptr };

#pragma unroll 1
  for (int y = threadIdx.x / CONVOLVE_BLEND_TILE; y < CONVOLVE_BLEND_TILE; y += rows)
    convolve_blend_pixel<false> (others, tile, tile.x + threadIdx.x % CONVOLVE_BLEND_TILE, tile.y + y);
}

/*
 * convolve_blend_tiles where blends have shapes, by find_shapes () of batch.c: a kernel of its own, because shapes take
 * more registers.
 */
template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BLEND_THREADS)
    convolve_blend_shapes (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  constexpr int rows = CONVOLVE_BLEND_THREADS / CONVOLVE_BLEND_TILE;

  convolve_wait ();
  const ConvolveBlendTile tile = tables.template table<ConvolveBlendTile> (7)[blockIdx.x];
  const ConvolveBlendTables others = { tables.planes (), tables.template table<ConvolveBlendJob> (1),
    tables.template table<ConvolveRect> (2), tables.template table<ConvolveCover> (3),
    tables.template table<ConvolveOutline> (4), tables.template table<ConvolvePoint> (5),
    tables.template table<ConvolveMatte> (6) };

#pragma unroll 1
  for (int y = threadIdx.x / CONVOLVE_BLEND_TILE; y < CONVOLVE_BLEND_TILE; y += rows)
    convolve_blend_pixel<true> (others, tile, tile.x + threadIdx.x % CONVOLVE_BLEND_TILE, tile.y + y);
}

#endif
