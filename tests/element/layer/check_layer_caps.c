/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps of layers: sizes and formats in both directions, against every size there is, and in whole pipelines. */
#include <gst/base/gstbasetransform.h>
#include <gst/check/gstcheck.h>

#include <glib/gstdio.h>

#include "element/layer/check_layer_caps.h"

#define MOST 70 /* the largest side of an input that is tried */

guint32 seed;
gchar *folder;

/* Starts an element with this layer. */
static GstElement *
element_start (const LayerCase *layer)
{
  g_autofree gchar *line = layer_case_line (layer), *description = g_strdup_printf ("cudaconvlayer %s", line);
  GstElement *element = gst_object_ref_sink (gst_parse_launch (description, NULL));

  fail_unless (gst_element_set_state (element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE, "%s", line);
  return element;
}

static void
element_stop (GstElement *element)
{
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}

/* Calls transform_caps(); the caps are taken. */
static GstCaps *
transform (GstElement *element, GstPadDirection direction, GstCaps *caps)
{
  GstCaps *other =
      GST_BASE_TRANSFORM_GET_CLASS (element)->transform_caps (GST_BASE_TRANSFORM (element), direction, caps, NULL);

  gst_caps_unref (caps);
  return other;
}

static gboolean
allows (GstCaps *caps, const gchar *field, gint number)
{
  g_autoptr (GstCaps) one = gst_caps_new_simple ("video/x-raw", field, G_TYPE_INT, number, NULL);

  return gst_caps_can_intersect (caps, one);
}

static GstCaps *
gray_caps (const gchar *field, gint least, gint most)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", NULL);

  if (least == most)
    gst_caps_set_simple (caps, field, G_TYPE_INT, least, NULL);
  else
    gst_caps_set_simple (caps, field, GST_TYPE_INT_RANGE, least, most, NULL);
  return caps;
}

/*
 * Each input size gives the output size of the formula, or none. Each output size gives exactly the input sizes that
 * make it.
 */
static void
check_numbers (GstElement *element, const LayerCase *layer, gboolean vertical)
{
  const gchar *field = vertical ? "height" : "width";
  gint sizes[MOST + 1], most = 0;

  for (gint n = 1; n <= MOST; n++) {
    GstCaps *out = transform (element, GST_PAD_SINK, gray_caps (field, n, n));

    sizes[n] = layer_case_side (layer, vertical, n);
    most = MAX (most, sizes[n]);
    if (sizes[n] == 0) {
      fail_unless (gst_caps_is_empty (out), "%d: %s", n, gst_caps_to_string (out));
    } else {
      gint size;

      fail_unless (gst_structure_get_int (gst_caps_get_structure (out, 0), field, &size), "%d", n);
      fail_unless_equals_int (size, sizes[n]);
    }
    gst_caps_unref (out);
  }
  for (gint size = 1; size <= most + 2; size++) {
    GstCaps *in = transform (element, GST_PAD_SRC, gray_caps (field, size, size));

    for (gint n = 1; n <= MOST; n++)
      if (allows (in, field, n) != (sizes[n] == size))
        fail ("%s %d to %d: %s", field, n, size, gst_caps_to_string (in));
    gst_caps_unref (in);
  }
}

/* The same for ranges with random ends. */
static void
check_ranges (GstElement *element, const LayerCase *layer, gboolean vertical, GRand *random)
{
  const gchar *field = vertical ? "height" : "width";

  for (gint round = 0; round < 10; round++) {
    gint least = g_rand_int_range (random, 1, MOST), most = g_rand_int_range (random, least, MOST + 1);
    GstCaps *out = transform (element, GST_PAD_SINK, gray_caps (field, least, most));
    GstCaps *in = transform (element, GST_PAD_SRC, gray_caps (field, least, most));
    g_autofree gboolean *made = g_new0 (gboolean, 6 * MOST + 600);

    for (gint n = 1; n <= MOST; n++) {
      gint size = layer_case_side (layer, vertical, n);

      if (n >= least && n <= most)
        made[size] = TRUE;
      if (allows (in, field, n) != (size >= least && size <= most))
        fail ("%s %d: %d to %d gives %s", field, n, least, most, gst_caps_to_string (in));
    }
    for (gint size = 1; size < 5 * MOST; size++)
      if (allows (out, field, size) != made[size])
        fail ("%s %d: %d to %d gives %s", field, size, least, most, gst_caps_to_string (out));
    gst_caps_unref (in);
    gst_caps_unref (out);
  }
}

GST_START_TEST (test_sizes)
{
  GRand *random = g_rand_new_with_seed (seed);

  for (gint i = 0; i < 60; i++) {
    gint filters = i % 3 == 0 ? g_rand_int_range (random, 2, 12) : 1;
    LayerCase layer = layer_case_random (random, folder, filters, 1);
    GstElement *element;

    layer.mosaic = filters > 1;
    element = element_start (&layer);
    for (gint vertical = 0; vertical < 2; vertical++) {
      check_numbers (element, &layer, vertical);
      check_ranges (element, &layer, vertical, random);
    }
    element_stop (element);
    layer_case_clear (&layer);
  }
  g_rand_free (random);
}
GST_END_TEST;

/* Worked sizes: (in + 2p - k) / s + 1, then the same for pooling. */
GST_START_TEST (test_worked_sizes)
{
  static const gfloat weights[121] = { 1 };
  static const struct
  {
    gint in, kernel, stride, padding, pool, pool_stride, out;
  } rows[] = { { 32, 5, 1, 2, 1, 1, 32 }, { 32, 5, 1, 0, 1, 1, 28 }, { 28, 5, 1, 0, 2, 2, 12 },
    { 224, 7, 2, 3, 3, 2, 55 }, { 227, 11, 4, 0, 3, 2, 27 }, { 224, 11, 4, 2, 1, 1, 55 }, { 7, 7, 1, 0, 1, 1, 1 },
    { 6, 7, 1, 0, 1, 1, 0 }, { 224, 3, 2, -1, 1, 1, 112 }, { 225, 3, 2, -1, 1, 1, 113 }, { 5, 1, 1, 0, 6, 1, 0 },
    { 5, 1, 1, 0, 5, 1, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    LayerCase layer = layer_case_plain (folder, 1, 1, rows[i].kernel, rows[i].kernel, weights);
    GstElement *element;
    GstCaps *out;

    layer.stride = rows[i].stride;
    layer.padding = rows[i].padding;
    layer.pool_size = rows[i].pool;
    layer.pool_stride = rows[i].pool_stride;
    element = element_start (&layer);
    out = transform (element, GST_PAD_SINK, frame_caps ("GRAY8", rows[i].in, rows[i].in, NULL));
    if (rows[i].out == 0)
      fail_unless (gst_caps_is_empty (out));
    else
      fail_unless (
          allows (out, "width", rows[i].out) && allows (out, "height", rows[i].out) && gst_caps_is_fixed (out));
    gst_caps_unref (out);
    element_stop (element);
    layer_case_clear (&layer);
  }
}
GST_END_TEST;

/* Removes the caps in CUDA memory, which some builds append to those in system memory. */
static GstCaps *
without_last_cuda (GstCaps *caps)
{
  guint n = gst_caps_get_size (caps);

  if (n > 1 && gst_caps_features_contains (gst_caps_get_features (caps, n - 1), "memory:CUDAMemory"))
    gst_caps_remove_structure (caps, n - 1);
  return caps;
}

static void
expect_caps (GstElement *element, GstPadDirection direction, const gchar *from, const gchar *to)
{
  GstCaps *got = transform (element, direction, gst_caps_from_string (from)), *expected = gst_caps_from_string (to);

  if (gst_caps_get_size (expected) == 1)
    got = without_last_cuda (got);
  fail_unless (gst_caps_is_strictly_equal (got, expected), "%s gives %s, expected %s", from, gst_caps_to_string (got),
      to);
  gst_caps_unref (got);
  gst_caps_unref (expected);
}

#define ANY_RGB "RGB, RGBx, RGBA, BGR, BGRx, BGRA, xRGB, ARGB, xBGR, ABGR, GBR, GBRA, RGBP, BGRP"

/* fixate_caps() keeps the kind of format, whatever format the neighbour prefers. */
static void
expect_fixed (GstElement *element, const gchar *from, const gchar *offered, const gchar *format)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (from), fixed = NULL;

  fixed = GST_BASE_TRANSFORM_GET_CLASS (element)->fixate_caps (GST_BASE_TRANSFORM (element), GST_PAD_SINK, caps,
      gst_caps_from_string (offered));
  fail_unless (gst_caps_is_fixed (fixed));
  fail_unless_equals_string (gst_structure_get_string (gst_caps_get_structure (fixed, 0), "format"), format);
}

/* The caps for one format, for lists, and for formats that a layer does not take; and the fields that are kept. */
GST_START_TEST (test_formats)
{
  static const gfloat weights[12] = { 1 };
  LayerCase three = layer_case_plain (folder, 3, 3, 1, 1, weights);
  LayerCase four = layer_case_plain (folder, 4, 1, 1, 1, weights);
  GstElement *element = element_start (&three);
  GstCaps *caps, *expected;

  expect_caps (element, GST_PAD_SINK, "video/x-raw, format=I420, width=4, height=4", "EMPTY");
  expect_caps (element, GST_PAD_SINK, "video/x-raw, format=GRAY8, width=4, height=4", "EMPTY");
  caps = transform (element, GST_PAD_SINK,
      gst_caps_from_string ("video/x-raw, format=xBGR, width=4, height=5, "
                            "pixel-aspect-ratio=4/3, framerate=10/1, colorimetry=sRGB, interlace-mode=progressive"));
  expected = gst_caps_from_string (
      "video/x-raw, format={ xBGR, RGB, RGBx, RGBA, BGR, BGRx, BGRA, xRGB, ARGB, ABGR, "
      "GBR, GBRA, RGBP, BGRP }, width=4, height=5, pixel-aspect-ratio=4/3, framerate=10/1, interlace-mode=progressive");
  fail_unless (gst_structure_is_equal (gst_caps_get_structure (caps, 0), gst_caps_get_structure (expected, 0)), "%s",
      gst_caps_to_string (caps));
  gst_caps_unref (expected);
  gst_caps_unref (caps);
  caps = transform (element, GST_PAD_SRC, gst_caps_new_any ());
  fail_unless (allows (caps, "width", 1) && allows (caps, "height", 5000));
  gst_caps_unref (caps);
  expect_fixed (element, "video/x-raw, format=BGRx, width=4, height=5",
      "video/x-raw, format={ RGBA, BGRx }, "
      "width=4, height=5; video/x-raw, format=RGB, width=4, height=5",
      "BGRx");
  expect_fixed (element, "video/x-raw, format=GBR, width=4, height=5",
      "video/x-raw, format={ BGRP, xRGB }, "
      "width=4, height=5; video/x-raw, format=RGB, width=4, height=5",
      "RGB");
  element_stop (element);

  element = element_start (&four);
  expect_caps (element, GST_PAD_SRC, "video/x-raw, format={ I420, GBRA, RGBA }, width=4, height=4",
      "video/x-raw, format=GRAY8, width=4, height=4");
  expect_caps (element, GST_PAD_SRC, "video/x-raw, format={ I420, RGB }, width=4, height=4", "EMPTY");
  expect_caps (element, GST_PAD_SINK, "video/x-raw, format={ I420, GRAY8 }, width={ 4, 5 }, height=[ 4, 9 ]",
      "video/x-raw, format={ RGBA, BGRA, ARGB, ABGR, GBRA }, width={ 4, 5 }, height=[ 4, 9 ]");
  element_stop (element);
  layer_case_clear (&three);
  layer_case_clear (&four);
}
GST_END_TEST;

/*
 * CUDA memory has no gray format. The caps name the input's memory first where it has the formats, and otherwise only
 * system memory.
 */
GST_START_TEST (test_cuda_memory)
{
  static const gfloat weights[9] = { 1 };
  LayerCase three = layer_case_plain (folder, 3, 3, 1, 1, weights);
  LayerCase one = layer_case_plain (folder, 1, 3, 1, 1, weights);
  GstElement *element = element_start (&three);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);

  if (!gst_caps_features_contains (gst_caps_get_features (template, 0), "memory:CUDAMemory")) {
    g_print ("SKIP: this build has no frames in CUDA memory\n");
  } else {
    expect_caps (element, GST_PAD_SINK, "video/x-raw(memory:CUDAMemory), format=BGRx, width=4, height=5",
        "video/x-raw(memory:CUDAMemory), format={ BGRx, RGB, RGBx, RGBA, BGR, BGRA, ARGB, ABGR, GBR, GBRA, RGBP, "
        "BGRP }, width=4, height=5; video/x-raw, format={ BGRx, RGB, RGBx, RGBA, BGR, BGRA, xRGB, ARGB, xBGR, ABGR, "
        "GBR, GBRA, "
        "RGBP, BGRP }, width=4, height=5");
    element_stop (element);
    element = element_start (&one);
    expect_caps (element, GST_PAD_SINK, "video/x-raw(memory:CUDAMemory), format=RGBA, width=4, height=5",
        "video/x-raw, format=GRAY8, width=4, height=5");
    expect_caps (element, GST_PAD_SRC, "video/x-raw, format=GRAY8, width=4, height=5",
        "video/x-raw, format={ " ANY_RGB " }, width=4, height=5; video/x-raw(memory:CUDAMemory), format={ RGB, RGBx, "
        "RGBA, BGR, BGRx, BGRA, ARGB, ABGR, GBR, GBRA, RGBP, BGRP }, width=4, height=5");
  }
  element_stop (element);
  layer_case_clear (&three);
  layer_case_clear (&one);
}
GST_END_TEST;

/* Runs a pipeline to the end. Returns the caps at the element named "seen", or NULL after printing the error. */
static GstCaps *
run_pipeline (const LayerCase *layer, const gchar *before, const gchar *behind)
{
  g_autofree gchar *line = layer_case_line (layer);
  g_autofree gchar *description =
      g_strdup_printf ("%s ! cudaconvlayer name=seen %s ! %s ! fakesink", before, line, behind);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error), *seen;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstPad) pad = NULL;
  GstMessage *message;
  GstCaps *caps = NULL;

  fail_unless (error == NULL, "%s: %s", description, error ? error->message : "");
  bus = gst_element_get_bus (pipeline);
  seen = gst_bin_get_by_name (GST_BIN (pipeline), "seen");
  pad = gst_element_get_static_pad (seen, "src");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "%s hangs", description);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    caps = gst_pad_get_current_caps (pad);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (seen);
  gst_object_unref (pipeline);
  return caps;
}

static void
expect_pipeline (const LayerCase *layer, const gchar *before, const gchar *behind, const gchar *expected)
{
  g_autoptr (GstCaps) got = run_pipeline (layer, before, behind);
  g_autoptr (GstCaps) caps = expected ? gst_caps_from_string (expected) : NULL;

  if (!expected)
    fail_unless (got == NULL, "%s ! ... ! %s: %s", before, behind, gst_caps_to_string (got));
  else
    fail_unless (got && gst_caps_is_subset (got, caps), "%s ! ... ! %s: %s", before, behind,
        got ? gst_caps_to_string (got) : "no caps");
}

GST_START_TEST (test_pipelines)
{
  static const gfloat weights[9 * 12] = { 0.5, 0, 0, 0.25 };
  LayerCase layer = layer_case_plain (folder, 3, 3, 2, 2, weights);
  LayerCase gray = layer_case_plain (folder, 1, 1, 7, 7, weights);

  layer.padding = -1;
  layer.stride = 2;
  expect_pipeline (&layer, "videotestsrc num-buffers=3", "videoconvert",
      "video/x-raw, width=160, height=120, framerate=30/1, pixel-aspect-ratio=1/1");
  expect_pipeline (&layer,
      "videotestsrc num-buffers=3 ! video/x-raw, format=I420, width=51, height=30, "
      "framerate=10/1, pixel-aspect-ratio=4/3 ! videoconvert",
      "videoconvert ! video/x-raw, format=NV12",
      "video/x-raw, format={ " ANY_RGB " }, width=26, height=15, framerate=10/1, pixel-aspect-ratio=4/3");
  expect_pipeline (&layer, "videotestsrc num-buffers=3 ! video/x-raw, format=BGRx", "video/x-raw",
      "video/x-raw, format=BGRx, width=160, height=120");
  /* The kind of format of the input stays, whatever downstream prefers. */
  expect_pipeline (&layer, "videotestsrc num-buffers=3 ! video/x-raw, format=BGRx",
      "video/x-raw, format={ RGBA, BGRx }", "video/x-raw, format=BGRx");
  expect_pipeline (&layer, "videotestsrc num-buffers=3 ! video/x-raw, format=BGRx", "video/x-raw, format={ GBR, xRGB }",
      "video/x-raw, format=xRGB");
  /* Downstream chooses the size, and upstream follows. */
  expect_pipeline (&layer, "videotestsrc num-buffers=3", "video/x-raw, format=BGR, width=33, height=44",
      "video/x-raw, format=BGR, width=33, height=44");
  expect_pipeline (&layer, "videotestsrc num-buffers=3 ! videoscale ! videoconvert", "video/x-raw, width=33, height=44",
      "video/x-raw, width=33, height=44");
  /* A layer after a layer and a mask after both, between neighbours with few formats in common. */
  {
    g_autofree gchar *line = layer_case_line (&layer);
    g_autofree gchar *behind = g_strdup_printf ("cudaconvlayer %s ! cudaconvolve mask=box ! videoconvert", line);

    expect_pipeline (&layer, "videotestsrc num-buffers=3", behind, "video/x-raw, width=160, height=120");
  }
  /* Sizes and formats that cannot be made. */
  expect_pipeline (&layer, "videotestsrc num-buffers=3 ! video/x-raw, width=64, height=64", "video/x-raw, width=64",
      NULL);
  expect_pipeline (&gray, "videotestsrc num-buffers=3 ! video/x-raw, width=6, height=64", "identity", NULL);
  expect_pipeline (&gray, "videotestsrc num-buffers=3 ! video/x-raw, format=RGB", "identity", NULL);
  expect_pipeline (&gray, "videotestsrc num-buffers=3 ! video/x-raw, width=7, height=64", "identity",
      "video/x-raw, format=GRAY8, width=1, height=58");
  layer_case_clear (&layer);
  layer_case_clear (&gray);
}
GST_END_TEST;

/* Each start reads the file again. */
GST_START_TEST (test_restart)
{
  static const gfloat weights[9] = { 1 };
  LayerCase layer = layer_case_plain (folder, 1, 1, 3, 3, weights);
  LayerCase other = layer_case_plain (folder, 1, 1, 1, 5, weights);
  GstElement *element = element_start (&layer);
  gchar *content;
  gsize length;

  for (gint i = 0; i < 2; i++) {
    GstCaps *out = transform (element, GST_PAD_SINK, frame_caps ("GRAY8", 20, 20, NULL));

    fail_unless (allows (out, "width", i ? 16 : 18) && allows (out, "height", i ? 20 : 18));
    gst_caps_unref (out);
    gst_element_set_state (element, GST_STATE_NULL);
    /* While the element is stopped, the size that the file will give is not known. */
    out = transform (element, GST_PAD_SINK, frame_caps ("GRAY8", 20, 20, NULL));
    fail_unless (allows (out, "width", 99));
    gst_caps_unref (out);
    fail_unless (g_file_get_contents (other.location, &content, &length, NULL)
        && g_file_set_contents (layer.location, content, length, NULL));
    g_free (content);
    fail_unless (gst_element_set_state (element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  }
  element_stop (element);
  layer_case_clear (&layer);
  layer_case_clear (&other);
}
GST_END_TEST;

static Suite *
layer_caps_suite (void)
{
  Suite *suite = suite_create ("layer_caps");
  TCase *tc = tcase_create ("layer_caps");

  seed = check_seed ();
  folder = check_folder ();

  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_sizes);
  tcase_add_test (tc, test_worked_sizes);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_cuda_memory);
  tcase_add_test (tc, test_pipelines);
  tcase_add_test (tc, test_restart);
  suite_add_tcase (suite, layer_refused ());
  return suite;
}

int
main (int argc, char **argv)
{
  int failed;

  gst_check_init (&argc, &argv);
  failed = gst_check_run_suite (layer_caps_suite (), "layer_caps", __FILE__);
  check_remove_folder (folder);
  return failed;
}
