/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "properties/enums.h"

#include "convolve_layer.h"
#include "boxes/region_settings.h"

/* Registers an enum type at the first call. values must stay. */
static GType
register_once (gsize *type, const gchar *name, const GEnumValue *values)
{
  if (g_once_init_enter (type))
    g_once_init_leave (type, g_enum_register_static (name, values));
  return *type;
}

static GType
register_flags_once (gsize *type, const gchar *name, const GFlagsValue *values)
{
  if (g_once_init_enter (type))
    g_once_init_leave (type, g_flags_register_static (name, values));
  return *type;
}

#define BOUNDARIES_OF_ALL \
  { CONVOLVE_BOUNDARY_ZERO, "00|abc  black: the zero level of the format", "zero" }, \
      { CONVOLVE_BOUNDARY_REPLICATE, "aa|abc  the edge sample is repeated", "replicate" }, \
      { CONVOLVE_BOUNDARY_REFLECT, "ba|abc  mirrored, with the edge sample twice", "reflect" }, \
      { CONVOLVE_BOUNDARY_REFLECT_101, "cb|abc  mirrored, with the edge sample once", "reflect-101" }, \
  { \
    CONVOLVE_BOUNDARY_WRAP, "bc|abc  the samples of the opposite edge", "wrap" \
  }

GType
convolve_boundary_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    BOUNDARIES_OF_ALL,
    { CONVOLVE_BOUNDARY_CONSTANT, "kk|abc  the colour boundary-color", "constant" },
    { 0, NULL, NULL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_BOUNDARIES + 1);
  return register_once (&type, "GstCudaConvolveBoundary", values);
}

GType
convolve_layer_boundary_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = { BOUNDARIES_OF_ALL, { 0, NULL, NULL } };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_LAYER_N_BOUNDARIES + 1);
  return register_once (&type, "GstCudaConvLayerBoundary", values);
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
  return register_once (&type, "GstCudaConvLayerActivation", values);
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
  return register_once (&type, "GstCudaConvolveFieldMode", values);
}

GType
convolve_light_mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_LIGHT_MODE_CODED, "samples as they are coded", "coded" },
    { CONVOLVE_LIGHT_MODE_LINEAR, "the light that samples stand for, by the transfer function of the caps", "linear" },
    { 0, NULL, NULL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_LIGHT_MODES + 1);
  return register_once (&type, "GstCudaConvolveLight", values);
}

GType
convolve_alpha_mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_ALPHA_MODE_WEIGH, "colours count as much as they are seen, and alpha is convolved with them", "weigh" },
    { CONVOLVE_ALPHA_MODE_COPY, "colours count alike, and alpha is copied", "copy" },
    { CONVOLVE_ALPHA_MODE_CONVOLVE, "colours count alike, and alpha is convolved by itself", "convolve" },
    { 0, NULL, NULL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_ALPHA_MODES + 1);
  return register_once (&type, "GstCudaConvolveAlpha", values);
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

  return register_flags_once (&type, "GstCudaConvolveComponents", values);
}

GType
convolve_apply_to_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_APPLY_TO_FRAME, "the whole frame", "frame" },
    { CONVOLVE_APPLY_TO_REGIONS, "the regions", "regions" },
    { CONVOLVE_APPLY_TO_OUTSIDE_REGIONS, "all but the regions", "outside-regions" },
    { 0, NULL, NULL },
  };

  return register_once (&type, "GstCudaConvolveApplyTo", values);
}

GType
convolve_region_shape_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_SHAPE_RECTANGLE, "the box", "rectangle" },
    { CONVOLVE_SHAPE_ELLIPSE, "the largest ellipse in the box; the corners of the box stay as they are", "ellipse" },
    { 0, NULL, NULL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_SHAPES + 1);
  return register_once (&type, "GstCudaConvolveRegionShape", values);
}

GType
convolve_region_effect_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_REGION_EFFECT_MASK, "convolution with the mask", "mask" },
    { CONVOLVE_REGION_EFFECT_PIXELATE, "blocks of their mean, as many across each box as region-blocks says",
        "pixelate" },
    { CONVOLVE_REGION_EFFECT_FILL, "the colour region-color", "fill" },
    { CONVOLVE_REGION_EFFECT_AUTO,
        "pixelate in regions, or the mask where region-strength is set; the mask outside of them", "auto" },
    { CONVOLVE_REGION_EFFECT_NOISE_PIXELATE, "blocks of their mean and random noise, as much as region-epsilon says",
        "noise-pixelate" },
    { 0, NULL, NULL },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == CONVOLVE_N_REGION_EFFECTS + 1);
  return register_once (&type, "GstCudaConvolveRegionEffect", values);
}

GType
convolve_region_fallback_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CONVOLVE_REGION_FALLBACK_NONE, "nothing: the frame passes as if it had no regions", "none" },
    { CONVOLVE_REGION_FALLBACK_FRAME, "the whole frame, as one box", "frame" },
    { 0, NULL, NULL },
  };

  return register_once (&type, "GstCudaConvolveRegionFallback", values);
}

GType
convolve_region_sources_get_type (void)
{
  static gsize type = 0;
  static const GFlagsValue values[] = {
    { CONVOLVE_REGION_SOURCE_TEXT, "the property regions", "text" },
    { CONVOLVE_REGION_SOURCE_ROI, "GstVideoRegionOfInterestMeta", "roi" },
    { CONVOLVE_REGION_SOURCE_ANALYTICS,
        "GstAnalyticsRelationMeta: objects with GStreamer 1.24, masks of segmentation with 1.26", "analytics" },
    { CONVOLVE_REGION_SOURCE_ALPHA, "the alpha of the frame, as a plane of weights from 0 to the whole effect",
        "alpha" },
    { 0, NULL, NULL },
  };

  return register_flags_once (&type, "GstCudaConvolveRegionSources", values);
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

const gchar *
convolve_enum_nick (GType type, gint value)
{
  GEnumClass *values = g_type_class_ref (type);
  const GEnumValue *found = g_enum_get_value (values, value);
  const gchar *nick = found ? found->value_nick : NULL; /* lives as long as the type */

  g_type_class_unref (values);
  return nick;
}

/* --- variants --- */

/* The kernel library's list of variants for masks, or for layers. */
typedef struct
{
  int (*count) (void);
  const char *(*name) (int index);
  int (*number) (int index);
  const char *(*idea) (int index);
  bool (*on_device) (int index);
} VariantList;

static const VariantList for_masks = { convolve_variant_count, convolve_variant_name, convolve_variant_number,
  convolve_variant_idea, convolve_variant_on_device };
static const VariantList for_layers = { convolve_layer_variant_count, convolve_layer_variant_name,
  convolve_layer_variant_number, convolve_layer_variant_idea, convolve_layer_variant_on_device };

/* The values are auto, and then those of the list, best first. */
static GType
register_variants (gsize *type, const gchar *name, const gchar *of, const VariantList *list)
{
  if (g_once_init_enter (type)) {
    gint count = list->count ();
    GEnumValue *values = g_new0 (GEnumValue, count + 2); /* the type keeps the array */
    g_autofree gchar *idea = g_strdup_printf ("the fastest known variant for the %s on this machine", of);

    values[0] = (GEnumValue){ CONVOLVE_VARIANT_AUTO, g_intern_string (idea), "auto" };
    for (gint i = 0; i < count; i++)
      values[i + 1] = (GEnumValue){ list->number (i), list->idea (i), list->name (i) };
    g_once_init_leave (type, g_enum_register_static (name, values));
  }
  return *type;
}

GType
convolve_variant_get_type (void)
{
  static gsize type = 0;

  return register_variants (&type, "GstCudaConvolveVariant", "mask", &for_masks);
}

GType
convolve_layer_variant_get_type (void)
{
  static gsize type = 0;

  return register_variants (&type, "GstCudaConvLayerVariant", "layer", &for_layers);
}

static gboolean
is_on_device (const VariantList *list, const gchar *name)
{
  for (gint i = 0; i < list->count (); i++)
    if (g_str_equal (name, list->name (i)))
      return list->on_device (i);
  return FALSE;
}

gboolean
convolve_variant_is_on_device (const gchar *name)
{
  return is_on_device (&for_masks, name);
}

gboolean
convolve_layer_variant_is_on_device (const gchar *name)
{
  return is_on_device (&for_layers, name);
}
