/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plays video through cudaconvolve, and single keys change the element's properties meanwhile:
 *
 *   live [--sink=ELEMENT] [FILE] [PROPERTY=VALUE...]
 *
 * Without FILE a test picture is played. A window opens where there is a display; otherwise the frames are thrown away.
 * The last line of the terminal shows frames a second, the time that a frame takes, the variant that runs, and the
 * properties that are not at their defaults. The keys may come from a pipe, too. Where the output is no terminal, each
 * line is printed below the last one. The film starts again at its end, as long as keys can come.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <glib-unix.h>
#include <gst/gst.h>

#include "properties.h"
#include "terminal.h"

static const char *const help = "m M  next, previous mask        w W  wider, narrower mask\n"
                                "s S  larger, smaller sigma      o O  larger, smaller bias\n"
                                "b B  next, previous boundary    v V  next, previous kernel variant\n"
                                "r    everything as at start     space  pause, and go on\n"
                                "h    this help                  q    quit";

#define FILM "filesrc name=source ! decodebin name=decoder caps=video/x-raw(ANY) expose-all-streams=false"
#define TEST_PICTURE "videotestsrc ! video/x-raw,width=640,height=360,framerate=25/1 !"

typedef struct
{
  GMainLoop *loop;
  GstElement *pipeline, *convolve;
  gboolean ok, paused, keys_end;
  int variant;     /* that was tried last */
  gint64 position; /* to go to once the pipeline plays again; negative: none */
  Values first;    /* the properties at start */
  Values good;     /* the last properties with which frames came out */
  int frames;      /* that came out, atomic */
  int changed_at;  /* the number of frames when a key changed a property */
  gboolean has_good;
  int restarted_at; /* the number of frames at the last error */

  /* The values that the last status line showed. */
  gint64 shown_at; /* microseconds */
  int shown_frames;
  guint64 timed_frames, timed; /* the element's frames, and their nanoseconds together */
  double rate, milliseconds;
} Live;

/* --- output --- */

/* A line of its own above the status line. */
static void
say (const char *format, ...)
{
  va_list arguments;
  char *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_print ("%s%s\n", terminal_columns () ? "\r\033[K" : "", text);
  g_free (text);
}

/*
 * Frames a second since the last time, and the element's own time for one of these frames. The property stats has a mean
 * since start, so the difference of two sums says what the frames between them took.
 */
static void
measure (Live *live)
{
  static const char *const parts[] = { "upload-time", "kernel-time", "download-time" };
  gint64 now = g_get_monotonic_time ();
  int frames = g_atomic_int_get (&live->frames);
  guint64 mean = 0, part, count = 0;
  GstStructure *stats;

  if (live->shown_at && now - live->shown_at < G_USEC_PER_SEC / 4)
    return;
  g_object_get (live->convolve, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "frames", &count);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (gst_structure_get_uint64 (stats, parts[i], &part))
      mean += part;
  gst_structure_free (stats);
  if (live->shown_at)
    live->rate = (frames - live->shown_frames) * 1e6 / (now - live->shown_at);
  live->milliseconds = NAN;
  if (count > live->timed_frames)
    live->milliseconds = ((double) count * mean - live->timed) / (count - live->timed_frames) / 1e6;
  live->timed_frames = count;
  live->timed = count * mean;
  live->shown_at = now;
  live->shown_frames = frames;
}

/* How fast, what runs, and the properties as a launch line has them: one line, which is overwritten on a terminal. */
static void
show (Live *live)
{
  guint columns = terminal_columns ();
  GString *line = g_string_new (NULL);
  char *variant;

  measure (live);
  g_object_get (live->convolve, "active-variant", &variant, NULL);
  g_string_printf (line, "%.1f frames/s", live->rate);
  if (!isnan (live->milliseconds))
    g_string_append_printf (line, ", %.2f ms a frame", live->milliseconds);
  g_string_append_printf (line, ", %s: cudaconvolve", live->paused ? "paused" : variant ? variant : "no frame yet");
  append_properties (line, live->convolve);
  if (columns) {
    /* A line that is longer than the terminal is wide would wrap, and could not be overwritten. */
    g_string_truncate (line, MIN (line->len, columns - 1));
    g_print ("\r\033[K%s", line->str);
  } else
    g_print ("%s\n", line->str);
  g_free (variant);
  g_string_free (line, TRUE);
}

/* --- the keys --- */

static void
pause_or_play (Live *live)
{
  live->paused = !live->paused;
  gst_element_set_state (live->pipeline, live->paused ? GST_STATE_PAUSED : GST_STATE_PLAYING);
}

static void
press (Live *live, char key)
{
  if (key == 'r') {
    values_restore (&live->first, live->convolve);
    g_object_get (live->convolve, "kernel-variant", &live->variant, NULL);
  }
  if (key == 'r' || change_by_key (live->convolve, key, &live->variant)) {
    live->changed_at = g_atomic_int_get (&live->frames);
    show (live);
    return;
  }
  if (key == 'q' || key == 4) /* Ctrl-D */
    g_main_loop_quit (live->loop);
  else if (key == ' ')
    pause_or_play (live);
  else if (key == 'h' || key == '?')
    say ("%s", help);
  else if (g_ascii_isgraph (key))
    say ("%c: no key of this program; h shows the keys", key);
}

static gboolean
on_keys (gint fd, GIOCondition condition, gpointer data)
{
  Live *live = data;
  char keys[64];
  ssize_t n = read (fd, keys, sizeof keys);

  if (n <= 0) {
    live->keys_end = TRUE;
    return G_SOURCE_REMOVE;
  }
  /* The arrows and other such keys are more than one byte, which come together and begin with Escape. */
  for (ssize_t i = 0; i < n && keys[i] != '\033'; i++)
    press (live, keys[i]);
  return G_SOURCE_CONTINUE;
}

/* The handler is removed after the first signal, so that a second one ends the program at once. */
static gboolean
on_signal (gpointer data)
{
  Live *live = data;

  g_main_loop_quit (live->loop);
  return G_SOURCE_REMOVE;
}

/* --- the pipeline --- */

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Live *live = data;

  g_atomic_int_inc (&live->frames);
  return GST_PAD_PROBE_OK;
}

/*
 * Properties count as good once frames came out that began after the last change. As many as five may have begun
 * before, because frames-in-flight goes up to four.
 */
static gboolean
tick (gpointer data)
{
  Live *live = data;

  if (g_atomic_int_get (&live->frames) >= live->changed_at + 6) {
    values_keep (&live->good, live->convolve);
    live->has_good = TRUE;
  }
  show (live);
  return G_SOURCE_CONTINUE;
}

/*
 * Plays again after an error, from the same place. In the state NULL the bus forgets what other elements say about the
 * same error.
 */
static void
play_again (Live *live)
{
  if (!gst_element_query_position (live->pipeline, GST_FORMAT_TIME, &live->position))
    live->position = -1;
  live->restarted_at = g_atomic_int_get (&live->frames);
  gst_element_set_state (live->pipeline, GST_STATE_NULL);
  gst_element_set_state (live->pipeline, live->paused ? GST_STATE_PAUSED : GST_STATE_PLAYING);
}

/*
 * The element warns of a mask that cannot be, and the last good one stays. A variant that cannot do the mask is an error,
 * which stops the pipeline. In both cases the properties go back to the good ones.
 */
static void
on_fault (Live *live, GstMessage *message)
{
  gboolean is_error = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;
  GError *error;
  char *debug;

  if (is_error)
    gst_message_parse_error (message, &error, &debug);
  else
    gst_message_parse_warning (message, &error, &debug);
  if (GST_MESSAGE_SRC (message) == GST_OBJECT (live->convolve) && live->has_good
      && g_atomic_int_get (&live->frames) != live->restarted_at) {
    say ("refused: %s", error->message);
    values_restore (&live->good, live->convolve);
    if (is_error)
      play_again (live);
  } else {
    say ("%s: %s\n%.600s", GST_OBJECT_NAME (GST_MESSAGE_SRC (message)), error->message, debug ? debug : "");
    if (is_error) {
      live->ok = FALSE;
      g_main_loop_quit (live->loop);
    }
  }
  g_error_free (error);
  g_free (debug);
}

static void
seek (Live *live, gint64 position)
{
  gst_element_seek_simple (live->pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, position);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Live *live = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_WARNING:
    case GST_MESSAGE_ERROR:
      on_fault (live, message);
      break;
    case GST_MESSAGE_ASYNC_DONE:
      if (live->position > 0)
        seek (live, live->position);
      live->position = -1;
      break;
    case GST_MESSAGE_EOS:
      if (live->keys_end)
        g_main_loop_quit (live->loop);
      else
        seek (live, 0);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* gst_parse_launch() links a decoder's pad once, and after an error the decoder has a new one. */
static void
link_decoder (GstElement *decoder, GstPad *pad, gpointer data)
{
  Live *live = data;
  GstPad *sink = gst_element_get_static_pad (live->convolve, "sink");

  if (!gst_pad_is_linked (sink) && gst_pad_link (pad, sink) != GST_PAD_LINK_OK)
    GST_ELEMENT_ERROR (decoder, STREAM, WRONG_TYPE, ("cudaconvolve takes none of the decoded formats"), (NULL));
  gst_object_unref (sink);
}

static void
open_file (Live *live, const char *file)
{
  GstElement *source = gst_bin_get_by_name (GST_BIN (live->pipeline), "source");
  GstElement *decoder = gst_bin_get_by_name (GST_BIN (live->pipeline), "decoder");

  g_object_set (source, "location", file, NULL);
  g_signal_connect (decoder, "pad-added", G_CALLBACK (link_decoder), live);
  gst_object_unref (source);
  gst_object_unref (decoder);
}

static gboolean
make_pipeline (Live *live, const char *file, const char *sink)
{
  char *description = g_strdup_printf ("%s cudaconvolve name=convolve ! %s", file ? FILM : TEST_PICTURE, sink);
  GError *error = NULL;
  GstPad *pad;

  live->pipeline = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  g_free (description);
  if (!live->pipeline) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    return FALSE;
  }
  live->convolve = gst_bin_get_by_name (GST_BIN (live->pipeline), "convolve");
  if (file)
    open_file (live, file);
  pad = gst_element_get_static_pad (live->convolve, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, live, NULL);
  gst_object_unref (pad);
  return TRUE;
}

static void
play (Live *live)
{
  GstBus *bus = gst_element_get_bus (live->pipeline);
  guint ticks = g_timeout_add (500, tick, live);
  const int deadly[] = { SIGINT, SIGTERM, SIGHUP };

  live->loop = g_main_loop_new (NULL, FALSE);
  values_keep (&live->first, live->convolve);
  g_object_get (live->convolve, "kernel-variant", &live->variant, NULL);
  gst_bus_add_watch (bus, on_message, live);
  for (guint i = 0; i < G_N_ELEMENTS (deadly); i++)
    g_unix_signal_add (deadly[i], on_signal, live);
  g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_keys, live);
  terminal_open ();
  if (isatty (STDIN_FILENO))
    say ("%s", help);
  gst_element_set_state (live->pipeline, GST_STATE_PLAYING);
  g_main_loop_run (live->loop);
  terminal_close ();
  if (terminal_columns ())
    g_print ("\n");
  gst_element_set_state (live->pipeline, GST_STATE_NULL);
  gst_bus_remove_watch (bus);
  g_source_remove (ticks);
  gst_object_unref (bus);
  g_main_loop_unref (live->loop);
}

int
main (int argc, char **argv)
{
  gboolean display = g_getenv ("DISPLAY") || g_getenv ("WAYLAND_DISPLAY");
  char *sink = NULL;
  const GOptionEntry entries[] = {
    { "sink", 0, 0, G_OPTION_ARG_STRING, &sink, "play into this element, in gst-launch-1.0's words", "ELEMENT" }, { 0 }
  };
  GOptionContext *context = g_option_context_new ("[FILE] [PROPERTY=VALUE...]");
  GError *error = NULL;
  Live live = { .ok = TRUE, .position = -1, .milliseconds = NAN };
  int first = 1;

  g_option_context_set_summary (context, help);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return 2;
  }
  g_option_context_free (context);
  if (argc > 1 && !strchr (argv[1], '='))
    first = 2;
  if (!sink)
    sink = g_strdup (display ? "videoconvert ! autovideosink" : "fakesink sync=true");
  live.ok = make_pipeline (&live, first == 2 ? argv[1] : NULL, sink);
  for (int i = first; live.ok && i < argc; i++)
    live.ok = set_property (live.convolve, argv[i]);
  if (live.ok)
    play (&live);
  values_clear (&live.first);
  values_clear (&live.good);
  gst_clear_object (&live.convolve);
  gst_clear_object (&live.pipeline);
  g_free (sink);
  return live.ok ? 0 : 1;
}
