/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/base/soak.h"

#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/frame.h"

#define PATIENCE (60 * G_TIME_SPAN_SECOND)

struct _Play
{
  GstElement *pipeline, *element;
  GstPad *pad; /* of the sink */
  GstBus *bus;
  gulong probe;

  GMutex lock; /* of all that follows */
  GCond changed;
  guint64 frames;
  GstClockTime last;
  gboolean ended, flushing;
  gboolean hold, held;
  guint passed;          /* frames that still pass before one is held */
  guint wanted, collect; /* frames to be collected, and those of them that are missing */
  GByteArray *bytes;     /* of what was collected */
};

/* --- what the sink gets --- */

static void
collect (Play *play, GstBuffer *buffer)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (play->pad);
  g_autoptr (GstSample) sample = gst_sample_new (buffer, caps, NULL, NULL);

  frame_append_rows (play->bytes, sample);
  play->collect--;
}

/* With the lock. */
static void
start_collecting (Play *play)
{
  g_byte_array_set_size (play->bytes, 0);
  play->collect = play->wanted;
}

static void
take_frame (Play *play, GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_PTS (buffer);

  if (GST_CLOCK_TIME_IS_VALID (play->last) && GST_CLOCK_TIME_IS_VALID (time) && time <= play->last)
    soak_fail ("a frame of %" GST_TIME_FORMAT " comes after one of %" GST_TIME_FORMAT, GST_TIME_ARGS (time),
        GST_TIME_ARGS (play->last));
  play->last = time;
  play->frames++;
  if (play->collect > 0)
    collect (play, buffer);
  g_cond_broadcast (&play->changed);
  if (play->hold && play->passed > 0) {
    play->passed--;
    return;
  }
  while (play->hold && !play->flushing) {
    play->held = TRUE;
    g_cond_broadcast (&play->changed);
    g_cond_wait (&play->changed, &play->lock);
  }
  play->held = FALSE;
}

static void
take_event (Play *play, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      play->flushing = TRUE;
      break;
    case GST_EVENT_FLUSH_STOP:
      play->flushing = play->ended = FALSE;
      play->last = GST_CLOCK_TIME_NONE;
      start_collecting (play);
      break;
    case GST_EVENT_SEGMENT:
      play->last = GST_CLOCK_TIME_NONE;
      break;
    case GST_EVENT_EOS:
      play->ended = TRUE;
      break;
    default:
      break;
  }
  g_cond_broadcast (&play->changed);
}

static GstPadProbeReturn
watch_pad (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Play *play = data;

  g_mutex_lock (&play->lock);
  if (GST_IS_BUFFER (probe->data))
    take_frame (play, GST_PAD_PROBE_INFO_BUFFER (probe));
  else
    take_event (play, GST_PAD_PROBE_INFO_EVENT (probe));
  g_mutex_unlock (&play->lock);
  return GST_PAD_PROBE_OK;
}

/*
 * Whether a neighbour of the element negotiates once more while the pipeline stops. Its own pads are closed then, and the
 * base class of GStreamer warns.
 */
static gboolean
is_of_stopping (Play *play, const GstMessage *message, const GError *error)
{
  gboolean flushing;

  g_mutex_lock (&play->lock);
  flushing = play->flushing;
  g_mutex_unlock (&play->lock);
  return flushing && GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING
      && GST_MESSAGE_SRC (message) != GST_OBJECT (play->element)
      && g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);
}

/* Nobody reads the bus, so every message ends here. */
static GstBusSyncReply
watch_bus (GstBus *bus, GstMessage *message, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *debug = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, &debug);
  if (error && !is_of_stopping (data, message, error))
    soak_fail ("%s of %s: %s (%s)", GST_MESSAGE_TYPE_NAME (message), GST_MESSAGE_SRC_NAME (message), error->message,
        debug);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* --- the pipeline --- */

Play *
play_new (const gchar *line)
{
  Play *play = g_new0 (Play, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) sink = NULL;

  play->pipeline = gst_parse_launch (line, &error);
  if (error) {
    g_printerr ("%s: %s\n", line, error->message);
    exit (1);
  }
  play->element = gst_bin_get_by_name (GST_BIN (play->pipeline), "c");
  sink = gst_bin_get_by_name (GST_BIN (play->pipeline), "sink");
  play->pad = gst_element_get_static_pad (sink, "sink");
  play->bus = gst_element_get_bus (play->pipeline);
  play->last = GST_CLOCK_TIME_NONE;
  play->bytes = g_byte_array_new ();
  g_mutex_init (&play->lock);
  g_cond_init (&play->changed);
  gst_bus_set_sync_handler (play->bus, watch_bus, play, NULL);
  play->probe = gst_pad_add_probe (play->pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH, watch_pad, play,
      NULL);
  return play;
}

void
play_free (Play *play)
{
  play_release (play);
  play_set_state (play, GST_STATE_NULL, TRUE);
  gst_pad_remove_probe (play->pad, play->probe);
  gst_bus_set_sync_handler (play->bus, NULL, NULL, NULL);
  gst_object_unref (play->bus);
  gst_object_unref (play->pad);
  gst_object_unref (play->element);
  gst_object_unref (play->pipeline);
  g_byte_array_unref (play->bytes);
  g_mutex_clear (&play->lock);
  g_cond_clear (&play->changed);
  g_free (play);
}

GstElement *
play_element (Play *play)
{
  return play->element;
}

GstElement *
play_pipeline (Play *play)
{
  return play->pipeline;
}

static void
give_up (const Play *play, const gchar *what)
{
  g_printerr ("%s: %s does not come for %u s; %" G_GUINT64_FORMAT " frames came\n", soak_part, what,
      (guint) (PATIENCE / G_TIME_SPAN_SECOND), play->frames);
  fflush (stdout);
  abort ();
}

static GstStateChangeReturn
wait_for_state (const Play *play)
{
  GstStateChangeReturn result = gst_element_get_state (play->pipeline, NULL, NULL, PATIENCE * GST_USECOND);

  if (result == GST_STATE_CHANGE_ASYNC)
    give_up (play, "a state");
  return result;
}

void
play_settle (Play *play)
{
  wait_for_state (play);
}

void
play_set_state (Play *play, GstState state, gboolean wait)
{
  GstStateChangeReturn result;

  /* A pipeline that is started again begins a new stream. */
  if (state <= GST_STATE_READY) {
    g_mutex_lock (&play->lock);
    play->flushing = TRUE;
    g_cond_broadcast (&play->changed);
    g_mutex_unlock (&play->lock);
  }
  /* Where a state is asked for while a bin goes to another one, the bin of GStreamer 1.22 may wait for ever. */
  if (state > GST_STATE_READY)
    wait_for_state (play);
  result = gst_element_set_state (play->pipeline, state);
  if (result == GST_STATE_CHANGE_ASYNC && wait)
    result = wait_for_state (play);
  if (result == GST_STATE_CHANGE_FAILURE)
    soak_fail ("the state %s is refused", gst_element_state_get_name (state));
  if (state <= GST_STATE_READY) {
    g_mutex_lock (&play->lock);
    play->flushing = play->ended = FALSE;
    play->last = GST_CLOCK_TIME_NONE;
    g_mutex_unlock (&play->lock);
  }
}

/* --- waiting --- */

guint64
play_frames (Play *play)
{
  guint64 frames;

  g_mutex_lock (&play->lock);
  frames = play->frames;
  g_mutex_unlock (&play->lock);
  return frames;
}

/* With the lock. Each frame is a change, however many are still to come. */
static void
wait_for_change (Play *play, const gchar *what)
{
  if (!g_cond_wait_until (&play->changed, &play->lock, g_get_monotonic_time () + PATIENCE))
    give_up (play, what);
}

void
play_wait_frames (Play *play, guint frames)
{
  guint64 wanted;

  g_mutex_lock (&play->lock);
  wanted = play->frames + frames;
  while (play->frames < wanted && !play->ended)
    wait_for_change (play, "a frame");
  g_mutex_unlock (&play->lock);
}

void
play_wait_end (Play *play)
{
  g_mutex_lock (&play->lock);
  while (!play->ended)
    wait_for_change (play, "the end of the stream");
  g_mutex_unlock (&play->lock);
}

void
play_hold_after (Play *play, guint frames)
{
  g_mutex_lock (&play->lock);
  play->hold = TRUE;
  play->passed = frames;
  g_mutex_unlock (&play->lock);
}

void
play_wait_held (Play *play)
{
  g_mutex_lock (&play->lock);
  while (!play->held)
    wait_for_change (play, "a frame to hold");
  g_mutex_unlock (&play->lock);
}

void
play_hold (Play *play)
{
  play_hold_after (play, 0);
  play_wait_held (play);
}

void
play_release (Play *play)
{
  g_mutex_lock (&play->lock);
  play->hold = FALSE;
  g_cond_broadcast (&play->changed);
  g_mutex_unlock (&play->lock);
}

void
play_collect (Play *play, guint frames)
{
  g_mutex_lock (&play->lock);
  play->wanted = frames;
  start_collecting (play);
  g_mutex_unlock (&play->lock);
}

gchar *
play_checksum (Play *play)
{
  gchar *checksum;

  g_mutex_lock (&play->lock);
  while (play->collect > 0 && !play->ended)
    wait_for_change (play, "a frame to collect");
  play->wanted = play->collect = 0;
  checksum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, play->bytes->data, play->bytes->len);
  g_mutex_unlock (&play->lock);
  return checksum;
}

gchar *
play_format (Play *play)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (play->pad);
  GstVideoInfo info;

  if (!caps || !gst_video_info_from_caps (&info, caps))
    return g_strdup ("no format");
  return g_strdup_printf ("%s %dx%d", gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&info)),
      GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info));
}
