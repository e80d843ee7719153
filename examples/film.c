/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "film.h"

#include <string.h>
#include <unistd.h>

#include <glib-unix.h>

typedef struct
{
  Film *film;
  GMainLoop *loop;
  GstElement *counter;
  GstPad *pad;
  gboolean terminal; /* progress is overwritten in place */
  gboolean shown;    /* a line of progress stands on the terminal */
  gboolean ended;

  /* Shared with the streaming thread. */
  GMutex lock;
  guint64 frames;
  gint64 first, last;            /* microseconds at which the first and the last frame came */
  GstClockTime first_time, time; /* where in the film the first frame begins and the last one ends */
} Play;

void
complain (const char *format, ...)
{
  va_list arguments;
  char *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("anonymise: %s\n", g_strdelimit (text, "\n", ' '));
  g_free (text);
}

/* --- frames --- */

/* Where in the film a frame begins and ends. FALSE where the frame has no time, or is not to be shown. */
static gboolean
find_times (GstPad *pad, GstBuffer *frame, GstClockTime *begin, GstClockTime *end)
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
  *end = *begin;
  if (GST_BUFFER_DURATION_IS_VALID (frame))
    *end += GST_BUFFER_DURATION (frame);
  return GST_CLOCK_TIME_IS_VALID (*begin);
}

static GstPadProbeReturn
frame_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Play *play = data;
  GstBuffer *frame = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTime begin, end;

  if (!find_times (pad, frame, &begin, &end)) {
    if (!GST_BUFFER_PTS_IS_VALID (frame))
      GST_ELEMENT_ERROR (play->counter, STREAM, FORMAT, ("a frame has no time, so that nothing tells its boxes"),
          (NULL));
    return GST_PAD_PROBE_DROP;
  }
  if (play->film->on_frame) {
    play->film->on_frame (&frame, begin, end, play->film->data);
    GST_PAD_PROBE_INFO_DATA (info) = frame;
  }
  g_mutex_lock (&play->lock);
  play->last = g_get_monotonic_time ();
  if (play->frames++ == 0) {
    play->first = play->last;
    play->first_time = begin;
  }
  play->time = end;
  g_mutex_unlock (&play->lock);
  return GST_PAD_PROBE_OK;
}

/* --- progress --- */

static void
append_time_left (GString *line, int seconds)
{
  if (seconds >= 3600)
    g_string_append_printf (line, ", %d:%02d:%02d left", seconds / 3600, seconds / 60 % 60, seconds % 60);
  else
    g_string_append_printf (line, ", %d:%02d left", seconds / 60, seconds % 60);
}

/* One line, overwritten where a terminal shows it. */
static void
show_progress (Play *play, gboolean last)
{
  GString *line = g_string_new (NULL);
  gint64 duration;
  double seconds, film, done;

  if (!gst_pad_peer_query_duration (play->pad, GST_FORMAT_TIME, &duration))
    duration = 0;
  g_mutex_lock (&play->lock);
  seconds = (play->last - play->first) / 1e6;
  film = last && duration > 0 ? (double) duration : (double) play->time;
  done = film - play->first_time;
  g_string_printf (line, "%s: %" G_GUINT64_FORMAT " frames", play->film->task, play->frames);
  if (duration > 0)
    g_string_append_printf (line, ", %d%%", (int) MIN (100, 100 * film / duration));
  if (seconds > 0)
    g_string_append_printf (line, ", %.1f frames/s", (play->frames - 1) / seconds);
  if (seconds > 0 && duration > 0 && done > 0)
    append_time_left (line, (int) (seconds * MAX (0, duration - film) / done + 0.5));
  play->shown = play->frames > 0;
  g_mutex_unlock (&play->lock);
  /* The escape sequence clears what a longer line left behind. */
  if (play->shown && play->terminal)
    g_printerr ("\r%s\033[K%s", line->str, last ? "\n" : "");
  else if (play->shown)
    g_printerr ("%s\n", line->str);
  g_string_free (line, TRUE);
}

static gboolean
progress_tick (gpointer data)
{
  show_progress (data, FALSE);
  return G_SOURCE_CONTINUE;
}

/* --- the end --- */

/* Ends the line of progress, so that a message begins a line. */
static void
end_line (Play *play)
{
  if (play->shown && play->terminal)
    g_printerr ("\n");
  play->shown = FALSE;
}

static gboolean
interrupted (gpointer data)
{
  Play *play = data;

  end_line (play);
  complain ("stopped before the end of the film");
  g_main_loop_quit (play->loop);
  return G_SOURCE_CONTINUE;
}

static void
failed (Play *play, GstMessage *message)
{
  const Film *film = play->film;
  GError *error;

  gst_message_parse_error (message, &error, NULL);
  end_line (play);
  if (film->missing)
    complain ("%s: no decoder is installed for %s", film->file, film->missing);
  else if (play->frames == 0 && error->domain == GST_STREAM_ERROR && message->src != GST_OBJECT (play->counter))
    complain ("%s: no video that can be decoded: %s", film->file, error->message);
  else
    complain ("%s: %s: %s", film->file, GST_OBJECT_NAME (message->src), error->message);
  g_error_free (error);
  g_main_loop_quit (play->loop);
}

/* decodebin leaves a stream out where its decoder is missing. Sound has to stay, so that is an error. Subtitles go. */
static void
note_missing (Film *film, const GstStructure *structure)
{
  GstCaps *caps = NULL;
  const char *name;

  if (!gst_structure_get (structure, "detail", GST_TYPE_CAPS, &caps, NULL))
    return;
  name = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  if (!film->missing && (g_str_has_prefix (name, "audio/") || g_str_has_prefix (name, "video/")))
    film->missing = g_strdup (name);
  gst_caps_unref (caps);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Play *play = data;
  Film *film = play->film;
  const GstStructure *structure = gst_message_get_structure (message);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    failed (play, message);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
    play->ended = !film->missing;
    if (film->missing)
      complain ("%s: no decoder is installed for %s", film->file, film->missing);
    g_main_loop_quit (play->loop);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT && gst_structure_has_name (structure, "missing-plugin"))
    note_missing (film, structure);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT && film->on_message)
    film->on_message (structure, film->data);
  return G_SOURCE_CONTINUE;
}

gboolean
film_play (Film *film, const char *counter)
{
  Play play = { .film = film, .terminal = isatty (STDERR_FILENO) };
  GstBus *bus = gst_element_get_bus (film->pipeline);
  guint sources[3];

  play.counter = gst_bin_get_by_name (GST_BIN (film->pipeline), counter);
  play.pad = gst_element_get_static_pad (play.counter, "sink");
  play.loop = g_main_loop_new (NULL, FALSE);
  g_mutex_init (&play.lock);
  gst_pad_add_probe (play.pad, GST_PAD_PROBE_TYPE_BUFFER, frame_comes, &play, NULL);
  sources[0] = g_unix_signal_add (SIGINT, interrupted, &play);
  sources[1] = g_unix_signal_add (SIGTERM, interrupted, &play);
  sources[2] = g_timeout_add_seconds (play.terminal ? 1 : 5, progress_tick, &play);
  gst_bus_add_watch (bus, on_message, &play);

  /* Where the state cannot be reached, an element says why on the bus. */
  gst_element_set_state (film->pipeline, GST_STATE_PLAYING);
  g_main_loop_run (play.loop);
  if (play.ended)
    show_progress (&play, TRUE);
  gst_element_set_state (film->pipeline, GST_STATE_NULL);

  gst_bus_remove_watch (bus);
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    g_source_remove (sources[i]);
  if (play.ended && play.frames == 0) {
    complain ("%s: no frame came out", film->file);
    play.ended = FALSE;
  }
  film->frames = play.frames;
  gst_object_unref (bus);
  gst_object_unref (play.pad);
  gst_object_unref (play.counter);
  g_main_loop_unref (play.loop);
  g_mutex_clear (&play.lock);
  return play.ended;
}
