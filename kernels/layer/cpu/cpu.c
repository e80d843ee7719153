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
 *
 * Such a patch is dense: it has all columns from the first to the last. Where strides or dilations leave most of these
 * unused, the patch is sparse, with a phase for each column of the kernel. The same holds for rows, by themselves.
 *
 * Pooling needs the sums of every sample_x-th column of the convolution and of every sample_y-th row: all windows begin
 * and go on at multiples of the greatest common divisor of the pooling's stride and dilation. A window that has a tile
 * for itself needs multiples of the dilation alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/threads/pool.h"
#include "layer/cpu/cpu.h"

#define BLOCK 32 /* outputs in a row that are summed together */
#define BUNDLE 4 /* filters of one group that are summed together */
#define WIDTH 64 /* outputs of a tile before pooling, unless a pooling window is larger */
#define HEIGHT 8
#define PARTIAL 64             /* products in a partial sum, which is then added to the sum, for less rounding */
#define PATCH_BYTES (32 << 20) /* the patch of a tile, or of a piece of one, should fit this */

/*
 * How the work is cut. Tiles become smaller until the patch of one fits PATCH_BYTES, down to the outputs under one
 * pooling window. Where that patch is still too large, the tile is made in pieces: of fewer rows, columns and channels,
 * whose patches are loaded again for each bundle of filters.
 */
typedef struct
{
  const ConvolveLayerPlan *plan;
  const ConvolveLayerJob *job;
  int across, down;              /* tiles */
  int width, height;             /* outputs of a tile, after pooling */
  int sample_x, sample_y;        /* columns and rows of the convolution from one that is summed to the next */
  int stride_x, stride_y;        /* those of the input: the layer's strides so many times */
  int conv_width, conv_height;   /* sums of a tile; the width is a multiple of BLOCK */
  int piece_width, piece_height; /* sums of a piece */
  int channels;                  /* of a piece */
  int phases;                    /* of the patch's columns: the stride, or the kernel's width in a sparse patch */
  int phase_step;                /* columns of the input from a phase to the next: 1, or the dilation */
  int columns;                   /* of one phase */
  int row_distance;              /* rows of the patch from an output to the one below, */
  int tap_distance;              /* and from a row of the kernel to the next: the dilation, or 1 in a sparse patch */
  bool sparse_rows;
  bool clips;                 /* pooling windows may lack samples */
  bool copies;                /* a row of the patch is one of floats in the image, which lie side by side */
  bool plain;                 /* each sum is an output, and these are floats side by side */
  int tap[CONVOLVE_MAX_SIDE]; /* where a patch's row has the first column of the kernel's column */
  size_t patch, sums;         /* floats of a channel's patch, and of a filter's sums */
} Work;

/*
 * Adds to BLOCK sums of each filter of a bundle the products of weights and samples, for some channels. `weights` is
 * [channel][kernel row][kernel column][BUNDLE], `patches` begins at the first output's window, `sums` at its sum.
 */
typedef void (*AddUp) (const ConvolveLayer *layer, const Work *work, int channels, const float *weights,
    const float *patches, float *sums);

/* The body of every AddUp. fused: multiply and add with one rounding, where the instruction set can. */
static inline __attribute__ ((always_inline)) void
add_up (const ConvolveLayer *layer, const Work *work, int channels, const float *weights, const float *patches,
    float *sums, bool fused)
{
  size_t row = (size_t) work->tap_distance * work->phases * work->columns;
  float partial[BUNDLE][BLOCK] = { { 0 } };
  int products = 0;

  for (int c = 0; c < channels; c++)
    for (int j = 0; j < layer->kernel_height; j++) {
      const float *samples = patches + c * work->patch + j * row;

      for (int i = 0; i < layer->kernel_width; i++, weights += BUNDLE) {
        const float *from = samples + work->tap[i];

        for (int k = 0; k < BUNDLE; k++)
          for (int x = 0; x < BLOCK; x++)
            partial[k][x] =
                fused ? __builtin_fmaf (weights[k], from[x], partial[k][x]) : partial[k][x] + weights[k] * from[x];
      }
      products += layer->kernel_width;
      if (products >= PARTIAL || (c == channels - 1 && j == layer->kernel_height - 1)) {
        products = 0;
        for (int k = 0; k < BUNDLE; k++)
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

static int
smaller (int a, int b)
{
  return a < b ? a : b;
}

/*
 * Loads the patches of `channels` channels from first_channel on, of image b, for `rows` rows of outputs. The first
 * sample is at row `top` and column `left` of the image, which may be in the padding.
 */
static void
load_patches (const Work *work, int b, int left, int top, int rows, int first_channel, int channels, float *patches)
{
  const ConvolveLayer *layer = &work->plan->layer;
  const ConvolveLayerTask *task = &work->job->task;
  const ConvolveLayerTensor *from = &task->source;
  int height = (rows - 1) * work->row_distance + (layer->kernel_height - 1) * work->tap_distance + 1;

  for (int c = 0; c < channels; c++) {
    const uint8_t *plane = convolve_layer_plane (from, b, first_channel + c);

    for (int y = 0; y < height; y++) {
      int image_row = work->sparse_rows
          ? top + y / work->row_distance * work->stride_y + y % work->row_distance * layer->dilation_y
          : top + y;
      int row = convolve_boundary_index (layer->boundary, image_row, task->height);
      float *to = patches + c * work->patch + (size_t) y * work->phases * work->columns;

      /* The columns from `inside` to before `end` are copied. */
      int inside = left < 0 ? smaller (-left, work->columns) : 0, end = inside;

      if (row >= 0 && work->copies && smaller (work->columns, task->width - left) > inside) {
        end = smaller (work->columns, task->width - left);
        memcpy (to + inside, plane + row * from->row_stride + (left + inside) * from->column_stride,
            (end - inside) * sizeof (*to));
      }
      for (int phase = 0; phase < work->phases; phase++)
        for (int n = inside > 0 ? 0 : end; n < work->columns; n = n + 1 == inside ? end : n + 1) {
          int column = convolve_boundary_index (layer->boundary, left + n * work->stride_x + phase * work->phase_step,
              task->width);

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

/*
 * Sets which samples of a pooling window exist: those from *first to before *end, of `size`. The window's sample 0 is at
 * `start` of the `count` samples of the convolution.
 */
static void
clip_window (int start, int dilation, int size, int count, int *first, int *end)
{
  int samples = (count - start + dilation - 1) / dilation;

  *first = start < 0 ? (dilation - 1 - start) / dilation : 0;
  *end = samples < size ? samples : size;
}

/*
 * The epilogue of a tile for filter k: bias, activation, pooling, conversion. The first output is at (top, left). The
 * sums begin with the first sample of its window, which may be in the padding.
 */
static void
store_tile (const Work *work, int b, int k, int left, int top, const float *sums)
{
  const ConvolveLayer *layer = &work->plan->layer;
  const ConvolveLayerTask *task = &work->job->task;
  const ConvolveLayerTensor *to = &task->destination;
  uint8_t *plane = convolve_layer_plane (to, b, k);
  int width = work->job->out_width - left < work->width ? work->job->out_width - left : work->width;
  int height = task->end_row - top < work->height ? task->end_row - top : work->height;
  /* Sums from one window to the next, and within a window. */
  int rows = layer->pool_stride_y / work->sample_y, columns = layer->pool_stride_x / work->sample_x;
  int row_step = layer->pool_dilation_y / work->sample_y, column_step = layer->pool_dilation_x / work->sample_x;

  for (int y = 0; y < height; y++) {
    uint8_t *at = plane + (top + y) * to->row_stride + left * to->column_stride;
    int first_row = 0, end_row = layer->pool_height, first_column = 0, end_column = layer->pool_width;

    if (work->plain) {
      for (int x = 0; x < width; x++) {
        float value = activate (layer->activation, sums[(size_t) y * work->conv_width + x] + layer->bias[k]);

        memcpy (at + x * sizeof (value), &value, sizeof (value));
      }
      continue;
    }

    if (work->clips)
      clip_window ((top + y) * layer->pool_stride_y - layer->pool_pad_top, layer->pool_dilation_y, layer->pool_height,
          work->job->conv_height, &first_row, &end_row);
    for (int x = 0; x < width; x++, at += to->column_stride) {
      const float *window = sums + (size_t) y * rows * work->conv_width + x * columns;
      float largest = -INFINITY;

      if (work->clips)
        clip_window ((left + x) * layer->pool_stride_x - layer->pool_pad_left, layer->pool_dilation_x,
            layer->pool_width, work->job->conv_width, &first_column, &end_column);
      for (int j = first_row; j < end_row; j++)
        for (int i = first_column; i < end_column; i++) {
          float value = activate (layer->activation,
              window[(size_t) j * row_step * work->conv_width + i * column_step] + layer->bias[k]);

          largest = value > largest ? value : largest;
        }
      if (layer->type == CONVOLVE_LAYER_U8)
        largest = largest * layer->out_scale + layer->out_offset;
      convolve_layer_store (layer->type, at, largest);
    }
  }
}

/*
 * Adds a piece to the sums of a bundle of filters: rows from y on, columns from x on, channels of the group from c on.
 * The first sample of the tile is at row `top` and column `left` of the image, and the group begins with first_channel.
 * load: the patches are not there yet.
 */
static void
sum_piece (const Work *work, AddUp add, const float *weights, int b, int left, int top, int x, int y, int first_channel,
    int c, bool load, float *patches, float *sums)
{
  const ConvolveLayer *layer = &work->plan->layer;
  int rows = smaller (work->piece_height, work->conv_height - y);
  int width = smaller (work->piece_width, work->conv_width - x);
  int channels = smaller (work->channels, work->plan->group_channels - c);
  size_t channel_size = (size_t) BUNDLE * layer->kernel_height * layer->kernel_width;

  if (load)
    load_patches (work, b, left + x * work->stride_x, top + y * work->stride_y, rows, first_channel + c, channels,
        patches);
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < width; i += BLOCK)
      add (layer, work, channels, weights + c * channel_size,
          patches + (size_t) j * work->row_distance * work->phases * work->columns + i,
          sums + (size_t) (y + j) * work->conv_width + x + i);
}

/* The filters of the bundle that begins with filter k: all are of one group. */
static int
bundle_at (const ConvolveLayerPlan *plan, int k)
{
  int of_group = plan->group_filters - (plan->first_filter + k) % plan->group_filters;

  return smaller (BUNDLE, smaller (of_group, plan->layer.filters - k));
}

/* Makes `count` tiles on one thread of the pool. `memory` is the thread's own, of the size that plan_work() returns. */
static void
run_jobs (const void *data, int first, int count, void *memory)
{
  const Work *work = data;
  const ConvolveLayerPlan *plan = work->plan;
  const ConvolveLayer *layer = &plan->layer;
  float *patches = memory, *sums = patches + work->channels * work->patch;
  bool one_piece = work->piece_width == work->conv_width && work->piece_height == work->conv_height
      && work->channels == plan->group_channels;
  AddUp add = best_add_up ();

  for (int n = first; n < first + count; n++) {
    int b = n / (work->across * work->down), tile = n % (work->across * work->down);
    int left = tile % work->across * work->width, top = work->job->task.first_row + tile / work->across * work->height;
    int from_left = (left * layer->pool_stride_x - layer->pool_pad_left) * layer->stride_x - layer->pad_left;
    int from_top = (top * layer->pool_stride_y - layer->pool_pad_top) * layer->stride_y - layer->pad_top;
    const float *weights = plan->prepared;
    int loaded = -1; /* the first channel of the group whose patches are there */

    for (int k = 0; k < layer->filters; k += bundle_at (plan, k)) {
      int first_channel = convolve_layer_first_channel (plan, k);

      memset (sums, 0, BUNDLE * work->sums * sizeof (*sums));
      for (int y = 0; y < work->conv_height; y += work->piece_height)
        for (int x = 0; x < work->conv_width; x += work->piece_width)
          for (int c = 0; c < plan->group_channels; c += work->channels)
            sum_piece (work, add, weights, b, from_left, from_top, x, y, first_channel, c,
                !one_piece || first_channel != loaded, patches, sums);
      loaded = first_channel;
      weights += BUNDLE * convolve_layer_filter_size (layer);
      for (int i = 0; i < bundle_at (plan, k); i++)
        store_tile (work, b, k + i, left, top, sums + i * work->sums);
    }
  }
}

/* Orders the weights as AddUp reads them: [bundle][channel][kernel row][kernel column][BUNDLE]; missing filters are 0. */
static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  size_t filter_size = convolve_layer_filter_size (layer), bundles = 0;
  float *weights;

  for (int k = 0; k < layer->filters; k += bundle_at (plan, k))
    bundles++;
  plan->prepared = weights = calloc (bundles * BUNDLE * filter_size, sizeof (float));
  if (!weights)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu weights", bundles * BUNDLE * filter_size);
  for (int k = 0; k < layer->filters; k += bundle_at (plan, k), weights += BUNDLE * filter_size)
    for (int n = 0; n < bundle_at (plan, k); n++)
      for (size_t i = 0; i < filter_size; i++)
        weights[i * BUNDLE + n] = layer->weights[(k + n) * filter_size + i];
  return CONVOLVE_OK;
}

static void
clear (ConvolveLayerPlan *plan)
{
  free (plan->prepared);
}

/*
 * Sets the sizes that follow from the tile and the piece. Returns whether the patches of a piece fit PATCH_BYTES. No
 * product overflows 64 bits: a tile has at most 318 x 255 outputs before pooling, a kernel spans about 2^20 samples each
 * way, and there are at most 4096 channels.
 */
static bool
measure (Work *work)
{
  const ConvolveLayer *layer = &work->plan->layer;
  int span_x = convolve_layer_span (layer->kernel_width, layer->dilation_x);
  int span_y = convolve_layer_span (layer->kernel_height, layer->dilation_y);
  int dense_columns = work->piece_width + (span_x - 1) / work->stride_x;
  int64_t dense_rows = (int64_t) (work->piece_height - 1) * work->stride_y + span_y;
  bool sparse = layer->kernel_width * work->piece_width <= (int64_t) work->stride_x * dense_columns;
  uint64_t patch;

  work->phases = sparse ? layer->kernel_width : work->stride_x;
  work->phase_step = sparse ? layer->dilation_x : 1;
  work->columns = sparse ? work->piece_width : dense_columns;
  for (int i = 0; i < layer->kernel_width; i++)
    work->tap[i] = sparse
        ? i * work->columns
        : i * layer->dilation_x % work->stride_x * work->columns + i * layer->dilation_x / work->stride_x;
  work->sparse_rows = layer->kernel_height * work->piece_height <= dense_rows;
  work->row_distance = work->sparse_rows ? layer->kernel_height : work->stride_y;
  work->tap_distance = work->sparse_rows ? 1 : layer->dilation_y;
  patch = (uint64_t) (work->sparse_rows ? (int64_t) layer->kernel_height * work->piece_height : dense_rows)
      * work->phases * work->columns;
  work->patch = (size_t) patch;
  work->sums = (size_t) work->conv_width * work->conv_height;
  return patch * work->channels * sizeof (float) <= PATCH_BYTES;
}

/* From one sum to the next, in samples of the convolution, where a tile has so many outputs side by side. */
static int
sample_step (int outputs, int pool, int pool_stride, int pool_dilation)
{
  int a = pool_stride, b = pool > 1 ? pool_dilation : 0;

  if (outputs == 1)
    return pool_dilation;
  while (b > 0) {
    int rest = a % b;

    a = b;
    b = rest;
  }
  return a;
}

/* Sets a tile of width x height outputs, in one piece. Returns whether its patches fit PATCH_BYTES. */
static bool
set_tile (Work *work, int width, int height)
{
  const ConvolveLayer *layer = &work->plan->layer;
  int conv_width;

  work->width = width;
  work->height = height;
  work->sample_x = sample_step (width, layer->pool_width, layer->pool_stride_x, layer->pool_dilation_x);
  work->sample_y = sample_step (height, layer->pool_height, layer->pool_stride_y, layer->pool_dilation_y);
  work->stride_x = layer->stride_x * work->sample_x;
  work->stride_y = layer->stride_y * work->sample_y;
  conv_width =
      ((width - 1) * layer->pool_stride_x + (layer->pool_width - 1) * layer->pool_dilation_x) / work->sample_x + 1;
  work->conv_width = (conv_width + BLOCK - 1) / BLOCK * BLOCK;
  work->conv_height =
      ((height - 1) * layer->pool_stride_y + (layer->pool_height - 1) * layer->pool_dilation_y) / work->sample_y + 1;
  work->piece_width = work->conv_width;
  work->piece_height = work->conv_height;
  work->channels = work->plan->group_channels;
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

/* The outputs side by side that need at most `sums` sums, or 1. */
static int
tile_side (int sums, int pool, int pool_stride, int pool_dilation)
{
  int step = sample_step (2, pool, pool_stride, pool_dilation), window = (pool - 1) * pool_dilation / step + 1;

  return window < sums ? (sums - window) / (pool_stride / step) + 1 : 1;
}

/* Sets how the output is cut into tiles and pieces. Returns the bytes that each thread needs. */
static size_t
plan_work (Work *work, const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  const ConvolveLayer *layer = &plan->layer;
  int rows = job->task.end_row - job->task.first_row;
  int width = tile_side (WIDTH, layer->pool_width, layer->pool_stride_x, layer->pool_dilation_x);
  int height = tile_side (HEIGHT, layer->pool_height, layer->pool_stride_y, layer->pool_dilation_y);

  *work = (Work){ .plan = plan, .job = job };
  work->clips = layer->pool_ceil || layer->pool_pad_top + layer->pool_pad_bottom > 0
      || layer->pool_pad_left + layer->pool_pad_right > 0;
  cut (work, smaller (width, job->out_width), smaller (height, rows));
  work->copies = layer->type == CONVOLVE_LAYER_FLOAT32 && work->phases == 1 && work->stride_x == 1
      && job->task.source.column_stride == sizeof (float);
  work->plain = layer->type == CONVOLVE_LAYER_FLOAT32 && !work->clips && layer->pool_width * layer->pool_height == 1
      && job->task.destination.column_stride == sizeof (float);
  work->across = (job->out_width - 1) / work->width + 1;
  work->down = (rows - 1) / work->height + 1;
  return (work->channels * work->patch + BUNDLE * work->sums) * sizeof (float);
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
