/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer_settings.h"

#include <gst/gst.h>
#include <string.h>

#include "parse.h"

void
convolve_layer_settings_init (ConvolveLayerSettings *settings)
{
  *settings = (ConvolveLayerSettings){ .stride = 1, .padding = g_strdup ("same"), .pool_size = 1 };
}

void
convolve_layer_settings_copy (ConvolveLayerSettings *to, const ConvolveLayerSettings *from)
{
  *to = *from;
  to->location = g_strdup (from->location);
  to->padding = g_strdup (from->padding);
  to->channels = g_strdup (from->channels);
}

void
convolve_layer_settings_clear (ConvolveLayerSettings *settings)
{
  g_clear_pointer (&settings->location, g_free);
  g_clear_pointer (&settings->padding, g_free);
  g_clear_pointer (&settings->channels, g_free);
}

gboolean
convolve_layer_settings_has_layer (const ConvolveLayerSettings *settings)
{
  return settings->location && settings->location[0];
}

/* Takes value, NULL where the property is at its default. */
static void
add_idle (GPtrArray *sentences, const gchar *property, gchar *value)
{
  if (value)
    g_ptr_array_add (sentences,
        g_strdup_printf ("%s: %s has no effect: layer-location names no layer", property, value));
  g_free (value);
}

static gchar *
number_unless (guint value, guint standard)
{
  return value != standard ? g_strdup_printf ("%u", value) : NULL;
}

static gchar *
text_unless (const gchar *text, const gchar *standard)
{
  return text && text[0] && !g_str_equal (text, standard) ? convolve_parse_quote (text, strlen (text)) : NULL;
}

void
convolve_layer_settings_add_idle (const ConvolveLayerSettings *settings, GPtrArray *sentences)
{
  GEnumClass *activations = g_type_class_ref (CONVOLVE_TYPE_ACTIVATION);

  add_idle (sentences, "stride", number_unless (settings->stride, 1));
  add_idle (sentences, "padding", text_unless (settings->padding, "same"));
  if (settings->activation != CONVOLVE_ACTIVATION_NONE)
    add_idle (sentences, "activation", g_strdup (g_enum_get_value (activations, settings->activation)->value_nick));
  add_idle (sentences, "pool-size", number_unless (settings->pool_size, 1));
  add_idle (sentences, "pool-stride", number_unless (settings->pool_stride, 0));
  add_idle (sentences, "layer-channels", text_unless (settings->channels, ""));
  add_idle (sentences, "mosaic", settings->mosaic ? g_strdup ("true") : NULL);
  g_type_class_unref (activations);
}

/* Digits alone, up to largest; moves *p behind them. */
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

/* Sets an error that quotes the token and returns FALSE. */
static gboolean G_GNUC_PRINTF (5, 6)
    fail (GError **error, const gchar *property, const gchar *token, gsize length, const gchar *format, ...)
{
  g_autofree gchar *quoted = convolve_parse_quote (token, length), *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_LAYER, "%s: %s %s", property, quoted, text);
  return FALSE;
}

gboolean
convolve_layer_settings_padding (const ConvolveLayerSettings *settings, gint *pixels, GError **error)
{
  g_autofree gchar *text = g_strstrip (g_strdup (settings->padding ? settings->padding : "same"));
  const gchar *p = text;
  guint number;

  if (g_str_equal (text, "same"))
    *pixels = CONVOLVE_PADDING_SAME;
  else if (g_str_equal (text, "valid"))
    *pixels = 0;
  else if (take_number (&p, CONVOLVE_LAYER_MAX_PADDING, &number) && *p == '\0')
    *pixels = number;
  else
    return fail (error, "padding", text, strlen (text), "is not same, valid, or a number of pixels up to %d",
        CONVOLVE_LAYER_MAX_PADDING);
  return TRUE;
}

static const gchar *
skip_space (const gchar *p)
{
  while (g_ascii_isspace (*p))
    p++;
  return p;
}

/* A number or a range at *p, which is moved behind it. */
static gboolean
take_maps (const gchar **p, guint filters, GArray *maps, GError **error)
{
  const gchar *token = *p;
  gsize length = strcspn (token, ", \t\r\n");
  guint first, last;

  if (!take_number (p, filters - 1, &first))
    return fail (error, "layer-channels", token, length, "is not one of 0 to %u, the layer's feature maps",
        filters - 1);
  last = first;
  if (**p == '-') {
    ++*p;
    if (!take_number (p, filters - 1, &last) || last < first)
      return fail (error, "layer-channels", token, length, "is not a range of 0 to %u, the layer's feature maps",
          filters - 1);
  }
  if (**p && **p != ',' && !g_ascii_isspace (**p))
    return fail (error, "layer-channels", token, length, "is not a number or a range");
  if (maps->len + last - first >= CONVOLVE_LAYER_MAX_CHANNELS)
    return fail (error, "layer-channels", token, length, "is one too many: there are at most %d",
        CONVOLVE_LAYER_MAX_CHANNELS);
  for (; first <= last; first++)
    g_array_append_val (maps, first);
  return TRUE;
}

gboolean
convolve_layer_settings_channels (const ConvolveLayerSettings *settings, guint filters, GArray **maps, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (guint));
  const gchar *p = skip_space (settings->channels ? settings->channels : "");
  gboolean none = *p == '\0';

  while (*p) {
    if (!take_maps (&p, filters, list, error))
      return FALSE;
    p = skip_space (p);
    if (*p == ',') {
      p = skip_space (p + 1);
      if (*p == '\0')
        return fail (error, "layer-channels", ",", 1, "has no number behind it");
    }
  }
  for (guint i = 0; none && i < filters; i++)
    g_array_append_val (list, i);
  *maps = g_steal_pointer (&list);
  return TRUE;
}

GType
convolve_activation_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = { { CONVOLVE_ACTIVATION_NONE, "as they are", "none" },
    { CONVOLVE_ACTIVATION_RELU, "negative values become 0", "relu" },
    { CONVOLVE_ACTIVATION_ABSOLUTE, "negative values become positive", "absolute" }, { 0, NULL, NULL } };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_ACTIVATIONS + 1);
  if (g_once_init_enter (&type)) {
    GType made = g_enum_register_static ("GstCudaConvolveActivation", values);

    g_once_init_leave (&type, made);
  }
  return type;
}

void
convolve_layer_props_install (GObjectClass *klass)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  /**
   * GstCudaConvolve:layer-location:
   *
   * Since: 0.2
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_LAYER_LOCATION,
      g_param_spec_string ("layer-location", "Layer location",
          "Layer: file with the weights of a convolution layer, which then takes the mask's place: a .npy file of "
          "shape "
          "(filters, channels, height, width), or a .npz file of weight and bias; channels are 1 for GRAY8, 3 for RGB "
          "(NULL or empty = no layer)",
          NULL, playing));
  /**
   * GstCudaConvolve:stride:
   *
   * Since: 0.2
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_STRIDE,
      g_param_spec_uint ("stride", "Stride", "Layer: pixels from one place of the filters to the next, both ways", 1,
          CONVOLVE_LAYER_MAX_STEP, 1, playing));
  /**
   * GstCudaConvolve:padding:
   *
   * Since: 0.2
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_PADDING,
      g_param_spec_string ("padding", "Padding",
          "Layer: pixels added on each side of the picture, filled as boundary says: same (as many as an output of the "
          "picture's size, divided by stride and rounded up, needs), valid (none), or a number of pixels",
          "same", playing));
  /**
   * GstCudaConvolve:activation:
   *
   * Since: 0.2
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_ACTIVATION,
      g_param_spec_enum ("activation", "Activation", "Layer: what is done to each sum", CONVOLVE_TYPE_ACTIVATION,
          CONVOLVE_ACTIVATION_NONE, playing));
  /**
   * GstCudaConvolve:pool-size:
   *
   * Since: 0.2
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_POOL_SIZE,
      g_param_spec_uint ("pool-size", "Pool size",
          "Layer: side of the square of values of which the output is the largest, after the activation (1 = no "
          "pooling)",
          1, CONVOLVE_LAYER_MAX_STEP, 1, playing));
  /**
   * GstCudaConvolve:pool-stride:
   *
   * Since: 0.2
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_POOL_STRIDE,
      g_param_spec_uint ("pool-stride", "Pool stride",
          "Layer: values from one pooling window to the next (0 = pool-size)", 0, CONVOLVE_LAYER_MAX_STEP, 0, playing));
  /**
   * GstCudaConvolve:layer-channels:
   *
   * Since: 0.2
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_LAYER_CHANNELS,
      g_param_spec_string ("layer-channels", "Layer channels",
          "Layer: the feature maps that are shown, from 0, as in 0,5,8-11: 1 as GRAY8, 3 as RGB, 4 as RGBA, any number "
          "as "
          "a mosaic (NULL or empty = all)",
          NULL, playing));
  /**
   * GstCudaConvolve:mosaic:
   *
   * Since: 0.2
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_MOSAIC,
      g_param_spec_boolean ("mosaic", "Mosaic",
          "Layer: show the feature maps side by side and in rows, as one GRAY8 frame", FALSE, playing));

  gst_type_mark_as_plugin_api (CONVOLVE_TYPE_ACTIVATION, 0);
}

static void
replace_string (gchar **string, const GValue *value)
{
  g_free (*string);
  *string = g_value_dup_string (value);
}

gboolean
convolve_layer_settings_set_property (ConvolveLayerSettings *settings, guint id, const GValue *value)
{
  switch (id) {
    case CONVOLVE_PROP_LAYER_LOCATION:
      replace_string (&settings->location, value);
      return TRUE;
    case CONVOLVE_PROP_STRIDE:
      settings->stride = g_value_get_uint (value);
      return TRUE;
    case CONVOLVE_PROP_PADDING:
      replace_string (&settings->padding, value);
      return TRUE;
    case CONVOLVE_PROP_ACTIVATION:
      settings->activation = g_value_get_enum (value);
      return TRUE;
    case CONVOLVE_PROP_POOL_SIZE:
      settings->pool_size = g_value_get_uint (value);
      return TRUE;
    case CONVOLVE_PROP_POOL_STRIDE:
      settings->pool_stride = g_value_get_uint (value);
      return TRUE;
    case CONVOLVE_PROP_LAYER_CHANNELS:
      replace_string (&settings->channels, value);
      return TRUE;
    case CONVOLVE_PROP_MOSAIC:
      settings->mosaic = g_value_get_boolean (value);
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
convolve_layer_settings_get_property (const ConvolveLayerSettings *settings, guint id, GValue *value)
{
  switch (id) {
    case CONVOLVE_PROP_LAYER_LOCATION:
      g_value_set_string (value, settings->location);
      return TRUE;
    case CONVOLVE_PROP_STRIDE:
      g_value_set_uint (value, settings->stride);
      return TRUE;
    case CONVOLVE_PROP_PADDING:
      g_value_set_string (value, settings->padding);
      return TRUE;
    case CONVOLVE_PROP_ACTIVATION:
      g_value_set_enum (value, settings->activation);
      return TRUE;
    case CONVOLVE_PROP_POOL_SIZE:
      g_value_set_uint (value, settings->pool_size);
      return TRUE;
    case CONVOLVE_PROP_POOL_STRIDE:
      g_value_set_uint (value, settings->pool_stride);
      return TRUE;
    case CONVOLVE_PROP_LAYER_CHANNELS:
      g_value_set_string (value, settings->channels);
      return TRUE;
    case CONVOLVE_PROP_MOSAIC:
      g_value_set_boolean (value, settings->mosaic);
      return TRUE;
    default:
      return FALSE;
  }
}
