/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "streams.h"

#include <string.h>

#include <gst/pbutils/pbutils.h>
#include <gst/video/video.h>

#include "cuts.h"
#include "encoder.h"
#include "gif.h"
#include "input.h"
#include "keyframes.h"
#include "lost.h"
#include "output.h"
#include "play.h"
#include "progress.h"
#include "say.h"

/* Encoded frames wait here for the other streams, however far apart the streams lie in the file. */
#define WAIT "queue max-size-time=0 max-size-bytes=0 max-size-buffers=0"
#define HD 720 /* lines, from which on GStreamer takes the matrix of BT.709 */
#define EARLIER (500 * GST_MSECOND)
#define NO_MORE "cudaconvolve-film-no-more" /* data of a demuxer that has found all streams */
#define MOST_HELD (32u << 20)               /* bytes of a stream while others are looked for */
#define LONGEST_HELD (5 * GST_SECOND)
#define FINEST 90000 /* ticks in a second, at least, of an MP4 file's clock */

typedef enum
{
  VIDEO,
  SOUND,
  SUBTITLES,
  DATA
} Kind;

static const struct
{
  const char *name, *pad; /* of the muxer */
} kinds[] = { { "video", "video_%u" }, { "sound", "audio_%u" }, { "subtitles", "subtitle_%u" }, { "data", "" } };

typedef struct
{
  Streams *streams;
  GstPad *origin;    /* of parsebin */
  GstElement *queue; /* behind it, in which the stream waits until all are there; NULL for one that came too late */
  GstPad *pad;       /* where the stream goes on: the queue's */
  gulong hold;       /* the probe there, which lets no data go */
  Kind kind;
  Track track;      /* what the file says of it */
  char *title;      /* such as "sound 2 (MPEG-4 AAC, de)" */
  char *outcome;    /* what became of it, or NULL */
  gboolean kept;    /* as it was */
  gboolean written; /* goes into the new file, as it was or not */
} Stream;

struct _Streams
{
  const Options *options;
  const Container *container;
  const Origin *origin;
  GstBin *pipeline;
  GstElement *source, *mux, *convolve;
  GstClockTime surplus;
  GPtrArray *list; /* Stream, in the order of the file */
  guint counts[G_N_ELEMENTS (kinds)];
  Stream *main;      /* the video that is convolved */
  GstPad *mux_main;  /* where that video goes */
  guint64 encoded;   /* frames that went there */
  gboolean matroska; /* is what the film is read from */
  GstVideoOrientationMethod turn;
  gboolean left_out_pictures;    /* because they are not covered */
  gboolean left_out_attachments; /* because the muxer writes none */
  guint pictures;                /* for the streaming thread, as what follows */
  Lost lost;
  int width, height;             /* of the first frame */
  int other_width, other_height; /* of the first one that has another size, or 0 */

  GMutex linking;      /* of what follows, and of the list, until the streams are linked */
  GPtrArray *demuxers; /* inside parsebin */
  gboolean data, linked;
  GMutex lock; /* of what follows, which streams of several threads bring */
  GstClockTime end;
  Chapters *chapters;
};

static void
stream_free (gpointer data)
{
  Stream *stream = data;

  gst_object_unref (stream->origin);
  gst_object_unref (stream->pad);
  g_free (stream->title);
  g_free (stream->outcome);
  g_free (stream);
}

/* Whether boxes hide something. What they do not cover, such as a cover picture, must not show it. */
static gboolean
hides (const Streams *streams)
{
  return streams->options->boxes || streams->options->cover;
}

/* --- tags and chapters --- */

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
static Track
track_of (const Stream *stream)
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
  const Track track = track_of (stream);
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
  if (hides (streams))
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

static GstPadProbeReturn
event_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stream *stream = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);

  if (GST_EVENT_TYPE (event) == GST_EVENT_TOC)
    take_toc (stream->streams, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT && stream->streams->matroska)
    GST_PAD_PROBE_INFO_DATA (info) = from_zero (event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_TAG) {
    GST_PAD_PROBE_INFO_DATA (info) = new_tags (stream, event);
    gst_event_unref (event);
  }
  return GST_PAD_PROBE_OK;
}

/* Tags that came before the probe; what they say goes through the probe again when the pad is linked. */
static gboolean
see_sticky (GstPad *pad, GstEvent **event, gpointer data)
{
  Stream *stream = data;

  if (GST_EVENT_TYPE (*event) == GST_EVENT_TOC)
    take_toc (stream->streams, *event);
  else if (GST_EVENT_TYPE (*event) == GST_EVENT_TAG)
    gst_event_unref (new_tags (stream, *event));
  return TRUE;
}

/* --- streams that are copied --- */

/* Takes a bin into the pipeline, between two pads. */
static gboolean
add_bin (Streams *streams, GstPad *from, GstElement *bin, GstPad *to)
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

static GstElement *
make_bin (const char *description)
{
  return gst_parse_bin_from_description_full (description, TRUE, NULL, GST_PARSE_FLAG_FATAL_ERRORS, NULL);
}

/* What is left out still has to go somewhere, or the demuxer would stop. */
static void
leave_out (Stream *stream, const char *why)
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

static gboolean
fit (const GstCaps *caps, GstCaps *taken)
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

  if (fit (caps, taken) && !streams->container->iso)
    description = g_strdup (WAIT);
  else if (fit (any, taken) && (parser = parser_for (caps))) {
    /* MP4 needs times of decoding, which Matroska does not have. */
    const char *stamper = !strcmp (name, "video/x-h264") ? "h264timestamper"
        : !strcmp (name, "video/x-h265")                 ? "h265timestamper"
                                                         : NULL;
    GstElementFactory *factory = stamper && streams->container->iso ? gst_element_factory_find (stamper) : NULL;

    description = g_strdup_printf (WAIT " ! %s%s%s", parser, factory ? " ! " : "", factory ? stamper : "");
    g_clear_pointer (&factory, gst_object_unref);
  } else if (fit (caps, taken))
    description = g_strdup (WAIT);
  gst_caps_unref (any);
  g_free (parser);
  return description;
}

/* --- subtitles --- */

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
static char *
subtitle_description (Stream *stream, const GstCaps *caps, GstCaps *taken)
{
  const char *name = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  const char *format = gst_structure_get_string (gst_caps_get_structure (caps, 0), "format");
  GstCaps *utf8 = gst_caps_from_string ("text/x-raw,format=utf8");
  char *description = NULL;

  /* What GStreamer does not know, its muxers refuse in the end, whatever their templates say. */
  if (!strcmp (name, "application/x-subtitle-unknown"))
    description = NULL;
  else if (fit (caps, taken))
    description = g_strdup (WAIT);
  else if (fit (utf8, taken)) {
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

static void
watch_text (Stream *stream, GstElement *bin)
{
  GstElement *setter = gst_bin_get_by_name (GST_BIN (bin), "plain");
  GstPad *pad;

  if (!setter)
    return;
  pad = gst_element_get_static_pad (setter, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, make_plain, stream, NULL);
  if (stream->streams->container->iso)
    stream->outcome = g_strdup ("kept as text without styles");
  gst_object_unref (pad);
  gst_object_unref (setter);
}

/* --- sound that is encoded --- */

static void
sound_decoded (GstElement *decode, GstPad *pad, gpointer data)
{
  GstElement *bin = data;
  GstPad *sink = gst_element_get_static_pad (bin, "sink");

  if (!gst_pad_is_linked (sink))
    gst_pad_link (pad, sink);
  gst_object_unref (sink);
}

static gboolean
encode_sound (Stream *stream, GstPad *to)
{
  Streams *streams = stream->streams;
  const char *title;
  char *description = encoder_for_sound (streams->container, &title);
  GstElement *decode = gst_element_factory_make ("decodebin", NULL), *bin, *queue;
  GstPad *src, *sink, *first;
  gboolean ok;

  if (!description)
    return FALSE;
  bin = make_bin (description);
  g_free (description);
  if (!bin)
    return FALSE;
  queue = make_bin (WAIT);
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

/* --- the video that is convolved --- */

/* A clock that counts frames of the film's rate exactly, and is fine enough for any other times. */
static void
set_clock (const Streams *streams, const GstCaps *caps)
{
  int n = 0, d = 1;

  gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &n, &d);
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (streams->mux_main), "trak-timescale"))
    g_object_set (streams->mux_main, "trak-timescale", n > 0 ? n * ((FINEST + n - 1) / n) : FINEST, NULL);
}

/* Notes where the film changes its size. */
static void
note_size (Streams *streams, const GstStructure *structure)
{
  int width = 0, height = 0;

  gst_structure_get (structure, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, NULL);
  if (streams->width == 0) {
    streams->width = width;
    streams->height = height;
  } else if ((width != streams->width || height != streams->height) && !streams->other_width) {
    streams->other_width = width;
    streams->other_height = height;
  }
}

/*
 * Films of full range that do not name their matrix: GStreamer takes such colorimetry for invalid, and the picture for one of limited
 * range. The matrix is then what GStreamer takes by default.
 */
static GstPadProbeReturn
caps_come (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Streams *streams = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstVideoColorimetry colorimetry;
  const GstStructure *structure;
  GstCaps *caps;
  char *text;
  int height = 0;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  structure = gst_caps_get_structure (caps, 0);
  note_size (streams, structure);
  if (!gst_video_colorimetry_from_string (&colorimetry, gst_structure_get_string (structure, "colorimetry"))
      || colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255 || colorimetry.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN)
    return GST_PAD_PROBE_OK;
  gst_structure_get_int (structure, "height", &height);
  colorimetry.matrix = height >= HD ? GST_VIDEO_COLOR_MATRIX_BT709 : GST_VIDEO_COLOR_MATRIX_BT601;
  text = gst_video_colorimetry_to_string (&colorimetry);
  caps = gst_caps_copy (caps);
  gst_caps_set_simple (caps, "colorimetry", G_TYPE_STRING, text, NULL);
  GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_caps (caps);
  gst_caps_unref (caps);
  gst_event_unref (event);
  g_free (text);
  return GST_PAD_PROBE_OK;
}

/* A file of one picture takes no second one. */
static GstPadProbeReturn
picture_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Streams *streams = data;

  if (streams->pictures++ == 0)
    return GST_PAD_PROBE_OK;
  play_fail (GST_ELEMENT (streams->pipeline),
      "holds more than one picture; give the output a name such as frames/%05d.png, or one that ends in .mp4");
  return GST_PAD_PROBE_DROP;
}

/*
 * Where fields and whole frames are mixed, as MPEG-2 says of itself, caps do not tell which field comes first. Encoders take the
 * bottom one then, and broadcasts have the top one first.
 */
static GstPadProbeReturn
encoder_caps_come (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  if (g_strcmp0 (gst_structure_get_string (gst_caps_get_structure (caps, 0), "interlace-mode"), "mixed"))
    return GST_PAD_PROBE_OK;
  caps = gst_caps_copy (caps);
  gst_caps_set_simple (caps, "interlace-mode", G_TYPE_STRING, "interleaved", "field-order", G_TYPE_STRING,
      "top-field-first", NULL);
  GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_caps (caps);
  gst_caps_unref (caps);
  gst_event_unref (event);
  return GST_PAD_PROBE_OK;
}

/* Frames keep the size of the first one, because most muxers take no other. Of those that have it, nothing is changed. */
static char *
front_description (const Streams *streams, const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  int width = 0, height = 0, n = 1, d = 1;
  GString *text = g_string_new ("videoconvert");

  if (gst_structure_get_int (structure, "width", &width) && gst_structure_get_int (structure, "height", &height)) {
    gst_structure_get_fraction (structure, "pixel-aspect-ratio", &n, &d);
    g_string_append_printf (text,
        " ! videoscale add-borders=true ! capsfilter caps=\"video/x-raw(ANY),width=%d,height=%d", width, height);
    if (n > 0 && d > 0)
      g_string_append_printf (text, ",pixel-aspect-ratio=%d/%d", n, d);
    g_string_append_c (text, '"');
  }
  if (streams->turn != GST_VIDEO_ORIENTATION_IDENTITY)
    g_string_append_printf (text, " ! videoflip video-direction=%d ! videoconvert", streams->turn);
  return g_string_free (text, FALSE);
}

static void
video_decoded (GstElement *decode, GstPad *pad, gpointer data)
{
  Streams *streams = data;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstPad *sink = gst_element_get_static_pad (streams->convolve, "sink"), *src = NULL;
  GstElement *front, *encode = NULL;
  GError *error = NULL;
  const Encoder *encoder = NULL;
  const char *lost = NULL;
  char *description;

  if (!caps)
    caps = gst_pad_query_caps (pad, NULL);
  if (gst_pad_is_linked (sink)
      || !g_str_has_prefix (gst_structure_get_name (gst_caps_get_structure (caps, 0)), "video/"))
    goto done;
  gst_pad_sticky_events_foreach (pad, see_sticky, streams->main);
  description = front_description (streams, caps);
  front = make_bin (description);
  g_free (description);
  if (!front) {
    play_fail (GST_ELEMENT (streams->pipeline),
        "videoflip or videoconvert is missing; install gstreamer1.0-plugins-base and -good");
    goto done;
  }
  encoder = encoder_choose (streams->container, streams->options->codec, caps, &error);
  if (encoder)
    encode = encoder_make (encoder, caps, streams->options->quality, &lost, &error);
  if (!encode || !keyframes_set (streams->options->keyframes, streams->convolve, decode, &error)) {
    play_fail (GST_ELEMENT (streams->pipeline), error->message);
    g_error_free (error);
    gst_object_unref (front);
    goto done;
  }
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, caps_come, streams, NULL);
  lost_watch_frames (&streams->lost, pad);
  gif_stamp (streams->source, pad);
  set_clock (streams, caps);
  if (streams->container->picture && !input_is_sequence (streams->options->output))
    gst_pad_add_probe (streams->mux_main, GST_PAD_PROBE_TYPE_BUFFER, picture_comes, streams, NULL);
  src = gst_element_get_static_pad (streams->convolve, "src");
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, encoder_caps_come, NULL, NULL);
  if (!add_bin (streams, src, encode, streams->mux_main) || !add_bin (streams, pad, front, sink))
    play_fail (GST_ELEMENT (streams->pipeline), "the video cannot be linked to the encoder; try --codec=NAME");
  streams->main->outcome = g_strdup_printf ("convolved, %s%s by %s%s%s", streams->turn ? "turned upright, " : "",
      encoder->title, encoder->element, lost ? "; " : "", lost ? lost : "");
done:
  g_clear_pointer (&caps, gst_caps_unref);
  g_clear_pointer (&src, gst_object_unref);
  gst_object_unref (sink);
}

static gboolean
decode_video (Stream *stream)
{
  Streams *streams = stream->streams;
  GstElement *queue = make_bin ("queue"), *decode = gst_element_factory_make ("decodebin", NULL);
  GstCaps *wanted = gst_caps_from_string ("video/x-raw(ANY)");
  gboolean ok;
  GstPad *sink;

  g_object_set (decode, "caps", wanted, NULL);
  gst_caps_unref (wanted);
  g_signal_connect (decode, "pad-added", G_CALLBACK (video_decoded), streams);
  lost_watch_packets (&streams->lost, stream->pad);
  gst_bin_add_many (streams->pipeline, queue, decode, NULL);
  sink = gst_element_get_static_pad (queue, "sink");
  ok = gst_element_link (queue, decode) && gst_element_sync_state_with_parent (decode)
      && gst_element_sync_state_with_parent (queue) && gst_pad_link (stream->pad, sink) == GST_PAD_LINK_OK;
  gst_object_unref (sink);
  return ok;
}

/* --- all streams --- */

static GstCaps *
caps_of (const Stream *stream)
{
  GstCaps *caps = gst_pad_get_current_caps (stream->origin);

  return caps ? caps : gst_pad_query_caps (stream->origin, NULL);
}

static Kind
kind_of (const char *name)
{
  if (g_str_has_prefix (name, "video/") || g_str_has_prefix (name, "image/"))
    return VIDEO;
  if (g_str_has_prefix (name, "audio/"))
    return SOUND;
  if (g_str_has_prefix (name, "text/") || g_str_has_prefix (name, "subpicture/") || g_str_has_prefix (name, "subtitle/")
      || !strcmp (name, "application/x-ssa") || !strcmp (name, "application/x-ass")
      || !strcmp (name, "application/x-usf") || g_str_has_prefix (name, "application/x-subtitle"))
    return SUBTITLES;
  return DATA;
}

static char *
title_of (Stream *stream, const GstCaps *caps)
{
  GstCaps *fixed = gst_caps_is_fixed (caps) ? gst_caps_ref ((GstCaps *) caps) : gst_caps_fixate (gst_caps_copy (caps));
  char *codec = gst_pb_utils_get_codec_description (fixed), *title;

  const char *name = gst_structure_get_name (gst_caps_get_structure (caps, 0));

  gst_caps_unref (fixed);
  title = g_strdup_printf ("%s %u (%s)", kinds[stream->kind].name, ++stream->streams->counts[stream->kind],
      !strcmp (name, "image/gst-libav-gif") ? "GIF"
          : codec                           ? codec
                                            : name);
  g_free (codec);
  return title;
}

/* Whether a stream is a picture that stands still, such as the cover of an album. */
static gboolean
is_still (const Stream *stream)
{
  GstCaps *caps = caps_of (stream);
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  int n = 0, d = 1;
  const gboolean still = g_str_has_prefix (gst_structure_get_name (structure), "image/")
      && (!gst_structure_get_fraction (structure, "framerate", &n, &d) || n == 0);

  gst_caps_unref (caps);
  return still;
}

/* The first video that moves, or else the first picture. */
static Stream *
main_of (const Streams *streams)
{
  Stream *still = NULL;

  for (guint i = 0; i < streams->list->len; i++) {
    Stream *stream = g_ptr_array_index (streams->list, i);

    if (stream->kind == VIDEO && !is_still (stream))
      return stream;
    if (stream->kind == VIDEO && !still)
      still = stream;
  }
  return still;
}

/* Notes where the film ends: where the last data of any stream does. */
static GstPadProbeReturn
note_end (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Streams *streams = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstClockTime end = GST_CLOCK_TIME_NONE;

  if (event) {
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_TIME)
      end = gst_segment_to_running_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
    gst_event_unref (event);
  }
  if (!GST_CLOCK_TIME_IS_VALID (end))
    return GST_PAD_PROBE_OK;
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    end += GST_BUFFER_DURATION (buffer);
  g_mutex_lock (&streams->lock);
  streams->end = MAX (streams->end, end);
  g_mutex_unlock (&streams->lock);
  return GST_PAD_PROBE_OK;
}

/* Where the encoder makes the file, the muxer is an element that hands on. */
static GstPad *
request_pad (Streams *streams, Kind kind)
{
  GstPad *pad = strcmp (streams->container->muxer, "identity")
      ? gst_element_request_pad_simple (streams->mux, kinds[kind].pad)
      : gst_element_get_static_pad (streams->mux, "sink");

  if (pad)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_end, streams, NULL);
  return pad;
}

/* Copies a stream that is not the video, or says why not. */
static gboolean
copy_stream (Stream *stream)
{
  Streams *streams = stream->streams;
  GstCaps *caps = caps_of (stream), *taken = container_takes (streams->container, kinds[stream->kind].pad);
  char *description = NULL, *why = g_strdup_printf ("%s holds no such stream", streams->container->title);
  GstElement *bin = NULL;
  GstPad *to;
  gboolean ok = TRUE;

  if (stream->kind == VIDEO && hides (streams))
    leave_out (stream, "no box covers it");
  else if (stream->kind == DATA || !taken)
    leave_out (stream, why);
  else if (stream->kind == SUBTITLES)
    description = subtitle_description (stream, caps, taken);
  else
    description = copy_description (streams, caps, taken);
  if (!stream->outcome && description)
    bin = make_bin (description);
  if (bin) {
    watch_text (stream, bin);
    to = request_pad (streams, stream->kind);
    ok = to && add_bin (streams, stream->pad, bin, to);
    stream->kept = stream->written = TRUE;
    g_clear_pointer (&to, gst_object_unref);
  } else if (!stream->outcome && stream->kind == SOUND) {
    to = request_pad (streams, SOUND);
    ok = to && encode_sound (stream, to);
    stream->written = TRUE;
    g_clear_pointer (&to, gst_object_unref);
  } else if (!stream->outcome)
    leave_out (stream, why);
  g_clear_pointer (&taken, gst_caps_unref);
  gst_caps_unref (caps);
  g_free (description);
  g_free (why);
  return ok;
}

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Streams *streams = data;

  streams->encoded++;
  return GST_PAD_PROBE_OK;
}

/* By now the stream has its caps, unless nothing of it has come. */
static void
name (Stream *stream)
{
  GstCaps *caps = caps_of (stream);

  stream->kind = gst_caps_get_size (caps) == 0 || gst_caps_is_any (caps)
      ? DATA
      : kind_of (gst_structure_get_name (gst_caps_get_structure (caps, 0)));
  stream->title = title_of (stream, caps);
  stream->track = track_of (stream);
  stream->track.kind = "vst"[MIN (stream->kind, SUBTITLES)];
  gst_caps_unref (caps);
}

/* All pads are there, and each of them holds its data back. */
static void
link_all (Streams *streams)
{
  for (guint i = 0; i < streams->list->len; i++)
    name (g_ptr_array_index (streams->list, i));
  streams->main = main_of (streams);
  if (!streams->main) {
    play_fail (GST_ELEMENT (streams->pipeline), "no video that can be decoded: the file has no video");
    return;
  }
  for (guint i = 0; i < streams->list->len; i++) {
    Stream *stream = g_ptr_array_index (streams->list, i);

    gst_pad_sticky_events_foreach (stream->origin, see_sticky, stream);
    /* Pads of the muxer are asked for before data comes, because the muxer begins when all that it has got are ready. */
    if (stream == streams->main) {
      streams->mux_main = request_pad (streams, VIDEO);
      stream->written = TRUE;
    } else if (!copy_stream (stream)) {
      char *text =
          g_strdup_printf ("%s cannot be written to %s; take the stream out of the film first, or write a .mkv",
              stream->title, streams->container->title);

      play_fail (GST_ELEMENT (streams->pipeline), text);
      g_free (text);
      return;
    }
  }
  if (streams->chapters && !streams->container->iso && GST_IS_TOC_SETTER (streams->mux)) {
    GstToc *toc = chapters_to_toc (streams->chapters);

    gst_toc_setter_set_toc (GST_TOC_SETTER (streams->mux), toc);
    gst_toc_unref (toc);
  }
  if (streams->mux_main)
    gst_pad_add_probe (streams->mux_main, GST_PAD_PROBE_TYPE_BUFFER, count_frame, streams, NULL);
  if (!streams->mux_main || !decode_video (streams->main))
    play_fail (GST_ELEMENT (streams->pipeline), "no video that can be decoded");
}

/* --- waiting for all streams --- */

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
    link_all (streams);
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

static void
stream_found (GstElement *parse, GstPad *pad, gpointer data)
{
  Streams *streams = data;
  Stream *stream = g_new0 (Stream, 1);

  stream->streams = streams;
  stream->origin = gst_object_ref (pad);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, event_comes, stream, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, end_comes, streams, NULL);
  cuts_take_off (pad, streams->surplus);
  g_mutex_lock (&streams->linking);
  g_ptr_array_add (streams->list, stream);
  /* A stream that comes later, as in recordings of television, finds a film that has begun. */
  if (streams->linked) {
    stream->pad = gst_object_ref (pad);
    name (stream);
    leave_out (stream, "it begins later than the film");
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

  if (!gst_structure_get_boolean (structure, "parsed", &parsed))
    gst_structure_get_boolean (structure, "framed", &parsed);
  return kind_of (gst_structure_get_name (structure)) != SUBTITLES && !(parsed && gst_caps_is_fixed (caps));
}

static void
element_added (GstBin *parse, GstElement *element, gpointer data)
{
  Streams *streams = data;
  GstElementFactory *factory = gst_element_get_factory (element);

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

static GstElement *
make (const char *factory, const char *name, const char *package, GError **error)
{
  GstElement *element = gst_element_factory_make (factory, name);

  if (!element)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN, "GStreamer has no element %s; install %s",
        factory, package);
  return element;
}

/* A pipe cannot be written to at an earlier place, where muxers put what they learn at the end. */
static void
set_streaming (GstElement *mux, const char *properties)
{
  char **list = g_strsplit (properties, " ", -1);

  for (char **property = list; *property; property++) {
    char *equals = strchr (*property, '=');

    *equals = '\0';
    gst_util_set_object_arg (G_OBJECT (mux), *property, equals + 1);
  }
  g_strfreev (list);
}

Streams *
streams_new (GstElement *pipeline, GstElement *source, GstElement *sink, const Options *options,
    const Container *container, const Origin *origin, GstClockTime surplus, Chapters *chapters, GError **error)
{
  Streams *streams;
  GstElement *parse = make ("parsebin", NULL, "gstreamer1.0-plugins-base", error);
  GstElement *convolve =
      parse ? make ("cudaconvolve", "convolve", "this project's plugin, or set GST_PLUGIN_PATH", error) : NULL;
  GstElement *mux = convolve ? make (container->muxer, "mux", container->package, error) : NULL;

  if (!mux) {
    g_clear_pointer (&parse, gst_object_unref);
    g_clear_pointer (&convolve, gst_object_unref);
    return NULL;
  }
  streams = g_new0 (Streams, 1);
  g_mutex_init (&streams->lock);
  g_mutex_init (&streams->linking);
  streams->options = options;
  streams->container = container;
  streams->origin = origin;
  streams->pipeline = GST_BIN (pipeline);
  streams->chapters = chapters;
  streams->turn = GST_VIDEO_ORIENTATION_IDENTITY;
  streams->list = g_ptr_array_new_with_free_func (stream_free);
  streams->demuxers = g_ptr_array_new_with_free_func (gst_object_unref);
  streams->convolve = gst_object_ref (convolve);
  streams->mux = gst_object_ref (mux);
  streams->source = source;
  streams->surplus = surplus;
  if (output_is_pipe (options->output))
    set_streaming (mux, container->streaming);
  gst_bin_add_many (streams->pipeline, parse, convolve, mux, NULL);
  gst_element_link (source, parse);
  gst_element_link (mux, sink);
  g_signal_connect (parse, "pad-added", G_CALLBACK (stream_found), streams);
  g_signal_connect (parse, "element-added", G_CALLBACK (element_added), streams);
  g_signal_connect (parse, "autoplug-continue", G_CALLBACK (to_be_parsed), streams);
  return streams;
}

void
streams_free (Streams *streams)
{
  g_ptr_array_unref (streams->demuxers);
  g_ptr_array_unref (streams->list);
  g_clear_pointer (&streams->mux_main, gst_object_unref);
  g_clear_pointer (&streams->chapters, chapters_free);
  gst_object_unref (streams->convolve);
  gst_object_unref (streams->mux);
  g_mutex_clear (&streams->lock);
  g_mutex_clear (&streams->linking);
  g_free (streams);
}

GstElement *
streams_convolve (const Streams *streams)
{
  return streams->convolve;
}

Chapters *
streams_chapters (const Streams *streams)
{
  return streams->chapters;
}

guint64
streams_encoded (const Streams *streams)
{
  return streams->encoded;
}

char *
streams_mastering (const Streams *streams)
{
  GstCaps *caps = streams->mux_main ? gst_pad_get_current_caps (streams->mux_main) : NULL;
  char *text =
      caps ? g_strdup (gst_structure_get_string (gst_caps_get_structure (caps, 0), "mastering-display-info")) : NULL;

  g_clear_pointer (&caps, gst_caps_unref);
  return text;
}

GArray *
streams_tracks (const Streams *streams)
{
  GArray *tracks = g_array_new (FALSE, FALSE, sizeof (Track));

  for (guint i = 0; i < streams->list->len; i++) {
    const Stream *stream = g_ptr_array_index (streams->list, i);

    if (stream->written)
      g_array_append_val (tracks, stream->track);
  }
  return tracks;
}

GstClockTime
streams_end (const Streams *streams)
{
  return streams->end;
}

guint
streams_lost (const Streams *streams)
{
  guint pads = 0;

  for (guint i = 0; i < streams->demuxers->len; i++)
    pads += GST_ELEMENT (streams->demuxers->pdata[i])->numsrcpads;
  pads -= streams->demuxers->len > 1 ? streams->demuxers->len - 1 : 0;
  return pads > streams->list->len ? pads - streams->list->len : 0;
}

void
streams_say (const Streams *streams)
{
  lost_warn (&streams->lost, streams->options->input);
  if (streams->other_width)
    complain ("warning: %s: the film changes its size from %dx%d to %dx%d; all frames have the first size now",
        streams->options->input, streams->width, streams->height, streams->other_width, streams->other_height);
  for (guint i = 0; i < streams->list->len; i++) {
    const Stream *stream = g_ptr_array_index (streams->list, i);
    const char *outcome = stream->outcome ? stream->outcome : stream->kept ? "kept as it is" : "";

    say_begin ("stream");
    say_text ("stream", stream->title);
    say_text ("kind", kinds[stream->kind].name);
    say_text ("outcome", outcome);
    say_end ("stream: %s: %s", stream->title, outcome);
  }
  if (streams->left_out_attachments) {
    say_begin ("stream");
    say_text ("kind", "attachments");
    say_end ("stream: cover pictures and attachments: left out: GStreamer writes none into %s",
        streams->container->title);
  }
  if (streams->left_out_pictures) {
    say_begin ("stream");
    say_text ("kind", "tags");
    say_end ("stream: pictures and places in tags: left out: no box covers them");
  }
}
