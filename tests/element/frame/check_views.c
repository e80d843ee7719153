/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stereo frames: each view against the oracle as a picture of its own, and what cannot be kept apart. */
#include "element/frame/check_windows.h"

#define WIDTH 46 /* so that a sample of 4:2:0 chroma lies between the views */
#define HEIGHT 22

/* The views of a frame, or the fields of both views. A middle column or row belongs to the first view. */
static guint
list_parts (const gchar *packing, gboolean interlaced, gint width, gint height, Part parts[4])
{
  const gint middle_x = (width + 1) / 2, middle_y = (height + 1) / 2;
  gboolean beside = g_str_equal (packing, "side-by-side"), below = g_str_equal (packing, "top-bottom");
  gboolean rows = g_str_equal (packing, "row-interleaved"), split = rows || interlaced;
  guint n = 0;

  for (gint view = 0; view < (beside || below ? 2 : 1); view++)
    for (gint phase = 0; phase < (split ? 2 : 1); phase++)
      parts[n++] = (Part){ phase, split ? 2 : 1, beside && view ? middle_x : 0, beside && !view ? middle_x : width,
        below && view ? middle_y : 0, below && !view ? middle_y : height };
  return n;
}

static void
check_views (GstHarness *harness, const GstVideoInfo *info, GstBuffer *in, const gchar *packing, gboolean interlaced,
    const Expected *expected)
{
  GstBuffer *out = push_and_pull (harness, in);
  Part parts[4];
  guint n = list_parts (packing, interlaced, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), parts);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (packing, "column-interleaved")) {
      check_columns (info, in, out, parts[i], 0, FALSE, expected, packing);
      check_columns (info, in, out, parts[i], 1, FALSE, expected, packing);
    } else {
      check_part (info, in, out, parts[i], FALSE, expected, packing);
    }
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}

GST_START_TEST (test_views)
{
  static const gchar *const packings[] = { "side-by-side", "top-bottom", "row-interleaved", "column-interleaved",
    "mono", "left", "frame-by-frame" };
  GPtrArray *formats = element_formats ();

  for (guint i = 0; i < formats->len * G_N_ELEMENTS (packings); i++) {
    const gchar *format = formats->pdata[i / G_N_ELEMENTS (packings)], *packing = packings[i % G_N_ELEMENTS (packings)];
    gint boundary = i % CONVOLVE_N_BOUNDARIES;
    g_autofree gchar *properties = g_strdup_printf ("mask=\"" SKEWED "\" boundary=%s", check_boundary_name (boundary));
    g_autofree gchar *more = g_strdup_printf ("multiview-mode=%s,views=2", packing);
    /* In rows of two views a row of 4:2:0 chroma belongs to one view, as in two fields. */
    gboolean rows = g_str_equal (packing, "row-interleaved");
    GstVideoInfo info = info_with (format, WIDTH, rows ? 24 : HEIGHT, more);
    Expected expected = skewed_expected (boundary, 0);
    GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (&info));

    check_views (harness, &info, random_frame (&info, i), packing, FALSE, &expected);
    gst_harness_teardown (harness);
  }
  g_ptr_array_unref (formats);
}
GST_END_TEST;

/* Of two views in a picture of odd width or height, the left and the upper one are larger. */
GST_START_TEST (test_odd_views)
{
  static const gchar *const packings[] = { "side-by-side", "top-bottom" };
  static const gchar *const formats[] = { "GRAY8", "NV12", "Y42B", "RGB", "I420_10LE" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * 2; i++) {
    g_autofree gchar *more = g_strdup_printf ("multiview-mode=%s,views=2", packings[i % 2]);
    GstVideoInfo info = info_with (formats[i / 2], 45, 23, more);
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REFLECT, 0);
    GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=reflect", gst_video_info_to_caps (&info));

    check_views (harness, &info, random_frame (&info, i), packings[i % 2], FALSE, &expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The fields of two views are four pictures. */
GST_START_TEST (test_fields_of_views)
{
  static const gchar *const packings[] = { "side-by-side", "top-bottom", "column-interleaved" };
  static const gchar *const formats[] = { "RGBA", "GRAY8", "Y42B", "UYVY", "GBR_12BE" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * 3; i++) {
    g_autofree gchar *more = g_strdup_printf ("multiview-mode=%s,views=2,interlace-mode=interleaved", packings[i % 3]);
    GstVideoInfo info = info_with (formats[i / 3], WIDTH, HEIGHT, more);
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_WRAP, 0);
    GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=wrap", gst_video_info_to_caps (&info));

    check_views (harness, &info, random_frame (&info, i), packings[i % 3], TRUE, &expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* In a stream of both, a frame has two views where its flag says so; no plan is made but at the first frame. */
GST_START_TEST (test_mixed_mono)
{
  static const gchar *const packings[] = { "side-by-side", "row-interleaved", "column-interleaved" };
  static const gboolean stereo[] = { FALSE, TRUE, TRUE, FALSE, TRUE };

  for (guint i = 0; i < G_N_ELEMENTS (packings); i++) {
    g_autofree gchar *more = g_strdup_printf ("multiview-mode=%s,views=2", packings[i]);
    GstVideoInfo info = info_with ("Y444", WIDTH, HEIGHT, more);
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REFLECT, 0);
    GstHarness *harness;

    GST_VIDEO_INFO_MULTIVIEW_FLAGS (&info) = GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO;
    harness = windows_harness ("mask=\"" SKEWED "\" boundary=reflect", gst_video_info_to_caps (&info));
    for (guint k = 0; k < G_N_ELEMENTS (stereo); k++) {
      GstBuffer *in = random_frame (&info, k);

      if (stereo[k])
        GST_BUFFER_FLAG_SET (in, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW);
      if (k > 0)
        listen_begin (GST_LEVEL_DEBUG, "plane ");
      check_views (harness, &info, in, stereo[k] ? packings[i] : "mono", FALSE, &expected);
      fail_unless (k == 0 || listen_end () == 0, "a new plan for frame %u", k);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Views whose pixels alternate are one picture, and one warning says so, for each new caps. */
GST_START_TEST (test_mingled_views)
{
  static const gchar *const packings[] = { "checkerboard", "side-by-side-quincunx" };

  for (guint i = 0; i < G_N_ELEMENTS (packings); i++) {
    g_autofree gchar *more = g_strdup_printf ("multiview-mode=%s,views=2", packings[i]);
    GstVideoInfo info = info_with ("I420", WIDTH, HEIGHT, more);
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_ZERO, 0);
    GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=zero", gst_video_info_to_caps (&info));

    listen_begin (GST_LEVEL_WARNING, "multiview-mode: views whose pixels alternate");
    for (guint k = 0; k < 3; k++)
      check_views (harness, &info, random_frame (&info, k), packings[i], FALSE, &expected);
    fail_unless_equals_int (listen_end (), 1);
    listen_begin (GST_LEVEL_WARNING, "multiview-mode: views whose pixels alternate");
    info = info_with ("I420", WIDTH + 2, HEIGHT, more);
    gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
    for (guint k = 0; k < 3; k++)
      check_views (harness, &info, random_frame (&info, k), packings[i], FALSE, &expected);
    fail_unless_equals_int (listen_end (), 1);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Both want every second row: fields win, and one warning says so. */
GST_START_TEST (test_rows_of_views_and_fields)
{
  GstVideoInfo info =
      info_with ("RGB", WIDTH, HEIGHT, "multiview-mode=row-interleaved,views=2,interlace-mode=interleaved");
  Expected expected = skewed_expected (CONVOLVE_BOUNDARY_WRAP, 0);
  GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=wrap", gst_video_info_to_caps (&info));

  listen_begin (GST_LEVEL_WARNING, "multiview-mode: in interlaced frames the rows of row-interleaved views");
  for (guint k = 0; k < 3; k++)
    check_views (harness, &info, random_frame (&info, k), "mono", TRUE, &expected);
  fail_unless_equals_int (listen_end (), 1);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A preset that has a size gets half as many columns where a view has every second one; a crop crops both views. */
GST_START_TEST (test_columns)
{
  /* 9 columns of the picture: 5 of the view, of which three quarters of the outermost are covered. */
  static const gint64 part[] = { 3, 4, 4, 4, 3 }, even[] = { 1, 1, 1, 1, 1 };
  GstVideoInfo info = info_with ("RGB", WIDTH, HEIGHT, "multiview-mode=column-interleaved,views=2");
  GstHarness *harness = windows_harness ("mask=box mask-width=9 mask-height=1", gst_video_info_to_caps (&info));
  Expected expected = { .boundary = CONVOLVE_BOUNDARY_REPLICATE,
    .width = 5,
    .height = 1,
    .integers = part,
    .numerator = 1,
    .denominator = 18 };
  GstBuffer *in = random_frame (&info, 1), *out;
  GstVideoCropMeta *crop;

  check_views (harness, &info, random_frame (&info, 0), "column-interleaved", FALSE, &expected);
  gst_harness_teardown (harness);

  harness = windows_harness ("mask=\"1 1 1 1 1\"", gst_video_info_to_caps (&info));
  expected.integers = even;
  expected.denominator = 5;
  crop = gst_buffer_add_video_crop_meta (in);
  crop->x = 7;
  crop->y = 5;
  crop->width = WIDTH - 10;
  crop->height = 9;
  out = push_and_pull (harness, in);
  for (gint view = 0; view < 2; view++)
    check_columns (&info, in, out, (Part){ 0, 1, 7, WIDTH - 3, 5, 14 }, view, TRUE, &expected, "crop of columns");
  check_rest (&info, in, out, (Part){ 0, 1, 7, WIDTH - 3, 5, 14 }, "crop of columns");
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
view_tests (void)
{
  TCase *tc = tcase_create ("views");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_views);
  tcase_add_test (tc, test_odd_views);
  tcase_add_test (tc, test_fields_of_views);
  tcase_add_test (tc, test_mixed_mono);
  tcase_add_test (tc, test_mingled_views);
  tcase_add_test (tc, test_columns);
  tcase_add_test (tc, test_rows_of_views_and_fields);
  return tc;
}
