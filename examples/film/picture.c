/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture.h"

#include <string.h>

#include <gst/video/video.h>

GstSample *
keep_frame (GstPad *pad, GstBuffer *buffer)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstSample *sample = NULL;
  GstVideoInfo info;
  GstVideoFrame from, to;

  if (!caps)
    return NULL;
  caps = gst_caps_make_writable (caps);
  if (gst_video_info_from_caps (&info, caps) && gst_video_frame_map (&from, &info, buffer, GST_MAP_READ)) {
    GstBuffer *copy = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);

    gst_video_frame_map (&to, &info, copy, GST_MAP_WRITE);
    gst_video_frame_copy (&to, &from);
    gst_video_frame_unmap (&to);
    gst_video_frame_unmap (&from);
    gst_caps_set_features (caps, 0, NULL);
    sample = gst_sample_new (copy, caps, NULL, NULL);
    gst_buffer_unref (copy);
  }
  gst_caps_unref (caps);
  return sample;
}

static GstSample *
convert (GstSample *sample, const char *to, GError **error)
{
  GstCaps *caps = gst_caps_from_string (to);
  GstSample *converted = gst_video_convert_sample (sample, caps, 10 * GST_SECOND, error);

  gst_caps_unref (caps);
  return converted;
}

/* Copies an RGB picture into a wider picture, x pixels from the left. */
static void
paste (GstVideoFrame *wide, int x, GstSample *sample)
{
  GstVideoInfo info;
  GstVideoFrame frame;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ);
  for (int y = 0; y < GST_VIDEO_INFO_HEIGHT (&info); y++)
    memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (wide, 0) + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (wide, 0)
            + 3 * x,
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        3 * GST_VIDEO_INFO_WIDTH (&info));
  gst_video_frame_unmap (&frame);
}

gboolean
write_picture (const char *location, GstSample *first, GstSample *second)
{
  GError *error = NULL;
  GstSample *before = convert (first, "video/x-raw,format=RGB", &error);
  GstSample *after = before ? convert (second, "video/x-raw,format=RGB", &error) : NULL;
  GstSample *both = NULL, *png = NULL;

  if (after) {
    GstVideoInfo left, right, info;
    GstVideoFrame wide;
    GstBuffer *buffer;
    GstCaps *caps;

    gst_video_info_from_caps (&left, gst_sample_get_caps (before));
    gst_video_info_from_caps (&right, gst_sample_get_caps (after));
    gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, left.width + right.width, MAX (left.height, right.height));
    buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
    gst_buffer_memset (buffer, 0, 0, GST_VIDEO_INFO_SIZE (&info));
    gst_video_frame_map (&wide, &info, buffer, GST_MAP_WRITE);
    paste (&wide, 0, before);
    paste (&wide, left.width, after);
    gst_video_frame_unmap (&wide);
    caps = gst_video_info_to_caps (&info);
    both = gst_sample_new (buffer, caps, NULL, NULL);
    png = convert (both, "image/png", &error);
    gst_caps_unref (caps);
    gst_buffer_unref (buffer);
  }
  if (png) {
    GstMapInfo map;

    gst_buffer_map (gst_sample_get_buffer (png), &map, GST_MAP_READ);
    g_file_set_contents (location, (const char *) map.data, map.size, &error);
    gst_buffer_unmap (gst_sample_get_buffer (png), &map);
  }
  g_clear_pointer (&before, gst_sample_unref);
  g_clear_pointer (&after, gst_sample_unref);
  g_clear_pointer (&both, gst_sample_unref);
  g_clear_pointer (&png, gst_sample_unref);
  if (error)
    g_printerr ("%s: %s\n", location, error->message);
  return error ? (g_error_free (error), FALSE) : TRUE;
}
