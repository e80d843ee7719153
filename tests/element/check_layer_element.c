/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layers through the element in a harness: formats, sizes, layouts of frames, every property, changes while frames
 * flow, metas, and what is said where something is wrong. It runs over the CPU, and over the fake device with
 * CUDACONVOLVE_OVER_DEVICE set.
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <glib/gstdio.h>
#include <string.h>

#include "support/frame.h"
#include "element/layer_case.h"

static guint32 seed;  /* of this run: printed, and settable as CUDACONVOLVE_SEED */
static gchar *folder; /* for files, and gone at the end */
static gboolean over_device;

/* Each format of 8-bit RGB, and what the element makes of it first: of three feature maps, and of four. */
static const struct
{
  const gchar *in, *of_three, *of_four;
} kinds[] = { { "GRAY8", "RGB", "RGBA" }, { "RGB", "RGB", "RGBA" }, { "RGBx", "RGBx", "RGBA" },
  { "RGBA", "RGBA", "RGBA" }, { "BGR", "BGR", "BGRA" }, { "BGRx", "BGRx", "BGRA" }, { "BGRA", "BGRA", "BGRA" },
  { "xRGB", "xRGB", "ARGB" }, { "ARGB", "ARGB", "ARGB" }, { "xBGR", "xBGR", "ABGR" }, { "ABGR", "ABGR", "ABGR" },
  { "GBR", "GBR", "GBRA" }, { "GBRA", "GBRA", "GBRA" }, { "RGBP", "RGBP", "RGBA" }, { "BGRP", "BGRP", "BGRA" } };

/* An element with its messages kept. */
typedef struct
{
  GstElement *element;
  GstBus *bus;
  GstHarness *harness; /* NULL where the element did not start */
  GstVideoInfo info;
} Run;

static Run
run_start (const gchar *line, const gchar *format, gint width, gint height)
{
  g_autofree gchar *description = g_strdup_printf ("cudaconvolve %s", line);
  GstCaps *caps = frame_caps (format, width, height, NULL);
  Run run = { .bus = gst_bus_new () };

  fail_unless (gst_video_info_from_caps (&run.info, caps));
  run.element = gst_object_ref_sink (gst_parse_launch (description, NULL));
  gst_element_set_bus (run.element, run.bus);
  if (gst_element_set_state (run.element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE) {
    run.harness = gst_harness_new_with_element (run.element, "sink", "src");
    gst_harness_set_src_caps (run.harness, caps);
  } else {
    gst_caps_unref (caps);
  }
  return run;
}

static void
run_stop (Run *run)
{
  if (run->harness)
    gst_harness_teardown (run->harness);
  gst_element_set_state (run->element, GST_STATE_NULL);
  gst_element_set_bus (run->element, NULL);
  gst_object_unref (run->element);
  gst_object_unref (run->bus);
}

static void
run_caps (Run *run, const gchar *format, gint width, gint height)
{
  GstCaps *caps = frame_caps (format, width, height, NULL);

  fail_unless (gst_video_info_from_caps (&run->info, caps));
  gst_harness_set_src_caps (run->harness, caps);
}

static GstVideoInfo
out_info (Run *run)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (run->harness->sinkpad);
  GstVideoInfo info;

  fail_unless (caps && gst_video_info_from_caps (&info, caps));
  return info;
}

/* Pushes a frame and holds what comes out against the layer. */
static GstVideoInfo
run_check (Run *run, const LayerCase *layer, FrameLayout layout, const gchar *what)
{
  GstBuffer *in = frame_new (&run->info, layout, seed), *out;
  GstVideoInfo info;

  fail_unless_equals_int (gst_harness_push (run->harness, gst_buffer_ref (in)), GST_FLOW_OK);
  out = gst_harness_pull (run->harness);
  info = out_info (run);
  layer_case_check (layer, &run->info, in, &info, out, what);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  return info;
}

static void
check_format (const GstVideoInfo *info, const gchar *format)
{
  fail_unless_equals_string (gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)), format);
}

static void
expect_no_message (Run *run)
{
  fail_unless (gst_bus_pop_filtered (run->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) == NULL);
}

/* Takes all messages: exactly one error or warning, of the settings, that holds these words. */
static void
expect_message (Run *run, GstMessageType type, const gchar *text)
{
  GstMessage *message = gst_bus_pop_filtered (run->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  GError *error = NULL;

  fail_unless (message && GST_MESSAGE_TYPE (message) == type, "no message: %s", text);
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS), "%s", error->message);
  fail_unless (strstr (error->message, text), "\"%s\" is not in \"%s\"", text, error->message);
  g_error_free (error);
  gst_message_unref (message);
  expect_no_message (run);
}

/* --- frames --- */

/* Every format, one, three and four feature maps, every layout, all other parameters at random. */
GST_START_TEST (test_formats)
{
  static const gint maps[] = { 1, 3, 4 };
  GRand *random = g_rand_new_with_seed (seed);

  for (guint i = 0; i < 4 * G_N_ELEMENTS (kinds); i++)
    for (guint k = 0; k < G_N_ELEMENTS (maps); k++) {
      const gchar *format = kinds[i / 4].in;
      LayerCase layer = layer_case_random (random, folder, maps[k], g_str_equal (format, "GRAY8") ? 1 : 3);
      g_autofree gchar *line = layer_case_line (&layer);
      gint width = g_rand_int_range (random, 1, 40), height = g_rand_int_range (random, 1, 40);
      GstVideoInfo info;
      Run run;

      while (layer_case_side (&layer, FALSE, width) == 0)
        width++;
      while (layer_case_side (&layer, TRUE, height) == 0)
        height++;
      run = run_start (line, format, width, height);
      fail_unless (run.harness != NULL, "%s", line);
      info = run_check (&run, &layer, FRAME_PLAIN + i % 4, format);
      check_format (&info, maps[k] == 1 ? "GRAY8" : maps[k] == 3 ? kinds[i / 4].of_three : kinds[i / 4].of_four);
      fail_unless_equals_int (GST_VIDEO_INFO_FPS_N (&info), 25);
      expect_no_message (&run);
      run_stop (&run);
      layer_case_clear (&layer);
    }
  g_rand_free (random);
}
GST_END_TEST;

/* The feature maps that are picked, in their order, as a frame of each kind and as mosaics of any number. */
GST_START_TEST (test_maps)
{
  GRand *random = g_rand_new_with_seed (seed);

  for (gint shown = 1; shown <= 20; shown++) {
    gint filters = 20;
    LayerCase layer = layer_case_random (random, folder, filters, 3);
    g_autofree gchar *line = NULL;
    GstVideoInfo info;
    Run run;

    layer.mosaic = shown > 4 || shown == 2;
    layer.padding = 2;
    layer.pool_size = 1;
    layer.n_maps = shown == filters ? 0 : shown;
    for (gint i = 0; i < shown; i++)
      layer.maps[i] = g_rand_int_range (random, 0, filters);
    line = layer_case_line (&layer);
    run = run_start (line, "RGB", 21, 14);
    fail_unless (run.harness != NULL, "%s", line);
    info = run_check (&run, &layer, FRAME_PLAIN, "maps");
    check_format (&info, shown == 3 ? "RGB" : shown == 4 ? "RGBA" : "GRAY8");
    run_stop (&run);
    layer_case_clear (&layer);
  }
  g_rand_free (random);
}
GST_END_TEST;

/* The byte that no colour has is set, where the output has one. */
GST_START_TEST (test_unused_byte)
{
  static const gfloat swap[] = { 0, 0, 1, 0, 1, 0, 1, 0, 0 };
  static const struct
  {
    const gchar *format;
    gint unused;
  } rows[] = { { "RGBx", 3 }, { "BGRx", 3 }, { "xRGB", 0 }, { "xBGR", 0 } };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, swap);
  g_autofree gchar *line = layer_case_line (&layer);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Run run = run_start (line, rows[i].format, 5, 3);
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, seed), *out;
    guint8 from[60], to[60];

    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    fail_unless (gst_buffer_extract (in, 0, from, 60) == 60 && gst_buffer_extract (out, 0, to, 60) == 60);
    for (gint k = 0; k < 60; k++) {
      gint colours = rows[i].unused == 0 ? 1 : 0, place = k % 4 - colours;

      fail_unless_equals_int (to[k], k % 4 == rows[i].unused ? 255 : from[k / 4 * 4 + colours + 2 - place]);
    }
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    run_stop (&run);
  }
  layer_case_clear (&layer);
}
GST_END_TEST;

/* Black is 0 and white is 1 in either range, so middle grey is middle grey, and equal ranges change nothing. */
GST_START_TEST (test_ranges)
{
  static const gfloat weights[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  static const gchar *const colorimetry[2] = { "1:1:7:1", "2:1:7:1" };
  static const gint black[2] = { 0, 16 }, range[2] = { 255, 219 };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, weights);
  g_autofree gchar *line = layer_case_line (&layer);

  for (gint limited = 0; limited < 4; limited++)
    for (gint bias = 0; bias < 2; bias++) {
      gint from = limited & 1, to = limited >> 1;
      Run run = run_start (line, "RGB", 8, 8);
      GstCaps *in = frame_caps ("RGB", 8, 8, colorimetry[from]), *out = frame_caps ("RGB", 8, 8, colorimetry[to]);

      g_object_set (run.element, "bias", bias / 2.0, NULL);
      gst_harness_set_caps (run.harness, in, out);
      for (gint value = black[from]; value <= black[from] + range[from]; value += 3) {
        GstBuffer *buffer = gst_buffer_new_allocate (NULL, 192, NULL);
        gdouble exact = black[to] + range[to] * (bias / 2.0 + (value - black[from]) / (gdouble) range[from]);
        guint8 got;

        gst_buffer_memset (buffer, 0, value, 192);
        fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_OK);
        buffer = gst_harness_pull (run.harness);
        gst_buffer_extract (buffer, 100, &got, 1);
        fail_unless (ABS (got - MIN (exact, 255)) <= 1, "%d from %s to %s: %d, expected %g", value, colorimetry[from],
            colorimetry[to], got, exact);
        gst_buffer_unref (buffer);
      }
      expect_no_message (&run);
      run_stop (&run);
    }
  layer_case_clear (&layer);
}
GST_END_TEST;

/* A pool whose planes have strides of their own. */
typedef struct
{
  GstVideoBufferPool parent;
  GstVideoInfo info;
} OddPool;
typedef GstVideoBufferPoolClass OddPoolClass;

static GType odd_pool_get_type (void);
G_DEFINE_TYPE (OddPool, odd_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static GstFlowReturn
odd_pool_alloc_buffer (GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  *buffer = frame_new (&((OddPool *) pool)->info, FRAME_PADDED, 1);
  return GST_FLOW_OK;
}

static void
odd_pool_class_init (OddPoolClass *klass)
{
  GST_BUFFER_POOL_CLASS (klass)->alloc_buffer = odd_pool_alloc_buffer;
}

static void
odd_pool_init (OddPool *pool)
{
}

static gboolean
offer_odd_pool (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION) {
    OddPool *pool = g_object_new (odd_pool_get_type (), NULL);
    GstCaps *caps;

    gst_query_parse_allocation (query, &caps, NULL);
    fail_unless (gst_video_info_from_caps (&pool->info, caps));
    gst_query_add_allocation_pool (query, GST_BUFFER_POOL (pool), pool->info.size, 0, 0);
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    gst_object_unref (pool);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

GST_START_TEST (test_odd_output)
{
  static const gchar *const formats[] = { "GBR", "RGBP", "GBRA", "RGBx" };
  GRand *random = g_rand_new_with_seed (seed);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    LayerCase layer = layer_case_random (random, folder, 3, 3);
    g_autofree gchar *line = layer_case_line (&layer);
    g_autofree gchar *description = g_strdup_printf ("cudaconvolve %s", line);
    Run run = { .bus = gst_bus_new () };
    GstCaps *caps = frame_caps (formats[i], 33, 29, NULL);

    fail_unless (gst_video_info_from_caps (&run.info, caps));
    run.element = gst_object_ref_sink (gst_parse_launch (description, NULL));
    run.harness = gst_harness_new_with_element (run.element, "sink", "src");
    gst_pad_set_query_function (run.harness->sinkpad, offer_odd_pool);
    gst_harness_set_src_caps (run.harness, caps);
    run_check (&run, &layer, FRAME_PADDED, "odd output");
    run_stop (&run);
    layer_case_clear (&layer);
  }
  g_rand_free (random);
}
GST_END_TEST;

static GstPadProbeReturn
note_allocation (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);
  GString *asked = data;
  GstVideoInfo info;
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION && (probe->type & GST_PAD_PROBE_TYPE_PUSH)) {
    gst_query_parse_allocation (query, &caps, NULL);
    fail_unless (gst_video_info_from_caps (&info, caps));
    g_string_append_printf (asked, "%dx%d ", info.width, info.height);
  }
  return GST_PAD_PROBE_OK;
}

/* A mask that changes nothing, and then a start with a layer: downstream is asked for frames of the layer's size. */
GST_START_TEST (test_layer_after_passthrough)
{
  static const gfloat weights[9] = { 1 };
  LayerCase layer = layer_case_plain (folder, 1, 1, 2, 2, weights);
  Run run = run_start ("mask=identity", "GRAY8", 64, 64);
  g_autoptr (GstCaps) caps = frame_caps ("GRAY8", 64, 64, NULL);
  GString *asked = g_string_new (NULL);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  layer.stride = 2;
  fail_unless_equals_int (gst_harness_push (run.harness, frame_new (&run.info, FRAME_PLAIN, 1)), GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (run.harness));
  gst_element_set_state (run.element, GST_STATE_NULL);
  layer_case_set (&layer, run.element);
  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, note_allocation, asked, NULL);
  gst_element_set_state (run.element, GST_STATE_PLAYING);
  gst_harness_play (run.harness);
  fail_unless (gst_pad_peer_query (run.harness->srcpad, query));
  run_check (&run, &layer, FRAME_PLAIN, "after passthrough");
  fail_unless_equals_string (asked->str, "32x32 ");
  gst_query_unref (query);
  g_string_free (asked, TRUE);
  run_stop (&run);
  layer_case_clear (&layer);
}
GST_END_TEST;

/* --- changes while frames flow --- */

/* New caps, and then a new layer for each frame, which brings other sizes and formats; a mask between them. */
GST_START_TEST (test_changes)
{
  static const gint sizes[][2] = { { 30, 20 }, { 11, 40 }, { 64, 9 }, { 30, 20 } };
  GRand *random = g_rand_new_with_seed (seed);
  LayerCase layer = layer_case_random (random, folder, 3, 3);
  g_autofree gchar *line = layer_case_line (&layer);
  Run run = run_start (line, "RGB", 30, 20);

  for (guint i = 0; i < 12; i++) {
    static const gint64 blur[] = { 1, 2, 1 }, same[] = { 0, 1, 0 };
    gboolean passthrough = i % 3 == 1;
    Expected expected = { .boundary = 1,
      .width = 3,
      .height = 1,
      .integers = passthrough ? same : blur,
      .numerator = 1,
      .denominator = passthrough ? 1 : 4 };
    GstBuffer *in, *out;

    run_caps (&run, i % 3 ? "RGB" : "GBR", sizes[i % 4][0], sizes[i % 4][1]);
    run_check (&run, &layer, FRAME_PLAIN, "new caps");

    layer_case_clear (&layer);
    layer = layer_case_random (random, folder, i % 2 ? 1 : 12, 3);
    layer.mosaic = layer.filters > 4;
    layer.padding = MAX (layer.padding, 2);
    layer.pool_size = 1 + (layer.padding > 2);
    layer.stride = i % 2 + 1;
    layer_case_set (&layer, run.element);
    run_check (&run, &layer, FRAME_PLAIN, "new layer");

    g_object_set (run.element, "layer-location", NULL, "mask", passthrough ? "0 1 0" : "1 2 1", "boundary", 1, "bias",
        0.0, "divisor", 0.0, NULL);
    in = frame_new (&run.info, FRAME_PLAIN, i);
    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    fail_unless_equals_int (in == out, passthrough);
    frame_check (&run.info, in, out, &expected, "a mask after a layer");
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    layer_case_set (&layer, run.element);
  }
  expect_no_message (&run);
  run_stop (&run);
  layer_case_clear (&layer);
  g_rand_free (random);
}
GST_END_TEST;

static gpointer
keep_changing (gpointer data)
{
  gpointer *changes = data;
  gint *stop = changes[3];

  for (gint i = 0; !g_atomic_int_get (stop); i++) {
    layer_case_set (changes[1 + i % 2], changes[0]);
    g_usleep (200);
  }
  return NULL;
}

/* Another thread changes between two layers of different outputs: each frame is all of one. */
GST_START_TEST (test_changes_from_another_thread)
{
  GRand *random = g_rand_new_with_seed (seed);
  LayerCase one = layer_case_random (random, folder, 3, 3), other = layer_case_random (random, folder, 9, 3);
  gint stop = 0;
  gpointer changes[4] = { NULL, &one, &other, &stop };
  g_autofree gchar *line = NULL;
  GThread *thread;
  guint seen = 0;
  Run run;

  one.padding = other.padding = 4;
  other.stride = 3;
  other.mosaic = TRUE;
  line = layer_case_line (&one);
  run = run_start (line, "RGB", 24, 18);
  changes[0] = run.element;
  thread = g_thread_new ("changes", keep_changing, changes);
  for (gint i = 0; i < 400; i++) {
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, seed + i), *out;
    GstVideoInfo info;
    gboolean mosaic;

    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    info = out_info (&run);
    mosaic = GST_VIDEO_INFO_FORMAT (&info) == GST_VIDEO_FORMAT_GRAY8;
    layer_case_check (mosaic ? &other : &one, &run.info, in, &info, out, "one of two");
    seen |= 1 << mosaic;
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  g_atomic_int_set (&stop, 1);
  g_thread_join (thread);
  fail_unless_equals_int (seen, 3);
  expect_no_message (&run);
  run_stop (&run);
  layer_case_clear (&one);
  layer_case_clear (&other);
  g_rand_free (random);
}
GST_END_TEST;

/* What cannot be is a warning, once, and the layer that was good stays, or the mask. */
GST_START_TEST (test_bad_while_playing)
{
  static const gfloat weights[25] = { 0.5, 0.25 };
  LayerCase good = layer_case_plain (folder, 1, 3, 1, 1, weights);
  LayerCase large = layer_case_plain (folder, 1, 1, 5, 5, weights);
  g_autofree gchar *line = layer_case_line (&good), *junk = g_build_filename (folder, "junk", NULL);
  Run run = run_start (line, "BGR", 12, 3);

  fail_unless (g_file_set_contents (junk, "nothing", -1, NULL));
  run_check (&run, &good, FRAME_PLAIN, "good");
  expect_no_message (&run);

#define STAYS(text, ...) \
  g_object_set (run.element, __VA_ARGS__, NULL); \
  run_check (&run, &good, FRAME_PLAIN, "the good one stays"); \
  expect_message (&run, GST_MESSAGE_WARNING, text); \
  g_object_set (run.element, "n-threads", 1, NULL); \
  run_check (&run, &good, FRAME_PLAIN, "the good one stays"); \
  expect_no_message (&run); \
  layer_case_set (&good, run.element); \
  run_check (&run, &good, FRAME_PLAIN, "good again"); \
  expect_no_message (&run)
  STAYS ("junk: the file is neither a .npy nor a .npz", "layer-location", junk);
  STAYS ("/nowhere: ", "layer-location", "/nowhere");
  STAYS ("the frames are BGR, and a layer of 1 channel takes GRAY8", "layer-location", large.location);
  STAYS ("padding: \"much\" is not", "padding", "much");
  STAYS ("layer-channels: \"1\" is not one of 0 to 0", "layer-channels", "0,1");
  STAYS ("layer-channels: 2 feature maps make no", "layer-channels", "0,0");
  STAYS ("frames of 12x3 give no output: a pooling height of 4", "pool-size", 4);
  /* A mask that was never good does not end the stream when the layer goes. */
  g_object_set (run.element, "mask", "1 x", NULL);
  run_check (&run, &good, FRAME_PLAIN, "a layer beside a bad mask");
  expect_no_message (&run);
  g_object_set (run.element, "layer-location", "", NULL);
  gst_buffer_unref (gst_harness_push_and_pull (run.harness, frame_new (&run.info, FRAME_PLAIN, 1)));
  expect_message (&run, GST_MESSAGE_WARNING, "mask: \"x\" at row 1, value 2");
  run_stop (&run);

  /* With no layer before it. */
  run = run_start ("mask=identity", "GRAY8", 3, 3);
  gst_buffer_unref (gst_harness_push_and_pull (run.harness, frame_new (&run.info, FRAME_PLAIN, 1)));
  g_object_set (run.element, "layer-location", large.location, "padding", "valid", NULL);
  gst_buffer_unref (gst_harness_push_and_pull (run.harness, frame_new (&run.info, FRAME_PLAIN, 1)));
  expect_message (&run, GST_MESSAGE_WARNING, "frames of 3x3 give no output: a kernel height of 5");
  run_stop (&run);
  g_unlink (junk);
  layer_case_clear (&good);
  layer_case_clear (&large);
}
GST_END_TEST;

/* Downstream takes one size alone: a layer that makes another is refused, and one that makes it is not. */
GST_START_TEST (test_refused_downstream)
{
  static const gfloat weights[9] = { 0.5, 0.25, 0, 0, 0, 0, 0, 0, -0.5 };
  LayerCase good = layer_case_plain (folder, 1, 1, 3, 3, weights);
  LayerCase other = layer_case_plain (folder, 1, 1, 1, 1, weights);
  g_autofree gchar *line = layer_case_line (&good);
  Run run = run_start (line, "GRAY8", 12, 12);

  gst_harness_set_sink_caps (run.harness, frame_caps ("GRAY8", 10, 10, NULL));
  run_check (&run, &good, FRAME_PLAIN, "good");
  layer_case_set (&other, run.element);
  run_check (&run, &good, FRAME_PLAIN, "the one that is taken stays");
  expect_message (&run, GST_MESSAGE_WARNING, "the next element takes none of the frames");
  g_object_set (run.element, "n-threads", 1, NULL);
  run_check (&run, &good, FRAME_PLAIN, "the one that is taken stays");
  expect_no_message (&run);
  good.offset = 0.25;
  layer_case_set (&good, run.element);
  run_check (&run, &good, FRAME_PLAIN, "good again");
  expect_no_message (&run);
  run_stop (&run);
  layer_case_clear (&good);
  layer_case_clear (&other);
}
GST_END_TEST;

/* --- errors before the first frame --- */

GST_START_TEST (test_bad_before_playing)
{
  static const gfloat weights[18] = { 1 };
  LayerCase layer = layer_case_plain (folder, 6, 3, 1, 1, weights);
  struct
  {
    const gchar *location, *more, *text;
  } rows[] = {
    { layer.location, "",
        "6 feature maps make no GRAY8, RGB or RGBA frame; choose 1, 3 or 4 of 6, or set mosaic=true" },
    { layer.location, "layer-channels=6", "layer-channels: \"6\" is not one of 0 to 5" },
    { layer.location, "mosaic=true padding=some", "padding: \"some\"" },
    { layer.location, "mosaic=true divisor=1e-60", "divisor: 1e-60" },
    { "/nowhere/at.npy", "", "layer-location: /nowhere/at.npy: " },
    { folder, "", ": not a regular file" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf ("layer-location=%s %s", rows[i].location, rows[i].more);
    Run run = run_start (line, "RGB", 8, 8);

    fail_unless (run.harness == NULL, "%s started", line);
    expect_message (&run, GST_MESSAGE_ERROR, rows[i].text);
    run_stop (&run);
  }
  layer_case_clear (&layer);
}
GST_END_TEST;

/* A variant that only masks have. */
GST_START_TEST (test_variants)
{
  static const gfloat weights[] = { 1 };
  LayerCase layer = layer_case_plain (folder, 1, 1, 1, 1, weights);
  g_autofree gchar *line =
      g_strdup_printf ("layer-location=%s kernel-variant=%s", layer.location, over_device ? "separable" : "cpu");
  g_autofree gchar *reference = g_strdup_printf ("layer-location=%s kernel-variant=cpu-reference", layer.location);
  g_autofree gchar *variant = NULL;
  GstStructure *stats;
  Run run = run_start (reference, "GRAY8", 8, 8);

  run_check (&run, &layer, FRAME_PLAIN, "the reference");
  g_object_get (run.element, "active-variant", &variant, "stats", &stats, NULL);
  fail_unless_equals_string (variant, "cpu-reference");
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"), "cpu");
  gst_structure_free (stats);
  run_stop (&run);
  if (over_device) {
    run = run_start (line, "GRAY8", 8, 8);
    fail_unless_equals_int (gst_harness_push (run.harness, frame_new (&run.info, FRAME_PLAIN, 1)), GST_FLOW_ERROR);
    expect_message (&run, GST_MESSAGE_ERROR, "kernel-variant: separable computes masks, and a layer is set");
    run_stop (&run);
    run = run_start ("kernel-variant=gemm", "GRAY8", 8, 8);
    fail_unless_equals_int (gst_harness_push (run.harness, frame_new (&run.info, FRAME_PLAIN, 1)), GST_FLOW_ERROR);
    expect_message (&run, GST_MESSAGE_ERROR, "kernel-variant: gemm computes layers, and a mask is set");
    run_stop (&run);
    run = run_start (g_strrstr (reference, "layer-location"), "GRAY8", 8, 8);
    gst_util_set_object_arg (G_OBJECT (run.element), "kernel-variant", "auto");
    run_check (&run, &layer, FRAME_PLAIN, "over the device");
    g_object_get (run.element, "stats", &stats, NULL);
    fail_unless_equals_string (gst_structure_get_string (stats, "backend"), "cuda");
    gst_structure_free (stats);
    run_stop (&run);
  }
  layer_case_clear (&layer);
}
GST_END_TEST;

/* Frames that overlap on the device come out in order, with the layer that each went in with. */
GST_START_TEST (test_frames_in_flight)
{
  GRand *random = g_rand_new_with_seed (seed);
  LayerCase layer = layer_case_random (random, folder, 3, 1);
  g_autofree gchar *plain = layer_case_line (&layer);
  g_autofree gchar *line = g_strdup_printf ("frames-in-flight=3 %s", plain);
  Run run = run_start (line, "GRAY8", 40, 30);
  GstBuffer *in[8];
  GstStructure *stats;
  GstVideoInfo info;
  gboolean on_device;

  for (guint i = 0; i < G_N_ELEMENTS (in); i++) {
    in[i] = frame_new (&run.info, FRAME_PLAIN, seed + i);
    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in[i])), GST_FLOW_OK);
  }
  g_object_get (run.element, "stats", &stats, NULL);
  on_device = g_str_equal (gst_structure_get_string (stats, "backend"), "cuda");
  gst_structure_free (stats);
  fail_unless_equals_int (gst_harness_buffers_in_queue (run.harness), on_device ? 6 : 8);
  fail_unless (gst_harness_push_event (run.harness, gst_event_new_eos ()));
  info = out_info (&run);
  for (guint i = 0; i < G_N_ELEMENTS (in); i++) {
    GstBuffer *out = gst_harness_pull (run.harness);

    layer_case_check (&layer, &run.info, in[i], &info, out, "in order");
    gst_buffer_unref (in[i]);
    gst_buffer_unref (out);
  }
  run_stop (&run);
  layer_case_clear (&layer);
  g_rand_free (random);
}
GST_END_TEST;

/* Another picture in the same memory: what an output has from the frame before it is wrong then. */
static void
change_picture (GstBuffer *buffer, guint8 bits)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] ^= bits;
  gst_buffer_unmap (buffer, &map);
}

/* Frames that are large enough for strips, and pinned once they have come before: they meet without a seam. */
GST_START_TEST (test_strips)
{
  static const gchar *const formats[] = { "RGB", "GBR", "BGRx", "RGBP", "GRAY8" };
  GRand *random = g_rand_new_with_seed (seed);

  for (gint boundary = 0; boundary < 5; boundary++)
    for (gint pooled = 0; pooled < 2; pooled++) {
      LayerCase layer = layer_case_random (random, folder, pooled ? 3 : 1, boundary == 4 ? 1 : 3);
      g_autofree gchar *line = NULL;
      GstBuffer *in, *out;
      GstVideoInfo info;
      Run run;

      layer.boundary = boundary;
      layer.padding = 3;
      layer.stride = 3 + pooled;
      layer.pool_size = 1 + pooled;
      line = layer_case_line (&layer);
      run = run_start (line, formats[boundary], 900, 1100);
      in = frame_new (&run.info, boundary % 2 ? FRAME_UPSIDE_DOWN : FRAME_PLAIN, seed);
      for (gint i = 0; i < 3; i++) {
        change_picture (in, 80 * i + 1);
        fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
        out = gst_harness_pull (run.harness);
        info = out_info (&run);
        if (i == 2)
          layer_case_check (&layer, &run.info, in, &info, out, "strips");
        gst_buffer_unref (out);
      }
      gst_buffer_unref (in);
      run_stop (&run);
      layer_case_clear (&layer);
    }
  g_rand_free (random);
}
GST_END_TEST;

/* --- metas --- */

/* Places in the picture are scaled with it; a mosaic has none; what speaks of no place stays. */
GST_START_TEST (test_metas)
{
  static const gfloat weights[9] = { 1 };

  for (gint mosaic = 0; mosaic < 2; mosaic++) {
    LayerCase layer = layer_case_plain (folder, 1, 1, 3, 3, weights);
    g_autofree gchar *line = NULL;
    g_autoptr (GstCaps) reference = gst_caps_new_empty_simple ("timestamp/x-test");
    GstVideoRegionOfInterestMeta *roi;
    GstVideoCropMeta *crop;
    GstBuffer *buffer;
    Run run;

    layer.padding = -1;
    layer.stride = 2;
    layer.mosaic = mosaic;
    line = layer_case_line (&layer);
    run = run_start (line, "GRAY8", 40, 20);
    buffer = frame_new (&run.info, FRAME_PLAIN, seed);
    roi = gst_buffer_add_video_region_of_interest_meta (buffer, "face", 10, 6, 20, 8);
    gst_video_region_of_interest_meta_add_param (roi, gst_structure_new_empty ("detection"));
    crop = gst_buffer_add_video_crop_meta (buffer);
    crop->x = 4;
    crop->y = 2;
    crop->width = 30;
    crop->height = 16;
    gst_buffer_add_reference_timestamp_meta (buffer, reference, 5, 6);
    fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (run.harness);
    roi = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    crop = gst_buffer_get_video_crop_meta (buffer);
    fail_unless (gst_buffer_get_reference_timestamp_meta (buffer, reference) != NULL);
    if (mosaic) {
      fail_unless (roi == NULL && crop == NULL);
    } else {
      fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);
      fail_unless (roi && roi->x == 5 && roi->y == 3 && roi->w == 10 && roi->h == 4);
      fail_unless (gst_video_region_of_interest_meta_get_param (roi, "detection") != NULL);
      fail_unless (crop && (crop->x == 2 && crop->y == 1 && crop->width == 15 && crop->height == 8));
    }
    gst_buffer_unref (buffer);
    run_stop (&run);
    layer_case_clear (&layer);
  }
}
GST_END_TEST;

static Suite *
layer_element_suite (void)
{
  Suite *suite = suite_create ("layer_element");
  TCase *tc = tcase_create ("layer_element");
  const gchar *given = g_getenv ("CUDACONVOLVE_SEED");

  seed = given ? g_ascii_strtoull (given, NULL, 10) : g_random_int ();
  g_print ("seed %u: CUDACONVOLVE_SEED=%u repeats this run\n", seed, seed);
  over_device = g_getenv ("CUDACONVOLVE_OVER_DEVICE") != NULL;
  folder = g_dir_make_tmp ("cudaconvolve-XXXXXX", NULL);

  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_maps);
  tcase_add_test (tc, test_unused_byte);
  tcase_add_test (tc, test_ranges);
  tcase_add_test (tc, test_odd_output);
  tcase_add_test (tc, test_layer_after_passthrough);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_changes_from_another_thread);
  tcase_add_test (tc, test_bad_while_playing);
  tcase_add_test (tc, test_refused_downstream);
  tcase_add_test (tc, test_bad_before_playing);
  tcase_add_test (tc, test_variants);
  tcase_add_test (tc, test_frames_in_flight);
  tcase_add_test (tc, test_strips);
  tcase_add_test (tc, test_metas);
  return suite;
}

int
main (int argc, char **argv)
{
  int failed;

  gst_check_init (&argc, &argv);
  failed = gst_check_run_suite (layer_element_suite (), "layer_element", __FILE__);
  if (folder)
    g_rmdir (folder);
  g_free (folder);
  return failed;
}
