/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property mask-info: the mask as used, while frames flow and from another thread. */
#include "element/mask/check_masks.h"

#include <math.h>

static GstStructure *
get_info (GstElement *element)
{
  GstStructure *info;

  g_object_get (element, "mask-info", &info, NULL);
  return info;
}

/* The mask that the element reports must be that one. */
static void
expect_info (GstElement *element, gint width, gint height, const gdouble *taps, gdouble divisor, gdouble offset,
    gint rank, gboolean exact)
{
  GstStructure *info = get_info (element);
  const GValue *weights;
  gint got_width, got_height, got_rank;
  gdouble sum = 0, magnitude = 0, got_sum, gain, got_divisor, got_offset;
  gboolean got_exact;

  fail_unless (info != NULL);
  fail_unless (gst_structure_get (info, "width", G_TYPE_INT, &got_width, "height", G_TYPE_INT, &got_height, "rank",
      G_TYPE_INT, &got_rank, "sum", G_TYPE_DOUBLE, &got_sum, "gain", G_TYPE_DOUBLE, &gain, "divisor", G_TYPE_DOUBLE,
      &got_divisor, "offset", G_TYPE_DOUBLE, &got_offset, "exact", G_TYPE_BOOLEAN, &got_exact, NULL));
  weights = gst_structure_get_value (info, "weights");
  fail_unless (got_width == width && got_height == height && GST_VALUE_HOLDS_ARRAY (weights), "%dx%d", got_width,
      got_height);
  fail_unless_equals_int (gst_value_array_get_size (weights), height);
  for (gint j = 0; j < height; j++) {
    const GValue *row = gst_value_array_get_value (weights, j);

    fail_unless_equals_int (gst_value_array_get_size (row), width);
    for (gint i = 0; i < width; i++) {
      fail_unless_equals_float (g_value_get_double (gst_value_array_get_value (row, i)), taps[j * width + i]);
      sum += taps[j * width + i];
      magnitude += fabs (taps[j * width + i]);
    }
  }
  fail_unless_equals_float (got_sum, sum);
  fail_unless_equals_float (got_divisor, divisor);
  fail_unless_equals_float (got_offset, offset);
  fail_unless (fabs (gain - magnitude / fabs (divisor)) < 1e-12, "gain %g", gain);
  fail_unless_equals_int (got_rank, rank);
  fail_unless_equals_int (got_exact, exact);
  gst_structure_free (info);
}

static void
expect_combination (GstElement *element, const gchar *combination, gint sets, guint rows)
{
  g_autoptr (GstStructure) info = get_info (element);
  gint found = 0;

  fail_unless (info && gst_structure_get_int (info, "sets", &found));
  fail_unless_equals_int (found, sets);
  fail_unless_equals_string (gst_structure_get_string (info, "combination"), combination);
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (info, "weights")), rows);
}

GST_START_TEST (test_mask_info)
{
  static const gdouble sobel[] = { -1, 0, 1, -2, 0, 2, -1, 0, 1 }, turned[] = { 0, 0, 0, 0, 4, 3, 0, 2, 1 };
  static const gdouble mixed[] = { 1, 1, 1, 1, 28, 1, 1, 1, 1 }, rough[] = { 0.1, 0.2345678901, 0.3 };
  static const gdouble identity[] = { 0, 0, 0, 0, 1, 0, 0, 0, 0 };
  Run run = run_start ("cudaconvolve mask=sobel-x bias=0.5", "NV12", 16, 16);

  fail_unless (get_info (run.element) == NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_info (run.element, 3, 3, sobel, 1, 0.5, 1, TRUE);
  g_object_set (run.element, "mask", "2x2: 1 2 3 4", "bias", -0.25, "flip", TRUE, NULL);
  expect_info (run.element, 3, 3, sobel, 1, 0.5, 1, TRUE); /* until the next frame */
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_info (run.element, 3, 3, turned, 10, -0.25, 2, TRUE);
  g_object_set (run.element, "mask", "box", "mask-width", 3, "mix", 0.25, "bias", 0.5, NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_info (run.element, 3, 3, mixed, 36, 0.125, 2, TRUE);
  g_object_set (run.element, "mask", NULL, "mask-x", "0.1 0.2345678901 0.3", "mask-width", 0, "mix", 1.0, "bias", 0.0,
      "flip", FALSE, "divisor", -1.5, NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_info (run.element, 3, 1, rough, -1.5, 0, 1, FALSE);
  g_object_set (run.element, "mask-x", NULL, "mask", "identity", "divisor", 0.0, NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_info (run.element, 3, 3, identity, 1, 0, 1, TRUE);
  expect_combination (run.element, "sum", 1, 3);
  g_object_set (run.element, "absolute", TRUE, NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_combination (run.element, "absolute", 1, 3);
  g_object_set (run.element, "mask", "kirsch", "absolute", FALSE, NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_combination (run.element, "largest", 8, 24);
  gst_element_set_state (run.element, GST_STATE_READY);
  fail_unless (get_info (run.element) == NULL);
  run_expect_none (&run, HEARD);
  run_stop (&run);
}
GST_END_TEST;

static gpointer
keep_reading (gpointer data)
{
  for (gint i = 0; i < 2000; i++) {
    GstStructure *info = get_info (data);
    gint width, height;

    if (!info)
      continue;
    fail_unless (gst_structure_get (info, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, NULL));
    fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (info, "weights")), height);
    gst_structure_free (info);
  }
  return NULL;
}

/* Another thread reads while masks change from frame to frame. */
GST_START_TEST (test_mask_info_from_another_thread)
{
  Run run = run_start ("cudaconvolve", "GRAY8", 16, 16);
  GThread *thread = g_thread_new ("reader", keep_reading, run.element);

  for (gint i = 0; i < 500; i++) {
    set_weights (run.element, i % 2 ? "<<1,2,1>,<2,4,2>,<1,2,1>>" : "<<1,2>>");
    fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (run.harness));
  }
  g_thread_join (thread);
  run_expect_none (&run, HEARD);
  run_stop (&run);
}
GST_END_TEST;

TCase *
mask_info_tests (void)
{
  TCase *tc = tcase_create ("mask-info");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_mask_info);
  tcase_add_test (tc, test_mask_info_from_another_thread);
  return tc;
}
