/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream.h"

#include "encoder.h"

static void
sound_decoded (GstElement *decode, GstPad *pad, gpointer data)
{
  GstElement *bin = data;
  GstPad *sink = gst_element_get_static_pad (bin, "sink");

  if (!gst_pad_is_linked (sink))
    gst_pad_link (pad, sink);
  gst_object_unref (sink);
}

gboolean
sound_encode (Stream *stream, GstPad *to)
{
  Streams *streams = stream->streams;
  const char *title;
  char *description = encoder_for_sound (streams->container, &title);
  GstElement *decode = gst_element_factory_make ("decodebin", NULL), *bin, *queue;
  GstPad *src, *sink, *first;
  gboolean ok;

  if (!description)
    return FALSE;
  bin = streams_make_bin (description);
  g_free (description);
  if (!bin)
    return FALSE;
  queue = streams_make_bin (WAIT);
  gst_bin_add_many (streams->pipeline, queue, decode, bin, NULL);
  src = gst_element_get_static_pad (bin, "src");
  sink = gst_element_get_static_pad (decode, "sink");
  first = gst_element_get_static_pad (queue, "src");
  g_signal_connect (decode, "pad-added", G_CALLBACK (sound_decoded), bin);
  ok = gst_pad_link (src, to) == GST_PAD_LINK_OK && gst_pad_link (first, sink) == GST_PAD_LINK_OK
      && gst_element_sync_state_with_parent (bin) && gst_element_sync_state_with_parent (decode)
      && gst_element_sync_state_with_parent (queue);
  gst_object_unref (first);
  gst_object_unref (sink);
  first = gst_element_get_static_pad (queue, "sink");
  ok = ok && gst_pad_link (stream->pad, first) == GST_PAD_LINK_OK;
  gst_object_unref (first);
  gst_object_unref (src);
  stream->outcome =
      g_strdup_printf ("encoded anew as %s: %s does not hold it as it is", title, streams->container->title);
  return ok;
}
