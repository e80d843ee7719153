/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream.h"

#include <string.h>

#include "cuts.h"

#define NO_MORE "cudaconvolve-film-no-more" /* data of a demuxer that has found all streams */
#define MOST_HELD (32u << 20)               /* bytes of a stream while others are looked for */
#define LONGEST_HELD (5 * GST_SECOND)
#define MOST_WAITS 10000 /* a second; parsebin needs far less than a millisecond */

/*
 * Whether all streams are there: each demuxer has said so, and parsebin has brought the pads of all of them. A demuxer of FLV finds
 * sound only behind the first pictures.
 */
static gboolean
is_complete (const Streams *streams)
{
  guint pads = 0;

  if (streams->list->len == 0)
    return FALSE;
  for (guint i = 0; i < streams->demuxers->len; i++) {
    pads += GST_ELEMENT (streams->demuxers->pdata[i])->numsrcpads;
    if (!g_object_get_data (streams->demuxers->pdata[i], NO_MORE))
      return FALSE;
  }
  for (guint i = 0; i < streams->list->len; i++)
    if (!gst_pad_has_current_caps (((Stream *) streams->list->pdata[i])->origin))
      return FALSE;
  /* A demuxer behind another one takes one of its pads. */
  return streams->demuxers->len == 0 || pads <= streams->list->len + streams->demuxers->len - 1;
}

/* Links the streams if they are all there and data has come, or if waiting has to end. Afterwards all of them flow. */
static void
link_if (Streams *streams, gboolean now)
{
  g_mutex_lock (&streams->linking);
  if (!streams->linked && (now || (streams->data && is_complete (streams)))) {
    streams_link (streams);
    streams->linked = TRUE;
    for (guint i = 0; i < streams->list->len; i++) {
      Stream *stream = g_ptr_array_index (streams->list, i);

      /* Copies wait for the video in the muxer, however far apart they lie in the file. */
      if (stream != streams->main)
        g_object_set (stream->queue, "max-size-bytes", 0, "max-size-time", (guint64) 0, NULL);
      gst_pad_remove_probe (stream->pad, stream->hold);
    }
  }
  g_mutex_unlock (&streams->linking);
}

static GstPadProbeReturn
data_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Streams *streams = data;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    const GstEventType type = GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info));

    if (type != GST_EVENT_GAP && type != GST_EVENT_EOS)
      return GST_PAD_PROBE_PASS;
  }
  streams->data = TRUE;
  link_if (streams, FALSE);
  return GST_PAD_PROBE_OK;
}

/* At the end of a stream nothing is left to wait for. */
static GstPadProbeReturn
end_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
    link_if (data, TRUE);
  return GST_PAD_PROBE_OK;
}

static void
queue_is_full (GstElement *queue, gpointer data)
{
  link_if (data, TRUE);
}

static void
no_more_pads (GstElement *demuxer, gpointer data)
{
  g_object_set_data (G_OBJECT (demuxer), NO_MORE, demuxer);
  link_if (data, FALSE);
}

/* Puts a queue behind a stream, and holds the stream there. */
static void
hold (Stream *stream)
{
  Streams *streams = stream->streams;
  GstPad *sink;

  stream->queue = gst_element_factory_make ("queue", NULL);
  g_object_set (stream->queue, "max-size-buffers", 0, "max-size-bytes", MOST_HELD, "max-size-time",
      (guint64) LONGEST_HELD, NULL);
  g_signal_connect (stream->queue, "overrun", G_CALLBACK (queue_is_full), streams);
  stream->pad = gst_element_get_static_pad (stream->queue, "src");
  stream->hold = gst_pad_add_probe (stream->pad,
      GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, data_comes, streams,
      NULL);
  gst_bin_add (streams->pipeline, stream->queue);
  gst_element_sync_state_with_parent (stream->queue);
  sink = gst_element_get_static_pad (stream->queue, "sink");
  gst_pad_link (stream->origin, sink);
  gst_object_unref (sink);
}

static GstPadProbeReturn
sound_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const GstClockTime delay = ((Stream *) data)->delay;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  if (!GST_BUFFER_PTS_IS_VALID (buffer))
    return GST_PAD_PROBE_OK;
  if (GST_BUFFER_PTS (buffer) < delay)
    return GST_PAD_PROBE_DROP;
  buffer = gst_buffer_make_writable (buffer);
  GST_BUFFER_PTS (buffer) -= delay;
  if (GST_BUFFER_DTS_IS_VALID (buffer))
    GST_BUFFER_DTS (buffer) -= MIN (delay, GST_BUFFER_DTS (buffer));
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

/*
 * A coder of AAC puts some sound in front, which newer versions of FFmpeg state in Matroska. matroskademux takes it off where the
 * sound is Opus, and otherwise the sound would be late. Times of Matroska are whole milliseconds.
 */
static void
take_delay_off (Stream *stream)
{
  GstCaps *caps;

  stream->delay = stream_track (stream).delay / GST_MSECOND * GST_MSECOND;
  if (!stream->delay)
    return;
  caps = stream_caps (stream);
  if (gst_caps_is_fixed (caps) && !gst_structure_has_name (gst_caps_get_structure (caps, 0), "audio/x-opus")
      && stream_kind_of (gst_structure_get_name (gst_caps_get_structure (caps, 0))) == SOUND)
    gst_pad_add_probe (stream->origin, GST_PAD_PROBE_TYPE_BUFFER, sound_comes, stream, NULL);
  gst_caps_unref (caps);
}

static void
stream_found (GstElement *parse, GstPad *pad, gpointer data)
{
  Streams *streams = data;
  Stream *stream = g_new0 (Stream, 1);

  stream->streams = streams;
  stream->origin = gst_object_ref (pad);
  stream_watch_tags (stream, pad);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, end_comes, streams, NULL);
  cuts_take_off (pad, streams->surplus);
  take_delay_off (stream);
  g_mutex_lock (&streams->linking);
  g_ptr_array_add (streams->list, stream);
  /* A stream that comes later, as in recordings of television, finds a film that has begun. */
  if (streams->linked) {
    stream->pad = gst_object_ref (pad);
    stream_name (stream);
    stream_leave_out (stream, "it begins later than the film");
  } else
    hold (stream);
  g_mutex_unlock (&streams->linking);
  link_if (streams, FALSE);
}

/*
 * A parser would take the styles out of subtitles, and cannot read all that Matroska holds. What a parser has read goes out,
 * because parsebin would leave it out where no decoder is installed, and copies need none.
 */
static gboolean
to_be_parsed (GstElement *parse, GstPad *pad, GstCaps *caps, gpointer data)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  gboolean parsed = FALSE;

  shape_note (data, pad, structure);
  if (!gst_structure_get_boolean (structure, "parsed", &parsed))
    gst_structure_get_boolean (structure, "framed", &parsed);
  return stream_kind_of (gst_structure_get_name (structure)) != SUBTITLES && !(parsed && gst_caps_is_fixed (caps));
}

/*
 * parsebin drops the errors of an element until it has taken the element, and unlocks the state of the element last. A
 * demuxer reads in a thread of its own, and what it says of a broken film would be lost if it were faster.
 */
static GstPadProbeReturn
bytes_come (GstPad *pad, GstPadProbeInfo *info, gpointer taker)
{
  GstElement *element = gst_pad_get_parent_element (pad);

  if (!element || g_thread_self () == taker) {
    g_clear_pointer (&element, gst_object_unref);
    return GST_PAD_PROBE_OK;
  }
  for (guint i = 0; i < MOST_WAITS && gst_element_is_locked_state (element) && !GST_PAD_IS_FLUSHING (pad); i++)
    g_usleep (100);
  gst_object_unref (element);
  return GST_PAD_PROBE_REMOVE;
}

/* To be called in the thread in which parsebin takes the element. */
static void
keep_errors (GstElement *element)
{
  GstPad *pad = gst_element_get_static_pad (element, "sink");

  if (!pad)
    return;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_PULL | GST_PAD_PROBE_TYPE_BUFFER, bytes_come, g_thread_self (), NULL);
  gst_object_unref (pad);
}

static void
element_added (GstBin *parse, GstElement *element, gpointer data)
{
  Streams *streams = data;
  GstElementFactory *factory = gst_element_get_factory (element);

  keep_errors (element);
  if (!factory)
    return;
  if (!strcmp (GST_OBJECT_NAME (factory), "matroskademux"))
    streams->matroska = TRUE;
  if (gst_element_factory_list_is_type (factory, GST_ELEMENT_FACTORY_TYPE_DEMUXER)) {
    g_mutex_lock (&streams->linking);
    g_ptr_array_add (streams->demuxers, gst_object_ref (element));
    g_mutex_unlock (&streams->linking);
    g_signal_connect (element, "no-more-pads", G_CALLBACK (no_more_pads), streams);
  }
}

void
streams_wait (Streams *streams, GstElement *parse)
{
  g_signal_connect (parse, "pad-added", G_CALLBACK (stream_found), streams);
  g_signal_connect (parse, "element-added", G_CALLBACK (element_added), streams);
  g_signal_connect (parse, "autoplug-continue", G_CALLBACK (to_be_parsed), streams);
}
