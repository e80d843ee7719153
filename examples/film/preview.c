/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preview.h"

/* Red, green and blue; the page has the same. */
static const guint32 colours[] = { 0xffd23f, 0x3fc1ff, 0x7dff6b, 0xff7ab8, 0xc79bff, 0xff9a3f };

/* A rectangle of one colour. Width and height are above 0. */
static void
add_bar (GstVideoOverlayComposition *bars, gint x, gint y, gint width, gint height, guint32 colour)
{
  const gsize n = (gsize) width * height;
  guint32 *pixels = g_new (guint32, n);
  GstBuffer *buffer;
  GstVideoOverlayRectangle *bar;

  for (gsize i = 0; i < n; i++)
    pixels[i] = 0xff000000 | colour;
  buffer = gst_buffer_new_wrapped (pixels, n * sizeof *pixels);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, width,
      height);
  bar = gst_video_overlay_rectangle_new_raw (buffer, x, y, width, height, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  gst_video_overlay_composition_add_rectangle (bars, bar);
  gst_video_overlay_rectangle_unref (bar);
  gst_buffer_unref (buffer);
}

/* Adds what of a bar lies in the frame. */
static void
add_clipped (GstVideoOverlayComposition *bars, const GstVideoInfo *info, gint x, gint y, gint width, gint height,
    guint32 colour)
{
  const gint right = MIN (x + width, info->width), bottom = MIN (y + height, info->height);

  x = MAX (x, 0);
  y = MAX (y, 0);
  if (x < right && y < bottom)
    add_bar (bars, x, y, right - x, bottom - y, colour);
}

/* The line lies outside of the box, so that all of what the box has can be seen. */
static void
add_outline (GstVideoOverlayComposition *bars, const GstVideoInfo *info, const GstVideoRegionOfInterestMeta *region)
{
  const gint line = MAX (2, info->height / 270), x = MIN (region->x, G_MAXINT / 4), y = MIN (region->y, G_MAXINT / 4);
  const gint width = MIN (region->w, G_MAXINT / 4), height = MIN (region->h, G_MAXINT / 4);
  const guint32 colour = colours[region->roi_type % G_N_ELEMENTS (colours)];

  add_clipped (bars, info, x - line, y - line, width + 2 * line, line, colour);
  add_clipped (bars, info, x - line, y + height, width + 2 * line, line, colour);
  add_clipped (bars, info, x - line, y, line, height, colour);
  add_clipped (bars, info, x + width, y, line, height, colour);
}

gboolean
film_preview_draw (GstBuffer *frame, const GstVideoInfo *info)
{
  GstVideoOverlayComposition *bars = gst_video_overlay_composition_new (NULL);
  gpointer place = NULL;
  GstMeta *meta;
  GstVideoFrame mapped;
  gboolean ok = TRUE;

  while ((meta = gst_buffer_iterate_meta_filtered (frame, &place, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    add_outline (bars, info, (GstVideoRegionOfInterestMeta *) meta);
  if (gst_video_overlay_composition_n_rectangles (bars) > 0) {
    ok = gst_video_frame_map (&mapped, info, frame, GST_MAP_READWRITE);
    if (ok) {
      ok = gst_video_overlay_composition_blend (bars, &mapped);
      gst_video_frame_unmap (&mapped);
    }
  }
  gst_video_overlay_composition_unref (bars);
  return ok;
}
