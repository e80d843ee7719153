/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties as GObject sees them: enum types, specs with a plain sentence each, and the way to the settings. */
#include <gst/gst.h>

#include "convolve_layer.h"
#include "presets.h"

GType
convolve_boundary_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = { { CONVOLVE_BOUNDARY_ZERO, "00|abc  black: the zero level of the format",
                                           "zero" },
    { CONVOLVE_BOUNDARY_REPLICATE, "aa|abc  the edge sample goes on", "replicate" },
    { CONVOLVE_BOUNDARY_REFLECT, "ba|abc  mirrored, the edge sample twice", "reflect" },
    { CONVOLVE_BOUNDARY_REFLECT_101, "cb|abc  mirrored, the edge sample once", "reflect-101" },
    { CONVOLVE_BOUNDARY_WRAP, "bc|abc  the opposite side follows", "wrap" }, { 0, NULL, NULL } };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_BOUNDARIES + 1);
  if (g_once_init_enter (&type)) {
    GType made = g_enum_register_static ("GstCudaConvolveBoundary", values);

    g_once_init_leave (&type, made);
  }
  return type;
}

/* The index in the table of variants for masks, or -1. */
static gint
find_for_masks (const gchar *name)
{
  for (gint i = 0; i < convolve_variant_count (); i++)
    if (g_str_equal (name, convolve_variant_name (i)))
      return i;
  return -1;
}

static gint
find_for_layers (const gchar *name)
{
  for (gint i = 0; i < convolve_layer_variant_count (); i++)
    if (g_str_equal (name, convolve_layer_variant_name (i)))
      return i;
  return -1;
}

/* What a variant is for comes first, because masks and layers share the names of some. */
static const gchar *
describe_variant (gint mask, gint layer)
{
  g_autofree gchar *text = NULL;

  if (layer < 0)
    text = g_strdup_printf ("masks: %s", convolve_variant_idea (mask));
  else if (mask < 0)
    text = g_strdup_printf ("layers: %s", convolve_layer_variant_idea (layer));
  else
    text = g_strdup_printf ("masks: %s; layers: %s", convolve_variant_idea (mask), convolve_layer_variant_idea (layer));
  return g_intern_string (text);
}

/* Auto, the variants for masks, and those that only layers have. */
GType
convolve_variant_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    gint count = convolve_variant_count (), layers = convolve_layer_variant_count (), n = 1;
    GEnumValue *values = g_new0 (GEnumValue, count + layers + 2); /* for ever */
    GType made;

    values[0] = (GEnumValue){ CONVOLVE_VARIANT_AUTO,
      "the best of those below for the mask or the layer and this machine", "auto" };
    for (gint i = 0; i < count; i++)
      values[n++] = (GEnumValue){ convolve_variant_number (i),
        describe_variant (i, find_for_layers (convolve_variant_name (i))), convolve_variant_name (i) };
    for (gint i = 0; i < layers; i++)
      if (find_for_masks (convolve_layer_variant_name (i)) < 0)
        values[n++] = (GEnumValue){ convolve_layer_variant_number (i), describe_variant (-1, i),
          convolve_layer_variant_name (i) };
    made = g_enum_register_static ("GstCudaConvolveVariant", values);
    g_once_init_leave (&type, made);
  }
  return type;
}

const gchar *
convolve_variant_nick (gint value)
{
  GEnumClass *values = g_type_class_ref (CONVOLVE_TYPE_VARIANT);
  const gchar *nick = g_enum_get_value (values, value)->value_nick; /* lives as long as the type */

  g_type_class_unref (values);
  return nick;
}

gboolean
convolve_variant_is_for_masks (gint value, gboolean *on_device)
{
  gint index = find_for_masks (convolve_variant_nick (value));

  *on_device = index >= 0 && convolve_variant_on_device (index);
  return index >= 0;
}

gboolean
convolve_variant_is_for_layers (gint value, gboolean *on_device)
{
  gint index = find_for_layers (convolve_variant_nick (value));

  *on_device = index >= 0 && convolve_layer_variant_on_device (index);
  return index >= 0;
}

static const gchar *
mask_blurb (void)
{
  g_autofree gchar *list = convolve_preset_list ();
  g_autofree gchar *blurb = g_strdup_printf (
      "A preset's name, perhaps with an argument as in motion:30, or weights: "
      "rows split by ';' or newline, values by space or comma, optionally with WxH: in front (NULL = the default, "
      "gaussian). Presets: %s",
      list);

  return g_intern_string (blurb);
}

void
convolve_props_install (GObjectClass *klass)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  const GParamFlags controllable = playing | GST_PARAM_CONTROLLABLE;

  /**
   * GstCudaConvolve:mask:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_MASK,
      g_param_spec_string ("mask", "Mask", mask_blurb (), "gaussian", playing));
  /**
   * GstCudaConvolve:mask-width:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_MASK_WIDTH,
      g_param_spec_uint ("mask-width", "Mask width",
          "Odd width of a sized preset in luma pixels, or row length of weights in one row "
          "(0 = the preset's own, or from sigma; for weights from their number)",
          0, CONVOLVE_MAX_SIDE, 0, controllable));
  /**
   * GstCudaConvolve:mask-height:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_MASK_HEIGHT,
      g_param_spec_uint ("mask-height", "Mask height",
          "Odd height of a sized preset in luma pixels, or number of rows of weights in one row "
          "(0 = as the width; 1 = one-dimensional)",
          0, CONVOLVE_MAX_SIDE, 0, controllable));
  /**
   * GstCudaConvolve:sigma:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_SIGMA,
      g_param_spec_double ("sigma", "Sigma",
          "Standard deviation in luma pixels of the presets gaussian, log and unsharp; without effect on other masks "
          "(0 = from the width: 0.3 ((width - 1) / 2 - 1) + 0.8)",
          0, CONVOLVE_MAX_SIGMA, 0, controllable));
  /**
   * GstCudaConvolve:divisor:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_DIVISOR,
      g_param_spec_double ("divisor", "Divisor",
          "The weighted sum of a mask, or a value of a layer, is divided by this number (0 = for a mask the sum of the "
          "weights, or 1 where that is 0; for a layer 1)",
          -G_MAXDOUBLE, G_MAXDOUBLE, 0, controllable));
  /**
   * GstCudaConvolve:bias:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_BIAS,
      g_param_spec_double ("bias", "Bias",
          "Added to luma and RGB after the division, as a fraction of the way from black to white (0.5 = middle grey "
          "on "
          "black); a preset's own offset comes on top",
          -1, 1, 0, controllable));
  /**
   * GstCudaConvolve:boundary:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_BOUNDARY,
      g_param_spec_enum ("boundary", "Boundary",
          "What the mask or the layer meets outside the picture, drawn at the left edge", CONVOLVE_TYPE_BOUNDARY,
          CONVOLVE_BOUNDARY_REPLICATE, playing));
  /**
   * GstCudaConvolve:kernel-variant:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, CONVOLVE_PROP_KERNEL_VARIANT,
      g_param_spec_enum ("kernel-variant", "Kernel variant",
          "How the convolution is computed; one that cannot do the mask or the layer is an error that says why",
          CONVOLVE_TYPE_VARIANT, CONVOLVE_VARIANT_AUTO, playing));

  gst_type_mark_as_plugin_api (CONVOLVE_TYPE_BOUNDARY, 0);
  gst_type_mark_as_plugin_api (CONVOLVE_TYPE_VARIANT, 0);
}

gboolean
convolve_settings_set_property (ConvolveSettings *settings, guint id, const GValue *value)
{
  switch (id) {
    case CONVOLVE_PROP_MASK:
      g_free (settings->mask);
      settings->mask = g_value_dup_string (value);
      return TRUE;
    case CONVOLVE_PROP_MASK_WIDTH:
      settings->mask_width = g_value_get_uint (value);
      return TRUE;
    case CONVOLVE_PROP_MASK_HEIGHT:
      settings->mask_height = g_value_get_uint (value);
      return TRUE;
    case CONVOLVE_PROP_SIGMA:
      settings->sigma = g_value_get_double (value);
      return TRUE;
    case CONVOLVE_PROP_DIVISOR:
      settings->divisor = g_value_get_double (value);
      return TRUE;
    case CONVOLVE_PROP_BIAS:
      settings->bias = g_value_get_double (value);
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
convolve_settings_get_property (const ConvolveSettings *settings, guint id, GValue *value)
{
  switch (id) {
    case CONVOLVE_PROP_MASK:
      g_value_set_string (value, settings->mask);
      return TRUE;
    case CONVOLVE_PROP_MASK_WIDTH:
      g_value_set_uint (value, settings->mask_width);
      return TRUE;
    case CONVOLVE_PROP_MASK_HEIGHT:
      g_value_set_uint (value, settings->mask_height);
      return TRUE;
    case CONVOLVE_PROP_SIGMA:
      g_value_set_double (value, settings->sigma);
      return TRUE;
    case CONVOLVE_PROP_DIVISOR:
      g_value_set_double (value, settings->divisor);
      return TRUE;
    case CONVOLVE_PROP_BIAS:
      g_value_set_double (value, settings->bias);
      return TRUE;
    default:
      return FALSE;
  }
}
