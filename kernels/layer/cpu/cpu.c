/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variant cpu: threads and vectors on the host. A job is a tile of outputs of one image. The input under it becomes
 * floats once, its columns sorted by their remainder modulo the stride, so that what neighbouring outputs read are
 * neighbours; the sums of 32 outputs of four filters stay in registers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/pool.h"
#include "layer/cpu/cpu.h"

#define BLOCK 32 /* outputs in a row that are summed together */
#define GROUP 4  /* filters that are summed together */
#define WIDTH 64 /* of a tile before pooling, unless a pooling window is larger */
#define HEIGHT 8
#define PART 64                /* products after which a sum goes to the sums proper, for less rounding */
#define PATCH_BYTES (32 << 20) /* for the input under a tile, or under a piece of one */

/*
 * How the work is cut. Tiles become smaller until the input under one fits PATCH_BYTES. The outputs under one pooling
 * window are the least that a tile has; where their input is still too much, the tile's outputs before pooling are made
 * in pieces: of fewer rows, columns and channels, whose input is loaded again for each group of filters.
 */
typedef struct
{
  const ConvolveLayerPlan *plan;
  const ConvolveLayerJob *job;
  int across, down;                        /* tiles */
  int width, height;                       /* outputs of a tile, after pooling */
  int conv_width, conv_height;             /* the same before, the width a multiple of BLOCK */
  int piece_width, piece_height, channels; /* outputs before pooling, and channels, that are made at a time */
  int phases, row_step;      /* remainders that a filter meets, and rows from an output's to the next one's */
  int patch_height, columns; /* the input under a piece: rows, and columns of one remainder */
  size_t patch, sums;        /* floats of a channel's patch, and of a filter's sums */
} Work;

/* A row of the reduction: four weights and the samples that they meet. */
typedef void (*AddUp) (const ConvolveLayer *layer, const Work *work, int channels, const float *weights,
    const float *patches, float *sums);

/* Adds to BLOCK sums of each filter of a group the channels' products of their windows; patches is the first window's. */
static inline __attribute__ ((always_inline)) void
add_up (const ConvolveLayer *layer, const Work *work, int channels, const float *weights, const float *patches,
    float *sums, bool fused)
{
  size_t row = (size_t) work->phases * work->columns;
  float part[GROUP][BLOCK] = { { 0 } };
  int products = 0;

  for (int c = 0; c < channels; c++)
    for (int j = 0; j < layer->kernel_height; j++) {
      const float *samples = patches + c * work->patch + j * row;

      for (int i = 0; i < layer->kernel_width; i++, weights += GROUP) {
        const float *from = samples + i % layer->stride_x * work->columns + i / layer->stride_x;

        for (int k = 0; k < GROUP; k++)
          for (int x = 0; x < BLOCK; x++)
            part[k][x] = fused ? __builtin_fmaf (weights[k], from[x], part[k][x]) : part[k][x] + weights[k] * from[x];
      }
      products += layer->kernel_width;
      if (products >= PART || (c == channels - 1 && j == layer->kernel_height - 1)) {
        products = 0;
        for (int k = 0; k < GROUP; k++)
          for (int x = 0; x < BLOCK; x++) {
            sums[k * work->sums + x] += part[k][x];
            part[k][x] = 0;
          }
      }
    }
}

static void
add_up_plain (const ConvolveLayer *layer, const Work *work, int channels, const float *weights, const float *patches,
    float *sums)
{
  add_up (layer, work, channels, weights, patches, sums, false);
}

#ifdef CONVOLVE_CPU_X86
__attribute__ ((target ("avx2,fma"))) static void
add_up_avx2 (const ConvolveLayer *layer, const Work *work, int channels, const float *weights, const float *patches,
    float *sums)
{
  add_up (layer, work, channels, weights, patches, sums, true);
}

__attribute__ ((target ("avx512f,avx512vl,prefer-vector-width=512"))) static void
add_up_avx512 (const ConvolveLayer *layer, const Work *work, int channels, const float *weights, const float *patches,
    float *sums)
{
  add_up (layer, work, channels, weights, patches, sums, true);
}

static AddUp
best_level (void)
{
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512vl"))
    return add_up_avx512;
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") ? add_up_avx2 : add_up_plain;
}
#else
static AddUp
best_level (void)
{
  return add_up_plain;
}
#endif

/*
 * The input of image b under rows of outputs, whose first sample is at left, top, anywhere, from a channel on. What lies
 * between two windows is left out.
 */
static void
load_patches (const Work *work, int b, int left, int top, int rows, int first_channel, int channels, float *patches)
{
  const ConvolveLayer *layer = &work->plan->layer;
  const ConvolveLayerTask *task = &work->job->task;
  const ConvolveLayerTensor *from = &task->source;
  int height = (rows - 1) * work->row_step + layer->kernel_height;

  for (int c = 0; c < channels; c++) {
    const uint8_t *plane = convolve_layer_plane (from, b, first_channel + c);

    for (int y = 0; y < height; y++) {
      int below = y / work->row_step < rows ? y / work->row_step : rows - 1;
      int at_row = top + below * layer->stride_y + y - below * work->row_step;
      int row = convolve_boundary_index (layer->boundary, at_row, task->height);
      float *to = patches + c * work->patch + (size_t) y * work->phases * work->columns;

      for (int phase = 0; phase < work->phases; phase++)
        for (int n = 0; n < work->columns; n++) {
          int column = convolve_boundary_index (layer->boundary, left + n * layer->stride_x + phase, task->width);

          to[phase * work->columns + n] = row < 0 || column < 0
              ? 0
              : convolve_layer_load (layer, plane + row * from->row_stride + column * from->column_stride);
        }
    }
  }
}

static float
activate (ConvolveActivation activation, float value)
{
  if (activation == CONVOLVE_ACTIVATION_RELU)
    return value > 0 ? value : 0;
  return activation == CONVOLVE_ACTIVATION_ABSOLUTE ? fabsf (value) : value;
}

/* Writes a tile's outputs of filter k, whose first is at left, top. */
static void
store_tile (const Work *work, int b, int k, int left, int top, const float *sums)
{
  const ConvolveLayer *layer = &work->plan->layer;
  const ConvolveLayerTask *task = &work->job->task;
  const ConvolveLayerTensor *to = &task->destination;
  uint8_t *plane = convolve_layer_plane (to, b, k);
  int width = work->job->out_width - left < work->width ? work->job->out_width - left : work->width;
  int height = task->end_row - top < work->height ? task->end_row - top : work->height;

  for (int y = 0; y < height; y++) {
    uint8_t *at = plane + (top + y) * to->row_stride + left * to->column_stride;

    for (int x = 0; x < width; x++, at += to->column_stride) {
      const float *window = sums + (size_t) y * layer->pool_stride_y * work->conv_width + x * layer->pool_stride_x;
      float most = -INFINITY;

      for (int j = 0; j < layer->pool_height; j++)
        for (int i = 0; i < layer->pool_width; i++) {
          float value = activate (layer->activation, window[(size_t) j * work->conv_width + i] + layer->bias[k]);

          most = value > most ? value : most;
        }
      if (layer->type == CONVOLVE_LAYER_U8)
        most = most * layer->out_scale + layer->out_offset;
      convolve_layer_store (layer->type, at, most);
    }
  }
}

static int
smaller (int a, int b)
{
  return a < b ? a : b;
}

/* A piece of a group's sums: rows from y on, columns from x on, channels from c on; left and top are the tile's. */
static void
sum_piece (const Work *work, AddUp level, const float *weights, int b, int left, int top, int x, int y, int c,
    bool load, float *patches, float *sums)
{
  const ConvolveLayer *layer = &work->plan->layer;
  int rows = smaller (work->piece_height, work->conv_height - y);
  int width = smaller (work->piece_width, work->conv_width - x);
  int channels = smaller (work->channels, layer->channels - c);
  size_t of_channel = (size_t) GROUP * layer->kernel_height * layer->kernel_width;

  if (load)
    load_patches (work, b, left + x * layer->stride_x, top + y * layer->stride_y, rows, c, channels, patches);
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < width; i += BLOCK)
      level (layer, work, channels, weights + c * of_channel,
          patches + (size_t) j * work->row_step * work->phases * work->columns + i,
          sums + (size_t) (y + j) * work->conv_width + x + i);
}

static void
run_jobs (const void *data, int first, int count, void *memory)
{
  const Work *work = data;
  const ConvolveLayer *layer = &work->plan->layer;
  float *patches = memory, *sums = patches + work->channels * work->patch;
  size_t group = (size_t) GROUP * layer->channels * layer->kernel_height * layer->kernel_width;
  bool whole = work->piece_width == work->conv_width && work->piece_height == work->conv_height
      && work->channels == layer->channels;
  AddUp level = best_level ();

  for (int n = first; n < first + count; n++) {
    int b = n / (work->across * work->down), tile = n % (work->across * work->down);
    int left = tile % work->across * work->width, top = work->job->task.first_row + tile / work->across * work->height;
    int from_left = left * layer->pool_stride_x * layer->stride_x - layer->pad_left;
    int from_top = top * layer->pool_stride_y * layer->stride_y - layer->pad_top;

    for (int k = 0; k < layer->filters; k += GROUP) {
      memset (sums, 0, GROUP * work->sums * sizeof (*sums));
      for (int y = 0; y < work->conv_height; y += work->piece_height)
        for (int x = 0; x < work->conv_width; x += work->piece_width)
          for (int c = 0; c < layer->channels; c += work->channels)
            sum_piece (work, level, (const float *) work->plan->prepared + k / GROUP * group, b, from_left, from_top, x,
                y, c, !whole || k == 0, patches, sums);
      for (int i = 0; i < GROUP && k + i < layer->filters; i++)
        store_tile (work, b, k + i, left, top, sums + i * work->sums);
    }
  }
}

/* Weights as they are read: four filters' beside one another. */
static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  size_t of_filter = (size_t) layer->channels * layer->kernel_height * layer->kernel_width;
  size_t groups = (layer->filters + GROUP - 1) / GROUP;
  float *weights = calloc (groups * GROUP * of_filter, sizeof (float));

  plan->prepared = weights;
  if (!weights)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu weights", groups * GROUP * of_filter);
  for (int k = 0; k < layer->filters; k++)
    for (size_t i = 0; i < of_filter; i++)
      weights[(k / GROUP * of_filter + i) * GROUP + k % GROUP] = layer->weights[k * of_filter + i];
  return CONVOLVE_OK;
}

static void
clear (ConvolveLayerPlan *plan)
{
  free (plan->prepared);
}

/*
 * Sizes that follow from the tile and the piece. Returns whether the piece's input fits PATCH_BYTES. No product here
 * leaves 64 bits: a tile has at most 318 x 255 outputs before pooling, a window 255 x 255 samples, and there are at most
 * 4096 channels.
 */
static bool
measure (Work *work)
{
  const ConvolveLayer *layer = &work->plan->layer;
  uint64_t patch;

  work->patch_height = (work->piece_height - 1) * work->row_step + layer->kernel_height;
  work->columns = work->piece_width + (layer->kernel_width - 1) / layer->stride_x;
  patch = (uint64_t) work->patch_height * work->phases * work->columns;
  work->patch = (size_t) patch;
  work->sums = (size_t) work->conv_width * work->conv_height;
  return patch * work->channels * sizeof (float) <= PATCH_BYTES;
}

/* A tile of so many outputs, in one piece. */
static bool
set_tile (Work *work, int width, int height)
{
  const ConvolveLayer *layer = &work->plan->layer;
  int conv_width = (width - 1) * layer->pool_stride_x + layer->pool_width;

  work->width = width;
  work->height = height;
  work->conv_width = (conv_width + BLOCK - 1) / BLOCK * BLOCK;
  work->conv_height = (height - 1) * layer->pool_stride_y + layer->pool_height;
  work->piece_width = work->conv_width;
  work->piece_height = work->conv_height;
  work->channels = layer->channels;
  return measure (work);
}

/* The smallest piece, a window of BLOCK outputs in one channel, has 255 x 255 x BLOCK floats at most: 8 MiB. */
static void
cut (Work *work, int width, int height)
{
  bool fits = set_tile (work, width, height);

  while (!fits && work->height > 1)
    fits = set_tile (work, work->width, work->height / 2);
  while (!fits && work->width > 1 && work->conv_width > BLOCK)
    fits = set_tile (work, work->width / 2, work->height);
  while (!fits && work->piece_height > 1) {
    work->piece_height /= 2;
    fits = measure (work);
  }
  if (!fits) {
    work->piece_width = BLOCK;
    fits = measure (work);
  }
  while (!fits && work->channels > 1) {
    work->channels /= 2;
    fits = measure (work);
  }
}

/* How the plane is cut; returns the bytes that each thread needs. */
static size_t
plan_work (Work *work, const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  const ConvolveLayer *layer = &plan->layer;
  int rows = job->task.end_row - job->task.first_row;
  int width = layer->pool_width < WIDTH ? (WIDTH - layer->pool_width) / layer->pool_stride_x + 1 : 1;
  int height = layer->pool_height < HEIGHT ? (HEIGHT - layer->pool_height) / layer->pool_stride_y + 1 : 1;

  *work = (Work){ .plan = plan, .job = job };
  work->phases = smaller (layer->stride_x, layer->kernel_width);
  work->row_step = smaller (layer->stride_y, layer->kernel_height);
  cut (work, smaller (width, job->out_width), smaller (height, rows));
  work->across = (job->out_width - 1) / work->width + 1;
  work->down = (rows - 1) / work->height + 1;
  return (work->channels * work->patch + GROUP * work->sums) * sizeof (float);
}

size_t
convolve_layer_cpu_memory (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  Work work;

  return plan_work (&work, plan, job);
}

static ConvolveStatus
run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  Work work;
  size_t memory = plan_work (&work, plan, job);
  int rows = job->task.end_row - job->task.first_row, jobs, threads;

  if ((int64_t) work.across * work.down * job->task.batch > INT32_MAX)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d outputs of %dx%d", job->task.batch, job->out_width, rows);
  jobs = work.across * work.down * job->task.batch;
  threads = plan->pool ? convolve_pool_threads (plan->pool) : 1;
  return convolve_pool_run (plan->pool, threads < jobs ? threads : jobs, jobs, memory, run_jobs, &work, error);
}

const ConvolveLayerVariant convolve_layer_variant_cpu = {
  .name = "cpu",
  .number = 17,
  .idea = "threads and vectors on the host: 32 sums of four filters in registers",
  .prepare = prepare,
  .clear = clear,
  .run = run,
};
