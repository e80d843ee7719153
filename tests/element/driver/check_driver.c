/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine with a driver that does not work, or without one: libcuda.c, or a file that is no library, answers in
 * its place. The element works on the CPU and gives the bytes of the variant cpu; where the user asks for a
 * device, the error says what is missing. CUDACONVOLVE_EXPECTED is a part of that sentence.
 */
#include <gst/check/gstcheck.h>
#include <string.h>

#include "support/element.h"

#define HEARD (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_INFO)

static GBytes *
bytes_of_frame (Run *run)
{
  GstBuffer *buffer;
  GstMapInfo map;
  GBytes *bytes;

  fail_unless_equals_int (run_push (run), GST_FLOW_OK);
  buffer = gst_harness_pull (run->harness);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  bytes = g_bytes_new (map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return bytes;
}

GST_START_TEST (test_auto)
{
  /* A second start says the same as the first one. */
  for (gint i = 0; i < 2; i++) {
    Run run = run_start ("cudaconvolve mask=unsharp:2", "I420", 64, 48);
    Run cpu = run_start ("cudaconvolve mask=unsharp:2 kernel-variant=cpu", "I420", 64, 48);
    g_autoptr (GBytes) ours = bytes_of_frame (&run), theirs = bytes_of_frame (&cpu);

    fail_unless (g_bytes_equal (ours, theirs));
    run_expect (&run, HEARD, GST_MESSAGE_INFO, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        g_getenv ("CUDACONVOLVE_EXPECTED"), NULL);
    run_expect_none (&cpu, HEARD);
    run_stop (&run);
    run_stop (&cpu);
  }
}
GST_END_TEST;

GST_START_TEST (test_asked_for)
{
  static const gchar *const lines[] = { "cudaconvolve kernel-variant=global", "cudaconvolve cuda-device-id=0",
    "cudaconvolve kernel-variant=tensor frames-in-flight=3" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run run = run_start (lines[i], "I420", 64, 48);

    fail_unless (run.harness == NULL);
    run_expect (&run, HEARD, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        g_getenv ("CUDACONVOLVE_EXPECTED"), NULL);
    run_stop (&run);
  }
}
GST_END_TEST;

static Suite *
driver_suite (void)
{
  Suite *suite = suite_create ("driver");
  TCase *tc = tcase_create ("driver");

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_auto);
  tcase_add_test (tc, test_asked_for);
  return suite;
}

GST_CHECK_MAIN (driver);
