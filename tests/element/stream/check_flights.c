/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in flight, and frames in strips, over the fake device. The device does the work of a frame only when
 * somebody waits for the frame. So a frame that leaves too early or in the wrong order has wrong bytes, and memory
 * that is freed too soon is used after that.
 */
#include "element/stream/check_flights.h"

#include <gst/check/gstharness.h>
#include <string.h>

#include "convolve_device.h"
#include "support/element.h"
#include "support/names.h"
#include "support/pools.h"

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  GstVideoInfo info;
  GString *order; /* what came out: a letter for each frame, and the names of the events between them */
  guint pushed;
} Flight;

static GstPadProbeReturn
note (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GString *order = data;

  if (GST_IS_BUFFER (probe->data))
    g_string_append_c (order, 'a' + GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (probe)) / (40 * GST_MSECOND));
  else if (GST_EVENT_TYPE (probe->data) != GST_EVENT_STREAM_START)
    g_string_append_printf (order, " %s ", GST_EVENT_TYPE_NAME (probe->data));
  return GST_PAD_PROBE_OK;
}

static void
flight_set_caps (Flight *run, const gchar *format, gint width, gint height)
{
  GstCaps *caps = frame_caps (format, width, height, NULL);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  fail_unless (gst_video_info_from_caps (&run->info, caps));
  gst_harness_set_src_caps (run->harness, caps);
}

static Flight
flight_new (const gchar *line, const gchar *fault, const gchar *format, gint width, gint height)
{
  Flight run = { .bus = gst_bus_new (), .order = g_string_new (NULL) };

  fake_device_fault (fault);
  run.harness = harness_new_line (line);
  gst_element_set_bus (run.harness->element, run.bus);
  gst_pad_add_probe (run.harness->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH, note, run.order,
      NULL);
  flight_set_caps (&run, format, width, height);
  return run;
}

static void
flight_free (Flight *run)
{
  gst_element_set_bus (run->harness->element, NULL);
  gst_harness_teardown (run->harness);
  gst_object_unref (run->bus);
  g_string_free (run->order, TRUE);
}

static GstFlowReturn
flight_push_buffer (Flight *run, GstBuffer *buffer)
{
  GST_BUFFER_PTS (buffer) = run->pushed++ * 40 * GST_MSECOND;
  return gst_harness_push (run->harness, buffer);
}

static void
flight_push (Flight *run, guint count)
{
  for (guint i = 0; i < count; i++)
    fail_unless_equals_int (flight_push_buffer (run, frame_new (&run->info, FRAME_PLAIN, run->pushed)), GST_FLOW_OK);
}

/* Compares what came out since the last call. */
static void
expect_order (Flight *run, const gchar *order)
{
  fail_unless_equals_string (run->order->str, order);
  g_string_truncate (run->order, 0);
}

/* The bytes of what an element makes of up to six random frames, with another mask before each frame. */
static GByteArray *
frames_of (const gchar *line, const gchar *format, FrameLayout layout, const gchar *const *masks, guint count)
{
  g_autofree gchar *order = g_strdup_printf (" caps  segment %.*s eos ", (int) count, "abcdef");
  Flight run = flight_new (line, NULL, format, 640, 448);
  GByteArray *bytes = g_byte_array_new ();
  GstBuffer *buffer;

  for (guint i = 0; i < count; i++) {
    if (masks)
      g_object_set (run.harness->element, "mask", masks[i], NULL);
    fail_unless_equals_int (flight_push_buffer (&run, frame_new (&run.info, layout, i)), GST_FLOW_OK);
  }
  gst_harness_push_event (run.harness, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (run.harness))) {
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless_equals_int64 (map.size, run.info.size);
    g_byte_array_append (bytes, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int64 (bytes->len, count * run.info.size);
  expect_order (&run, order);
  flight_free (&run);
  return bytes;
}

/* With 1 to `most` frames in flight, and two frames more than that. */
static void
check_same (const gchar *properties, const gchar *format, FrameLayout layout, const gchar *const *masks, guint most)
{
  g_autofree gchar *cpu = g_strdup_printf ("cudaconvolve kernel-variant=cpu-reference %s", properties);
  GByteArray *expected = frames_of (cpu, format, layout, masks, most + 2);

  for (guint n = 1; n <= most; n++) {
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve kernel-variant=global frames-in-flight=%u %s", n, properties);
    GByteArray *bytes = frames_of (line, format, layout, masks, most + 2);

    fail_unless (memcmp (bytes->data, expected->data, expected->len) == 0, "%s, %s, layout %d", line, format, layout);
    g_byte_array_unref (bytes);
  }
  g_byte_array_unref (expected);
}

/* Strips meet without a seam for every boundary, for low and tall masks, and for every layout of rows. */
GST_START_TEST (test_strips)
{
  static const gchar *const formats[] = { "P010_10LE", "RGBA", "Y444_16LE" };

  for (gint i = 0; i < CONVOLVE_N_BOUNDARIES; i++) {
    g_autofree gchar *small = g_strdup_printf ("boundary=%s mask=\"1 2 3; 4 5 6; 7 8 10\"", check_boundary_name (i));
    g_autofree gchar *tall = g_strdup_printf ("boundary=%s mask=motion:90 mask-width=201", check_boundary_name (i));

    check_same (small, formats[i % 3], i % (FRAME_MEMORIES + 1), NULL, 4);
    check_same (tall, "GRAY8", FRAME_PLAIN, NULL, 2);
  }
  for (FrameLayout layout = FRAME_PLAIN; layout <= FRAME_MEMORIES; layout++)
    check_same ("mask=emboss", "AYUV", layout, NULL, 4);
}
GST_END_TEST;

/* Each frame has the mask that was set when the frame came, also with plans that own memory on the device. */
GST_START_TEST (test_masks_change)
{
  static const gchar *const masks[] = { "box", "sharpen", "1 2 3", "identity", "disk", "1 0 0; 0 0 0; 0 0 -1" };

  check_same ("", "I420", FRAME_PLAIN, masks, 4);
}
GST_END_TEST;

/*
 * With n frames in flight the element keeps n - 1 frames back, and events wait behind them. The first frame leaves at once:
 * the sink waits for it, and other branches of a pipeline may wait for that sink.
 */
GST_START_TEST (test_order)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=3", NULL, "NV12", 64, 48);
  GstSegment segment;
  GstQuery *query = gst_query_new_drain ();
  GstBuffer *buffer;

  flight_push (&run, 2);
  expect_order (&run, " caps  segment a");
  flight_push (&run, 3);
  expect_order (&run, "bc");
  flight_set_caps (&run, "I420", 80, 60);
  expect_order (&run, "de caps  segment ");
  flight_push (&run, 3);
  expect_order (&run, "f");
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = 5;
  gst_harness_push_event (run.harness, gst_event_new_segment (&segment));
  flight_push (&run, 2);
  gst_harness_push_event (run.harness, gst_event_new_gap (10 * 40 * GST_MSECOND, 1));
  expect_order (&run, "gh segment ij gap ");
  flight_push (&run, 2);
  buffer = frame_new (&run.info, FRAME_PLAIN, 1);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  flight_push_buffer (&run, buffer);
  expect_order (&run, "kl");
  flight_push (&run, 1);
  gst_harness_push_event (run.harness,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("mark")));
  expect_order (&run, "mn custom-downstream ");
  flight_push (&run, 2);
  gst_pad_peer_query (run.harness->srcpad, query);
  expect_order (&run, "op");
  flight_push (&run, 1);
  gst_harness_push_event (run.harness, gst_event_new_eos ());
  expect_order (&run, "q eos ");
  gst_query_unref (query);
  flight_free (&run);
}
GST_END_TEST;

/* A flush drops the frames in flight, and the frames after the flush are complete. */
GST_START_TEST (test_flush)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=4", NULL, "NV12", 64, 48);
  GstSegment segment;

  flight_push (&run, 4);
  gst_harness_push_event (run.harness, gst_event_new_flush_start ());
  gst_harness_push_event (run.harness, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (run.harness, gst_event_new_segment (&segment));
  flight_push (&run, 1);
  expect_order (&run, " caps  segment a flush-start  flush-stop  segment e");
  flight_push (&run, 3);
  expect_order (&run, "");
  /* The element is stopped with frames in flight. */
  flight_free (&run);
}
GST_END_TEST;

/*
 * With a smaller frames-in-flight the surplus frames come out. With another variant, or with passthrough, all frames
 * come out in order.
 */
GST_START_TEST (test_changes)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=4", NULL, "NV12", 64, 48);

  flight_push (&run, 5);
  expect_order (&run, " caps  segment ab");
  g_object_set (run.harness->element, "frames-in-flight", 2, NULL);
  flight_push (&run, 1);
  expect_order (&run, "cde");
  g_object_set (run.harness->element, "frames-in-flight", 3, NULL);
  flight_push (&run, 2);
  expect_order (&run, "f");
  gst_util_set_object_arg (G_OBJECT (run.harness->element), "kernel-variant", "cpu");
  flight_push (&run, 2);
  expect_order (&run, "ghij");
  gst_util_set_object_arg (G_OBJECT (run.harness->element), "kernel-variant", "auto");
  flight_push (&run, 2);
  expect_order (&run, "");
  g_object_set (run.harness->element, "mask", "identity", NULL);
  flight_push (&run, 2);
  expect_order (&run, "klmn");
  g_object_set (run.harness->element, "mask", "box", NULL);
  flight_push (&run, 3);
  expect_order (&run, "o");
  flight_free (&run);
}
GST_END_TEST;

static GstClockTime
ask_latency (Flight *run)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime least, most;

  gst_harness_set_upstream_latency (run->harness, 5 * GST_MSECOND);
  fail_unless (gst_pad_peer_query (run->harness->sinkpad, query));
  gst_query_parse_latency (query, NULL, &least, &most);
  gst_query_unref (query);
  fail_unless (most == GST_CLOCK_TIME_NONE); /* upstream has no limit */
  return least - 5 * GST_MSECOND;
}

static void
expect_latency (Flight *run, GstClockTime latency, guint messages)
{
  GstMessage *message;
  guint count = 0;

  while ((message = gst_bus_pop_filtered (run->bus, GST_MESSAGE_LATENCY))) {
    gst_message_unref (message);
    count++;
  }
  fail_unless_equals_int (count, messages);
  fail_unless_equals_uint64 (ask_latency (run), latency);
}

/* The latency is reported, and reported again when frames-in-flight changes. */
GST_START_TEST (test_latency)
{
  Flight run = flight_new ("cudaconvolve", NULL, "NV12", 64, 48);
  GstCaps *caps;

  flight_push (&run, 1);
  expect_latency (&run, 0, 0);
  g_object_set (run.harness->element, "frames-in-flight", 3, NULL);
  flight_push (&run, 1);
  expect_latency (&run, 80 * GST_MSECOND, 1);
  g_object_set (run.harness->element, "sigma", 3.0, NULL);
  flight_push (&run, 1);
  expect_latency (&run, 80 * GST_MSECOND, 0);
  gst_util_set_object_arg (G_OBJECT (run.harness->element), "kernel-variant", "cpu");
  flight_push (&run, 1);
  expect_latency (&run, 0, 1);
  gst_util_set_object_arg (G_OBJECT (run.harness->element), "kernel-variant", "auto");
  g_object_set (run.harness->element, "frames-in-flight", 2, NULL);
  flight_push (&run, 1);
  expect_latency (&run, 40 * GST_MSECOND, 1);
  g_object_set (run.harness->element, "mask", "identity", NULL);
  flight_push (&run, 1);
  expect_latency (&run, 0, 1);
  flight_free (&run);

  /* Caps that do not say how long a frame lasts. */
  run = flight_new ("cudaconvolve frames-in-flight=3", NULL, "NV12", 64, 48);
  caps = gst_caps_make_writable (gst_video_info_to_caps (&run.info));
  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  gst_harness_set_src_caps (run.harness, caps);
  flight_push (&run, 1);
  expect_latency (&run, 80 * GST_MSECOND, 1);
  flight_free (&run);
}
GST_END_TEST;

/*
 * Frames wait for look-ahead first, and are in flight after that: the delays add up. What waits is not flowing yet, so the
 * first frame that goes on leaves at once.
 */
GST_START_TEST (test_look_ahead)
{
  Flight run =
      flight_new ("cudaconvolve kernel-variant=global apply-to=regions region-lookahead=80000000 frames-in-flight=3",
          NULL, "NV12", 64, 48);

  flight_push (&run, 2);
  expect_order (&run, " caps  segment ");
  flight_push (&run, 4);
  expect_order (&run, "ab");
  expect_latency (&run, 4 * 40 * GST_MSECOND, 2);
  gst_harness_push_event (run.harness,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("mark")));
  flight_push (&run, 1);
  expect_order (&run, "c");
  flight_push (&run, 2);
  expect_order (&run, "def custom-downstream ");
  g_object_set (run.harness->element, "region-lookahead", G_GUINT64_CONSTANT (0), NULL);
  flight_push (&run, 1);
  expect_latency (&run, 2 * 40 * GST_MSECOND, 1);
  expect_order (&run, "gh");
  gst_harness_push_event (run.harness, gst_event_new_eos ());
  expect_order (&run, "ij eos ");
  flight_free (&run);
}
GST_END_TEST;

/* A late frame is dropped before any work, and the next frame has the flag DISCONT. */
GST_START_TEST (test_late_frame)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=3", NULL, "NV12", 64, 48);
  GstBuffer *buffer;

  flight_push (&run, 3);
  gst_harness_push_upstream_event (run.harness,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 0, 3 * 40 * GST_MSECOND));
  flight_push (&run, 1); /* late */
  gst_harness_push_upstream_event (run.harness,
      gst_event_new_qos (GST_QOS_TYPE_OVERFLOW, 0.1, -1000 * GST_MSECOND, 1000 * GST_MSECOND));
  flight_push (&run, 3);
  expect_order (&run, " caps  segment abce");
  for (guint i = 0; i < 4; i++) {
    buffer = gst_harness_pull (run.harness);
    fail_unless_equals_int (GST_BUFFER_IS_DISCONT (buffer), i == 3);
    gst_buffer_unref (buffer);
  }
  flight_free (&run);

  /* The gap comes while an earlier gap is under way, and while none is. */
  for (guint gap = 0; gap < 2; gap++) {
    run = flight_new ("cudaconvolve frames-in-flight=3", NULL, "NV12", 64, 48);
    flight_push (&run, 1);
    buffer = frame_new (&run.info, FRAME_PLAIN, 1);
    if (gap)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int (flight_push_buffer (&run, buffer), GST_FLOW_OK);
    flight_push (&run, 1);
    gst_harness_push_upstream_event (run.harness,
        gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 0, 3 * 40 * GST_MSECOND));
    flight_push (&run, 1); /* late */
    gst_harness_push_upstream_event (run.harness,
        gst_event_new_qos (GST_QOS_TYPE_OVERFLOW, 0.1, -1000 * GST_MSECOND, 1000 * GST_MSECOND));
    flight_push (&run, 3);
    expect_order (&run, " caps  segment abce");
    for (guint i = 0; i < 4; i++) {
      buffer = gst_harness_pull (run.harness);
      fail_unless (i == 0 || GST_BUFFER_IS_DISCONT (buffer) == (i == 3 || (i == 1 && gap)));
      gst_buffer_unref (buffer);
    }
    flight_free (&run);
  }
}
GST_END_TEST;

/* The size is for the element to correct. */
static GstPadProbeReturn
offer_pool (GstPad *pad, GstPadProbeInfo *probe, gpointer pool)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !(probe->type & GST_PAD_PROBE_TYPE_PUSH))
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (query, pool, 1, 0, 0);
  return GST_PAD_PROBE_HANDLED;
}

/*
 * Where all work is in the order of one stream, frames leave before they are done. A frame that a flush drops is waited for
 * all the same: its buffer goes back to the pool, and whoever gets the buffer next may write it without the stream.
 */
GST_START_TEST (test_dropped_on_one_stream)
{
  Flight run = flight_new ("cudaconvolve kernel-variant=global frames-in-flight=3", "one-stream", "GRAY8", 64, 48);
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstBuffer *inputs[8], *taken[2], *outputs[8] = { NULL };
  GstSegment segment;
  GstMapInfo map;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool, pool, NULL);
  flight_set_caps (&run, "GRAY8", 64, 32);
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    inputs[i] = frame_new (&run.info, FRAME_PLAIN, i);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (flight_push_buffer (&run, gst_buffer_ref (inputs[i])), GST_FLOW_OK);
  gst_harness_push_event (run.harness, gst_event_new_flush_start ());
  gst_harness_push_event (run.harness, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (run.harness, gst_event_new_segment (&segment));
  for (guint i = 0; i < G_N_ELEMENTS (taken); i++) {
    fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &taken[i], NULL), GST_FLOW_OK);
    gst_buffer_memset (taken[i], 0, 7, -1);
  }
  for (guint i = 3; i < G_N_ELEMENTS (inputs); i++)
    fail_unless_equals_int (flight_push_buffer (&run, gst_buffer_ref (inputs[i])), GST_FLOW_OK);
  for (guint i = 0; i < G_N_ELEMENTS (taken); i++) {
    gst_buffer_map (taken[i], &map, GST_MAP_READ);
    for (gsize k = 0; k < map.size; k++)
      fail_unless (map.data[k] == 7, "byte %zu of buffer %u was written after the flush", k, i);
    gst_buffer_unmap (taken[i], &map);
  }
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    outputs[i] = gst_harness_try_pull (run.harness);
  fail_unless (outputs[0] != NULL);
  /* The fake device needs the plans of what is not waited for yet. Frames without a stream wait for all slots. */
  fake_device_fault (NULL);
  flight_push (&run, CONVOLVE_MAX_FRAMES);
  gst_harness_push_event (run.harness, gst_event_new_eos ());
  flight_free (&run);
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++) {
    gst_clear_buffer (&outputs[i]);
    gst_buffer_unref (inputs[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (taken); i++)
    gst_buffer_unref (taken[i]);
  gst_object_unref (pool);
}
GST_END_TEST;

/*
 * A frame under way fails while an event waits for it. The stream does not go on without that frame, and a flush begins
 * another one.
 */
GST_START_TEST (test_flush_after_failure)
{
  Flight run = flight_new ("cudaconvolve kernel-variant=global frames-in-flight=3", "fail:2", "NV12", 64, 48);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  flight_push (&run, 3);
  gst_harness_push_event (run.harness, gst_event_new_gap (3 * 40 * GST_MSECOND, 1));
  for (guint i = 0; i < 2; i++)
    fail_unless_equals_int (flight_push_buffer (&run, frame_new (&run.info, FRAME_PLAIN, i)), GST_FLOW_ERROR);
  expect_order (&run, " caps  segment a gap ");
  gst_harness_push_event (run.harness, gst_event_new_flush_start ());
  gst_harness_push_event (run.harness, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (run.harness, gst_event_new_segment (&segment));
  flight_push (&run, 4);
  gst_harness_push_event (run.harness, gst_event_new_eos ());
  expect_order (&run, " flush-start  flush-stop  segment fghi eos ");
  flight_free (&run);
}
GST_END_TEST;

/* A failure with frames in flight makes one error, and stopping makes no second one. */
GST_START_TEST (test_failure)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=3", "fail:2", "NV12", 64, 48);
  GstMessage *message;

  flight_push (&run, 3);
  fail_unless_equals_int (flight_push_buffer (&run, frame_new (&run.info, FRAME_PLAIN, 1)), GST_FLOW_ERROR);
  gst_harness_push_event (run.harness, gst_event_new_eos ());
  expect_order (&run, " caps  segment a eos ");
  message = gst_bus_pop_filtered (run.bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (run.bus, GST_MESSAGE_ERROR) == NULL);
  flight_free (&run);
}
GST_END_TEST;

/* A frame that cannot begin takes the frames under way with it, so that no frame comes after a gap that nobody sees. */
GST_START_TEST (test_failure_at_begin)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=3", "memory:4", "NV12", 64, 48);

  flight_push (&run, 2);
  fail_unless_equals_int (flight_push_buffer (&run, frame_new (&run.info, FRAME_PLAIN, 1)), GST_FLOW_ERROR);
  gst_harness_push_event (run.harness, gst_event_new_eos ());
  expect_order (&run, " caps  segment a eos ");
  flight_free (&run);
}
GST_END_TEST;

static GstFlowReturn
refuse (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_CUSTOM_ERROR_1;
}

/* Upstream hears what downstream says to a frame that was under way. */
GST_START_TEST (test_refused_at_drain)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=3", NULL, "NV12", 64, 48);
  GstBuffer *buffer;

  flight_push (&run, 3);
  gst_pad_set_chain_function (run.harness->sinkpad, refuse);
  buffer = frame_new (&run.info, FRAME_PLAIN, 4);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (flight_push_buffer (&run, buffer), GST_FLOW_CUSTOM_ERROR_1);
  expect_order (&run, " caps  segment ab");
  flight_free (&run);
}
GST_END_TEST;

static void
count_notification (GObject *object, GParamSpec *property, gpointer count)
{
  (*(guint *) count)++;
}

/* active-variant tells when the variant changes, and only then. */
GST_START_TEST (test_variant_is_told)
{
  Flight run = flight_new ("cudaconvolve", NULL, "NV12", 64, 48);
  guint count = 0;

  flight_push (&run, 1);
  g_signal_connect (run.harness->element, "notify::active-variant", G_CALLBACK (count_notification), &count);
  gst_util_set_object_arg (G_OBJECT (run.harness->element), "kernel-variant", "cpu");
  flight_push (&run, 2);
  fail_unless_equals_int (count, 1);
  gst_util_set_object_arg (G_OBJECT (run.harness->element), "kernel-variant", "cpu-reference");
  flight_push (&run, 2);
  fail_unless_equals_int (count, 2);
  flight_free (&run);
}
GST_END_TEST;

/* A gap that upstream marks comes after the frames before it, also where an earlier gap is not out yet. */
GST_START_TEST (test_early_gap)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=3", NULL, "NV12", 64, 48);

  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = frame_new (&run.info, FRAME_PLAIN, i);

    if (i != 2) /* a stream begins with a gap */
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int (flight_push_buffer (&run, buffer), GST_FLOW_OK);
  }
  expect_order (&run, " caps  segment abc");
  flight_free (&run);
}
GST_END_TEST;

/*
 * A buffer that keeps one of a small pool alive counts as that pool's, about which nobody asked the element. So the frame
 * is done at once, and its output does not keep the input alive.
 */
GST_START_TEST (test_parent_buffer)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=3", NULL, "NV12", 64, 48);
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&run.info);
  GstBuffer *parent, *child;

  gst_buffer_pool_config_set_params (config, caps, run.info.size, 1, 1);
  fail_unless (gst_buffer_pool_set_config (pool, config) && gst_buffer_pool_set_active (pool, TRUE));
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &parent, NULL), GST_FLOW_OK);
  gst_buffer_memset (parent, 0, 7, -1);
  child = frame_new (&run.info, FRAME_PLAIN, 1);
  gst_buffer_add_parent_buffer_meta (child, parent);
  gst_buffer_unref (parent);
  flight_push (&run, 1); /* the first frame leaves at once in any case */
  gst_buffer_unref (gst_harness_pull (run.harness));
  fail_unless_equals_int (flight_push_buffer (&run, child), GST_FLOW_OK);
  expect_order (&run, " caps  segment ab");
  child = gst_harness_pull (run.harness);
  fail_unless (gst_buffer_get_parent_buffer_meta (child) == NULL);
  gst_buffer_unref (child);
  flight_free (&run);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}
GST_END_TEST;

/* Downstream's pool makes buffers as large as they have to be, whatever size downstream named. */
GST_START_TEST (test_small_buffers)
{
  Flight run = flight_new ("cudaconvolve", NULL, "NV12", 64, 48);
  GstBufferPool *pool = gst_buffer_pool_new ();

  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool, pool, NULL);
  flight_set_caps (&run, "NV12", 64, 32);
  flight_push (&run, 2);
  flight_free (&run);
  gst_object_unref (pool);
}
GST_END_TEST;

static GstPadProbeReturn
offer_small_pool (GstPad *pad, GstPadProbeInfo *probe, gpointer pool)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !(probe->type & GST_PAD_PROBE_TYPE_PUSH))
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (query, pool, 64 * 48 * 3 / 2, 2, 3);
  return GST_PAD_PROBE_HANDLED;
}

/* A pool with fewer buffers than frames-in-flight must not stop the stream. */
GST_START_TEST (test_small_pool)
{
  for (guint n = 1; n <= 4; n++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve frames-in-flight=%u", n);
    Flight run = flight_new (line, NULL, "NV12", 64, 48);
    GstBufferPool *pool = gst_video_buffer_pool_new ();
    GstBuffer *buffer;

    gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_small_pool, pool, NULL);
    flight_set_caps (&run, "NV12", 64, 32);
    flight_push (&run, n);
    buffer = gst_harness_pull (run.harness);
    fail_unless_equals_int (buffer->pool == pool, n <= 2);
    gst_buffer_unref (buffer);
    flight_free (&run);
    gst_object_unref (pool);
  }
}
GST_END_TEST;

/* The buffers that downstream keeps, and those of its pool. */
typedef struct
{
  guint least, most, queries;
} Lent;

static GstPadProbeReturn
lend (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Lent *lent = data;

  lent->queries += GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (probe)) == GST_QUERY_ALLOCATION;
  return pools_offer (probe, lent->least, lent->most);
}

static GstPadProbeReturn
ask_for_one_frame (GstPad *pad, GstPadProbeInfo *probe, gpointer element)
{
  if (GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (probe)) == GST_QUERY_ALLOCATION)
    g_object_set (element, "frames-in-flight", 1, NULL);
  return GST_PAD_PROBE_OK;
}

/*
 * The application asks for fewer frames in flight while buffers are negotiated for more. The pool then has buffers
 * for the few, so that no frame may be kept back.
 */
GST_START_TEST (test_fewer_while_negotiating)
{
  Flight run = flight_new ("cudaconvolve kernel-variant=global", NULL, "NV12", 64, 48);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (run.harness->element, "src");
  Lent lent = { .least = 2, .most = 2 };

  gst_harness_set_drop_buffers (run.harness, TRUE);
  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, lend, &lent, NULL);
  flight_set_caps (&run, "NV12", 64, 32);
  flight_push (&run, 2);
  expect_order (&run, " caps  segment  caps  segment ab");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, ask_for_one_frame, run.harness->element, NULL);
  g_object_set (run.harness->element, "frames-in-flight", 4, NULL);
  flight_push (&run, 1);
  expect_order (&run, "c");
  flight_free (&run);
}
GST_END_TEST;

/* Downstream is asked again only where more frames are to be in flight than its pool has buffers for. */
GST_START_TEST (test_more_of_the_same_pool)
{
  Flight run = flight_new ("cudaconvolve kernel-variant=global frames-in-flight=2", NULL, "NV12", 64, 48);
  Lent lent = { .least = 1, .most = 3 };
  guint before;

  gst_harness_set_drop_buffers (run.harness, TRUE);
  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, lend, &lent, NULL);
  flight_set_caps (&run, "NV12", 64, 32);
  flight_push (&run, 3);
  expect_order (&run, " caps  segment  caps  segment ab");
  before = lent.queries;
  g_object_set (run.harness->element, "frames-in-flight", 3, NULL);
  flight_push (&run, 2);
  expect_order (&run, "c");
  fail_unless_equals_int (lent.queries, before);
  g_object_set (run.harness->element, "frames-in-flight", 4, NULL);
  flight_push (&run, 2);
  expect_order (&run, "de");
  fail_unless (lent.queries > before);
  before = lent.queries;
  g_object_set (run.harness->element, "frames-in-flight", 2, NULL);
  flight_push (&run, 1);
  g_object_set (run.harness->element, "frames-in-flight", 4, NULL); /* now the pool is the element's own */
  flight_push (&run, 3);
  fail_unless_equals_int (lent.queries, before);
  flight_free (&run);
}
GST_END_TEST;

/* Upstream's query makes the element ask downstream, where downstream wants that. Nothing stays under way meanwhile. */
GST_START_TEST (test_query_asks_downstream)
{
  Flight run = flight_new ("cudaconvolve kernel-variant=global frames-in-flight=3", NULL, "NV12", 64, 48);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&run.info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  flight_push (&run, 3);
  expect_order (&run, " caps  segment a");
  gst_harness_push_upstream_event (run.harness, gst_event_new_reconfigure ());
  fail_unless (gst_pad_peer_query (run.harness->srcpad, query));
  expect_order (&run, "bc");
  gst_query_unref (query);
  flight_free (&run);
}
GST_END_TEST;

/* The pool that upstream is offered has enough buffers, on pages that nobody shares. */
GST_START_TEST (test_offered_pool)
{
  Flight run = flight_new ("cudaconvolve frames-in-flight=4", NULL, "NV12", 64, 48);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&run.info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstAllocationParams params;
  GstBufferPool *pool;
  GstBuffer *buffer;
  GstMapInfo map;
  guint size, min, max;

  flight_push (&run, 1);
  fail_unless (gst_pad_peer_query (run.harness->srcpad, query));
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 1);
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  gst_query_parse_nth_allocation_param (query, 0, NULL, &params);
  fail_unless_equals_int (min, 3);
  fail_unless_equals_int (max, 0);
  fail_unless_equals_int (params.align, 4095);
  fail_unless_equals_int (params.padding, 4095);
  gst_buffer_pool_set_active (pool, TRUE);
  gst_buffer_pool_acquire_buffer (pool, &buffer, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_int ((guintptr) map.data % 4096, 0);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  gst_query_unref (query);
  flight_free (&run);
}
GST_END_TEST;

static Suite *
flights_suite (void)
{
  Suite *suite = suite_create ("flights");
  TCase *tc = tcase_create ("flights");

  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  suite_add_tcase (suite, branch_tests ());
  suite_add_tcase (suite, log_tests ());
  tcase_add_test (tc, test_strips);
  tcase_add_test (tc, test_masks_change);
  tcase_add_test (tc, test_order);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_latency);
  tcase_add_test (tc, test_look_ahead);
  tcase_add_test (tc, test_late_frame);
  tcase_add_test (tc, test_dropped_on_one_stream);
  tcase_add_test (tc, test_flush_after_failure);
  tcase_add_test (tc, test_failure);
  tcase_add_test (tc, test_failure_at_begin);
  tcase_add_test (tc, test_refused_at_drain);
  tcase_add_test (tc, test_variant_is_told);
  tcase_add_test (tc, test_early_gap);
  tcase_add_test (tc, test_parent_buffer);
  tcase_add_test (tc, test_small_buffers);
  tcase_add_test (tc, test_small_pool);
  tcase_add_test (tc, test_fewer_while_negotiating);
  tcase_add_test (tc, test_more_of_the_same_pool);
  tcase_add_test (tc, test_query_asks_downstream);
  tcase_add_test (tc, test_offered_pool);
  return suite;
}

GST_CHECK_MAIN (flights);
