/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which boxes a frame has: from text and metadata, for how long, and without any. */
#include "element/regions/check_regions.h"

/* --- where boxes come from --- */

GST_START_TEST (text)
{
  static const struct
  {
    const gchar *text;
    gint x, y, width, height;
  } rows[] = { { "", 0, 0, 0, 0 }, { "10,12,20,22", 10, 12, 20, 22 }, { " 10 12\t20 22 ;\n", 10, 12, 20, 22 },
    { "50%,25%,50%,25%", 50, 20, 50, 20 }, { "10.5,3.25,2,2", 10, 3, 3, 3 }, { "-10,-10,20,20", 0, 0, 10, 10 },
    { "90,70,1e3,1e3", 90, 70, 10, 10 }, { "200,200,10,10;1,1,1,1", 1, 1, 1, 1 },
    { "0,0,1,1;99,79,1,1", 0, 0, 100, 80 }, { "0,0,0.001%,100%", 0, 0, 1, 80 } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "regions=\"%s\"", rows[i].text);
    GstHarness *harness = harness_new_for (line, &info);

    expect_box (harness, &info, grey_frame (&info, 0), rows[i].x, rows[i].y, rows[i].width, rows[i].height,
        rows[i].text);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The effect follows from the expanded box: blocks of 20 for a box of 60 that doubles. */
GST_START_TEST (strength_after_expansion)
{
  GstVideoInfo info = info_of ("GRAY8", 200, 200);
  g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed);
  static const gchar *const pairs[][2] = { { "region-effect=pixelate regions=70,70,60,60 region-expand=0.5",
                                               "region-effect=pixelate regions=40,40,120,120" },
    { "region-strength=0.2 regions=70,70,60,60 region-expand=0.5", "region-strength=0.2 regions=40,40,120,120" } };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    Component expected[4];
    GstBuffer *out[2];

    for (guint k = 0; k < 2; k++) {
      g_autofree gchar *line = g_strdup_printf ("cudaconvolve apply-to=regions %s", pairs[i][k]);
      GstHarness *harness = harness_new_for (line, &info);

      out[k] = push_frame (harness, in, FALSE);
      gst_harness_teardown (harness);
    }
    frame_read (&info, out[1], expected);
    compare_components (&info, expected, out[0], pairs[i][0]);
    frame_clear (expected);
    gst_buffer_unref (out[0]);
    gst_buffer_unref (out[1]);
  }
}
GST_END_TEST;

GST_START_TEST (expand)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "regions=40,30,20,10 region-expand=0.25", &info);

  expect_box (harness, &info, grey_frame (&info, 0), 35, 27, 30, 16, "a quarter more on each side, rounded outward");
  gst_harness_set (harness, "cudaconvolve", "region-expand", 1.0, "regions", "40,30,20,10", NULL);
  expect_box (harness, &info, grey_frame (&info, 0), 20, 20, 60, 30, "live");
  gst_harness_teardown (harness);
}
GST_END_TEST;

GST_START_TEST (types_and_sources)
{
  static const struct
  {
    const gchar *properties;
    gboolean face, person;
  } rows[] = { { "", TRUE, TRUE }, { "region-types=face", TRUE, FALSE },
    { "region-types=\" Person , x\"", FALSE, TRUE }, { "region-types=!person", TRUE, FALSE },
    { "region-types=!face,!person", FALSE, FALSE }, { "region-types=face,person,!person", TRUE, FALSE },
    { "region-sources=text", FALSE, FALSE }, { "region-sources=roi", TRUE, TRUE },
    { "region-sources=analytics", FALSE, FALSE } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "%s", rows[i].properties);
    GstHarness *harness = harness_new_for (line, &info);
    GstBuffer *buffer = add_region (grey_frame (&info, 0), "face", 10, 10, 10, 10);
    gint left, right;

    add_region (buffer, "person", 50, 10, 10, 10);
    left = rows[i].face ? 10 : 50;
    right = rows[i].person ? 60 : 20;
    if (rows[i].face || rows[i].person)
      expect_box (harness, &info, buffer, left, 10, right - left, 10, line);
    else
      expect_box (harness, &info, buffer, 0, 0, 0, 0, line);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The metas stay on the output, whether the frame was changed in place, copied or passed. */
GST_START_TEST (metas_stay)
{
  GstVideoInfo info = info_of ("NV12", 64, 48);

  for (guint i = 0; i < 4; i++) {
    GstHarness *harness = harness_new_for (i < 2 ? FILL : FILL "region-types=plate", &info);
    g_autoptr (GstBuffer) in = add_region (grey_frame (&info, 0), "face", 10, 10, 10, 10), out = NULL;
    GstVideoRegionOfInterestMeta *meta;

    out = push_frame (harness, in, i % 2);
    meta = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
    fail_unless (meta && meta->x == 10 && meta->w == 10 && g_str_equal (g_quark_to_string (meta->roi_type), "face"));
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* --- a detector that misses frames --- */

GST_START_TEST (hold)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-hold=100000000", &info);
  const GstClockTime ms = GST_MSECOND;

  expect_box (harness, &info, grey_frame (&info, 0), 0, 0, 0, 0, "nothing yet");
  expect_box (harness, &info, add_region (grey_frame (&info, 40 * ms), "face", 10, 10, 20, 20), 10, 10, 20, 20, "seen");
  expect_box (harness, &info, grey_frame (&info, 80 * ms), 10, 10, 20, 20, "missed once");
  expect_box (harness, &info, add_region (grey_frame (&info, 120 * ms), "face", 60, 50, 20, 20), 10, 10, 70, 60,
      "another face, and the first is missed");
  expect_box (harness, &info, add_region (grey_frame (&info, 140 * ms), "face", 12, 10, 20, 20), 12, 10, 68, 60,
      "the first face moved by 2, the other is missed");
  expect_box (harness, &info, add_region (grey_frame (&info, 150 * ms), "face", 12, 10, 20, 20), 12, 10, 68, 60,
      "a face beside another one does not end that one");
  expect_box (harness, &info, grey_frame (&info, 221 * ms), 12, 10, 20, 20, "the other face is gone");
  expect_box (harness, &info, grey_frame (&info, 250 * ms), 12, 10, 20, 20, "100 ms are not too long");
  expect_box (harness, &info, grey_frame (&info, 251 * ms), 0, 0, 0, 0, "101 ms are");
  expect_box (harness, &info, add_region (grey_frame (&info, 260 * ms), "face", 10, 10, 20, 20), 10, 10, 20, 20, "");
  expect_box (harness, &info, add_region (grey_frame (&info, 270 * ms), "face", 12, 50, 20, 20), 10, 10, 22, 60,
      "a face below another one does not end that one");
  expect_box (harness, &info, add_region (grey_frame (&info, 300 * ms), "face", 10, 10, 20, 20), 10, 10, 22, 60,
      "again");
  expect_box (harness, &info, grey_frame (&info, 0), 0, 0, 0, 0, "the stream begins again");

  /* Without time stamps each frame takes as long as the caps say: 40 ms. */
  expect_box (harness, &info, add_region (grey_frame (&info, GST_CLOCK_TIME_NONE), "face", 1, 1, 2, 2), 1, 1, 2, 2, "");
  expect_box (harness, &info, grey_frame (&info, GST_CLOCK_TIME_NONE), 1, 1, 2, 2, "40 ms");
  expect_box (harness, &info, grey_frame (&info, GST_CLOCK_TIME_NONE), 1, 1, 2, 2, "80 ms");
  expect_box (harness, &info, grey_frame (&info, GST_CLOCK_TIME_NONE), 0, 0, 0, 0, "120 ms");
  gst_harness_teardown (harness);
}
GST_END_TEST;

GST_START_TEST (flush_forgets)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL, &info);
  GstSegment segment;

  expect_box (harness, &info, add_region (grey_frame (&info, 0), "face", 10, 10, 20, 20), 10, 10, 20, 20, "seen");
  fail_unless (gst_harness_push_event (harness, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (harness, gst_event_new_segment (&segment)));
  expect_box (harness, &info, grey_frame (&info, GST_MSECOND), 0, 0, 0, 0, "after a seek");
  gst_harness_teardown (harness);
}
GST_END_TEST;

GST_START_TEST (fallback)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  /* Shape, feather and expansion are those of boxes; nothing of a frame is left over. */
  GstHarness *harness = harness_new_for (FILL
      "region-fallback=frame region-hold=50000000 region-shape=ellipse region-expand=1 region-feather=9",
      &info);
  const GstClockTime ms = GST_MSECOND;

  expect_box (harness, &info, grey_frame (&info, 0), 0, 0, 100, 80, "before the first metadata");
  gst_harness_set (harness, "cudaconvolve", "region-shape", 0, "region-expand", 0.0, "region-feather", 0, NULL);
  expect_box (harness, &info, add_region (grey_frame (&info, 40 * ms), "face", 10, 10, 20, 20), 10, 10, 20, 20, "seen");
  expect_box (harness, &info, grey_frame (&info, 90 * ms), 10, 10, 20, 20, "held");
  expect_box (harness, &info, grey_frame (&info, 91 * ms), 0, 0, 100, 80, "lost");
  gst_harness_set (harness, "cudaconvolve", "region-types", "plate", NULL);
  expect_box (harness, &info, add_region (grey_frame (&info, 200 * ms), "face", 10, 10, 20, 20), 0, 0, 0, 0,
      "the detector is there, and found no plate");
  gst_harness_set (harness, "cudaconvolve", "region-sources", 1, NULL);
  expect_box (harness, &info, grey_frame (&info, 900 * ms), 0, 0, 0, 0, "no metadata is expected");
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
region_boxes (void)
{
  TCase *tc = tcase_create ("boxes");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, text);
  tcase_add_test (tc, expand);
  tcase_add_test (tc, strength_after_expansion);
  tcase_add_test (tc, types_and_sources);
  tcase_add_test (tc, metas_stay);
  tcase_add_test (tc, hold);
  tcase_add_test (tc, flush_forgets);
  tcase_add_test (tc, fallback);
  return tc;
}
