/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames.h"

#include <zlib.h>

void
frames_init (Frames *frames)
{
  *frames = (Frames){ .sum = g_checksum_new (G_CHECKSUM_SHA256) };
}

void
frames_clear (Frames *frames)
{
  g_checksum_free (frames->sum);
}

/* The bytes of a plane's row that belong to the picture. */
static gsize
row_size (const GstVideoFrame *frame, guint plane)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++)
    if (GST_VIDEO_FRAME_COMP_PLANE (frame, c) == plane && GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c) > 0)
      return (gsize) GST_VIDEO_FRAME_COMP_WIDTH (frame, c) * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);
  return GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
}

static guint
plane_height (const GstVideoFrame *frame, guint plane)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++)
    if (GST_VIDEO_FRAME_COMP_PLANE (frame, c) == plane)
      return GST_VIDEO_FRAME_COMP_HEIGHT (frame, c);
  return 0;
}

static gboolean
add_frame (Frames *frames, GstBuffer *buffer)
{
  GstVideoFrame frame;
  guint32 crc = crc32 (0, NULL, 0);

  if (!frames->has_info || !gst_video_frame_map (&frame, &frames->info, buffer, GST_MAP_READ))
    return FALSE;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&frame); p++)
    for (guint y = 0; y < plane_height (&frame, p); y++)
      crc = crc32_z (crc,
          (const guchar *) GST_VIDEO_FRAME_PLANE_DATA (&frame, p)
              + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, p),
          row_size (&frame, p));
  gst_video_frame_unmap (&frame);
  crc = GUINT32_TO_LE (crc);
  g_checksum_update (frames->sum, (const guchar *) &crc, sizeof crc);
  frames->frames++;
  return TRUE;
}

static GstPadProbeReturn
data_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Frames *frames = data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    if (!add_frame (frames, GST_PAD_PROBE_INFO_BUFFER (info))) {
      GstElement *element = gst_pad_get_parent_element (pad);

      GST_ELEMENT_ERROR (element, STREAM, FORMAT, ("a frame cannot be read in system memory"), (NULL));
      gst_object_unref (element);
      return GST_PAD_PROBE_DROP;
    }
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_CAPS) {
    GstCaps *caps;

    gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (info), &caps);
    frames->has_info = gst_video_info_from_caps (&frames->info, caps);
  }
  return GST_PAD_PROBE_OK;
}

void
frames_watch (Frames *frames, GstPad *pad)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, data_comes, frames, NULL);
}

char *
frames_sum (const Frames *frames)
{
  GChecksum *copy = g_checksum_copy (frames->sum);
  char *text = g_strdup (g_checksum_get_string (copy));

  g_checksum_free (copy);
  return text;
}

char *
frames_format (const Frames *frames)
{
  if (!frames->has_info)
    return g_strdup ("none");
  return g_strdup_printf ("%s %dx%d", gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frames->info)),
      GST_VIDEO_INFO_WIDTH (&frames->info), GST_VIDEO_INFO_HEIGHT (&frames->info));
}
