/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lost.h"

#include "progress.h"

/* Whether a packet is of a frame that is shown: before and behind what an edit list shows there may be more. */
static gboolean
is_shown (GstPad *pad, const GstBuffer *packet)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  gboolean shown = TRUE;

  if (!event)
    return TRUE;
  gst_event_parse_segment (event, &segment);
  if (segment->format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (packet))
    shown = gst_segment_clip (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (packet),
        GST_BUFFER_DURATION_IS_VALID (packet) ? GST_BUFFER_PTS (packet) + GST_BUFFER_DURATION (packet)
                                              : GST_CLOCK_TIME_NONE,
        NULL, NULL);
  gst_event_unref (event);
  /* Headers without a time are no frames; those with one have a frame behind them. */
  return shown && !GST_BUFFER_FLAG_IS_SET (packet, GST_BUFFER_FLAG_DECODE_ONLY)
      && (GST_BUFFER_PTS_IS_VALID (packet) || !GST_BUFFER_FLAG_IS_SET (packet, GST_BUFFER_FLAG_HEADER));
}

static GstPadProbeReturn
packet_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Lost *lost = data;

  lost->packets += is_shown (pad, GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

/* The time of a frame in the film that is played, or none. */
static GstClockTime
running_time (GstPad *pad, const GstBuffer *frame)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  GstClockTime time = GST_CLOCK_TIME_NONE;
  const GstSegment *segment;

  if (!event)
    return time;
  gst_event_parse_segment (event, &segment);
  if (segment->format == GST_FORMAT_TIME)
    time = gst_segment_to_running_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame));
  gst_event_unref (event);
  return time;
}

static GstPadProbeReturn
frame_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Lost *lost = data;
  const GstClockTime time = running_time (pad, GST_PAD_PROBE_INFO_BUFFER (info));

  if (GST_CLOCK_TIME_IS_VALID (time)) {
    if (time < lost->next) {
      GstBuffer *frame = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

      GST_BUFFER_PTS (frame) += lost->next - time;
      GST_PAD_PROBE_INFO_DATA (info) = frame;
    }
    lost->next = MAX (time, lost->next) + GST_USECOND;
  }
  lost->frames++;
  return GST_PAD_PROBE_OK;
}

void
lost_watch_packets (Lost *lost, GstPad *pad)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, packet_comes, lost, NULL);
}

void
lost_watch_frames (Lost *lost, GstPad *pad)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, frame_comes, lost, NULL);
}

void
lost_warn (const Lost *lost, const char *file)
{
  const guint64 missing = lost->packets > lost->frames ? lost->packets - lost->frames : 0;

  /* Where each field has a packet, there are half as many frames. */
  if (missing > 0 && missing * 3 <= lost->packets)
    complain ("warning: %s: %" G_GUINT64_FORMAT " frame%s could not be decoded; the film may be damaged", file, missing,
        missing == 1 ? "" : "s");
}
