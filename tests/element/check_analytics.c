/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions from GStreamer's analytics library: objects, their types, turned boxes, and that no object is news too. */
#include <gst/analytics/analytics.h>
#include <gst/check/gstcheck.h>

#include "support/element.h"

#define FILL "cudaconvolve apply-to=regions region-effect=fill "

static GstBuffer *
grey_frame (const GstVideoInfo *info, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);

  gst_buffer_memset (buffer, 0, 128, info->size);
  GST_BUFFER_PTS (buffer) = time;
  return buffer;
}

/* Adds an object to the frame's relations, which are added first where there are none. A NULL type adds no object. */
static GstBuffer *
add_object (GstBuffer *buffer, const gchar *type, gint x, gint y, gint width, gint height)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;

  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  if (type)
    fail_unless (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string (type), x, y, width, height,
        0.9, &object));
  return buffer;
}

/* Pushes the frame, and expects that only the samples of this box are black. */
static void
expect_box (GstHarness *harness, GstBuffer *buffer, gint x, gint y, gint width, gint height)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  Component got[4];

  push_ok (harness, buffer);
  buffer = gst_harness_pull (harness);
  frame_read (&info, buffer, got);
  for (gint i = 0; i < 100 * 80; i++) {
    gboolean inside = i % 100 >= x && i % 100 < x + width && i / 100 >= y && i / 100 < y + height;

    fail_unless (got[0].samples[i] == (inside ? 0 : 128), "%d,%d is %d", i % 100, i / 100, got[0].samples[i]);
  }
  frame_clear (got);
  gst_buffer_unref (buffer);
}

GST_START_TEST (objects)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-types=face,!person region-hold=0", &info);
  GstBuffer *buffer = add_object (grey_frame (&info, 0), "face", 10, 12, 20, 22);

  add_object (buffer, "person", 0, 0, 90, 70);
  add_object (buffer, "dog", 50, 0, 50, 70);
  expect_box (harness, buffer, 10, 12, 20, 22);
  expect_box (harness, grey_frame (&info, GST_SECOND), 0, 0, 0, 0);
  gst_harness_set (harness, "cudaconvolve", "region-sources", 3, NULL); /* text and roi */
  expect_box (harness, add_object (grey_frame (&info, 2 * GST_SECOND), "face", 10, 12, 20, 22), 0, 0, 0, 0);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Relations without an object tell that the detector is there and found nothing. */
GST_START_TEST (nothing_found)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-fallback=frame region-hold=10000000", &info);

  expect_box (harness, grey_frame (&info, 0), 0, 0, 100, 80);
  expect_box (harness, add_object (grey_frame (&info, GST_SECOND), NULL, 0, 0, 0, 0), 0, 0, 0, 0);
  expect_box (harness, grey_frame (&info, GST_SECOND + 10 * GST_MSECOND), 0, 0, 0, 0);
  expect_box (harness, grey_frame (&info, GST_SECOND + 11 * GST_MSECOND), 0, 0, 100, 80);
  gst_harness_teardown (harness);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 26, 0)
/* A box that is turned by a right angle has its sides exchanged; the region is the upright box around a turned one. */
GST_START_TEST (turned)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL, &info);
  GstBuffer *buffer = grey_frame (&info, 0);
  GstAnalyticsODMtd object;

  fail_unless (gst_analytics_relation_meta_add_oriented_od_mtd (gst_buffer_add_analytics_relation_meta (buffer),
      g_quark_from_static_string ("face"), 30, 30, 40, 20, G_PI / 2, 0.9, &object));
  expect_box (harness, buffer, 40, 20, 20, 40);
  gst_harness_teardown (harness);
}
GST_END_TEST;
#endif

static Suite *
analytics_suite (void)
{
  Suite *suite = suite_create ("analytics");
  TCase *tc = tcase_create ("analytics");

  tcase_add_test (tc, objects);
  tcase_add_test (tc, nothing_found);
#if GST_CHECK_VERSION(1, 26, 0)
  tcase_add_test (tc, turned);
#endif
  suite_add_tcase (suite, tc);
  return suite;
}

GST_CHECK_MAIN (analytics);
