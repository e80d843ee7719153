/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_layer_case.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/names.h"
#include "support/random.h"

int
check_layer_sample_size (ConvolveLayerType type)
{
  switch (type) {
    case CONVOLVE_LAYER_FLOAT32:
      return 4;
    case CONVOLVE_LAYER_FLOAT16:
      return 2;
    case CONVOLVE_LAYER_U8:
      return 1;
    case CONVOLVE_N_LAYER_TYPES:
      break;
  }
  abort ();
}

/* The value of a float16, from IEEE's definition of binary16. */
static double
half_value (unsigned half)
{
  int exponent = half >> 10 & 31, fraction = half & 1023;
  double value = exponent == 0 ? ldexp (fraction, -24)
      : exponent == 31         ? INFINITY
                               : ldexp (1024 + fraction, exponent - 25);

  return half >> 15 ? -value : value;
}

double
check_layer_read (const ConvolveLayer *layer, const unsigned char *at)
{
  float single;
  uint16_t half;

  switch (layer->type) {
    case CONVOLVE_LAYER_FLOAT32:
      memcpy (&single, at, 4);
      return single;
    case CONVOLVE_LAYER_FLOAT16:
      memcpy (&half, at, 2);
      return half_value (half);
    case CONVOLVE_LAYER_U8:
      return (double) layer->in_scale * *at + layer->in_offset;
    case CONVOLVE_N_LAYER_TYPES:
      break;
  }
  abort ();
}

ptrdiff_t
check_layer_offset (const ConvolveLayerTensor *tensor, int b, int c, int y, int x)
{
  ptrdiff_t plane;

  if (tensor->across == 0)
    plane = (ptrdiff_t) (uintptr_t) tensor->channel[c];
  else
    plane = (ptrdiff_t) (uintptr_t) tensor->channel[0] + c / tensor->across * tensor->down_stride
        + c % tensor->across * tensor->across_stride;
  return plane - 1 + b * tensor->batch_stride + y * tensor->row_stride + x * tensor->column_stride;
}

void
check_layer_extent (const CheckLayerCase *test, const CheckLayerMemory *memory, int channels, int height, int width,
    size_t *first, size_t *end)
{
  /* Offsets grow or fall along each axis, so the corners of each channel have the smallest and the largest. */
  *first = memory->size;
  *end = 0;
  for (int c = 0; c < channels; c++)
    for (int corner = 0; corner < 8; corner++) {
      size_t at = (size_t) check_layer_offset (&memory->tensor, corner & 1 ? test->batch - 1 : 0, c,
          corner & 2 ? height - 1 : 0, corner & 4 ? width - 1 : 0);

      *first = at < *first ? at : *first;
      *end = at + check_layer_sample_size (test->layer.type) > *end ? at + check_layer_sample_size (test->layer.type)
                                                                    : *end;
    }
}

void
check_layer_limit_scale (CheckLayerCase *test, double most)
{
  ConvolveLayer *layer = &test->layer;
  size_t filter_size = check_layer_filter_size (layer);
  double worst = 0;

  for (int k = 0; k < layer->filters; k++) {
    double sum = fabs (test->bias[k]);

    for (size_t i = 0; i < filter_size; i++)
      sum += fabs (test->weights[k * filter_size + i]) * most;
    worst = fmax (worst, sum);
  }
  if (fabs (layer->out_scale) * worst > 8000)
    layer->out_scale *= (float) (8000 / (fabs (layer->out_scale) * worst));
}

double
check_layer_slack (const CheckLayerCase *test, int b, int k)
{
  const ConvolveLayer *layer = &test->layer;
  size_t count = check_layer_filter_size (layer);
  size_t samples = (size_t) layer->channels * test->height * test->width;
  double weight = 0, sample = 0;

  for (size_t i = 0; i < count; i++)
    weight = fmax (weight, fabs (test->weights[k * count + i]));
  for (size_t i = 0; i < samples; i++)
    sample = fmax (sample, fabs (test->input[b * samples + i]));
  return count * weight * sample;
}

ConvolveLayerTensor
check_layer_place (const CheckLayerMemory *memory, void *base)
{
  ConvolveLayerTensor tensor = memory->tensor;

  for (int i = 0; i < CONVOLVE_LAYER_PLANES; i++)
    if (tensor.channel[i])
      tensor.channel[i] = (char *) base + ((uintptr_t) tensor.channel[i] - 1);
  return tensor;
}

/*
 * A random layout of the channels: one after the other, interleaved, or tiles of a mosaic, with gaps and with rows
 * upside down.
 */
static bool
make_memory (CheckRandom *random, CheckLayerMemory *memory, ConvolveLayerType type, int batch, int channels, int height,
    int width)
{
  ConvolveLayerTensor *tensor = &memory->tensor;
  ptrdiff_t size = check_layer_sample_size (type), start = 0, order[CONVOLVE_LAYER_PLANES] = { 0, 1, 2, 3 };
  int kind = check_random_range (random, 0, 3);

  memset (memory, 0, sizeof *memory);
  tensor->column_stride = size * (check_random_one_in (random, 6) ? check_random_range (random, 2, 3) : 1);
  if (channels > CONVOLVE_LAYER_PLANES && kind > 1)
    kind -= 2;
  for (int i = 3; i > 0; i--) {
    int other = check_random_range (random, 0, i);
    ptrdiff_t keep = order[i];

    order[i] = order[other];
    order[other] = keep;
  }
  if (kind == 0) { /* NCHW, with gaps or without */
    int gap = check_random_one_in (random, 2) ? check_random_range (random, 0, 5) : 0;

    tensor->row_stride = width * tensor->column_stride + gap * size;
    tensor->across = 1;
    tensor->down_stride = height * tensor->row_stride + gap * size;
    tensor->batch_stride = channels * tensor->down_stride;
    memory->size = batch * tensor->batch_stride;
  } else if (kind == 1) { /* a mosaic */
    int columns = check_random_range (random, 1, channels), rows = (channels + columns - 1) / columns;

    tensor->across = columns;
    tensor->across_stride = width * tensor->column_stride;
    tensor->row_stride = columns * tensor->across_stride + size * check_random_range (random, 0, 7);
    tensor->down_stride = height * tensor->row_stride;
    tensor->batch_stride = rows * tensor->down_stride;
    memory->size = batch * tensor->batch_stride;
  } else if (kind == 2) { /* planes in any order */
    tensor->row_stride = width * tensor->column_stride;
    tensor->batch_stride = CONVOLVE_LAYER_PLANES * height * tensor->row_stride;
    memory->size = batch * tensor->batch_stride;
    for (int c = 0; c < channels; c++)
      tensor->channel[c] = (void *) (uintptr_t) (1 + order[c] * height * tensor->row_stride);
  } else { /* interleaved in any order, perhaps with other bytes between */
    tensor->column_stride = size * (check_random_one_in (random, 2) ? 4 : check_random_range (random, channels, 4));
    tensor->row_stride = width * tensor->column_stride
        + (check_random_one_in (random, 2) ? tensor->column_stride : size * check_random_range (random, 0, 3));
    tensor->batch_stride = height * tensor->row_stride;
    memory->size = batch * tensor->batch_stride;
    for (int c = 0, n = 0; n < CONVOLVE_LAYER_PLANES && c < channels; n++)
      if (order[n] * size < tensor->column_stride)
        tensor->channel[c++] = (void *) (uintptr_t) (1 + order[n] * size);
  }
  if (check_random_one_in (random, 6)) {
    start = (height - 1) * tensor->row_stride;
    tensor->row_stride = -tensor->row_stride;
  }
  if (tensor->across)
    tensor->channel[0] = (void *) (uintptr_t) 1;
  /* A few samples in front and behind, so that samples are often aligned to no more than their size. */
  start += size * (check_random_one_in (random, 3) ? 16 : check_random_range (random, 0, 9));
  for (int c = 0; c < CONVOLVE_LAYER_PLANES; c++)
    if (tensor->channel[c])
      tensor->channel[c] = (void *) ((uintptr_t) tensor->channel[c] + start);
  memory->size += 64 * size;
  memory->bytes = malloc (memory->size);
  return memory->bytes != NULL;
}

/* A side of 1 .. most; half of them are at most 4. */
static int
random_side (CheckRandom *random, int most)
{
  return check_random_one_in (random, 2) ? check_random_range (random, 1, most)
                                         : check_random_range (random, 1, most < 4 ? most : 4);
}

/* How random weights, biases and samples are distributed. */
typedef enum
{
  NUMBERS_SIGNED,   /* -1 .. 1 */
  NUMBERS_POSITIVE, /* 0 .. 1: nothing cancels in a sum, so rounding errors of one sign add up */
  NUMBERS_INTEGERS, /* -3 .. 3 */
  NUMBERS_SPREAD,   /* -256 .. 256, with 17 different exponents */
  NUMBERS_TINY,     /* -2^-60 .. 2^-60 */
  NUMBERS_HUGE      /* -2^60 .. 2^60 */
} Numbers;

static double
random_number (CheckRandom *random, Numbers kind)
{
  double value = check_random_unit (random);

  switch (kind) {
    case NUMBERS_SIGNED:
      return 2 * value - 1;
    case NUMBERS_POSITIVE:
      return value;
    case NUMBERS_INTEGERS:
      return check_random_range (random, -3, 3);
    case NUMBERS_SPREAD:
      return ldexp (2 * value - 1, check_random_range (random, -8, 8));
    case NUMBERS_TINY:
      return ldexp (2 * value - 1, -60);
    case NUMBERS_HUGE:
      return ldexp (2 * value - 1, 60);
  }
  abort ();
}

/* Chooses the type, and the sizes of kernel, channels and filters. */
static void
random_shape (CheckRandom *random, ConvolveLayer *layer)
{
  static const int sides[] = { 1, 3, 5, 7 }, types[CONVOLVE_N_LAYER_TYPES] = { 4, 3, 3 };
  int kernel = sides[check_random_range (random, 0, 3)];

  static_assert (CONVOLVE_N_LAYER_TYPES == 3, "types weighs every type");
  convolve_layer_init (layer, 1, 1, kernel, kernel, NULL);
  layer->type = (ConvolveLayerType) check_random_pick (random, types, CONVOLVE_N_LAYER_TYPES);
  if (check_random_one_in (random, 3)) {
    layer->kernel_height = random_side (random, 12);
    layer->kernel_width = random_side (random, 12);
  }
  if (layer->type == CONVOLVE_LAYER_U8 && check_random_one_in (random, 2)) {
    layer->channels = check_random_range (random, 1, 4); /* as video frames have */
    layer->filters = check_random_range (random, 1, 4);
    return;
  }
  layer->channels = random_side (random, check_random_one_in (random, 4) ? 70 : 8);
  layer->filters = random_side (random, check_random_one_in (random, 4) ? 140 : 20);
}

/* Makes the image end where the windows of a tile of 16 x 16 outputs end, or a few columns further right. */
static void
end_with_tile (CheckRandom *random, CheckLayerCase *test)
{
  ConvolveLayer *layer = &test->layer;
  int height = 16 * check_random_range (random, 1, 3), width = 16 * check_random_range (random, 1, 3);

  layer->pad_bottom = layer->pad_right = 0;
  height = (height - 1) * layer->stride_y + layer->kernel_height - layer->pad_top;
  width = (width - 1) * layer->stride_x + layer->kernel_width - layer->pad_left + check_random_range (random, 0, 7);
  test->height = height > 0 ? height : 1;
  test->width = width > 0 ? width : 1;
}

/* Makes the kernel 1x1, for which gemm has code of its own, over any number of channels. */
static void
shrink_kernel (CheckRandom *random, ConvolveLayer *layer)
{
  layer->kernel_height = layer->kernel_width = 1;
  layer->channels = check_random_range (random, 1, check_random_one_in (random, 3) ? 300 : 70);
  layer->filters = check_random_range (random, 1, check_random_one_in (random, 3) ? 140 : 70);
}

/* Makes groups of the channels and the filters, or leaves each channel as it is, for a layer that only pools. */
static void
make_groups (CheckRandom *random, ConvolveLayer *layer, bool *no_weights)
{
  *no_weights = check_random_one_in (random, 4);
  layer->groups = random_side (random, 24);
  layer->channels = *no_weights ? layer->groups : layer->groups * random_side (random, 6);
  layer->filters = *no_weights ? layer->groups : layer->groups * random_side (random, 6);
  if (*no_weights)
    layer->kernel_height = layer->kernel_width = 1;
}

static void
random_pooling (CheckRandom *random, ConvolveLayer *layer)
{
  layer->pool_height = random_side (random, 5);
  layer->pool_width = random_side (random, 5);
  layer->pool_stride_y = random_side (random, 5);
  layer->pool_stride_x = random_side (random, 5);
  if (check_random_one_in (random, 3)) {
    layer->pool_dilation_y = random_side (random, 20);
    layer->pool_dilation_x = random_side (random, 20);
  }
  layer->pool_ceil = check_random_one_in (random, 3);
  if (check_random_one_in (random, 3)) {
    int rows = (layer->pool_height - 1) * layer->pool_dilation_y;
    int columns = (layer->pool_width - 1) * layer->pool_dilation_x;

    layer->pool_pad_top = check_random_range (random, 0, rows);
    layer->pool_pad_bottom = check_random_range (random, 0, rows);
    layer->pool_pad_left = check_random_range (random, 0, columns);
    layer->pool_pad_right = check_random_range (random, 0, columns);
  }
}

static void
remove_pooling (ConvolveLayer *layer)
{
  layer->pool_height = layer->pool_width = 1;
  layer->pool_pad_top = layer->pool_pad_bottom = layer->pool_pad_left = layer->pool_pad_right = 0;
}

/* Halves the filters, then the channels, and in the end the groups. */
static void
make_smaller (ConvolveLayer *layer)
{
  int filters = layer->filters / layer->groups, channels = layer->channels / layer->groups;

  layer->first_filter = layer->shown = 0;
  if (filters == 1 && channels == 1)
    layer->groups = (layer->groups + 1) / 2;
  filters = (filters + 1) / 2;
  if (filters == 1) {
    channels = (channels + 1) / 2;
    remove_pooling (layer);
  }
  layer->filters = layer->groups * filters;
  layer->channels = layer->groups * channels;
}

/* Takes the dilations away, and the padding that needs them: such a window may be larger than every image. */
static void
remove_dilations (ConvolveLayer *layer)
{
  int rows = layer->pool_height - 1, columns = layer->pool_width - 1;

  layer->dilation_y = layer->dilation_x = layer->pool_dilation_y = layer->pool_dilation_x = 1;
  layer->pool_pad_top = layer->pool_pad_top < rows ? layer->pool_pad_top : rows;
  layer->pool_pad_bottom = layer->pool_pad_bottom < rows ? layer->pool_pad_bottom : rows;
  layer->pool_pad_left = layer->pool_pad_left < columns ? layer->pool_pad_left : columns;
  layer->pool_pad_right = layer->pool_pad_right < columns ? layer->pool_pad_right : columns;
}

/* Chooses the layer and its input's size. Both are halved until the case keeps to the budget. */
static void
random_layer (CheckRandom *random, CheckLayerCase *test, long budget)
{
  ConvolveLayer *layer = &test->layer;
  bool small;
  int tries = 0;

  random_shape (random, layer);
  small = check_random_one_in (random, 6);
  if (small)
    shrink_kernel (random, layer);
  if (check_random_one_in (random, 6))
    make_groups (random, layer, &test->no_weights);
  if (check_random_one_in (random, 3)) {
    layer->first_filter = check_random_range (random, 0, layer->filters - 1);
    layer->shown = check_random_range (random, 0, layer->filters - layer->first_filter);
  }
  if (check_random_one_in (random, 3)) {
    layer->stride_y = random_side (random, 5);
    layer->stride_x = random_side (random, 5);
  }
  if (check_random_one_in (random, 6)) {
    layer->dilation_y = random_side (random, 7);
    layer->dilation_x = random_side (random, 7);
  }
  layer->boundary = (ConvolveBoundary) check_random_range (random, 0, CONVOLVE_LAYER_N_BOUNDARIES - 1);
  layer->activation = (ConvolveActivation) check_random_range (random, 0, CONVOLVE_N_ACTIVATIONS - 1);
  if ((!small || test->no_weights) && check_random_one_in (random, 3))
    random_pooling (random, layer);
  if (layer->type == CONVOLVE_LAYER_U8 && check_random_one_in (random, 2)) {
    layer->in_scale = (float) (0.01 + check_random_unit (random));
    layer->in_offset = (float) (check_random_unit (random) - 0.5);
    layer->out_scale = (float) (100 * check_random_unit (random) - 50.5);
    layer->out_offset = (float) (255 * check_random_unit (random));
  }
  do {
    test->height = random_side (random, 90);
    test->width = random_side (random, 150);
    if (small) {
      /* Whole vectors of 16 bytes in every row, or not. */
      test->width = check_random_one_in (random, 2) ? (test->width + 7) / 8 * 8 : test->width;
    } else if (check_random_one_in (random, 2)) {
      convolve_layer_pad_same (layer, test->height, test->width, NULL);
    } else {
      layer->pad_top = check_random_range (random, 0, 9);
      layer->pad_bottom = check_random_range (random, 0, 9);
      layer->pad_left = check_random_range (random, 0, 9);
      layer->pad_right = check_random_range (random, 0, 9);
      if (check_random_one_in (random, 4))
        end_with_tile (random, test);
    }
    if ((double) test->height * test->width * layer->filters * check_layer_filter_size (layer) > budget)
      make_smaller (layer);
    if (++tries == 30)
      remove_dilations (layer);
    test->batch = 1;
  } while (convolve_layer_output_size (layer, test->height, test->width, &test->out_height, &test->out_width, NULL)
          != CONVOLVE_OK
      || (double) test->out_height * test->out_width * layer->filters * check_layer_filter_size (layer)
              * layer->pool_height * layer->pool_width
          > budget);
  if (check_random_one_in (random, 4))
    test->batch = check_random_range (random, 2, 3);
}

/*
 * Writes a sample. A float32 is the value. A float16 has the value's sign and exponent, and the fraction of the random
 * bits; where the value is tiny, all of it is random, so that subnormals come too. 8 bits are random.
 */
static void
write_sample (ConvolveLayerType type, unsigned char *at, double value, uint64_t bits)
{
  float single = (float) value;
  uint16_t half = (uint16_t) (bits & 0x83ff);
  int exponent;

  switch (type) {
    case CONVOLVE_LAYER_FLOAT32:
      memcpy (at, &single, 4);
      return;
    case CONVOLVE_LAYER_FLOAT16:
      frexp (value, &exponent);
      if (fabs (value) > 1e-4 && exponent > -13)
        half = (uint16_t) ((half & 0x3ff) | (exponent + 14) << 10 | (value < 0 ? 0x8000 : 0));
      memcpy (at, &half, 2);
      return;
    case CONVOLVE_LAYER_U8:
      *at = (unsigned char) bits;
      return;
    case CONVOLVE_N_LAYER_TYPES:
      break;
  }
  abort ();
}

/* Chooses what the layer runs on: weights, samples, memory layouts, filled channels and rows to write. */
static bool
fill_case (CheckRandom *random, CheckLayerCase *test)
{
  ConvolveLayer *layer = &test->layer;
  size_t filter_size = check_layer_filter_size (layer);
  size_t count = filter_size * layer->filters,
         inputs = (size_t) test->batch * layer->channels * test->height * test->width;
  Numbers weight_kind = (Numbers) check_random_range (random, NUMBERS_SIGNED, NUMBERS_SPREAD);
  Numbers input_kind = (Numbers) check_random_range (random, NUMBERS_SIGNED, NUMBERS_SPREAD);
  int outputs = convolve_layer_outputs (layer);
  double most = 0;

  if (layer->type == CONVOLVE_LAYER_FLOAT32 && check_random_one_in (random, 8)) {
    weight_kind = (Numbers) check_random_range (random, NUMBERS_SPREAD, NUMBERS_HUGE);
    input_kind = weight_kind == NUMBERS_HUGE ? NUMBERS_TINY : NUMBERS_HUGE;
  }

  test->filled = check_random_one_in (random, 4)       ? check_random_range (random, 1, 3)
      : outputs < 4 && check_random_one_in (random, 2) ? 4 - outputs
                                                       : 0;
  test->fill = (float) check_random_range (random, 0, 255);
  test->weights = malloc (count * sizeof *test->weights);
  test->bias = malloc (layer->filters * sizeof *test->bias);
  test->input = malloc (inputs * sizeof *test->input);
  if (!test->weights || !test->bias || !test->input
      || !make_memory (random, &test->source, layer->type, test->batch, layer->channels, test->height, test->width)
      || !make_memory (random, &test->destination, layer->type, test->batch, outputs + test->filled, test->out_height,
          test->out_width))
    return false;
  for (size_t i = 0; i < count; i++)
    test->weights[i] = test->no_weights ? 1 : (float) random_number (random, weight_kind);
  for (int k = 0; k < layer->filters; k++)
    test->bias[k] = (float) random_number (random, input_kind);
  layer->weights = test->no_weights ? NULL : test->weights;
  layer->bias = check_random_one_in (random, 2) ? test->bias : NULL;

  memset (test->source.bytes, CHECK_LAYER_CANARY, test->source.size);
  for (int b = 0, n = 0; b < test->batch; b++)
    for (int c = 0; c < layer->channels; c++)
      for (int y = 0; y < test->height; y++)
        for (int x = 0; x < test->width; x++, n++) {
          unsigned char *at = test->source.bytes + check_layer_offset (&test->source.tensor, b, c, y, x);
          double value = random_number (random, input_kind);
          uint64_t bits = check_random_next (random);

          write_sample (layer->type, at, value, bits);
          test->input[n] = check_layer_read (layer, at);
          most = fmax (most, fabs (test->input[n]));
        }
  if (layer->type == CONVOLVE_LAYER_U8)
    check_layer_limit_scale (test, most);
  test->first_row = 0;
  test->end_row = 0;
  if (check_random_one_in (random, 4)) {
    test->first_row = check_random_range (random, 0, test->out_height - 1);
    test->end_row = check_random_range (random, test->first_row + 1, test->out_height);
  }
  return true;
}

bool
check_layer_case_random (CheckLayerCase *test, uint64_t seed, uint64_t number, long budget)
{
  CheckRandom random;

  memset (test, 0, sizeof *test);
  check_random_init (&random, seed, number);
  random_layer (&random, test, budget);
  return fill_case (&random, test);
}

size_t
check_layer_filter_size (const ConvolveLayer *layer)
{
  return (size_t) (layer->channels / layer->groups) * layer->kernel_height * layer->kernel_width;
}

/* The samples of the convolution along a side: the first windows that end inside. Not by a formula, which the code has. */
static int
count_windows (int size, int before, int after, int kernel, int stride, int dilation)
{
  int n = 0;

  while ((long) n * stride + (long) (kernel - 1) * dilation < (long) before + size + after)
    n++;
  return n;
}

OracleLayer
check_layer_oracle (const ConvolveLayer *layer, int height, int width)
{
  return (OracleLayer){ .channels = layer->channels / layer->groups,
    .height = height,
    .width = width,
    .kernel_height = layer->kernel_height,
    .kernel_width = layer->kernel_width,
    .stride_y = layer->stride_y,
    .stride_x = layer->stride_x,
    .pad_top = layer->pad_top,
    .pad_left = layer->pad_left,
    .more_dilation_y = layer->dilation_y - 1,
    .more_dilation_x = layer->dilation_x - 1,
    .boundary = check_boundary_oracle (layer->boundary),
    .activation = check_activation_oracle (layer->activation),
    .pool_height = layer->pool_height,
    .pool_width = layer->pool_width,
    .pool_stride_y = layer->pool_stride_y,
    .pool_stride_x = layer->pool_stride_x,
    .pool_pad_top = layer->pool_pad_top,
    .pool_pad_left = layer->pool_pad_left,
    .more_pool_dilation_y = layer->pool_dilation_y - 1,
    .more_pool_dilation_x = layer->pool_dilation_x - 1,
    .conv_height = count_windows (height, layer->pad_top, layer->pad_bottom, layer->kernel_height, layer->stride_y,
        layer->dilation_y),
    .conv_width = count_windows (width, layer->pad_left, layer->pad_right, layer->kernel_width, layer->stride_x,
        layer->dilation_x) };
}

void
check_layer_oracle_filter (OracleLayer *oracle, const CheckLayerCase *test, int b, int k)
{
  const ConvolveLayer *layer = &test->layer;
  int of_group = layer->channels / layer->groups, first = k / (layer->filters / layer->groups) * of_group;

  oracle->input = test->input + ((size_t) b * layer->channels + first) * test->height * test->width;
  oracle->weights = test->weights + k * check_layer_filter_size (layer);
  oracle->bias = layer->bias ? layer->bias[k] : 0;
}

void
check_layer_case_clear (CheckLayerCase *test)
{
  free (test->weights);
  free (test->bias);
  free (test->input);
  free (test->source.bytes);
  free (test->destination.bytes);
}

void
check_layer_case_print (const CheckLayerCase *test, const char *variant)
{
  const ConvolveLayer *layer = &test->layer;

  printf ("  %s, %s: %d images of %dx%d, C %d, K %d (%d from %d), groups %d%s, kernel %dx%d, stride %d,%d, "
          "dilation %d,%d, padding %d,%d,%d,%d %s, %s, "
          "pool %dx%d stride %d,%d, dilation %d,%d, padding %d,%d,%d,%d%s, rows %d to %d of %dx%d, "
          "source across %d column stride %td, destination %d %td, filled %d\n",
      variant, check_layer_type_name (layer->type), test->batch, test->width, test->height, layer->channels,
      layer->filters, convolve_layer_outputs (layer), layer->first_filter, layer->groups,
      layer->weights ? "" : " without weights", layer->kernel_width, layer->kernel_height, layer->stride_x,
      layer->stride_y, layer->dilation_x, layer->dilation_y, layer->pad_left, layer->pad_top, layer->pad_right,
      layer->pad_bottom, check_boundary_name (layer->boundary), check_activation_name (layer->activation),
      layer->pool_width, layer->pool_height, layer->pool_stride_x, layer->pool_stride_y, layer->pool_dilation_x,
      layer->pool_dilation_y, layer->pool_pad_left, layer->pool_pad_top, layer->pool_pad_right, layer->pool_pad_bottom,
      layer->pool_ceil ? " rounded up" : "", test->first_row, test->end_row, test->out_width, test->out_height,
      test->source.tensor.across, test->source.tensor.column_stride, test->destination.tensor.across,
      test->destination.tensor.column_stride, test->filled);
}
