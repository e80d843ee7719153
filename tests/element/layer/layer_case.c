/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/layer/layer_case.h"

#include <gst/check/gstcheck.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "support/file.h"
#include "support/frame.h"
#include "support/names.h"
#include "support/numpy.h"
#include "support/oracle_layer.h"

/* A file with one array; extents is the text of its shape, to be freed here. */
static GByteArray *
array_bytes (gchar *extents, const gfloat *values, gsize count)
{
  g_autofree gchar *header = g_strdup_printf (NUMPY_HEADER ("<f4", "False", "%s"), extents);

  g_free (extents);
  return numpy_floats (header, values, count);
}

/*
 * Every layer has a file of its own, because the element reads a file again only where the name is another. The archives
 * are written as numpy.savez() does and as other archivers do, in turn.
 */
static void
write_file (LayerCase *layer, const gchar *folder)
{
  static gint number;
  gint channels = layer->channels / layer->groups;
  gsize count = (gsize) layer->filters * channels * layer->kernel_height * layer->kernel_width;
  g_autofree gchar *name = g_strdup_printf ("layer%d.%s", number++, layer->bias ? "npz" : "npy");
  GByteArray *bytes = array_bytes (g_strdup_printf ("(%d, %d, %d, %d)", layer->filters, channels, layer->kernel_height,
                                       layer->kernel_width),
      layer->weights, count);

  if (layer->bias) {
    NumpyMember members[] = { { NUMPY_MEMBER ("weight.npy", bytes), .plain = number % 2 },
      { NUMPY_MEMBER ("bias.npy", array_bytes (g_strdup_printf ("(%d,)", layer->filters), layer->bias, layer->filters)),
          .plain = number % 2 } };

    bytes = numpy_archive (members, 2, "");
  }
  layer->location = g_build_filename (folder, name, NULL);
  fail_unless (check_write_file (layer->location, bytes));
  g_byte_array_unref (bytes);
}

/* --- numbers of rows and of columns --- */

static gint
stride_of (const LayerCase *layer, gboolean vertical)
{
  return vertical || !layer->apart ? layer->stride : layer->stride_x;
}

static gint
pool_of (const LayerCase *layer, gboolean vertical)
{
  return vertical || !layer->apart ? layer->pool_size : layer->pool_width;
}

/* The padding of the pooling is always less than the window. */
static gint
pool_pad_of (const LayerCase *layer, gint side)
{
  return MIN (layer->pool_pads[side], pool_of (layer, side % 2 == 0) - 1);
}

/* What a filter covers, in pixels. */
static gint
span_of (const LayerCase *layer, gboolean vertical)
{
  return vertical ? (layer->kernel_height - 1) * layer->dilation[0] + 1
                  : (layer->kernel_width - 1) * layer->dilation[1] + 1;
}

static gint
pool_stride_of (const LayerCase *layer, gboolean vertical)
{
  gint stride = vertical || !layer->apart ? layer->pool_stride : layer->pool_stride_x;

  return stride ? stride : pool_of (layer, vertical);
}

/* --- layers --- */

LayerCase
layer_case_plain (const gchar *folder, gint filters, gint channels, gint height, gint width, const gfloat *weights)
{
  LayerCase layer = { .filters = filters,
    .channels = channels,
    .groups = 1,
    .dilation = { 1, 1 },
    .kernel_height = height,
    .kernel_width = width,
    .stride = 1,
    .pool_size = 1,
    .divisor = 1 };

  layer.weights = g_memdup2 (weights, sizeof (gfloat) * filters * channels * height * width);
  write_file (&layer, folder);
  return layer;
}

LayerCase
layer_case_random (GRand *random, const gchar *folder, gint filters, gint channels)
{
  LayerCase layer = { .filters = filters, .channels = channels, .groups = 1 };
  gint count;

  if (channels == 3 && filters % 3 == 0 && g_rand_boolean (random))
    layer.groups = 3;

  layer.kernel_height = g_rand_int_range (random, 1, 6);
  layer.kernel_width = g_rand_int_range (random, 1, 6);
  count = channels / layer.groups * layer.kernel_height * layer.kernel_width;
  layer.weights = g_new (gfloat, filters * count);
  for (gint i = 0; i < filters * count; i++)
    layer.weights[i] = g_rand_double_range (random, -3, 3) / count;
  if (g_rand_boolean (random)) {
    layer.bias = g_new (gfloat, filters);
    for (gint i = 0; i < filters; i++)
      layer.bias[i] = g_rand_double_range (random, -0.5, 0.5);
  }
  layer.stride = g_rand_int_range (random, 0, 2) ? 1 : g_rand_int_range (random, 1, 5);
  layer.padding = g_rand_int_range (random, -1, 5);
  layer.boundary = g_rand_int_range (random, 0, CONVOLVE_LAYER_N_BOUNDARIES);
  layer.activation = g_rand_int_range (random, 0, CONVOLVE_N_ACTIVATIONS);
  layer.pool_size = g_rand_int_range (random, 0, 2) ? 1 : g_rand_int_range (random, 1, 4);
  layer.pool_stride = g_rand_int_range (random, 0, 4);
  for (gint i = 0; i < 2; i++)
    layer.dilation[i] = g_rand_boolean (random) ? 1 : g_rand_int_range (random, 1, 4);
  layer.pool_ceil = g_rand_boolean (random);
  layer.apart = g_rand_boolean (random);
  layer.stride_x = g_rand_int_range (random, 1, 4);
  layer.pool_width = g_rand_int_range (random, 1, 3);
  layer.pool_stride_x = g_rand_int_range (random, 0, 3);
  for (gint i = 0; i < 4; i++)
    layer.pads[i] = g_rand_int_range (random, 0, 4);
  if (g_rand_boolean (random))
    for (gint i = 0; i < 4; i++)
      layer.pool_pads[i] = g_rand_int_range (random, 0, 4);
  layer.divisor = g_rand_int_range (random, 0, 2) ? 1 : g_rand_double_range (random, -2, 2);
  layer.offset = g_rand_int_range (random, 0, 2) ? 0.5 : g_rand_double_range (random, -1, 1);
  write_file (&layer, folder);
  return layer;
}

void
layer_case_clear (LayerCase *layer)
{
  g_unlink (layer->location);
  g_free (layer->location);
  g_free (layer->weights);
  g_free (layer->bias);
}

/* One number where rows and columns have one. */
static gchar *
pair_text (gint down, gint across)
{
  return down == across ? g_strdup_printf ("%d", down) : g_strdup_printf ("%d,%d", down, across);
}

static gchar *
padding_text (const LayerCase *layer)
{
  if (layer->padding < 0)
    return g_strdup ("same");
  if (layer->apart)
    return g_strdup_printf ("%d, %d,%d ,%d", layer->pads[0], layer->pads[1], layer->pads[2], layer->pads[3]);
  return layer->padding == 0 ? g_strdup ("valid") : g_strdup_printf ("%d", layer->padding);
}

static gchar *
maps_text (const LayerCase *layer)
{
  GString *text = g_string_new (NULL);

  for (gint i = 0; i < layer->n_maps; i++)
    g_string_append_printf (text, "%s%d", i ? "," : "", layer->maps[i]);
  return g_string_free (text, FALSE);
}

/* The texts of the properties whose texts are not plain numbers. */
typedef struct
{
  gchar *stride, *padding, *dilation, *pool_size, *pool_stride, *pool_padding, *maps;
} Texts;

static Texts
make_texts (const LayerCase *layer)
{
  return (Texts){ pair_text (layer->stride, stride_of (layer, FALSE)), padding_text (layer),
    pair_text (layer->dilation[0], layer->dilation[1]), pair_text (layer->pool_size, pool_of (layer, FALSE)),
    layer->pool_stride || layer->apart ? pair_text (pool_stride_of (layer, TRUE), pool_stride_of (layer, FALSE)) : NULL,
    g_strdup_printf ("%d,%d,%d,%d", pool_pad_of (layer, 0), pool_pad_of (layer, 1), pool_pad_of (layer, 2),
        pool_pad_of (layer, 3)),
    maps_text (layer) };
}

static void
clear_texts (Texts *texts)
{
  g_free (texts->stride);
  g_free (texts->padding);
  g_free (texts->dilation);
  g_free (texts->pool_size);
  g_free (texts->pool_stride);
  g_free (texts->pool_padding);
  g_free (texts->maps);
}

gchar *
layer_case_line (const LayerCase *layer)
{
  Texts texts = make_texts (layer);
  gchar divisor[G_ASCII_DTOSTR_BUF_SIZE], offset[G_ASCII_DTOSTR_BUF_SIZE];
  gchar *line = g_strdup_printf (
      "location=%s groups=%d stride=%s padding=\"%s\" dilation=%s boundary=%s activation=%s pool-size=%s "
      "pool-stride=\"%s\" pool-padding=%s pool-ceil=%d divisor=%s bias=%s channels=\"%s\" mosaic=%d",
      layer->location, layer->groups, texts.stride, texts.padding, texts.dilation,
      check_boundary_name (layer->boundary), check_activation_name (layer->activation), texts.pool_size,
      texts.pool_stride ? texts.pool_stride : "", texts.pool_padding, layer->pool_ceil,
      g_ascii_dtostr (divisor, sizeof divisor, layer->divisor), g_ascii_dtostr (offset, sizeof offset, layer->offset),
      texts.maps, layer->mosaic);

  clear_texts (&texts);
  return line;
}

void
layer_case_set (const LayerCase *layer, GstElement *element)
{
  Texts texts = make_texts (layer);

  g_object_set (element, "location", layer->location, "groups", layer->groups, "stride", texts.stride, "padding",
      texts.padding, "dilation", texts.dilation, "pool-padding", texts.pool_padding, "pool-ceil", layer->pool_ceil,
      "boundary", layer->boundary, "activation", layer->activation, "pool-size", texts.pool_size, "pool-stride",
      texts.pool_stride, "divisor", layer->divisor, "bias", layer->offset, "channels", texts.maps, "mosaic",
      layer->mosaic, NULL);
  clear_texts (&texts);
}

gint
layer_case_shown (const LayerCase *layer)
{
  return layer->n_maps ? layer->n_maps : layer->filters;
}

/* --- sizes, by the formula --- */

static gint
pads (const LayerCase *layer, gboolean vertical, gint input, gint *before)
{
  gint span = span_of (layer, vertical), stride = stride_of (layer, vertical), all;

  if (layer->padding >= 0 && layer->apart) {
    *before = layer->pads[vertical ? 0 : 1];
    return *before + layer->pads[vertical ? 2 : 3];
  }
  *before = layer->padding;
  if (layer->padding >= 0)
    return 2 * layer->padding;
  all = MAX (((input + stride - 1) / stride - 1) * stride + span - input, 0);
  *before = all / 2;
  return all;
}

/* How many sums there are to pool; 0 where the filter is larger than the picture. */
static gint
count_sums (const LayerCase *layer, gboolean vertical, gint input)
{
  gint before, padded = input + pads (layer, vertical, input, &before), span = span_of (layer, vertical);

  return padded < span ? 0 : (padded - span) / stride_of (layer, vertical) + 1;
}

/* Counts the windows: each is inside the sums and their padding, or begins inside and lacks less than a stride. */
gint
layer_case_map_side (const LayerCase *layer, gboolean vertical, gint input)
{
  gint sums = count_sums (layer, vertical, input), stride = pool_stride_of (layer, vertical), n = 0;
  gint end = sums + pool_pad_of (layer, vertical ? 2 : 3) + (layer->pool_ceil ? stride - 1 : 0);

  for (gint start = -pool_pad_of (layer, vertical ? 0 : 1);
       sums > 0 && start < sums && start + pool_of (layer, vertical) <= end; start += stride)
    n++;
  return n;
}

/* A mosaic has the fewest columns with which it has no more rows than columns of tiles. */
static gint
tiles (const LayerCase *layer, gboolean vertical)
{
  gint columns = 1;

  if (!layer->mosaic)
    return 1;
  while (columns * columns < layer_case_shown (layer))
    columns++;
  return vertical ? (layer_case_shown (layer) - 1) / columns + 1 : columns;
}

gint
layer_case_side (const LayerCase *layer, gboolean vertical, gint input)
{
  return tiles (layer, vertical) * layer_case_map_side (layer, vertical, input);
}

/* --- frames --- */

/* A feature map's value as it is shown, before it is rounded. */
static gdouble
shown_value (const LayerCase *layer, const OracleLayer *oracle, gint y, gint x)
{
  gdouble magnitude, value = oracle_layer (oracle, y, x, &magnitude);

  value = 255 * (value / layer->divisor + layer->offset);
  return CLAMP (value, 0, 255);
}

static void
check_map (const LayerCase *layer, const OracleLayer *oracle, gint map, gint width, gint height, const guint16 *samples,
    gint row, const gchar *what)
{
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      gdouble expected = shown_value (layer, oracle, y, x);
      gint got = samples[y * row + x];

      if (fabs (got - expected) > 1) {
        g_autofree gchar *line = layer_case_line (layer);

        fail ("%s: map %d of %dx%d at %d,%d: %d, expected %g; %dx%dx%d: %s", what, map, width, height, x, y, got,
            expected, layer->channels, layer->kernel_width, layer->kernel_height, line);
      }
    }
}

static gdouble *
read_input (const GstVideoInfo *info, GstBuffer *buffer, gint channels)
{
  gsize count = (gsize) GST_VIDEO_INFO_WIDTH (info) * GST_VIDEO_INFO_HEIGHT (info);
  gdouble *input = g_new (gdouble, count * channels);
  Component components[4];

  frame_read (info, buffer, components);
  for (gint c = 0; c < channels; c++)
    for (gsize i = 0; i < count; i++)
      input[c * count + i] = components[c].samples[i] / 255.0;
  frame_clear (components);
  return input;
}

static void
check_constant (const Component *component, gint x, gint y, gint width, gint height, gint value, const gchar *what)
{
  for (gint j = y; j < y + height; j++)
    for (gint i = x; i < x + width; i++)
      if (component->samples[j * component->width + i] != value)
        fail ("%s: %d at %d,%d, expected %d", what, component->samples[j * component->width + i], i, j, value);
}

static OracleLayer
make_oracle (const LayerCase *layer, const GstVideoInfo *info, const gdouble *input)
{
  OracleLayer oracle = {
    .input = input,
    .channels = layer->channels / layer->groups,
    .height = GST_VIDEO_INFO_HEIGHT (info),
    .width = GST_VIDEO_INFO_WIDTH (info),
    .kernel_height = layer->kernel_height,
    .kernel_width = layer->kernel_width,
    .stride_y = stride_of (layer, TRUE),
    .stride_x = stride_of (layer, FALSE),
    .more_dilation_y = layer->dilation[0] - 1,
    .more_dilation_x = layer->dilation[1] - 1,
    .boundary = check_boundary_oracle (layer->boundary),
    .activation = check_activation_oracle (layer->activation),
    .pool_height = pool_of (layer, TRUE),
    .pool_width = pool_of (layer, FALSE),
    .pool_stride_y = pool_stride_of (layer, TRUE),
    .pool_stride_x = pool_stride_of (layer, FALSE),
    .pool_pad_top = pool_pad_of (layer, 0),
    .pool_pad_left = pool_pad_of (layer, 1),
    .conv_height = count_sums (layer, TRUE, GST_VIDEO_INFO_HEIGHT (info)),
    .conv_width = count_sums (layer, FALSE, GST_VIDEO_INFO_WIDTH (info)),
  };

  pads (layer, TRUE, oracle.height, &oracle.pad_top);
  pads (layer, FALSE, oracle.width, &oracle.pad_left);
  return oracle;
}

void
layer_case_check (const LayerCase *layer, const GstVideoInfo *in_info, GstBuffer *in, const GstVideoInfo *out_info,
    GstBuffer *out, const gchar *what)
{
  g_autofree gdouble *input = read_input (in_info, in, layer->channels);
  OracleLayer oracle = make_oracle (layer, in_info, input);
  gint width = layer_case_map_side (layer, FALSE, oracle.width), columns = tiles (layer, FALSE);
  gint height = layer_case_map_side (layer, TRUE, oracle.height), shown = layer_case_shown (layer);
  Component components[4];

  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (out_info), layer_case_side (layer, FALSE, oracle.width));
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (out_info), layer_case_side (layer, TRUE, oracle.height));
  frame_read (out_info, out, components);
  for (gint i = 0; i < columns * tiles (layer, TRUE) * (layer->mosaic ? 1 : shown); i++) {
    const Component *component = &components[layer->mosaic ? 0 : i];
    gint x = layer->mosaic ? i % columns * width : 0, y = layer->mosaic ? i / columns * height : 0;
    gint map = i < layer->n_maps ? layer->maps[i] : i;

    if (i >= shown) {
      check_constant (component, x, y, width, height, 0, "a tile without a map");
      continue;
    }
    oracle.input =
        input + (gsize) (map / (layer->filters / layer->groups)) * oracle.channels * oracle.height * oracle.width;
    oracle.weights = layer->weights + (gsize) map * oracle.channels * layer->kernel_height * layer->kernel_width;
    oracle.bias = layer->bias ? layer->bias[map] : 0;
    check_map (layer, &oracle, map, width, height, component->samples + y * component->width + x, component->width,
        what);
  }
  if (shown == 3 && !layer->mosaic && GST_VIDEO_INFO_HAS_ALPHA (out_info))
    check_constant (&components[3], 0, 0, width, height, 255, "alpha");
  frame_clear (components);
}
