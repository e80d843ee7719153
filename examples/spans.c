/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions that are covered in spans of time alone: spans FILE BOXES FROM-TO...
 *
 * Plays the film, and covers the boxes in each span, which is in seconds of the film, as in
 *
 *   spans examples/clip.mp4 192,8,176,236 0.5-1.2 2-3.5
 *
 * A window opens where there is a display; otherwise the frames are thrown away.
 */
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/gst.h>

/* Reads a span of seconds. FALSE where it is none. */
static gboolean
read_span (const char *text, double *from, double *to)
{
  char *end;

  *from = g_ascii_strtod (text, &end);
  if (end == text || *end != '-')
    return FALSE;
  text = end + 1;
  *to = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && *from >= 0 && *to > *from;
}

/* Lets GstController set region-active before each frame: 1 from the start of a span on, and 0 from its end on. */
static gboolean
cover_in_spans (GstElement *convolve, char **spans)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  gboolean ok = TRUE;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_timed_value_control_source_set (points, 0, 0);
  for (guint i = 0; spans[i] && ok; i++) {
    double from, to;

    ok = read_span (spans[i], &from, &to);
    if (ok) {
      gst_timed_value_control_source_set (points, from * GST_SECOND, 1);
      gst_timed_value_control_source_set (points, to * GST_SECOND, 0);
    } else {
      g_printerr ("%s: is no span of seconds, as in 0.5-1.2\n", spans[i]);
    }
  }
  ok = ok
      && gst_object_add_control_binding (GST_OBJECT (convolve),
          gst_direct_control_binding_new_absolute (GST_OBJECT (convolve), "region-active", source));
  gst_object_unref (source);
  return ok;
}

/* Plays to the end. FALSE after an error, which is printed; warnings are printed, too. */
static gboolean
play (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gboolean done = FALSE, ok = TRUE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!done) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    gboolean warning = GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING;
    GError *error = NULL;

    if (warning)
      gst_message_parse_warning (message, &error, NULL);
    else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    if (error)
      g_printerr ("%s: %s\n", GST_OBJECT_NAME (message->src), error->message);
    ok = warning || !error;
    done = !warning;
    g_clear_error (&error);
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  return ok;
}

int
main (int argc, char **argv)
{
  gboolean display = g_getenv ("DISPLAY") || g_getenv ("WAYLAND_DISPLAY"), ok;
  GstElement *pipeline, *convolve, *source;
  GError *error = NULL;
  char *description;

  gst_init (&argc, &argv);
  if (argc < 4) {
    g_printerr ("Usage: %s FILE BOXES FROM-TO...\n", argv[0]);
    return 2;
  }
  description = g_strdup_printf ("filesrc name=source ! decodebin ! cudaconvolve name=convolve apply-to=regions ! %s",
      display ? "videoconvert ! autovideosink" : "fakesink");
  pipeline = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  g_free (description);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    return 1;
  }
  convolve = gst_bin_get_by_name (GST_BIN (pipeline), "convolve");
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_object_set (source, "location", argv[1], NULL);
  g_object_set (convolve, "regions", argv[2], NULL);
  ok = cover_in_spans (convolve, argv + 3) && play (pipeline);
  gst_object_unref (source);
  gst_object_unref (convolve);
  gst_object_unref (pipeline);
  return ok ? 0 : 1;
}
