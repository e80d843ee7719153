/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of the convolution layer: every variant against the definition (oracle_layer.h) over random layers, layouts and
 * sizes, then sizes and errors. A case is made from a seed and a number alone. See usage() for what it can be told.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check_layer_api.h"
#include "check_random.h"
#include "convolve_layer.h"
#include "oracle_layer.h"

enum
{
  SKIPPED = 77,
  MAX_FAILURES = 10,
  MAX_ROWS = 32,
  CANARY = 0xa5
};

static const char *const type_names[] = { "float32", "float16", "8 bits" };
static const char *const boundary_names[] = { "zero", "replicate", "reflect", "reflect-101", "wrap" };
static const char *const activation_names[] = { "none", "relu", "absolute" };

/* Bytes with tensors in them. */
typedef struct
{
  unsigned char *bytes;
  size_t size;
  ConvolveLayerTensor tensor;   /* channel pointers are offsets into bytes, plus 1 */
} Memory;

typedef struct
{
  ConvolveLayer layer;
  float *weights, *bias;
  int batch, height, width, out_height, out_width, first_row, end_row, filled;
  float fill;
  Memory source, destination;
  double *input;                /* [batch][channels][height][width], as the oracle has it */
} Case;

typedef struct
{
  const char *variant;
  ConvolveDevice *device;
  long cases, refused, failed;
  double worst[CONVOLVE_N_LAYER_TYPES]; /* error over its limit; code values from the exact one */
} Row;

static int
sample_size (ConvolveLayerType type)
{
  return type == CONVOLVE_LAYER_FLOAT32 ? 4 : type == CONVOLVE_LAYER_FLOAT16 ? 2 : 1;
}

/* binary16 by its definition. */
static double
half_value (unsigned half)
{
  int exponent = half >> 10 & 31, fraction = half & 1023;
  double value = exponent == 0 ? ldexp (fraction, -24) : exponent == 31 ? INFINITY : ldexp (1024 + fraction, exponent - 25);

  return half >> 15 ? -value : value;
}

static double
read_value (const ConvolveLayer *layer, const unsigned char *at)
{
  float single;
  uint16_t half;

  if (layer->type == CONVOLVE_LAYER_FLOAT32) {
    memcpy (&single, at, 4);
    return single;
  }
  if (layer->type == CONVOLVE_LAYER_FLOAT16) {
    memcpy (&half, at, 2);
    return half_value (half);
  }
  return (double) layer->in_scale * *at + layer->in_offset;
}

static ptrdiff_t
offset_of (const ConvolveLayerTensor *tensor, int b, int c, int y, int x)
{
  ptrdiff_t plane;

  if (tensor->across == 0)
    plane = (char *) tensor->channel[c] - (char *) 0;
  else
    plane = (char *) tensor->channel[0] - (char *) 0 + c / tensor->across * tensor->down_stride
        + c % tensor->across * tensor->across_stride;
  return plane - 1 + b * tensor->batch_stride + y * tensor->row_stride + x * tensor->column_stride;
}

/* The tensor with pointers into memory at base. */
static ConvolveLayerTensor
placed (const Memory *memory, void *base)
{
  ConvolveLayerTensor tensor = memory->tensor;

  for (int i = 0; i < CONVOLVE_LAYER_PLANES; i++)
    if (tensor.channel[i])
      tensor.channel[i] = (char *) base + ((char *) tensor.channel[i] - (char *) 0 - 1);
  return tensor;
}

/* A random way to lay channels out: one behind the other, interleaved, tiles of a mosaic; rows upside down, gaps. */
static bool
make_memory (CheckRandom *random, Memory *memory, ConvolveLayerType type, int batch, int channels, int height, int width)
{
  ConvolveLayerTensor *tensor = &memory->tensor;
  ptrdiff_t size = sample_size (type), start = 0, order[CONVOLVE_LAYER_PLANES] = { 0, 1, 2, 3 };
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
  if (kind == 0) {              /* NCHW, with gaps or without */
    int gap = check_random_one_in (random, 2) ? check_random_range (random, 0, 5) : 0;

    tensor->row_stride = width * tensor->column_stride + gap * size;
    tensor->across = 1;
    tensor->down_stride = height * tensor->row_stride + gap * size;
    tensor->batch_stride = channels * tensor->down_stride;
    memory->size = batch * tensor->batch_stride;
  } else if (kind == 1) {       /* a mosaic */
    int columns = check_random_range (random, 1, channels), rows = (channels + columns - 1) / columns;

    tensor->across = columns;
    tensor->across_stride = width * tensor->column_stride;
    tensor->row_stride = columns * tensor->across_stride + size * check_random_range (random, 0, 7);
    tensor->down_stride = height * tensor->row_stride;
    tensor->batch_stride = rows * tensor->down_stride;
    memory->size = batch * tensor->batch_stride;
  } else if (kind == 2) {       /* planes in any order */
    tensor->row_stride = width * tensor->column_stride;
    tensor->batch_stride = CONVOLVE_LAYER_PLANES * height * tensor->row_stride;
    memory->size = batch * tensor->batch_stride;
    for (int c = 0; c < channels; c++)
      tensor->channel[c] = (char *) 0 + 1 + order[c] * height * tensor->row_stride;
  } else {                      /* interleaved in any order, perhaps with something between */
    tensor->column_stride = size * (check_random_one_in (random, 2) ? 4 : check_random_range (random, channels, 4));
    tensor->row_stride = width * tensor->column_stride
        + (check_random_one_in (random, 2) ? tensor->column_stride : size * check_random_range (random, 0, 3));
    tensor->batch_stride = height * tensor->row_stride;
    memory->size = batch * tensor->batch_stride;
    for (int c = 0, n = 0; n < CONVOLVE_LAYER_PLANES && c < channels; n++)
      if (order[n] * size < tensor->column_stride)
        tensor->channel[c++] = (char *) 0 + 1 + order[n] * size;
  }
  if (check_random_one_in (random, 6)) {
    start = (height - 1) * tensor->row_stride;
    tensor->row_stride = -tensor->row_stride;
  }
  if (tensor->across)
    tensor->channel[0] = (char *) 0 + 1;
  /* Something before and behind, so that samples are often not aligned to more than their size. */
  start += size * (check_random_one_in (random, 3) ? 16 : check_random_range (random, 0, 9));
  for (int c = 0; c < CONVOLVE_LAYER_PLANES; c++)
    if (tensor->channel[c])
      tensor->channel[c] = (char *) tensor->channel[c] + start;
  memory->size += 64 * size;
  memory->bytes = malloc (memory->size);
  return memory->bytes != NULL;
}

/* A side of 1 .. most, small ones more often. */
static int
random_side (CheckRandom *random, int most)
{
  return check_random_one_in (random, 2) ? check_random_range (random, 1, most)
      : check_random_range (random, 1, most < 4 ? most : 4);
}

static double
random_number (CheckRandom *random, int kind)
{
  double value = check_random_unit (random);

  if (kind == 0)
    return 2 * value - 1;
  if (kind == 1)
    return value;               /* sums without cancellation: errors of one sign add up */
  if (kind == 2)
    return check_random_range (random, -3, 3);
  if (kind == 3)
    return ldexp (2 * value - 1, check_random_range (random, -8, 8));
  return kind == 4 ? ldexp (2 * value - 1, -60) : ldexp (2 * value - 1, 60);
}

/* Kernel, channels and filters. */
static void
random_shape (CheckRandom *random, ConvolveLayer *layer)
{
  static const int sides[] = { 1, 3, 5, 7 }, types[] = { 4, 3, 3 };
  int kernel = sides[check_random_range (random, 0, 3)];

  convolve_layer_init (layer, 1, 1, kernel, kernel, NULL);
  layer->type = (ConvolveLayerType) check_random_pick (random, types, 3);
  if (check_random_one_in (random, 3)) {
    layer->kernel_height = random_side (random, 12);
    layer->kernel_width = random_side (random, 12);
  }
  if (layer->type == CONVOLVE_LAYER_U8 && check_random_one_in (random, 2)) {
    layer->channels = check_random_range (random, 1, 4);        /* as frames have them */
    layer->filters = check_random_range (random, 1, 4);
    return;
  }
  layer->channels = random_side (random, check_random_one_in (random, 4) ? 70 : 8);
  layer->filters = random_side (random, check_random_one_in (random, 4) ? 140 : 20);
}

static void
random_layer (CheckRandom *random, Case *test, long budget)
{
  ConvolveLayer *layer = &test->layer;

  random_shape (random, layer);
  if (check_random_one_in (random, 3)) {
    layer->first_filter = check_random_range (random, 0, layer->filters - 1);
    layer->shown = check_random_range (random, 0, layer->filters - layer->first_filter);
  }
  if (check_random_one_in (random, 3)) {
    layer->stride_y = random_side (random, 5);
    layer->stride_x = random_side (random, 5);
  }
  layer->boundary = (ConvolveBoundary) check_random_range (random, 0, CONVOLVE_N_BOUNDARIES - 1);
  layer->activation = (ConvolveActivation) check_random_range (random, 0, CONVOLVE_N_ACTIVATIONS - 1);
  if (check_random_one_in (random, 3)) {
    layer->pool_height = random_side (random, 5);
    layer->pool_width = random_side (random, 5);
    layer->pool_stride_y = random_side (random, 5);
    layer->pool_stride_x = random_side (random, 5);
  }
  if (layer->type == CONVOLVE_LAYER_U8 && check_random_one_in (random, 2)) {
    layer->in_scale = (float) (0.01 + check_random_unit (random));
    layer->in_offset = (float) (check_random_unit (random) - 0.5);
    layer->out_scale = (float) (100 * check_random_unit (random) - 50.5);
    layer->out_offset = (float) (255 * check_random_unit (random));
  }
  do {
    test->height = random_side (random, 90);
    test->width = random_side (random, 150);
    if (check_random_one_in (random, 2)) {
      convolve_layer_pad_same (layer, test->height, test->width, NULL);
    } else {
      layer->pad_top = check_random_range (random, 0, 9);
      layer->pad_bottom = check_random_range (random, 0, 9);
      layer->pad_left = check_random_range (random, 0, 9);
      layer->pad_right = check_random_range (random, 0, 9);
    }
    if ((double) test->height * test->width * layer->filters * layer->channels * layer->kernel_height
        * layer->kernel_width > budget) {
      layer->filters = (layer->filters + 1) / 2;
      layer->first_filter = layer->shown = 0;
      if (layer->filters == 1) {
        layer->channels = (layer->channels + 1) / 2;
        layer->pool_height = layer->pool_width = 1;
      }
    }
    test->batch = 1;
  } while (convolve_layer_output_size (layer, test->height, test->width, &test->out_height, &test->out_width, NULL)
      != CONVOLVE_OK || (double) test->out_height * test->out_width * layer->filters * layer->channels
      * layer->kernel_height * layer->kernel_width * layer->pool_height * layer->pool_width > budget);
  if (check_random_one_in (random, 4))
    test->batch = check_random_range (random, 2, 3);
}

static bool
fill_case (CheckRandom *random, Case *test)
{
  ConvolveLayer *layer = &test->layer;
  size_t of_filter = (size_t) layer->channels * layer->kernel_height * layer->kernel_width;
  size_t count = of_filter * layer->filters, inputs = (size_t) test->batch * layer->channels * test->height * test->width;
  int weight_kind = check_random_range (random, 0, 3), input_kind = check_random_range (random, 0, 3);
  int outputs = convolve_layer_outputs (layer);
  double most = 0;

  if (layer->type == CONVOLVE_LAYER_FLOAT32 && check_random_one_in (random, 8)) {
    weight_kind = check_random_range (random, 3, 5);
    input_kind = 9 - weight_kind - (weight_kind == 3);
  }

  test->filled = check_random_one_in (random, 4) ? check_random_range (random, 1, 3)
      : outputs < 4 && check_random_one_in (random, 2) ? 4 - outputs : 0;
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
    test->weights[i] = (float) random_number (random, weight_kind);
  for (int k = 0; k < layer->filters; k++)
    test->bias[k] = (float) random_number (random, input_kind);
  layer->weights = test->weights;
  layer->bias = check_random_one_in (random, 2) ? test->bias : NULL;

  memset (test->source.bytes, CANARY, test->source.size);
  for (int b = 0, n = 0; b < test->batch; b++)
    for (int c = 0; c < layer->channels; c++)
      for (int y = 0; y < test->height; y++)
        for (int x = 0; x < test->width; x++, n++) {
          unsigned char *at = test->source.bytes + offset_of (&test->source.tensor, b, c, y, x);
          double value = random_number (random, input_kind);
          float single = (float) value;
          /* Some of the smallest halves too; the rest by the exponent and fraction of a number near value. */
          uint16_t half = (uint16_t) (check_random_next (random) & 0x83ff);
          int exponent;

          if (layer->type == CONVOLVE_LAYER_FLOAT32) {
            memcpy (at, &single, 4);
          } else if (layer->type == CONVOLVE_LAYER_FLOAT16) {
            frexp (value, &exponent);
            if (fabs (value) > 1e-4 && exponent > -13)
              half = (uint16_t) ((half & 0x3ff) | (exponent + 14) << 10 | (value < 0 ? 0x8000 : 0));
            memcpy (at, &half, 2);
          } else {
            *at = (unsigned char) check_random_next (random);
          }
          test->input[n] = read_value (layer, at);
          most = fmax (most, fabs (test->input[n]));
        }
  if (layer->type == CONVOLVE_LAYER_U8) {
    double worst = 0;

    /* The output's scale such that code values are meant. */
    for (int k = 0; k < layer->filters; k++) {
      double sum = fabs (test->bias[k]);

      for (size_t i = 0; i < of_filter; i++)
        sum += fabs (test->weights[k * of_filter + i]) * most;
      worst = fmax (worst, sum);
    }
    if (fabs (layer->out_scale) * worst > 8000)
      layer->out_scale *= (float) (8000 / (fabs (layer->out_scale) * worst));
  }
  test->first_row = 0;
  test->end_row = 0;
  if (check_random_one_in (random, 4)) {
    test->first_row = check_random_range (random, 0, test->out_height - 1);
    test->end_row = check_random_range (random, test->first_row + 1, test->out_height);
  }
  return true;
}

static void
clear_case (Case *test)
{
  free (test->weights);
  free (test->bias);
  free (test->input);
  free (test->source.bytes);
  free (test->destination.bytes);
}

static void
print_case (const Case *test, const char *variant)
{
  const ConvolveLayer *layer = &test->layer;

  printf ("  %s, %s: %d images of %dx%d, C %d, K %d (%d from %d), kernel %dx%d, stride %d,%d, padding %d,%d,%d,%d %s, %s, "
      "pool %dx%d stride %d,%d, rows %d to %d of %dx%d, source across %d column stride %td, destination %d %td, filled %d\n",
      variant, type_names[layer->type], test->batch, test->width, test->height, layer->channels, layer->filters,
      convolve_layer_outputs (layer), layer->first_filter, layer->kernel_width, layer->kernel_height, layer->stride_x,
      layer->stride_y, layer->pad_left, layer->pad_top, layer->pad_right, layer->pad_bottom,
      boundary_names[layer->boundary], activation_names[layer->activation], layer->pool_width, layer->pool_height,
      layer->pool_stride_x, layer->pool_stride_y, test->first_row, test->end_row, test->out_width, test->out_height,
      test->source.tensor.across, test->source.tensor.column_stride, test->destination.tensor.across,
      test->destination.tensor.column_stride, test->filled);
}

/* Runs the case where the row says. False after an error, which is printed unless the variant refused. */
static bool
run_case (Row *row, const Case *test, unsigned char *result)
{
  ConvolveLayerTask task = {.batch = test->batch,.height = test->height,.width = test->width,
    .first_row = test->first_row,.end_row = test->end_row,.filled = test->filled,.fill = test->fill };
  ConvolveError error = { 0 };
  ConvolveLayerPlan *plan = convolve_layer_plan_new (&test->layer, row->variant, row->device, &error);
  ConvolveDevice *device = plan && convolve_layer_plan_on_device (plan) ? row->device : NULL;
  void *from = test->source.bytes, *to = result;
  bool done = plan != NULL;

  memset (result, CANARY, test->destination.size);
  if (device) {
    from = convolve_device_alloc (device, test->source.size, &error);
    to = from ? convolve_device_alloc (device, test->destination.size, &error) : NULL;
    done = to && convolve_device_copy (device, from, test->source.bytes, test->source.size, CONVOLVE_COPY_TO_DEVICE,
        &error) == CONVOLVE_OK && convolve_device_copy (device, to, result, test->destination.size,
        CONVOLVE_COPY_TO_DEVICE, &error) == CONVOLVE_OK;
  }
  task.source = placed (&test->source, from);
  task.destination = placed (&test->destination, to);
  done = done && convolve_layer_run (plan, &task, &error) == CONVOLVE_OK;
  if (device) {
    done = done && convolve_device_copy (device, result, to, test->destination.size, CONVOLVE_COPY_TO_HOST,
        &error) == CONVOLVE_OK;
    done = convolve_device_finish (device, done ? &error : NULL) == CONVOLVE_OK && done;
    convolve_device_release (device, from);
    convolve_device_release (device, to);
  }
  convolve_layer_plan_unref (plan);
  if (!done && error.status == CONVOLVE_UNSUPPORTED) {
    row->refused++;
  } else if (!done) {
    printf ("FAILED: %s\n", error.text);
    print_case (test, row->variant);
    row->failed++;
  }
  return done;
}

/* How far a sample is from the exact value, 1 being the most that is allowed. */
static double
judge (const Case *test, double exact, double magnitude, double slack, const unsigned char *at)
{
  const ConvolveLayer *layer = &test->layer;
  double value, code;

  if (layer->type == CONVOLVE_LAYER_U8) {
    code = exact * layer->out_scale + layer->out_offset;
    code = code < 0 ? 0 : code > 255 ? 255 : floor (code + 0.5);
    return fabs (*at - code);
  }
  value = read_value (layer, at);
  if (layer->type == CONVOLVE_LAYER_FLOAT32)
    return fabs (value - exact) / (1e-5 * magnitude + slack + 1e-37);
  return fabs (exact) > 65000 ? 0 : fabs (value - exact) / (2e-3 * magnitude + slack + ldexp (1, -24));
}

/* The number of weights of filter k times the largest of them and the largest sample of the image. */
static double
scale_of (const Case *test, int b, int k)
{
  const ConvolveLayer *layer = &test->layer;
  size_t count = (size_t) layer->channels * layer->kernel_height * layer->kernel_width;
  size_t samples = (size_t) layer->channels * test->height * test->width;
  double weight = 0, sample = 0;

  for (size_t i = 0; i < count; i++)
    weight = fmax (weight, fabs (test->weights[k * count + i]));
  for (size_t i = 0; i < samples; i++)
    sample = fmax (sample, fabs (test->input[b * samples + i]));
  return count * weight * sample;
}

/* What may be written is cleared to the canary as it is looked at; the rest must still be that. */
static bool
compare (Row *row, const Case *test, unsigned char *result)
{
  const ConvolveLayer *layer = &test->layer;
  int outputs = convolve_layer_outputs (layer), end = test->end_row ? test->end_row : test->out_height;
  int size = sample_size (layer->type);
  bool wide = strcmp (row->variant, "winograd") == 0 || strcmp (row->variant, "fft") == 0;
  size_t of_filter = (size_t) layer->channels * layer->kernel_height * layer->kernel_width;
  OracleLayer oracle = {.channels = layer->channels,.height = test->height,.width = test->width,
    .kernel_height = layer->kernel_height,.kernel_width = layer->kernel_width,.stride_y = layer->stride_y,
    .stride_x = layer->stride_x,.pad_top = layer->pad_top,.pad_left = layer->pad_left,
    .padding = (OraclePadding) layer->boundary,.activation = (int) layer->activation,.pool_height = layer->pool_height,
    .pool_width = layer->pool_width,.pool_stride_y = layer->pool_stride_y,.pool_stride_x = layer->pool_stride_x };

  for (int b = 0; b < test->batch; b++)
    for (int n = 0; n < outputs + test->filled; n++) {
      int k = layer->first_filter + n;
      double slack = n < outputs ? ldexp (scale_of (test, b, k), wide ? -17 : -36) : 0;

      oracle.input = test->input + (size_t) b * layer->channels * test->height * test->width;
      oracle.weights = test->weights + (n < outputs ? k : 0) * of_filter;
      oracle.bias = layer->bias && n < outputs ? layer->bias[k] : 0;
      for (int y = test->first_row; y < end; y++)
        for (int x = 0; x < test->out_width; x++) {
          unsigned char *at = result + offset_of (&test->destination.tensor, b, n, y, x);
          double magnitude, exact, off;

          if (n < outputs) {
            exact = oracle_layer (&oracle, y, x, &magnitude);
            off = judge (test, exact, magnitude, slack, at);
          } else {
            exact = test->fill;
            off = layer->type == CONVOLVE_LAYER_U8 ? fabs (*at - exact) * 2 : read_value (layer, at) == exact ? 0 : 2;
          }
          if (!(off <= 1)) {
            printf ("FAILED: image %d, filter %d, row %d, column %d is %.9g, %.3g times what is allowed from %.9g\n", b, n, y,
                x, layer->type == CONVOLVE_LAYER_U8 ? *at : read_value (layer, at), off, exact);
            print_case (test, row->variant);
            row->failed++;
            return false;
          }
          row->worst[layer->type] = fmax (row->worst[layer->type], off);
          memset (at, CANARY, size);
        }
    }
  for (size_t i = 0; i < test->destination.size; i++)
    if (result[i] != CANARY) {
      printf ("FAILED: byte %zu is written and must not be\n", i);
      print_case (test, row->variant);
      row->failed++;
      return false;
    }
  return true;
}

/* One case on one row. False where it failed. */
static bool
check_case (Row *row, uint64_t seed, uint64_t number, long budget)
{
  Case test = {.batch = 0 };
  CheckRandom random;
  unsigned char *result = NULL;
  bool passed = false;

  check_random_init (&random, seed, number);
  random_layer (&random, &test, budget);
  if (!fill_case (&random, &test) || !(result = malloc (test.destination.size))) {
    printf ("FAILED: out of memory\n");
    row->failed++;
  } else {
    long failed = row->failed;

    row->cases++;
    passed = run_case (row, &test, result) ? compare (row, &test, result) : row->failed == failed;
  }
  if (!passed)
    printf ("  case %" PRIu64 " of seed %" PRIu64 ": check_layer %s --variant %s --seed %" PRIu64 " --case %" PRIu64 "\n",
        number, seed, row->device ? "--device" : "--host", row->variant, seed, number);
  free (result);
  clear_case (&test);
  return passed;
}

static int
usage (void)
{
  fprintf (stderr, "check_layer [options]: checks every variant of the layer against the definition\n"
      "  --host, --device   only the variants of this kind; --device exits 77 where there is none\n"
      "  --variant NAME     only this one, or auto\n"
      "  --cases N          random cases, 3000\n"
      "  --budget N         products of the largest case, 400000\n"
      "  --seed S           of the random cases, from the clock\n"
      "  --case I           only case I of the seed, on every variant\n");
  return 2;
}

static int
make_rows (bool host, ConvolveDevice *device, const char *variant, Row *rows)
{
  int n = 0;

  for (int v = 0; v < convolve_layer_variant_count (); v++)
    if (convolve_layer_variant_on_device (v) ? device != NULL : host)
      rows[n++] = (Row) {.variant = convolve_layer_variant_name (v),
        .device = convolve_layer_variant_on_device (v) ? device : NULL };
  if (host)
    rows[n++] = (Row) {.variant = "auto" };
  if (device)
    rows[n++] = (Row) {.variant = "auto",.device = device };
  if (variant) {
    int kept = 0;

    for (int i = 0; i < n; i++)
      if (strcmp (rows[i].variant, variant) == 0)
        rows[kept++] = rows[i];
    n = kept;
  }
  return n;
}

int
main (int argc, char **argv)
{
  static Row rows[MAX_ROWS];
  struct timespec now;
  ConvolveDevice *device = NULL;
  ConvolveError error = { 0 };
  bool host = true, on_device = true;
  const char *variant = NULL;
  long cases = 3000, only = -1, budget = 400000, made = 0;
  int n_rows, failures = 0;
  uint64_t seed;

  clock_gettime (CLOCK_REALTIME, &now);
  seed = (uint64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;

    if (strcmp (argv[i], "--host") == 0)
      on_device = false;
    else if (strcmp (argv[i], "--device") == 0)
      host = false;
    else if (!value)
      return usage ();
    else if (strcmp (argv[i], "--variant") == 0)
      variant = value, i++;
    else if (strcmp (argv[i], "--cases") == 0)
      cases = strtol (value, NULL, 10), i++;
    else if (strcmp (argv[i], "--case") == 0)
      only = strtol (value, NULL, 10), i++;
    else if (strcmp (argv[i], "--budget") == 0)
      budget = strtol (value, NULL, 10), i++;
    else if (strcmp (argv[i], "--seed") == 0)
      seed = strtoull (value, NULL, 10), i++;
    else
      return usage ();
  }
  if (on_device) {
    device = convolve_device_new (-1, &error);
    printf (device ? "device: %s\n" : "SKIP: CUDA variants: %s\n", device ? convolve_device_name (device) : error.text);
    if (!device && !host)
      return SKIPPED;
  }
  n_rows = make_rows (host, device, variant, rows);
  if (n_rows == 0) {
    fprintf (stderr, "there is no variant '%s'\n", variant);
    return usage ();
  }
  printf ("seed %" PRIu64 ", %ld cases\n", seed, cases);
  fflush (stdout);
  if (only >= 0) {
    for (int i = 0; i < n_rows; i++)
      failures += !check_case (&rows[i], seed, only, budget);
  } else {
    if (!variant)
      failures += check_layer_api ();
    for (; made < cases && failures < MAX_FAILURES; made++)
      failures += !check_case (&rows[made % n_rows], seed, made, budget);
    printf ("\n%-20s %8s %8s %8s  largest error, of what is allowed\n", "variant", "cases", "refused", "failed");
    for (int i = 0; i < n_rows; i++)
      printf ("%-20s %8ld %8ld %8ld  float32 %.3f, float16 %.3f, 8 bits %.0f\n", rows[i].variant, rows[i].cases,
          rows[i].refused, rows[i].failed, rows[i].worst[0], rows[i].worst[1], rows[i].worst[2]);
    printf ("%ld random cases, %d failures\n", made, failures);
  }
  convolve_device_free (device);
  return failures > 0;
}
