/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "branches.h"

#define WINDOW \
  "queue leaky=downstream max-size-buffers=2 max-size-bytes=0 max-size-time=0 ! videoconvert ! videoscale ! "

GstElement *
make_branch (const char *first, const char *rest)
{
  char *description = g_strconcat (first, rest, NULL);
  GError *error = NULL;
  GstElement *branch =
      gst_parse_bin_from_description_full (description, TRUE, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);

  g_free (description);
  if (error) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
  }
  return branch;
}

static void
do_not_sync (const GValue *item, gpointer data)
{
  GObject *sink = g_value_get_object (item);

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (sink), "sync"))
    g_object_set (sink, "sync", FALSE, NULL);
}

GstElement *
open_window (const char *sink)
{
  GstElement *window = make_branch (WINDOW, sink);
  GstIterator *sinks;

  if (!window)
    return NULL;
  sinks = gst_bin_iterate_sinks (GST_BIN (window));
  gst_iterator_foreach (sinks, do_not_sync, NULL);
  gst_iterator_free (sinks);
  gst_object_ref_sink (window);
  if (gst_element_set_state (window, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE) {
    gst_element_set_state (window, GST_STATE_NULL);
    g_clear_pointer (&window, gst_object_unref);
  }
  return window;
}

/* Not autovideosink: on a display that cannot be opened it tries sinks that end the program. */
GstElement *
open_any_window (void)
{
  static const char *const sinks[] = { "xvimagesink", "glimagesink", "ximagesink", "waylandsink" };
  GstElement *window = NULL;

  for (guint i = 0; !window && i < G_N_ELEMENTS (sinks); i++) {
    GstElementFactory *factory = gst_element_factory_find (sinks[i]);

    if (factory)
      window = open_window (sinks[i]);
    g_clear_pointer (&factory, gst_object_unref);
  }
  if (!window)
    g_printerr ("No window could be opened, so the film is not shown.\n");
  return window;
}
