/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The span of each frame: how many, in which order, and what they say. Built where GStreamer has spans. */
#include <gst/check/gstcheck.h>

#include "support/element.h"

#define FRAMES 5

/* --- a tracer that keeps what it is told --- */

typedef GstTracer Listener;
typedef GstTracerClass ListenerClass;

static GType listener_get_type (void);
G_DEFINE_TYPE (Listener, listener, GST_TYPE_TRACER)

static guint begun, ended;
static GstTraceSpanId open_span; /* or 0 */
static GstClockTime times[FRAMES];
static const gchar *variant; /* of the last span, interned */

static void
listener_class_init (ListenerClass *klass)
{
}

static void
listener_init (Listener *listener)
{
}

static void
hear_begin (GObject *tracer, GstClockTime time, GstTraceSpanId span, GstTraceFormat *format,
    const GstTraceValue *values)
{
  static const gchar *const names[] = { "element", "variant", "pts" };

  if (!g_str_equal (gst_trace_format_get_name (format), "cudaconvolve_frame"))
    return;
  fail_unless_equals_int (gst_trace_format_get_n_fields (format), G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    fail_unless_equals_string (gst_trace_format_get_field_name (format, i), names[i]);
  fail_unless_equals_string (values[0].v_string, "traced");
  fail_unless (open_span == 0, "the span before has not ended");
  fail_unless (begun < FRAMES);
  variant = g_intern_string (values[1].v_string);
  times[begun++] = values[2].v_uint64;
  fail_unless (variant != NULL);
  open_span = span;
}

static void
hear_end (GObject *tracer, GstClockTime time, GstTraceSpanId span)
{
  if (span != open_span)
    return;
  open_span = 0;
  ended++;
}

static void
listen (void)
{
  Listener *listener = gst_object_ref_sink (g_object_new (listener_get_type (), NULL));

  gst_tracing_register_hook (listener, "span-begin", G_CALLBACK (hear_begin));
  gst_tracing_register_hook (listener, "span-end", G_CALLBACK (hear_end));
  gst_object_unref (listener);
}

/* --- checks --- */

/* Pushes FRAMES frames through the element, and counts spans. */
static void
run (const gchar *line, guint spans)
{
  GstVideoInfo info = info_of ("I420", 32, 16);
  GstHarness *harness = harness_new_for (line, &info);

  begun = ended = 0;
  for (guint i = 0; i < FRAMES; i++) {
    GstBuffer *frame = frame_new (&info, FRAME_PLAIN, i);

    GST_BUFFER_PTS (frame) = (i + 1) * GST_SECOND;
    push_ok (harness, frame);
  }
  fail_unless_equals_int (begun, spans);
  fail_unless_equals_int (ended, spans);
  for (guint i = 0; i < spans; i++)
    fail_unless_equals_uint64 (times[i], (i + 1) * GST_SECOND);
  gst_harness_teardown (harness);
}

/* One span for each frame that is convolved, and none where the mask changes nothing. */
GST_START_TEST (spans)
{
  run ("cudaconvolve name=traced kernel-variant=cpu-reference", 0); /* nobody listens yet */
  listen ();
  run ("cudaconvolve name=traced kernel-variant=cpu-reference", FRAMES);
  fail_unless_equals_string (variant, "cpu-reference");
  run ("cudaconvolve name=traced frames-in-flight=3", FRAMES);
  run ("cudaconvolve name=traced apply-to=regions regions=1,1,4,4", FRAMES);
  run ("cudaconvolve name=traced mask=identity", 0);
}
GST_END_TEST;

static Suite *
tracing_suite (void)
{
  Suite *suite = suite_create ("tracing");
  TCase *tc = tcase_create ("tracing");

  tcase_add_test (tc, spans);
  suite_add_tcase (suite, tc);
  return suite;
}

GST_CHECK_MAIN (tracing);
