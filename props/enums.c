/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "enums.h"

#include "convolve_layer.h"

GType
convolve_boundary_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_BOUNDARY_ZERO, "00|abc  black: the zero level of the format", "zero" },
    { CONVOLVE_BOUNDARY_REPLICATE, "aa|abc  the edge sample is repeated", "replicate" },
    { CONVOLVE_BOUNDARY_REFLECT, "ba|abc  mirrored, with the edge sample twice", "reflect" },
    { CONVOLVE_BOUNDARY_REFLECT_101, "cb|abc  mirrored, with the edge sample once", "reflect-101" },
    { CONVOLVE_BOUNDARY_WRAP, "bc|abc  the samples of the opposite edge", "wrap" },
    { CONVOLVE_BOUNDARY_CONSTANT, "kk|abc  the colour boundary-color, for masks", "constant" },
    { 0, NULL, NULL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_BOUNDARIES + 1);
  if (g_once_init_enter (&type)) {
    GType made = g_enum_register_static ("GstCudaConvolveBoundary", values);

    g_once_init_leave (&type, made);
  }
  return type;
}

GType
convolve_activation_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_ACTIVATION_NONE, "the sum stays as it is", "none" },
    { CONVOLVE_ACTIVATION_RELU, "a negative sum becomes 0", "relu" },
    { CONVOLVE_ACTIVATION_ABSOLUTE, "a negative sum becomes positive", "absolute" },
    { 0, NULL, NULL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_ACTIVATIONS + 1);
  if (g_once_init_enter (&type)) {
    GType made = g_enum_register_static ("GstCudaConvolveActivation", values);

    g_once_init_leave (&type, made);
  }
  return type;
}

GType
convolve_field_mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_FIELD_MODE_AUTO, "fields by themselves where the caps or the flags of a frame say interlaced", "auto" },
    { CONVOLVE_FIELD_MODE_INTERLACED, "fields by themselves in every frame", "interlaced" },
    { CONVOLVE_FIELD_MODE_DISABLED, "every frame is one picture", "disabled" },
    { 0, NULL, NULL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_FIELD_MODES + 1);
  if (g_once_init_enter (&type)) {
    GType made = g_enum_register_static ("GstCudaConvolveFieldMode", values);

    g_once_init_leave (&type, made);
  }
  return type;
}

GType
convolve_components_get_type (void)
{
  static gsize type = 0;
  static const GFlagsValue values[] = {
    { CONVOLVE_COMPONENT_Y, "luma, and gray", "y" },
    { CONVOLVE_COMPONENT_U, "the chroma component U", "u" },
    { CONVOLVE_COMPONENT_V, "the chroma component V", "v" },
    { CONVOLVE_COMPONENT_R, "red", "r" },
    { CONVOLVE_COMPONENT_G, "green", "g" },
    { CONVOLVE_COMPONENT_B, "blue", "b" },
    { CONVOLVE_COMPONENT_A, "alpha", "a" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type)) {
    GType made = g_flags_register_static ("GstCudaConvolveComponents", values);

    g_once_init_leave (&type, made);
  }
  return type;
}

gchar *
convolve_flags_text (GType type, guint flags)
{
  GFlagsClass *known = g_type_class_ref (type);
  GString *text = g_string_new (flags ? NULL : "0");

  for (guint i = 0; i < known->n_values; i++)
    if (flags & known->values[i].value)
      g_string_append_printf (text, "%s%s", text->len ? "+" : "", known->values[i].value_nick);
  g_type_class_unref (known);
  return g_string_free (text, FALSE);
}

/* The index of the variant for masks, or -1. */
static gint
find_for_masks (const gchar *name)
{
  for (gint i = 0; i < convolve_variant_count (); i++)
    if (g_str_equal (name, convolve_variant_name (i)))
      return i;
  return -1;
}

/* The index of the variant for layers, or -1. */
static gint
find_for_layers (const gchar *name)
{
  for (gint i = 0; i < convolve_layer_variant_count (); i++)
    if (g_str_equal (name, convolve_layer_variant_name (i)))
      return i;
  return -1;
}

/* Says what the variant computes, because masks and layers share the names of some variants. An index may be -1. */
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

/* The values are auto, then the variants for masks, then the variants for layers alone. */
GType
convolve_variant_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    gint count = convolve_variant_count (), layers = convolve_layer_variant_count (), n = 1;
    GEnumValue *values = g_new0 (GEnumValue, count + layers + 2); /* the type keeps the array */
    GType made;

    values[0] = (GEnumValue){ CONVOLVE_VARIANT_AUTO,
      "the fastest known variant for the mask or the layer on this machine", "auto" };
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
