/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream.h"

#include <string.h>

#define EARLIER (500 * GST_MSECOND)

static gboolean
is_picture_or_place (const char *tag)
{
  return !strcmp (tag, GST_TAG_IMAGE) || !strcmp (tag, GST_TAG_PREVIEW_IMAGE) || !strcmp (tag, GST_TAG_ATTACHMENT)
      || g_str_has_prefix (tag, "geo-location");
}

/* The turn that a tag asks for, which the program makes itself. */
static GstVideoOrientationMethod
turn_of (const GstTagList *tags)
{
  static const struct
  {
    const char *name;
    GstVideoOrientationMethod method;
  } turns[] = {
    { "rotate-90", GST_VIDEO_ORIENTATION_90R },
    { "rotate-180", GST_VIDEO_ORIENTATION_180 },
    { "rotate-270", GST_VIDEO_ORIENTATION_90L },
    { "flip-rotate-0", GST_VIDEO_ORIENTATION_HORIZ },
    { "flip-rotate-90", GST_VIDEO_ORIENTATION_UL_LR },
    { "flip-rotate-180", GST_VIDEO_ORIENTATION_VERT },
    { "flip-rotate-270", GST_VIDEO_ORIENTATION_UR_LL },
  };
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;
  char *name;

  if (!gst_tag_list_get_string (tags, GST_TAG_IMAGE_ORIENTATION, &name))
    return method;
  for (guint i = 0; i < G_N_ELEMENTS (turns); i++)
    if (!strcmp (turns[i].name, name))
      method = turns[i].method;
  g_free (name);
  return method;
}

/* The demuxers' ids of streams end with the number of the track, behind which Matroska has another one. */
Track
stream_track (const Stream *stream)
{
  char *id = gst_pad_get_stream_id (stream->origin), *slash = id ? strrchr (id, '/') : NULL;
  const guint64 number = slash ? g_ascii_strtoull (slash + 1, NULL, 10) : 0;

  g_free (id);
  return origin_track (stream->streams->origin, number);
}

/* What the new file is to say of the stream. Names of codecs and rates of the old one would be wrong. */
static GstEvent *
new_tags (Stream *stream, GstEvent *event)
{
  Streams *streams = stream->streams;
  const Track track = stream_track (stream);
  GstTagList *tags, *copy;
  GstEvent *made;

  gst_event_parse_tag (event, &tags);
  copy = gst_tag_list_copy (tags);
  gst_tag_list_remove_tag (copy, GST_TAG_CONTAINER_FORMAT);
  if (stream == streams->main) {
    if (gst_tag_list_get_tag_size (copy, GST_TAG_IMAGE_ORIENTATION))
      streams->turn = turn_of (copy);
    gst_tag_list_remove_tag (copy, GST_TAG_IMAGE_ORIENTATION);
    gst_tag_list_remove_tag (copy, GST_TAG_BITRATE);
    gst_tag_list_remove_tag (copy, GST_TAG_MAXIMUM_BITRATE);
    gst_tag_list_remove_tag (copy, GST_TAG_MINIMUM_BITRATE);
    gst_tag_list_remove_tag (copy, GST_TAG_NOMINAL_BITRATE);
    gst_tag_list_remove_tag (copy, GST_TAG_VIDEO_CODEC);
  }
  /* The muxer of MP4 takes the name of a track for the title of the film. Such names are written later. */
  if (gst_tag_list_get_scope (copy) == GST_TAG_SCOPE_STREAM && streams->container->iso)
    gst_tag_list_remove_tag (copy, GST_TAG_TITLE);
  else if (gst_tag_list_get_scope (copy) == GST_TAG_SCOPE_STREAM && track.name)
    gst_tag_list_add (copy, GST_TAG_MERGE_REPLACE, GST_TAG_TITLE, track.name, NULL);
  /* Matroska reads a missing language as English. */
  if (gst_tag_list_get_scope (copy) == GST_TAG_SCOPE_STREAM && !streams->container->iso
      && !gst_tag_list_get_tag_size (copy, GST_TAG_LANGUAGE_CODE))
    gst_tag_list_add (copy, GST_TAG_MERGE_REPLACE, GST_TAG_LANGUAGE_CODE, "und", NULL);
  if (streams_hide (streams))
    for (int i = gst_tag_list_n_tags (copy) - 1; i >= 0; i--) {
      const char *name = gst_tag_list_nth_tag_name (copy, i);

      if (is_picture_or_place (name)) {
        gst_tag_list_remove_tag (copy, name);
        streams->left_out_pictures = TRUE;
      }
    }
  /* Matroska's muxer writes no pictures, and none writes other attachments. */
  if (gst_tag_list_get_tag_size (copy, GST_TAG_ATTACHMENT)
      || (!streams->container->iso && gst_tag_list_get_tag_size (copy, GST_TAG_IMAGE)))
    streams->left_out_attachments = TRUE;
  made = gst_event_new_tag (copy);
  gst_event_set_seqnum (made, gst_event_get_seqnum (event));
  return made;
}

static void
take_toc (Streams *streams, GstEvent *event)
{
  GstToc *toc;

  gst_event_parse_toc (event, &toc, NULL);
  g_mutex_lock (&streams->lock);
  if (!streams->chapters)
    streams->chapters = chapters_from_toc (toc);
  g_mutex_unlock (&streams->lock);
  gst_toc_unref (toc);
}

/*
 * matroskademux begins with the time of the first data of the first stream, and begins anew where another stream has earlier
 * data. One frame would then come too early. Such differences are below EARLIER.
 */
static GstEvent *
from_zero (GstEvent *event)
{
  GstSegment segment;
  GstEvent *made;

  gst_event_copy_segment (event, &segment);
  if (segment.format != GST_FORMAT_TIME || segment.base || segment.time || segment.start > EARLIER)
    return event;
  segment.start = 0;
  made = gst_event_new_segment (&segment);
  gst_event_set_seqnum (made, gst_event_get_seqnum (event));
  gst_event_unref (event);
  return made;
}

static GstEvent *
new_caps (const Stream *stream, GstEvent *event)
{
  GstEvent *made;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  caps = shape_keep (stream, gst_caps_ref (caps));
  made = gst_event_new_caps (caps);
  gst_event_set_seqnum (made, gst_event_get_seqnum (event));
  gst_caps_unref (caps);
  gst_event_unref (event);
  return made;
}

static GstPadProbeReturn
event_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stream *stream = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);

  if (GST_EVENT_TYPE (event) == GST_EVENT_TOC)
    take_toc (stream->streams, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT && stream->streams->matroska)
    GST_PAD_PROBE_INFO_DATA (info) = from_zero (event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    GST_PAD_PROBE_INFO_DATA (info) = new_caps (stream, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_TAG) {
    GST_PAD_PROBE_INFO_DATA (info) = new_tags (stream, event);
    gst_event_unref (event);
  }
  return GST_PAD_PROBE_OK;
}

/* Tags that came before the probe; what they say goes through the probe again when the pad is linked. */
gboolean
stream_see_sticky (GstPad *pad, GstEvent **event, gpointer data)
{
  Stream *stream = data;

  if (GST_EVENT_TYPE (*event) == GST_EVENT_TOC)
    take_toc (stream->streams, *event);
  else if (GST_EVENT_TYPE (*event) == GST_EVENT_TAG)
    gst_event_unref (new_tags (stream, *event));
  return TRUE;
}

void
stream_watch_tags (Stream *stream, GstPad *pad)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, event_comes, stream, NULL);
}
