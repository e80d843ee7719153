/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks from arrays, files and vectors, anchors, flip and mix through the element: against the same mask in
 * the text of mask, against the oracle, and while frames flow.
 */
#include <gst/check/gstcheck.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "element/mask/check_masks.h"
#include "masks/mask_text.h"
#include "support/file.h"
#include "support/names.h"
#include "support/numpy.h"

#define ALONE "set one of mask, weights, mask-location, and mask-x with mask-y, and leave the others at their defaults"

static guint32 seed;
static gchar *folder, *location; /* a file in the folder; both are removed at the end */

static void
write_text (const gchar *text)
{
  GByteArray content = { (guint8 *) text, strlen (text) };

  fail_unless (check_write_file (location, &content));
}

void
set_weights (GstElement *element, const gchar *text)
{
  g_autofree gchar *copy = g_strdup (text);

  gst_util_set_object_arg (G_OBJECT (element), "weights", copy);
}

/* The frame that comes out for a frame of random samples. */
static GByteArray *
convolve_frame (Run *run)
{
  GByteArray *bytes = g_byte_array_new ();
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&run->info);
  GstBuffer *out;
  GstSample *sample;

  fail_unless_equals_int (gst_harness_push (run->harness, frame_new (&run->info, FRAME_PLAIN, seed)), GST_FLOW_OK);
  out = gst_harness_pull (run->harness);
  sample = gst_sample_new (out, caps, NULL, NULL);
  frame_append_rows (bytes, sample);
  gst_sample_unref (sample);
  gst_buffer_unref (out);
  return bytes;
}

static void
expect_frame (Run *run, const GByteArray *wanted, const gchar *what)
{
  g_autoptr (GByteArray) bytes = convolve_frame (run);

  fail_unless (bytes->len == wanted->len && memcmp (bytes->data, wanted->data, bytes->len) == 0, "%s: %s differs", what,
      gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&run->info)));
}

/* What an element with this launch line makes of the frame. */
static GByteArray *
frame_of (const gchar *line, const gchar *format)
{
  Run run = run_start (line, format, 45, 31);
  GByteArray *bytes;

  fail_unless (run.harness != NULL, "%s", line);
  bytes = convolve_frame (&run);
  run_expect_none (&run, HEARD);
  run_stop (&run);
  return bytes;
}

/* --- the same bytes as mask= --- */

static void
expect_same (const gchar *line, const gchar *format, const GByteArray *wanted)
{
  g_autoptr (GByteArray) bytes = frame_of (line, format);

  fail_unless (bytes->len == wanted->len && memcmp (bytes->data, wanted->data, bytes->len) == 0, "%s: %s differs", line,
      format);
}

static void
write_array (const gdouble *values, gboolean fortran)
{
  g_autoptr (GByteArray) bytes =
      numpy_begin (1, fortran ? NUMPY_HEADER ("<f8", "True", "(3, 5)") : NUMPY_HEADER ("<f8", "False", "(3, 5)"));

  for (guint i = 0; i < 15; i++) {
    guint64 word;

    memcpy (&word, &values[fortran ? i % 3 * 5 + i / 3 : i], 8);
    word = GUINT64_TO_LE (word);
    g_byte_array_append (bytes, (const guint8 *) &word, 8);
  }
  fail_unless (check_write_file (location, bytes));
}

/* A product of two vectors, in integers and in fractions, written in every way, in every kind of format. */
GST_START_TEST (test_same_bytes)
{
  static const gchar *const formats[] = { "GRAY8", "NV12", "I420", "YUY2", "RGB", "RGBA", "P010_10LE", "GRAY16_LE",
    "AYUV64", "GBR_10LE" };
  static const struct
  {
    gdouble values[15];
    const gchar *mask, *weights, *x, *y, *csv;
  } masks[] = { { { 1, 2, -3, 4, 1, 2, 4, -6, 8, 2, 3, 6, -9, 12, 3 }, "1 2 -3 4 1; 2 4 -6 8 2; 3 6 -9 12 3",
                    "<<1,2,-3,4,1>,<2,4,-6,8,2>,<3,6,-9,12,3>>", "1 2 -3 4 1", "1,2,3",
                    "# table\n1;2;-3;4;1\n2;4;-6;8;2\n3;6;-9;12;3\n" },
    { { 0.37, 0.185, 0.74, 0.0925, 0.37, 0.185, 0.0925, 0.37, 0.04625, 0.185, 0.74, 0.37, 1.48, 0.185, 0.74 },
        "0.37 0.185 0.74 0.0925 0.37; 0.185 0.0925 0.37 0.04625 0.185; 0.74 0.37 1.48 0.185 0.74",
        "<<0.37,0.185,0.74,0.0925,0.37>,<0.185,0.0925,0.37,0.04625,0.185>,<0.74,0.37,1.48,0.185,0.74>>",
        "0.37 0.185 0.74 0.0925 0.37", "1 0.5 2",
        "0.37,0.185,0.74,0.0925,0.37\r\n0.185,0.0925,0.37,0.04625,0.185\r\n0.74,0.37,1.48,0.185,0.74\r\n" } };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (masks); k++) {
      g_autofree gchar *text = g_strdup_printf ("cudaconvolve bias=0.1 boundary=wrap mask=\"%s\"", masks[k].mask);
      g_autofree gchar *array =
          g_strdup_printf ("cudaconvolve bias=0.1 boundary=wrap weights=\"%s\"", masks[k].weights);
      g_autofree gchar *file = g_strdup_printf ("cudaconvolve bias=0.1 boundary=wrap mask-location=\"%s\"", location);
      g_autofree gchar *vectors =
          g_strdup_printf ("cudaconvolve bias=0.1 boundary=wrap mask-x=\"%s\" mask-y=\"%s\"", masks[k].x, masks[k].y);
      g_autoptr (GByteArray) wanted = frame_of (text, formats[i]);

      expect_same (array, formats[i], wanted);
      expect_same (vectors, formats[i], wanted);
      write_text (masks[k].csv);
      expect_same (file, formats[i], wanted);
      write_text (masks[k].mask);
      expect_same (file, formats[i], wanted);
      write_array (masks[k].values, FALSE);
      expect_same (file, formats[i], wanted);
      write_array (masks[k].values, TRUE);
      expect_same (file, formats[i], wanted);
    }
}
GST_END_TEST;

/* --- the oracle --- */

#define RADIUS 6
#define SIDE (2 * RADIUS + 1)

/* A random mask as a user writes it, and the integers around the pixel that follow from the words of plugin/masks.md. */
typedef struct
{
  gint width, height, anchor_x, anchor_y, parts, of;
  gboolean flip;
  gdouble divisor;
  gint64 around[SIDE * SIDE], numerator, denominator;
  GString *text;
} Written;

static Written
write_mask (GRand *random)
{
  Written w = { .width = g_rand_int_range (random, 1, RADIUS + 1),
    .height = g_rand_int_range (random, 1, RADIUS + 1),
    .anchor_x = -1,
    .anchor_y = -1,
    .flip = g_rand_boolean (random),
    .of = (gint[]){ 1, 2, 4, 5, 10, 3 }[g_rand_int_range (random, 0, 6)] };
  gint64 divisor = g_rand_int_range (random, 1, 30) * (g_rand_boolean (random) ? 1 : -1);

  w.parts = w.of == 1 ? 1 : g_rand_int_range (random, 1, w.of + 1);
  w.divisor = divisor;
  w.numerator = divisor < 0 ? -1 : 1;
  w.denominator = ABS (divisor) * w.of;
  if (g_rand_boolean (random))
    w.anchor_x = g_rand_int_range (random, 0, w.width);
  if (g_rand_boolean (random))
    w.anchor_y = g_rand_int_range (random, 0, w.height);
  w.text = g_string_new (NULL);
  g_string_append_printf (w.text, "%dx%d:", w.width, w.height);
  for (gint j = 0; j < w.height; j++)
    for (gint i = 0; i < w.width; i++) {
      gint tap = g_rand_int_range (random, -9, 10);
      /* Where the weight lies, seen from the pixel. */
      gint x = i - (w.anchor_x < 0 ? w.width / 2 : w.anchor_x), y = j - (w.anchor_y < 0 ? w.height / 2 : w.anchor_y);

      if (w.flip)
        x = -x, y = -y;
      w.around[(y + RADIUS) * SIDE + x + RADIUS] += w.parts * tap;
      g_string_append_printf (w.text, " %d", tap);
    }
  w.around[RADIUS * SIDE + RADIUS] += (w.of - w.parts) * divisor;
  return w;
}

/* Even and odd sizes, anchors, flip and mix against the oracle, exact to the byte. */
GST_START_TEST (test_adjusted_masks)
{
  static const gchar *const formats[] = { "GRAY8", "NV12", "RGB", "YUY2", "BGRA", "P010_10LE", "I420_10LE" };
  GRand *random = g_rand_new_with_seed (seed);

  for (guint round = 0; round < 140; round++) {
    Written w = write_mask (random);
    gint boundary = round % CONVOLVE_N_BOUNDARIES;
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve mask=\"%s\" anchor-x=%d anchor-y=%d flip=%s mix=%.17g "
                                              "divisor=%g bias=%g boundary=%s",
        w.text->str, w.anchor_x, w.anchor_y, w.flip ? "true" : "false", (gdouble) w.parts / w.of, w.divisor,
        round % 2 ? 0.25 : 0, check_boundary_name (boundary));
    Run run = run_start (line, formats[round % G_N_ELEMENTS (formats)], 29, 22);
    Expected expected = { .boundary = boundary,
      .width = SIDE,
      .height = SIDE,
      .integers = w.around,
      .numerator = w.numerator,
      .denominator = w.denominator,
      .bias = round % 2 ? 0.25 * w.parts / w.of : 0 };
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, seed + round), *out;

    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    frame_check (&run.info, in, out, &expected, line);
    run_expect_none (&run, HEARD);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    run_stop (&run);
    g_string_free (w.text, TRUE);
  }
  g_rand_free (random);
}
GST_END_TEST;

/* An even size with the default anchor: the oracle's own rule for a mask's middle is half the size, rounded down. */
GST_START_TEST (test_even_sizes)
{
  static const gint64 integers[] = { 1, 2, 3, 4, -5, 6, 7, 8 };
  Expected expected = { .boundary = CONVOLVE_BOUNDARY_REFLECT,
    .width = 4,
    .height = 2,
    .integers = integers,
    .numerator = 1,
    .denominator = 26 };

  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *file = g_strdup_printf ("cudaconvolve boundary=reflect mask-location=%s", location);
    Run run = run_start (i == 0 ? "cudaconvolve boundary=reflect mask=\"4x2: 1 2 3 4 -5 6 7 8\""
            : i == 1            ? "cudaconvolve boundary=reflect weights=\"<<1,2,3,4>,<-5,6,7,8>>\""
                                : file,
        "NV12", 30, 20);
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, seed), *out;

    write_text ("1;2;3;4\n-5;6;7;8\n");
    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    frame_check (&run.info, in, out, &expected, "even");
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    run_stop (&run);
  }
}
GST_END_TEST;

/* A mix of a preset, whose weights are no integers, in luma and in chroma. */
GST_START_TEST (test_mix_of_a_preset)
{
  static const gdouble mixes[] = { 0.5, 0.123456789, 0.999, 1e-9 };

  for (guint i = 0; i < G_N_ELEMENTS (mixes); i++) {
    Run run = run_start ("cudaconvolve mask=unsharp:2 sigma=1.3", "I420", 40, 30);
    ConvolveSettings settings;
    ConvolveMask masks[2];
    Expected expected;
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, seed), *out;

    convolve_settings_init (&settings);
    g_free (settings.mask);
    settings.mask = g_strdup ("unsharp:2");
    settings.sigma = 1.3;
    for (guint k = 0; k < 2; k++) {
      ConvolveMask *mask = &masks[k];

      fail_unless (convolve_settings_make_mask (&settings, 1 + k, 1 + k, mask, NULL));
      for (gint t = 0; t < mask->width * mask->height; t++)
        mask->taps[t] *= mixes[i];
      mask->taps[mask->width * mask->height / 2] += (1 - mixes[i]) * mask->divisor;
    }
    expected = expected_of_masks (&masks[0], &masks[1], CONVOLVE_BOUNDARY_REPLICATE);
    g_object_set (run.element, "mix", mixes[i], NULL);
    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    frame_check (&run.info, in, out, &expected, "mix");
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    convolve_mask_clear (&masks[0]);
    convolve_mask_clear (&masks[1]);
    convolve_settings_clear (&settings);
    run_stop (&run);
  }
}
GST_END_TEST;

/* A Gaussian without weights, in luma and in chroma of half the size: the library's bytes for half the sigma there. */
GST_START_TEST (test_wide_gaussian)
{
  static const gchar *const lines[] = { "sigma=70", "mask=unsharp:0.6 sigma=50 boundary=wrap components=y",
    "sigma=1000 mix=0.5 boundary=zero" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    const gboolean unsharp = i == 1;
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve kernel-variant=cpu %s", lines[i]);
    Run run = run_start (line, "I420", 60, 44);
    g_autoptr (GstStructure) info = NULL;
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, seed), *out;
    GstVideoFrame frames[2];
    gdouble sigma;

    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    fail_unless (gst_video_frame_map (&frames[0], &run.info, in, GST_MAP_READ));
    fail_unless (gst_video_frame_map (&frames[1], &run.info, out, GST_MAP_READ));
    for (guint p = 0; p < 3; p++) {
      const gint width = GST_VIDEO_FRAME_COMP_WIDTH (&frames[0], p),
                 height = GST_VIDEO_FRAME_COMP_HEIGHT (&frames[0], p);
      const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8,
        .depth = 8,
        .samples = 1,
        .stride = 1,
        .select = !unsharp || p == 0,
        .zero = { p == 0 ? 16 : 128 } };
      const gint steps = p == 0 ? 1 : 2;
      g_autofree guint8 *wanted = g_malloc (width * height);
      const ConvolvePlane plane = { GST_VIDEO_FRAME_PLANE_DATA (&frames[0], p), wanted,
        GST_VIDEO_FRAME_PLANE_STRIDE (&frames[0], p), width, width, height, { 0, 0, width, height } };
      const gdouble luma = (i == 0 ? 70 : i == 1 ? 50 : 1000) * 0.993;
      ConvolveMask mask;
      ConvolvePlan *plan;

      fail_unless (convolve_mask_init_gaussian (&mask, luma / steps, luma / steps));
      mask.taps[0] = i == 0 ? 0 : i == 1 ? 1.6 : 0.5;
      mask.taps[1] = i == 0 ? 1 : i == 1 ? -0.6 : 0.5;
      plan = convolve_plan_new (&pixel,
          i == 0       ? CONVOLVE_BOUNDARY_REPLICATE
              : i == 1 ? CONVOLVE_BOUNDARY_WRAP
                       : CONVOLVE_BOUNDARY_ZERO,
          &mask, "cpu", NULL, NULL);
      fail_unless (plan && convolve_run (plan, &plane, NULL) == CONVOLVE_OK);
      convolve_plan_unref (plan);
      convolve_mask_clear (&mask);
      for (gint y = 0; y < height; y++)
        fail_unless (memcmp (wanted + y * width,
                         (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frames[1], p)
                             + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frames[1], p),
                         width)
                == 0,
            "%s: plane %u, row %d, seed %u", line, p, y, seed);
    }
    g_object_get (run.element, "mask-info", &info, NULL);
    fail_unless (gst_structure_get (info, "sigma-x", G_TYPE_DOUBLE, &sigma, NULL));
    fail_unless (fabs (sigma - 0.993 * (i == 0 ? 70 : i == 1 ? 50 : 1000)) < 1e-9);
    gst_video_frame_unmap (&frames[0]);
    gst_video_frame_unmap (&frames[1]);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    run_stop (&run);
  }
}
GST_END_TEST;

/* mix=0 passes frames through, and a control source drives mix: black with a bias becomes as bright as the ramp. */
GST_START_TEST (test_mix_over_time)
{
  Run run = run_start ("cudaconvolve mask=box bias=1", "GRAY8", 8, 8);
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (run.element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (run.element), "mix", source)));
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 0.0);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 10 * GST_SECOND, 1.0);
  for (gint i = 0; i <= 10; i++) {
    GstBuffer *in = gst_buffer_new_allocate (NULL, 64, NULL), *out;
    g_autofree gchar *variant = NULL;
    guint8 value;

    gst_buffer_memset (in, 0, 0, 64);
    GST_BUFFER_PTS (in) = i * GST_SECOND;
    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    gst_buffer_extract (out, 27, &value, 1);
    fail_unless_equals_int (value, (gint) (25.5 * i + 0.5));
    g_object_get (run.element, "active-variant", &variant, NULL);
    fail_unless_equals_int (g_str_equal (variant, "passthrough"), i == 0);
    fail_unless_equals_int (in == out, i == 0);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_object_unref (source);
  run_stop (&run);
}
GST_END_TEST;

/* --- errors and changes --- */

GST_START_TEST (test_bad_before_playing)
{
  static const struct
  {
    const gchar *line, *text;
  } rows[] = {
    { "cudaconvolve mask=box weights=\"<<1,2,1>>\"", "weights: the mask comes from mask already; " ALONE },
    { "cudaconvolve mask-x=\"1 2 1\" weights=\"<<1,2,1>>\"", "mask-x: the mask comes from weights already; " ALONE },
    { "cudaconvolve mask-y=1 mask-location=x", "mask-y: the mask comes from mask-location already; " ALONE },
    { "cudaconvolve mask-location=/nowhere/mask.txt", "mask-location: /nowhere/mask.txt: No such file or directory" },
    { "cudaconvolve weights=\"<<1,2>,<3>>\"", "weights: row 2 and row 1 differ in length: 1 and 2 values" },
    { "cudaconvolve mask-x=\"1 a\"", "mask-x: \"a\" at row 1, value 2 (character 3) is not a number" },
    { "cudaconvolve apply-to=regions region-strength=0.2 weights=\"<<1,2,1>>\"",
        "region-strength: the mask from weights has no strength; gaussian and box have one" },
    { "cudaconvolve mask=\"2x2: 1 2 3 4\" anchor-x=2",
        "anchor-x: 2 is not one of the mask's columns: 0 to 1, or -1 for the middle" },
    { "cudaconvolve mask=\"1 2; 3 4\"",
        "mask: the weights make 2x2: width and height must be odd, unless the shape stands in front, as in 2x2:" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Run run = run_start (rows[i].line, "I420", 16, 16);

    fail_unless (run.harness == NULL, "%s started", rows[i].line);
    run_expect (&run, HEARD, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, rows[i].text, NULL);
    run_stop (&run);
  }
}
GST_END_TEST;

/* From one source to another and back while frames flow; a fault makes one warning, and the last good mask stays. */
GST_START_TEST (test_changes)
{
  g_autoptr (GByteArray) box = frame_of ("cudaconvolve mask=box", "NV12");
  g_autoptr (GByteArray) blur = frame_of ("cudaconvolve mask=\"1 2 1; 2 4 2; 1 2 1\"", "NV12");
  g_autoptr (GByteArray) slope = frame_of ("cudaconvolve mask=sobel-x", "NV12");
  Run run = run_start ("cudaconvolve mask=box", "NV12", 45, 31);
  GValue empty = G_VALUE_INIT;

  g_value_init (&empty, GST_TYPE_ARRAY);
  expect_frame (&run, box, "mask");
  set_weights (run.element, "<<1,2,1>,<2,4,2>,<1,2,1>>");
  expect_frame (&run, box, "two are set");
  expect_frame (&run, box, "two are still set");
  run_expect (&run, HEARD, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "weights: the mask comes from mask already; " ALONE, NULL);
  g_object_set (run.element, "mask", NULL, NULL);
  expect_frame (&run, blur, "weights");
  g_object_set (run.element, "mask-x", "1 2 1", "mask-y", "1 2 1", NULL);
  expect_frame (&run, blur, "the last good mask");
  run_expect (&run, HEARD, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "mask-x: the mask comes from weights already; " ALONE, NULL);
  g_object_set_property (G_OBJECT (run.element), "weights", &empty);
  expect_frame (&run, blur, "vectors");
  write_text ("-1 0 1\n-2 0 2\n-1 0 1\n");
  g_object_set (run.element, "mask-x", NULL, "mask-y", "", "mask-location", location, NULL);
  expect_frame (&run, slope, "a file");
  g_object_set (run.element, "mask-location", "", "mask", "box", NULL);
  expect_frame (&run, box, "mask again");
  run_expect_none (&run, HEARD);
  g_value_unset (&empty);
  run_stop (&run);
}
GST_END_TEST;

/* A file is read when it is set and when the element starts, and at no other time. */
GST_START_TEST (test_when_a_file_is_read)
{
  g_autoptr (GByteArray) blur = frame_of ("cudaconvolve mask=\"1 2 1\"", "RGB");
  g_autoptr (GByteArray) wrapped = frame_of ("cudaconvolve mask=\"1 2 1\" divisor=5 boundary=wrap", "RGB");
  g_autoptr (GByteArray) wide = frame_of ("cudaconvolve mask=\"1 2 3 2 1\" divisor=5 boundary=wrap", "RGB");
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve mask-location=%s", location);
  g_autofree gchar *missing = g_strdup_printf ("mask-location: %s: No such file or directory", location);
  Run run;

  write_text ("1 2 1");
  run = run_start (line, "RGB", 45, 31);
  g_unlink (location); /* the start has read it */
  expect_frame (&run, blur, "a file");
  g_object_set (run.element, "divisor", 5.0, NULL);
  gst_util_set_object_arg (G_OBJECT (run.element), "boundary", "wrap");
  expect_frame (&run, wrapped, "a deleted file");
  run_expect_none (&run, HEARD);

  /* The same name, set again, reads the file again. */
  g_object_set (run.element, "mask-location", location, NULL);
  expect_frame (&run, wrapped, "a missing file");
  expect_frame (&run, wrapped, "a missing file");
  run_expect (&run, HEARD, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, missing, NULL);
  write_text ("1 2 3 2 1");
  expect_frame (&run, wrapped, "nobody looks for the file");
  g_object_set (run.element, "mask-location", location, NULL);
  expect_frame (&run, wide, "a new file");
  write_text ("1 2 1");
  expect_frame (&run, wide, "a changed file");
  run_expect_none (&run, HEARD);

  gst_element_set_state (run.element, GST_STATE_READY);
  gst_element_set_state (run.element, GST_STATE_PAUSED);
  run_caps (&run, "RGB", 45, 31);
  expect_frame (&run, wrapped, "a new start");
  run_expect_none (&run, HEARD);
  run_stop (&run);
}
GST_END_TEST;

static void
make_folder (void)
{
  folder = check_folder ();
  location = g_build_filename (folder, "mask", NULL);
}

static void
remove_folder (void)
{
  g_unlink (location);
  g_free (location);
  check_remove_folder (folder);
}

static Suite *
masks_suite (void)
{
  Suite *suite = suite_create ("masks");
  TCase *tc = tcase_create ("masks");

  seed = check_seed ();
  tcase_set_timeout (tc, 300);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_same_bytes);
  tcase_add_test (tc, test_adjusted_masks);
  tcase_add_test (tc, test_even_sizes);
  tcase_add_test (tc, test_mix_of_a_preset);
  tcase_add_test (tc, test_wide_gaussian);
  tcase_add_test (tc, test_mix_over_time);
  tcase_add_test (tc, test_bad_before_playing);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_when_a_file_is_read);
  suite_add_tcase (suite, animated_tests ());
  suite_add_tcase (suite, mask_info_tests ());
  return suite;
}

GST_CHECK_MAIN (masks);
