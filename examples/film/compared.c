/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "compared.h"

#include "picture.h"
#include "progress.h"

#define NO_FRAME G_MAXUINT64

/* Used in the streaming threads on both sides of the element. */
struct _Compared
{
  GMutex lock;
  guint64 in, out;    /* frames so far */
  guint64 keep;       /* the number of the frame that is awaited behind the element, or NO_FRAME */
  GstClockTime next;  /* where in the film the next frame is kept */
  GstSample *pending; /* the frame `keep` before the element */
  GstSample *before, *after;
};

/* Where in the film a buffer is. */
static GstClockTime
time_of (GstPad *pad, GstBuffer *buffer)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (event) {
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_TIME)
      time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
    gst_event_unref (event);
  }
  return time;
}

/*
 * The picture shows the middle of the film. Until the middle comes, frames at 0, 1, 2, 4, ... seconds stand in, because the film
 * may end early and the duration may be unknown.
 */
static GstPadProbeReturn
frame_in (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Compared *compared = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTime time = time_of (pad, buffer);
  gint64 duration;

  g_mutex_lock (&compared->lock);
  if (!GST_CLOCK_TIME_IS_VALID (time) && compared->in == 0)
    time = 0;
  if (compared->keep == NO_FRAME && GST_CLOCK_TIME_IS_VALID (time) && time >= compared->next) {
    compared->keep = compared->in;
    compared->pending = keep_frame (pad, buffer);
    compared->next = MAX (2 * time, GST_SECOND);
    if (gst_pad_peer_query_duration (pad, GST_FORMAT_TIME, &duration) && duration > 0)
      compared->next =
          time < (GstClockTime) duration / 2 ? MIN (compared->next, (GstClockTime) duration / 2) : GST_CLOCK_TIME_NONE;
  }
  compared->in++;
  g_mutex_unlock (&compared->lock);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
frame_out (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Compared *compared = data;

  g_mutex_lock (&compared->lock);
  if (compared->out++ == compared->keep) {
    GstSample *after = keep_frame (pad, GST_PAD_PROBE_INFO_BUFFER (info));

    if (compared->pending && after) {
      g_clear_pointer (&compared->before, gst_sample_unref);
      g_clear_pointer (&compared->after, gst_sample_unref);
      compared->before = g_steal_pointer (&compared->pending);
      compared->after = g_steal_pointer (&after);
    }
    g_clear_pointer (&compared->pending, gst_sample_unref);
    g_clear_pointer (&after, gst_sample_unref);
    compared->keep = NO_FRAME;
  }
  g_mutex_unlock (&compared->lock);
  return GST_PAD_PROBE_OK;
}

static void
add_probe (Compared *compared, GstElement *element, const char *name, GstPadProbeCallback call)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, call, compared, NULL);
  gst_object_unref (pad);
}

Compared *
compared_new (GstElement *element)
{
  Compared *compared = g_new0 (Compared, 1);

  g_mutex_init (&compared->lock);
  compared->keep = NO_FRAME;
  add_probe (compared, element, "sink", frame_in);
  add_probe (compared, element, "src", frame_out);
  return compared;
}

void
compared_free (Compared *compared)
{
  g_clear_pointer (&compared->pending, gst_sample_unref);
  g_clear_pointer (&compared->before, gst_sample_unref);
  g_clear_pointer (&compared->after, gst_sample_unref);
  g_mutex_clear (&compared->lock);
  g_free (compared);
}

gboolean
compared_write (Compared *compared, const char *file)
{
  if (compared->before && compared->after)
    return write_picture (file, compared->before, compared->after);
  complain ("no frame could be kept for the picture");
  return FALSE;
}
