/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame/formats.h"

#include <string.h>

#include "cuda/cudamemory.h"
#include "frame/cells.h"
#include "frame/layout.h"

#define MAX_LISTED 8 /* formats that a message names at most */

/* The formats that cameras, decoders, encoders and video sinks use most. */
static const GstVideoFormat common[] = {
  GST_VIDEO_FORMAT_I420,
  GST_VIDEO_FORMAT_NV12,
  GST_VIDEO_FORMAT_YV12,
  GST_VIDEO_FORMAT_NV21,
  GST_VIDEO_FORMAT_YUY2,
  GST_VIDEO_FORMAT_UYVY,
  GST_VIDEO_FORMAT_RGBA,
  GST_VIDEO_FORMAT_BGRA,
  GST_VIDEO_FORMAT_RGBx,
  GST_VIDEO_FORMAT_BGRx,
  GST_VIDEO_FORMAT_RGB,
  GST_VIDEO_FORMAT_BGR,
  GST_VIDEO_FORMAT_GRAY8,
  GST_VIDEO_FORMAT_Y42B,
  GST_VIDEO_FORMAT_Y444,
};

/* The formats of 8 bits, then the deeper ones, then those with cells, which take two passes more. */
static gint
rank_format (const GstVideoFormatInfo *finfo)
{
  if (gst_cuda_convolve_format_has_cells (finfo))
    return 2;
  if (!gst_cuda_convolve_format_is_supported (finfo))
    return -1;
  return GST_VIDEO_FORMAT_INFO_DEPTH (finfo, 0) > 8 ? 1 : 0;
}

/* All supported formats: the common ones, then the others by rank, in GStreamer's order. */
static GArray *
list_formats (void)
{
  guint n;
  const GstVideoFormat *all = gst_video_formats_raw (&n);
  GArray *formats = g_array_new (FALSE, FALSE, sizeof (GstVideoFormat));

  g_array_append_vals (formats, common, G_N_ELEMENTS (common));
  for (gint rank = 0; rank <= 2; rank++)
    for (guint i = 0; i < n; i++) {
      gboolean known = FALSE;

      for (guint k = 0; k < G_N_ELEMENTS (common); k++)
        known |= all[i] == common[k];
      if (!known && rank_format (gst_video_format_get_info (all[i])) == rank)
        g_array_append_val (formats, all[i]);
    }
  return formats;
}

GstCaps *
gst_cuda_convolve_template_caps (void)
{
  g_autoptr (GArray) system = list_formats (), cuda = g_array_new (FALSE, FALSE, sizeof (GstVideoFormat));
  GstCaps *caps = gst_caps_new_empty ();

  for (guint i = 0; i < system->len; i++)
    if (gst_cuda_convolve_cuda_has_format (g_array_index (system, GstVideoFormat, i)))
      g_array_append_vals (cuda, &g_array_index (system, GstVideoFormat, i), 1);
  if (cuda->len > 0)
    gst_caps_append (caps,
        gst_video_make_raw_caps_with_features ((GstVideoFormat *) (void *) cuda->data, cuda->len,
            gst_caps_features_new (GST_CUDA_CONVOLVE_MEMORY, NULL)));
  gst_caps_append (caps, gst_video_make_raw_caps ((GstVideoFormat *) (void *) system->data, system->len));
  gst_caps_append (caps,
      gst_video_make_raw_caps_with_features ((GstVideoFormat *) (void *) system->data, system->len,
          gst_caps_features_new (GST_CAPS_FEATURE_FORMAT_INTERLACED, NULL)));
  return caps;
}

GstCaps *
gst_cuda_convolve_same_caps (GstCaps *caps)
{
  GstCaps *both = gst_caps_copy (caps);

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features (caps, i);
    gboolean cuda = gst_caps_features_contains (features, GST_CUDA_CONVOLVE_MEMORY);

    /* No element of GStreamer has frames of one field in CUDA memory. */
    if (gst_caps_features_contains (features, GST_CAPS_FEATURE_FORMAT_INTERLACED))
      continue;
    gst_caps_append_structure_full (both, gst_structure_copy (gst_caps_get_structure (caps, i)),
        cuda ? gst_caps_features_new_empty () : gst_caps_features_new (GST_CUDA_CONVOLVE_MEMORY, NULL));
  }
  return both;
}

static gboolean
list_has (const GValue *list, const gchar *name)
{
  for (guint i = 0; i < gst_value_list_get_size (list); i++) {
    const GValue *value = gst_value_list_get_value (list, i);

    if (G_VALUE_HOLDS_STRING (value) && g_str_equal (g_value_get_string (value), name))
      return TRUE;
  }
  return FALSE;
}

/* Sorts the formats of a list. Formats that are not in order are not supported, and are left out. */
static void
sort_formats (GstStructure *structure, const GArray *order)
{
  const GValue *list = gst_structure_get_value (structure, "format");
  GValue sorted = G_VALUE_INIT;

  g_value_init (&sorted, GST_TYPE_LIST);
  for (guint i = 0; i < order->len; i++) {
    const gchar *name = gst_video_format_to_string (g_array_index (order, GstVideoFormat, i));

    if (list_has (list, name)) {
      GValue value = G_VALUE_INIT;

      g_value_init (&value, G_TYPE_STRING);
      g_value_set_static_string (&value, name);
      gst_value_list_append_and_take_value (&sorted, &value);
    }
  }
  gst_structure_take_value (structure, "format", &sorted);
}

GstCaps *
gst_cuda_convolve_prefer_common_formats (GstCaps *caps)
{
  g_autoptr (GArray) order = list_formats ();

  caps = gst_caps_make_writable (caps);
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *structure = gst_caps_get_structure (caps, i);
    const GValue *formats = gst_structure_get_value (structure, "format");

    if (formats && GST_VALUE_HOLDS_LIST (formats) && gst_value_list_get_size (formats) > order->len / 2)
      sort_formats (structure, order);
  }
  return caps;
}

gchar *
gst_cuda_convolve_name_formats (const GstCaps *caps)
{
  GString *list = g_string_new (NULL);
  guint listed = 0;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GValue *formats = gst_structure_get_value (gst_caps_get_structure (caps, i), "format");
    guint n = formats && GST_VALUE_HOLDS_LIST (formats) ? gst_value_list_get_size (formats) : 1;

    for (guint k = 0; formats && k < n && listed <= MAX_LISTED; k++) {
      const GValue *format = GST_VALUE_HOLDS_LIST (formats) ? gst_value_list_get_value (formats, k) : formats;
      const gchar *name = G_VALUE_HOLDS_STRING (format) ? g_value_get_string (format) : NULL;
      g_autofree gchar *quoted = name ? g_strdup_printf ("%s%s", listed ? ", " : "", name) : NULL;

      if (!name || (listed > 0 && strstr (list->str, quoted)) || g_str_equal (list->str, name))
        continue;
      g_string_append (list, listed++ < MAX_LISTED ? quoted : ", ...");
    }
  }
  return g_string_free (list, FALSE);
}
