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

/* --- the cells of an atlas --- */

/*
 * The sums of the source samples under pixel x, y of the shrunk picture, of every lanes-th column from `lane` on. Samples
 * outside the picture are those of the boundary.
 */
static __device__ __forceinline__ void
convolve_add_square (const ConvolveGatherJob &job, int x, int y, int lane, int lanes, unsigned *sums)
{
  int left = x * job.factor, top = y * job.factor, size = convolve_bytes_of_sample (job.pixel);

  for (int v = top; v < top + job.factor; v++)
    for (int u = left + lane; u < left + job.factor; u += lanes) {
      int column = (unsigned) u < (unsigned) job.width ? u : convolve_find_index (job.boundary, u, job.width);
      int row = (unsigned) v < (unsigned) job.height ? v : convolve_find_index (job.boundary, v, job.height);
      const uint8_t *at = convolve_source_of (job, column, row);

#pragma unroll
      for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
        if (k < job.pixel.samples)
          sums[k] += column < 0 || row < 0 ? job.outside[k] : convolve_read_sample (&job.pixel, at + k * size);
    }
}

/* Writes one pixel of a cell. lanes threads of a warp work on it; all of them have the same pixel. */
static __device__ __forceinline__ void
convolve_gather_pixel (const ConvolveGatherJob &job, int i, int j, int lane, int lanes)
{
  unsigned sums[CONVOLVE_MAX_SAMPLES] = { 0, 0, 0, 0 }, count = job.factor * job.factor;
  uint8_t *to = job.cell + j * job.cell_stride + (int64_t) i * job.pixel.stride;
  int size = convolve_bytes_of_sample (job.pixel);

  convolve_add_square (job, job.place.x + i, job.place.y + j, lane, lanes, sums);
#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++) {
    for (int step = lanes / 2; step > 0; step /= 2)
      sums[k] += __shfl_xor_sync (0xffffffff, sums[k], step);
    /* A power of two: twice a sum of 64 x 64 samples of 16 bits fits 32 bits. */
    if (lane == 0 && k < job.pixel.samples)
      convolve_write_sample (&job.pixel, to + k * size, (int) ((2 * sums[k] + count) >> (31 - __clz (count) + 1)));
  }
}

static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_gather_tiles (const ConvolveGatherJob *jobs, const ConvolveTile *tiles)
{
  convolve_wait ();
  const ConvolveTile tile = tiles[blockIdx.x];
  const ConvolveGatherJob &job = jobs[tile.job];

  if (job.factor >= CONVOLVE_WARP_FACTOR) {
    int i = tile.x + threadIdx.x / 32;

    if (i < job.place.width)
      convolve_gather_pixel (job, i, tile.y, threadIdx.x % 32, 32);
    return;
  }
  int2 at = convolve_pixel_of_thread (tile);

  if (at.x < job.place.width && at.y < job.place.height)
    convolve_gather_pixel (job, at.x, at.y, 0, 1);
}

/* --- effects --- */

static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_grow_tiles (const ConvolveGrowJob *jobs, const ConvolveTile *tiles)
{
  convolve_wait ();
  const ConvolveTile tile = tiles[blockIdx.x];
  const ConvolveGrowJob &job = jobs[tile.job];
  int2 at = convolve_pixel_of_thread (tile);

  if (!convolve_is_in (job.region, at.x, at.y))
    return;
  ConvolveNeighbours across = convolve_find_neighbours (at.x, job.factor);
  ConvolveNeighbours down = convolve_find_neighbours (at.y, job.factor);
  const uint8_t *corners[4] = { convolve_source_of (job, across.first, down.first),
    convolve_source_of (job, across.second, down.first), convolve_source_of (job, across.first, down.second),
    convolve_source_of (job, across.second, down.second) };
  uint8_t *to = convolve_destination_of (job, at.x, at.y);
  int size = convolve_bytes_of_sample (job.pixel);

#pragma unroll
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
    if (k < job.pixel.samples && job.pixel.select >> k & 1) {
      int values[4];

      values[0] = convolve_read_sample (&job.pixel, corners[0] + k * size);
      if (job.factor > 1) {
        for (int n = 1; n < 4; n++)
          values[n] = convolve_read_sample (&job.pixel, corners[n] + k * size);
        values[0] = convolve_interpolate (values, across, down, job.factor);
      }
      convolve_write_sample (&job.pixel, to + k * size, values[0]);
    }
}

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

/* convolve_area_weight () with the boxes of one tile. */
static __device__ __forceinline__ int
convolve_cover_weight (const ConvolveBlendJob &job, const ConvolveRect *boxes, int n_boxes, int x, int y)
{
  int most = 0;

  for (int i = 0; i < n_boxes && most < CONVOLVE_WHOLE_WEIGHT; i++)
    most = max (most, convolve_box_weight (&job.area, boxes[i], x, y));
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

  for (int i = 0; i < tile.n_covers; i++) {
    const ConvolveCover &cover = tables.covers[tile.first_cover + i];
    const ConvolveBlendJob &job = tables.jobs[cover.job];

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

static __global__ void __launch_bounds__ (CONVOLVE_BATCH_THREADS)
    convolve_blend_tiles (const __grid_constant__ ConvolveBlendTables tables)
{
  constexpr int rows = CONVOLVE_BATCH_THREADS / CONVOLVE_BLEND_TILE;

  convolve_wait ();
  const ConvolveBlendTile tile = tables.tiles[blockIdx.x];

  for (int y = threadIdx.x / CONVOLVE_BLEND_TILE; y < CONVOLVE_BLEND_TILE; y += rows)
    convolve_blend_pixel (tables, tile, tile.x + threadIdx.x % CONVOLVE_BLEND_TILE, tile.y + y);
}

#endif
