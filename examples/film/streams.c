/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "streams.h"

#include <string.h>

#include <gst/pbutils/pbutils.h>

#include "output.h"
#include "play.h"
#include "progress.h"
#include "say.h"
#include "stream.h"

const StreamKind stream_kinds[N_KINDS] = { { "video", "video_%u" }, { "sound", "audio_%u" },
  { "subtitles", "subtitle_%u" }, { "data", "" } };

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
gboolean
streams_hide (const Streams *streams)
{
  return streams->options->boxes || streams->options->cover;
}

GstCaps *
stream_caps (const Stream *stream)
{
  GstCaps *caps = gst_pad_get_current_caps (stream->origin);

  return caps ? caps : gst_pad_query_caps (stream->origin, NULL);
}

Kind
stream_kind_of (const char *name)
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
  title = g_strdup_printf ("%s %u (%s)", stream_kinds[stream->kind].name, ++stream->streams->counts[stream->kind],
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
  GstCaps *caps = stream_caps (stream);
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
GstPad *
streams_request_pad (Streams *streams, Kind kind)
{
  GstPad *pad = strcmp (streams->container->muxer, "identity")
      ? gst_element_request_pad_simple (streams->mux, stream_kinds[kind].pad)
      : gst_element_get_static_pad (streams->mux, "sink");

  if (pad)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_end, streams, NULL);
  return pad;
}

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Streams *streams = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  streams->encoded++;
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    return GST_PAD_PROBE_OK;
  /* Without a duration, the last frame of an MP4 file is shown for no time. */
  buffer = gst_buffer_make_writable (buffer);
  g_mutex_lock (&streams->lock);
  GST_BUFFER_DURATION (buffer) = streams->stays;
  g_mutex_unlock (&streams->lock);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

/* By now the stream has its caps, unless nothing of it has come. */
void
stream_name (Stream *stream)
{
  GstCaps *caps = stream_caps (stream);

  stream->kind = gst_caps_get_size (caps) == 0 || gst_caps_is_any (caps)
      ? DATA
      : stream_kind_of (gst_structure_get_name (gst_caps_get_structure (caps, 0)));
  stream->title = title_of (stream, caps);
  stream->track = stream_track (stream);
  stream->track.kind = "vst"[MIN (stream->kind, SUBTITLES)];
  gst_caps_unref (caps);
}

/* Where the film ends as its file says, or zero. */
static GstClockTime
stated_end (const Streams *streams)
{
  gint64 end;

  return gst_pad_query_duration (streams->main->origin, GST_FORMAT_TIME, &end) && end > 0 ? end : 0;
}

/* All pads are there, and each of them holds its data back. */
void
streams_link (Streams *streams)
{
  for (guint i = 0; i < streams->list->len; i++)
    stream_name (g_ptr_array_index (streams->list, i));
  streams->main = main_of (streams);
  if (!streams->main) {
    play_fail (GST_ELEMENT (streams->pipeline), "no video that can be decoded: the file has no video");
    return;
  }
  for (guint i = 0; i < streams->list->len; i++) {
    Stream *stream = g_ptr_array_index (streams->list, i);

    gst_pad_sticky_events_foreach (stream->origin, stream_see_sticky, stream);
    /* Pads of the muxer are asked for before data comes, because the muxer begins when all that it has got are ready. */
    if (stream == streams->main) {
      streams->mux_main = streams_request_pad (streams, VIDEO);
      stream->written = TRUE;
    } else if (!stream_copy (stream)) {
      char *text =
          g_strdup_printf ("%s cannot be written to %s; take the stream out of the film first, or write a .mkv",
              stream->title, streams->container->title);

      play_fail (GST_ELEMENT (streams->pipeline), text);
      g_free (text);
      return;
    }
  }
  if (streams->chapters && !streams->container->iso && GST_IS_TOC_SETTER (streams->mux)) {
    GstToc *toc = chapters_to_toc (streams->chapters, stated_end (streams));

    gst_toc_setter_set_toc (GST_TOC_SETTER (streams->mux), toc);
    gst_toc_unref (toc);
  }
  if (streams->mux_main)
    gst_pad_add_probe (streams->mux_main, GST_PAD_PROBE_TYPE_BUFFER, count_frame, streams, NULL);
  if (!streams->mux_main || !video_decode (streams->main))
    play_fail (GST_ELEMENT (streams->pipeline), "no video that can be decoded");
}

/* --- for the rest of the program --- */

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
  streams->stays = GST_CLOCK_TIME_NONE;
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
  streams_wait (streams, parse);
  return streams;
}

void
streams_free (Streams *streams)
{
  g_ptr_array_unref (streams->demuxers);
  g_ptr_array_unref (streams->list);
  g_clear_pointer (&streams->mux_main, gst_object_unref);
  g_clear_pointer (&streams->chapters, chapters_free);
  g_clear_pointer (&streams->shapes, g_hash_table_unref);
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
streams_warn (const Streams *streams)
{
  lost_warn (&streams->lost, streams->options->input);
  if (streams->other_width)
    complain ("warning: %s: the film changes its size from %dx%d to %dx%d; all frames have the first size now",
        streams->options->input, streams->width, streams->height, streams->other_width, streams->other_height);
}

void
streams_say (const Streams *streams)
{
  for (guint i = 0; i < streams->list->len; i++) {
    const Stream *stream = g_ptr_array_index (streams->list, i);
    const char *outcome = stream->outcome                      ? stream->outcome
        : !stream->kept                                        ? ""
        : stream->kind == SUBTITLES && streams->container->iso ? "kept as text without styles"
                                                               : "kept as it is";

    say_begin ("stream");
    say_text ("stream", stream->title);
    say_text ("kind", stream_kinds[stream->kind].name);
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
