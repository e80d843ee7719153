/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The enum types of the properties of regions. */
#include "enums.h"
#include "region_settings.h"

/* Registers an enum type at the first call. values must stay. */
static GType
register_once (gsize *type, const gchar *name, const GEnumValue *values)
{
  if (g_once_init_enter (type))
    g_once_init_leave (type, g_enum_register_static (name, values));
  return *type;
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
    { 0, NULL, NULL },
  };

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
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_flags_register_static ("GstCudaConvolveRegionSources", values));
  return type;
}
