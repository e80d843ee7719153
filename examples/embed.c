/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How an application embeds cudaconvolve and changes the mask while the pipeline plays: embed [FILE]
 *
 * The mask changes twice a second, from the next frame on. Without FILE a test picture is played. A window opens
 * where there is a display; otherwise the frames are thrown away.
 */
#include <gst/gst.h>

static const char *const masks[] = { "gaussian", "sharpen", "1 2 1; 2 4 2; 1 2 1", "sobel-x", "identity" };

int
main (int argc, char **argv)
{
  gboolean display = g_getenv ("DISPLAY") || g_getenv ("WAYLAND_DISPLAY"), done = FALSE;
  GstElement *pipeline, *convolve, *source;
  GstBus *bus;
  GstMessage *message;
  GError *error = NULL;
  char *description, *debug = NULL, *variant;
  guint current = 0;
  int result = 0;

  gst_init (&argc, &argv);
  description = g_strdup_printf ("%s ! cudaconvolve name=convolve mask=%s ! %s",
      argc > 1 ? "filesrc name=source ! decodebin" : "videotestsrc num-buffers=75", masks[0],
      display ? "videoconvert ! autovideosink" : "fakesink sync=true");
  pipeline = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  g_free (description);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  convolve = gst_bin_get_by_name (GST_BIN (pipeline), "convolve");
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  if (source)
    g_object_set (source, "location", argv[1], NULL);
  gst_clear_object (&source);

  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!done) {
    message =
        gst_bus_timed_pop_filtered (bus, GST_SECOND / 2, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    if (!message) {
      g_object_get (convolve, "active-variant", &variant, NULL);
      g_print ("%s was done by the variant %s, now comes ", masks[current], variant ? variant : "(none yet)");
      g_free (variant);
      current = (current + 1) % G_N_ELEMENTS (masks);
      g_object_set (convolve, "mask", masks[current], NULL); /* from any thread, at any time */
      g_print ("mask=\"%s\"\n", masks[current]);
    } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
      /* A mask with a mistake makes such a warning, and the last good mask stays. */
      gst_message_parse_warning (message, &error, &debug);
      g_printerr ("%s: warning: %s\n%s\n", GST_OBJECT_NAME (message->src), error->message, debug ? debug : "");
    } else {
      done = TRUE;
      if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error (message, &error, &debug);
        g_printerr ("%s: %s\n%s\n", GST_OBJECT_NAME (message->src), error->message, debug ? debug : "");
        result = 1;
      }
    }
    g_clear_error (&error);
    g_clear_pointer (&debug, g_free);
    g_clear_pointer (&message, gst_message_unref);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (convolve);
  gst_object_unref (pipeline);
  return result;
}
