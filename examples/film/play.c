/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "play.h"

#include <string.h>
#include <unistd.h>

#include <glib-unix.h>
#include <gst/pbutils/pbutils.h>

#include "progress.h"
#include "result.h"
#include "say.h"

#define SAY_AFTER 10 /* seconds without a frame */
#define GIVE_UP_AFTER 60
#define STOPPED_AFTER (5 * G_USEC_PER_SEC)

typedef struct
{
  Film *film;
  GMainLoop *loop;
  GstElement *counter;
  GstPad *pad;
  gboolean terminal; /* progress is overwritten in place */
  gboolean shown;    /* a line of progress stands on the terminal */
  gboolean ended;
  Silence silence;
  gboolean refused; /* on_first() said no; for the streaming thread */
  int all_came;     /* atomic */

  Progress progress;
} Play;

/* --- sources that give nothing --- */

/* Whether an element behind the pad works on a frame: the streaming thread then holds the lock of the pad. */
static gboolean
is_busy (GstPad *pad)
{
  if (!GST_PAD_STREAM_TRYLOCK (pad))
    return TRUE;
  GST_PAD_STREAM_UNLOCK (pad);
  return FALSE;
}

/* The demuxer for GIFs of GStreamer 1.22 reads on at the end of the file, for ever. */
static const char *
cure_for (const char *file)
{
  const char *suffix = strrchr (file, '.');

  if (suffix && !g_ascii_strcasecmp (suffix, ".gif"))
    return "GStreamer may find no end of a GIF: make a film of it first, as with ffmpeg -i FILE.gif FILE.mp4";
  return "the file may be damaged, or a pipe that nothing is written to";
}

gboolean
silence_tick (Silence *silence, GstPad *pad, guint64 frames, const char *file, gboolean in_line)
{
  if (frames != silence->frames || is_busy (pad)) {
    *silence = (Silence){ frames, 0 };
    return TRUE;
  }
  silence->seconds++;
  if (in_line && (silence->seconds == SAY_AFTER || silence->seconds == GIVE_UP_AFTER))
    g_printerr ("\n");
  if (silence->seconds == SAY_AFTER)
    complain ("%s: no frame has come for %d s, after %" G_GUINT64_FORMAT " frames; Ctrl-C ends the program; %s", file,
        SAY_AFTER, frames, cure_for (file));
  else if (silence->seconds == GIVE_UP_AFTER)
    complain ("%s: given up, because no frame has come for %d s", file, GIVE_UP_AFTER);
  return silence->seconds < GIVE_UP_AFTER;
}

static void
let_play (GstElement *pipeline, gpointer data)
{
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
}

void
play_start (GstElement *pipeline)
{
  gst_element_call_async (pipeline, let_play, NULL, NULL);
}

typedef struct
{
  GAsyncQueue *stopped;
  GstPad *pad;
} Guard;

static gpointer
end_if_stuck (gpointer data)
{
  Guard *guard = data;

  while (!g_async_queue_timeout_pop (guard->stopped, STOPPED_AFTER))
    if (!is_busy (guard->pad)) {
      results_delete ();
      _exit (1);
    }
  return NULL;
}

void
play_stop (GstElement *pipeline, GstPad *pad)
{
  Guard guard = { g_async_queue_new (), pad };
  GThread *thread = g_thread_new ("guard", end_if_stuck, &guard);

  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_async_queue_push (guard.stopped, pipeline);
  g_thread_join (thread);
  g_async_queue_unref (guard.stopped);
}

void
play_fail (GstElement *pipeline, const char *text)
{
  gst_element_post_message (pipeline,
      gst_message_new_application (NULL, gst_structure_new ("failed", "text", G_TYPE_STRING, text, NULL)));
}

/* --- frames --- */

/* Where in the film a frame begins and ends. FALSE where the frame has no time, or is not to be shown. */
static gboolean
find_times (GstPad *pad, GstBuffer *frame, gboolean first, GstClockTime *begin, GstClockTime *end)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;

  *begin = GST_CLOCK_TIME_NONE;
  if (event) {
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_TIME)
      *begin = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame));
    gst_event_unref (event);
  }
  /* A picture that is no part of a film may have no time. */
  if (!GST_BUFFER_PTS_IS_VALID (frame) && first)
    *begin = 0;
  *end = *begin;
  if (GST_BUFFER_DURATION_IS_VALID (frame))
    *end += GST_BUFFER_DURATION (frame);
  return GST_CLOCK_TIME_IS_VALID (*begin);
}

/* Whether the film may begin with frames of this pad. Where not, the main thread learns so from a message. */
static gboolean
may_begin (Play *play, GstPad *pad)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  int width = 0, height = 0;

  gst_structure_get (gst_caps_get_structure (caps, 0), "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height,
      NULL);
  gst_caps_unref (caps);
  if (play->film->on_first (width, height, play->film->data))
    return TRUE;
  play->refused = TRUE;
  gst_element_post_message (play->film->pipeline,
      gst_message_new_application (NULL, gst_structure_new_empty ("refused")));
  return FALSE;
}

/* Behind the last frame of the film an encoder may work for long. */
static GstPadProbeReturn
event_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Play *play = data;

  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
    g_atomic_int_set (&play->all_came, TRUE);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
frame_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Play *play = data;
  GstBuffer *frame = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTime begin, end;

  if (!find_times (pad, frame, play->progress.frames == 0, &begin, &end)
      && (play->film->on_frame || GST_BUFFER_PTS_IS_VALID (frame))) {
    if (!GST_BUFFER_PTS_IS_VALID (frame))
      GST_ELEMENT_ERROR (play->counter, STREAM, FORMAT, ("a frame has no time, so that nothing tells its boxes"),
          (NULL));
    return GST_PAD_PROBE_DROP;
  }
  if (play->refused || (play->progress.frames == 0 && play->film->on_first && !may_begin (play, pad)))
    return GST_PAD_PROBE_DROP;
  if (play->film->on_frame) {
    play->film->on_frame (&frame, begin, end, play->film->data);
    GST_PAD_PROBE_INFO_DATA (info) = frame;
  }
  progress_add (&play->progress, begin, end);
  return GST_PAD_PROBE_OK;
}

/* --- progress --- */

/* The same for programs. */
static void
say_progress (Progress *progress, GstClockTime duration)
{
  const ProgressNow now = progress_now (progress, duration);

  say_begin ("progress");
  say_number ("frames", now.frames);
  say_number ("percent", now.percent);
  say_number ("frames_per_second", now.rate);
  say_number ("seconds_left", now.left);
  say_end ("%s", "");
}

static void
show_progress (Play *play, gboolean last)
{
  gint64 duration;

  if (!gst_pad_peer_query_duration (play->pad, GST_FORMAT_TIME, &duration) || duration <= 0)
    duration = GST_CLOCK_TIME_NONE;
  else if (last)
    play->progress.time = duration;
  if (say_is_json ())
    say_progress (&play->progress, duration);
  else
    progress_show (&play->progress, play->film->task, duration, play->terminal, last);
  play->shown = progress_frames (&play->progress) > 0;
}

static gboolean
progress_tick (gpointer data)
{
  show_progress (data, FALSE);
  return G_SOURCE_CONTINUE;
}

/* --- the end --- */

/* A second. */
static gboolean
silence_comes (gpointer data)
{
  Play *play = data;
  guint64 frames = progress_frames (&play->progress);

  if (!g_atomic_int_get (&play->all_came)
      && !silence_tick (&play->silence, play->pad, frames, play->film->file, play->shown && play->terminal))
    g_main_loop_quit (play->loop);
  return G_SOURCE_CONTINUE;
}

/* Ends the line of progress, so that a message begins a line. */
static void
end_line (Play *play)
{
  if (play->shown && play->terminal)
    g_printerr ("\n");
  play->shown = FALSE;
}

static gboolean was_interrupted;

gboolean
play_was_interrupted (void)
{
  return was_interrupted;
}

static gboolean
interrupted (gpointer data)
{
  Play *play = data;

  end_line (play);
  was_interrupted = TRUE;
  complain ("stopped before the end of the film");
  g_main_loop_quit (play->loop);
  return G_SOURCE_CONTINUE;
}

static void
complain_of_missing (const Film *film)
{
  complain ("%s: no decoder is installed for %s; gstreamer1.0-libav and gstreamer1.0-plugins-bad have most", film->file,
      film->missing);
}

static gboolean
is_missing (const GError *error)
{
  return g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN)
      || g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND);
}

/* Whether a file cannot be written. */
static gboolean
is_full (const GError *error)
{
  return error->domain == GST_RESOURCE_ERROR
      && (error->code == GST_RESOURCE_ERROR_WRITE || error->code == GST_RESOURCE_ERROR_NO_SPACE_LEFT);
}

/* What helps, for the errors of GStreamer's own elements. */
static const char *
cure_of (const GError *error)
{
  if (is_full (error))
    return " Is the disk full?";
  if (error->domain == GST_CORE_ERROR && error->code == GST_CORE_ERROR_NEGOTIATION)
    return " Try --codec=NAME or another kind of file.";
  if (error->domain == GST_STREAM_ERROR)
    return " The file may be damaged: ffmpeg -i FILE -c copy FILE.mkv may mend it.";
  return "";
}

static void
failed (Play *play, GstMessage *message)
{
  const Film *film = play->film;
  GError *error;

  gst_message_parse_error (message, &error, NULL);
  end_line (play);
  if (film->missing)
    complain_of_missing (film);
  else if (film->lacks && (is_missing (error) || play->progress.frames == 0))
    complain ("%s: GStreamer has no %s; gstreamer1.0-plugins-good, -bad and gstreamer1.0-libav have most", film->file,
        film->lacks);
  else if (play->progress.frames == 0 && error->domain == GST_STREAM_ERROR
      && message->src != GST_OBJECT (play->counter))
    complain ("%s: no video that can be decoded: %s%s Is it a film, and whole?", film->file, error->message,
        g_str_has_suffix (error->message, ".") ? "" : ".");
  else if (is_full (error) && film->output && message->src != GST_OBJECT (play->counter))
    complain ("%s: cannot be written. Is the disk full?", film->output);
  else
    complain ("%s: %s: %s%s", film->file, GST_OBJECT_NAME (message->src), error->message, cure_of (error));
  g_error_free (error);
  g_main_loop_quit (play->loop);
}

/* decodebin leaves a stream out where its decoder is missing. parsebin misses decoders, too, but copies need none. */
static void
note_missing (Film *film, GstMessage *message)
{
  const GstStructure *structure = gst_message_get_structure (message);
  const GstElementFactory *factory = GST_IS_ELEMENT (GST_MESSAGE_SRC (message))
      ? gst_element_get_factory (GST_ELEMENT (GST_MESSAGE_SRC (message)))
      : NULL;
  GstCaps *caps = NULL;
  const char *name;

  if (!film->lacks)
    film->lacks = gst_missing_plugin_message_get_description (message);
  if (!gst_structure_get (structure, "detail", GST_TYPE_CAPS, &caps, NULL))
    return;
  name = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  if (factory && !strcmp (GST_OBJECT_NAME (factory), "parsebin") && !g_str_has_prefix (name, "video/")) {
    gst_caps_unref (caps);
    return;
  }
  if (!film->missing && (g_str_has_prefix (name, "audio/") || g_str_has_prefix (name, "video/")))
    film->missing = g_strdup (name);
  gst_caps_unref (caps);
}

static void
warn (Play *play, GstMessage *message)
{
  GError *warning;

  gst_message_parse_warning (message, &warning, NULL);
  if (!play->film->told || !g_str_has_prefix (warning->message, play->film->told)) {
    end_line (play);
    complain ("warning: %s: %s", GST_OBJECT_NAME (message->src), warning->message);
  }
  g_error_free (warning);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Play *play = data;
  Film *film = play->film;
  const GstStructure *structure = gst_message_get_structure (message);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    failed (play, message);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    warn (play, message);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_APPLICATION && gst_structure_has_name (structure, "refused"))
    g_main_loop_quit (play->loop);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_APPLICATION && gst_structure_has_name (structure, "failed")) {
    end_line (play);
    if (film->missing)
      complain_of_missing (film);
    else
      complain ("%s: %s", film->file, gst_structure_get_string (structure, "text"));
    g_main_loop_quit (play->loop);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
    play->ended = !film->missing && !play->refused;
    if (film->missing)
      complain_of_missing (film);
    g_main_loop_quit (play->loop);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT && gst_structure_has_name (structure, "missing-plugin"))
    note_missing (film, message);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT && film->on_message)
    film->on_message (structure, film->data);
  return G_SOURCE_CONTINUE;
}

gboolean
play_film (Film *film, const char *counter)
{
  Play play = { .film = film, .terminal = isatty (STDERR_FILENO) && !say_is_json () };
  GstBus *bus = gst_element_get_bus (film->pipeline);
  guint sources[4];

  play.counter = gst_bin_get_by_name (GST_BIN (film->pipeline), counter);
  play.pad = gst_element_get_static_pad (play.counter, "sink");
  play.loop = g_main_loop_new (NULL, FALSE);
  progress_init (&play.progress);
  gst_pad_add_probe (play.pad, GST_PAD_PROBE_TYPE_BUFFER, frame_comes, &play, NULL);
  gst_pad_add_probe (play.pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, event_comes, &play, NULL);
  sources[0] = g_unix_signal_add (SIGINT, interrupted, &play);
  sources[1] = g_unix_signal_add (SIGTERM, interrupted, &play);
  sources[2] = g_timeout_add_seconds (play.terminal || say_is_json () ? 1 : 5, progress_tick, &play);
  sources[3] = g_timeout_add_seconds (1, silence_comes, &play);
  gst_bus_add_watch (bus, on_message, &play);

  /* Where the state cannot be reached, an element says why on the bus. */
  play_start (film->pipeline);
  g_main_loop_run (play.loop);
  if (play.ended)
    show_progress (&play, TRUE);
  if (play.ended && film->on_end)
    film->on_end (film->data);
  play_stop (film->pipeline, play.pad);

  gst_bus_remove_watch (bus);
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    g_source_remove (sources[i]);
  results_guard ();
  if (play.ended && play.progress.frames == 0) {
    complain ("%s: no frame came out", film->file);
    play.ended = FALSE;
  }
  film->frames = play.progress.frames;
  gst_object_unref (bus);
  gst_object_unref (play.pad);
  gst_object_unref (play.counter);
  g_main_loop_unref (play.loop);
  progress_clear (&play.progress);
  return play.ended;
}
