/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_layer_api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/check_layer_case.h"
#include "layer/cpu/cpu.h"

static const float ones[64] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

static int
expect (bool good, const char *what, int line)
{
  if (!good)
    printf ("FAILED: line %d: %s\n", line, what);
  return !good;
}

#define EXPECT(condition) expect ((condition), #condition, __LINE__)

/* Sizes of outputs that were worked out by hand. `before` and `after` are the padding of a side. */
static int
check_sizes (void)
{
  static const struct
  {
    int size, kernel, stride, before, after, pool, pool_stride, out;
  } sizes[] = {
    { 5, 3, 1, 0, 0, 1, 1, 3 },
    { 5, 3, 1, 1, 1, 1, 1, 5 },
    { 224, 7, 2, 3, 3, 1, 1, 112 },
    { 224, 7, 2, 3, 3, 2, 2, 56 },
    { 224, 7, 2, 3, 3, 3, 2, 55 },
    { 227, 11, 4, 0, 0, 1, 1, 55 },
    { 227, 11, 4, 0, 0, 3, 2, 27 },
    { 32, 5, 1, 0, 0, 2, 2, 14 },
    { 1, 1, 1, 0, 0, 1, 1, 1 },
    { 1, 3, 1, 1, 1, 1, 1, 1 },
    { 6, 3, 2, 0, 1, 1, 1, 3 },
    { 7, 2, 3, 0, 0, 1, 1, 2 },
    { 3, 3, 5, 0, 0, 1, 1, 1 },
    { 10, 1, 1, 0, 0, 1, 3, 4 },
    { 2, 255, 1, 127, 126, 1, 1, 1 },
    { 4, 4, 1, 2, 1, 4, 4, 1 },
  };
  int failures = 0;

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ConvolveLayer layer;
    int height = 0, width = 0;

    convolve_layer_init (&layer, 1, 1, sizes[i].kernel, 1, ones);
    layer.stride_y = sizes[i].stride;
    layer.pad_top = sizes[i].before;
    layer.pad_bottom = sizes[i].after;
    layer.pool_height = sizes[i].pool;
    layer.pool_stride_y = sizes[i].pool_stride;
    failures += EXPECT (convolve_layer_output_size (&layer, sizes[i].size, 9, &height, &width, NULL) == CONVOLVE_OK);
    failures += expect (height == sizes[i].out && width == 9, "an output's height", (int) i);
    convolve_layer_init (&layer, 1, 1, 1, sizes[i].kernel, ones);
    layer.stride_x = sizes[i].stride;
    layer.pad_left = sizes[i].before;
    layer.pad_right = sizes[i].after;
    layer.pool_width = sizes[i].pool;
    layer.pool_stride_x = sizes[i].pool_stride;
    failures += EXPECT (convolve_layer_output_size (&layer, 4, sizes[i].size, &height, &width, NULL) == CONVOLVE_OK);
    failures += expect (width == sizes[i].out && height == 4, "an output's width", (int) i);
  }
  return failures;
}

/* Sizes with dilations, and with the pooling's padding, dilation and rounding, as PyTorch and ONNX have them. */
static int
check_pooled_sizes (void)
{
  static const struct
  {
    int size, kernel, dilation, pool, stride, pool_dilation, before, after, ceil, out; /* out 0: INVALID */
  } sizes[] = {
    { 7, 3, 2, 1, 1, 1, 0, 0, 0, 3 },
    { 7, 3, 3, 1, 1, 1, 0, 0, 0, 1 },
    { 6, 3, 3, 1, 1, 1, 0, 0, 0, 0 },
    { 6, 1, 4096, 1, 1, 1, 0, 0, 0, 6 },
    { 32, 1, 1, 3, 2, 1, 1, 1, 0, 16 },
    { 112, 1, 1, 3, 2, 1, 0, 0, 1, 56 },
    { 112, 1, 1, 3, 2, 1, 0, 0, 0, 55 },
    { 4, 1, 1, 3, 2, 1, 0, 0, 1, 2 },
    { 2, 1, 1, 1, 2, 1, 0, 0, 1, 1 }, /* a second window would begin behind the end */
    { 5, 1, 1, 5, 1, 1, 2, 2, 0, 5 },
    { 28, 1, 1, 3, 1, 1, 2, 2, 0, 30 },
    { 4, 1, 1, 2, 1, 2, 0, 0, 0, 2 },
    { 6, 1, 1, 2, 2, 1, 1, 1, 0, 4 },
    { 2, 1, 1, 4, 1, 1, 0, 0, 0, 0 },
    { 2, 1, 1, 3, 2, 1, 0, 0, 1, 1 }, /* one window that lacks a sample */
    { 2, 1, 1, 5, 2, 1, 0, 0, 1, 0 },
    { 2, 1, 1, 2, 1, 3, 2, 2, 0, 0 }, /* a window would have samples before and behind the image alone */
    { 3, 1, 1, 2, 1, 3, 2, 2, 0, 4 },
  };
  int failures = 0;

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ConvolveStatus status = sizes[i].out ? CONVOLVE_OK : CONVOLVE_INVALID;
    ConvolveLayer layer;
    int height = 0, width = 0;

    convolve_layer_init (&layer, 1, 1, sizes[i].kernel, 1, ones);
    layer.dilation_y = sizes[i].dilation;
    layer.pool_height = sizes[i].pool;
    layer.pool_stride_y = sizes[i].stride;
    layer.pool_dilation_y = sizes[i].pool_dilation;
    layer.pool_pad_top = sizes[i].before;
    layer.pool_pad_bottom = sizes[i].after;
    layer.pool_ceil = sizes[i].ceil;
    failures += expect (convolve_layer_output_size (&layer, sizes[i].size, 9, &height, &width, NULL) == status,
        "a height", (int) i);
    failures += expect (height == sizes[i].out && width == (sizes[i].out ? 9 : 0), "an output's height", (int) i);
    height = width = 0;
    convolve_layer_init (&layer, 1, 1, 1, sizes[i].kernel, ones);
    layer.dilation_x = sizes[i].dilation;
    layer.pool_width = sizes[i].pool;
    layer.pool_stride_x = sizes[i].stride;
    layer.pool_dilation_x = sizes[i].pool_dilation;
    layer.pool_pad_left = sizes[i].before;
    layer.pool_pad_right = sizes[i].after;
    layer.pool_ceil = sizes[i].ceil;
    failures += expect (convolve_layer_output_size (&layer, 4, sizes[i].size, &height, &width, NULL) == status,
        "a width", (int) i);
    failures += expect (width == sizes[i].out && height == (sizes[i].out ? 4 : 0), "an output's width", (int) i);
  }
  return failures;
}

static int
check_same (void)
{
  static const struct
  {
    int size, kernel, stride, dilation, before, after, out;
  } sizes[] = {
    { 5, 3, 1, 1, 1, 1, 5 },
    { 5, 4, 1, 1, 1, 2, 5 },
    { 5, 3, 2, 1, 1, 1, 3 },
    { 6, 3, 2, 1, 0, 1, 3 },
    { 7, 2, 3, 1, 0, 1, 3 },
    { 2, 1, 2, 1, 0, 0, 1 },
    { 224, 7, 2, 1, 2, 3, 112 },
    { 1, 255, 1, 1, 127, 127, 1 },
    { 10, 2, 5, 1, 0, 0, 2 },
    { 10, 3, 1, 4, 4, 4, 10 },
    { 10, 2, 1, 3, 1, 2, 10 },
    { 7, 3, 2, 3, 3, 3, 4 },
  };
  int failures = 0;

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ConvolveLayer layer;
    int height = 0, width = 0;

    convolve_layer_init (&layer, 1, 1, sizes[i].kernel, sizes[i].kernel, ones);
    layer.stride_y = layer.stride_x = sizes[i].stride;
    layer.dilation_y = layer.dilation_x = sizes[i].dilation;
    failures += EXPECT (convolve_layer_pad_same (&layer, sizes[i].size, sizes[i].size, NULL) == CONVOLVE_OK);
    failures += expect (layer.pad_top == sizes[i].before && layer.pad_bottom == sizes[i].after
            && layer.pad_left == sizes[i].before && layer.pad_right == sizes[i].after,
        "same padding", (int) i);
    failures += EXPECT (
        convolve_layer_output_size (&layer, sizes[i].size, sizes[i].size, &height, &width, NULL) == CONVOLVE_OK);
    failures += expect (height == sizes[i].out && width == sizes[i].out, "an output of same padding", (int) i);
    layer.kernel_width = 255; /* which spans 1,040,385 samples: too many for a padding */
    layer.dilation_x = CONVOLVE_LAYER_MAX_DILATION;
    failures += EXPECT (convolve_layer_pad_same (&layer, 5, 5, NULL) == CONVOLVE_INVALID);
  }
  return failures;
}

/* Each row sets one field of a good layer to a value that must be refused with a text. */
static int
check_refused (void)
{
  static const struct
  {
    size_t field;
    int value;
  } bad[] = {
#define BAD(field, value) { offsetof (ConvolveLayer, field), value }
    BAD (filters, 0),
    BAD (filters, 4097),
    BAD (filters, -1),
    BAD (channels, 0),
    BAD (channels, 4097),
    BAD (kernel_height, 0),
    BAD (kernel_height, 256),
    BAD (kernel_width, 0),
    BAD (kernel_width, 256),
    BAD (kernel_width, 6),
    BAD (kernel_height, 7),
    BAD (first_filter, -1),
    BAD (first_filter, 2),
    BAD (shown, -1),
    BAD (shown, 3),
    BAD (groups, 0),
    BAD (groups, -1),
    BAD (groups, 2), /* 2 filters, but 3 channels */
    BAD (groups, 3),
    BAD (stride_y, 0),
    BAD (stride_x, 256),
    BAD (dilation_y, 0),
    BAD (dilation_x, 4097),
    BAD (dilation_x, 3),
    BAD (pad_top, -1),
    BAD (pad_bottom, 65537),
    BAD (pad_left, -1),
    BAD (pad_right, 65537),
    BAD (boundary, CONVOLVE_LAYER_N_BOUNDARIES),
    BAD (boundary, -1),
    BAD (activation, CONVOLVE_N_ACTIVATIONS),
    BAD (pool_height, 0),
    BAD (pool_width, 256),
    BAD (pool_width, 4),
    BAD (pool_height, 5),
    BAD (pool_stride_y, 0),
    BAD (pool_stride_x, 256),
    BAD (pool_dilation_y, 0),
    BAD (pool_dilation_x, 4097),
    BAD (pool_pad_top, -1),
    BAD (pool_pad_bottom, 1),
    BAD (pool_pad_left, 1),
    BAD (pool_pad_right, -1),
    BAD (type, CONVOLVE_N_LAYER_TYPES),
    BAD (type, -1),
#undef BAD
  };
  int failures = 0, height, width;

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ConvolveLayer layer;
    ConvolveError error = { 0 };

    convolve_layer_init (&layer, 2, 3, 3, 3, ones);
    memcpy ((char *) &layer + bad[i].field, &bad[i].value, sizeof (int));
    failures += expect (convolve_layer_output_size (&layer, 6, 5, &height, &width, &error) == CONVOLVE_INVALID
            && error.status == CONVOLVE_INVALID && error.text[0],
        "a bad field", (int) i);
  }
  return failures;
}

static ConvolveStatus
status_of_plan (const ConvolveLayer *layer, const char *variant)
{
  ConvolveError error = { CONVOLVE_OK, 0, "" };
  ConvolveLayerPlan *plan = convolve_layer_plan_new (layer, variant, NULL, &error);

  convolve_layer_plan_unref (plan);
  return plan ? CONVOLVE_OK : error.status;
}

static int
check_plans (void)
{
  ConvolveLayer layer;
  float weights[18] = { 1 }, bias[2] = { 0 };
  int failures = 0, height, width;

  convolve_layer_init (&layer, 2, 1, 3, 3, weights);
  layer.bias = bias;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_OK);
  failures += EXPECT (status_of_plan (&layer, "no-such") == CONVOLVE_INVALID);
  for (int v = 0; v < convolve_layer_variant_count (); v++)
    failures += EXPECT (status_of_plan (&layer, convolve_layer_variant_name (v))
        == (convolve_layer_variant_on_device (v) ? CONVOLVE_NO_DEVICE : CONVOLVE_OK));
  weights[17] = NAN;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  layer.shown = 1; /* the NaN is in a filter that is not shown, so nobody reads it */
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_OK);
  bias[0] = INFINITY;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  bias[0] = 0;
  layer.weights = NULL;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  convolve_layer_init (&layer, 6, 6, 1, 1, NULL); /* no weights: only where each channel is a filter of its own */
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  layer.groups = 3;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  layer.groups = 6;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_OK);
  layer.kernel_width = 2;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  convolve_layer_init (&layer, 2, 1, 3, 3, weights);
  layer.shown = 1;
  layer.type = CONVOLVE_LAYER_U8;
  layer.in_scale = 0;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  layer.in_scale = 1;
  layer.out_offset = NAN;
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  convolve_layer_init (&layer, 4096, 4096, 3, 3, weights);
  failures += EXPECT (status_of_plan (&layer, "auto") == CONVOLVE_INVALID);
  convolve_layer_init (&layer, 4096, 4096, 16, 16, weights); /* 2^32 weights */
  failures += EXPECT (convolve_layer_output_size (&layer, 16, 16, &height, &width, NULL) == CONVOLVE_INVALID);
  return failures;
}

/* The fast variants on a device refuse what they cannot do before they look at the device, each with a reason. */
static int
check_plain (void)
{
  static const struct
  {
    size_t field;
    int value;
    const char *word; /* of the reason */
  } rows[] = {
    { offsetof (ConvolveLayer, groups), 2, "group" },
    { offsetof (ConvolveLayer, dilation_y), 2, "kernel is dilated" },
    { offsetof (ConvolveLayer, dilation_x), 3, "kernel is dilated" },
    { offsetof (ConvolveLayer, pool_dilation_y), 2, "window is dilated" },
    { offsetof (ConvolveLayer, pool_dilation_x), 3, "window is dilated" },
    { offsetof (ConvolveLayer, pool_pad_top), 1, "padding" },
    { offsetof (ConvolveLayer, pool_pad_bottom), 1, "padding" },
    { offsetof (ConvolveLayer, pool_pad_left), 1, "padding" },
    { offsetof (ConvolveLayer, pool_pad_right), 1, "padding" },
    { offsetof (ConvolveLayer, pool_ceil), 1, "rounds" },
  };
  int failures = 0;

  for (int v = 0; convolve_layer_variants[v]; v++)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      const ConvolveLayerVariant *variant = convolve_layer_variants[v];
      const char *reason = NULL;
      ConvolveFound found;
      ConvolveLayer layer;
      ConvolveLayerPlan *plan;

      convolve_layer_init (&layer, 2, 2, 3, 3, ones);
      layer.pool_height = layer.pool_width = 2;
      if (rows[i].field == offsetof (ConvolveLayer, pool_ceil))
        layer.pool_ceil = true;
      else
        memcpy ((char *) &layer + rows[i].field, &rows[i].value, sizeof (int));
      plan = convolve_layer_plan_new (&layer, "cpu", NULL, NULL);
      if (EXPECT (plan != NULL))
        return failures + 1;
      if (!variant->on_device || strcmp (variant->name, "direct") == 0)
        failures += EXPECT (convolve_layer_variant_accepts (variant, plan, &found, &reason));
      else if (strcmp (variant->name, "shared") != 0)
        failures += EXPECT (!convolve_layer_variant_accepts (variant, plan, &found, &reason) && reason
            && strstr (reason, rows[i].word));
      convolve_layer_plan_unref (plan);
    }
  return failures;
}

static int
check_tasks (void)
{
  ConvolveLayer layer;
  float from[64] = { 0 }, to[64];
  ConvolveLayerPlan *plan, *again;
  ConvolveLayerTask good = { .batch = 1, .height = 4, .width = 5 }, task;
  ConvolveError error = { 0 };
  int failures = 0;

  convolve_layer_init (&layer, 1, 1, 3, 3, ones);
  plan = convolve_layer_plan_new (&layer, "auto", NULL, NULL);
  if (EXPECT (plan != NULL))
    return 1;
  again = convolve_layer_plan_ref (plan);
  convolve_layer_plan_unref (again);
  good.source = convolve_layer_nchw (CONVOLVE_LAYER_FLOAT32, from, 1, 4, 5);
  good.destination = convolve_layer_nchw (CONVOLVE_LAYER_FLOAT32, to, 1, 2, 3);
  failures += EXPECT (convolve_layer_run (plan, &good, NULL) == CONVOLVE_OK);
#define BAD(...) \
  task = good; \
  __VA_ARGS__; \
  failures += EXPECT (convolve_layer_run (plan, &task, &error) == CONVOLVE_INVALID)
  BAD (task.batch = 0);
  BAD (task.batch = 65536);
  BAD (task.height = 0);
  BAD (task.height = 2);
  BAD (task.width = -1);
  BAD (task.width = INT32_MAX);
  BAD (task.first_row = -1);
  BAD (task.first_row = 2);
  BAD (task.end_row = 3);
  BAD (task.first_row = 1, task.end_row = 1);
  BAD (task.filled = -1);
  BAD (task.source.channel[0] = NULL);
  BAD (task.destination.channel[0] = NULL);
  BAD (task.source.column_stride = 2);
  BAD (task.source.row_stride = 21);
  BAD (task.source.row_stride = (ptrdiff_t) 1 << 30);
  BAD (task.source.column_stride = (ptrdiff_t) 1 << 29);
  BAD (task.source.row_stride = PTRDIFF_MIN);
  BAD (task.source.column_stride = PTRDIFF_MIN);
  BAD (task.batch = 3, task.destination.batch_stride = (ptrdiff_t) 1 << 62);
  BAD (task.filled = 2, task.destination.down_stride = (ptrdiff_t) 1 << 62);
  BAD (task.source.row_stride = INT32_MAX / 4 - 3); /* 20 bytes too many together with the columns */
  BAD (task.destination.down_stride += 2);
  BAD (task.destination.across_stride += 2);
  BAD (task.destination.across = -1);
  BAD (task.destination.across = 0, task.filled = 4);
  BAD (task.destination.channel[0] = (char *) to + 2);
#undef BAD
  convolve_layer_plan_unref (plan);
  convolve_layer_plan_unref (NULL);
  return failures;
}

/* The rows that convolve_layer_plan_source_rows() leaves out get huge values, and the result must not change. */
static int
check_source_rows (void)
{
  enum
  {
    SIDE = 24
  };
  static float from[SIDE * SIDE], poisoned[SIDE * SIDE], to[SIDE * SIDE], again[SIDE * SIDE];
  int failures = 0;

  for (int i = 0; i < SIDE * SIDE; i++)
    from[i] = (float) (i * 37 % 101);
  for (int boundary = 0; boundary < CONVOLVE_LAYER_N_BOUNDARIES; boundary++)
    for (int stride = 1; stride <= 3; stride++)
      for (int turn = 0; turn < 9; turn++) {
        const int pool = 1 + turn % 3, more = turn / 3; /* more: of dilations, and of the pooling's padding */
        ConvolveLayer layer;
        ConvolveLayerPlan *plan;
        ConvolveLayerTask task = { .batch = 1, .height = SIDE, .width = SIDE };
        int height, width, first, end;

        convolve_layer_init (&layer, 1, 1, 5, 3, ones);
        layer.boundary = (ConvolveBoundary) boundary;
        layer.stride_y = stride;
        layer.pool_height = layer.pool_stride_y = pool;
        layer.pad_top = 2;
        layer.pad_bottom = layer.pad_left = layer.pad_right = 1;
        layer.dilation_y = 1 + more;
        layer.pool_dilation_y = 1 + more / 2;
        layer.pool_pad_top = layer.pool_pad_bottom = more ? (pool - 1) * layer.pool_dilation_y : 0;
        layer.pool_ceil = more == 1;
        convolve_layer_output_size (&layer, SIDE, SIDE, &height, &width, NULL);
        plan = convolve_layer_plan_new (&layer, "cpu-reference", NULL, NULL);
        if (EXPECT (plan != NULL))
          return failures + 1;
        for (task.first_row = 0; task.first_row < height; task.first_row++)
          for (task.end_row = task.first_row + 1; task.end_row <= height; task.end_row += 2) {
            convolve_layer_plan_source_rows (plan, SIDE, task.first_row, task.end_row, &first, &end);
            failures += EXPECT (first >= 0 && first < end && end <= SIDE);
            for (int i = 0; i < SIDE * SIDE; i++)
              poisoned[i] = i / SIDE >= first && i / SIDE < end ? from[i] : 1e9f;
            task.destination = convolve_layer_nchw (layer.type, to, 1, height, width);
            task.source = convolve_layer_nchw (layer.type, from, 1, SIDE, SIDE);
            convolve_layer_run (plan, &task, NULL);
            task.destination.channel[0] = again;
            task.source.channel[0] = poisoned;
            convolve_layer_run (plan, &task, NULL);
            failures += expect (memcmp (to + task.first_row * width, again + task.first_row * width,
                                    (task.end_row - task.first_row) * width * sizeof (float))
                    == 0,
                "rows that are not needed", boundary);
          }
        convolve_layer_plan_unref (plan);
      }
  return failures;
}

/* The largest error of a layer with one filter against the oracle, divided by 1e-5 of the sum of magnitudes. */
static double
compare_layer (const ConvolveLayer *layer, const float *from, int side, const float *to, int height, int width)
{
  int count = layer->channels * side * side;
  double *input = malloc (count * sizeof (double)), most = input ? 0 : INFINITY;
  OracleLayer oracle = check_layer_oracle (layer, side, side);

  oracle.input = input;
  oracle.weights = layer->weights;
  for (int i = 0; i < count && input; i++)
    input[i] = from[i];
  for (int y = 0; y < height && input; y++)
    for (int x = 0; x < width; x++) {
      double magnitude, exact = oracle_layer (&oracle, y, x, &magnitude);

      most = fmax (most, fabs (to[y * width + x] - exact) / (1e-5 * magnitude));
    }
  free (input);
  return most;
}

/*
 * Layers whose strides, pooling and padding are large: a thread of the variant cpu needs no more than 64 MiB, and the
 * results are right. The first row once took 17 GB.
 */
static int
check_memory (void)
{
  static const struct
  {
    int channels, kernel, stride, pool, pool_stride, side, pad, dilation;
  } rows[] = {
    { 1, 3, 255, 255, 255, 700, 65536, 1 },
    { 1, 255, 255, 1, 1, 300, 1500, 1 },
    { 5, 255, 255, 1, 1, 300, 1000, 1 },
    { 1, 61, 17, 9, 5, 500, 100, 1 },
    { 64, 7, 8, 64, 64, 900, 0, 1 },
    { 3, 40, 61, 6, 1, 90, 300, 1 },
    { 700, 9, 12, 1, 1, 130, 3, 1 },
    { 1, 17, 255, 1, 1, 300, 65536, 4096 },
    { 1, 33, 1, 1, 1, 1030, 1030, 64 },
    { 2, 255, 255, 1, 1, 90, 10100, 40 },
    { 1, 3, 2, 127, 30, 700, 0, 50 },
    { 2, 3, 1, 255, 254, 3000, 0, 1 },
  };
  int failures = 0;

  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    int n_weights = rows[r].channels * rows[r].kernel * rows[r].kernel, side = rows[r].side, height = 0, width = 0;
    int n_samples = rows[r].channels * side * side;
    float *weights = malloc (n_weights * sizeof (float)), *from = malloc (n_samples * sizeof (float)), *to = NULL;
    ConvolveLayerTask task = { .batch = 1, .height = side, .width = side };
    ConvolveLayerPlan *plan = NULL;
    ConvolveLayer layer;
    size_t bytes = 0;
    double off = INFINITY;

    for (int i = 0; i < n_weights && weights; i++)
      weights[i] = ((i * 2654435761u) >> 20) / 4096.f - 0.4f;
    for (int i = 0; i < n_samples && from; i++)
      from[i] = ((i * 2246822519u) >> 20) / 4096.f - 0.6f;
    convolve_layer_init (&layer, 1, rows[r].channels, rows[r].kernel, rows[r].kernel, weights);
    layer.stride_y = layer.stride_x = rows[r].stride;
    layer.dilation_y = layer.dilation_x = rows[r].dilation;
    layer.pool_dilation_y = layer.pool_dilation_x = rows[r].pool == 127 ? 2 : rows[r].side == 3000 ? 11 : 1;
    layer.pool_height = layer.pool_width = rows[r].pool;
    layer.pool_stride_y = layer.pool_stride_x = rows[r].pool_stride;
    layer.pad_left = layer.pad_right = layer.pad_top = rows[r].pad;
    layer.boundary = CONVOLVE_BOUNDARY_REPLICATE;
    if (weights && from && convolve_layer_output_size (&layer, side, side, &height, &width, NULL) == CONVOLVE_OK) {
      to = malloc ((size_t) height * width * sizeof (float));
      plan = convolve_layer_plan_new (&layer, "cpu", NULL, NULL);
    }
    task.source = convolve_layer_nchw (layer.type, from, layer.channels, side, side);
    task.destination = convolve_layer_nchw (layer.type, to, 1, height, width);
    if (plan && to) {
      ConvolveLayerJob job = { .task = task, .out_height = height, .out_width = width };

      job.task.end_row = height;
      bytes = convolve_layer_cpu_memory (plan, &job);
      if (bytes <= 64 << 20 && convolve_layer_run (plan, &task, NULL) == CONVOLVE_OK)
        off = compare_layer (&layer, from, side, to, height, width);
    }
    if (bytes > 64 << 20 || !(off <= 1)) {
      printf ("FAILED: large layer %d: %zu bytes for a thread, %g times the error that is allowed\n", (int) r, bytes,
          off);
      failures++;
    }
    convolve_layer_plan_unref (plan);
    free (weights);
    free (from);
    free (to);
  }
  return failures;
}

int
check_layer_api (void)
{
  return check_sizes () + check_pooled_sizes () + check_same () + check_refused () + check_plans () + check_plain ()
      + check_tasks () + check_source_rows () + check_memory ();
}
