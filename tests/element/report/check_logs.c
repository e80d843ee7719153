/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the element logs at DEBUG, over the fake device: what is settled once, and nothing for each frame. Every line names
 * its element.
 */
#include "element/stream/check_flights.h"

#include <gst/check/gstharness.h>
#include <string.h>

#include "support/element.h"
#include "support/pools.h"

static struct
{
  GMutex lock;
  GString *text; /* the lines, or NULL where nobody listens */
  guint lines, locks,
      without_element; /* locks: lines of memories, of which the process locks some at their second use */
} listened;

static void
listen_to (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (level > GST_LEVEL_DEBUG || strcmp (gst_debug_category_get_name (category), "cudaconvolve") != 0)
    return;
  g_mutex_lock (&listened.lock);
  g_string_append_printf (listened.text, "%s\n", gst_debug_message_get (message));
  if (strstr (gst_debug_message_get (message), "page-locked"))
    listened.locks++;
  else
    listened.lines++;
  listened.without_element += !object || strcmp (G_OBJECT_TYPE_NAME (object), "GstCudaConvolve") != 0;
  g_mutex_unlock (&listened.lock);
}

static void
listen_begin (void)
{
  listened.text = g_string_new (NULL);
  listened.lines = listened.locks = listened.without_element = 0;
  gst_debug_set_active (TRUE);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (listen_to, NULL, NULL);
  gst_debug_set_threshold_for_name ("cudaconvolve", GST_LEVEL_DEBUG);
}

/* How many lines came, without those of page-locked memory. */
static guint
listen_end (void)
{
  fail_unless (listened.locks <= 16);
  gst_debug_unset_threshold_for_name ("cudaconvolve");
  gst_debug_remove_log_function (listen_to);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  fail_unless (listened.without_element == 0, "%u lines name no element:\n%s", listened.without_element,
      listened.text->str);
  g_string_free (listened.text, TRUE);
  return listened.lines;
}

static void
expect_line (const gchar *words)
{
  fail_unless (strstr (listened.text->str, words), "\"%s\" is not in:\n%s", words, listened.text->str);
}

/* What changes with each frame, beside the frame. */
typedef enum
{
  NOTHING,
  SIGMA,
  PASSTHROUGH,
  BOXES,
  IN_FLIGHT,
  GAPS
} Steady;

static guint changed; /* how often, since the pipeline began */

static GstPadProbeReturn
change_each_frame (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  guint count = ++changed;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (probe));
  g_autoptr (GstElement) element = gst_pad_get_parent_element (pad);
  g_autofree gchar *box = g_strdup_printf ("%u,1,9,9", count % 7);

  GST_PAD_PROBE_INFO_DATA (probe) = buffer;
  switch (GPOINTER_TO_UINT (data)) {
    case SIGMA:
      g_object_set (element, "sigma", 1 + count % 5 * 0.3, NULL);
      break;
    case PASSTHROUGH:
      g_object_set (element, "mask", count % 2 ? "identity" : "box", NULL);
      break;
    case BOXES:
      g_object_set (element, "regions", box, NULL);
      break;
    case IN_FLIGHT:
      g_object_set (element, "frames-in-flight", 1 + count % 4, NULL);
      break;
    case GAPS:
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
      break;
  }
  return GST_PAD_PROBE_OK;
}

/* How many lines come while so many frames play. */
static guint
count_lines (const gchar *properties, Steady steady, guint frames)
{
  g_autofree gchar *line = g_strdup_printf ("videotestsrc num-buffers=%u ! video/x-raw,format=I420,width=64,height=48 "
                                            "! cudaconvolve name=c %s ! fakesink",
      frames, properties);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "c");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;

  changed = 0;
  fake_device_fault (NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, change_each_frame, GUINT_TO_POINTER (steady), NULL);
  listen_begin ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s", line);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return listen_end ();
}

/* 200 frames have as many lines as 100, whatever changes with each frame; and few where nothing does. */
GST_START_TEST (test_nothing_for_each_frame)
{
  static const struct
  {
    const gchar *properties;
    Steady steady;
  } rows[] = {
    { "kernel-variant=cpu", NOTHING },
    { "kernel-variant=direct", NOTHING },
    { "kernel-variant=direct frames-in-flight=3", NOTHING },
    { "kernel-variant=cpu apply-to=regions regions=1,1,9,9", NOTHING },
    { "kernel-variant=direct frames-in-flight=3 apply-to=regions regions=1,1,9,9", NOTHING },
    { "mask=identity", NOTHING },
    { "kernel-variant=cpu", SIGMA },
    { "frames-in-flight=3", SIGMA },
    { "kernel-variant=direct frames-in-flight=3", PASSTHROUGH },
    { "kernel-variant=direct frames-in-flight=3 apply-to=regions", BOXES },
    { "kernel-variant=direct", IN_FLIGHT },
    { "kernel-variant=direct frames-in-flight=3", GAPS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint few = count_lines (rows[i].properties, rows[i].steady, 100);
    guint many = count_lines (rows[i].properties, rows[i].steady, 200);

    fail_unless (few == many && few > 3, "%s, change %d: %u lines for 100 frames, and %u for 200", rows[i].properties,
        rows[i].steady, few, many);
    fail_unless (rows[i].steady != NOTHING || many <= 16, "%s: %u lines, though nothing changes", rows[i].properties,
        many);
  }
}
GST_END_TEST;

static GstPadProbeReturn
offer_few (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  return pools_offer (probe, 1, 1);
}

static GstPadProbeReturn
offer_enough (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  return pools_offer (probe, 1, 0);
}

static void
set_caps (GstHarness *harness, GstVideoInfo *info, const gchar *format)
{
  *info = info_of (format, 64, 48);
  gst_harness_set_src_caps (harness, gst_video_info_to_caps (info));
}

/* The lines that tell what the element does, and why. */
GST_START_TEST (test_lines)
{
  GstVideoInfo info;
  GstHarness *harness;
  g_autoptr (GstCaps) caps = NULL;
  GstQuery *query;
  gulong probe;

  fake_device_fault (NULL);
  listen_begin ();
  harness = harness_new_line ("cudaconvolve kernel-variant=direct frames-in-flight=3");
  gst_harness_set_drop_buffers (harness, TRUE);
  set_caps (harness, &info, "NV12");
  expect_line ("input video/x-raw, format=(string)NV12");
  expect_line ("the output's pool is made by the element, because downstream offers none");
  caps = gst_video_info_to_caps (&info);
  query = gst_query_new_allocation (caps, TRUE);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_unref (query);
  expect_line ("upstream asks for a pool, and the element answers");
  expect_line ("upstream is offered a pool: 2 buffers");
  expect_line ("plans made in ");
  expect_line (" ms: mask 5x5, variant direct, 2 groups of samples, whole frames, on the device");
  expect_line ("frames go through the variant direct, backend cuda, device fake device");
  expect_line ("2 frames are to stay under way, no longer 0");
  for (guint i = 0; i < 4; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
  expect_line ("2 of 2 frames stay under way while one begins: as many as frames-in-flight asks for");
  expect_line ("bytes of frames were page-locked in ");
  g_object_set (harness->element, "mask", "identity", NULL);
  push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  expect_line ("2 frames under way leave: passthrough begins or ends");
  expect_line ("passthrough begins");
  expect_line ("upstream is told to ask for an allocation again");
  g_object_set (harness->element, "mask", "box", NULL);
  push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  expect_line ("passthrough ends");
  query = gst_query_new_allocation (caps, FALSE);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_unref (query);
  expect_line ("upstream asks for numbers of buffers, as a tee does, and the element answers");
  expect_line ("upstream is offered numbers without a pool");
  g_object_set (harness->element, "mask", "identity", NULL);
  push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  expect_line ("upstream is not told");

  g_object_set (harness->element, "mask", "box", NULL);
  probe = gst_pad_add_probe (harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_few, NULL, NULL);
  set_caps (harness, &info, "GRAY8");
  expect_line ("because downstream's has too few buffers");
  for (guint i = 0; i < 3; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  gst_pad_remove_probe (harness->sinkpad, probe);
  gst_pad_add_probe (harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_enough, NULL, NULL);
  set_caps (harness, &info, "I420");
  expect_line ("frames under way leave: caps");
  expect_line ("the output's pool is downstream's");
  for (guint i = 0; i < 3; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  gst_harness_push_event (harness, gst_event_new_flush_start ());
  gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
  expect_line ("frames under way are dropped: a flush");
  gst_harness_teardown (harness);
  listen_end ();
}
GST_END_TEST;

/* The work passes to the CPU, and memory that is not locked says why. */
GST_START_TEST (test_lines_of_faults)
{
  GstVideoInfo info = info_of ("NV12", 64, 48);
  GstHarness *harness;

  listen_begin ();
  fake_device_fault ("no-device");
  harness = harness_new_for ("cudaconvolve", &info);
  push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  expect_line ("the work passes to the CPU: no CUDA device: this is a fake");
  expect_line ("on the CPU");
  gst_harness_teardown (harness);
  fake_device_fault ("no-pin");
  harness = harness_new_for ("cudaconvolve kernel-variant=direct", &info);
  gst_harness_set_drop_buffers (harness, TRUE);
  for (guint i = 0; i < 4; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  expect_line ("bytes of frames are not page-locked, so that copies are slower: CUDA refuses");
  gst_harness_teardown (harness);
  listen_end ();
  listen_begin (); /* lines of before do not count */
  fake_device_fault ("no-staging");
  harness = harness_new_for ("cudaconvolve kernel-variant=direct", &info);
  gst_harness_set_drop_buffers (harness, TRUE);
  push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  expect_line ("no memory could be page-locked for frames in pageable memory");
  gst_harness_teardown (harness);
  fake_device_fault (NULL);
  listen_end ();
}
GST_END_TEST;

TCase *
log_tests (void)
{
  TCase *tc = tcase_create ("logs");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_nothing_for_each_frame);
  tcase_add_test (tc, test_lines);
  tcase_add_test (tc, test_lines_of_faults);
  return tc;
}
