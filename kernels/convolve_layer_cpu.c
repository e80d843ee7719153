/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variant cpu: threads and vectors on the host. A job is a tile of outputs of one image. The input under it becomes
 * floats once, its columns sorted by their remainder modulo the stride, so that what neighbouring outputs read are
 * neighbours; the sums of 32 outputs of four filters stay in registers.
 */
#include <math.h>
#include <stdlib.h>

#include "convolve_cpu.h"
#include "convolve_layer_private.h"

#define BLOCK 32                /* outputs in a row that are summed together */
#define GROUP 4                 /* filters that are summed together */
#define WIDTH 64                /* of a tile before pooling, unless a pooling window is larger */
#define HEIGHT 8
#define PART 64                 /* products after which a sum goes to the sums proper, for less rounding */

/* How the work is cut. */
typedef struct
{
  const ConvolveLayerPlan *plan;
  const ConvolveLayerJob *job;
  int across, down;             /* tiles */
  int width, height;            /* outputs of a tile, after pooling */
  int conv_width, conv_height;  /* the same before, the width a multiple of BLOCK */
  int patch_height, columns;    /* the input under it: rows, and columns of one remainder */
  size_t patch, sums;           /* floats of a channel's patch, and of a group's sums */
} Work;

/* A row of the reduction: four weights and the samples that they meet. */
typedef void (*AddUp) (const ConvolveLayer *layer, const Work *work, const float *weights, const float *patches,
    float *sums);

/* Adds to BLOCK sums of each filter of a group all products of their windows; patches is the first window's. */
static inline __attribute__ ((always_inline)) void
add_up (const ConvolveLayer *layer, const Work *work, const float *weights, const float *patches, float *sums,
    bool fused)
{
  size_t row = (size_t) layer->stride_x * work->columns;
  float part[GROUP][BLOCK] = { {0} };
  int products = 0;

  for (int k = 0; k < GROUP; k++)
    for (int x = 0; x < BLOCK; x++)
      sums[k * work->sums + x] = 0;
  for (int c = 0; c < layer->channels; c++)
    for (int j = 0; j < layer->kernel_height; j++) {
      const float *samples = patches + c * work->patch + j * row;

      for (int i = 0; i < layer->kernel_width; i++, weights += GROUP) {
        const float *from = samples + i % layer->stride_x * work->columns + i / layer->stride_x;

        for (int k = 0; k < GROUP; k++)
          for (int x = 0; x < BLOCK; x++)
            part[k][x] = fused ? __builtin_fmaf (weights[k], from[x], part[k][x]) : part[k][x] + weights[k] * from[x];
      }
      products += layer->kernel_width;
      if (products >= PART || (c == layer->channels - 1 && j == layer->kernel_height - 1)) {
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
add_up_plain (const ConvolveLayer *layer, const Work *work, const float *weights, const float *patches, float *sums)
{
  add_up (layer, work, weights, patches, sums, false);
}

#ifdef CONVOLVE_CPU_X86
__attribute__ ((target ("avx2,fma")))
static void
add_up_avx2 (const ConvolveLayer *layer, const Work *work, const float *weights, const float *patches, float *sums)
{
  add_up (layer, work, weights, patches, sums, true);
}

__attribute__ ((target ("avx512f,avx512vl,prefer-vector-width=512")))
static void
add_up_avx512 (const ConvolveLayer *layer, const Work *work, const float *weights, const float *patches, float *sums)
{
  add_up (layer, work, weights, patches, sums, true);
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

/* The input of image b under the tile, whose first sample is at left, top, anywhere. */
static void
load_patches (const Work *work, int b, int left, int top, float *patches)
{
  const ConvolveLayer *layer = &work->plan->layer;
  const ConvolveLayerTask *task = &work->job->task;
  const ConvolveLayerTensor *from = &task->source;

  for (int c = 0; c < layer->channels; c++) {
    const uint8_t *plane = convolve_layer_plane (from, b, c);

    for (int y = 0; y < work->patch_height; y++) {
      int row = convolve_boundary_index (layer->boundary, top + y, task->height);
      float *to = patches + c * work->patch + (size_t) y * layer->stride_x * work->columns;

      for (int phase = 0; phase < layer->stride_x; phase++)
        for (int n = 0; n < work->columns; n++) {
          int column = convolve_boundary_index (layer->boundary, left + n * layer->stride_x + phase, task->width);

          to[phase * work->columns + n] = row < 0 || column < 0 ? 0
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

static void
run_jobs (const void *data, int first, int count, void *memory)
{
  const Work *work = data;
  const ConvolveLayer *layer = &work->plan->layer;
  float *patches = memory, *sums = patches + layer->channels * work->patch;
  size_t group = (size_t) GROUP * layer->channels * layer->kernel_height * layer->kernel_width;
  AddUp level = best_level ();

  for (int n = first; n < first + count; n++) {
    int b = n / (work->across * work->down), tile = n % (work->across * work->down);
    int left = tile % work->across * work->width, top = work->job->task.first_row + tile / work->across * work->height;

    load_patches (work, b, left * layer->pool_stride_x * layer->stride_x - layer->pad_left,
        top * layer->pool_stride_y * layer->stride_y - layer->pad_top, patches);
    for (int k = 0; k < layer->filters; k += GROUP) {
      for (int y = 0; y < work->conv_height; y++)
        for (int x = 0; x < work->conv_width; x += BLOCK)
          level (layer, work, (const float *) work->plan->prepared + k / GROUP * group,
              patches + (size_t) y * layer->stride_y * layer->stride_x * work->columns + x,
              sums + (size_t) y * work->conv_width + x);
      for (int i = 0; i < GROUP && k + i < layer->filters; i++)
        store_tile (work, b, k + i, left, top, sums + i * work->sums);
    }
  }
}

/* Weights as they are read: four filters' beside one another. */
ConvolveStatus
convolve_layer_cpu_prepare (ConvolveLayerPlan *plan, ConvolveError *error)
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

void
convolve_layer_cpu_clear (ConvolveLayerPlan *plan)
{
  free (plan->prepared);
}

ConvolveStatus
convolve_layer_cpu_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  Work work = {.plan = plan,.job = job };
  int rows = job->task.end_row - job->task.first_row, conv_width, jobs, threads;

  work.width = layer->pool_width < WIDTH ? (WIDTH - layer->pool_width) / layer->pool_stride_x + 1 : 1;
  work.height = layer->pool_height < HEIGHT ? (HEIGHT - layer->pool_height) / layer->pool_stride_y + 1 : 1;
  work.width = work.width < job->out_width ? work.width : job->out_width;
  work.height = work.height < rows ? work.height : rows;
  conv_width = (work.width - 1) * layer->pool_stride_x + layer->pool_width;
  work.conv_width = (conv_width + BLOCK - 1) / BLOCK * BLOCK;
  work.conv_height = (work.height - 1) * layer->pool_stride_y + layer->pool_height;
  work.across = (job->out_width - 1) / work.width + 1;
  work.down = (rows - 1) / work.height + 1;
  work.patch_height = (work.conv_height - 1) * layer->stride_y + layer->kernel_height;
  work.columns = work.conv_width + (layer->kernel_width - 1) / layer->stride_x;
  work.patch = (size_t) work.patch_height * layer->stride_x * work.columns;
  work.sums = (size_t) work.conv_width * work.conv_height;
  if ((int64_t) work.across * work.down * job->task.batch > INT32_MAX)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d outputs of %dx%d", job->task.batch, job->out_width, rows);
  jobs = work.across * work.down * job->task.batch;
  threads = plan->pool ? convolve_pool_threads (plan->pool) : 1;
  return convolve_pool_run (plan->pool, threads < jobs ? threads : jobs, jobs,
      (layer->channels * work.patch + GROUP * work.sums) * sizeof (float), run_jobs, &work, error);
}
