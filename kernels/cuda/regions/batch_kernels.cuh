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

/*
 * The tables of a kernel, in the order in which the kernel names them: in the launch's own parameters where they fit
 * SPACE bytes, so that nothing has to be sent before, and otherwise in device memory.
 */
template <int SPACE>
struct ConvolveTableParameters
{
  const uint8_t *sent;
  unsigned offsets[CONVOLVE_MOST_TABLES]; /* bytes */
  alignas (16) uint8_t bytes[SPACE];

  template <typename Element>
  __device__ __forceinline__ const Element *
  table (int n) const
  {
    return (const Element *) ((SPACE > 1 ? bytes : sent) + offsets[n]);
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

template <typename Job>
static __device__ __forceinline__ const uint8_t *
convolve_source_of (const Job &job, int x, int y)
{
  return job.source + y * job.source_stride + (int64_t) x * job.pixel.stride;
}

template <typename Job>
static __device__ __forceinline__ uint8_t *
convolve_destination_of (const Job &job, int x, int y)
{
  return job.destination + y * job.destination_stride + (int64_t) x * job.pixel.stride;
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
  const ConvolveTile tile = tables.template table<ConvolveTile> (1)[blockIdx.x];
  const ConvolveGatherJob &job = tables.template table<ConvolveGatherJob> (0)[tile.job];
  int2 at = convolve_pixel_of_thread (tile);

  if (at.x >= job.place.width || at.y >= job.place.height)
    return;
  int x = convolve_boundary_index (job.boundary, job.place.x + at.x, job.width);
  int y = convolve_boundary_index (job.boundary, job.place.y + at.y, job.height);
  int size = convolve_bytes_of_sample (job.pixel);
  const uint8_t *from = convolve_source_of (job, x, y);
  uint8_t *to = job.cell + at.y * job.cell_stride + (int64_t) at.x * job.pixel.stride;

#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (k < job.pixel.samples)
      convolve_write_sample (&job.pixel, to + k * size,
          x < 0 || y < 0 ? job.outside[k] : convolve_read_sample (&job.pixel, from + k * size));
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_take_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  convolve_wait ();
  const ConvolveTile tile = tables.template table<ConvolveTile> (1)[blockIdx.x];
  const ConvolveTakeJob &job = tables.template table<ConvolveTakeJob> (0)[tile.job];
  int2 at = convolve_pixel_of_thread (tile);

  if (!convolve_is_in (job.region, at.x, at.y))
    return;
  const uint8_t *from = convolve_source_of (job, at.x, at.y);
  uint8_t *to = convolve_destination_of (job, at.x, at.y);
  int size = convolve_bytes_of_sample (job.pixel);

#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (k < job.pixel.samples && job.pixel.select >> k & 1)
      convolve_write_sample (&job.pixel, to + k * size, convolve_read_sample (&job.pixel, from + k * size));
}

/* --- blurs --- */

/* Copies a job to the memory that a block shares; all threads of the block call it. */
template <typename Job>
static __device__ __forceinline__ void
convolve_share (Job &shared, const Job &job)
{
  static_assert (sizeof (Job) % 4 == 0, "a job is whole words");

  for (int n = threadIdx.x; n < (int) sizeof (Job) / 4; n += blockDim.x)
    ((unsigned *) &shared)[n] = ((const unsigned *) &job)[n];
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
convolve_sample_at (const ConvolveBlurJob &job, int x, int y, int k)
{
  if (x < 0 || y < 0)
    return job.outside[k];
  const uint8_t *at = convolve_source_of (job, x, y) + k * sizeof (T);

  return sizeof (T) == 1 ? *at : convolve_read_sample (&job.pixel, at);
}

/* The sum of sample k of row v of the picture, `count` pixels from column left on. */
template <typename T>
static __device__ __forceinline__ unsigned
convolve_sum_line (const ConvolveBlurJob &job, int left, int v, int count, int k)
{
  const int row = convolve_index (job.boundary, v, job.height);
  unsigned sum = 0;

#pragma unroll 4
  for (int u = left; u < left + count; u++)
    sum += convolve_sample_at<T> (job, convolve_index (job.boundary, u, job.width), row, k);
  return sum;
}

/*
 * c of pixel i, j of the cell, by the lanes that work on a pixel, each of which takes every lanes-th row. Beyond the
 * cell nothing is read and written, but all threads of a warp take part in the sums.
 */
template <typename T>
static __device__ __forceinline__ void
convolve_shrink_pixel (const ConvolveBlurJob &job, int i, int j, int lane, int lanes)
{
  const int bits = job.bits, factor = 1 << bits;
  const int left = (job.cell.x + i) * factor, top = (job.cell.y + j) * factor;
  const bool inside = i < job.cell.width && j < job.cell.height;

  for (int k = 0; k < job.pixel.samples; k++) {
    unsigned sum = 0;

    for (int v = lane; v < factor && inside; v += lanes)
      sum += convolve_sum_line<T> (job, left, top + v, factor, k);
    for (int step = lanes / 2; step > 0; step /= 2)
      sum += __shfl_xor_sync (0xffffffff, sum, step);
    if (lane == 0 && inside)
      job.c[((int64_t) k * job.cell.height + j) * job.cell.width + i] = convolve_blur_mean (sum, bits, job.pixel.depth);
  }
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_shrink_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  __shared__ ConvolveBlurJob job;

  convolve_wait ();
  const ConvolveTile tile = tables.template table<ConvolveTile> (1)[blockIdx.x];

  convolve_share (job, tables.template table<ConvolveBlurJob> (0)[tile.job]);
  const int lanes = convolve_shrink_lanes (job.bits), width = convolve_shrink_width (job.bits);
  const int pixel = threadIdx.x / lanes, lane = threadIdx.x % lanes;

  if (job.pixel.type == CONVOLVE_SAMPLE_U8)
    convolve_shrink_pixel<uint8_t> (job, tile.x + pixel % width, tile.y + pixel / width, lane, lanes);
  else
    convolve_shrink_pixel<uint16_t> (job, tile.x + pixel % width, tile.y + pixel / width, lane, lanes);
}

#define CONVOLVE_BLUR_SIDE (CONVOLVE_BLUR_TILE + CONVOLVE_MAX_BLUR - 1)

/* The shared memory of a block of threads that blurs one tile of one sample. */
struct ConvolveBlurShared
{
  uint16_t c[CONVOLVE_BLUR_SIDE][CONVOLVE_BLUR_SIDE], r[CONVOLVE_BLUR_SIDE][CONVOLVE_BLUR_TILE];
  uint16_t b[CONVOLVE_BLUR_TILE][CONVOLVE_BLUR_TILE];
  ConvolveBlurJob job;
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
  const ConvolveBlurJob &job = shared.job;
  const int shift = 16 - job.pixel.depth;

  for (int j = threadIdx.x >> 6; j < height; j += CONVOLVE_BATCH_THREADS >> 6) {
    const int row = convolve_index (job.boundary, y + j, job.height);

    for (int i = threadIdx.x & 63; i < width; i += 64)
      shared.c[j][i] = convolve_sample_at<T> (job, convolve_index (job.boundary, x + i, job.width), row, sample)
          << shift;
  }
}

/* The part of c that a tile needs, of width x height pixels, for all threads of the block. */
static __device__ __forceinline__ void
convolve_find_c (const ConvolveBlurTile &tile, int width, int height, ConvolveBlurShared &shared)
{
  const ConvolveBlurJob &job = shared.job;
  const int x = tile.x - job.result.x, y = tile.y - job.result.y;

  if (job.bits > 0)
    convolve_load_c (job.c + ((int64_t) tile.sample * job.cell.height + y) * job.cell.width + x, job.cell.width, width,
        height, shared);
  else if (job.pixel.type == CONVOLVE_SAMPLE_U8)
    convolve_make_c<uint8_t> (job.cell.x + x, job.cell.y + y, tile.sample, width, height, shared);
  else
    convolve_make_c<uint16_t> (job.cell.x + x, job.cell.y + y, tile.sample, width, height, shared);
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
  const ConvolveBlurJob &job = shared.job;
  const int row_count = job.row_count, column_count = job.column_count, depth = job.pixel.depth;

  convolve_for_all<BITS> (width, height + column_count - 1, [&] (int i, int j) {
    shared.r[j][i] = convolve_blur_round (convolve_weigh (job.row, &shared.c[j][i], 1, row_count));
  });
  convolve_for_all<BITS> (width, height, [&] (int i, int j) {
    const unsigned sum = convolve_weigh (job.column, &shared.r[j][i], CONVOLVE_BLUR_TILE, column_count);

    shared.b[j][i] = convolve_blur_coarse (convolve_blur_round (sum), depth);
  });
}

/* The samples whose first pixels of b are in the tile but for the last ones, which the next tile begins with. */
template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_blur_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  __shared__ ConvolveBlurShared shared;
  const ConvolveBlurJob &job = shared.job;

  convolve_wait ();
  const ConvolveBlurTile tile = tables.template table<ConvolveBlurTile> (1)[blockIdx.x];

  convolve_share (shared.job, tables.template table<ConvolveBlurJob> (0)[tile.job]);
  if (!(job.pixel.select >> tile.sample & 1))
    return;
  const int bits = job.bits, last = bits > 0 ? 1 : 0, depth = job.pixel.depth;
  const int width = min (job.tile, job.result.x + job.result.width - tile.x);
  const int height = min (job.tile, job.result.y + job.result.height - tile.y);

  convolve_find_c (tile, width + job.row_count - 1, height + job.column_count - 1, shared);
  if (job.tile > 16)
    convolve_blur_tile<5> (width, height, shared);
  else if (job.tile > 8)
    convolve_blur_tile<4> (width, height, shared);
  else
    convolve_blur_tile<3> (width, height, shared);
  const int factor = 1 << bits, half = factor / 2;
  const int left = max (tile.x * factor + half, job.region.x), top = max (tile.y * factor + half, job.region.y);
  const int right = min ((tile.x + width - last) * factor + half, job.region.x + job.region.width);
  const int bottom = min ((tile.y + height - last) * factor + half, job.region.y + job.region.height);
  const int offset = tile.sample * convolve_bytes_of_sample (job.pixel);

  if (left >= right || top >= bottom)
    return;
  convolve_for_all<5> (right - left, bottom - top, [&] (int i, int j) {
    ConvolveNeighbours across = convolve_find_neighbours (left + i, bits);
    ConvolveNeighbours down = convolve_find_neighbours (top + j, bits);
    const uint16_t *at = &shared.b[down.first - tile.y][across.first - tile.x];
    const uint16_t *below = at + last * CONVOLVE_BLUR_TILE;
    unsigned above_between = convolve_blur_between (at[0], below[0], down.weight, bits);
    unsigned next_between = convolve_blur_between (at[last], below[last], down.weight, bits);

    convolve_write_sample (&job.pixel, convolve_destination_of (job, left + i, top + j) + offset,
        convolve_blur_sample (convolve_blur_between (above_between, next_between, across.weight, bits), bits, depth));
  });
}

/* --- blocks and colours --- */

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
convolve_block_rect (const ConvolvePixelateJob &job, int column, int row)
{
  const ConvolveBlocks &blocks = job.blocks;
  int left = convolve_clamp (convolve_block_start (blocks.x, blocks.size, blocks.x_step, column), 0, job.width);
  int right = convolve_clamp (convolve_block_start (blocks.x, blocks.size, blocks.x_step, column + 1), 0, job.width);
  int top = convolve_clamp (convolve_block_start (blocks.y, blocks.size, blocks.y_step, row), 0, job.height);
  int bottom = convolve_clamp (convolve_block_start (blocks.y, blocks.size, blocks.y_step, row + 1), 0, job.height);
  ConvolveRect rect = { left, top, right - left, bottom - top };

  return rect;
}

/* convolve_add_noise () as a call, because hashing takes many registers, and only blocks with noise need them. */
static __device__ __noinline__ int
convolve_noisy_mean (const ConvolveBlocks &blocks, int column, int row, int k, int mean, int depth)
{
  return convolve_add_noise (&blocks, column, row, k, mean, depth);
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_pixelate_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  convolve_wait ();
  const ConvolveTile tile = tables.template table<ConvolveTile> (1)[blockIdx.x];
  const ConvolvePixelateJob &job = tables.template table<ConvolvePixelateJob> (0)[tile.job];
  ConvolveRect rect = convolve_block_rect (job, tile.x, tile.y);
  unsigned long long sums[CONVOLVE_MAX_SAMPLES] = { 0, 0, 0, 0 };
  int size = convolve_bytes_of_sample (job.pixel), means[CONVOLVE_MAX_SAMPLES];

  /* A block between two samples of chroma has no pixel. All threads of the block leave together. */
  if (rect.width == 0 || rect.height == 0)
    return;
  for (int y = rect.y + threadIdx.x / 32; y < rect.y + rect.height; y += CONVOLVE_BATCH_THREADS / 32)
    for (int x = rect.x + threadIdx.x % 32; x < rect.x + rect.width; x += 32) {
      const uint8_t *at = convolve_source_of (job, x, y);

#pragma unroll
      for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
        if (k < job.pixel.samples)
          sums[k] += convolve_read_sample (&job.pixel, at + k * size);
    }
  convolve_add_threads (sums);
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    means[k] = convolve_mean (sums[k], (uint64_t) rect.width * rect.height);
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (job.blocks.noise > 0 && k < job.pixel.samples)
      means[k] = convolve_noisy_mean (job.blocks, tile.x, tile.y, k, means[k], job.pixel.depth);
  for (int y = rect.y + threadIdx.x / 32; y < rect.y + rect.height; y += CONVOLVE_BATCH_THREADS / 32)
    for (int x = rect.x + threadIdx.x % 32; x < rect.x + rect.width; x += 32)
      if (convolve_is_in (job.region, x, y)) {
#pragma unroll
        for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
          if (k < job.pixel.samples && job.pixel.select >> k & 1)
            convolve_write_sample (&job.pixel, convolve_destination_of (job, x, y) + k * size, means[k]);
      }
}

template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_fill_tiles (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  convolve_wait ();
  const ConvolveTile tile = tables.template table<ConvolveTile> (1)[blockIdx.x];
  const ConvolveFillJob &job = tables.template table<ConvolveFillJob> (0)[tile.job];
  int2 at = convolve_pixel_of_thread (tile);
  int size = convolve_bytes_of_sample (job.pixel);

  if (!convolve_is_in (job.region, at.x, at.y))
    return;
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (k < job.pixel.samples && job.pixel.select >> k & 1)
      convolve_write_sample (&job.pixel, convolve_destination_of (job, at.x, at.y) + k * size, job.values[k]);
}

/* --- blending --- */

struct ConvolveBlendTables
{
  const ConvolveTarget *targets;
  const ConvolveBlendJob *jobs;
  const ConvolveRect *boxes;
  const ConvolveCover *covers;

  /* Of convolve_blend_shapes alone. */
  const ConvolveOutline *outlines;
  const ConvolvePoint *corners;
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

/* The largest weight of boxes of which some have polygons. */
static __device__ __forceinline__ int
convolve_shapes_weight (const ConvolveBlendTables &tables, const ConvolveBlendJob &job, const ConvolveCover &cover,
    int x, int y)
{
  int most = 0;

  for (int i = cover.first_box; i < cover.first_box + cover.n_boxes && most < CONVOLVE_WHOLE_WEIGHT; i++) {
    const ConvolveOutline &outline = tables.outlines[i + job.to_outlines];

    most = max (most,
        outline.count > 0
            ? convolve_corners_weight (&job.area, tables.boxes[i], tables.corners + outline.first, outline, x, y)
            : convolve_box_weight (&job.area, tables.boxes[i], x, y));
  }
  return job.area.outside ? CONVOLVE_WHOLE_WEIGHT - most : most;
}

/* convolve_area_weight () with the boxes of one tile, none of which has a polygon. */
static __device__ __forceinline__ int
convolve_cover_weight (const ConvolveBlendJob &job, const ConvolveRect *boxes, int n_boxes, int x, int y)
{
  const bool hard = job.area.shape == CONVOLVE_SHAPE_RECTANGLE && job.area.feather == 0;
  int most = 0;

  for (int i = 0; i < n_boxes && most < CONVOLVE_WHOLE_WEIGHT; i++)
    most = max (most,
        hard ? (convolve_box_has (job.area, boxes[i], x, y) ? CONVOLVE_WHOLE_WEIGHT : 0)
             : convolve_soft_weight (job.area, boxes[i], x, y));
  return job.area.outside ? CONVOLVE_WHOLE_WEIGHT - most : most;
}

/* Blends all effects of a tile into one pixel, and writes the pixel where any has a weight. */
template <bool SHAPES>
static __device__ __forceinline__ void
convolve_blend_pixel (const ConvolveBlendTables &tables, const ConvolveBlendTile &tile, int x, int y)
{
  const ConvolveTarget &target = tables.targets[tile.target];
  const ConvolvePixel &pixel = target.pixel;
  int size = convolve_bytes_of_sample (pixel), values[CONVOLVE_MAX_SAMPLES] = { 0, 0, 0, 0 };
  uint8_t *to = target.destination + y * target.destination_stride + (int64_t) x * pixel.stride;
  bool touched = false;

  for (int i = tile.first_cover, next; i >= 0; i = next) {
    const ConvolveCover &cover = tables.covers[i];
    const ConvolveBlendJob &job = tables.jobs[cover.job];

    next = cover.next;

    if (!convolve_is_in (job.region, x, y))
      continue;
    int weight = SHAPES && job.outlined
        ? convolve_shapes_weight (tables, job, cover, x, y)
        : convolve_cover_weight (job, tables.boxes + cover.first_box, cover.n_boxes, x, y);

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
  const ConvolveBlendTables others = { tables.template table<ConvolveTarget> (0),
    tables.template table<ConvolveBlendJob> (1), tables.template table<ConvolveRect> (2),
    tables.template table<ConvolveCover> (3), nullptr, nullptr };

#pragma unroll 1
  for (int y = threadIdx.x / CONVOLVE_BLEND_TILE; y < CONVOLVE_BLEND_TILE; y += rows)
    convolve_blend_pixel<false> (others, tile, tile.x + threadIdx.x % CONVOLVE_BLEND_TILE, tile.y + y);
}

/* convolve_blend_tiles where some boxes have polygons: a kernel of its own, because polygons take more registers. */
template <int SPACE>
static __global__ void __launch_bounds__ (CONVOLVE_BLEND_THREADS)
    convolve_blend_shapes (const __grid_constant__ ConvolveTableParameters<SPACE> tables)
{
  constexpr int rows = CONVOLVE_BLEND_THREADS / CONVOLVE_BLEND_TILE;

  convolve_wait ();
  const ConvolveBlendTile tile = tables.template table<ConvolveBlendTile> (6)[blockIdx.x];
  const ConvolveBlendTables others = { tables.template table<ConvolveTarget> (0),
    tables.template table<ConvolveBlendJob> (1), tables.template table<ConvolveRect> (2),
    tables.template table<ConvolveCover> (3), tables.template table<ConvolveOutline> (4),
    tables.template table<ConvolvePoint> (5) };

#pragma unroll 1
  for (int y = threadIdx.x / CONVOLVE_BLEND_TILE; y < CONVOLVE_BLEND_TILE; y += rows)
    convolve_blend_pixel<true> (others, tile, tile.x + threadIdx.x % CONVOLVE_BLEND_TILE, tile.y + y);
}

#endif
