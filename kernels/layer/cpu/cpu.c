/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variant cpu: threads and vector instructions on the host. The output is cut into tiles; each thread makes one tile
 * after the other. The input under a tile, its patch, is converted to float once for all filters. Then the sums of 32
 * outputs of four filters at a time are made in registers.
 *
 * Columns of a patch are sorted by their phase, the remainder modulo the stride, so that what neighbouring outputs read
 * are neighbours in memory too. A row of a patch for a stride of 2, with the columns of the input:
 *
 *     0 2 4 6 8 ..   1 3 5 7 9 ..
 *     phase 0        phase 1
 *
 * Outputs 0, 1, 2 of a kernel 3 wide meet weight 0 at columns 0 2 4, weight 1 at 1 3 5 and weight 2 at 2 4 6.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/pool.h"
#include "layer/cpu/cpu.h"

#define BLOCK 32 /* outputs in a row that are summed together */
#define GROUP 4  /* filters that are summed together */
#define WIDTH 64 /* outputs of a tile before pooling, unless a pooling window is larger */
#define HEIGHT 8
#define PARTIAL 64             /* products in a partial sum, which is then added to the sum, for less rounding */
#define PATCH_BYTES (32 << 20) /* the patch of a tile, or of a piece of one, should fit this */

/*
 * How the work is cut. Tiles become smaller until the patch of one fits PATCH_BYTES, down to the outputs under one
 * pooling window. Where that patch is still too large, the tile is made in pieces: of fewer rows, columns and channels,
 * whose patches are loaded again for each group of filters.
 */
typedef struct
{
  const ConvolveLayerPlan *plan;
  const ConvolveLayerJob *job;
  int across, down;              /* tiles */
  int width, height;             /* outputs of a tile, after pooling */
  int conv_width, conv_height;   /* outputs of a tile before pooling; the width is a multiple of BLOCK */
  int piece_width, piece_height; /* outputs of a piece, before pooling */
  int channels;                  /* of a piece */
  int phases;                    /* of the patch's columns: the stride, or the kernel's width where that is less */
  int row_distance;              /* rows of the patch from an output to the one below */
  int patch_height, columns;     /* rows of a patch, and columns of one phase */
  size_t patch, sums;            /* floats of a channel's patch, and of a filter's sums */
} Work;

/*
 * Adds to BLOCK sums of each filter of a group the products of weights and samples, for some channels. `weights` is
 * [channel][kernel row][kernel column][GROUP], `patches` begins at the first output's window, `sums` at its sum.
 */
typedef void (*AddUp) (const ConvolveLayer *layer, const Work *work, int channels, const float *weights,
    const float *patches, float *sums);

/* The body of every AddUp. fused: multiply and add with one rounding, where the instruction set can. */
static inline __attribute__ ((always_inline)) void
add_up (const ConvolveLayer *layer, const Work *work, int channels, const float *weights, const float *patches,
    float *sums, bool fused)
{
  size_t row = (size_t) work->phases * work->columns;
  float partial[GROUP][BLOCK] = { { 0 } };
  int products = 0;

  for (int c = 0; c < channels; c++)
    for (int j = 0; j < layer->kernel_height; j++) {
      const float *samples = patches + c * work->patch + j * row;

      for (int i = 0; i < layer->kernel_width; i++, weights += GROUP) {
        const float *from = samples + i % layer->stride_x * work->columns + i / layer->stride_x;

        for (int k = 0; k < GROUP; k++)
          for (int x = 0; x < BLOCK; x++)
            partial[k][x] =
                fused ? __builtin_fmaf (weights[k], from[x], partial[k][x]) : partial[k][x] + weights[k] * from[x];
      }
      products += layer->kernel_width;
      if (products >= PARTIAL || (c == channels - 1 && j == layer->kernel_height - 1)) {
        products = 0;
        for (int k = 0; k < GROUP; k++)
          for (int x = 0; x < BLOCK; x++) {
            sums[k * work->sums + x] += partial[k][x];
            partial[k][x] = 0;
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

/* gcc takes vectors of 256 bits unless told otherwise. clang takes 512, and does not know this option here. */
#ifdef __clang__
#define AVX512 "avx512f,avx512vl"
#else
#define AVX512 "avx512f,avx512vl,prefer-vector-width=512"
#endif

__attribute__ ((target (AVX512))) static void
add_up_avx512 (const ConvolveLayer *layer, const Work *work, int channels, const float *weights, const float *patches,
    float *sums)
{
  add_up (layer, work, channels, weights, patches, sums, true);
}

/* The AddUp for the best instruction set of this processor. */
static AddUp
best_add_up (void)
{
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512vl"))
    return add_up_avx512;
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") ? add_up_avx2 : add_up_plain;
}
#else
static AddUp
best_add_up (void)
{
  return add_up_plain;
}
#endif

/*
 * Loads the patches of `channels` channels from first_channel on, of image b, for `rows` rows of outputs. The first
 * sample is at row `top` and column `left` of the image, which may be in the padding. Where the stride is larger than
 * the kernel, samples between two windows are left out.
 */
static void
load_patches (const Work *work, int b, int left, int top, int rows, int first_channel, int channels, float *patches)
{
  const ConvolveLayer *layer = &work->plan->layer;
  const ConvolveLayerTask *task = &work->job->task;
  const ConvolveLayerTensor *from = &task->source;
  int height = (rows - 1) * work->row_distance + layer->kernel_height;

  for (int c = 0; c < channels; c++) {
    const uint8_t *plane = convolve_layer_plane (from, b, first_channel + c);

    for (int y = 0; y < height; y++) {
      int output = y / work->row_distance < rows ? y / work->row_distance : rows - 1;
      int image_row = top + output * layer->stride_y + y - output * work->row_distance;
      int row = convolve_boundary_index (layer->boundary, image_row, task->height);
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

/* The epilogue of a tile for filter k: bias, activation, pooling, conversion. The first output is at (top, left). */
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
      float largest = -INFINITY;

      for (int j = 0; j < layer->pool_height; j++)
        for (int i = 0; i < layer->pool_width; i++) {
          float value = activate (layer->activation, window[(size_t) j * work->conv_width + i] + layer->bias[k]);

          largest = value > largest ? value : largest;
        }
      if (layer->type == CONVOLVE_LAYER_U8)
        largest = largest * layer->out_scale + layer->out_offset;
      convolve_layer_store (layer->type, at, largest);
    }
  }
}

static int
smaller (int a, int b)
{
  return a < b ? a : b;
}

/*
 * Adds a piece to the sums of a group of filters: rows from y on, columns from x on, channels from c on. The first
 * sample of the tile is at row `top` and column `left` of the image. load: the patches are not there yet.
 */
static void
sum_piece (const Work *work, AddUp add, const float *weights, int b, int left, int top, int x, int y, int c, bool load,
    float *patches, float *sums)
{
  const ConvolveLayer *layer = &work->plan->layer;
  int rows = smaller (work->piece_height, work->conv_height - y);
  int width = smaller (work->piece_width, work->conv_width - x);
  int channels = smaller (work->channels, layer->channels - c);
  size_t channel_size = (size_t) GROUP * layer->kernel_height * layer->kernel_width;

  if (load)
    load_patches (work, b, left + x * layer->stride_x, top + y * layer->stride_y, rows, c, channels, patches);
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < width; i += BLOCK)
      add (layer, work, channels, weights + c * channel_size,
          patches + (size_t) j * work->row_distance * work->phases * work->columns + i,
          sums + (size_t) (y + j) * work->conv_width + x + i);
}

/* Makes `count` tiles on one thread of the pool. `memory` is the thread's own, of the size that plan_work() returns. */
static void
run_jobs (const void *data, int first, int count, void *memory)
{
  const Work *work = data;
  const ConvolveLayer *layer = &work->plan->layer;
  float *patches = memory, *sums = patches + work->channels * work->patch;
  size_t group_size = (size_t) GROUP * layer->channels * layer->kernel_height * layer->kernel_width;
  bool one_piece = work->piece_width == work->conv_width && work->piece_height == work->conv_height
      && work->channels == layer->channels;
  AddUp add = best_add_up ();

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
            sum_piece (work, add, (const float *) work->plan->prepared + k / GROUP * group_size, b, from_left, from_top,
                x, y, c, !one_piece || k == 0, patches, sums);
      for (int i = 0; i < GROUP && k + i < layer->filters; i++)
        store_tile (work, b, k + i, left, top, sums + i * work->sums);
    }
  }
}

/* Orders the weights as AddUp reads them: [group][channel][kernel row][kernel column][GROUP]; missing filters are 0. */
static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  size_t filter_size = (size_t) layer->channels * layer->kernel_height * layer->kernel_width;
  size_t groups = (layer->filters + GROUP - 1) / GROUP;
  float *weights = calloc (groups * GROUP * filter_size, sizeof (float));

  plan->prepared = weights;
  if (!weights)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu weights", groups * GROUP * filter_size);
  for (int k = 0; k < layer->filters; k++)
    for (size_t i = 0; i < filter_size; i++)
      weights[(k / GROUP * filter_size + i) * GROUP + k % GROUP] = layer->weights[k * filter_size + i];
  return CONVOLVE_OK;
}

static void
clear (ConvolveLayerPlan *plan)
{
  free (plan->prepared);
}

/*
 * Sets the sizes that follow from the tile and the piece. Returns whether the patches of a piece fit PATCH_BYTES. No
 * product overflows 64 bits: a tile has at most 318 x 255 outputs before pooling, a window 255 x 255 samples, and there
 * are at most 4096 channels.
 */
static bool
measure (Work *work)
{
  const ConvolveLayer *layer = &work->plan->layer;
  uint64_t patch;

  work->patch_height = (work->piece_height - 1) * work->row_distance + layer->kernel_height;
  work->columns = work->piece_width + (layer->kernel_width - 1) / layer->stride_x;
  patch = (uint64_t) work->patch_height * work->phases * work->columns;
  work->patch = (size_t) patch;
  work->sums = (size_t) work->conv_width * work->conv_height;
  return patch * work->channels * sizeof (float) <= PATCH_BYTES;
}

/* Sets a tile of width x height outputs, in one piece. Returns whether its patches fit PATCH_BYTES. */
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

/*
 * Halves the tile, and then the piece, until the patches of a piece fit PATCH_BYTES. The smallest piece always does:
 * BLOCK outputs in one channel need at most 255 x 255 x BLOCK floats, 8 MiB.
 */
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

/* Sets how the output is cut into tiles and pieces. Returns the bytes that each thread needs. */
static size_t
plan_work (Work *work, const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  const ConvolveLayer *layer = &plan->layer;
  int rows = job->task.end_row - job->task.first_row;
  int width = layer->pool_width < WIDTH ? (WIDTH - layer->pool_width) / layer->pool_stride_x + 1 : 1;
  int height = layer->pool_height < HEIGHT ? (HEIGHT - layer->pool_height) / layer->pool_stride_y + 1 : 1;

  *work = (Work){ .plan = plan, .job = job };
  work->phases = smaller (layer->stride_x, layer->kernel_width);
  work->row_distance = smaller (layer->stride_y, layer->kernel_height);
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
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d outputs of %dx%d have too many tiles", job->task.batch,
        job->out_width, rows);
  jobs = work.across * work.down * job->task.batch;
  threads = plan->pool ? convolve_pool_threads (plan->pool) : 1;
  return convolve_pool_run (plan->pool, threads < jobs ? threads : jobs, jobs, memory, run_jobs, &work, error);
}

const ConvolveLayerVariant convolve_layer_variant_cpu = {
  .name = "cpu",
  .number = 17,
  .idea = "threads and vector instructions on the host: 32 sums of four filters in registers",
  .prepare = prepare,
  .clear = clear,
  .run = run,
};
