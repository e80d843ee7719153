/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of plugin/errors.md, row by row, over the fake device of fake_device.c. The last tests show that frames which
 * go over a device are right.
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <math.h>
#include <string.h>

#include "support/element.h"

#define HEARD (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_INFO)

/* Starts an element over the fake device with this fault. */
static Run
start (const gchar *line, const gchar *fault, const gchar *format)
{
  fake_device_fault (fault);
  return run_start (line, format, 24, 16);
}

static void
expect_one (Run *run, GstMessageType type, GQuark domain, gint code, const gchar *text, const gchar *debug_text)
{
  run_expect (run, HEARD, type, domain, code, text, debug_text);
}

static void
expect_none (Run *run)
{
  run_expect_none (run, HEARD);
}

GST_START_TEST (test_bad_before_playing)
{
  static const struct
  {
    const gchar *line, *text;
  } rows[] = {
    { "cudaconvolve mask=\"1 2 x\"", "\"x\" at row 1, value 3" },
    { "cudaconvolve mask=\"1 2 3; 4 5\"", "row 2" },
    { "cudaconvolve mask=\"1 2 3 4\"", "4" },
    { "cudaconvolve mask=\"1 nan 3\"", "\"nan\" at row 1, value 2" },
    { "cudaconvolve mask=gausian", "gausian" },
    { "cudaconvolve mask=\"\"", "mask" },
    { "cudaconvolve mask-width=4", "mask-width" },
    { "cudaconvolve mask=sobel-x mask-width=5", "mask-width" },
    { "cudaconvolve mask=\"1 1e999 1\"", "1e999" },
    { "cudaconvolve mask=motion:abc", "abc" },
    { "cudaconvolve mask=log sigma=200", "sigma" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Run run = start (rows[i].line, NULL, "I420");

    fail_unless (run.harness == NULL, "%s started", rows[i].line);
    expect_one (&run, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, rows[i].text,
        "gstcudaconvolvebase.c(");
    run_stop (&run);
  }
}
GST_END_TEST;

/* GLib up to 2.74 refuses NaN and keeps the value. Newer releases hand NaN to the element. */
GST_START_TEST (test_not_a_number)
{
  static const gchar *const names[] = { "sigma", "divisor", "bias" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    Run run = start ("cudaconvolve mask=gaussian", NULL, "I420");
    gdouble value;

    _gst_check_expecting_log = TRUE;
    g_object_set (run.element, names[i], (gdouble) NAN, NULL);
    _gst_check_expecting_log = FALSE;
    g_object_get (run.element, names[i], &value, NULL);
    if (!isnan (value)) {
      fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
      expect_none (&run);
    } else {
      fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
      expect_one (&run, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, names[i], NULL);
    }
    run_stop (&run);
  }
}
GST_END_TEST;

/* Each number is within its range, but the combination is not. */
GST_START_TEST (test_bad_numbers)
{
  Run run = start ("cudaconvolve mask=emboss", NULL, "I420");

  g_object_set (run.element, "bias", 0.75, NULL); /* emboss adds 0.5 */
  fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
  expect_one (&run, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "bias", NULL);
  fail_unless_equals_int (gst_harness_buffers_received (run.harness), 0);
  run_stop (&run);
}
GST_END_TEST;

/* Properties that elements read at their start are told where they are set later, once for each list of them. */
GST_START_TEST (test_set_after_the_start)
{
  Run run = start ("cudaconvolve mask=box", NULL, "I420");

  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_none (&run);
  for (guint i = 0; i < 2; i++) {
    g_object_set (run.element, "region-log", i == 0 ? "/nowhere/one.jsonl" : "/nowhere/two.jsonl", NULL);
    fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
    if (i == 0)
      expect_one (&run, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
          "region-log: takes effect when the element starts again", NULL);
    else
      expect_none (&run);
  }
  g_object_set (run.element, "region-log", NULL, "cuda-device-id", 0, NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_one (&run, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "cuda-device-id: takes effect",
      NULL);
  g_object_set (run.element, "region-log", "/nowhere/one.jsonl", NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_one (&run, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "cuda-device-id and region-log: take effect", NULL);
  run_stop (&run);
}
GST_END_TEST;

/* A bad mask while frames flow makes a warning with the same text, and the last good mask stays. */
GST_START_TEST (test_bad_while_playing)
{
  Run run = start ("cudaconvolve mask=\"1 2 1; 2 4 2; 1 2 1\"", NULL, "NV12");
  static const gint64 integers[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 };
  Expected expected = { .boundary = CONVOLVE_BOUNDARY_REPLICATE,
    .width = 3,
    .height = 3,
    .integers = integers,
    .numerator = 1,
    .denominator = 16 };

  for (gint i = 0; i < 6; i++) {
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, i), *out;

    if (i == 1)
      g_object_set (run.element, "mask", "1 2; 3", NULL);
    if (i == 3) {
      gst_util_set_object_arg (G_OBJECT (run.element), "boundary", "wrap"); /* takes effect, with the last good mask */
      expected.boundary = CONVOLVE_BOUNDARY_WRAP;
    }
    if (i == 4)
      g_object_set (run.element, "mask", "1 1 1", "divisor", 1e-9, NULL); /* a gain that is too large */
    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    frame_check (&run.info, in, out, &expected, "the mask that was good");
    if (i == 1)
      expect_one (&run, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "row", NULL);
    else if (i == 4)
      expect_one (&run, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "multiplies", NULL);
    else
      expect_none (&run);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  run_stop (&run);
}
GST_END_TEST;

GST_START_TEST (test_forced_variant_cannot)
{
  static const struct
  {
    const gchar *format, *line, *text;
  } rows[] = {
    { "RGB", "cudaconvolve kernel-variant=separable mask=\"0 1 0; 1 -4 1; 0 1 0\"",
        "kernel-variant: separable cannot do this mask: " },
    { "RGB", "cudaconvolve kernel-variant=separable mask=\"0 1 0; 1 -4 1; 0 1 0\"", "column and a row" },
    { "RGB", "cudaconvolve kernel-variant=separable mask=\"0 1 0; 1 -4 1; 0 1 0\"", "; auto takes a variant that can" },
    { "RGB", "cudaconvolve kernel-variant=constant mask=disk mask-width=91", "8100" },
    { "RGB", "cudaconvolve kernel-variant=tiled-input mask=box mask-width=33", "input tile" },
    { "GRAY16_LE", "cudaconvolve kernel-variant=packed-separable mask=box", "samples of more than 8 bits" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Run run = start (rows[i].line, NULL, rows[i].format);

    fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
    expect_one (&run, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, rows[i].text, NULL);
    fail_unless_equals_int (gst_harness_buffers_received (run.harness), 0);
    run_stop (&run);
  }
}
GST_END_TEST;

GST_START_TEST (test_no_gpu)
{
  static const gchar *const asking[][2] = {
    { "cudaconvolve kernel-variant=tiled",
        "kernel-variant: tiled cannot run: no CUDA device: this is a fake; auto, cpu and cpu-reference need no device" },
    { "cudaconvolve cuda-device-id=0",
        "cuda-device-id: 0 cannot be used: no CUDA device: this is a fake; -1 takes any device, or the CPU" },
    { "cudaconvolve cuda-device-id=0 kernel-variant=fft",
        "cuda-device-id: 0 cannot be used: no CUDA device: this is a fake; -1 takes any device, and with "
        "kernel-variant=auto the CPU" },
  };
  Run run = start ("cudaconvolve mask=sharpen", "no-device", "I420");

  for (gint i = 0; i < 3; i++)
    fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  g_object_set (run.element, "mask", "box", NULL);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  expect_one (&run, GST_MESSAGE_INFO, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "Working on the CPU",
      "Working on the CPU");
  run_stop (&run);

  for (guint i = 0; i < G_N_ELEMENTS (asking); i++) {
    run = start (asking[i][0], "no-device", "I420");
    fail_unless (run.harness == NULL);
    expect_one (&run, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, asking[i][1], NULL);
    run_stop (&run);
  }
  /* A CUDA variant without a GPU, set while frames flow. */
  run = start ("cudaconvolve", "no-device", "I420");
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  gst_message_unref (gst_bus_pop_filtered (run.bus, GST_MESSAGE_INFO));
  gst_util_set_object_arg (G_OBJECT (run.element), "kernel-variant", "global");
  fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
  expect_one (&run, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "kernel-variant: global cannot run: no CUDA device", NULL);
  run_stop (&run);
  /* cuda-device-id is a number that no device has. */
  run = start ("cudaconvolve cuda-device-id=7", NULL, "I420");
  fail_unless (run.harness == NULL);
  expect_one (&run, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "cuda-device-id: 7 cannot be used: no CUDA device", NULL);
  run_stop (&run);
}
GST_END_TEST;

GST_START_TEST (test_no_device_memory)
{
  Run run = start ("cudaconvolve kernel-variant=separable", "memory:8", "I420"); /* a plane of the third frame */

  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
  expect_one (&run, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "no room",
      "24x16 I420, variant separable");
  fail_unless_equals_int (gst_harness_buffers_received (run.harness), 2);
  /* The device keeps nothing of the frame that failed, so that another frame can begin. */
  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  run_stop (&run);
}
GST_END_TEST;

/*
 * A frame takes memory for three planes and for the effects: with memory:4 the first frame has none for its effects. The
 * second frame has the boxes of the first one, and takes no such memory again.
 */
GST_START_TEST (test_regions_on_device_fail)
{
  static const struct
  {
    const gchar *fault;
    gint code;
    const gchar *text, *debug;
    guint good; /* frames before the fault */
  } rows[] = {
    { "memory:4", GST_RESOURCE_ERROR_NO_SPACE_LEFT, "of regions", "24x16 I420, variant global", 0 },
    { "fail:2", GST_RESOURCE_ERROR_FAILED, "failed", "24x16 I420, variant global, CUDA error 700", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Run run = start ("cudaconvolve kernel-variant=global apply-to=regions regions=2,2,8,8 region-strength=0.2",
        rows[i].fault, "I420");

    for (guint k = 0; k < rows[i].good; k++)
      fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
    fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
    expect_one (&run, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, rows[i].code, rows[i].text, rows[i].debug);
    run_stop (&run);
  }
}
GST_END_TEST;

GST_START_TEST (test_device_fails)
{
  Run run = start ("cudaconvolve kernel-variant=tiled-cached", "fail:2", "RGBA");

  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
  expect_one (&run, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "failed",
      "24x16 RGBA, variant tiled-cached, CUDA error 700: an illegal memory access was encountered");
  fail_unless_equals_int (gst_harness_buffers_received (run.harness), 1);
  run_stop (&run);
}
GST_END_TEST;

/* A GstVideoMeta that points outside its memory is refused before anything is read. */
GST_START_TEST (test_lying_meta)
{
  static const struct
  {
    gsize offset;
    gint stride;
  } lies[] = { { 0, 4096 }, { 1, 24 }, { 200, 24 }, { 0, 12 }, { 0, G_MAXINT }, { 0, -24 }, { 359, -24 }, { 360, -25 },
    { 0, G_MININT } };

  for (guint i = 0; i < G_N_ELEMENTS (lies); i++) {
    Run run = start ("cudaconvolve", NULL, "GRAY8");
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 24 * 16, NULL);
    gsize offset[GST_VIDEO_MAX_PLANES] = { lies[i].offset };
    gint stride[GST_VIDEO_MAX_PLANES] = { lies[i].stride };

    gst_buffer_memset (buffer, 0, 1, 24 * 16);
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 24, 16, 1, offset,
        stride);
    fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_ERROR);
    expect_one (&run, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "does not fit", "input plane 0");
    run_stop (&run);
  }
}
GST_END_TEST;

/* GStreamer takes a GstVideoMeta of other frames than those of the caps for a fault of the program that maps the frame. */
GST_START_TEST (test_meta_of_other_caps)
{
  static const struct
  {
    GstVideoFormat format;
    guint width, height, n_planes;
  } lies[] = { { GST_VIDEO_FORMAT_I420, 24, 16, 2 }, { GST_VIDEO_FORMAT_NV12, 24, 16, 1 },
    { GST_VIDEO_FORMAT_NV12, 24, 16, 4 }, { GST_VIDEO_FORMAT_NV12, 23, 16, 2 }, { GST_VIDEO_FORMAT_NV12, 24, 15, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (lies); i++) {
    Run run = start ("cudaconvolve", NULL, "NV12");
    GstBuffer *buffer = frame_new (&run.info, FRAME_PADDED, i);
    GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

    meta->format = lies[i].format;
    meta->width = lies[i].width;
    meta->height = lies[i].height;
    meta->n_planes = lies[i].n_planes;
    fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_ERROR);
    expect_one (&run, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "does not fit its caps",
        "input GstVideoMeta: ");
    run_stop (&run);
  }
}
GST_END_TEST;

/* Views with a GstVideoMeta each are refused, so that never only the first view is convolved. */
GST_START_TEST (test_separate_views)
{
  static const gchar *const taken[] = { "mono", "left", "side-by-side", "top-bottom", "frame-by-frame" };
  Run run = start ("cudaconvolve mask=box", NULL, "GRAY8");
  GstCaps *caps = frame_caps ("GRAY8", 24, 16, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (taken); i++) {
    caps = gst_caps_make_writable (caps);
    gst_caps_set_simple (caps, "multiview-mode", G_TYPE_STRING, taken[i], "views", G_TYPE_INT, i < 2 ? 1 : 2, NULL);
    fail_unless (gst_harness_push_event (run.harness, gst_event_new_caps (caps)), "%s", taken[i]);
    fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  }
  expect_none (&run);
  caps = gst_caps_make_writable (caps);
  gst_caps_set_simple (caps, "multiview-mode", G_TYPE_STRING, "separated", "views", G_TYPE_INT, 2, NULL);
  gst_harness_push_event (run.harness, gst_event_new_caps (caps));
  for (gint i = 0; i < 2; i++)
    fail_unless_equals_int (run_push (&run), GST_FLOW_NOT_NEGOTIATED);
  fail_unless_equals_int (gst_harness_buffers_received (run.harness), G_N_ELEMENTS (taken));
  expect_one (&run, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "multiview-mode", "2 views");
  gst_caps_unref (caps);
  run_stop (&run);
}
GST_END_TEST;

/* A buffer of so many bytes in equal memories, which may be empty. */
static GstBuffer *
short_buffer (gsize bytes, guint memories)
{
  GstBuffer *buffer = gst_buffer_new ();

  for (guint i = 0; i < memories; i++)
    gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, bytes / memories, NULL));
  gst_buffer_memset (buffer, 0, 1, bytes);
  return buffer;
}

/* A buffer that is too small for its caps, without a GstVideoMeta: the sizes are told, and the length of a row. */
GST_START_TEST (test_short_buffer)
{
  static const gchar *const lines[] = { "cudaconvolve kernel-variant=cpu", "cudaconvolve kernel-variant=global",
    "cudaconvolve kernel-variant=global frames-in-flight=3",
    "cudaconvolve apply-to=regions regions=2,2,8,8 region-effect=fill kernel-variant=cpu",
    "cudaconvolve iterations=2" };
  static const struct
  {
    const gchar *format;
    gint width;
    gsize bytes;
    guint memories;
    GstBufferFlags flags;
    const gchar *text;
  } rows[] = {
    { "GRAY8", 24, 100, 1, 0, "100 bytes, and 24x16 GRAY8 needs 384 bytes, with rows of 24 bytes" },
    { "GRAY8", 24, 383, 1, 0, "383 bytes, and 24x16 GRAY8 needs 384 bytes" },
    { "GRAY8", 24, 0, 1, 0, ": 0 bytes, and 24x16 GRAY8" },
    { "GRAY8", 24, 0, 0, GST_BUFFER_FLAG_GAP, ": 0 bytes, and 24x16 GRAY8" },
    { "I420", 24, 384, 1, GST_BUFFER_FLAG_CORRUPTED, "384 bytes, and 24x16 I420 needs 576 bytes" },
    { "I420", 24, 573, 3, 0, "573 bytes, and 24x16 I420 needs 576 bytes" },
    { "RGB", 23, 23 * 3 * 16, 1, 0, "1104 bytes, and 23x16 RGB needs 1152 bytes, with rows of 72 bytes" },
    { "P010_10LE", 24, 24 * 16 * 2, 2, 0, "768 bytes, and 24x16 P010_10LE needs 1152 bytes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows) * G_N_ELEMENTS (lines); i++) {
    guint k = i / G_N_ELEMENTS (lines);
    Run run = start (lines[i % G_N_ELEMENTS (lines)], NULL, "GRAY8");
    GstBuffer *buffer = short_buffer (rows[k].bytes, rows[k].memories);

    run_caps (&run, rows[k].format, rows[k].width, 16);
    GST_BUFFER_FLAG_SET (buffer, rows[k].flags);
    fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_ERROR);
    expect_one (&run, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, rows[k].text, "flights.c(");
    /* The next frame is none the worse. */
    fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
    run_stop (&run);
  }
}
GST_END_TEST;

/* A buffer may be larger than its frame. */
GST_START_TEST (test_long_buffer)
{
  Run run = start ("cudaconvolve", NULL, "I420");

  fail_unless_equals_int (gst_harness_push (run.harness, short_buffer (577, 1)), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_push (run.harness, short_buffer (5760, 3)), GST_FLOW_OK);
  expect_none (&run);
  run_stop (&run);
}
GST_END_TEST;

/* Planes of a GstVideoMeta that begin behind the buffer: GStreamer cannot even map these. */
GST_START_TEST (test_planes_behind_buffer)
{
  for (guint plane = 0; plane < 2; plane++) {
    Run run = start ("cudaconvolve", NULL, "NV12");
    GstBuffer *buffer = short_buffer (576, 1);
    gsize offset[GST_VIDEO_MAX_PLANES] = { 0, 384 };
    gint stride[GST_VIDEO_MAX_PLANES] = { 24, 24 };

    offset[plane] = 576;
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 24, 16, 2, offset,
        stride);
    fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_ERROR);
    expect_one (&run, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "at 576 in 576 bytes of 24x16 NV12",
        plane == 0 ? "input plane 0" : "input plane 1");
    run_stop (&run);
  }
}
GST_END_TEST;

/* A pool of downstream whose buffers are smaller than they should be. */
typedef GstBufferPool ShortPool;
typedef GstBufferPoolClass ShortPoolClass;

static GType short_pool_get_type (void);
G_DEFINE_TYPE (ShortPool, short_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn
short_pool_alloc (GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  *buffer = gst_buffer_new_allocate (NULL, 200, NULL);
  return GST_FLOW_OK;
}

static void
short_pool_init (ShortPool *pool)
{
}

static void
short_pool_class_init (ShortPoolClass *klass)
{
  klass->alloc_buffer = short_pool_alloc;
}

static GstPadProbeReturn
offer_short_pool (GstPad *pad, GstPadProbeInfo *probe, gpointer pool)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !(probe->type & GST_PAD_PROBE_TYPE_PUSH))
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (query, pool, 384, 1, 0);
  return GST_PAD_PROBE_HANDLED;
}

GST_START_TEST (test_short_output)
{
  g_autoptr (GstBufferPool) pool = g_object_ref_sink (g_object_new (short_pool_get_type (), NULL));
  Run run = start ("cudaconvolve", NULL, "GRAY8");
  GstVideoInfo info = info_of ("GRAY8", 40, 30);

  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_short_pool, pool, NULL);
  gst_harness_set_src_caps (run.harness, gst_video_info_to_caps (&info));
  fail_unless_equals_int (gst_harness_push (run.harness, frame_new (&info, FRAME_PLAIN, 1)), GST_FLOW_ERROR);
  expect_one (&run, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "200 bytes, and 40x30 GRAY8 needs 1200 bytes", "output buffer");
  run_stop (&run);
}
GST_END_TEST;

/* An allocator whose memory nobody can map. */
typedef GstAllocator Sealed;
typedef GstAllocatorClass SealedClass;

static GType sealed_get_type (void);
G_DEFINE_TYPE (Sealed, sealed, GST_TYPE_ALLOCATOR)

static GstMemory *
sealed_alloc (GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  GstMemory *memory = g_new0 (GstMemory, 1);

  gst_memory_init (memory, 0, allocator, NULL, size, 0, 0, size);
  return memory;
}

static void
sealed_free (GstAllocator *allocator, GstMemory *memory)
{
  g_free (memory);
}

static gpointer
sealed_map (GstMemory *memory, gsize size, GstMapFlags flags)
{
  return NULL;
}

static void
sealed_init (Sealed *sealed)
{
  sealed->mem_type = "sealed";
  sealed->mem_map = sealed_map;
}

static void
sealed_class_init (SealedClass *klass)
{
  klass->alloc = sealed_alloc;
  klass->free = sealed_free;
}

static GstPadProbeReturn
offer_sealed_memory (GstPad *pad, GstPadProbeInfo *probe, gpointer allocator)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !(probe->type & GST_PAD_PROBE_TYPE_PUSH))
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_param (query, allocator, NULL);
  return GST_PAD_PROBE_HANDLED;
}

/* An output that cannot be mapped is an error. The input is not mapped any more then: others may write its memory. */
GST_START_TEST (test_sealed_output)
{
  g_autoptr (GstAllocator) sealed = g_object_ref_sink (g_object_new (sealed_get_type (), NULL));
  Run run = start ("cudaconvolve", NULL, "GRAY8");
  GstVideoInfo info = info_of ("GRAY8", 40, 30);
  GstBuffer *in = frame_new (&info, FRAME_PLAIN, 1);
  GstMemory *memory = gst_memory_ref (gst_buffer_peek_memory (in, 0));
  GstMapInfo map;

  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_sealed_memory, sealed, NULL);
  gst_harness_set_src_caps (run.harness, gst_video_info_to_caps (&info));
  fail_unless_equals_int (gst_harness_push (run.harness, in), GST_FLOW_ERROR);
  expect_one (&run, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "map", "flights.c(");
  fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE), "the input is mapped still");
  gst_memory_unmap (memory, &map);
  gst_memory_unref (memory);
  run_stop (&run);
}
GST_END_TEST;

/* Frames that come after an error do not post the error again. */
GST_START_TEST (test_one_error)
{
  Run run = start ("cudaconvolve kernel-variant=tiled-cached", "fail:1", "RGBA");

  for (guint i = 0; i < 5; i++)
    run_push (&run);
  expect_one (&run, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "failed", NULL);
  run_stop (&run);

  run = start ("cudaconvolve", NULL, "GRAY8");
  for (guint i = 0; i < 5; i++)
    gst_harness_push (run.harness, gst_buffer_new_allocate (NULL, 100, NULL));
  expect_one (&run, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "100 bytes", "flights.c(");
  run_stop (&run);
}
GST_END_TEST;

/* Masks with a large gain at 16 bits, whose weights single precision cannot hold, run on the device. */
GST_START_TEST (test_large_gain)
{
  static const gchar *const lines[] = { "cudaconvolve", "cudaconvolve kernel-variant=global" };
  static const gdouble weights[] = { 1000.1, -999.7, 0.9 };
  Expected expected = { .boundary = CONVOLVE_BOUNDARY_REPLICATE,
    .width = 3,
    .height = 1,
    .weights = { weights, weights },
    .divisors = { 1, 1 },
    .chroma_width = 3,
    .chroma_height = 1 };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run run = start (lines[i], NULL, "GRAY16_LE");
    g_autofree gchar *variant = NULL;
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, 5), *out;

    g_object_set (run.element, "mask", "1000.1 -999.7 0.9", "divisor", 1.0, NULL);
    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    frame_check (&run.info, in, out, &expected, "a large gain");
    g_object_get (run.element, "active-variant", &variant, NULL);
    fail_unless (variant && !g_str_has_prefix (variant, "cpu"), "%s on %s", lines[i], variant);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    expect_none (&run);
    run_stop (&run);
  }
}
GST_END_TEST;

/*
 * Upload, kernel and download in formats with one plane and several, odd sizes and padded rows. stats names the
 * device.
 */
GST_START_TEST (test_device_path)
{
  static const gchar *const formats[] = { "I420", "NV12", "YUY2", "UYVY", "RGB", "RGBx", "AYUV", "P010_10LE",
    "GRAY16_BE", "A420", "Y412_LE", "v216", "Y41B" };
  static const gint64 integers[] = { 1, 0, -1, 2, 5, -2, 1, 0, -1 };
  Expected expected = { .boundary = CONVOLVE_BOUNDARY_REFLECT_101,
    .width = 3,
    .height = 3,
    .integers = integers,
    .numerator = 1,
    .denominator = 5,
    .bias = 0.25 };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (FrameLayout layout = FRAME_PLAIN; layout <= FRAME_MEMORIES; layout++) {
      Run run = start ("cudaconvolve mask=\"1 0 -1; 2 5 -2; 1 0 -1\" boundary=reflect-101 bias=0.25 "
                       "kernel-variant=constant",
          NULL, formats[i]);
      GstCaps *caps = frame_caps (formats[i], 19, 7, NULL);
      GstBuffer *in, *out;
      GstStructure *stats;
      guint64 time;

      gst_video_info_from_caps (&run.info, caps);
      gst_harness_set_src_caps (run.harness, caps);
      in = frame_new (&run.info, layout, 77);
      fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
      out = gst_harness_pull (run.harness);
      frame_check (&run.info, in, out, &expected, "over the device");
      g_object_get (run.element, "stats", &stats, NULL);
      fail_unless_equals_string (gst_structure_get_string (stats, "backend"), "cuda");
      fail_unless_equals_string (gst_structure_get_string (stats, "device"), "fake device for an H200");
      fail_unless_equals_string (gst_structure_get_string (stats, "variant"), "constant");
      fail_unless (gst_structure_get_uint64 (stats, "upload-time", &time) && time == 1000);
      fail_unless (gst_structure_get_uint64 (stats, "kernel-time", &time) && time == 2000);
      fail_unless (gst_structure_get_uint64 (stats, "download-time", &time) && time == 3000);
      gst_structure_free (stats);
      gst_buffer_unref (in);
      gst_buffer_unref (out);
      expect_none (&run);
      run_stop (&run);
    }
}
GST_END_TEST;

static void
expect_backend (Run *run, const gchar *backend, const gchar *line)
{
  GstStructure *stats;

  fail_unless_equals_int (run_push (run), GST_FLOW_OK);
  g_object_get (run->element, "stats", &stats, NULL);
  fail_unless (g_strcmp0 (gst_structure_get_string (stats, "backend"), backend) == 0, "%s: not on %s", line, backend);
  gst_structure_free (stats);
}

/* Boxes in system memory are the CPU's work, unless the user names a device or a variant. */
GST_START_TEST (test_where_regions_run)
{
  static const struct
  {
    const gchar *line, *backend;
  } rows[] = {
    { "cudaconvolve apply-to=regions", "cpu" },
    { "cudaconvolve apply-to=regions cuda-device-id=-1", "cpu" },
    { "cudaconvolve apply-to=regions cuda-device-id=0", "cuda" },
    { "cudaconvolve apply-to=regions kernel-variant=global", "cuda" },
    { "cudaconvolve apply-to=outside-regions region-effect=mask cuda-device-id=0", "cuda" },
    { "cudaconvolve apply-to=outside-regions region-effect=fill", "cpu" },
    { "cudaconvolve apply-to=outside-regions region-effect=fill cuda-device-id=0", "cuda" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Run run = start (rows[i].line, NULL, "RGB");

    expect_backend (&run, rows[i].backend, rows[i].line);
    run_stop (&run);
  }
}
GST_END_TEST;

static Suite *
errors_suite (void)
{
  Suite *suite = suite_create ("errors");
  TCase *tc = tcase_create ("errors");

  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_bad_before_playing);
  tcase_add_test (tc, test_not_a_number);
  tcase_add_test (tc, test_bad_numbers);
  tcase_add_test (tc, test_set_after_the_start);
  tcase_add_test (tc, test_bad_while_playing);
  tcase_add_test (tc, test_forced_variant_cannot);
  tcase_add_test (tc, test_no_gpu);
  tcase_add_test (tc, test_no_device_memory);
  tcase_add_test (tc, test_regions_on_device_fail);
  tcase_add_test (tc, test_device_fails);
  tcase_add_test (tc, test_lying_meta);
  tcase_add_test (tc, test_meta_of_other_caps);
  tcase_add_test (tc, test_separate_views);
  tcase_add_test (tc, test_short_buffer);
  tcase_add_test (tc, test_long_buffer);
  tcase_add_test (tc, test_planes_behind_buffer);
  tcase_add_test (tc, test_short_output);
  tcase_add_test (tc, test_sealed_output);
  tcase_add_test (tc, test_one_error);
  tcase_add_test (tc, test_large_gain);
  tcase_add_test (tc, test_device_path);
  tcase_add_test (tc, test_where_regions_run);
  return suite;
}

GST_CHECK_MAIN (errors);
