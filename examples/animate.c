/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A film whose blur grows to the middle and goes back: animate FILE OUT.webm [PROPERTY FROM TO] [NAME=VALUE...]
 *
 * GstController sets the property before each frame, by the frame's place in the film. Without PROPERTY the film has
 * sigma from 0.5 to 12 and back to 0.5. Any property that gst-inspect-1.0 calls controllable may be animated, and other
 * properties set beside it, as in
 *
 *   animate film.mkv fade.webm bias 0 -1 mask=identity
 *
 * Ctrl-C ends the film early, and the file is complete up to there. The file appears when it is complete; after an error
 * there is the earlier one, or none.
 */
#include <signal.h>
#include <string.h>

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/gst.h>

#include "play.h"
#include "properties.h"
#include "result.h"

#define INPUT "filesrc name=source ! decodebin caps=video/x-raw(ANY) expose-all-streams=false ! "
#define OUTPUT \
  " ! videoconvert ! vp8enc deadline=1 cpu-used=4 threads=4 end-usage=cq cq-level=4 max-quantizer=20 " \
  "target-bitrate=30000000 ! webmmux ! filesink name=file"

static volatile sig_atomic_t interrupted;

static void
on_interrupt (int number)
{
  interrupted = 1;
}

/* The frames that came to the element, and for how long none has come. */
typedef struct
{
  const char *file;
  GstPad *pad;
  gint frames;  /* atomic */
  gint64 asked; /* microseconds */
  Silence silence;
} Source;

static GstPadProbeReturn
frame_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Source *source = data;

  g_atomic_int_inc (&source->frames);
  return GST_PAD_PROBE_OK;
}

static void
watch (Source *source, GstElement *element, const char *file)
{
  *source = (Source){ .file = file, .pad = gst_element_get_static_pad (element, "sink") };
  gst_pad_add_probe (source->pad, GST_PAD_PROBE_TYPE_BUFFER, frame_comes, source, NULL);
}

/* Whether the film goes on. May be called at any time. */
static gboolean
is_alive (Source *source)
{
  const gint64 now = g_get_monotonic_time ();

  if (now - source->asked < G_USEC_PER_SEC)
    return TRUE;
  source->asked = now;
  return silence_tick (&source->silence, source->pad, g_atomic_int_get (&source->frames), source->file, FALSE);
}

/* Prints a warning or an error of the pipeline. */
static void
print_message (GstMessage *message)
{
  GError *error;
  char *debug;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else
    gst_message_parse_warning (message, &error, &debug);
  g_printerr ("%s: %s\n%.600s\n", GST_OBJECT_NAME (message->src), error->message, debug ? debug : "");
  g_error_free (error);
  g_free (debug);
}

/* Makes a pipeline that reads the file; NULL with a message where that fails. */
static GstElement *
open_file (const char *file, const char *rest)
{
  char *description = g_strconcat (INPUT, rest, NULL);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error), *source;

  g_free (description);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    return NULL;
  }
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_object_set (source, "location", file, NULL);
  gst_object_unref (source);
  return pipeline;
}

/* The duration of a film in nanoseconds. 0 with a message where there is none. */
static GstClockTime
duration_of (const char *file)
{
  GstElement *pipeline = open_file (file, "fakesink name=end"), *end;
  GstBus *bus;
  GstMessage *message = NULL;
  Source source;
  gint64 duration = 0;

  if (!pipeline)
    return 0;
  end = gst_bin_get_by_name (GST_BIN (pipeline), "end");
  watch (&source, end, file);
  bus = gst_element_get_bus (pipeline);
  play_start (pipeline);
  while (!message && is_alive (&source))
    message =
        gst_bus_timed_pop_filtered (bus, GST_SECOND / 4, GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_EOS);
  if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    print_message (message);
    complain ("%s: no video that can be decoded", file);
  } else if (message && (!gst_element_query_duration (pipeline, GST_FORMAT_TIME, &duration) || duration <= 0)) {
    complain ("%s: has no duration, so its middle is not known; a picture is no film", file);
    duration = 0;
  }
  g_clear_pointer (&message, gst_message_unref);
  play_stop (pipeline, source.pad);
  gst_object_unref (source.pad);
  gst_object_unref (end);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return duration;
}

/* Whether the property is one that can be controlled, and takes the number. FALSE with a message where that is not so. */
static gboolean
takes (GstElement *convolve, const char *property, double number)
{
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (convolve), property);
  GValue from = G_VALUE_INIT, value = G_VALUE_INIT;
  gboolean ok = FALSE;

  if (!spec || !(spec->flags & GST_PARAM_CONTROLLABLE)) {
    g_printerr ("\"%s\": cudaconvolve has no such property that can be controlled; see gst-inspect-1.0 cudaconvolve\n",
        property);
    return FALSE;
  }
  g_value_init (&from, G_TYPE_DOUBLE);
  g_value_init (&value, spec->value_type);
  g_value_set_double (&from, number);
  ok = g_value_transform (&from, &value) && !g_param_value_validate (spec, &value);
  if (!ok)
    g_printerr ("%g: not in the range of cudaconvolve's property %s; see gst-inspect-1.0 cudaconvolve\n", number,
        property);
  g_value_unset (&value);
  g_value_unset (&from);
  return ok;
}

/*
 * Lets GstController set the property: from, at the middle to, and at the end from again. Between these points the curve
 * is smooth and does not overshoot.
 */
static void
animate (GstElement *convolve, const char *property, double from, double to, GstClockTime duration)
{
  GstControlSource *source;
  GstTimedValueControlSource *points;

  source = gst_interpolation_control_source_new ();
  points = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_CUBIC_MONOTONIC, NULL);
  gst_timed_value_control_source_set (points, 0, from);
  gst_timed_value_control_source_set (points, duration / 2, to);
  gst_timed_value_control_source_set (points, duration, from);
  /* Absolute values are those of the property. Otherwise 0 to 1 would stand for the property's whole range. */
  gst_object_add_control_binding (GST_OBJECT (convolve),
      gst_direct_control_binding_new_absolute (GST_OBJECT (convolve), property, source));
  gst_object_unref (source);
}

/* Prints how far the film is, and the property's value there. */
static void
show_progress (GstElement *pipeline, GstElement *convolve, const char *property, GstClockTime duration)
{
  GValue value = G_VALUE_INIT, number = G_VALUE_INIT;
  gint64 position;

  g_value_init (&number, G_TYPE_DOUBLE);
  g_object_get_property (G_OBJECT (convolve), property, &value);
  if (gst_element_query_position (pipeline, GST_FORMAT_TIME, &position) && g_value_transform (&value, &number))
    g_print ("%3d%%, %s %.2f\n", (int) MIN (100, 100 * position / (gint64) duration), property,
        g_value_get_double (&number));
  g_value_unset (&value);
  g_value_unset (&number);
}

/* Ends the film where it is: the element takes no frame after this. */
static void
end_film (GstElement *convolve)
{
  GstPad *pad = gst_element_get_static_pad (convolve, "sink");

  gst_pad_send_event (pad, gst_event_new_eos ());
  gst_object_unref (pad);
}

/* Writes the film, and prints how far it is. FALSE after an error, which is printed. */
static gboolean
run (GstElement *pipeline, GstElement *convolve, const char *file, const char *property, GstClockTime duration)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gboolean done = FALSE, ok = TRUE, ending = FALSE;
  Source source;

  watch (&source, convolve, file);
  signal (SIGINT, on_interrupt);
  signal (SIGTERM, on_interrupt);
  play_start (pipeline);
  while (!done) {
    GstMessage *message =
        gst_bus_timed_pop_filtered (bus, GST_SECOND / 4, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);

    if (interrupted && g_atomic_int_get (&source.frames) == 0) {
      complain ("%s: stopped before the first frame", file);
      done = TRUE;
      ok = FALSE;
    } else if (interrupted && !ending) {
      ending = TRUE;
      results_guard (); /* a second Ctrl-C ends the program at once */
      end_film (convolve);
    }
    if (!ending && !done && !is_alive (&source)) {
      done = TRUE;
      ok = FALSE;
    }
    if (!message) {
      if (source.silence.seconds < 2)
        show_progress (pipeline, convolve, property, duration);
      continue;
    }
    done = done || GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING;
    if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_EOS)
      print_message (message);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      ok = FALSE;
    gst_message_unref (message);
  }
  results_guard ();
  play_stop (pipeline, source.pad);
  gst_object_unref (source.pad);
  gst_object_unref (bus);
  return ok;
}

static gboolean
read_number (const char *text, double *number)
{
  char *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0';
}

int
main (int argc, char **argv)
{
  GstElement *pipeline, *convolve, *file;
  Result film = { 0 };
  const char *property = "sigma";
  double from = 0.5, to = 12;
  GstClockTime duration;
  int next = 3;
  gboolean ok;

  gst_init (&argc, &argv);
  if (argc > 5 && !strchr (argv[3], '=')) {
    property = argv[3];
    ok = read_number (argv[4], &from) && read_number (argv[5], &to);
    next = 6;
  } else
    ok = argc == 3 || (argc > 3 && strchr (argv[3], '='));
  if (!ok) {
    g_printerr ("Usage: %s FILE OUT.webm [PROPERTY FROM TO] [NAME=VALUE...]\n", argv[0]);
    return 2;
  }
  if (!result_begin (&film, argv[2], argv[1], argv + next))
    return 1;
  duration = duration_of (argv[1]);
  pipeline = duration ? open_file (argv[1], "cudaconvolve name=convolve" OUTPUT) : NULL;
  if (!pipeline) {
    result_drop (&film);
    return 1;
  }
  convolve = gst_bin_get_by_name (GST_BIN (pipeline), "convolve");
  file = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  g_object_set (file, "location", film.part, NULL);
  ok = takes (convolve, property, from) && takes (convolve, property, to);
  if (ok)
    animate (convolve, property, from, to, duration);
  for (int i = next; ok && i < argc; i++)
    ok = set_property (convolve, argv[i]);
  if (ok)
    ok = run (pipeline, convolve, argv[1], property, duration);
  ok = ok && result_keep (&film);
  result_drop (&film);
  if (ok)
    g_print ("animated film: %s\n", argv[2]);
  gst_object_unref (file);
  gst_object_unref (convolve);
  gst_object_unref (pipeline);
  return ok ? 0 : 1;
}
