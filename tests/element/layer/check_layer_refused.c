/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats and sizes that a layer, or the element as such, does not take: who says so, when, and in which words. */
#include <gst/check/gstcheck.h>

#include <gst/base/gstbasetransform.h>

#include <glib/gstdio.h>
#include <string.h>

#include "element/layer/check_layer_caps.h"

/* The first error must come from the element and hold these words, and the element must post no second one. */
static void
expect_error_of (GstElement *pipeline, GstElement *element, GQuark domain, gint code, const gchar *text,
    const gchar *what)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  GError *error;

  gst_element_set_state (pipeline, GST_STATE_READY); /* after this all threads have ended */
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, "%s: no error", what);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (element), "%s: the first error is of %s: %s", what,
      GST_MESSAGE_SRC_NAME (message), error->message);
  fail_unless (g_error_matches (error, domain, code), "%s: %s", what, error->message);
  fail_unless (strstr (error->message, text), "%s: \"%s\" is not in \"%s\"", what, text, error->message);
  fail_unless (g_utf8_validate (error->message, -1, NULL), "%s", what);
  g_error_free (error);
  gst_message_unref (message);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR))) {
    fail_if (GST_MESSAGE_SRC (message) == GST_OBJECT (element), "%s: a second error", what);
    gst_message_unref (message);
  }
}

static void
expect_own_error (GstElement *pipeline, GstElement *element, const gchar *text, const gchar *what)
{
  expect_error_of (pipeline, element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text, what);
}

/* Without a layer the element has a mask. */
static GstElement *
pipeline_of (const LayerCase *layer, const gchar *before, GstElement **element)
{
  g_autofree gchar *line = layer ? layer_case_line (layer) : g_strdup ("mask=box");
  g_autofree gchar *description = g_strdup_printf ("%s%s%s name=seen %s ! fakesink async=false", before,
      before[0] ? " ! " : "", layer ? "cudaconvlayer" : "cudaconvolve", line);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);

  fail_unless (error == NULL, "%s: %s", description, error ? error->message : "");
  if (!GST_IS_PIPELINE (pipeline)) {
    GstElement *one = pipeline;

    pipeline = gst_pipeline_new (NULL);
    gst_bin_add (GST_BIN (pipeline), one);
  }
  *element = gst_bin_get_by_name (GST_BIN (pipeline), "seen");
  return pipeline;
}

/* Where the element takes none of upstream's formats, the error comes before anything runs. */
GST_START_TEST (test_refused_at_start)
{
  static const gfloat weights[9 * 12] = { 0.5, 0, 0, 0.25 };
  LayerCase rgb = layer_case_plain (folder, 3, 3, 1, 1, weights);
  LayerCase gray = layer_case_plain (folder, 1, 1, 7, 7, weights);
  const struct
  {
    const LayerCase *layer;
    const gchar *before, *text;
  } rows[] = {
    { &rgb, "videotestsrc ! video/x-raw,format=I420",
        "the frames are I420, and a layer of 3 channels takes RGB of 8 bits; "
        "put videoconvert before the element" },
    { &rgb, "videotestsrc ! video/x-raw,format=GRAY8", "the frames are GRAY8, and a layer of 3 channels takes RGB" },
    { &rgb, "videotestsrc ! video/x-raw,format={I420,NV12} ! tee ! queue",
        "the frames are I420, NV12, and a layer of 3" },
    { &rgb,
        "videotestsrc ! video/x-raw,format=I420,width=64,height=48,framerate=25/1,multiview-mode=mono,"
        "pixel-aspect-ratio=1/1,interlace-mode=progressive,colorimetry=bt601,chroma-site=jpeg ! identity",
        "the frames are I420, and" },
    { &gray, "videotestsrc ! video/x-raw,format=RGB ! videorate ! queue",
        "the frames are RGB, and a layer of 1 channel "
        "takes GRAY8" },
    { &gray, "videotestsrc ! video/x-raw,format=GRAY8,width=6,height=64", "no size that the frames can have gives" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstElement *element, *pipeline = pipeline_of (rows[i].layer, rows[i].before, &element);

    for (gint round = 0; round < 2; round++) {
      fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
      expect_own_error (pipeline, element, rows[i].text, rows[i].before);
      gst_element_set_state (pipeline, GST_STATE_NULL);
    }
    gst_object_unref (element);
    gst_object_unref (pipeline);
  }
  layer_case_clear (&rgb);
  layer_case_clear (&gray);
}
GST_END_TEST;

/* A source whose caps are not known before they come, as with a decoder. */
typedef struct
{
  GstElement *pipeline, *element;
  GstPad *pad;
  GstBus *bus;
} Pushed;

/* Takes the pad. */
static Pushed
pushed_start_from (GstPad *pad, const LayerCase *layer, const gchar *before)
{
  Pushed pushed = { .pad = pad };
  g_autoptr (GstPad) sink = NULL;
  GstStateChangeReturn ret;

  pushed.pipeline = pipeline_of (layer, before, &pushed.element);
  pushed.bus = gst_element_get_bus (pushed.pipeline);
  sink = gst_bin_find_unlinked_pad (GST_BIN (pushed.pipeline), GST_PAD_SINK);
  fail_unless_equals_int (gst_pad_link_full (pushed.pad, sink, GST_PAD_LINK_CHECK_NOTHING), GST_PAD_LINK_OK);
  gst_pad_set_active (pushed.pad, TRUE);
  ret = gst_element_set_state (pushed.pipeline, GST_STATE_PLAYING);
  fail_if (ret == GST_STATE_CHANGE_FAILURE, "%s", before);
  gst_pad_push_event (pushed.pad, gst_event_new_stream_start ("check"));
  return pushed;
}

/* Takes caps, which may be NULL, and the buffer. */
static Pushed
pushed_start (const LayerCase *layer, const gchar *before)
{
  return pushed_start_from (gst_pad_new ("src", GST_PAD_SRC), layer, before);
}

/* As decoders, whose pad says all that it could send, also after it has sent one of them. */
static Pushed
pushed_start_decoder (const LayerCase *layer, const gchar *before)
{
  static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
      GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ NV12, I420, RGB, GRAY8 }")));

  return pushed_start_from (gst_pad_new_from_static_template (&template, "src"), layer, before);
}

static GstFlowReturn
pushed_buffer (Pushed *pushed, GstCaps *caps, GstBuffer *buffer)
{
  GstSegment segment;

  if (caps)
    gst_pad_push_event (pushed->pad, gst_event_new_caps (caps));
  gst_clear_caps (&caps);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pushed->pad, gst_event_new_segment (&segment));
  return gst_pad_push (pushed->pad, buffer);
}

static GstFlowReturn
pushed_frame (Pushed *pushed, const gchar *format)
{
  GstCaps *caps = frame_caps (format, 16, 12, NULL);
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  return pushed_buffer (pushed, caps, frame_new (&info, FRAME_PLAIN, seed));
}

static void
pushed_stop (Pushed *pushed)
{
  gst_element_set_state (pushed->pipeline, GST_STATE_NULL);
  gst_pad_set_active (pushed->pad, FALSE);
  gst_object_unref (pushed->pad);
  gst_object_unref (pushed->bus);
  gst_object_unref (pushed->element);
  gst_object_unref (pushed->pipeline);
}

static void
pushed_expect_none (Pushed *pushed, const gchar *what)
{
  GstMessage *message = gst_bus_timed_pop_filtered (pushed->bus, GST_SECOND / 10, GST_MESSAGE_ERROR);

  fail_unless (message == NULL, "%s: an error of %s", what, message ? GST_MESSAGE_SRC_NAME (message) : "");
}

GST_START_TEST (test_refused_when_caps_come)
{
  static const gfloat weights[9] = { 0.5, 0, 0, 0.25 };
  static const gchar *const before[] = { "", "queue", "identity", "capsfilter", "tee ! queue ! identity",
    "queue ! videorate", "videorate ! queue", "multiqueue ! queue", "videobalance", "videoscale",
    "queue ! videoscale ! queue", "videocrop ! videorate" };
  static const gchar *const converters[] = { "videoconvert", "queue ! videoconvert ! queue", "videoconvert ! identity",
    "videoscale ! videoconvert ! videorate" };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, weights);

  for (guint k = 0; k < 2 * G_N_ELEMENTS (before); k++) {
    Pushed (*start) (const LayerCase *, const gchar *) = k % 2 ? pushed_start_decoder : pushed_start;
    guint i = k / 2;
    Pushed pushed = start (&layer, before[i]);

    for (gint frame = 0; frame < 3; frame++)
      pushed_frame (&pushed, "NV12");
    expect_own_error (pushed.pipeline, pushed.element,
        "the frames are NV12, and a layer of 3 channels takes RGB of 8 "
        "bits; put videoconvert before the element",
        before[i]);
    pushed_stop (&pushed);

    /* Good caps, then bad ones in mid-stream. */
    pushed = start (&layer, before[i]);
    fail_unless_equals_int (pushed_frame (&pushed, "RGB"), GST_FLOW_OK);
    pushed_expect_none (&pushed, before[i]);
    pushed_frame (&pushed, "I420");
    pushed_frame (&pushed, "I420");
    expect_own_error (pushed.pipeline, pushed.element, "the frames are I420, and a layer of 3", before[i]);
    pushed_stop (&pushed);
  }
  for (guint i = 0; i < G_N_ELEMENTS (converters); i++) {
    static const gchar *const formats[] = { "NV12", "I420", "RGB", "GRAY8", "NV12" };
    Pushed pushed = pushed_start_decoder (&layer, converters[i]);

    for (guint k = 0; k < G_N_ELEMENTS (formats); k++)
      fail_unless_equals_int (pushed_frame (&pushed, formats[k]), GST_FLOW_OK);
    pushed_expect_none (&pushed, converters[i]);
    pushed_stop (&pushed);
  }
  layer_case_clear (&layer);
}
GST_END_TEST;

static GstPadProbeReturn
filter_yuv (GstPad *pad, GstPadProbeInfo *info, gpointer filter)
{
  g_autoptr (GstCaps) yuv = gst_caps_from_string ("video/x-raw,format=I420");

  (void) pad;
  (void) info;
  g_object_set (filter, "caps", yuv, NULL);
  return GST_PAD_PROBE_REMOVE;
}

/* A filter that changes at the first frame: the source then asks for caps, finds none, and sends nothing. */
GST_START_TEST (test_refused_when_offers_change)
{
  static const gfloat weights[9] = { 0.5, 0, 0, 0.25 };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, weights);
  GstElement *element, *pipeline, *filter;
  GstPad *input, *output;

  pipeline =
      pipeline_of (&layer, "videotestsrc ! capsfilter name=filter caps=video/x-raw,format=RGB ! queue", &element);
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  input = gst_element_get_static_pad (filter, "sink");
  output = gst_pad_get_peer (input);
  /*
   * The source's own thread changes the filter. Another thread could change the filter while the source's query for caps is
   * under way, and capsfilter would empty the answer.
   */
  gst_pad_add_probe (output, GST_PAD_PROBE_TYPE_BUFFER, filter_yuv, filter, NULL);
  fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
  expect_own_error (pipeline, element, "the frames are I420, and a layer of 3", "another filter");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (input);
  gst_object_unref (output);
  gst_object_unref (filter);
  gst_object_unref (element);
  gst_object_unref (pipeline);
  layer_case_clear (&layer);
}
GST_END_TEST;

/* A query for caps that the element refuses is no error. */
GST_START_TEST (test_queries_are_no_faults)
{
  static const gfloat weights[9] = { 0.5, 0, 0, 0.25 };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, weights);
  Pushed pushed = pushed_start (&layer, "queue");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (pushed.element, "sink");

  for (gint i = 0; i < 2; i++) {
    g_autoptr (GstCaps) yuv = frame_caps ("I420", 16, 12, NULL);
    g_autoptr (GstCaps) all = gst_pad_query_caps (sink, NULL), none = gst_pad_query_caps (sink, yuv);

    fail_unless (gst_caps_is_empty (none) && !gst_caps_is_empty (all));
    fail_if (gst_pad_query_accept_caps (sink, yuv));
    fail_if (gst_pad_peer_query_accept_caps (pushed.pad, yuv));
    pushed_expect_none (&pushed, "queries");
    fail_unless_equals_int (pushed_frame (&pushed, "RGB"), GST_FLOW_OK);
  }
  pushed_stop (&pushed);
  layer_case_clear (&layer);
}
GST_END_TEST;

/* A file name that is not UTF-8 gives a message that is. */
GST_START_TEST (test_name_of_file)
{
  static const gfloat weights[9] = { 0.5, 0, 0, 0.25 };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, weights);
  g_autofree gchar *location = g_strdup_printf ("%s/caf\xe9.npy", folder), *content = NULL;
  GstElement *element, *pipeline = pipeline_of (&layer, "videotestsrc ! video/x-raw,format=I420", &element);
  gsize length;
  Pushed pushed;

  fail_unless (g_file_get_contents (layer.location, &content, &length, NULL)
      && g_file_set_contents (location, content, length, NULL));
  g_object_set (element, "location", location, NULL);
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  expect_own_error (pipeline, element, ".npy: the frames are I420", "at the start");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (pipeline);

  for (gint large = 0; large < 2; large++) {
    pushed = pushed_start (&layer, "");
    g_object_set (pushed.element, "location", NULL, NULL);
    fail_unless_equals_int (gst_element_set_state (pushed.pipeline, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    g_object_set (pushed.element, "location", location, "pool-size", large ? "99" : "1", NULL);
    gst_pad_set_active (pushed.pad, TRUE);
    fail_if (gst_element_set_state (pushed.pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
    gst_pad_push_event (pushed.pad, gst_event_new_stream_start ("check"));
    pushed_frame (&pushed, large ? "RGB" : "I420");
    expect_own_error (pushed.pipeline, pushed.element,
        large ? ".npy: frames of 16x12 give no output" : ".npy: the frames are I420", "when caps come");
    pushed_stop (&pushed);
  }
  g_unlink (location);
  layer_case_clear (&layer);
}
GST_END_TEST;

/* Streams that the element never takes. The element cannot be linked where these are known, but they may come later. */
typedef struct
{
  const gchar *caps, *text;
} Stream;

#define RAW(format) "video/x-raw,width=16,height=12,framerate=25/1,format=" format
#define CONVERT "integers of 5 to 16 bits; put videoconvert before the element"

static const Stream streams[] = {
  { RAW ("RGB8P"),
      "caps: the samples of RGB8P are numbers of colours in a palette, and sums of numbers are no colours; put "
      "videoconvert before the element" },
  { RAW ("RGBA_F16LE"), "caps: the frames are RGBA_F16LE, and the element takes samples that are " CONVERT },
  { RAW ("MT2110T"), CONVERT },
  { "video/x-bayer,format=bggr,width=16,height=12,framerate=25/1",
      "video/x-bayer, and the element takes video/x-raw; put "
      "bayer2rgb before the element" },
  { "video/x-h264,width=16,height=12",
      "the stream is video/x-h264, and the element takes video/x-raw; put a decoder before "
      "the element, such as decodebin" },
  { "image/jpeg,width=16,height=12", "the stream is image/jpeg, and the element takes video/x-raw; put a decoder" },
  { "video/quicktime", "video/quicktime, and the element takes video/x-raw; put a decoder" },
  { "audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved",
      "the stream is audio/x-raw, and the element takes "
      "video/x-raw; link a stream of video" },
  { "text/x-raw,format=utf8", "link a stream of video to the element" },
  { "video/x-raw(memory:GLMemory),format=RGBA,width=16,height=12",
      "memory:GLMemory; put gldownload before the element" },
  { "video/x-raw(memory:NoSuchMemory),format=RGBA,width=16,height=12",
      "NoSuchMemory; put an element that makes plain" },
  { "video/x-raw(memory:CUDAMemory),format=GRAY8,width=16,height=12",
      "CUDAMemory; put cudadownload before the element" },
  { "video/x-raw,format=I420,width=0,height=12", "no frames of such a size or rate" },
  { "video/x-raw,format=RGBA,width=65536,height=65536,framerate=25/1",
      "GStreamer cannot describe frames with these caps" },
  { NULL,
      "caps: the stream has none, and the element takes video/x-raw; put a decoder before the element, such as "
      "decodebin" },
};

static void
expect_stream_error (GstElement *pipeline, GstElement *element, const Stream *stream)
{
  expect_error_of (pipeline, element, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, stream->text,
      stream->caps ? stream->caps : "no caps");
}

GST_START_TEST (test_refused_streams)
{
  static const gchar *const before[] = { "", "queue", "identity", "identity ! queue ! tee ! queue" };
  const gchar *good = RAW ("RGB");

  for (guint i = 0; i < G_N_ELEMENTS (streams) * G_N_ELEMENTS (before); i++) {
    const Stream *stream = &streams[i / G_N_ELEMENTS (before)];
    const gchar *elements = before[i % G_N_ELEMENTS (before)];

    for (guint late = 0; late < 2; late++) {
      Pushed pushed = pushed_start (NULL, elements);

      if (late && stream->caps)
        fail_unless_equals_int (pushed_buffer (&pushed, gst_caps_from_string (good),
                                    gst_buffer_new_allocate (NULL, 576, NULL)),
            GST_FLOW_OK);
      for (guint k = 0; k < 3; k++)
        pushed_buffer (&pushed, stream->caps ? gst_caps_from_string (stream->caps) : NULL,
            gst_buffer_new_allocate (NULL, 576, NULL));
      expect_stream_error (pushed.pipeline, pushed.element, stream);
      pushed_stop (&pushed);
    }
  }
}
GST_END_TEST;

static void
expect_no_error (GstElement *pipeline, const gchar *what)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  fail_if (message, "%s: an error of %s", what, message ? GST_MESSAGE_SRC_NAME (message) : "");
}

/* A neighbour that says before the start what it will send, linked without a look at caps. */
GST_START_TEST (test_streams_refused_at_start)
{
  for (guint i = 0; streams[i].caps; i++) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (streams[i].caps);
    GstElement *element, *pipeline, *source;

    if (strstr (streams[i].caps,
            "65536")) /* only the number of bytes is too large, which nobody sees before caps come */
      continue;
    pipeline = pipeline_of (NULL, "", &element);
    source = gst_element_factory_make ("capsfilter", NULL);
    g_object_set (source, "caps", caps, NULL);
    gst_bin_add (GST_BIN (pipeline), source);
    fail_unless (gst_element_link_pads_full (source, "src", element, "sink", GST_PAD_LINK_CHECK_NOTHING));
    for (gint round = 0; round < 2; round++) {
      /* Before the start a question is only a question. */
      gst_element_set_state (pipeline, GST_STATE_READY);
      fail_if (gst_pad_query_accept_caps (GST_BASE_TRANSFORM_SINK_PAD (element), caps));
      expect_no_error (pipeline, streams[i].caps);
      fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE, "%s",
          streams[i].caps);
      expect_stream_error (pipeline, element, &streams[i]);
      gst_element_set_state (pipeline, GST_STATE_NULL);
    }
    gst_object_unref (element);
    gst_object_unref (pipeline);
  }
}
GST_END_TEST;

/* Masks, too, are not disturbed by neighbours that ask for what the element refuses. */
GST_START_TEST (test_stream_queries_are_no_faults)
{
  Pushed pushed = pushed_start (NULL, "videoconvert");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (pushed.element, "sink");

  for (gint round = 0; round < 2; round++) {
    for (guint i = 0; streams[i].caps; i++) {
      g_autoptr (GstCaps) caps = gst_caps_from_string (streams[i].caps);

      fail_if (gst_pad_query_accept_caps (sink, caps) && !strstr (streams[i].caps, "65536"), "%s", streams[i].caps);
      gst_caps_unref (gst_pad_query_caps (sink, caps));
    }
    pushed_expect_none (&pushed, "queries");
    fail_unless_equals_int (pushed_frame (&pushed, round ? "v210" : "RGB16"), GST_FLOW_OK);
  }
  pushed_expect_none (&pushed, "a converter");
  pushed_stop (&pushed);
}
GST_END_TEST;

/* An output that GStreamer cannot describe, for every size or for the size that comes. */
GST_START_TEST (test_output_too_large)
{
  static const gfloat weights[9] = { 0.5, 0, 0, 0.25 };
  static const struct
  {
    gint padding;
    const gchar *text;
  } rows[] = {
    { 65536,
        "frames of 16x12 give 1 x 1 maps of 131088x131084, more than a frame of GStreamer can hold; lower padding" },
    { 40000, "1 x 1 maps of 80016x80012, more than a frame" },
  };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, weights);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint start = 0; start < 2; start++) {
      g_autofree gchar *padding = g_strdup_printf ("%d", rows[i].padding);
      Pushed pushed = pushed_start (&layer, "queue");

      gst_element_set_state (pushed.pipeline, GST_STATE_NULL);
      g_object_set (pushed.element, "padding", padding, NULL);
      gst_pad_set_active (pushed.pad, TRUE);
      if (start) {
        GstCaps *caps = frame_caps ("RGB", 16, 12, NULL);

        gst_pad_push_event (pushed.pad, gst_event_new_stream_start ("check"));
        gst_pad_push_event (pushed.pad, gst_event_new_caps (caps));
        gst_caps_unref (caps);
        fail_unless_equals_int (gst_element_set_state (pushed.pipeline, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
      } else {
        fail_if (gst_element_set_state (pushed.pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
        gst_pad_push_event (pushed.pad, gst_event_new_stream_start ("check"));
        for (guint k = 0; k < 3; k++)
          pushed_frame (&pushed, "RGB");
      }
      expect_own_error (pushed.pipeline, pushed.element, rows[i].text, padding);
      pushed_stop (&pushed);
    }
  layer_case_clear (&layer);
}
GST_END_TEST;

TCase *
layer_refused (void)
{
  TCase *tc = tcase_create ("refused");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_refused_at_start);
  tcase_add_test (tc, test_refused_when_caps_come);
  tcase_add_test (tc, test_refused_when_offers_change);
  tcase_add_test (tc, test_queries_are_no_faults);
  tcase_add_test (tc, test_name_of_file);
  tcase_add_test (tc, test_refused_streams);
  tcase_add_test (tc, test_streams_refused_at_start);
  tcase_add_test (tc, test_stream_queries_are_no_faults);
  tcase_add_test (tc, test_output_too_large);
  return tc;
}
