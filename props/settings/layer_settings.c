/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "settings/layer_settings.h"

#include <math.h>
#include <string.h>

#include "text/token.h"

/* Reads digits as a number up to largest, and moves *p behind them. */
static gboolean
take_number (const gchar **p, guint largest, guint *number)
{
  const gchar *start = *p;

  *number = 0;
  for (; g_ascii_isdigit (**p); (*p)++) {
    *number = *number * 10 + (**p - '0');
    if (*number > largest)
      return FALSE;
  }
  return *p > start;
}

/* Reads up to four numbers of a text, split by commas. Returns how many there are; 0 where the text is anything else. */
static guint
read_numbers (const gchar *text, guint least, guint most, gint numbers[4])
{
  const gchar *p = convolve_token_skip_space (text);
  guint n = 0, number;

  while (n < 4 && take_number (&p, most, &number) && number >= least) {
    numbers[n++] = number;
    p = convolve_token_skip_space (p);
    if (*p == '\0')
      return n;
    if (*p++ != ',')
      return 0;
    p = convolve_token_skip_space (p);
  }
  return 0;
}

/* Reads one number for both directions, or a number for each: down, and across. */
static gboolean
read_pair (const gchar *property, const gchar *text, guint least, guint most, int *down, int *across, GError **error)
{
  gint numbers[4];
  guint n = read_numbers (text, least, most, numbers);

  if (n < 1 || n > 2)
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, property, text, strlen (text),
        "is neither a number of %u to %u nor two of them, down,across", least, most);
  *down = numbers[0];
  *across = numbers[n - 1];
  return TRUE;
}

/* Reads one number for all sides, down,across, or top,left,bottom,right, in ONNX's order. */
static gboolean
read_sides (const gchar *text, guint most, int *top, int *left, int *bottom, int *right)
{
  gint numbers[4];
  guint n = read_numbers (text, 0, most, numbers);

  if (n != 1 && n != 2 && n != 4)
    return FALSE;
  *top = numbers[0];
  *left = numbers[n > 1 ? 1 : 0];
  *bottom = numbers[n == 4 ? 2 : 0];
  *right = numbers[n - 1];
  return TRUE;
}

static gboolean
read_padding (const gchar *text, ConvolveLayer *layer, gboolean *same, GError **error)
{
  g_autofree gchar *word = g_strstrip (g_strdup (text ? text : "same"));

  layer->pad_top = layer->pad_left = layer->pad_bottom = layer->pad_right = 0;
  *same = g_str_equal (word, "same");
  if (*same || g_str_equal (word, "valid"))
    return TRUE;
  if (read_sides (word, CONVOLVE_LAYER_MAX_PADDING, &layer->pad_top, &layer->pad_left, &layer->pad_bottom,
          &layer->pad_right))
    return TRUE;
  return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "padding", word, strlen (word),
      "is not same, valid, a number of pixels up to %d, two of them, down,across, or four, top,left,bottom,right",
      CONVOLVE_LAYER_MAX_PADDING);
}

static gboolean
read_pool_padding (const gchar *text, ConvolveLayer *layer, GError **error)
{
  const gchar *sides = text ? text : "0";

  return read_sides (sides, CONVOLVE_LAYER_MAX_STEP, &layer->pool_pad_top, &layer->pool_pad_left,
             &layer->pool_pad_bottom, &layer->pool_pad_right)
      || convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "pool-padding", sides, strlen (sides),
          "is not a number up to %d, two of them, down,across, or four, top,left,bottom,right",
          CONVOLVE_LAYER_MAX_STEP);
}

/* A window of the pooling has a value in it, wherever it is. */
static gboolean
check_pool_padding (const gchar *text, const ConvolveLayer *layer, GError **error)
{
  if (MAX (layer->pool_pad_top, layer->pool_pad_bottom) < layer->pool_height
      && MAX (layer->pool_pad_left, layer->pool_pad_right) < layer->pool_width)
    return TRUE;
  return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "pool-padding", text, strlen (text),
      "is not less than pool-size, which is %d,%d", layer->pool_height, layer->pool_width);
}

static gboolean
set_scale (const ConvolveLayerSettings *settings, ConvolveLayer *layer, GError **error)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  layer->out_scale = 255 / settings->divisor;
  layer->out_offset = 255 * settings->bias;
  if (!isnormal (layer->out_scale)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_LAYER,
        "divisor: %s is not a number to divide a layer's values by",
        g_ascii_formatd (digits, sizeof digits, "%g", settings->divisor));
    return FALSE;
  }
  if (!(fabs (settings->bias) <= 1)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_LAYER, "bias: %s is not between -1 and 1",
        g_ascii_formatd (digits, sizeof digits, "%g", settings->bias));
    return FALSE;
  }
  return TRUE;
}

gboolean
convolve_layer_settings_fill (const ConvolveLayerSettings *settings, ConvolveLayer *layer, gboolean *same,
    GError **error)
{
  const gchar *pool = settings->pool_size ? settings->pool_size : "1";
  const gchar *step = settings->pool_stride && settings->pool_stride[0] ? settings->pool_stride : pool;

  layer->activation = settings->activation;
  layer->pool_ceil = settings->pool_ceil;
  return read_pair ("stride", settings->stride ? settings->stride : "1", 1, CONVOLVE_LAYER_MAX_STEP, &layer->stride_y,
             &layer->stride_x, error)
      && read_padding (settings->padding, layer, same, error)
      && read_pair ("dilation", settings->dilation ? settings->dilation : "1", 1, CONVOLVE_LAYER_MAX_DILATION,
          &layer->dilation_y, &layer->dilation_x, error)
      && read_pair ("pool-size", pool, 1, CONVOLVE_LAYER_MAX_STEP, &layer->pool_height, &layer->pool_width, error)
      && read_pair ("pool-stride", step, 1, CONVOLVE_LAYER_MAX_STEP, &layer->pool_stride_y, &layer->pool_stride_x,
          error)
      && read_pool_padding (settings->pool_padding, layer, error)
      && check_pool_padding (settings->pool_padding ? settings->pool_padding : "0", layer, error)
      && set_scale (settings, layer, error);
}

/* Reads a number or a range at *p, and moves *p behind. */
static gboolean
take_maps (const gchar **p, guint filters, GArray *maps, GError **error)
{
  const gchar *token = *p;
  gsize length = strcspn (token, ", \t\r\n");
  guint first, last;

  if (!take_number (p, filters - 1, &first))
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "channels", token, length,
        "is not one of 0 to %u, the layer's feature maps", filters - 1);
  last = first;
  if (**p == '-') {
    ++*p;
    if (!take_number (p, filters - 1, &last) || last < first)
      return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "channels", token, length,
          "is not a range of 0 to %u, the layer's feature maps", filters - 1);
  }
  if (**p && **p != ',' && !g_ascii_isspace (**p))
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "channels", token, length,
        "is not a number or a range");
  if (maps->len + last - first >= CONVOLVE_LAYER_MAX_CHANNELS)
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "channels", token, length,
        "is one too many: there are at most %d", CONVOLVE_LAYER_MAX_CHANNELS);
  for (; first <= last; first++)
    g_array_append_val (maps, first);
  return TRUE;
}

gboolean
convolve_layer_settings_channels (const ConvolveLayerSettings *settings, guint filters, GArray **maps, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (guint));
  const gchar *p = convolve_token_skip_space (settings->channels ? settings->channels : "");
  gboolean none = *p == '\0';

  while (*p) {
    if (!take_maps (&p, filters, list, error))
      return FALSE;
    p = convolve_token_skip_space (p);
    if (*p == ',') {
      p = convolve_token_skip_space (p + 1);
      if (*p == '\0')
        return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "channels", ",", 1,
            "has no number behind the comma");
    }
  }
  for (guint i = 0; none && i < filters; i++)
    g_array_append_val (list, i);
  *maps = g_steal_pointer (&list);
  return TRUE;
}
