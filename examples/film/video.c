/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream.h"

#include <string.h>

#include "encoder.h"
#include "gif.h"
#include "input.h"
#include "keyframes.h"
#include "play.h"

#define FINEST 90000 /* ticks in a second, at least, of an MP4 file's clock */

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
 * The colorimetry that a film without a matrix gets, or NULL: GStreamer's default for the height, which is another one where the
 * picture is turned. By itself GStreamer takes such a film for one of limited range, and chroma of few lines for centred.
 */
static char *
name_colorimetry (const GstCaps *caps)
{
  GstCaps *bare = gst_caps_copy (caps);
  GstStructure *structure = gst_caps_get_structure (bare, 0);
  GstVideoColorimetry named = { 0 };
  GstVideoInfo info;
  char *text = NULL;

  gst_video_colorimetry_from_string (&named, gst_structure_get_string (structure, "colorimetry"));
  gst_structure_remove_field (structure, "colorimetry");
  if (named.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN && gst_video_info_from_caps (&info, bare)) {
    if (named.range == GST_VIDEO_COLOR_RANGE_0_255) {
      named.matrix = info.colorimetry.matrix;
      text = gst_video_colorimetry_to_string (&named);
    } else if (GST_VIDEO_INFO_IS_YUV (&info))
      text = gst_video_colorimetry_to_string (&info.colorimetry);
  }
  gst_caps_unref (bare);
  return text;
}

static GstPadProbeReturn
caps_come (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Streams *streams = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;
  char *colorimetry;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  note_size (streams, gst_caps_get_structure (caps, 0));
  colorimetry = name_colorimetry (caps);
  if (!colorimetry)
    return GST_PAD_PROBE_OK;
  caps = gst_caps_copy (caps);
  gst_caps_set_simple (caps, "colorimetry", G_TYPE_STRING, colorimetry, NULL);
  GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_caps (caps);
  gst_caps_unref (caps);
  gst_event_unref (event);
  g_free (colorimetry);
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

/* Encoders do not always say how long a frame stays. */
static GstPadProbeReturn
frame_goes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Streams *streams = data;

  g_mutex_lock (&streams->lock);
  streams->stays = GST_BUFFER_DURATION (GST_PAD_PROBE_INFO_BUFFER (info));
  g_mutex_unlock (&streams->lock);
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
  caps = shape_keep (streams->main, caps);
  if (gst_pad_is_linked (sink)
      || !g_str_has_prefix (gst_structure_get_name (gst_caps_get_structure (caps, 0)), "video/"))
    goto done;
  gst_pad_sticky_events_foreach (pad, stream_see_sticky, streams->main);
  stream_watch_tags (streams->main, pad);
  description = front_description (streams, caps);
  front = streams_make_bin (description);
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
  gif_stamp (streams->source, pad);
  lost_watch_frames (&streams->lost, pad);
  set_clock (streams, caps);
  if (streams->container->picture && !input_is_sequence (streams->options->output))
    gst_pad_add_probe (streams->mux_main, GST_PAD_PROBE_TYPE_BUFFER, picture_comes, streams, NULL);
  src = gst_element_get_static_pad (streams->convolve, "src");
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, encoder_caps_come, NULL, NULL);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, frame_goes, streams, NULL);
  if (!streams_add_bin (streams, src, encode, streams->mux_main) || !streams_add_bin (streams, pad, front, sink))
    play_fail (GST_ELEMENT (streams->pipeline), "the video cannot be linked to the encoder; try --codec=NAME");
  streams->main->outcome = g_strdup_printf ("convolved, %s%s by %s%s%s", streams->turn ? "turned upright, " : "",
      encoder->title, encoder->element, lost ? "; " : "", lost ? lost : "");
done:
  g_clear_pointer (&caps, gst_caps_unref);
  g_clear_pointer (&src, gst_object_unref);
  gst_object_unref (sink);
}

gboolean
video_decode (Stream *stream)
{
  Streams *streams = stream->streams;
  GstElement *queue = streams_make_bin ("queue"), *decode = gst_element_factory_make ("decodebin", NULL);
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
