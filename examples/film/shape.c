/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shape of pixels. Both the container of a film and its pictures can state a pixel-aspect-ratio. Where they disagree, that of
 * the pictures counts, as in players. But 1/1 in the caps behind a decoder can also mean that the pictures state nothing (as
 * GStreamer 1.26 gives for JPEG), so then that of the container counts.
 */
#include "stream.h"

#define PIXEL_ASPECT_RATIO "pixel-aspect-ratio"

static void
value_free (gpointer data)
{
  g_value_unset (data);
  g_free (data);
}

void
shape_note (Streams *streams, GstPad *pad, const GstStructure *structure)
{
  const GValue *stated = gst_structure_get_value (structure, PIXEL_ASPECT_RATIO);
  char *id = stated && GST_VALUE_HOLDS_FRACTION (stated) ? gst_pad_get_stream_id (pad) : NULL;

  if (!id)
    return;
  g_mutex_lock (&streams->lock);
  if (!streams->shapes)
    streams->shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, value_free);
  if (!g_hash_table_contains (streams->shapes, id)) { /* the demuxer's pad, which comes before those of parsers */
    GValue *copy = g_new0 (GValue, 1);

    g_value_init (copy, GST_TYPE_FRACTION);
    g_value_copy (stated, copy);
    g_hash_table_insert (streams->shapes, g_strdup (id), copy);
  }
  g_mutex_unlock (&streams->lock);
  g_free (id);
}

GstCaps *
shape_keep (const Stream *stream, GstCaps *caps)
{
  Streams *streams = stream->streams;
  int n = 1, d = 1;
  char *id;

  gst_structure_get_fraction (gst_caps_get_structure (caps, 0), PIXEL_ASPECT_RATIO, &n, &d);
  /* Anything but 1/1 was stated by the pictures. */
  if (n != d || !gst_caps_is_fixed (caps) || !(id = gst_pad_get_stream_id (stream->origin)))
    return caps;
  g_mutex_lock (&streams->lock);
  if (streams->shapes && g_hash_table_contains (streams->shapes, id)) {
    caps = gst_caps_make_writable (caps);
    gst_caps_set_value (caps, PIXEL_ASPECT_RATIO, g_hash_table_lookup (streams->shapes, id));
  }
  g_mutex_unlock (&streams->lock);
  g_free (id);
  return caps;
}
