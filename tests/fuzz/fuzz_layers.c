/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzes the plans and runs of convolution layers on the host: an input gives the layer, its weights, the layouts
 * of both tensors, and the variant. All samples are compared with the oracle, within the promise of
 * convolve_layer.h. One input in four has arguments that must be refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "kernels/check_layer_case.h"

enum
{
  MOST_PRODUCTS = 12000, /* of the oracle for one input */
  MOST_SAMPLES = 3000
};

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

/* --- from bytes to a case --- */

static void
make_layer (FuzzBytes *bytes, ConvolveLayer *layer)
{
  const int side = fuzz_one_in (bytes, 4) ? 12 : 4, most = fuzz_one_in (bytes, 4) ? 40 : 5;

  convolve_layer_init (layer, fuzz_range (bytes, 1, most), fuzz_range (bytes, 1, most), fuzz_range (bytes, 1, side),
      fuzz_range (bytes, 1, side), NULL);
  layer->type = (ConvolveLayerType) fuzz_range (bytes, 0, CONVOLVE_N_LAYER_TYPES - 1);
  layer->boundary = (ConvolveBoundary) fuzz_range (bytes, 0, CONVOLVE_LAYER_N_BOUNDARIES - 1);
  layer->activation = (ConvolveActivation) fuzz_range (bytes, 0, CONVOLVE_N_ACTIVATIONS - 1);
  if (fuzz_one_in (bytes, 4)) {
    layer->groups = fuzz_range (bytes, 1, 6);
    layer->filters = layer->groups * fuzz_range (bytes, 1, 3);
    layer->channels = layer->groups * fuzz_range (bytes, 1, 3);
  }
  if (fuzz_one_in (bytes, 4)) {
    layer->dilation_y = fuzz_range (bytes, 1, 6);
    layer->dilation_x = fuzz_range (bytes, 1, 6);
  }
  if (fuzz_one_in (bytes, 3)) {
    layer->first_filter = fuzz_range (bytes, 0, layer->filters - 1);
    layer->shown = fuzz_range (bytes, 0, layer->filters - layer->first_filter);
  }
  if (fuzz_one_in (bytes, 3)) {
    layer->stride_y = fuzz_range (bytes, 1, 5);
    layer->stride_x = fuzz_range (bytes, 1, 5);
  }
  if (fuzz_one_in (bytes, 3)) {
    layer->pool_height = fuzz_range (bytes, 1, 4);
    layer->pool_width = fuzz_range (bytes, 1, 4);
    layer->pool_stride_y = fuzz_range (bytes, 1, 4);
    layer->pool_stride_x = fuzz_range (bytes, 1, 4);
    layer->pool_dilation_y = fuzz_one_in (bytes, 3) ? fuzz_range (bytes, 1, 3) : 1;
    layer->pool_dilation_x = fuzz_one_in (bytes, 3) ? fuzz_range (bytes, 1, 3) : 1;
    if (fuzz_one_in (bytes, 2)) {
      layer->pool_pad_top = fuzz_range (bytes, 0, (layer->pool_height - 1) * layer->pool_dilation_y);
      layer->pool_pad_bottom = fuzz_range (bytes, 0, (layer->pool_height - 1) * layer->pool_dilation_y);
      layer->pool_pad_left = fuzz_range (bytes, 0, (layer->pool_width - 1) * layer->pool_dilation_x);
      layer->pool_pad_right = fuzz_range (bytes, 0, (layer->pool_width - 1) * layer->pool_dilation_x);
    }
    layer->pool_ceil = fuzz_one_in (bytes, 2);
  }
  if (fuzz_one_in (bytes, 3)) {
    layer->in_scale = (float) (0.01 + fuzz_range (bytes, 0, 255) / 256.0);
    layer->in_offset = (float) (fuzz_range (bytes, -128, 127) / 256.0);
    layer->out_scale = (float) (fuzz_range (bytes, -50, 50) + 0.5);
    layer->out_offset = (float) fuzz_range (bytes, 0, 255);
  }
}

/* Chooses the sizes. False where the layer has no output of this size, or one that the oracle takes too long for. */
static bool
make_sizes (FuzzBytes *bytes, CheckLayerCase *test)
{
  ConvolveLayer *layer = &test->layer;
  double products;

  test->height = fuzz_range (bytes, 1, 24);
  test->width = fuzz_one_in (bytes, 6) ? fuzz_range (bytes, 1, 150) : fuzz_range (bytes, 1, 40);
  if (fuzz_one_in (bytes, 2)) {
    convolve_layer_pad_same (layer, test->height, test->width, NULL);
  } else {
    layer->pad_top = fuzz_range (bytes, 0, 9);
    layer->pad_bottom = fuzz_range (bytes, 0, 9);
    layer->pad_left = fuzz_range (bytes, 0, 9);
    layer->pad_right = fuzz_range (bytes, 0, 9);
  }
  test->batch = fuzz_one_in (bytes, 4) ? fuzz_range (bytes, 1, 3) : 1;
  if (convolve_layer_output_size (layer, test->height, test->width, &test->out_height, &test->out_width, NULL)
      != CONVOLVE_OK)
    return false;
  products = (double) test->out_height * test->out_width * convolve_layer_outputs (layer)
      * check_layer_filter_size (layer) * layer->pool_height * layer->pool_width * test->batch;
  return products <= MOST_PRODUCTS && test->batch * layer->channels * test->height * test->width <= MOST_SAMPLES;
}

/*
 * Lays out a tensor in a block that ends with its last sample, or a few samples later. The channels are one after the
 * other, tiles of a mosaic, planes in any order, or interleaved.
 */
static bool
make_memory (FuzzBytes *bytes, CheckLayerMemory *memory, const CheckLayerCase *test, int channels, int height,
    int width)
{
  ConvolveLayerTensor *tensor = &memory->tensor;
  const ptrdiff_t size = check_layer_sample_size (test->layer.type),
                  gap = fuzz_one_in (bytes, 2) ? fuzz_range (bytes, 0, 7) * size : 0;
  const int turn = fuzz_range (bytes, 0, 3), kind = channels > CONVOLVE_LAYER_PLANES ? turn % 2 : turn;
  const int order = fuzz_range (bytes, 0, 3);
  ptrdiff_t start = fuzz_one_in (bytes, 2) ? fuzz_range (bytes, 0, 9) * size : 0, last = 0;

  memset (memory, 0, sizeof *memory);
  tensor->column_stride = size * (fuzz_one_in (bytes, 6) ? 2 : 1);
  if (kind == 0) {
    tensor->row_stride = width * tensor->column_stride + gap;
    tensor->across = 1;
    tensor->down_stride = height * tensor->row_stride + gap;
    tensor->batch_stride = channels * tensor->down_stride;
  } else if (kind == 1) {
    const int columns = fuzz_range (bytes, 1, channels), rows = (channels + columns - 1) / columns;

    tensor->across = columns;
    tensor->across_stride = width * tensor->column_stride;
    tensor->row_stride = columns * tensor->across_stride + gap;
    tensor->down_stride = height * tensor->row_stride;
    tensor->batch_stride = rows * tensor->down_stride;
  } else if (kind == 2) {
    tensor->row_stride = width * tensor->column_stride + gap;
    tensor->batch_stride = CONVOLVE_LAYER_PLANES * height * tensor->row_stride;
  } else {
    tensor->column_stride = size * CONVOLVE_LAYER_PLANES;
    tensor->row_stride = width * tensor->column_stride + gap;
    tensor->batch_stride = height * tensor->row_stride;
  }
  if (fuzz_one_in (bytes, 4)) {
    start += (height - 1) * tensor->row_stride;
    tensor->row_stride = -tensor->row_stride;
  }
  for (int c = 0; c < (tensor->across ? 1 : channels); c++) {
    const ptrdiff_t place = (c + order) % CONVOLVE_LAYER_PLANES;
    const ptrdiff_t at = tensor->across ? 0 : kind == 2 ? place * height * llabs (tensor->row_stride) : place * size;

    tensor->channel[c] = (void *) (uintptr_t) (1 + start + at);
  }
  for (int c = 0; c < channels; c++) {
    const ptrdiff_t corners[] = { check_layer_offset (tensor, test->batch - 1, c, 0, width - 1),
      check_layer_offset (tensor, test->batch - 1, c, height - 1, width - 1) };

    for (int i = 0; i < 2; i++)
      last = corners[i] > last ? corners[i] : last;
  }
  memory->size = (size_t) (last + size + (fuzz_one_in (bytes, 4) ? 8 * size : 0));
  memory->bytes = malloc (memory->size);
  return memory->bytes != NULL;
}

/* A small number: an integer or a fraction, or one with another exponent. */
static double
make_number (FuzzBytes *bytes, uint64_t *state, int kind)
{
  int small;

  *state = *state * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407);
  small = bytes->left > 0 ? (int8_t) fuzz_take (bytes, 1) : (int8_t) (*state >> 56);
  switch (kind) {
    case 0:
      return small % 4;
    case 1:
      return small / 128.0;
    case 2:
      return fabs (small / 100.0);
    default:
      return ldexp (small, (int) (*state >> 40 & 15) - 8);
  }
}

static void
write_sample (ConvolveLayerType type, unsigned char *at, double value)
{
  const float single = (float) value;
  uint16_t half = 0;
  int exponent;

  switch (type) {
    case CONVOLVE_LAYER_FLOAT32:
      memcpy (at, &single, 4);
      return;
    case CONVOLVE_LAYER_FLOAT16: {
      /* The numbers have at most 8 bits, so the fraction of a float16 holds them. */
      const double fraction = frexp (fabs (value), &exponent);

      if (value != 0 && exponent > -13 && exponent < 16)
        half = (uint16_t) ((int) (fraction * 2048) - 1024 + ((exponent + 14) << 10));
      if (value < 0)
        half |= 0x8000;
      memcpy (at, &half, 2);
      return;
    }
    default:
      *at = (unsigned char) (int) (value * 16 + 100);
      return;
  }
}

static bool
fill_case (FuzzBytes *bytes, CheckLayerCase *test)
{
  ConvolveLayer *layer = &test->layer;
  const size_t count = layer->filters * check_layer_filter_size (layer);
  const int kind = fuzz_range (bytes, 0, 3), input_kind = fuzz_range (bytes, 0, 3);
  const bool bias = fuzz_one_in (bytes, 2);
  uint64_t state = fuzz_take (bytes, 2);
  double most = 0;

  test->weights = malloc (count * sizeof *test->weights);
  test->bias = malloc (layer->filters * sizeof *test->bias);
  test->input = malloc (sizeof *test->input * test->batch * layer->channels * test->height * test->width);
  if (!test->weights || !test->bias || !test->input)
    return false;
  for (size_t i = 0; i < count; i++)
    test->weights[i] = (float) make_number (bytes, &state, kind);
  for (int k = 0; k < layer->filters; k++)
    test->bias[k] = bias ? (float) make_number (bytes, &state, input_kind) : 0;
  layer->weights = test->weights;
  layer->bias = bias ? test->bias : NULL;
  memset (test->source.bytes, CHECK_LAYER_CANARY, test->source.size);
  for (int b = 0, n = 0; b < test->batch; b++)
    for (int c = 0; c < layer->channels; c++)
      for (int y = 0; y < test->height; y++)
        for (int x = 0; x < test->width; x++, n++) {
          unsigned char *at = test->source.bytes + check_layer_offset (&test->source.tensor, b, c, y, x);

          write_sample (layer->type, at, make_number (bytes, &state, input_kind));
          test->input[n] = check_layer_read (layer, at);
          most = fmax (most, fabs (test->input[n]));
        }
  if (layer->type == CONVOLVE_LAYER_U8)
    check_layer_limit_scale (test, most);
  return true;
}

static bool
make_case (FuzzBytes *bytes, CheckLayerCase *test)
{
  memset (test, 0, sizeof *test);
  make_layer (bytes, &test->layer);
  if (!make_sizes (bytes, test))
    return false;
  if (fuzz_one_in (bytes, 4)) {
    test->first_row = fuzz_range (bytes, 0, test->out_height - 1);
    test->end_row = fuzz_range (bytes, test->first_row + 1, test->out_height);
  }
  test->filled = fuzz_one_in (bytes, 4) ? fuzz_range (bytes, 0, 3) : 0;
  test->fill = (float) fuzz_range (bytes, 0, 255);
  return make_memory (bytes, &test->source, test, test->layer.channels, test->height, test->width)
      && make_memory (bytes, &test->destination, test, convolve_layer_outputs (&test->layer) + test->filled,
          test->out_height, test->out_width)
      && fill_case (bytes, test);
}

static ConvolveLayerTask
make_task (const CheckLayerCase *test, unsigned char *source, unsigned char *destination)
{
  return (ConvolveLayerTask){ .source = check_layer_place (&test->source, source),
    .destination = check_layer_place (&test->destination, destination),
    .batch = test->batch,
    .height = test->height,
    .width = test->width,
    .first_row = test->first_row,
    .end_row = test->end_row,
    .filled = test->filled,
    .fill = test->fill };
}

/* --- the comparison --- */

/* Whether the sample at `at` keeps the promise, whose M is magnitude and whose e * N is slack. */
static bool
is_promised (const ConvolveLayer *layer, double exact, double magnitude, double slack, const unsigned char *at)
{
  const double value = check_layer_read (layer, at);
  double code;

  switch (layer->type) {
    case CONVOLVE_LAYER_FLOAT32:
      return fabs (value - exact) <= 1e-5 * magnitude + slack + 1e-37;
    case CONVOLVE_LAYER_FLOAT16: /* near the end of the range, 65504, a value may become infinite */
      return fabs (exact) > 65000 || fabs (value - exact) <= 2e-3 * magnitude + slack + ldexp (1, -24);
    default:
      code = exact * layer->out_scale + layer->out_offset;
      code = code < 0 ? 0 : code > 255 ? 255 : floor (code + 0.5);
      return fabs (*at - code) <= 1;
  }
}

/* Each sample is overwritten with the canary byte after its comparison, so that a stray write is what remains. */
static void
compare (const CheckLayerCase *test, const char *variant, unsigned char *result)
{
  const ConvolveLayer *layer = &test->layer;
  const int outputs = convolve_layer_outputs (layer), end = test->end_row ? test->end_row : test->out_height;
  OracleLayer oracle = check_layer_oracle (layer, test->height, test->width);

  for (int b = 0; b < test->batch; b++)
    for (int n = 0; n < outputs + test->filled; n++) {
      const int k = layer->first_filter + n;
      const double slack = n < outputs ? ldexp (check_layer_slack (test, b, k), -36) : 0;

      if (n < outputs)
        check_layer_oracle_filter (&oracle, test, b, k);
      for (int y = test->first_row; y < end; y++)
        for (int x = 0; x < test->out_width; x++) {
          unsigned char *at = result + check_layer_offset (&test->destination.tensor, b, n, y, x);
          double magnitude = 0, exact = n < outputs ? oracle_layer (&oracle, y, x, &magnitude) : test->fill;
          const bool good = n < outputs          ? is_promised (layer, exact, magnitude, slack, at)
              : layer->type == CONVOLVE_LAYER_U8 ? *at == exact
                                                 : check_layer_read (layer, at) == exact;

          if (!good) {
            check_layer_case_print (test, variant);
            fuzz_fail ("image %d, filter %d, row %d, column %d is %.9g, expected %.9g", b, n, y, x,
                layer->type == CONVOLVE_LAYER_U8 ? *at : check_layer_read (layer, at), exact);
          }
          memset (at, CHECK_LAYER_CANARY, check_layer_sample_size (layer->type));
        }
    }
  for (size_t i = 0; i < test->destination.size; i++)
    if (result[i] != CHECK_LAYER_CANARY) {
      check_layer_case_print (test, variant);
      fuzz_fail ("byte %zu belongs to no output and was written", i);
    }
}

static void
check_source_rows (const CheckLayerCase *test, const ConvolveLayerPlan *plan)
{
  const int end = test->end_row ? test->end_row : test->out_height;
  int first_source, end_source;

  convolve_layer_plan_source_rows (plan, test->height, test->first_row, end, &first_source, &end_source);
  if (first_source < 0 || first_source >= end_source || end_source > test->height)
    fuzz_fail ("source rows %d to %d of %d", first_source, end_source, test->height);
}

static void
check_case (const CheckLayerCase *test, const char *variant)
{
  ConvolveError error = { 0 };
  ConvolveLayerPlan *plan = convolve_layer_plan_new (&test->layer, variant, NULL, &error);
  unsigned char *result = malloc (test->destination.size);
  ConvolveLayerTask task;

  if (!plan)
    fuzz_fail ("no plan: %s", error.text);
  if (!result) {
    convolve_layer_plan_unref (plan);
    return;
  }
  memset (result, CHECK_LAYER_CANARY, test->destination.size);
  task = make_task (test, test->source.bytes, result);
  if (convolve_layer_run (plan, &task, &error) != CONVOLVE_OK)
    fuzz_fail ("a run fails: %s", error.text);
  check_source_rows (test, plan);
  compare (test, variant, result);
  convolve_layer_plan_unref (plan);
  free (result);
}

/* --- what must be refused --- */

static void
check_refused (bool refused, const ConvolveError *error, const char *what)
{
  if (!refused)
    fuzz_fail ("%s was not refused", what);
  if (error->status != CONVOLVE_INVALID || error->text[0] == '\0')
    fuzz_fail ("%s: status %d, text \"%s\"", what, error->status, error->text);
}

/*
 * Members of a layer with their ranges. Sizes of the weights may become smaller, and not larger, because the
 * weights have no more memory.
 */
static void
break_layer (FuzzBytes *bytes, const CheckLayerCase *test)
{
  ConvolveLayer layer = test->layer;
  const struct
  {
    int *member;
    int low, high;
  } members[] = {
    { &layer.filters, 1, test->layer.filters },
    { &layer.channels, 1, test->layer.channels },
    { &layer.kernel_height, 1, test->layer.kernel_height },
    { &layer.kernel_width, 1, test->layer.kernel_width },
    { &layer.groups, test->layer.groups, test->layer.channels }, /* fewer groups have more weights */
    { &layer.first_filter, 0, layer.filters - 1 },
    { &layer.shown, 0, layer.filters - layer.first_filter },
    { &layer.stride_y, 1, CONVOLVE_LAYER_MAX_STEP },
    { &layer.stride_x, 1, CONVOLVE_LAYER_MAX_STEP },
    { &layer.dilation_y, 1, CONVOLVE_LAYER_MAX_DILATION },
    { &layer.dilation_x, 1, CONVOLVE_LAYER_MAX_DILATION },
    { &layer.pad_top, 0, CONVOLVE_LAYER_MAX_PADDING },
    { &layer.pad_bottom, 0, CONVOLVE_LAYER_MAX_PADDING },
    { &layer.pad_left, 0, CONVOLVE_LAYER_MAX_PADDING },
    { &layer.pad_right, 0, CONVOLVE_LAYER_MAX_PADDING },
    { &layer.pool_height, 1, CONVOLVE_LAYER_MAX_STEP },
    { &layer.pool_width, 1, CONVOLVE_LAYER_MAX_STEP },
    { &layer.pool_stride_y, 1, CONVOLVE_LAYER_MAX_STEP },
    { &layer.pool_stride_x, 1, CONVOLVE_LAYER_MAX_STEP },
    { &layer.pool_dilation_y, 1, CONVOLVE_LAYER_MAX_DILATION },
    { &layer.pool_dilation_x, 1, CONVOLVE_LAYER_MAX_DILATION },
    { &layer.pool_pad_top, 0, (layer.pool_height - 1) * layer.pool_dilation_y },
    { &layer.pool_pad_bottom, 0, (layer.pool_height - 1) * layer.pool_dilation_y },
    { &layer.pool_pad_left, 0, (layer.pool_width - 1) * layer.pool_dilation_x },
    { &layer.pool_pad_right, 0, (layer.pool_width - 1) * layer.pool_dilation_x },
  };
  const int which = fuzz_range (bytes, 0, (int) (sizeof members / sizeof *members) - 1);
  int *member = members[which].member, out_height = 0, out_width = 0;
  ConvolveError error = { 0 }, size_error = { 0 };
  ConvolveLayerPlan *plan;
  ConvolveStatus status;
  bool bad;

  *member = (int) fuzz_odd_number (bytes, members[which].high);
  bad = *member < members[which].low || *member > members[which].high;
  if (bad && which < 5 && *member > 0) /* perhaps a good size, for which the weights do not suffice */
    return;
  status = convolve_layer_output_size (&layer, test->height, test->width, &out_height, &out_width, &size_error);
  if (bad)
    check_refused (status != CONVOLVE_OK, &size_error, "a layer's member");
  else if (status == CONVOLVE_OK && (out_height < 1 || out_width < 1))
    fuzz_fail ("an output of %dx%d", out_width, out_height);
  plan = convolve_layer_plan_new (&layer, "auto", NULL, &error);
  if (bad)
    check_refused (plan == NULL, &error, "a layer");
  convolve_layer_plan_unref (plan);
}

static __int128
magnitude (__int128 number)
{
  return number < 0 ? -number : number;
}

/* Whether the layout is outside of what convolve_layer.h describes, without doubt. */
static bool
is_no_tensor (const ConvolveLayerTensor *tensor, int size, int batch, int channels, int height, int width)
{
  const __int128 column = magnitude (tensor->column_stride), row = magnitude (tensor->row_stride);
  const __int128 span = column * (width - 1) + row * (height - 1) + size;
  __int128 extent = span + magnitude (tensor->batch_stride) * (batch - 1);
  bool bad = tensor->across < 0 || span > INT32_MAX || (width > 1 && column < size) || column % size != 0
      || row % size != 0 || tensor->batch_stride % size != 0 || !tensor->channel[0];

  if (tensor->across > 0) {
    bad = bad || tensor->across_stride % size != 0 || tensor->down_stride % size != 0;
    extent += magnitude (tensor->down_stride) * ((channels - 1) / tensor->across)
        + magnitude (tensor->across_stride) * ((channels < tensor->across ? channels : tensor->across) - 1);
  } else if (tensor->across == 0) {
    bad = bad || channels > CONVOLVE_LAYER_PLANES;
    for (int c = 0; c < channels && c < CONVOLVE_LAYER_PLANES; c++)
      bad = bad || !tensor->channel[c];
  }
  return bad || extent > PTRDIFF_MAX;
}

/* Whether the sizes are outside of what convolve_layer.h describes. The output's size is found where they are not. */
static bool
is_no_task (const CheckLayerCase *test, const ConvolveLayerTask *task, int *out_height, int *out_width)
{
  const int end = task->end_row;

  if (convolve_layer_output_size (&test->layer, task->height, task->width, out_height, out_width, NULL) != CONVOLVE_OK)
    return true;
  return task->batch < 1 || task->batch > 65535 || task->filled < 0 || task->filled > CONVOLVE_LAYER_MAX_CHANNELS
      || task->first_row < 0 || end < 0 || end > *out_height || task->first_row >= (end ? end : *out_height);
}

static void
break_task (FuzzBytes *bytes, CheckLayerCase *test)
{
  const ConvolveLayer *layer = &test->layer;
  ConvolveLayerTask task = make_task (test, test->source.bytes, test->destination.bytes);
  ConvolveLayerTensor *tensor = fuzz_one_in (bytes, 2) ? &task.source : &task.destination;
  int *const numbers[] = { &task.batch, &task.height, &task.width, &task.first_row, &task.end_row, &task.filled,
    &tensor->across };
  ptrdiff_t *const strides[] = { &tensor->batch_stride, &tensor->row_stride, &tensor->column_stride,
    &tensor->across_stride, &tensor->down_stride };
  const int which = fuzz_range (bytes, 0, 12), size = check_layer_sample_size (layer->type);
  ConvolveError error = { 0 };
  ConvolveLayerPlan *plan = convolve_layer_plan_new (layer, "auto", NULL, &error);
  int out_height = 0, out_width = 0;
  bool bad;

  if (!plan)
    fuzz_fail ("no plan: %s", error.text);
  if (which < 7)
    *numbers[which] = (int) fuzz_odd_number (bytes, *numbers[which]);
  else if (which < 12)
    *strides[which - 7] = (ptrdiff_t) fuzz_odd_number (bytes, *strides[which - 7]);
  else
    tensor->channel[0] = NULL;
  bad = is_no_task (test, &task, &out_height, &out_width);
  if (!bad)
    bad = is_no_tensor (&task.source, size, task.batch, layer->channels, task.height, task.width)
        || is_no_tensor (&task.destination, size, task.batch, convolve_layer_outputs (layer) + task.filled, out_height,
            out_width);
  if (bad)
    check_refused (convolve_layer_run (plan, &task, &error) != CONVOLVE_OK, &error, "a task");
  convolve_layer_plan_unref (plan);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const variants[] = { "auto", "cpu", "cpu-reference" };
  FuzzBytes bytes = { data, size };
  const int first = fuzz_range (&bytes, 0, 255);
  CheckLayerCase test;

  if (make_case (&bytes, &test)) {
    if (first < 192)
      check_case (&test, variants[first % 3]);
    else if (first % 2)
      break_layer (&bytes, &test);
    else
      break_task (&bytes, &test);
  }
  check_layer_case_clear (&test);
  return 0;
}
