/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolution layers: checked arguments, sizes, the chosen variant, and the call that runs it. */
#include <math.h>
#include <stdlib.h>

#include "layer/auto.h"

#define MAX_EXTENT (1 << 28) /* samples along a padded side: index arithmetic on twice as many stays in an int */

void
convolve_layer_init (ConvolveLayer *layer, int filters, int channels, int kernel_height, int kernel_width,
    const float *weights)
{
  *layer = (ConvolveLayer){
    .filters = filters,
    .channels = channels,
    .kernel_height = kernel_height,
    .kernel_width = kernel_width,
    .weights = weights,
    .stride_y = 1,
    .stride_x = 1,
    .pool_height = 1,
    .pool_width = 1,
    .pool_stride_y = 1,
    .pool_stride_x = 1,
    .in_scale = 1.0f / 255,
    .out_scale = 255,
  };
}

static ConvolveStatus
pad_side (const char *side, int size, int kernel, int stride, int *before, int *after, ConvolveError *error)
{
  int64_t total;

  if (size < 1 || size > MAX_EXTENT)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a %s of %d", side, size);
  if (kernel < 1 || kernel > CONVOLVE_MAX_SIDE)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a kernel %s of %d: it is 1 to %d", side, kernel,
        CONVOLVE_MAX_SIDE);
  if (stride < 1 || stride > CONVOLVE_LAYER_MAX_STEP)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a stride of %d: it is 1 to %d", stride, CONVOLVE_LAYER_MAX_STEP);
  total = (int64_t) ((size - 1) / stride) * stride + kernel - size;
  total = total < 0 ? 0 : total;
  *before = (int) (total / 2);
  *after = (int) (total - total / 2);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_layer_pad_same (ConvolveLayer *layer, int height, int width, ConvolveError *error)
{
  int top = 0, bottom = 0, left = 0, right = 0;
  ConvolveStatus status = pad_side ("height", height, layer->kernel_height, layer->stride_y, &top, &bottom, error);

  if (status == CONVOLVE_OK)
    status = pad_side ("width", width, layer->kernel_width, layer->stride_x, &left, &right, error);
  if (status == CONVOLVE_OK) {
    layer->pad_top = top;
    layer->pad_bottom = bottom;
    layer->pad_left = left;
    layer->pad_right = right;
  }
  return status;
}

int
convolve_layer_outputs (const ConvolveLayer *layer)
{
  return layer->shown ? layer->shown : layer->filters - layer->first_filter;
}

/* Whether value is low .. high. */
static bool
within (const char *what, int value, int low, int high, ConvolveError *error)
{
  if (value >= low && value <= high)
    return true;
  convolve_fail (error, CONVOLVE_INVALID, 0, "%s of %d: it is %d to %d", what, value, low, high);
  return false;
}

static ConvolveStatus
check_layer (const ConvolveLayer *layer, ConvolveError *error)
{
  int64_t weights;

  if (!within ("a number of filters", layer->filters, 1, CONVOLVE_LAYER_MAX_CHANNELS, error)
      || !within ("a number of channels", layer->channels, 1, CONVOLVE_LAYER_MAX_CHANNELS, error)
      || !within ("a kernel height", layer->kernel_height, 1, CONVOLVE_MAX_SIDE, error)
      || !within ("a kernel width", layer->kernel_width, 1, CONVOLVE_MAX_SIDE, error)
      || !within ("a first filter", layer->first_filter, 0, layer->filters - 1, error)
      || !within ("a number of filters to show", layer->shown, 0, layer->filters - layer->first_filter, error)
      || !within ("a stride", layer->stride_y, 1, CONVOLVE_LAYER_MAX_STEP, error)
      || !within ("a stride", layer->stride_x, 1, CONVOLVE_LAYER_MAX_STEP, error)
      || !within ("a padding", layer->pad_top, 0, CONVOLVE_LAYER_MAX_PADDING, error)
      || !within ("a padding", layer->pad_bottom, 0, CONVOLVE_LAYER_MAX_PADDING, error)
      || !within ("a padding", layer->pad_left, 0, CONVOLVE_LAYER_MAX_PADDING, error)
      || !within ("a padding", layer->pad_right, 0, CONVOLVE_LAYER_MAX_PADDING, error)
      || !within ("a pooling height", layer->pool_height, 1, CONVOLVE_LAYER_MAX_STEP, error)
      || !within ("a pooling width", layer->pool_width, 1, CONVOLVE_LAYER_MAX_STEP, error)
      || !within ("a pooling stride", layer->pool_stride_y, 1, CONVOLVE_LAYER_MAX_STEP, error)
      || !within ("a pooling stride", layer->pool_stride_x, 1, CONVOLVE_LAYER_MAX_STEP, error)
      || !within ("a boundary", (int) layer->boundary, 0, CONVOLVE_N_BOUNDARIES - 1, error)
      || !within ("an activation", (int) layer->activation, 0, CONVOLVE_N_ACTIVATIONS - 1, error)
      || !within ("a type", (int) layer->type, 0, CONVOLVE_N_LAYER_TYPES - 1, error))
    return CONVOLVE_INVALID;
  weights = (int64_t) layer->filters * layer->channels * layer->kernel_height * layer->kernel_width;
  if (weights > CONVOLVE_LAYER_MAX_WEIGHTS)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%lld weights: there are at most %d", (long long) weights,
        CONVOLVE_LAYER_MAX_WEIGHTS);
  if (layer->type == CONVOLVE_LAYER_U8
      && (!isfinite (layer->in_scale) || !isfinite (layer->in_offset) || !isfinite (layer->out_scale)
          || !isfinite (layer->out_offset) || layer->in_scale == 0 || layer->out_scale == 0))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a scale of 0 or a number that is not finite");
  return CONVOLVE_OK;
}

/* One side of the output, before and after pooling. */
static ConvolveStatus
side_size (const char *side, int size, int before, int after, int kernel, int stride, int pool, int pool_stride,
    int *conv, int *out, ConvolveError *error)
{
  int64_t padded = (int64_t) size + before + after;

  if (size < 1 || padded > MAX_EXTENT)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a %s of %d with a padding of %d", side, size, before + after);
  if (kernel > padded)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a kernel %s of %d and %lld samples with the padding", side,
        kernel, (long long) padded);
  *conv = (int) ((padded - kernel) / stride + 1);
  if (pool > *conv)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a pooling %s of %d and %d samples to pool", side, pool, *conv);
  *out = (*conv - pool) / pool_stride + 1;
  return CONVOLVE_OK;
}

static ConvolveStatus
fill_sizes (const ConvolveLayer *layer, int height, int width, ConvolveLayerJob *job, ConvolveError *error)
{
  ConvolveStatus status = side_size ("height", height, layer->pad_top, layer->pad_bottom, layer->kernel_height,
      layer->stride_y, layer->pool_height, layer->pool_stride_y, &job->conv_height, &job->out_height, error);

  return status != CONVOLVE_OK
      ? status
      : side_size ("width", width, layer->pad_left, layer->pad_right, layer->kernel_width, layer->stride_x,
          layer->pool_width, layer->pool_stride_x, &job->conv_width, &job->out_width, error);
}

ConvolveStatus
convolve_layer_output_size (const ConvolveLayer *layer, int height, int width, int *out_height, int *out_width,
    ConvolveError *error)
{
  ConvolveLayerJob job;
  ConvolveStatus status = check_layer (layer, error);

  if (status == CONVOLVE_OK)
    status = fill_sizes (layer, height, width, &job, error);
  if (status == CONVOLVE_OK) {
    *out_height = job.out_height;
    *out_width = job.out_width;
  }
  return status;
}

ConvolveLayerTensor
convolve_layer_nchw (ConvolveLayerType type, void *data, int channels, int height, int width)
{
  ptrdiff_t size = convolve_layer_sample_size (type), plane = size * height * width;

  return (ConvolveLayerTensor){
    .channel = { data },
    .batch_stride = channels * plane,
    .row_stride = width * size,
    .column_stride = size,
    .across = 1,
    .down_stride = plane,
  };
}

ConvolveLayerTensor
convolve_layer_mosaic (void *data, ptrdiff_t row_stride, ptrdiff_t column_stride, int columns, int tile_height,
    int tile_width)
{
  return (ConvolveLayerTensor){
    .channel = { data },
    .row_stride = row_stride,
    .column_stride = column_stride,
    .across = columns,
    .across_stride = tile_width * column_stride,
    .down_stride = tile_height * row_stride,
  };
}

/* The shown filters' weights and biases become the plan's own. */
static ConvolveStatus
copy_weights (ConvolveLayerPlan *plan, const ConvolveLayer *layer, ConvolveError *error)
{
  int filters = convolve_layer_outputs (layer);
  size_t of_filter = (size_t) layer->channels * layer->kernel_height * layer->kernel_width, count = of_filter * filters;
  const float *weights;

  if (!layer->weights)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a layer without weights");
  plan->weights = malloc (count * sizeof (float));
  plan->bias = calloc (filters, sizeof (float));
  if (!plan->weights || !plan->bias)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu weights", count);
  weights = layer->weights + layer->first_filter * of_filter;
  for (size_t i = 0; i < count; i++)
    if (!isfinite (weights[i]))
      return convolve_fail (error, CONVOLVE_INVALID, 0, "weight %zu of filter %zu is not finite", i % of_filter,
          layer->first_filter + i / of_filter);
  memcpy (plan->weights, weights, count * sizeof (float));
  for (int k = 0; k < filters && layer->bias; k++) {
    plan->bias[k] = layer->bias[layer->first_filter + k];
    if (!isfinite (plan->bias[k]))
      return convolve_fail (error, CONVOLVE_INVALID, 0, "the bias of filter %d is not finite", layer->first_filter + k);
  }
  plan->layer = *layer;
  plan->layer.weights = plan->weights;
  plan->layer.bias = plan->bias;
  plan->layer.filters = plan->layer.shown = filters;
  plan->layer.first_filter = 0;
  return CONVOLVE_OK;
}

/* Takes the variant by its name, or the one that auto.c chooses. */
static ConvolveStatus
choose_variant (ConvolveLayerPlan *plan, const char *name, ConvolveDevice *device, ConvolveError *error)
{
  const ConvolveLayerVariant *const *row = convolve_layer_variants;
  const char *reason;

  plan->device = device;
  if (strcmp (name, "auto") == 0) {
    plan->variant = convolve_layer_auto_choose (plan);
  } else {
    while (*row && strcmp (name, (*row)->name) != 0)
      row++;
    if (!*row)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "there is no variant \"%s\"", name);
    if ((*row)->on_device && !device)
      return convolve_fail (error, CONVOLVE_NO_DEVICE, 0, "%s runs on a CUDA device and there is none", name);
    if (!convolve_layer_variant_accepts (*row, plan, &reason))
      return convolve_fail (error, CONVOLVE_UNSUPPORTED, 0, "%s cannot do this layer: %s", name, reason);
    plan->variant = *row;
  }
  if (!plan->variant->on_device)
    plan->device = NULL;
  return CONVOLVE_OK;
}

ConvolveLayerPlan *
convolve_layer_plan_new (const ConvolveLayer *layer, const char *variant, ConvolveDevice *device, ConvolveError *error)
{
  ConvolveLayerPlan *plan;

  if (check_layer (layer, error) != CONVOLVE_OK)
    return NULL;
  plan = calloc (1, sizeof (ConvolveLayerPlan));
  if (!plan) {
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a plan");
    return NULL;
  }
  plan->references = 1;
  if (copy_weights (plan, layer, error) != CONVOLVE_OK || choose_variant (plan, variant, device, error) != CONVOLVE_OK
      || (plan->variant->prepare && plan->variant->prepare (plan, error) != CONVOLVE_OK)
      || (plan->variant->load && plan->variant->load (plan, error) != CONVOLVE_OK)) {
    convolve_layer_plan_unref (plan);
    return NULL;
  }
  return plan;
}

ConvolveLayerPlan *
convolve_layer_plan_ref (ConvolveLayerPlan *plan)
{
  __atomic_add_fetch (&plan->references, 1, __ATOMIC_RELAXED);
  return plan;
}

void
convolve_layer_plan_unref (ConvolveLayerPlan *plan)
{
  if (!plan || __atomic_sub_fetch (&plan->references, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  if (plan->variant && plan->variant->clear)
    plan->variant->clear (plan);
  free (plan->weights);
  free (plan->bias);
  free (plan);
}

const char *
convolve_layer_plan_variant (const ConvolveLayerPlan *plan)
{
  return plan->variant->name;
}

bool
convolve_layer_plan_on_device (const ConvolveLayerPlan *plan)
{
  return plan->variant->on_device;
}

void
convolve_layer_plan_set_pool (ConvolveLayerPlan *plan, ConvolvePool *pool)
{
  plan->pool = pool;
}

void
convolve_layer_plan_source_rows (const ConvolveLayerPlan *plan, int height, int first, int end, int *source_first,
    int *source_end)
{
  const ConvolveLayer *layer = &plan->layer;
  int64_t top = (int64_t) first * layer->pool_stride_y * layer->stride_y - layer->pad_top;
  int64_t bottom = ((int64_t) (end - 1) * layer->pool_stride_y + layer->pool_height - 1) * layer->stride_y
      + layer->kernel_height - layer->pad_top;
  bool outside = top < 0 || bottom > height;

  *source_first = (int) (top < 0 ? 0 : top < height ? top : height - 1);
  *source_end = (int) (bottom > height ? height : bottom < 1 ? 1 : bottom);
  /* What padding repeats is anywhere: at the other end, or far in. */
  if (outside && layer->boundary != CONVOLVE_BOUNDARY_ZERO && layer->boundary != CONVOLVE_BOUNDARY_REPLICATE) {
    *source_first = 0;
    *source_end = height;
  }
}

static ConvolveStatus
check_tensor (const char *name, const ConvolveLayerTensor *tensor, ConvolveLayerType type, int channels, int height,
    int width, ConvolveError *error)
{
  int size = convolve_layer_sample_size (type), n = tensor->across ? 1 : channels;
  uintptr_t all = (uintptr_t) tensor->batch_stride | (uintptr_t) tensor->row_stride | (uintptr_t) tensor->column_stride;

  if (tensor->across < 0 || (!tensor->across && channels > CONVOLVE_LAYER_PLANES))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d channels of the %s with %d in a row", channels, name,
        tensor->across);
  if (tensor->across)
    all |= (uintptr_t) tensor->across_stride | (uintptr_t) tensor->down_stride;
  for (int i = 0; i < n; i++) {
    if (!tensor->channel[i])
      return convolve_fail (error, CONVOLVE_INVALID, 0, "channel %d of the %s has no memory", i, name);
    all |= (uintptr_t) tensor->channel[i];
  }
  if (all & (size - 1))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "the %s is not aligned to its samples of %d bytes", name, size);
  if (width > 1 && llabs (tensor->column_stride) < size)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%td bytes from sample to sample of the %s",
        tensor->column_stride, name);
  if (llabs (tensor->column_stride) > INT32_MAX / width || llabs (tensor->row_stride) > INT32_MAX / height
      || llabs (tensor->column_stride) * width + llabs (tensor->row_stride) * height > INT32_MAX)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a channel of the %s that spans 2^31 bytes", name);
  return CONVOLVE_OK;
}

static void
fill_channels (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  const ConvolveLayerTask *task = &job->task;
  const ConvolveLayerTensor *to = &task->destination;

  for (int b = 0; b < task->batch; b++)
    for (int k = plan->layer.filters; k < plan->layer.filters + task->filled; k++)
      for (int y = task->first_row; y < task->end_row; y++) {
        uint8_t *at = convolve_layer_plane (to, b, k) + y * to->row_stride;

        for (int x = 0; x < job->out_width; x++, at += to->column_stride)
          convolve_layer_store (plan->layer.type, at, task->fill);
      }
}

ConvolveStatus
convolve_layer_run (const ConvolveLayerPlan *plan, const ConvolveLayerTask *task, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  ConvolveLayerJob job = { .task = *task };
  ConvolveStatus status = fill_sizes (layer, task->height, task->width, &job, error);

  if (status != CONVOLVE_OK)
    return status;
  if (task->batch < 1 || task->batch > 65535)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a batch of %d", task->batch);
  if (task->filled < 0 || task->filled > CONVOLVE_LAYER_MAX_CHANNELS)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d channels to fill", task->filled);
  job.task.end_row = task->end_row ? task->end_row : job.out_height;
  if (task->first_row < 0 || task->first_row >= job.task.end_row || job.task.end_row > job.out_height)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "rows %d to %d of %d", task->first_row, task->end_row,
        job.out_height);
  status = check_tensor ("source", &task->source, layer->type, layer->channels, task->height, task->width, error);
  if (status == CONVOLVE_OK)
    status = check_tensor ("destination", &task->destination, layer->type, layer->filters + task->filled,
        job.out_height, job.out_width, error);
  if (status == CONVOLVE_OK)
    status = plan->variant->run (plan, &job, error);
  if (status == CONVOLVE_OK && task->filled > 0 && !(plan->variant->fills && plan->variant->fills (plan, &job))) {
    if (plan->device)
      return convolve_layer_device_fill (plan, &job, error);
    fill_channels (plan, &job);
  }
  return status;
}
