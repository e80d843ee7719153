/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plans of convolution layers: checks of what callers pass, sizes of outputs, the choice of the variant, and the call
 * that runs a task. convolve_layer.h has the contract of each function that is not static.
 */
#include <math.h>
#include <stdlib.h>

#include "layer/auto.h"

#define MAX_EXTENT (1 << 28) /* samples along a padded side; small enough that an int holds every index */
#define MAX_BATCH 65535      /* images of a task: CUDA's limit for gridDim.z */

void
convolve_layer_init (ConvolveLayer *layer, int filters, int channels, int kernel_height, int kernel_width,
    const float *weights)
{
  *layer = (ConvolveLayer){
    .filters = filters,
    .channels = channels,
    .kernel_height = kernel_height,
    .kernel_width = kernel_width,
    .groups = 1,
    .weights = weights,
    .stride_y = 1,
    .stride_x = 1,
    .dilation_y = 1,
    .dilation_x = 1,
    .pool_height = 1,
    .pool_width = 1,
    .pool_stride_y = 1,
    .pool_stride_x = 1,
    .pool_dilation_y = 1,
    .pool_dilation_x = 1,
    .in_scale = 1.0f / 255,
    .out_scale = 255,
  };
}

/* Whether a number is low .. high. Otherwise sets the error; `what` and `of` together name the field. */
static bool
within (const char *what, const char *of, int value, int low, int high, ConvolveError *error)
{
  if (value >= low && value <= high)
    return true;
  convolve_fail (error, CONVOLVE_INVALID, 0, "%s%s of %d: %d to %d is allowed", what, of, value, low, high);
  return false;
}

/* What a layer says of one direction. */
typedef struct
{
  const char *name, *way, *first, *last; /* words for the side, its direction and its ends */
  int kernel, stride, dilation, before, after;
  int pool, pool_stride, pool_dilation, pool_before, pool_after;
  bool pool_ceil;
} Side;

static Side
rows_of (const ConvolveLayer *layer)
{
  return (Side){ "height", "a vertical", "at the top", "at the bottom", layer->kernel_height, layer->stride_y,
    layer->dilation_y, layer->pad_top, layer->pad_bottom, layer->pool_height, layer->pool_stride_y,
    layer->pool_dilation_y, layer->pool_pad_top, layer->pool_pad_bottom, layer->pool_ceil };
}

static Side
columns_of (const ConvolveLayer *layer)
{
  return (Side){ "width", "a horizontal", "at the left", "at the right", layer->kernel_width, layer->stride_x,
    layer->dilation_x, layer->pad_left, layer->pad_right, layer->pool_width, layer->pool_stride_x,
    layer->pool_dilation_x, layer->pool_pad_left, layer->pool_pad_right, layer->pool_ceil };
}

static bool
check_kernel (const Side *side, ConvolveError *error)
{
  return within ("a kernel ", side->name, side->kernel, 1, CONVOLVE_MAX_SIDE, error)
      && within (side->way, " stride", side->stride, 1, CONVOLVE_LAYER_MAX_STEP, error)
      && within (side->way, " dilation", side->dilation, 1, CONVOLVE_LAYER_MAX_DILATION, error);
}

static bool
check_pooling (const Side *side, ConvolveError *error)
{
  if (!within ("a pooling ", side->name, side->pool, 1, CONVOLVE_LAYER_MAX_STEP, error)
      || !within (side->way, " pooling stride", side->pool_stride, 1, CONVOLVE_LAYER_MAX_STEP, error)
      || !within (side->way, " pooling dilation", side->pool_dilation, 1, CONVOLVE_LAYER_MAX_DILATION, error))
    return false;
  const int span = convolve_layer_span (side->pool, side->pool_dilation);
  return within ("a pooling's padding ", side->first, side->pool_before, 0, span - 1, error)
      && within ("a pooling's padding ", side->last, side->pool_after, 0, span - 1, error);
}

static bool
check_side (const Side *side, ConvolveError *error)
{
  return check_kernel (side, error)
      && within ("a padding ", side->first, side->before, 0, CONVOLVE_LAYER_MAX_PADDING, error)
      && within ("a padding ", side->last, side->after, 0, CONVOLVE_LAYER_MAX_PADDING, error)
      && check_pooling (side, error);
}

/* The padding of one side, before and after, for ceil (size / stride) outputs. */
static ConvolveStatus
pad_side (const Side *side, int size, int *before, int *after, ConvolveError *error)
{
  int64_t total;

  if (!within ("a ", side->name, size, 1, MAX_EXTENT, error) || !check_kernel (side, error))
    return CONVOLVE_INVALID;
  total =
      (int64_t) ((size - 1) / side->stride) * side->stride + convolve_layer_span (side->kernel, side->dilation) - size;
  total = total < 0 ? 0 : total;
  *before = (int) (total / 2);
  *after = (int) (total - total / 2);
  return within ("a padding ", side->last, *after, 0, CONVOLVE_LAYER_MAX_PADDING, error) ? CONVOLVE_OK
                                                                                         : CONVOLVE_INVALID;
}

ConvolveStatus
convolve_layer_pad_same (ConvolveLayer *layer, int height, int width, ConvolveError *error)
{
  const Side rows = rows_of (layer), columns = columns_of (layer);
  int top = 0, bottom = 0, left = 0, right = 0;
  ConvolveStatus status = pad_side (&rows, height, &top, &bottom, error);

  if (status == CONVOLVE_OK)
    status = pad_side (&columns, width, &left, &right, error);
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

/* Checks all fields of a layer but its weights and biases. */
static ConvolveStatus
check_layer (const ConvolveLayer *layer, ConvolveError *error)
{
  const Side rows = rows_of (layer), columns = columns_of (layer);
  int64_t weights;

  if (!within ("a number of filters", "", layer->filters, 1, CONVOLVE_LAYER_MAX_CHANNELS, error)
      || !within ("a number of channels", "", layer->channels, 1, CONVOLVE_LAYER_MAX_CHANNELS, error)
      || !within ("a number of groups", "", layer->groups, 1, layer->channels, error)
      || !within ("a first filter", "", layer->first_filter, 0, layer->filters - 1, error)
      || !within ("a number of filters to show", "", layer->shown, 0, layer->filters - layer->first_filter, error)
      || !check_side (&rows, error) || !check_side (&columns, error)
      || !within ("a boundary", "", (int) layer->boundary, 0, CONVOLVE_LAYER_N_BOUNDARIES - 1, error)
      || !within ("an activation", "", (int) layer->activation, 0, CONVOLVE_N_ACTIVATIONS - 1, error)
      || !within ("a type", "", (int) layer->type, 0, CONVOLVE_N_LAYER_TYPES - 1, error))
    return CONVOLVE_INVALID;
  if (layer->filters % layer->groups || layer->channels % layer->groups)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "%d groups: the %d filters and %d channels cannot be divided into so many equal groups", layer->groups,
        layer->filters, layer->channels);
  weights = (int64_t) layer->filters * (layer->channels / layer->groups) * layer->kernel_height * layer->kernel_width;
  if (weights > CONVOLVE_LAYER_MAX_WEIGHTS)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a layer of %lld weights: at most %d are allowed",
        (long long) weights, CONVOLVE_LAYER_MAX_WEIGHTS);
  if (layer->type == CONVOLVE_LAYER_U8
      && (!isfinite (layer->in_scale) || !isfinite (layer->in_offset) || !isfinite (layer->out_scale)
          || !isfinite (layer->out_offset) || layer->in_scale == 0 || layer->out_scale == 0))
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "scales and offsets of 8-bit samples must be finite, and scales not 0");
  return CONVOLVE_OK;
}

/* The number of windows over m samples of the convolution, each with a sample in it. Returns 0 where there is none. */
static int
pooled_size (const Side *side, int m)
{
  int padded = m + side->pool_before + side->pool_after - convolve_layer_span (side->pool, side->pool_dilation);
  int out = side->pool_ceil ? padded + side->pool_stride - 1 : padded;

  if (out < 0)
    return 0;
  out = out / side->pool_stride + 1;
  /* Rounded up, the last window may begin behind the last sample. One stride back it does not. */
  return (int64_t) (out - 1) * side->pool_stride - side->pool_before >= m ? out - 1 : out;
}

/* The number of outputs along one side, before and after pooling. */
static ConvolveStatus
side_size (const Side *side, int size, int *conv, int *out, ConvolveError *error)
{
  int64_t padded = (int64_t) size + side->before + side->after;
  int span = convolve_layer_span (side->kernel, side->dilation);

  if (size < 1 || padded > MAX_EXTENT)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "a %s of %d with %d samples of padding: 1 to %d samples are allowed, padding included", side->name, size,
        side->before + side->after, MAX_EXTENT);
  if (span > padded)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "a kernel %s of %d%s: a %s of %d has only %lld samples with its padding", side->name, span,
        side->dilation > 1 ? " with its dilation" : "", side->name, size, (long long) padded);
  *conv = (int) ((padded - span) / side->stride + 1);
  *out = pooled_size (side, *conv);
  if (*out < 1)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a pooling %s of %d%s: there are only %d samples to pool",
        side->name, convolve_layer_span (side->pool, side->pool_dilation),
        side->pool_dilation > 1 ? " with its dilation" : "", *conv);
  /* A window that begins in the padding then might have samples before and behind the image alone. */
  if (side->pool_before > 0 && side->pool_dilation > *conv)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "%s pooling dilation of %d with padding: there are only %d samples to pool", side->way, side->pool_dilation,
        *conv);
  return CONVOLVE_OK;
}

/* Sets the sizes of the job for an input of height x width. The layer has been checked. */
static ConvolveStatus
fill_sizes (const ConvolveLayer *layer, int height, int width, ConvolveLayerJob *job, ConvolveError *error)
{
  const Side rows = rows_of (layer), columns = columns_of (layer);
  ConvolveStatus status = side_size (&rows, height, &job->conv_height, &job->out_height, error);

  return status != CONVOLVE_OK ? status : side_size (&columns, width, &job->conv_width, &job->out_width, error);
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

/* Whether weights may be missing: each filter then takes a channel of its own as it is. */
static bool
takes_channels (const ConvolveLayer *layer)
{
  return layer->filters == layer->groups && layer->channels == layer->groups && layer->kernel_height == 1
      && layer->kernel_width == 1;
}

/* Removes dilations between nothing, and rounding where every window is whole, so that variants need not look twice. */
static void
simplify (ConvolveLayer *layer)
{
  layer->dilation_y = layer->kernel_height > 1 ? layer->dilation_y : 1;
  layer->dilation_x = layer->kernel_width > 1 ? layer->dilation_x : 1;
  layer->pool_dilation_y = layer->pool_height > 1 ? layer->pool_dilation_y : 1;
  layer->pool_dilation_x = layer->pool_width > 1 ? layer->pool_dilation_x : 1;
  layer->pool_ceil = layer->pool_ceil && (layer->pool_height > 1 || layer->pool_width > 1);
}

/* Copies the layer to the plan, with the weights and biases of the filters that the output shows. */
static ConvolveStatus
copy_weights (ConvolveLayerPlan *plan, const ConvolveLayer *layer, ConvolveError *error)
{
  int filters = convolve_layer_outputs (layer), first = layer->first_filter;
  size_t filter_size = convolve_layer_filter_size (layer), count = filter_size * filters;

  if (!layer->weights && !takes_channels (layer))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "the layer has no weights");
  plan->weights = malloc (count * sizeof (float));
  plan->bias = calloc (filters, sizeof (float));
  if (!plan->weights || !plan->bias)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu weights", count);
  for (size_t i = 0; i < count; i++) {
    plan->weights[i] = layer->weights ? layer->weights[first * filter_size + i] : 1;
    if (!isfinite (plan->weights[i]))
      return convolve_fail (error, CONVOLVE_INVALID, 0, "weight %zu of filter %zu is not finite", i % filter_size,
          first + i / filter_size);
  }
  for (int k = 0; k < filters && layer->bias; k++) {
    plan->bias[k] = layer->bias[first + k];
    if (!isfinite (plan->bias[k]))
      return convolve_fail (error, CONVOLVE_INVALID, 0, "the bias of filter %d is not finite", first + k);
  }
  plan->layer = *layer;
  plan->layer.weights = plan->weights;
  plan->layer.bias = plan->bias;
  plan->layer.filters = plan->layer.shown = filters;
  plan->layer.first_filter = 0;
  simplify (&plan->layer);
  plan->first_filter = first;
  plan->group_filters = layer->filters / layer->groups;
  plan->group_channels = layer->channels / layer->groups;
  return CONVOLVE_OK;
}

/* Sets the variant of that name, or the one that auto.c chooses, and the device where the variant needs one. */
static ConvolveStatus
choose_variant (ConvolveLayerPlan *plan, const char *name, ConvolveDevice *device, ConvolveError *error)
{
  const ConvolveLayerVariant *const *row = convolve_layer_variants;
  const char *reason;
  ConvolveFound found;

  plan->device = device;
  if (strcmp (name, "auto") == 0) {
    convolve_layer_auto_choose (plan);
  } else {
    while (*row && strcmp (name, (*row)->name) != 0)
      row++;
    if (!*row)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "no variant for layers has the name \"%s\"", name);
    if ((*row)->on_device && !device)
      return convolve_fail (error, CONVOLVE_NO_DEVICE, 0, "the variant %s needs a CUDA device, and there is none",
          name);
    if (!convolve_layer_variant_accepts (*row, plan, &found, &reason)) {
      if (strcmp (reason, CONVOLVE_REASON_NO_MEMORY) == 0)
        return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a plan of the variant %s", name);
      return convolve_fail (error, CONVOLVE_UNSUPPORTED, 0, "%s cannot do this layer: %s", name, reason);
    }
    plan->variant = *row;
    plan->prepared = found.block;
    plan->kernel = found.kernel;
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
      || (plan->variant->prepare && plan->variant->prepare (plan, error) != CONVOLVE_OK)) {
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
  const int span = convolve_layer_span (layer->kernel_height, layer->dilation_y);
  /* Rows of the convolution: those under the windows, as far as there are such rows. */
  int64_t conv = ((int64_t) height + layer->pad_top + layer->pad_bottom - span) / layer->stride_y + 1;
  int64_t from = (int64_t) first * layer->pool_stride_y - layer->pool_pad_top;
  int64_t last = (int64_t) (end - 1) * layer->pool_stride_y - layer->pool_pad_top
      + convolve_layer_span (layer->pool_height, layer->pool_dilation_y) - 1;
  int64_t top = (from < 0 ? 0 : from) * layer->stride_y - layer->pad_top;
  int64_t bottom = (last < conv ? last : conv - 1) * layer->stride_y + span - layer->pad_top;
  bool outside = top < 0 || bottom > height;

  *source_first = (int) (top < 0 ? 0 : top < height ? top : height - 1);
  *source_end = (int) (bottom > height ? height : bottom < 1 ? 1 : bottom);
  /* Padding that reflects or wraps takes its samples from anywhere in the image. */
  if (outside && layer->boundary != CONVOLVE_BOUNDARY_ZERO && layer->boundary != CONVOLVE_BOUNDARY_REPLICATE) {
    *source_first = 0;
    *source_end = height;
  }
}

/* Whether a channel spans less than 2^31 bytes, and the whole tensor no more than PTRDIFF_MAX. */
static bool
check_extent (const ConvolveLayerTensor *tensor, int batch, int channels, int height, int width, bool *channel_fits)
{
  uint64_t extent = 0;

  *channel_fits = convolve_extend (&extent, tensor->column_stride, width)
      && convolve_extend (&extent, tensor->row_stride, height) && extent <= INT32_MAX;
  return *channel_fits && convolve_extend (&extent, tensor->batch_stride, batch - 1)
      && (!tensor->across
          || (convolve_extend (&extent, tensor->down_stride, (channels - 1) / tensor->across)
              && convolve_extend (&extent, tensor->across_stride,
                  (channels < tensor->across ? channels : tensor->across) - 1)));
}

/*
 * Checks pointers, alignment and strides of a tensor of `channels` channels of height x width samples, in `batch` images.
 */
static ConvolveStatus
check_tensor (const char *name, const ConvolveLayerTensor *tensor, ConvolveLayerType type, int batch, int channels,
    int height, int width, ConvolveError *error)
{
  bool channel_fits;
  int size = convolve_layer_sample_size (type), n = tensor->across ? 1 : channels;
  uintptr_t bits =
      (uintptr_t) tensor->batch_stride | (uintptr_t) tensor->row_stride | (uintptr_t) tensor->column_stride;

  if (tensor->across < 0)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "the %s has %d channels in a row: 0 or more are allowed", name,
        tensor->across);
  if (!tensor->across && channels > CONVOLVE_LAYER_PLANES)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "the %s has %d channels with an address each: at most %d are allowed, so set the number of channels in a row",
        name, channels, CONVOLVE_LAYER_PLANES);
  if (tensor->across)
    bits |= (uintptr_t) tensor->across_stride | (uintptr_t) tensor->down_stride;
  for (int i = 0; i < n; i++) {
    if (!tensor->channel[i])
      return convolve_fail (error, CONVOLVE_INVALID, 0, "channel %d of the %s is NULL", i, name);
    bits |= (uintptr_t) tensor->channel[i];
  }
  if (bits & (size - 1))
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "addresses and strides of the %s must be multiples of its sample size, %d bytes", name, size);
  if (width > 1 && convolve_stride_magnitude (tensor->column_stride) < (uint64_t) size)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "the column stride of the %s is %td bytes, less than a sample of %d bytes", name, tensor->column_stride, size);
  if (!check_extent (tensor, batch, channels, height, width, &channel_fits))
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        channel_fits ? "the %s spans 2^63 bytes or more" : "a channel of the %s spans 2^31 bytes or more", name);
  return CONVOLVE_OK;
}

/* Sets the task's filled channels to their value, in host memory. */
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
  if (task->batch < 1 || task->batch > MAX_BATCH)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a batch of %d images: 1 to %d are allowed", task->batch,
        MAX_BATCH);
  if (task->filled < 0 || task->filled > CONVOLVE_LAYER_MAX_CHANNELS)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d channels to fill: 0 to %d are allowed", task->filled,
        CONVOLVE_LAYER_MAX_CHANNELS);
  job.task.end_row = task->end_row ? task->end_row : job.out_height;
  if (task->first_row < 0 || task->first_row >= job.task.end_row || job.task.end_row > job.out_height)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "rows from %d up to %d: the output has rows 0 to %d",
        task->first_row, job.task.end_row, job.out_height - 1);
  status = check_tensor ("source", &task->source, layer->type, task->batch, layer->channels, task->height, task->width,
      error);
  if (status == CONVOLVE_OK)
    status = check_tensor ("destination", &task->destination, layer->type, task->batch, layer->filters + task->filled,
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
