/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/layercaps.h"

#include "cuda/cudamemory.h"
#include "frame/formats.h"

/* A format of 8 bits, and the format with an alpha channel that is most like it. */
typedef struct
{
  GstVideoFormat format, with_alpha;
} Kind;

static const Kind gray[] = { { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_UNKNOWN } };

static const Kind rgb[] = {
  { GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGBA },
  { GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_RGBA },
  { GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_RGBA },
  { GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_BGRA },
  { GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_BGRA },
  { GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_BGRA },
  { GST_VIDEO_FORMAT_xRGB, GST_VIDEO_FORMAT_ARGB },
  { GST_VIDEO_FORMAT_ARGB, GST_VIDEO_FORMAT_ARGB },
  { GST_VIDEO_FORMAT_xBGR, GST_VIDEO_FORMAT_ABGR },
  { GST_VIDEO_FORMAT_ABGR, GST_VIDEO_FORMAT_ABGR },
  { GST_VIDEO_FORMAT_GBR, GST_VIDEO_FORMAT_GBRA },
  { GST_VIDEO_FORMAT_GBRA, GST_VIDEO_FORMAT_GBRA },
  { GST_VIDEO_FORMAT_RGBP, GST_VIDEO_FORMAT_RGBA },
  { GST_VIDEO_FORMAT_BGRP, GST_VIDEO_FORMAT_BGRA },
};

static const Kind rgba[] = {
  { GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_RGBA },
  { GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_BGRA },
  { GST_VIDEO_FORMAT_ARGB, GST_VIDEO_FORMAT_ARGB },
  { GST_VIDEO_FORMAT_ABGR, GST_VIDEO_FORMAT_ABGR },
  { GST_VIDEO_FORMAT_GBRA, GST_VIDEO_FORMAT_GBRA },
};

typedef struct
{
  const Kind *kinds;
  guint n;
} Kinds;

#define KINDS(table) ((Kinds){ table, G_N_ELEMENTS (table) })

/* The formats that a pad of this direction can have. */
static Kinds
get_kinds (const GstCudaConvLayerModel *layer, GstPadDirection direction)
{
  if (direction == GST_PAD_SINK)
    return layer->channels == 1 ? KINDS (gray) : KINDS (rgb);
  return layer->mosaic || layer->shown == 1 ? KINDS (gray) : layer->shown == 3 ? KINDS (rgb) : KINDS (rgba);
}

static gboolean
has_format (Kinds kinds, GstVideoFormat format)
{
  for (guint i = 0; i < kinds.n; i++)
    if (kinds.kinds[i].format == format)
      return TRUE;
  return FALSE;
}

static GstPadDirection
other_direction (GstPadDirection direction)
{
  return direction == GST_PAD_SINK ? GST_PAD_SRC : GST_PAD_SINK;
}

/* The first of the kinds that a structure has; UNKNOWN where the structure has none of them. */
static GstVideoFormat
first_format (const GstStructure *structure, Kinds kinds)
{
  const GValue *value = gst_structure_get_value (structure, "format");

  if (!value)
    return kinds.kinds[0].format;
  if (G_VALUE_HOLDS_STRING (value)) {
    GstVideoFormat format = gst_video_format_from_string (g_value_get_string (value));

    return has_format (kinds, format) ? format : GST_VIDEO_FORMAT_UNKNOWN;
  }
  for (guint i = 0; GST_VALUE_HOLDS_LIST (value) && i < gst_value_list_get_size (value); i++) {
    GstVideoFormat format = gst_video_format_from_string (g_value_get_string (gst_value_list_get_value (value, i)));

    if (has_format (kinds, format))
      return format;
  }
  return GST_VIDEO_FORMAT_UNKNOWN;
}

static void
append_format (GValue *list, GstVideoFormat format, gboolean cuda)
{
  GValue value = G_VALUE_INIT;

  if (cuda && !gst_cuda_convolve_cuda_has_format (format))
    return;
  g_value_init (&value, G_TYPE_STRING);
  g_value_set_static_string (&value, gst_video_format_to_string (format));
  gst_value_list_append_and_take_value (list, &value);
}

/*
 * Sets the formats of the other pad, the one most like near first. FALSE where the memory can have none of the kinds.
 */
static gboolean
set_formats (GstStructure *structure, Kinds kinds, GstVideoFormat near, gboolean cuda)
{
  GstVideoFormat best = kinds.kinds[0].format;
  GValue list = G_VALUE_INIT;
  guint n;

  for (guint i = 0; i < G_N_ELEMENTS (rgb); i++)
    if (rgb[i].format == near)
      best = has_format (kinds, near) ? near : has_format (kinds, rgb[i].with_alpha) ? rgb[i].with_alpha : best;
  g_value_init (&list, GST_TYPE_LIST);
  append_format (&list, best, cuda);
  for (guint i = 0; i < kinds.n; i++)
    if (kinds.kinds[i].format != best)
      append_format (&list, kinds.kinds[i].format, cuda);
  n = gst_value_list_get_size (&list);
  if (n == 1)
    gst_structure_set_value (structure, "format", gst_value_list_get_value (&list, 0));
  else if (n > 1)
    gst_structure_set_value (structure, "format", &list);
  g_value_unset (&list);
  return n > 0;
}

/* --- sizes --- */

/* Maps the sizes least to most of one pad to sizes of the other pad. FALSE where none of them is possible. */
static gboolean
map_range (const GstCudaConvLayerModel *layer, GstPadDirection direction, GstCudaConvolveSide side, gint least,
    gint most, GValue *mapped)
{
  gint low, high, multiple = 1;

  if (direction == GST_PAD_SINK) {
    if (!gst_cuda_conv_layer_model_input (layer, side, 1, G_MAXINT, &low, &high))
      return FALSE;
    multiple = gst_cuda_conv_layer_model_tiles (layer, side);
    low = MAX (least, low) <= most ? gst_cuda_conv_layer_model_output (layer, side, MAX (least, low)) : 0;
    high = gst_cuda_conv_layer_model_output (layer, side, most);
    if (low == 0)
      return FALSE;
  } else if (!gst_cuda_conv_layer_model_input (layer, side, least, most, &low, &high)) {
    return FALSE;
  }
  if (low == high) {
    g_value_init (mapped, G_TYPE_INT);
    g_value_set_int (mapped, low);
  } else {
    g_value_init (mapped, GST_TYPE_INT_RANGE);
    gst_value_set_int_range_step (mapped, low, high, multiple);
  }
  return TRUE;
}

static gboolean
map_value (const GstCudaConvLayerModel *layer, GstPadDirection direction, GstCudaConvolveSide side, const GValue *value,
    GValue *mapped)
{
  if (!value)
    return map_range (layer, direction, side, 1, G_MAXINT, mapped);
  if (G_VALUE_HOLDS_INT (value))
    return map_range (layer, direction, side, g_value_get_int (value), g_value_get_int (value), mapped);
  if (GST_VALUE_HOLDS_INT_RANGE (value))
    return map_range (layer, direction, side, gst_value_get_int_range_min (value), gst_value_get_int_range_max (value),
        mapped);
  if (!GST_VALUE_HOLDS_LIST (value))
    return FALSE;
  g_value_init (mapped, GST_TYPE_LIST);
  for (guint i = 0; i < gst_value_list_get_size (value); i++) {
    GValue one = G_VALUE_INIT;

    if (map_value (layer, direction, side, gst_value_list_get_value (value, i), &one))
      gst_value_list_append_and_take_value (mapped, &one);
  }
  if (gst_value_list_get_size (mapped) > 0)
    return TRUE;
  g_value_unset (mapped);
  return FALSE;
}

static gboolean
set_size (GstStructure *structure, const gchar *field, const GstCudaConvLayerModel *layer, GstPadDirection direction,
    GstCudaConvolveSide side)
{
  GValue mapped = G_VALUE_INIT;

  if (!map_value (layer, direction, side, gst_structure_get_value (structure, field), &mapped))
    return FALSE;
  gst_structure_take_value (structure, field, &mapped);
  return TRUE;
}

/* The least int of a number, a range or a list of them. */
static gint
least_of (const GValue *value)
{
  gint least = G_MAXINT;

  if (G_VALUE_HOLDS_INT (value))
    return g_value_get_int (value);
  if (GST_VALUE_HOLDS_INT_RANGE (value))
    return gst_value_get_int_range_min (value);
  for (guint i = 0; i < gst_value_list_get_size (value); i++)
    least = MIN (least, least_of (gst_value_list_get_value (value, i)));
  return least;
}

/* Whether GStreamer has a GstVideoInfo for output of this size, in the smallest format. */
static gboolean
can_describe (const GstCudaConvLayerModel *layer, gint width, gint height)
{
  GstVideoInfo info;

  return gst_video_info_set_format (&info, get_kinds (layer, GST_PAD_SRC).kinds[0].format, width, height);
}

/* Whether GStreamer can describe the smallest output; other is the structure of the pad that is not of direction. */
static gboolean
has_output (const GstCudaConvLayerModel *layer, GstPadDirection direction, const GstStructure *other)
{
  gint width = least_of (gst_structure_get_value (other, "width"));
  gint height = least_of (gst_structure_get_value (other, "height"));

  if (direction == GST_PAD_SRC) {
    width = gst_cuda_conv_layer_model_output (layer, GST_CUDA_CONVOLVE_WIDTH, width);
    height = gst_cuda_conv_layer_model_output (layer, GST_CUDA_CONVOLVE_HEIGHT, height);
  }
  return can_describe (layer, width, height);
}

/* --- caps --- */

/* The structure of the other pad, in CUDA memory or system memory; NULL where no frame is possible. */
static GstStructure *
transform_structure (const GstCudaConvLayerModel *layer, GstPadDirection direction, const GstStructure *structure,
    gboolean cuda)
{
  GstVideoFormat near = first_format (structure, get_kinds (layer, direction));
  GstStructure *other = gst_structure_copy (structure);

  if (near != GST_VIDEO_FORMAT_UNKNOWN
      && set_formats (other, get_kinds (layer, other_direction (direction)), near, cuda)
      && set_size (other, "width", layer, direction, GST_CUDA_CONVOLVE_WIDTH)
      && set_size (other, "height", layer, direction, GST_CUDA_CONVOLVE_HEIGHT)
      && has_output (layer, direction, other)) {
    gst_structure_remove_fields (other, "colorimetry", "chroma-site", NULL);
    return other;
  }
  gst_structure_free (other);
  return NULL;
}

GstCaps *
gst_cuda_conv_layer_model_transform_caps (const GstCudaConvLayerModel *layer, GstPadDirection direction, GstCaps *caps)
{
  GstCaps *any = gst_caps_is_any (caps) ? gst_caps_new_empty_simple ("video/x-raw") : NULL;
  GstCaps *from = any ? any : caps, *result = gst_caps_new_empty ();

  for (gint moved = 0; moved < 2; moved++)
    for (guint i = 0; i < gst_caps_get_size (from); i++) {
      GstCapsFeatures *features = gst_caps_get_features (from, i);
      gboolean cuda = gst_caps_features_contains (features, GST_CUDA_CONVOLVE_MEMORY) != moved;
      GstStructure *other = NULL;

      if (!gst_caps_features_contains (features, GST_CAPS_FEATURE_FORMAT_INTERLACED))
        other = transform_structure (layer, direction, gst_caps_get_structure (from, i), cuda);
      if (other)
        result = gst_caps_merge_structure_full (result, other,
            cuda ? gst_caps_features_new (GST_CUDA_CONVOLVE_MEMORY, NULL) : gst_caps_features_new_empty ());
    }
  gst_clear_caps (&any);
  return result;
}

/* The first structure and format of preferred that othercaps have; NULL where othercaps have none of them. */
static GstCaps *
find_best (GstCaps *preferred, GstCaps *othercaps)
{
  for (guint i = 0; i < gst_caps_get_size (preferred); i++) {
    const GValue *formats = gst_structure_get_value (gst_caps_get_structure (preferred, i), "format");
    guint n = GST_VALUE_HOLDS_LIST (formats) ? gst_value_list_get_size (formats) : 1;

    for (guint k = 0; k < n; k++) {
      GstCaps *one = gst_caps_copy_nth (preferred, i), *both;

      gst_caps_set_value (one, "format",
          GST_VALUE_HOLDS_LIST (formats) ? gst_value_list_get_value (formats, k) : formats);
      both = gst_caps_intersect_full (othercaps, one, GST_CAPS_INTERSECT_FIRST);
      gst_caps_unref (one);
      if (!gst_caps_is_empty (both))
        return both;
      gst_caps_unref (both);
    }
  }
  return NULL;
}

GstCaps *
gst_cuda_conv_layer_model_fixate_caps (const GstCudaConvLayerModel *layer, GstPadDirection direction, GstCaps *caps,
    GstCaps *othercaps)
{
  GstCaps *preferred = gst_cuda_conv_layer_model_transform_caps (layer, direction, caps);
  GstCaps *best = find_best (preferred, othercaps);

  gst_caps_unref (preferred);
  if (best)
    gst_caps_unref (othercaps);
  return gst_caps_fixate (best ? best : othercaps);
}

/* formats is a list of names for the message. */
static gchar *
refuse_formats (const GstCudaConvLayerModel *layer, const gchar *formats)
{
  g_autofree gchar *name = g_filename_display_name (layer->location);

  return g_strdup_printf ("location: %s: the frames are %s, and a layer of %u channel%s takes %s; "
                          "put videoconvert before the element",
      name, formats, layer->channels, layer->channels == 1 ? "" : "s",
      layer->channels == 1 ? "GRAY8" : "RGB of 8 bits");
}

/* For frames of one field. */
static gchar *
refuse_fields (const GstCudaConvLayerModel *layer)
{
  g_autofree gchar *name = g_filename_display_name (layer->location);

  return g_strdup_printf ("location: %s: each frame is one field (interlace-mode=alternate), and a layer takes "
                          "whole frames",
      name);
}

/* For frames of this size that give no output, or more than GStreamer can describe; otherwise NULL. */
static gchar *
refuse_size (const GstCudaConvLayerModel *layer, gint width, gint height)
{
  g_autofree gchar *name = g_filename_display_name (layer->location);
  ConvolveLayer resolved;
  ConvolveError error;
  gint map_width, map_height;

  if (gst_cuda_conv_layer_model_resolve (layer, width, height, &resolved, &map_width, &map_height, &error)
      != CONVOLVE_OK)
    return g_strdup_printf ("location: %s: frames of %dx%d give no output: %s", name, width, height, error.text);
  if (can_describe (layer, gst_cuda_conv_layer_model_output (layer, GST_CUDA_CONVOLVE_WIDTH, width),
          gst_cuda_conv_layer_model_output (layer, GST_CUDA_CONVOLVE_HEIGHT, height)))
    return NULL;
  return g_strdup_printf ("location: %s: frames of %dx%d give %u x %u maps of %dx%d, more than a frame of GStreamer "
                          "can hold; lower padding or the number of maps, or raise stride",
      name, width, height, layer->columns, layer->rows, map_width, map_height);
}

gchar *
gst_cuda_conv_layer_model_refuses (const GstCudaConvLayerModel *layer, const GstVideoInfo *info)
{
  if (GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE)
    return refuse_fields (layer);
  if (!has_format (get_kinds (layer, GST_PAD_SINK), GST_VIDEO_INFO_FORMAT (info)))
    return refuse_formats (layer, gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));
  return refuse_size (layer, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
}

gchar *
gst_cuda_conv_layer_model_refuses_caps (const GstCudaConvLayerModel *layer, GstCaps *caps)
{
  g_autoptr (GstCaps) any = gst_caps_new_any (), taken = NULL, both = NULL, made = NULL;
  g_autofree gchar *formats = NULL, *name = NULL;
  gboolean has_one = FALSE, has_frames = FALSE;
  GstVideoInfo info;

  if (gst_caps_is_fixed (caps))
    return gst_video_info_from_caps (&info, caps) ? gst_cuda_conv_layer_model_refuses (layer, &info) : NULL;
  taken = gst_cuda_conv_layer_model_transform_caps (layer, GST_PAD_SRC, any);
  both = gst_caps_intersect (caps, taken);
  made = gst_cuda_conv_layer_model_transform_caps (layer, GST_PAD_SINK, both);
  if (!gst_caps_is_empty (made))
    return NULL;
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    has_frames |= !gst_caps_features_contains (gst_caps_get_features (caps, i), GST_CAPS_FEATURE_FORMAT_INTERLACED);
  if (!has_frames)
    return refuse_fields (layer);
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    has_one |=
        first_format (gst_caps_get_structure (caps, i), get_kinds (layer, GST_PAD_SINK)) != GST_VIDEO_FORMAT_UNKNOWN;
  if (!has_one) {
    formats = gst_cuda_convolve_name_formats (caps);
    return refuse_formats (layer, formats);
  }
  name = g_filename_display_name (layer->location);
  return g_strdup_printf ("location: %s: no size that the frames can have gives an output that GStreamer can "
                          "describe; padding, stride and pool-size decide",
      name);
}

gboolean
gst_cuda_conv_layer_model_makes (const GstCudaConvLayerModel *layer, const GstVideoInfo *info, const GstVideoInfo *out)
{
  return has_format (get_kinds (layer, GST_PAD_SRC), GST_VIDEO_INFO_FORMAT (out))
      && gst_cuda_conv_layer_model_output (layer, GST_CUDA_CONVOLVE_WIDTH, GST_VIDEO_INFO_WIDTH (info))
      == GST_VIDEO_INFO_WIDTH (out)
      && gst_cuda_conv_layer_model_output (layer, GST_CUDA_CONVOLVE_HEIGHT, GST_VIDEO_INFO_HEIGHT (info))
      == GST_VIDEO_INFO_HEIGHT (out);
}
