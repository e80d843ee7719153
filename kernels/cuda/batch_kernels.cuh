/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of a batch. A block of CONVOLVE_BATCH_THREADS threads takes one tile of the kernel's table. Every formula is
 * that of the host, from common/area.h.
 */
#ifndef CONVOLVE_CUDA_BATCH_KERNELS_CUH
#define CONVOLVE_CUDA_BATCH_KERNELS_CUH

#include "common/area.h"
#include "common/sample.h"
#include "cuda/batch_tables.h"
#include "cuda/image.cuh"

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
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_gather_tiles (const ConvolveGatherJob *jobs, const ConvolveTile *tiles)
{
  convolve_wait ();
  const ConvolveTile tile = tiles[blockIdx.x];
  const ConvolveGatherJob &job = jobs[tile.job];
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

static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_take_tiles (const ConvolveTakeJob *jobs, const ConvolveTile *tiles)
{
  convolve_wait ();
  const ConvolveTile tile = tiles[blockIdx.x];
  const ConvolveTakeJob &job = jobs[tile.job];
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

/* Adds the samples of a pixel of type T. */
template <typename T>
static __device__ __forceinline__ void
convolve_add_samples (const ConvolvePixel &pixel, const uint8_t *at, unsigned *sums)
{
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (k < pixel.samples) {
      unsigned word = ((const T *) at)[k];

      if (sizeof (T) > 1)
        word = convolve_read_sample (&pixel, at + k * sizeof (T));
      sums[k] += word;
    }
}

/* convolve_boundary_index (), which is called outside the picture alone. */
static __device__ __forceinline__ int
convolve_index (ConvolveBoundary boundary, int i, int n)
{
  return (unsigned) i < (unsigned) n ? i : convolve_find_index (boundary, i, n);
}

/* Adds the samples of pixel x, y, which are those of the level where x or y is below 0. */
template <typename T>
static __device__ __forceinline__ void
convolve_add_bounded (const ConvolveBlurJob &job, int x, int y, unsigned *sums)
{
  if (x >= 0 && y >= 0) {
    convolve_add_samples<T> (job.pixel, convolve_source_of (job, x, y), sums);
    return;
  }
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    sums[k] += job.outside[k];
}

/*
 * The sums of the samples under pixel x, y of the shrunk picture, of every lanes-th one from `lane` on, row by row. The
 * factor is 2^BITS, or 2^job.bits where BITS is -1.
 */
template <typename T, int BITS>
static __device__ __forceinline__ void
convolve_add_square (const ConvolveBlurJob &job, int x, int y, int lane, int lanes, unsigned *sums)
{
  const int bits = BITS < 0 ? job.bits : BITS, factor = 1 << bits, left = x * factor, top = y * factor;

  if (left >= 0 && top >= 0 && left + factor <= job.width && top + factor <= job.height) {
    const uint8_t *corner = convolve_source_of (job, left, top);
    const int stride = job.pixel.stride;
    const int64_t row = job.source_stride;

#pragma unroll
    for (int n = lane; n < factor * factor; n += lanes)
      convolve_add_samples<T> (job.pixel, corner + (n >> bits) * row + (n & (factor - 1)) * stride, sums);
  } else if (BITS < 0) {
    for (int n = lane; n < factor * factor; n += lanes)
      convolve_add_bounded<T> (job, convolve_index (job.boundary, left + (n & (factor - 1)), job.width),
          convolve_index (job.boundary, top + (n >> bits), job.height), sums);
  } else {
    int columns[BITS < 0 ? 1 : 1 << BITS];

#pragma unroll
    for (int u = 0; u < factor; u++)
      columns[u] = convolve_index (job.boundary, left + u, job.width);
#pragma unroll
    for (int v = 0; v < factor; v++) {
      int line = convolve_index (job.boundary, top + v, job.height);

#pragma unroll
      for (int u = 0; u < factor; u++)
        convolve_add_bounded<T> (job, columns[u], line, sums);
    }
  }
}

/* c of one pixel of the cell. lanes threads of a warp work on it; all of them have the same pixel. */
template <typename T, int BITS>
static __device__ __forceinline__ void
convolve_shrink_pixel (const ConvolveBlurJob &job, int i, int j, int lane, int lanes)
{
  unsigned sums[CONVOLVE_MAX_SAMPLES] = { 0, 0, 0, 0 };

  convolve_add_square<T, BITS> (job, job.cell.x + i, job.cell.y + j, lane, lanes, sums);
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++) {
    for (int step = lanes / 2; step > 0; step /= 2)
      sums[k] += __shfl_xor_sync (0xffffffff, sums[k], step);
    if (lane == 0 && k < job.pixel.samples)
      job.c[((int64_t) k * job.cell.height + j) * job.cell.width + i] =
          convolve_blur_mean (sums[k], job.bits, job.pixel.depth);
  }
}

template <typename T>
static __device__ __forceinline__ void
convolve_shrink_tile (const ConvolveBlurJob &job, const ConvolveTile &tile)
{
  int2 at = convolve_pixel_of_thread (tile);
  int i = tile.x + threadIdx.x / 32;
  bool warps = job.bits >= CONVOLVE_WARP_BITS;

  if (warps && i < job.cell.width)
    convolve_shrink_pixel<T, -1> (job, i, tile.y, threadIdx.x % 32, 32);
  if (warps || at.x >= job.cell.width || at.y >= job.cell.height)
    return;
  if (job.bits == 0)
    convolve_shrink_pixel<T, 0> (job, at.x, at.y, 0, 1);
  else if (job.bits == 1)
    convolve_shrink_pixel<T, 1> (job, at.x, at.y, 0, 1);
  else
    convolve_shrink_pixel<T, 2> (job, at.x, at.y, 0, 1);
}

static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_shrink_tiles (const ConvolveBlurJob *jobs, const ConvolveTile *tiles)
{
  __shared__ ConvolveBlurJob job;

  convolve_wait ();
  const ConvolveTile tile = tiles[blockIdx.x];

  convolve_share (job, jobs[tile.job]);
  if (job.pixel.type == CONVOLVE_SAMPLE_U8)
    convolve_shrink_tile<uint8_t> (job, tile);
  else
    convolve_shrink_tile<uint16_t> (job, tile);
}

static_assert (CONVOLVE_WARP_BITS == 3, "there is a kernel for each smaller factor");

#define CONVOLVE_BLUR_SIDE (CONVOLVE_BLUR_TILE + CONVOLVE_MAX_BLUR - 1)

/* What a block of threads shares for one tile of one sample. */
struct ConvolveBlurShared
{
  uint16_t c[CONVOLVE_BLUR_SIDE][CONVOLVE_BLUR_SIDE], r[CONVOLVE_BLUR_SIDE][CONVOLVE_BLUR_TILE];
  uint16_t b[CONVOLVE_BLUR_TILE][CONVOLVE_BLUR_TILE];
  ConvolveBlurJob job;
};

/*
 * Calls work (i, j) for all i below width and j below height, in the threads of a block, which are 2^BITS side by side, and
 * waits for all of them.
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

/* b of a tile of width x height pixels, from c in the arena. A tile has up to 2^BITS pixels side by side. */
template <int BITS>
static __device__ __forceinline__ void
convolve_blur_tile (const ConvolveBlurTile &tile, int width, int height, ConvolveBlurShared &shared)
{
  const ConvolveBlurJob &job = shared.job;
  const int row_count = job.row_count, column_count = job.column_count;
  const uint16_t *c = job.c + ((int64_t) tile.sample * job.cell.height + tile.y - job.result.y) * job.cell.width
      + tile.x - job.result.x;
  const int64_t c_stride = job.cell.width;

  convolve_load_c (c, c_stride, width + row_count - 1, height + column_count - 1, shared);
  convolve_for_all<BITS> (width, height + column_count - 1, [&] (int i, int j) {
    shared.r[j][i] = convolve_blur_round (convolve_weigh (job.row, &shared.c[j][i], 1, row_count));
  });
  convolve_for_all<BITS> (width, height, [&] (int i, int j) {
    shared.b[j][i] =
        convolve_blur_round (convolve_weigh (job.column, &shared.r[j][i], CONVOLVE_BLUR_TILE, column_count));
  });
}

/* The samples whose first pixels of b are in the tile but for the last ones, which the next tile begins with. */
static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_blur_tiles (const ConvolveBlurJob *jobs, const ConvolveBlurTile *tiles)
{
  __shared__ ConvolveBlurShared shared;
  const ConvolveBlurJob &job = shared.job;

  convolve_wait ();
  const ConvolveBlurTile tile = tiles[blockIdx.x];

  convolve_share (shared.job, jobs[tile.job]);
  if (!(job.pixel.select >> tile.sample & 1))
    return;
  const int bits = job.bits, last = bits > 0 ? 1 : 0, depth = job.pixel.depth;
  const int width = min (job.tile, job.result.x + job.result.width - tile.x);
  const int height = min (job.tile, job.result.y + job.result.height - tile.y);

  if (job.tile > 16)
    convolve_blur_tile<5> (tile, width, height, shared);
  else if (job.tile > 8)
    convolve_blur_tile<4> (tile, width, height, shared);
  else
    convolve_blur_tile<3> (tile, width, height, shared);
  const int half = (1 << bits) / 2;
  const int left = max ((tile.x << bits) + half, job.region.x), top = max ((tile.y << bits) + half, job.region.y);
  const int right = min (((tile.x + width - last) << bits) + half, job.region.x + job.region.width);
  const int bottom = min (((tile.y + height - last) << bits) + half, job.region.y + job.region.height);
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

static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_pixelate_tiles (const ConvolvePixelateJob *jobs, const ConvolveTile *tiles)
{
  convolve_wait ();
  const ConvolveTile tile = tiles[blockIdx.x];
  const ConvolvePixelateJob &job = jobs[tile.job];
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
  for (int y = rect.y + threadIdx.x / 32; y < rect.y + rect.height; y += CONVOLVE_BATCH_THREADS / 32)
    for (int x = rect.x + threadIdx.x % 32; x < rect.x + rect.width; x += 32)
      if (convolve_is_in (job.region, x, y)) {
#pragma unroll
        for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
          if (k < job.pixel.samples && job.pixel.select >> k & 1)
            convolve_write_sample (&job.pixel, convolve_destination_of (job, x, y) + k * size, means[k]);
      }
}

static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_fill_tiles (const ConvolveFillJob *jobs, const ConvolveTile *tiles)
{
  convolve_wait ();
  const ConvolveTile tile = tiles[blockIdx.x];
  const ConvolveFillJob &job = jobs[tile.job];
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
  const ConvolveBlendTile *tiles;
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

/* convolve_area_weight () with the boxes of one tile. */
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
    int weight = convolve_cover_weight (job, tables.boxes + cover.first_box, cover.n_boxes, x, y);

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

static __global__ void __launch_bounds__ (CONVOLVE_BLEND_THREADS, 2)
    convolve_blend_tiles (const __grid_constant__ ConvolveBlendTables tables)
{
  constexpr int rows = CONVOLVE_BLEND_THREADS / CONVOLVE_BLEND_TILE;

  convolve_wait ();
  const ConvolveBlendTile tile = tables.tiles[blockIdx.x];

#pragma unroll 1
  for (int y = threadIdx.x / CONVOLVE_BLEND_TILE; y < CONVOLVE_BLEND_TILE; y += rows)
    convolve_blend_pixel (tables, tile, tile.x + threadIdx.x % CONVOLVE_BLEND_TILE, tile.y + y);
}

#endif
