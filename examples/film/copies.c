/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream.h"

#include <string.h>

/* Takes a bin into the pipeline, between two pads. */
gboolean
streams_add_bin (Streams *streams, GstPad *from, GstElement *bin, GstPad *to)
{
  GstPad *sink, *src;
  gboolean ok;

  gst_bin_add (streams->pipeline, bin);
  sink = gst_element_get_static_pad (bin, "sink");
  src = gst_element_get_static_pad (bin, "src");
  ok = (!to || gst_pad_link (src, to) == GST_PAD_LINK_OK) && gst_element_sync_state_with_parent (bin)
      && gst_pad_link (from, sink) == GST_PAD_LINK_OK;
  gst_object_unref (sink);
  g_clear_pointer (&src, gst_object_unref);
  return ok;
}

GstElement *
streams_make_bin (const char *description)
{
  return gst_parse_bin_from_description_full (description, TRUE, NULL, GST_PARSE_FLAG_FATAL_ERRORS, NULL);
}

/* A stream that is left out goes to a fakesink, because a demuxer stops where one of its pads is not linked. */
void
stream_leave_out (Stream *stream, const char *why)
{
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  GstPad *pad = gst_element_get_static_pad (sink, "sink");

  g_object_set (sink, "async", FALSE, "sync", FALSE, NULL);
  gst_bin_add (stream->streams->pipeline, sink);
  gst_element_sync_state_with_parent (sink);
  gst_pad_link (stream->pad, pad);
  gst_object_unref (pad);
  stream->outcome = g_strconcat ("left out: ", why, NULL);
}

/* The parser that can bring a stream of these caps into another form, or NULL. */
static char *
parser_for (const GstCaps *caps)
{
  GList *all = gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_PARSER, GST_RANK_MARGINAL);
  GList *some = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE);
  char *name = some ? g_strdup (GST_OBJECT_NAME (some->data)) : NULL;

  gst_plugin_feature_list_free (some);
  gst_plugin_feature_list_free (all);
  return name;
}

/* The caps without what a parser can change. */
static GstCaps *
any_form_of (const GstCaps *caps)
{
  GstCaps *copy = gst_caps_copy (caps);

  for (guint i = 0; i < gst_caps_get_size (copy); i++)
    gst_structure_remove_fields (gst_caps_get_structure (copy, i), "stream-format", "alignment", "framed", "parsed",
        "codec_data", "streamheader", NULL);
  return copy;
}

gboolean
stream_fits (const GstCaps *caps, GstCaps *taken)
{
  return taken && gst_caps_can_intersect (caps, taken);
}

/* The description of a bin that copies a stream, or NULL where the container does not hold it. */
static char *
copy_description (const Streams *streams, const GstCaps *caps, GstCaps *taken)
{
  const char *name = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  char *parser = NULL, *description = NULL;
  GstCaps *any = any_form_of (caps);

  if (stream_fits (caps, taken) && !streams->container->iso)
    description = g_strdup (WAIT);
  else if (stream_fits (any, taken) && (parser = parser_for (caps))) {
    /* MP4 needs times of decoding, which Matroska does not have. */
    const char *stamper = !strcmp (name, "video/x-h264") ? "h264timestamper"
        : !strcmp (name, "video/x-h265")                 ? "h265timestamper"
                                                         : NULL;
    GstElementFactory *factory = stamper && streams->container->iso ? gst_element_factory_find (stamper) : NULL;

    description = g_strdup_printf (WAIT " ! %s%s%s", parser, factory ? " ! " : "", factory ? stamper : "");
    g_clear_pointer (&factory, gst_object_unref);
  } else if (stream_fits (caps, taken))
    description = g_strdup (WAIT);
  gst_caps_unref (any);
  g_free (parser);
  return description;
}

/* Copies a stream that is not the video, or says why not. */
gboolean
stream_copy (Stream *stream)
{
  Streams *streams = stream->streams;
  GstCaps *caps = stream_caps (stream), *taken = container_takes (streams->container, stream_kinds[stream->kind].pad);
  char *description = NULL, *why = g_strdup_printf ("%s holds no such stream", streams->container->title);
  GstElement *bin = NULL;
  GstPad *to;
  gboolean ok = TRUE;

  if (stream->kind == VIDEO && streams_hide (streams))
    stream_leave_out (stream, "no box covers it");
  else if (stream->kind == DATA || !taken)
    stream_leave_out (stream, why);
  else if (stream->kind == SUBTITLES)
    description = subtitle_description (stream, caps, taken);
  else
    description = copy_description (streams, caps, taken);
  if (!stream->outcome && description)
    bin = streams_make_bin (description);
  if (bin) {
    subtitle_watch (stream, bin);
    to = streams_request_pad (streams, stream->kind);
    ok = to && streams_add_bin (streams, stream->pad, bin, to);
    stream->kept = stream->written = TRUE;
    g_clear_pointer (&to, gst_object_unref);
  } else if (!stream->outcome && stream->kind == SOUND) {
    to = streams_request_pad (streams, SOUND);
    ok = to && sound_encode (stream, to);
    stream->written = TRUE;
    g_clear_pointer (&to, gst_object_unref);
  } else if (!stream->outcome)
    stream_leave_out (stream, why);
  g_clear_pointer (&taken, gst_caps_unref);
  gst_caps_unref (caps);
  g_free (description);
  g_free (why);
  return ok;
}
