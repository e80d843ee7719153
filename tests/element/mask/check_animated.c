/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that GstController moves: a blur that fades out ends in the input, in steps that only go down, in silence. */
#include <gst/controller/gstargbcontrolbinding.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <string.h>

#include "element/mask/check_masks.h"
#include "support/frame.h"
#include "support/run.h"

#define FRAMES 33

/* A source of numbers on the line from one to the other while the frames come, one a second. */
static GstControlSource *
source_of (gdouble from, gdouble to)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE (source);

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (points, 0, from);
  gst_timed_value_control_source_set (points, (FRAMES - 1) * GST_SECOND, to);
  return source;
}

/* Lets a property go from one number to the other; absolute ones are those of the property, others 0 to 1 of its range. */
static void
animate (GstElement *element, const gchar *property, gdouble from, gdouble to, gboolean absolute)
{
  GstControlSource *source = source_of (from, to);

  fail_unless (gst_object_add_control_binding (GST_OBJECT (element),
      absolute ? gst_direct_control_binding_new_absolute (GST_OBJECT (element), property, source)
               : gst_direct_control_binding_new (GST_OBJECT (element), property, source)));
  gst_object_unref (source);
}

/* What becomes of the random frame, which comes at that number of seconds. */
static GByteArray *
frame_at (Run *run, guint number)
{
  GByteArray *bytes = g_byte_array_new ();
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&run->info);
  GstBuffer *in = frame_new (&run->info, FRAME_PLAIN, check_seed ()), *out;
  GstSample *sample;

  GST_BUFFER_PTS (in) = number * GST_SECOND;
  fail_unless_equals_int (gst_harness_push (run->harness, in), GST_FLOW_OK);
  out = gst_harness_pull (run->harness);
  sample = gst_sample_new (out, caps, NULL, NULL);
  frame_append_rows (bytes, sample);
  gst_sample_unref (sample);
  gst_buffer_unref (out);
  return bytes;
}

static GByteArray *
input_of (const GstVideoInfo *info)
{
  Run run = run_start ("cudaconvolve mask=identity", gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)),
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
  GByteArray *bytes = frame_at (&run, 0);

  run_stop (&run);
  return bytes;
}

static guint64
distance (const GByteArray *a, const GByteArray *b)
{
  guint64 sum = 0;

  for (guint i = 0; i < a->len; i++)
    sum += ABS (a->data[i] - b->data[i]);
  return sum;
}

/* --- the log --- */

static GPtrArray *said;

static void
keep_warning (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (level <= GST_LEVEL_WARNING && g_str_equal (gst_debug_category_get_name (category), "cudaconvolve"))
    g_ptr_array_add (said, g_strdup (gst_debug_message_get (message)));
}

static void
listen (void)
{
  said = g_ptr_array_new_with_free_func (g_free);
  gst_debug_set_threshold_for_name ("cudaconvolve", GST_LEVEL_WARNING);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (keep_warning, NULL, NULL);
}

static void
stop_listening (void)
{
  gst_debug_remove_log_function (keep_warning);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  gst_debug_unset_threshold_for_name ("cudaconvolve");
  g_clear_pointer (&said, g_ptr_array_unref);
}

/* --- fading out --- */

typedef struct
{
  const gchar *line, *property;
  gdouble from, to;
  gboolean absolute;
} Fade;

#define BOXES "regions=4,4,20,14;30%,30%,60%,60%"

static const Fade fades[] = {
  { "mask=gaussian", "sigma", 8, 0, TRUE },
  { "mask=gaussian mask-width=9", "sigma", 8, 0, TRUE },
  { "mask=gaussian sigma=3 mask-height=1", "sigma", 4, 0, TRUE },
  { "mask=unsharp:1.7", "sigma", 8, 0, TRUE },
  { "mask=gaussian", "sigma", 1.0 / 32, 0, FALSE }, /* a binding's 0 is the least number, -1 */
  { "mask=gaussian", "sigma", 4, -0.5, TRUE },
  { "mask=gaussian", "mask-width", 15, 0, TRUE },
  { "mask=box", "mask-width", 32, 0, TRUE },
  { "mask=box", "mask-width", 16.0 / 255, 0, FALSE },
  { "mask=disk", "mask-width", 15, 1, TRUE },
  { "mask=binomial", "mask-width", 15, 0, TRUE },
  { "mask=motion:30", "mask-width", 15, 0, TRUE },
  { "mask=box mask-width=1", "mask-height", 20, 0, TRUE },
  { "mask=box mask-width=9", "mix", 1, 0, TRUE },
  { "mask=gaussian apply-to=regions " BOXES, "region-strength", 0.5, 0, TRUE },
  { "mask=box apply-to=regions region-feather=3 " BOXES, "region-strength", 1, 0, FALSE },
  { "mask=gaussian apply-to=outside-regions " BOXES, "region-strength", 0.5, 0, TRUE },
  { "apply-to=regions region-fallback=frame region-sources=roi region-hold=0", "region-strength", 0.5, 0, TRUE },
  { "mask=box apply-to=regions region-effect=mask " BOXES, "mask-width", 15, 0, TRUE },
};

static void
check_fade (const Fade *fade, const gchar *format)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", fade->line);
  Run run = run_start (line, format, 45, 31);
  g_autoptr (GByteArray) input = input_of (&run.info);
  guint64 before = 0;

  listen ();
  animate (run.element, fade->property, fade->from, fade->to, fade->absolute);
  for (guint i = 0; i < FRAMES; i++) {
    g_autoptr (GByteArray) bytes = frame_at (&run, i);
    guint64 now = distance (bytes, input);

    /* Two wide means of noise may be as far from the noise; a jump is larger by far. */
    fail_unless (i == 0 || now <= before + before / 20,
        "%s, %s, %s: frame %u is farther from the input than the one before", line, fade->property, format, i);
    fail_unless (i > 0 || now > 0, "%s, %s, %s: no effect to begin with", line, fade->property, format);
    before = now;
  }
  fail_unless (before == 0, "%s, %s, %s: the last frame is not the input", line, fade->property, format);
  fail_unless (said->len == 0, "%s: %s", line, said->len > 0 ? (gchar *) g_ptr_array_index (said, 0) : "");
  if (g_str_equal (fade->property, "region-strength"))
    run_expect (&run, HEARD, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "region-strength: below", NULL);
  run_expect_none (&run, HEARD);
  stop_listening ();
  run_stop (&run);
}

GST_START_TEST (test_fading)
{
  static const gchar *const formats[] = { "I420", "RGB", "NV12" };

  for (guint i = 0; i < G_N_ELEMENTS (fades); i++)
    for (guint k = 0; k < G_N_ELEMENTS (formats); k++)
      check_fade (&fades[i], formats[k]);
}
GST_END_TEST;

/* log has a least mask, in which the spots are single pixels: a sigma of 0 gives what very small ones give. */
GST_START_TEST (test_least_log)
{
  Run run = run_start ("cudaconvolve mask=log bias=0.5", "GRAY8", 45, 31);
  g_autoptr (GByteArray) small = NULL, zero = NULL, least = NULL, nothing = NULL;

  g_object_set (run.element, "sigma", 0.02, NULL);
  small = frame_at (&run, 0);
  g_object_set (run.element, "sigma", 0.0, NULL);
  zero = frame_at (&run, 0);
  fail_unless_equals_int (distance (small, zero), 0);
  g_object_set (run.element, "mask", "1 1 1; 1 -8 1; 1 1 1", "divisor", 4.5, "sigma", -1.0, NULL);
  least = frame_at (&run, 0);
  fail_unless_equals_int (distance (least, zero), 0);
  nothing = input_of (&run.info);
  fail_unless (distance (nothing, zero) > 0);
  run_expect_none (&run, HEARD);
  run_stop (&run);
}
GST_END_TEST;

/* What a control binding sets can be read, and what is typed is taken by its letter: also where a binding is disabled. */
GST_START_TEST (test_typed_beside_driven)
{
  Run run = run_start ("cudaconvolve mask=box", "GRAY8", 20, 20);
  guint width;

  animate (run.element, "mask-width", 14, 14, TRUE);
  g_byte_array_unref (frame_at (&run, 0));
  g_object_get (run.element, "mask-width", &width, NULL);
  fail_unless_equals_int (width, 15);
  run_expect_none (&run, HEARD);
  g_object_set (run.element, "mask-height", 14, NULL);
  g_byte_array_unref (frame_at (&run, 1));
  run_expect (&run, HEARD, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "mask-height: 14 ",
      NULL);
  gst_object_set_control_binding_disabled (GST_OBJECT (run.element), "mask-width", TRUE);
  g_object_set (run.element, "mask-height", 0, "mask-width", 12, NULL);
  g_byte_array_unref (frame_at (&run, 2));
  run_expect (&run, HEARD, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "mask-width: 12 ", NULL);
  /* Typed again and again, each number is a fault of its own. */
  g_object_set (run.element, "mask-width", 10, NULL);
  g_byte_array_unref (frame_at (&run, 3));
  run_expect (&run, HEARD, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "mask-width: 10 ", NULL);
  run_stop (&run);
}
GST_END_TEST;

/* --- warnings --- */

/* A fault that has another number in each frame is told once; and again after a good number. */
GST_START_TEST (test_one_warning)
{
  static const struct
  {
    const gchar *line, *property;
    gdouble from, to;
  } rows[] = {
    { "mask=log", "sigma", 20, 60 },
    { "mask=sobel-x", "mask-width", 3, 30 },
    { "weights=<<1,2,1>>", "anchor-x", 1, 30 },
    { "mask=emboss", "bias", 0.4, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", rows[i].line);
    Run run = run_start (line, "GRAY8", 40, 30);

    animate (run.element, rows[i].property, rows[i].from, rows[i].to, TRUE);
    for (guint turn = 0; turn < 2; turn++) {
      for (guint k = 0; k < FRAMES; k++)
        g_byte_array_unref (frame_at (&run, k));
      run_expect (&run, HEARD, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, rows[i].property,
          NULL);
      run_expect_none (&run, HEARD);
    }
    run_stop (&run);
  }
}
GST_END_TEST;

/* A number without effect is told in the log once, and so is that of another property which begins to change later. */
GST_START_TEST (test_one_warning_without_effect)
{
  static const gchar *const properties[] = { "sigma", "boundary-color" };
  Run run = run_start ("cudaconvolve mask=sharpen", "GRAY8", 20, 20);

  listen ();
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    animate (run.element, properties[i], 5, 1, TRUE);
    for (guint k = 0; k < FRAMES; k++)
      g_byte_array_unref (frame_at (&run, k));
    fail_unless_equals_int (said->len, i + 1);
  }
  stop_listening ();
  run_stop (&run);
}
GST_END_TEST;

/* Between two packed numbers lie other colours, but a GstARGBControlBinding goes from grey to grey. */
GST_START_TEST (test_colour)
{
  Run run = run_start ("cudaconvolve apply-to=regions regions=0,0,20,20 region-effect=fill", "RGB", 20, 20);
  GstControlSource *opaque = source_of (1, 1), *grey = source_of (0, 1);
  gint before = -1;

  fail_unless (gst_object_add_control_binding (GST_OBJECT (run.element),
      gst_argb_control_binding_new (GST_OBJECT (run.element), "region-color", opaque, grey, grey, grey)));
  for (guint i = 0; i < FRAMES; i++) {
    g_autoptr (GByteArray) bytes = frame_at (&run, i);

    fail_unless (bytes->data[0] == bytes->data[1] && bytes->data[1] == bytes->data[2] && bytes->data[0] > before,
        "frame %u: %u, %u, %u", i, bytes->data[0], bytes->data[1], bytes->data[2]);
    before = bytes->data[0];
  }
  fail_unless_equals_int (before, 255);
  gst_object_unref (opaque);
  gst_object_unref (grey);
  run_stop (&run);
}
GST_END_TEST;

TCase *
animated_tests (void)
{
  TCase *tc = tcase_create ("animated");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_fading);
  tcase_add_test (tc, test_least_log);
  tcase_add_test (tc, test_typed_beside_driven);
  tcase_add_test (tc, test_one_warning);
  tcase_add_test (tc, test_one_warning_without_effect);
  tcase_add_test (tc, test_colour);
  return tc;
}
