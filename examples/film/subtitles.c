/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream.h"

#include <string.h>

/* Replaces the entities of XML, and takes marks out where the container holds plain text. */
static char *
plain_text (const char *text, gsize length, gboolean marks)
{
  static const struct
  {
    const char *entity, character;
  } entities[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&apos;", '\'' },
    { "&#39;", '\'' } };
  GString *plain = g_string_new (NULL);

  for (const char *at = text; at < text + length && *at;) {
    const char *close = *at == '<' && !marks ? memchr (at, '>', text + length - at) : NULL;
    guint i = G_N_ELEMENTS (entities);

    if (close) {
      at = close + 1;
      continue;
    }
    if (*at == '&')
      for (i = 0; i < G_N_ELEMENTS (entities); i++)
        if (!strncmp (at, entities[i].entity, MIN (strlen (entities[i].entity), (gsize) (text + length - at))))
          break;
    if (i < G_N_ELEMENTS (entities)) {
      g_string_append_c (plain, entities[i].character);
      at += strlen (entities[i].entity);
    } else
      g_string_append_c (plain, *at++);
  }
  return g_string_free (plain, FALSE);
}

static GstPadProbeReturn
make_plain (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stream *stream = data;
  GstBuffer *old = GST_PAD_PROBE_INFO_BUFFER (info), *new;
  GstMapInfo map;
  char *text;

  if (!gst_buffer_map (old, &map, GST_MAP_READ))
    return GST_PAD_PROBE_OK;
  text = plain_text ((const char *) map.data, map.size, !stream->streams->container->iso);
  gst_buffer_unmap (old, &map);
  new = gst_buffer_new_wrapped (text, strlen (text));
  gst_buffer_copy_into (new, old, GST_BUFFER_COPY_METADATA, 0, -1);
  GST_PAD_PROBE_INFO_DATA (info) = new;
  gst_buffer_unref (old);
  return GST_PAD_PROBE_OK;
}

/* Text with marks, as GStreamer has it after reading, becomes text as files hold it. Other kinds become such text first. */
char *
subtitle_description (Stream *stream, const GstCaps *caps, GstCaps *taken)
{
  const char *name = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  const char *format = gst_structure_get_string (gst_caps_get_structure (caps, 0), "format");
  GstCaps *utf8 = gst_caps_from_string ("text/x-raw,format=utf8");
  char *description = NULL;

  /* What GStreamer does not know, its muxers refuse in the end, whatever their templates say. */
  if (!strcmp (name, "application/x-subtitle-unknown"))
    description = NULL;
  else if (stream_fits (caps, taken))
    description = g_strdup (WAIT);
  else if (stream_fits (utf8, taken)) {
    if (!strcmp (name, "text/x-raw") && !g_strcmp0 (format, "pango-markup"))
      description = g_strdup (WAIT " ! capssetter name=plain replace=true caps=text/x-raw,format=utf8");
    else if (!strcmp (name, "application/x-ssa") || !strcmp (name, "application/x-ass"))
      description = g_strdup (WAIT " ! ssaparse ! capssetter name=plain replace=true caps=text/x-raw,format=utf8");
    else if (g_str_has_prefix (name, "application/x-subtitle") && stream->streams->matroska)
      /* Matroska holds the texts alone, and no file of subtitles that could be parsed. */
      description = g_strdup (WAIT " ! capssetter name=plain replace=true caps=text/x-raw,format=utf8");
    else if (g_str_has_prefix (name, "application/x-subtitle"))
      description = g_strdup (WAIT " ! subparse ! capssetter name=plain replace=true caps=text/x-raw,format=utf8");
  }
  gst_caps_unref (utf8);
  return description;
}

/*
 * Puts an empty text before one that begins later than the film. GStreamer's muxer would write an empty edit there, behind which
 * FFmpeg takes the last text for shorter than it is.
 */
static GstPadProbeReturn
begin_empty (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstSegment whole;
  GstBuffer *empty;
  GstClockTime begin;

  gst_pad_remove_probe (pad, GST_PAD_PROBE_INFO_ID (info));
  if (!event)
    return GST_PAD_PROBE_OK;
  gst_event_parse_segment (event, &segment);
  begin = gst_segment_to_running_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info)));
  if (GST_CLOCK_TIME_IS_VALID (begin) && begin > 0) {
    gst_segment_init (&whole, GST_FORMAT_TIME);
    empty = gst_buffer_new ();
    GST_BUFFER_PTS (empty) = 0;
    /* The muxer fills the rest with an empty text of its own, which nothing would be left for otherwise. */
    GST_BUFFER_DURATION (empty) = begin / 2;
    gst_pad_push_event (pad, gst_event_new_segment (&whole));
    gst_pad_push (pad, empty);
    gst_pad_push_event (pad, gst_event_ref (event));
  }
  gst_event_unref (event);
  return GST_PAD_PROBE_OK;
}

void
subtitle_watch (Stream *stream, GstElement *bin)
{
  GstElement *setter = gst_bin_get_by_name (GST_BIN (bin), "plain");
  GstPad *pad;

  if (stream->streams->container->iso) {
    pad = gst_element_get_static_pad (bin, "src");
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, begin_empty, NULL, NULL);
    gst_object_unref (pad);
  }
  if (!setter)
    return;
  pad = gst_element_get_static_pad (setter, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, make_plain, stream, NULL);
  if (stream->streams->container->iso)
    stream->outcome = g_strdup ("kept as text without styles");
  gst_object_unref (pad);
  gst_object_unref (setter);
}
