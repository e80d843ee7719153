/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "segment.h"

#include "../progress.h"
#include "../properties.h"
#include "frames.h"
#include "seconds.h"

/* A Matroska file keeps the times of the film, so that pieces can be joined without counting. */
#define MAKE \
  "filesrc name=source ! decodebin name=decode expose-all-streams=false caps=video/x-raw(ANY) " \
  "identity name=cut silent=true ! cudaconvolve name=convolve ! videoconvert %s ! identity name=before silent=true ! " \
  "%s ! matroskamux offset-to-zero=false ! filesink name=sink async=false sync=false"
#define CHECK \
  "filesrc name=source ! decodebin name=decode expose-all-streams=false caps=video/x-raw(ANY) " \
  "identity name=cut silent=true ! fakesink async=false sync=false"

typedef struct
{
  const Segment *segment;
  GstElement *pipeline, *decode, *cut;
  GstPad *into; /* the sink pad of cut */
  gulong probe; /* at decodebin's pad, where the first frame waits */
  Frames frames;

  /* For the streaming thread. */
  GstSegment now; /* of the frames that come */
  gboolean linked, ended;
  GstClockTime first, last, until; /* until: when the last frame is not shown any more */
} Work;

/* --- which frames are of the range --- */

/* Frames keep their time in the film: the output has one segment, from 0 on. */
static GstPadProbeReturn
event_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Work *work = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstSegment whole;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START: /* of the seek, which comes before the first frame */
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_GAP:
      return GST_PAD_PROBE_DROP;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &work->now);
      gst_segment_init (&whole, GST_FORMAT_TIME);
      GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_segment (&whole);
      gst_event_unref (event);
      return GST_PAD_PROBE_OK;
    default:
      return GST_PAD_PROBE_OK;
  }
}

/* The range is complete. The decoder and what is before it are told to stop. */
static GstPadProbeReturn
end (Work *work, GstPad *pad, GstPadProbeInfo *info)
{
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  if (!work->ended) {
    work->ended = TRUE;
    gst_pad_send_event (pad, gst_event_new_eos ());
  }
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_EOS;
  return GST_PAD_PROBE_HANDLED;
}

/*
 * A decoder gives frames in the order in which they are shown. So the range ends with the first frame behind it, also
 * where frames that belong to the range come after the next keyframe in the file.
 */
static GstPadProbeReturn
frame_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Work *work = data;
  const Segment *segment = work->segment;
  GstBuffer *frame = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTime time;

  if (!GST_BUFFER_PTS_IS_VALID (frame)) {
    GST_ELEMENT_ERROR (work->cut, STREAM, FORMAT, ("a frame has no time"), (NULL));
    return GST_PAD_PROBE_DROP;
  }
  time = gst_segment_to_stream_time (&work->now, GST_FORMAT_TIME, GST_BUFFER_PTS (frame));
  if (!GST_CLOCK_TIME_IS_VALID (time) || time < segment->start)
    return GST_PAD_PROBE_DROP;
  if (GST_CLOCK_TIME_IS_VALID (segment->end) && time >= segment->end)
    return end (work, pad, info);
  if (GST_CLOCK_TIME_IS_VALID (work->last) && time <= work->last) {
    GST_ELEMENT_ERROR (work->cut, STREAM, FORMAT, ("frames are not in the order of their times"), (NULL));
    return GST_PAD_PROBE_DROP;
  }
  if (!GST_CLOCK_TIME_IS_VALID (work->first))
    work->first = time;
  work->last = work->until = time;
  if (GST_BUFFER_DURATION_IS_VALID (frame))
    work->until += GST_BUFFER_DURATION (frame);
  frame = gst_buffer_make_writable (frame);
  GST_BUFFER_PTS (frame) = time;
  GST_PAD_PROBE_INFO_DATA (info) = frame;
  return GST_PAD_PROBE_OK;
}

/* --- the pipeline --- */

/* The first frame waits at decodebin's pad, until the main thread has sent the seek. */
static GstPadProbeReturn
first_frame_waits (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Work *work = data;

  gst_element_post_message (work->pipeline,
      gst_message_new_application (GST_OBJECT (work->pipeline), gst_structure_new_empty ("waiting")));
  return GST_PAD_PROBE_OK;
}

static void
stream_found (GstElement *decode, GstPad *pad, gpointer data)
{
  Work *work = data;

  if (!work->linked && gst_pad_link (pad, work->into) == GST_PAD_LINK_OK) {
    work->linked = TRUE;
    work->probe =
        gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, first_frame_waits, work, NULL);
  }
}

static void
all_streams_found (GstElement *decode, gpointer data)
{
  const Work *work = data;

  if (!work->linked)
    GST_ELEMENT_ERROR (decode, STREAM, WRONG_TYPE, ("the file has no video"), (NULL));
}

static gboolean
work_init (Work *work, const Segment *segment, const char *description, const char *file)
{
  GError *error = NULL;
  GstElement *source;

  *work = (Work){ .segment = segment, .first = GST_CLOCK_TIME_NONE, .last = GST_CLOCK_TIME_NONE };
  gst_segment_init (&work->now, GST_FORMAT_TIME);
  work->pipeline = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!work->pipeline) {
    complain ("%s", error->message);
    g_error_free (error);
    return FALSE;
  }
  frames_init (&work->frames);
  source = gst_bin_get_by_name (GST_BIN (work->pipeline), "source");
  work->decode = gst_bin_get_by_name (GST_BIN (work->pipeline), "decode");
  work->cut = gst_bin_get_by_name (GST_BIN (work->pipeline), "cut");
  work->into = gst_element_get_static_pad (work->cut, "sink");
  g_object_set (source, "location", file, NULL);
  gst_object_unref (source);
  g_signal_connect (work->decode, "pad-added", G_CALLBACK (stream_found), work);
  g_signal_connect (work->decode, "no-more-pads", G_CALLBACK (all_streams_found), work);
  return TRUE;
}

static void
work_clear (Work *work)
{
  gst_object_unref (work->into);
  gst_object_unref (work->cut);
  gst_object_unref (work->decode);
  gst_object_unref (work->pipeline);
  frames_clear (&work->frames);
}

/* --- playing --- */

/* Goes to the keyframe at the range's start or before, then lets the frames through. */
static gboolean
begin (Work *work)
{
  GstPad *pad = gst_pad_get_peer (work->into);
  gboolean ok = TRUE;

  if (work->segment->start > 0)
    ok = gst_pad_send_event (pad,
        gst_event_new_seek (1, GST_FORMAT_TIME,
            GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_SNAP_BEFORE, GST_SEEK_TYPE_SET,
            work->segment->start, GST_SEEK_TYPE_NONE, 0));
  if (ok)
    gst_pad_remove_probe (pad, work->probe);
  else
    complain ("%s: there is no way to go to a time in this file", work->segment->input);
  gst_object_unref (pad);
  return ok;
}

static void
failed (const Work *work, GstMessage *message)
{
  GError *error;
  char *debug;

  gst_message_parse_error (message, &error, &debug);
  complain ("%s: %s: %s", work->segment->input, GST_OBJECT_NAME (message->src), error->message);
  g_error_free (error);
  g_free (debug);
}

static void
warn (GstMessage *message)
{
  GError *warning;

  gst_message_parse_warning (message, &warning, NULL);
  complain ("warning: %s: %s", GST_OBJECT_NAME (message->src), warning->message);
  g_error_free (warning);
}

/* Plays to the end of the range. FALSE with a message on an error or a signal. */
static gboolean
play (Work *work)
{
  GstBus *bus = gst_element_get_bus (work->pipeline);
  gboolean ok = TRUE, ended = FALSE, begun = FALSE;

  gst_element_set_state (work->pipeline, GST_STATE_PLAYING);
  while (ok && !ended) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 200 * GST_MSECOND,
        GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_APPLICATION);

    if (*work->segment->signal) {
      complain ("stopped by signal %d", *work->segment->signal);
      ok = FALSE;
    } else if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      failed (work, message);
      ok = FALSE;
    } else if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
      warn (message);
    } else if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
      ended = TRUE;
    } else if (message && !begun) {
      begun = TRUE;
      ok = begin (work);
    }
    if (message)
      gst_message_unref (message);
  }
  gst_object_unref (bus);
  return ok;
}

/* Stops the streaming threads, so that what they wrote can be read. */
static void
stop (Work *work)
{
  gst_element_set_state (work->pipeline, GST_STATE_NULL);
}

/* --- making a piece --- */

static gboolean
set_properties (GstElement *convolve, char **properties)
{
  for (; *properties; properties++)
    if (!set_property (convolve, *properties))
      return FALSE;
  return TRUE;
}

/* Whether the mask gives the same bytes on every device. Nothing is known of a layer. */
static gboolean
is_reproducible (GstElement *convolve)
{
  GstStructure *info;
  gboolean reproducible = FALSE, exact = FALSE;

  g_object_get (convolve, "mask-info", &info, NULL);
  if (!info)
    return FALSE;
  gst_structure_get_boolean (info, "reproducible", &reproducible);
  gst_structure_get_boolean (info, "exact", &exact);
  gst_structure_free (info);
  return reproducible || exact;
}

/* Watches the frames and the seconds of the steps. */
static GstElement *
watch (Work *work)
{
  GstElement *convolve = gst_bin_get_by_name (GST_BIN (work->pipeline), "convolve");
  GstElement *before = gst_bin_get_by_name (GST_BIN (work->pipeline), "before");
  GstPad *pad;

  gst_pad_add_probe (work->into, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH, event_comes,
      work, NULL);
  gst_pad_add_probe (work->into, GST_PAD_PROBE_TYPE_BUFFER, frame_comes, work, NULL);
  pad = gst_element_get_static_pad (work->cut, "src");
  seconds_watch (pad, 0);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (convolve, "src");
  seconds_watch (pad, 1);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (before, "sink");
  frames_watch (&work->frames, pad);
  gst_object_unref (pad);
  gst_object_unref (before);
  return convolve;
}

gboolean
segment_make (const Segment *segment, Record *record)
{
  char *description =
      g_strdup_printf (MAKE, segment->upright ? "! videoflip video-direction=auto" : "", segment->encoder);
  const gint64 begun = g_get_monotonic_time ();
  Work work;
  GstElement *convolve, *sink;
  gboolean ok = work_init (&work, segment, description, segment->input);

  g_free (description);
  if (!ok)
    return FALSE;
  convolve = watch (&work);
  sink = gst_bin_get_by_name (GST_BIN (work.pipeline), "sink");
  g_object_set (sink, "location", segment->part, NULL);
  gst_object_unref (sink);

  ok = set_properties (convolve, segment->properties) && play (&work);
  g_object_get (convolve, "active-variant", &record->device, NULL);
  record->reproducible = is_reproducible (convolve);
  stop (&work);
  record->frames = work.frames.frames;
  record->first = work.first;
  record->last = work.last;
  record->before = frames_sum (&work.frames);
  record->format = frames_format (&work.frames);
  record->seconds_encoding = seconds_of (1);
  record->seconds_convolving = seconds_of (0) - seconds_of (1);
  record->seconds_decoding = (g_get_monotonic_time () - begun) / 1e6 - seconds_of (0);
  if (ok && record->frames == 0) {
    complain ("%s: no frame in this range", segment->input);
    ok = FALSE;
  }
  if (ok && GST_CLOCK_TIME_IS_VALID (segment->end) && !work.ended && work.until < segment->end) {
    complain ("%s: the film ends before the range, with the frame at %" GST_TIME_FORMAT, segment->input,
        GST_TIME_ARGS (work.last));
    ok = FALSE;
  }
  gst_object_unref (convolve);
  work_clear (&work);
  return ok;
}

gboolean
segment_check (const Segment *segment, Record *record)
{
  const Segment whole = { .input = segment->part, .end = GST_CLOCK_TIME_NONE, .signal = segment->signal };
  const gint64 begun = g_get_monotonic_time ();
  Work work;
  gboolean ok = work_init (&work, &whole, CHECK, segment->part);

  if (!ok)
    return FALSE;
  frames_watch (&work.frames, work.into);
  ok = play (&work);
  stop (&work);
  record->decoded = frames_sum (&work.frames);
  if (ok && work.frames.frames != record->frames) {
    complain ("%s: has %" G_GUINT64_FORMAT " frames, and %" G_GUINT64_FORMAT " were encoded", segment->part,
        work.frames.frames, record->frames);
    ok = FALSE;
  }
  record->seconds_checking = (g_get_monotonic_time () - begun) / 1e6;
  work_clear (&work);
  return ok;
}

char *
segment_element_version (void)
{
  GstElement *convolve = gst_element_factory_make ("cudaconvolve", NULL);
  GstPlugin *plugin;
  char *version;

  if (!convolve) {
    complain ("there is no element cudaconvolve; GST_PLUGIN_PATH names the folder of its plugin");
    return NULL;
  }
  plugin = gst_plugin_feature_get_plugin (GST_PLUGIN_FEATURE (gst_element_get_factory (convolve)));
  version = g_strdup (gst_plugin_get_version (plugin));
  gst_object_unref (plugin);
  gst_object_unref (convolve);
  return version;
}
