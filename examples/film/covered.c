/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "covered.h"

#include <gst/video/video.h>

#define MOST_ROWS 256 /* of a box that are looked at */

typedef struct
{
  GstBuffer *frame;
  GstVideoInfo info;
  GstClockTime time;
  gboolean has_new;
} Kept;

struct _Covered
{
  GQueue kept; /* Kept */
  gboolean compares;
  Counts counts;
};

static void
kept_free (gpointer data)
{
  Kept *kept = data;

  gst_buffer_unref (kept->frame);
  g_free (kept);
}

/* --- samples --- */

/* One component of a frame before and after the element, and the part of it that a box touches. */
typedef struct
{
  const guint8 *before, *after;
  int stride_before, stride_after, pixel_stride, bytes; /* in bytes; bytes of one sample */
  int left, right, top, bottom;
} Part;

static Part
part_of (const GstVideoFrame *before, const GstVideoFrame *after, guint component, const GstVideoRectangle *box)
{
  const GstVideoFormatInfo *format = before->info.finfo;
  const int dx = format->w_sub[component], dy = format->h_sub[component];

  return (Part){
    .before = GST_VIDEO_FRAME_COMP_DATA (before, component),
    .after = GST_VIDEO_FRAME_COMP_DATA (after, component),
    .stride_before = GST_VIDEO_FRAME_COMP_STRIDE (before, component),
    .stride_after = GST_VIDEO_FRAME_COMP_STRIDE (after, component),
    .pixel_stride = GST_VIDEO_FRAME_COMP_PSTRIDE (before, component),
    .bytes = GST_VIDEO_FRAME_COMP_DEPTH (before, component) > 8 ? 2 : 1,
    .left = box->x >> dx,
    .right = MIN (GST_VIDEO_FRAME_COMP_WIDTH (before, component), -(-(box->x + box->w) >> dx)),
    .top = box->y >> dy,
    .bottom = MIN (GST_VIDEO_FRAME_COMP_HEIGHT (before, component), -(-(box->y + box->h) >> dy)),
  };
}

static gboolean
same (const guint8 *a, const guint8 *b, int bytes)
{
  return a[0] == b[0] && (bytes == 1 || a[1] == b[1]);
}

/*
 * Adds the pairs of neighbours that differ before the element, to the right and downwards, and those of them that both stay
 * as they are. Flat areas have no such pairs, because nothing can be seen in them.
 */
static void
count_detail (const Part *part, guint64 *all, guint64 *left_over)
{
  const int step = 1 + (part->bottom - part->top) / MOST_ROWS;

  for (int y = part->top; y < part->bottom; y += step) {
    const guint8 *before = part->before + (gssize) y * part->stride_before;
    const guint8 *after = part->after + (gssize) y * part->stride_after;

    for (int x = part->left; x < part->right; x++) {
      const guint8 *a = before + (gssize) x * part->pixel_stride, *b = after + (gssize) x * part->pixel_stride;
      const gboolean stays = same (a, b, part->bytes);
      const int p = part->pixel_stride, s = part->stride_before, t = part->stride_after;

      if (x + 1 < part->right && !same (a, a + p, part->bytes)) {
        (*all)++;
        *left_over += stays && same (a + p, b + p, part->bytes);
      }
      if (y + 1 < part->bottom && !same (a, a + s, part->bytes)) {
        (*all)++;
        *left_over += stays && same (a + s, b + t, part->bytes);
      }
    }
  }
}

static gboolean
is_alpha (const GstVideoFrame *frame, guint component)
{
  return GST_VIDEO_INFO_HAS_ALPHA (&frame->info) && component == GST_VIDEO_COMP_A;
}

/* Whether the box is in the picture, and at most half of the detail in it is left. */
static gboolean
is_hidden (const GstVideoFrame *before, const GstVideoFrame *after, const GstVideoRegionOfInterestMeta *meta)
{
  const guint width = GST_VIDEO_FRAME_WIDTH (before), height = GST_VIDEO_FRAME_HEIGHT (before);
  guint64 all = 0, left_over = 0;
  GstVideoRectangle box;

  if (meta->x >= width || meta->y >= height || meta->w == 0 || meta->h == 0)
    return FALSE;
  box = (GstVideoRectangle){ meta->x, meta->y, MIN (meta->w, width - meta->x), MIN (meta->h, height - meta->y) };
  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS (before); i++)
    if (!is_alpha (before, i)) {
      const Part part = part_of (before, after, i, &box);

      count_detail (&part, &all, &left_over);
    }
  return 2 * left_over <= all;
}

/* Whether any sample differs. */
static gboolean
differs (const GstVideoFrame *before, const GstVideoFrame *after)
{
  const GstVideoRectangle all = { 0, 0, GST_VIDEO_FRAME_WIDTH (before), GST_VIDEO_FRAME_HEIGHT (before) };

  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS (before); i++) {
    const Part part = part_of (before, after, i, &all);

    for (int y = 0; y < part.bottom; y++)
      for (int x = 0; x < part.right; x++)
        if (!same (part.before + (gssize) y * part.stride_before + (gssize) x * part.pixel_stride,
                part.after + (gssize) y * part.stride_after + (gssize) x * part.pixel_stride, part.bytes))
          return TRUE;
  }
  return FALSE;
}

/* --- frames --- */

static gboolean
has_box (GstBuffer *frame)
{
  return gst_buffer_get_meta (frame, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL;
}

static gboolean
all_hidden (GstBuffer *frame, const GstVideoFrame *before, const GstVideoFrame *after)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    if (!is_hidden (before, after, (const GstVideoRegionOfInterestMeta *) meta))
      return FALSE;
  return TRUE;
}

static void
count_open (Counts *counts, const Kept *kept)
{
  if (counts->open++ == 0)
    counts->first = kept->time;
}

/* A frame that cannot be read counts as one that hides nothing. */
static void
count (Covered *covered, const Kept *kept, GstBuffer *result)
{
  Counts *counts = &covered->counts;
  GstVideoFrame before, after;

  if (!gst_video_frame_map (&before, &kept->info, kept->frame, GST_MAP_READ)) {
    count_open (counts, kept);
    return;
  }
  if (!gst_video_frame_map (&after, &kept->info, result, GST_MAP_READ))
    count_open (counts, kept);
  else {
    if (!has_box (kept->frame))
      *(differs (&before, &after) ? &counts->by_held : &counts->bare) += 1;
    else if (covered->compares && !all_hidden (kept->frame, &before, &after))
      count_open (counts, kept);
    else
      *(kept->has_new ? &counts->by_new : &counts->by_held) += 1;
    gst_video_frame_unmap (&after);
  }
  gst_video_frame_unmap (&before);
}

static GstPadProbeReturn
frame_out (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Covered *covered = data;
  GstBuffer *result = GST_PAD_PROBE_INFO_BUFFER (info);
  Kept *kept = g_queue_pop_head (&covered->kept);

  /* The element may have left frames out. */
  while (kept && GST_BUFFER_PTS (kept->frame) != GST_BUFFER_PTS (result)) {
    kept_free (kept);
    kept = g_queue_pop_head (&covered->kept);
  }
  if (!kept)
    return GST_PAD_PROBE_OK;
  if (kept->frame == result && !has_box (result))
    covered->counts.bare++;
  else
    count (covered, kept, result);
  kept_free (kept);
  return GST_PAD_PROBE_OK;
}

void
covered_frame_in (Covered *covered, GstPad *sink, GstBuffer *frame, GstClockTime time, gboolean has_new)
{
  GstCaps *caps = gst_pad_get_current_caps (sink);
  Kept *kept = g_new0 (Kept, 1);

  gst_video_info_from_caps (&kept->info, caps);
  gst_caps_unref (caps);
  kept->frame = gst_buffer_ref (frame);
  kept->time = time;
  kept->has_new = has_new;
  g_queue_push_tail (&covered->kept, kept);
}

Covered *
covered_new (GstElement *element, gboolean compares)
{
  Covered *covered = g_new0 (Covered, 1);
  GstPad *pad = gst_element_get_static_pad (element, "src");

  covered->compares = compares;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, frame_out, covered, NULL);
  gst_object_unref (pad);
  return covered;
}

void
covered_free (Covered *covered)
{
  g_queue_clear_full (&covered->kept, kept_free);
  g_free (covered);
}

Counts
covered_counts (const Covered *covered)
{
  return covered->counts;
}
