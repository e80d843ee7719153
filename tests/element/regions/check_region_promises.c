/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What regions promise beside their look: no copy without need, no leak, no detail, and errors in words. */
#include <string.h>

#include "element/regions/check_regions.h"

/* --- what a frame costs --- */

/* A frame without boxes is the very buffer that came. One with boxes is, too, where nobody else holds it. */
GST_START_TEST (in_place)
{
  GstVideoInfo info = info_of ("NV12", 64, 48);
  GstHarness *harness = harness_new_for (FILL, &info);
  GstBuffer *pushed = grey_frame (&info, 0), *out;
  g_autoptr (GstBuffer) kept = NULL;

  push_ok (harness, pushed);
  out = gst_harness_pull (harness);
  fail_unless (out == pushed);
  gst_buffer_unref (out);

  pushed = add_region (grey_frame (&info, GST_SECOND), "face", 3, 3, 8, 8);
  push_ok (harness, pushed);
  out = gst_harness_pull (harness);
  fail_unless (out == pushed);
  gst_buffer_unref (out);

  kept = add_region (grey_frame (&info, 2 * GST_SECOND), "face", 3, 3, 8, 8);
  push_ok (harness, gst_buffer_ref (kept));
  out = gst_harness_pull (harness);
  fail_unless (out != kept);
  for (guint i = 0; i < info.size; i++) {
    guint8 byte;

    gst_buffer_extract (kept, i, &byte, 1);
    fail_unless_equals_int (byte, 128);
  }
  gst_buffer_unref (out);

  /* A writable buffer whose memory another buffer shares, as behind a tee or imagefreeze. */
  pushed = gst_buffer_copy (kept);
  push_ok (harness, pushed);
  out = gst_harness_pull (harness);
  fail_unless (out != pushed);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Many boxes, boxes over each other, and the whole frame a thousand times. */
GST_START_TEST (thousand_boxes)
{
  GstVideoInfo info = info_of ("I420", 320, 240);
  g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed);
  g_autoptr (GstBuffer) whole = convolve_whole (MASK, &info, in);
  ConvolveRect *boxes = g_new (ConvolveRect, 1000);
  CheckRandom random;

  check_random_init (&random, seed, 0);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) out = NULL;
    GstHarness *harness;
    Component expected[4];

    for (guint k = 0; k < 1000; k++)
      boxes[k] = i == 0 ? (ConvolveRect){ k % 32 * 10, k / 32 * 7, 6, 4 }
          : i == 1      ? (ConvolveRect){ check_random_range (&random, -9, 320), check_random_range (&random, -9, 240),
                   check_random_range (&random, 1, 40), check_random_range (&random, 1, 40) }
                        : (ConvolveRect){ 0, 0, 320, 240 };
    g_autofree gchar *text = text_of (boxes, 1000);
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve " MASK " apply-to=regions region-effect=mask regions=\"%s\"", text);
    harness = harness_new_for (line, &info);
    frame_read (&info, in, expected);
    expect_effect (&info, expected, whole, boxes, 1000, CONVOLVE_SHAPE_RECTANGLE, 0, FALSE);
    out = push_frame (harness, in, TRUE);
    compare_components (&info, expected, out, "1,000 boxes");
    frame_clear (expected);
    gst_harness_teardown (harness);
  }
  g_free (boxes);
}
GST_END_TEST;

/* --- leaks --- */

/* Two frames that differ inside a box alone; their results must not differ beyond `radius` pixels of the box. */
static void
expect_no_leak (const gchar *properties, gint radius)
{
  GstVideoInfo info = info_of ("GRAY8", 160, 120);
  GstBuffer *out[2];
  Component got[2][4];

  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve regions=60,40,30,20 %s", properties);
    GstHarness *harness = harness_new_for (line, &info);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed), other = frame_new (&info, FRAME_PLAIN, seed + 1);

    for (gint y = 40; y < 60 && i == 1; y++) {
      guint8 row[30];

      gst_buffer_extract (other, y * 160 + 60, row, 30);
      gst_buffer_fill (in, y * 160 + 60, row, 30);
    }
    out[i] = push_frame (harness, in, FALSE);
    frame_read (&info, out[i], got[i]);
    gst_harness_teardown (harness);
  }
  for (gint y = 0; y < 120; y++)
    for (gint x = 0; x < 160; x++)
      if (x < 60 - radius || x >= 90 + radius || y < 40 - radius || y >= 60 + radius)
        fail_unless (got[0][0].samples[y * 160 + x] == got[1][0].samples[y * 160 + x], "%s: %d,%d tells of the box",
            properties, x, y);
  for (guint i = 0; i < 2; i++) {
    frame_clear (got[i]);
    gst_buffer_unref (out[i]);
  }
}

GST_START_TEST (leaks)
{
  expect_no_leak ("apply-to=regions region-effect=mask mask=gaussian sigma=4", 0);
  expect_no_leak ("apply-to=regions region-effect=pixelate", 0);
  expect_no_leak ("apply-to=regions mask=gaussian region-strength=0.4 region-feather=7", 0 + 7);
  expect_no_leak ("apply-to=outside-regions mask=gaussian sigma=4", 12);
  expect_no_leak ("apply-to=outside-regions region-effect=fill", 0);
}
GST_END_TEST;

/* The strongest detail that is left inside a box, as a share of what was there: stripes of some width, black and white. */
static gdouble
detail_left (const gchar *properties, gint side, gint stripe)
{
  GstVideoInfo info = info_of ("GRAY8", side * 2, side * 2);
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve boundary=reflect apply-to=regions regions=%d,%d,%d,%d %s",
      side / 2, side / 2, side, side, properties);
  GstHarness *harness = harness_new_for (line, &info);
  g_autoptr (GstBuffer) in = gst_buffer_new_allocate (NULL, info.size, NULL), out = NULL;
  gint least = 255, most = 0;
  Component got[4];

  for (gint i = 0; i < 4 * side * side; i++) {
    guint8 value = i % (2 * side) / stripe % 2 ? 255 : 0;

    gst_buffer_fill (in, i / (2 * side) * GST_VIDEO_INFO_PLANE_STRIDE (&info, 0) + i % (2 * side), &value, 1);
  }
  out = push_frame (harness, in, FALSE);
  frame_read (&info, out, got);
  for (gint y = side / 2; y < side * 3 / 2; y++)
    for (gint x = side / 2; x < side * 3 / 2; x++) {
      least = MIN (least, got[0].samples[y * 2 * side + x]);
      most = MAX (most, got[0].samples[y * 2 * side + x]);
    }
  frame_clear (got);
  gst_harness_teardown (harness);
  return (most - least) / 255.0;
}

/* With strength 0.2 nothing is left of details below a third of a box, however large the box is. */
GST_START_TEST (detail_is_gone)
{
  static const gint sides[] = { 20, 50, 100, 240, 600 };

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++) {
    gdouble gaussian = detail_left ("mask=gaussian region-strength=0.2", sides[i], sides[i] / 10);
    gdouble box = detail_left ("mask=box region-strength=0.2", sides[i], sides[i] / 10);
    gdouble coarse = detail_left ("mask=gaussian region-strength=0.2", sides[i], sides[i] / 2);

    fail_unless (gaussian < 0.03 && box < 0.25, "%d: %g and %g of the detail is left", sides[i], gaussian, box);
    fail_unless (coarse > 0.05, "%d: %g of a coarse shape is left", sides[i], coarse);
  }
}
GST_END_TEST;

/* --- settings that are wrong or idle --- */

GST_START_TEST (bad_settings)
{
  static const struct
  {
    const gchar *properties, *text;
  } rows[] = {
    { "regions=1,2,3", "regions: \"1,2,3\" is box 1 and lacks its height" },
    { "regions=\"1,2,3,4;5,6,x,8\"", "regions: \"x\" in box 2 is not a number" },
    { "regions=1,2,0,4", "regions: \"0\" in box 1 is no width: a width is above 0" },
    { "regions=1,2,3,-4%", "regions: \"-4%\" in box 1 is no height" },
    { "regions=1,2,3,4,5", "regions: \"5\" is one number too many in box 1" },
    { "regions=1e7,2,3,4", "regions: \"1e7\" in box 1 is above a million" },
    { "regions=1,2,3,4%%", "regions: \"4%%\" in box 1 is not a number" },
    { "region-types=face,,plate", "region-types: \"face,,plate\" has no name at place 2" },
    { "region-types=!", "region-types: \"!\" has no name at place 1" },
    { "mask=sobel-x region-strength=0.2",
        "region-strength: sobel-x in mask has no strength; gaussian and box have one" },
    { "mask=sobel-x region-strength=0",
        "region-strength: sobel-x in mask has no strength; gaussian and box have one, and region-strength=-1 takes" },
    { "region-strength=-0.5", "region-strength: -0.5 is neither -1 nor between 0 and 1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve apply-to=regions %s", rows[i].properties);
    Run run;

    run = run_start (line, "GRAY8", 32, 32);
    run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR,
        GST_LIBRARY_ERROR_SETTINGS, rows[i].text, NULL);
    run_stop (&run);
  }
}
GST_END_TEST;

/* While frames flow a bad text is a warning, and the good boxes stay; what is set beside the text holds. */
GST_START_TEST (bad_text_while_playing)
{
  Run run = run_start (FILL "regions=10,10,8,8", "GRAY8", 100, 80);

  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 10, 10, 8, 8, "good");
  g_object_set (run.element, "regions", "1,2,3", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 10, 10, 8, 8, "bad");
  run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR,
      GST_LIBRARY_ERROR_SETTINGS, "regions: ", NULL);
  g_object_set (run.element, "regions", "20,20,8,8", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 20, 20, 8, 8, "good again");
  g_object_set (run.element, "region-effect", 0, "region-strength", 0.2, "mask", "sobel-x", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 20, 20, 8, 8, "a mask without strength: still fill");
  run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR,
      GST_LIBRARY_ERROR_SETTINGS, "region-strength: sobel-x", NULL);
  run_stop (&run);
}
GST_END_TEST;

static gboolean
is_on_cpu (Run *run)
{
  g_autofree gchar *variant = NULL;

  gst_buffer_unref (push_frame (run->harness, grey_frame (&run->info, 0), FALSE));
  g_object_get (run->element, "active-variant", &variant, NULL);
  return g_str_equal (variant, "cpu");
}

/* In system memory a device is for the background, and the CPU for boxes; also after a change while frames flow. */
GST_START_TEST (changes_move_the_work)
{
  Run run;

  if (!g_getenv ("CUDACONVOLVE_VARIANT"))
    return; /* there is no device */
  run = run_start ("cudaconvolve kernel-variant=auto apply-to=outside-regions regions=10,10,8,8", "GRAY8", 100, 80);
  fail_unless (!is_on_cpu (&run));
  gst_util_set_object_arg (G_OBJECT (run.element), "apply-to", "regions");
  fail_unless (is_on_cpu (&run));
  gst_util_set_object_arg (G_OBJECT (run.element), "apply-to", "outside-regions");
  fail_unless (!is_on_cpu (&run));
  gst_util_set_object_arg (G_OBJECT (run.element), "region-effect", "fill");
  fail_unless (is_on_cpu (&run));
  run_stop (&run);
}
GST_END_TEST;

/* One box from two sources is pixelated once: memory and time are those of one box. */
GST_START_TEST (equal_boxes_are_one)
{
  GstVideoInfo info = info_of ("I420", 640, 480);
  GstHarness *harness = harness_new_for ("cudaconvolve apply-to=regions region-effect=pixelate", &info);
  GstBuffer *in = grey_frame (&info, 0);
  gint64 start = g_get_monotonic_time ();

  /* Each takes some milliseconds, so that all of them would take more than ten seconds. */
  for (guint i = 0; i < 3000; i++)
    add_region (in, "face", 0, 0, 640, 480);
  gst_buffer_unref (push_frame (harness, in, FALSE));
  fail_unless (g_get_monotonic_time () - start < 8 * G_USEC_PER_SEC);
  gst_harness_teardown (harness);
}
GST_END_TEST;

static void
append_output (GByteArray *bytes, GstHarness *harness, const GstVideoInfo *info, GstBuffer *in)
{
  g_autoptr (GstCaps) caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  GstBuffer *out;
  GstSample *sample;

  push_ok (harness, gst_buffer_copy_deep (in));
  out = gst_harness_pull (harness);
  sample = gst_sample_new (out, caps, NULL, NULL);
  frame_append_rows (bytes, sample);
  gst_sample_unref (sample);
  gst_buffer_unref (out);
}

/* After new caps the box is where the new frames have it, as with an element that has seen no other caps. */
GST_START_TEST (new_caps)
{
  static const gchar *const lines[] = { FILL "regions=1,1,4,4 region-color=0xffffffff",
    FILL "regions=25%,25%,50%,50% region-color=0xff204060", "cudaconvolve " MASK " apply-to=regions regions=3,2,9,5",
    "cudaconvolve " MASK " apply-to=outside-regions regions=3,2,9,5 region-feather=2",
    "cudaconvolve apply-to=regions region-effect=pixelate regions=2,2,12,4",
    "cudaconvolve mask=gaussian apply-to=regions region-strength=0.3 regions=2,2,12,4" };
  static const struct
  {
    const gchar *format;
    gint width, height;
    const gchar *more;
  } rows[] = { { "GRAY8", 16, 16, "" }, { "GRAY8", 32, 8, "" }, { "RGB", 20, 20, "" }, { "I420", 16, 8, "" },
    { "I420", 16, 8, ",interlace-mode=interleaved" }, { "I420", 16, 8, ",colorimetry=bt709" },
    { "I420", 16, 8, ",colorimetry=1:3:5:1" }, { "I420", 16, 8, ",multiview-mode=side-by-side,views=2" },
    { "P010_10LE", 18, 12, "" }, { "GRAY16_BE", 16, 16, "" }, { "GRAY16_LE", 16, 16, "" }, { "GRAY8", 16, 16, "" } };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    GstHarness *harness = harness_new_line (lines[i]);

    for (guint k = 0; k < G_N_ELEMENTS (rows); k++) {
      g_autofree gchar *text = g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1%s",
          rows[k].format, rows[k].width, rows[k].height, rows[k].more);
      g_autoptr (GstCaps) caps = gst_caps_from_string (text);
      g_autoptr (GByteArray) expected = g_byte_array_new (), bytes = g_byte_array_new ();
      g_autoptr (GstBuffer) in = NULL;
      GstHarness *fresh;
      GstVideoInfo info;

      fail_unless (gst_video_info_from_caps (&info, caps));
      in = frame_new (&info, FRAME_PLAIN, seed + k);
      fresh = harness_new_for (lines[i], &info);
      append_output (expected, fresh, &info, in);
      gst_harness_teardown (fresh);
      gst_harness_set_src_caps (harness, gst_caps_ref (caps));
      append_output (bytes, harness, &info, in);
      fail_unless (bytes->len == expected->len && memcmp (bytes->data, expected->data, bytes->len) == 0, "%s: %s",
          lines[i], text);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* --- frames like the one before --- */

/* Pushes the frame with a box in its metadata, or without one. Takes in. */
static void
push_for_bytes (GByteArray *bytes, GstHarness *harness, const GstVideoInfo *info, GstBuffer *in, gboolean in_place,
    gboolean boxed)
{
  g_autoptr (GstCaps) caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  g_autoptr (GstBuffer) held = NULL;
  GstSample *sample;
  GstBuffer *out;

  if (boxed)
    add_region (in, "face", 20, 4, 9, 15);
  held = in_place ? NULL : gst_buffer_ref (in);
  push_ok (harness, in);
  out = gst_harness_pull (harness);
  sample = gst_sample_new (out, caps, NULL, NULL);
  frame_append_rows (bytes, sample);
  gst_sample_unref (sample);
  gst_buffer_unref (out);
}

static void
set_expansion (GstHarness *harness)
{
  g_autoptr (GstElement) element = gst_harness_find_element (harness, "cudaconvolve");

  g_object_set (element, "region-expand", 0.1, NULL);
}

/*
 * What is done to a frame does not depend on the frames before: frames with the same boxes have other pictures, layouts and
 * fields, are changed in place or copied, and sometimes have other boxes or settings.
 */
GST_START_TEST (frames_are_alone)
{
  static const gchar *const lines[] = { FILL "region-color=0xff804020",
    "cudaconvolve mask=gaussian apply-to=regions region-strength=0.3",
    "cudaconvolve mask=gaussian apply-to=regions region-strength=0.1 region-shape=ellipse region-feather=3",
    "cudaconvolve " MASK " apply-to=regions region-effect=mask",
    "cudaconvolve " MASK " apply-to=outside-regions region-effect=mask",
    "cudaconvolve apply-to=regions region-effect=pixelate",
    "cudaconvolve apply-to=regions region-effect=noise-pixelate region-seed=7",
    "cudaconvolve " MASK " apply-to=regions region-effect=mask iterations=2",
    FILL "region-sources=text+roi+alpha components=r+g+b+a" };
  static const gchar *const formats[] = { "NV12", "I420_10LE", "RGBA" };

  for (guint l = 0; l < G_N_ELEMENTS (lines); l++)
    for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
      gboolean has_alpha = strstr (lines[l], "alpha") != NULL, noise = strstr (lines[l], "noise") != NULL;
      g_autofree gchar *text =
          g_strdup_printf ("%s region-hold=0 regions=\"3,2,14,13;40,20,9,20;50,24,30,9\"", lines[l]);
      GstVideoInfo info = info_of (formats[f], 64, 48);
      GstHarness *harness, *before = NULL;
      CheckRandom random;

      if (has_alpha && !GST_VIDEO_INFO_HAS_ALPHA (&info))
        continue;
      GST_VIDEO_INFO_INTERLACE_MODE (&info) = GST_VIDEO_INTERLACE_MODE_MIXED;
      check_random_init (&random, seed, l * 10 + f);
      harness = harness_new_for (text, &info);
      for (guint i = 0; i < 24; i++) {
        gboolean in_place = check_random_one_in (&random, 2), boxed = check_random_one_in (&random, 5);
        gint layout = check_random_range (&random, 0, FRAME_MEMORIES);
        g_autoptr (GByteArray) expected = g_byte_array_new (), bytes = g_byte_array_new ();
        GstHarness *alone = noise && before ? before : harness_new_for (text, &info);
        GstBuffer *frame[2];

        if (i >= 15) {
          set_expansion (harness);
          set_expansion (alone);
        }
        for (guint k = 0; k < 2; k++) {
          frame[k] = frame_new (&info, layout, seed + i);
          GST_BUFFER_PTS (frame[k]) = i * 40 * GST_MSECOND;
        }
        if (check_random_one_in (&random, 4))
          for (guint k = 0; k < 2; k++)
            GST_BUFFER_FLAG_SET (frame[k], GST_VIDEO_BUFFER_FLAG_INTERLACED);
        push_for_bytes (expected, alone, &info, frame[0], in_place, boxed);
        push_for_bytes (bytes, harness, &info, frame[1], in_place, boxed);
        fail_unless (bytes->len == expected->len && memcmp (bytes->data, expected->data, bytes->len) == 0,
            "frame %u of %s through %s; seed %u", i, formats[f], lines[l], seed);
        if (noise)
          before = alone;
        else
          gst_harness_teardown (alone);
      }
      if (before)
        gst_harness_teardown (before);
      gst_harness_teardown (harness);
    }
}
GST_END_TEST;

TCase *
region_promises (void)
{
  TCase *tc = tcase_create ("promises");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, in_place);
  tcase_add_test (tc, thousand_boxes);
  tcase_add_test (tc, leaks);
  tcase_add_test (tc, detail_is_gone);
  tcase_add_test (tc, changes_move_the_work);
  tcase_add_test (tc, equal_boxes_are_one);
  tcase_add_test (tc, new_caps);
  tcase_add_test (tc, frames_are_alone);
  tcase_add_test (tc, bad_settings);
  tcase_add_test (tc, bad_text_while_playing);
  return tc;
}
