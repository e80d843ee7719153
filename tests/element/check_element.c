/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element in a harness: formats, layouts of frames, masks, changes while frames flow. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <locale.h>
#include <string.h>

#include "support/frame.h"
#include "presets.h"
#include "props.h"

static guint32 seed; /* of this run's pictures: printed, and settable as CUDACONVOLVE_SEED */

static const gchar *const boundaries[] = { "zero", "replicate", "reflect", "reflect-101", "wrap" };

/* A mask with nothing in common between its four sides, sum 9. */
static const gint64 skewed[] = { 1, -2, 3, 0, 4, 5, 0, -6, 7, -1, 2, 0, -3, 1, -2 };
#define SKEWED "5x3: 1 -2 3 0 4; 5 0 -6 7 -1; 2 0 -3 1 -2"
#define SKEWED_SUM 9

static GstHarness *
harness_new (const gchar *properties, GstCaps *caps)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", properties);
  GstHarness *harness = gst_harness_new_parse (line);

  gst_harness_set_src_caps (harness, caps);
  return harness;
}

/* Pushes one frame and compares what comes out. */
static void
check_one (GstHarness *harness, const GstVideoInfo *info, FrameLayout layout, const Expected *expected,
    const gchar *what)
{
  GstBuffer *in = frame_new (info, layout, seed), *out;

  fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (in)), GST_FLOW_OK);
  out = gst_harness_pull (harness);
  frame_check (info, in, out, expected, what);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}

static Expected
skewed_expected (gint boundary, gdouble bias)
{
  return (Expected){
    .boundary = boundary,
    .width = 5,
    .height = 3,
    .integers = skewed,
    .numerator = 1,
    .denominator = SKEWED_SUM,
    .bias = bias,
  };
}

/* Every format that the element names, sizes odd and even, boundaries in turn, exact to the byte. */
GST_START_TEST (test_formats)
{
  static const gint sizes[][2] = { { 1, 1 }, { 2, 2 }, { 3, 5 }, { 17, 9 }, { 40, 6 }, { 33, 34 } };
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  const GValue *formats = gst_structure_get_value (gst_caps_get_structure (template, gst_caps_get_size (template) - 1),
      "format"); /* CUDA memory has fewer and comes first */

  fail_unless (gst_value_list_get_size (formats) >= 80);
  for (guint i = 0; i < gst_value_list_get_size (formats); i++) {
    const gchar *format = g_value_get_string (gst_value_list_get_value (formats, i));

    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
      gint boundary = (i + k) % G_N_ELEMENTS (boundaries);
      g_autofree gchar *properties =
          g_strdup_printf ("mask=\"" SKEWED "\" bias=0.25 boundary=%s", boundaries[boundary]);
      GstCaps *caps = frame_caps (format, sizes[k][0], sizes[k][1], NULL);
      Expected expected = skewed_expected (boundary, 0.25);
      GstVideoInfo info;
      GstHarness *harness;

      /* GStreamer's own unpacking of VYUY takes U for V in the last pixel of an odd row. */
      if (g_str_equal (format, "VYUY") && sizes[k][0] % 2) {
        gst_caps_unref (caps);
        continue;
      }
      fail_unless (gst_video_info_from_caps (&info, caps));
      harness = harness_new (properties, caps);
      check_one (harness, &info, FRAME_PLAIN, &expected, boundaries[boundary]);
      gst_harness_teardown (harness);
    }
  }
}
GST_END_TEST;

/* What the design promises must be among them. */
GST_START_TEST (test_promised_formats)
{
  static const gchar *const promised[] = { "GRAY8", "GRAY16_LE", "GRAY16_BE", "I420", "YV12", "NV12", "NV21", "NV16",
    "NV24", "Y42B", "Y41B", "Y444", "A420", "AYUV", "VUYA", "YUY2", "UYVY", "YVYU", "RGB", "BGR", "RGBx", "BGRx",
    "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR", "RGBP", "BGRP", "GBR", "GBRA", "P010_10LE", "P012_LE", "P016_LE",
    "I420_10LE", "I420_12LE", "I422_10LE", "I422_12LE", "Y444_10LE", "Y444_12LE", "Y444_16LE", "ARGB64", "RGBA64_LE",
    "BGRA64_BE", "AYUV64", "Y210", "Y212_LE", "Y412_LE", "GBR_10LE", "GBRA_12LE", "A444_10LE" };
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "src");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);

  for (guint i = 0; i < G_N_ELEMENTS (promised); i++) {
    g_autoptr (GstCaps) caps = frame_caps (promised[i], 64, 48, NULL);

    fail_unless (gst_caps_can_intersect (caps, template), "%s is missing", promised[i]);
  }
}
GST_END_TEST;

/* Rows with padding, gaps between planes, a memory for each plane. */
GST_START_TEST (test_layouts)
{
  static const gchar *const formats[] = { "I420", "NV12", "YUY2", "RGB", "BGRA", "P010_10LE", "Y444_12LE", "AYUV64" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (FrameLayout layout = FRAME_PADDED; layout <= FRAME_MEMORIES; layout++) {
      GstCaps *caps = frame_caps (formats[i], 21, 10, NULL);
      Expected expected = skewed_expected (2, 0);
      GstVideoInfo info;
      GstHarness *harness;

      fail_unless (gst_video_info_from_caps (&info, caps));
      harness = harness_new ("mask=\"" SKEWED "\" boundary=reflect", caps);
      check_one (harness, &info, layout, &expected,
          layout == FRAME_PADDED         ? "padded"
              : layout == FRAME_MEMORIES ? "memories"
                                         : "upside down");
      gst_harness_teardown (harness);
    }
}
GST_END_TEST;

/* The bytes that no component owns are the input's: x of RGBx, the last luma of an odd YUY2 row. */
GST_START_TEST (test_padding_is_copied)
{
  static const struct
  {
    const gchar *format;
    gint width, first, step;
  } rows[] = { { "RGBx", 7, 3, 4 }, { "xRGB", 7, 0, 4 }, { "BGRx", 7, 3, 4 }, { "xBGR", 7, 0, 4 },
    { "YUY2", 7, 14, 16 }, { "UYVY", 7, 15, 16 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstCaps *caps = frame_caps (rows[i].format, rows[i].width, 4, NULL);
    GstHarness *harness;
    GstVideoInfo info;
    GstMapInfo from, to;
    GstBuffer *in, *out;

    fail_unless (gst_video_info_from_caps (&info, caps));
    harness = harness_new ("mask=box", caps);
    in = gst_buffer_new_allocate (NULL, info.size, NULL);
    fail_unless (gst_buffer_map (in, &from, GST_MAP_WRITE));
    for (gsize k = 0; k < from.size; k++)
      from.data[k] = k * 37 + 11;
    gst_buffer_unmap (in, &from);
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    fail_unless (gst_buffer_map (in, &from, GST_MAP_READ) && gst_buffer_map (out, &to, GST_MAP_READ));
    for (gint y = 0; y < 4; y++)
      for (gint x = rows[i].first; x < info.stride[0]; x += rows[i].step)
        fail_unless_equals_int (to.data[y * info.stride[0] + x], from.data[y * info.stride[0] + x]);
    gst_buffer_unmap (in, &from);
    gst_buffer_unmap (out, &to);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Zero is black: full range, limited range, RGB; an edge mask leaves chroma neutral whatever the bias. */
GST_START_TEST (test_zero_is_black)
{
  static const struct
  {
    const gchar *format, *colorimetry;
  } kinds[] = { { "I420", "bt709" }, { "I420", "1:4:0:0" }, { "I420", "0:4:5:1" }, { "P010_10LE", "bt2020" },
    { "NV12", NULL }, { "GRAY8", NULL }, { "RGB", NULL }, { "Y444_16LE", "bt709" }, { "RGB", "2:1:7:1" },
    { "BGRA", "2:1:7:1" }, { "GBR_10LE", "2:1:5:1" }, { "GRAY8", "2:0:0:0" }, { "GRAY16_LE", "1:0:0:0" } };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    GstCaps *caps = frame_caps (kinds[i].format, 12, 10, kinds[i].colorimetry);
    Expected expected = skewed_expected (0, 0.5);
    GstHarness *harness;
    GstVideoInfo info;

    fail_unless (gst_video_info_from_caps (&info, caps));
    harness = harness_new ("mask=\"" SKEWED "\" boundary=zero bias=0.5", caps);
    check_one (harness, &info, FRAME_PLAIN, &expected, kinds[i].colorimetry ? kinds[i].colorimetry : "default");
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Half of the way from black to white is middle grey in every range and depth, as is an offset of a preset's own. */
GST_START_TEST (test_middle_grey)
{
  static const struct
  {
    const gchar *format, *colorimetry;
    gint grey; /* rounded half up */
  } kinds[] = { { "I420", NULL, 126 }, { "NV12", "bt709", 126 }, { "YUY2", NULL, 126 }, { "AYUV", "bt601", 126 },
    { "I420", "1:4:0:0", 128 }, { "I420_10LE", NULL, 502 }, { "P010_10LE", "bt2020", 502 }, { "Y444_12LE", NULL, 2008 },
    { "P016_LE", NULL, 32128 }, { "Y444_16LE", "1:4:0:0", 32768 }, { "GRAY8", NULL, 128 }, { "GRAY16_LE", NULL, 32768 },
    { "RGB", NULL, 128 }, { "BGRx", "2:1:7:1", 126 }, { "GBR_10LE", "2:1:5:1", 502 }, { "GBR_10LE", NULL, 512 } };
  static const gchar *const lines[] = { "mask=emboss", "mask=sobel-x bias=0.5", "mask=\"0 1 -1\" bias=0.5",
    "mask=emboss:30 bias=-0.5", "mask=laplacian bias=0" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint k = 0; k < G_N_ELEMENTS (lines); k++) {
      GstCaps *caps = frame_caps (kinds[i].format, 8, 8, kinds[i].colorimetry);
      GstHarness *harness;
      GstVideoInfo info;
      GstBuffer *buffer;
      Component components[4];
      gint depth, black;

      fail_unless (gst_video_info_from_caps (&info, caps));
      depth = GST_VIDEO_INFO_COMP_DEPTH (&info, 0);
      black = kinds[i].grey >> (depth - 8) < 128 ? 16 << (depth - 8) : 0;
      harness = harness_new (lines[k], caps);
      buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
      gst_buffer_memset (buffer, 0, 0, info.size);
      fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
      buffer = gst_harness_pull (harness);
      frame_read (&info, buffer, components);
      for (guint c = 0; c < MIN (3, GST_VIDEO_INFO_N_COMPONENTS (&info)); c++) {
        gint expected = k < 3 ? kinds[i].grey : black;

        if (c > 0 && GST_VIDEO_INFO_IS_YUV (&info))
          expected = 1 << (depth - 1);
        fail_unless (components[c].samples[0] == expected, "%s %s %s: component %u is %u, expected %d", kinds[i].format,
            kinds[i].colorimetry ? kinds[i].colorimetry : "", lines[k], c, components[c].samples[0], expected);
      }
      frame_clear (components);
      gst_buffer_unref (buffer);
      gst_harness_teardown (harness);
    }
}
GST_END_TEST;

/* Every preset, in a format with subsampled chroma and in RGB, with the masks that props makes for the planes. */
GST_START_TEST (test_presets)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);
  static const gchar *const formats[] = { "I420", "RGB" };

  for (guint i = 0; i < n_presets; i++)
    for (guint k = 0; k < G_N_ELEMENTS (formats); k++) {
      const gchar *name = presets[i].name;
      g_autofree gchar *properties = g_strdup_printf ("mask=%s boundary=reflect-101", name);
      GstCaps *caps = frame_caps (formats[k], 30, 22, NULL);
      ConvolveSettings settings;
      ConvolveMask luma, chroma;
      GstHarness *harness;
      GstVideoInfo info;
      Expected expected;

      convolve_settings_init (&settings);
      g_free (settings.mask);
      settings.mask = g_strdup (name);
      fail_unless (convolve_settings_make_mask (&settings, 1, 1, &luma, NULL));
      fail_unless (convolve_settings_make_mask (&settings, 2, 2, &chroma, NULL));
      expected = (Expected){
        .boundary = 3,
        .width = luma.width,
        .height = luma.height,
        .weights = { luma.taps, chroma.taps },
        .divisors = { luma.divisor, chroma.divisor },
        .chroma_width = chroma.width,
        .chroma_height = chroma.height,
        .bias = luma.offset,
      };
      fail_unless (gst_video_info_from_caps (&info, caps));
      harness = harness_new (properties, caps);
      check_one (harness, &info, FRAME_PLAIN, &expected, name);
      gst_harness_teardown (harness);
      convolve_mask_clear (&luma);
      convolve_mask_clear (&chroma);
      convolve_settings_clear (&settings);
    }
}
GST_END_TEST;

/* The one-dimensional article's worked example, through the element and along both axes. */
GST_START_TEST (test_worked_example)
{
  static const guint8 input[] = { 1, 2, 3, 4, 5, 6, 7 }, output[] = { 22, 38, 57, 76, 95, 90, 74 };

  for (gint vertical = 0; vertical < 2; vertical++) {
    GstCaps *caps = frame_caps ("GRAY8", vertical ? 1 : 7, vertical ? 7 : 1, NULL);
    GstHarness *harness = harness_new (vertical ? "mask=\"3;4;5;4;3\" divisor=1 boundary=zero"
                                                : "mask=\"3 4 5 4 3\" divisor=1 boundary=zero",
        caps);
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, vertical ? 28 : 8, NULL);
    GstMapInfo map;

    for (gint i = 0; i < 7; i++)
      gst_buffer_fill (buffer, vertical ? i * 4 : i, &input[i], 1);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    for (gint i = 0; i < 7; i++)
      fail_unless_equals_int (map.data[vertical ? i * 4 : i], output[i]);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* New caps in mid-stream: size, format, back again. */
GST_START_TEST (test_renegotiation)
{
  static const struct
  {
    const gchar *format;
    gint width, height;
  } kinds[] = { { "I420", 16, 16 }, { "I420", 7, 5 }, { "RGBA", 31, 3 }, { "GRAY16_LE", 64, 2 }, { "NV12", 8, 40 },
    { "I420", 16, 16 } };
  Expected expected = skewed_expected (4, 0);
  GstHarness *harness = harness_new ("mask=\"" SKEWED "\" boundary=wrap", frame_caps ("RGB", 4, 4, NULL));

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    GstCaps *caps = frame_caps (kinds[i].format, kinds[i].width, kinds[i].height, NULL);
    GstVideoInfo info;

    fail_unless (gst_video_info_from_caps (&info, caps));
    gst_harness_set_src_caps (harness, caps);
    check_one (harness, &info, FRAME_PLAIN, &expected, "renegotiated");
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

static gchar *
active_variant (GstHarness *harness)
{
  gchar *name = NULL;

  gst_harness_get (harness, "cudaconvolve", "active-variant", &name, NULL);
  return name;
}

/* A mask that changes nothing costs nothing: the same buffer comes out, until the mask is another. */
GST_START_TEST (test_passthrough)
{
  GstCaps *caps = frame_caps ("I420", 16, 8, NULL);
  GstHarness *harness;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  harness = harness_new ("mask=identity", caps);
  for (gint round = 0; round < 3; round++) {
    gboolean identity = round != 1;
    GstBuffer *in = frame_new (&info, FRAME_PLAIN, seed), *out;
    g_autofree gchar *variant = NULL;

    gst_harness_set (harness, "cudaconvolve", "mask", identity ? "0 0 0; 0 1 0; 0 0 0" : SKEWED, NULL);
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    fail_unless_equals_int (out == in, identity);
    variant = active_variant (harness);
    fail_unless_equals_int (g_strcmp0 (variant, "passthrough") == 0, identity);
    if (!identity) {
      Expected expected = skewed_expected (1, 0);

      frame_check (&info, in, out, &expected, "after passthrough");
    }
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  /* The sum, not the taps, decides; a bias is no identity. */
  gst_harness_set (harness, "cudaconvolve", "mask", "identity", "bias", 0.1, NULL);
  {
    GstBuffer *in = frame_new (&info, FRAME_PLAIN, seed), *out;

    gst_harness_push (harness, gst_buffer_ref (in));
    out = gst_harness_pull (harness);
    fail_if (out == in);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Each frame is done with the properties as they were when it came. */
GST_START_TEST (test_changes)
{
  static const gint64 blur[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 }, shift[] = { 0, 0, 1 };
  static const struct
  {
    const gchar *mask, *boundary;
    gdouble divisor, bias;
    gint policy, height;
    const gint64 *integers;
    gint64 numerator, denominator;
  } steps[] = {
    { "1 2 1 2 4 2 1 2 1", "zero", 0, 0, 0, 3, blur, 1, 16 },
    { "1 2 1 2 4 2 1 2 1", "wrap", 0, 0, 4, 3, blur, 1, 16 },
    { "1 2 1 2 4 2 1 2 1", "wrap", 20, 0, 4, 3, blur, 1, 20 },
    { "1 2 1 2 4 2 1 2 1", "wrap", -2.5, 0.5, 4, 3, blur, -2, 5 },
    { "3x1: 0 0 1", "reflect", 0, -0.125, 2, 1, shift, 1, 1 },
    { "0 0 0.25", "replicate", 0, 0, 1, 1, shift, 1, 1 },
  };
  GstCaps *caps = frame_caps ("NV12", 20, 12, NULL);
  GstHarness *harness;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  harness = harness_new ("", caps);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
    Expected expected = { .boundary = steps[i].policy,
      .width = 3,
      .height = steps[i].height,
      .integers = steps[i].integers,
      .numerator = steps[i].numerator,
      .denominator = steps[i].denominator,
      .bias = steps[i].bias };

    g_object_set (element, "mask", steps[i].mask, "divisor", steps[i].divisor, "bias", steps[i].bias, NULL);
    gst_util_set_object_arg (G_OBJECT (element), "boundary", steps[i].boundary);
    gst_object_unref (element);
    check_one (harness, &info, FRAME_PLAIN, &expected, steps[i].mask);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

static gpointer
keep_toggling (gpointer data)
{
  for (gint i = 0; i < 3000; i++) {
    g_object_set (data, "mask", "box", "mask-width", 9, NULL);
    g_object_set (data, "mask", "sobel-x", "mask-width", 0, NULL);
  }
  return NULL;
}

/* What one g_object_set() sets comes together: of these pairs no half with half of the other is allowed. */
GST_START_TEST (test_changes_come_together)
{
  GstHarness *harness = harness_new ("mask=box", frame_caps ("GRAY8", 8, 8, NULL));
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  GstBus *bus = gst_bus_new ();
  GThread *thread;

  gst_element_set_bus (element, bus);
  thread = g_thread_new ("toggles", keep_toggling, element);
  for (gint i = 0; i < 3000; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);

    gst_buffer_memset (buffer, 0, 100, 64);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
  g_thread_join (thread);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

static gpointer
keep_changing (gpointer data)
{
  GstElement *element = data;

  for (gint i = 0; i < 3000; i++)
    g_object_set (element, "mask", i % 2 ? "1 1 1 1 1 1 1 1 1" : "box", "mask-width", i % 2 ? 3 : 1 + i % 5 * 2,
        "boundary", i % 5, "bias", (i % 100) / 1000.0, NULL);
  return NULL;
}

/* Two threads change what a third uses: no frame fails, and none mixes two masks (a flat picture stays flat). */
GST_START_TEST (test_changes_from_other_threads)
{
  GstCaps *caps = frame_caps ("GRAY8", 64, 48, NULL);
  GstHarness *harness = harness_new ("boundary=replicate", caps);
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  GThread *threads[2];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("changes", keep_changing, element);
  for (gint i = 0; i < 300; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64 * 48, NULL);
    GstMapInfo map;

    gst_buffer_memset (buffer, 0, 100, 64 * 48);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    /* The boundary zero darkens edges; the middle row's middle has one value whatever the mask. */
    fail_unless (map.data[24 * 64 + 32] >= 100 && map.data[24 * 64 + 32] <= 126);
    for (gint x = 20; x < 44; x++)
      fail_unless_equals_int (map.data[24 * 64 + x], map.data[24 * 64 + 32]);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A control source drives bias: black frames become as bright as the ramp says at their time. */
GST_START_TEST (test_controller)
{
  GstHarness *harness = harness_new ("mask=\"1 1 1 1 1 1 1 1 1\"", frame_caps ("GRAY8", 8, 8, NULL));
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (element), "bias", source)));
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 0.0);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 10 * GST_SECOND, 1.0);
  for (gint i = 0; i <= 10; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);
    guint8 value;

    gst_buffer_memset (buffer, 0, 0, 64);
    GST_BUFFER_PTS (buffer) = i * GST_SECOND;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    gst_buffer_extract (buffer, 27, &value, 1);
    fail_unless_equals_int (value, (gint) (25.5 * i + 0.5));
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * GST_SECOND);
    gst_buffer_unref (buffer);
  }
  /* The others that are promised can be bound as well. */
  for (guint i = 0; i < 4; i++) {
    static const gchar *const names[] = { "sigma", "divisor", "mask-width", "mask-height" };
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), names[i]);

    fail_unless (spec->flags & GST_PARAM_CONTROLLABLE, "%s", names[i]);
  }
  gst_object_unref (source);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Times, offsets, flags and metas are the input's. */
GST_START_TEST (test_metadata)
{
  GstHarness *harness = harness_new ("mask=box", frame_caps ("GRAY8", 8, 8, NULL));
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);
  GstVideoRegionOfInterestMeta *roi;
  g_autoptr (GstCaps) reference = gst_caps_new_empty_simple ("timestamp/x-test");
  GstReferenceTimestampMeta *stamp;

  gst_buffer_memset (buffer, 0, 9, 64);
  GST_BUFFER_PTS (buffer) = 40;
  GST_BUFFER_DTS (buffer) = 30;
  GST_BUFFER_DURATION (buffer) = 20;
  GST_BUFFER_OFFSET (buffer) = 7;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_MARKER);
  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4);
  gst_buffer_add_reference_timestamp_meta (buffer, reference, 5, 6);
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  buffer = gst_harness_pull (harness);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 40);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (buffer), 30);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 20);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_MARKER));
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  fail_unless (roi && roi->x == 1 && roi->y == 2 && roi->w == 3 && roi->h == 4);
  stamp = gst_buffer_get_reference_timestamp_meta (buffer, reference);
  fail_unless (stamp && stamp->timestamp == 5 && stamp->duration == 6);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* stats counts and names what ran; a decimal comma in the locale changes nothing. */
GST_START_TEST (test_stats_and_locale)
{
  const gchar *locale = setlocale (LC_NUMERIC, "de_DE.UTF-8");
  GstCaps *caps = frame_caps ("GRAY8", 16, 16, NULL);
  static const gint64 integers[] = { 1, 2, 1 };
  Expected expected = { .boundary = 1,
    .width = 3,
    .height = 1,
    .integers = integers,
    .numerator = 1,
    .denominator = 4 };
  GstHarness *harness;
  GstStructure *stats;
  GstVideoInfo info;
  guint64 frames, time;

  fail_unless (gst_video_info_from_caps (&info, caps));
  harness = harness_new ("mask=\"0.5,1.0,0.5\" kernel-variant=cpu", caps);
  for (gint i = 0; i < 3; i++)
    check_one (harness, &info, FRAME_PLAIN, &expected, locale ? locale : "no de_DE locale here");
  gst_harness_get (harness, "cudaconvolve", "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "frames", &frames) && frames == 3);
  fail_unless_equals_string (gst_structure_get_string (stats, "variant"), "cpu");
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"), "cpu");
  fail_unless_equals_string (gst_structure_get_string (stats, "device"), "none");
  fail_unless (gst_structure_get_uint64 (stats, "kernel-time", &time) && time > 0);
  fail_unless (gst_structure_get_uint64 (stats, "upload-time", &time) && time == 0);
  gst_structure_free (stats);
  gst_harness_teardown (harness);
  setlocale (LC_NUMERIC, "C");
}
GST_END_TEST;

/*
 * Each variant that this machine can run gives the same bytes through the element; the others say why not. All do NV12;
 * another format a variant may refuse.
 */
GST_START_TEST (test_variants)
{
  for (gint i = 0; i < convolve_variant_count (); i++) {
    static const gint64 integers[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 }, equal[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    gboolean box = g_str_equal (convolve_variant_name (i), "box");
    g_autofree gchar *properties = g_strdup_printf ("mask=\"%s\" boundary=wrap kernel-variant=%s",
        box ? "1 1 1;1 1 1;1 1 1" : "1 2 1;2 4 2;1 2 1", convolve_variant_name (i));
    Expected expected = { .boundary = 4,
      .width = 3,
      .height = 3,
      .integers = box ? equal : integers,
      .numerator = 1,
      .denominator = box ? 9 : 16 };
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve kernel-variant=%s", convolve_variant_name (i));
    GstElement *probe = gst_parse_launch (line, NULL);

    if (gst_element_set_state (probe, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) {
      fail_unless (convolve_variant_on_device (i));
      g_print ("SKIP: %s: no CUDA device\n", convolve_variant_name (i));
    } else {
      static const gchar *const formats[] = { "NV12", "RGBA", "YUY2", "GRAY16_BE", "P010_10LE" };

      for (guint k = 0; k < G_N_ELEMENTS (formats); k++) {
        GstCaps *caps = frame_caps (formats[k], 75, 43, NULL);
        g_autofree gchar *variant = NULL;
        GstHarness *harness;
        GstVideoInfo info;

        fail_unless (gst_video_info_from_caps (&info, caps));
        harness = harness_new (properties, caps);
        if (k > 0 && gst_harness_push (harness, frame_new (&info, FRAME_PLAIN, seed)) == GST_FLOW_ERROR) {
          gst_harness_teardown (harness);
          continue;
        }
        if (k > 0)
          gst_buffer_unref (gst_harness_pull (harness));
        check_one (harness, &info, FRAME_PLAIN, &expected, convolve_variant_name (i));
        variant = active_variant (harness);
        fail_unless_equals_string (variant, convolve_variant_name (i));
        gst_harness_teardown (harness);
      }
    }
    gst_element_set_state (probe, GST_STATE_NULL);
    gst_object_unref (probe);
  }
}
GST_END_TEST;

static GPtrArray *said; /* warnings of the element in GStreamer's log */

static void
keep_warning (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (level == GST_LEVEL_WARNING && g_str_equal (gst_debug_category_get_name (category), "cudaconvolve"))
    g_ptr_array_add (said, g_strdup (gst_debug_message_get (message)));
}

/* Pushes frames; the warnings since the last call are these, each beginning so and in any order. */
static void
expect_said (GstHarness *harness, const gchar *const *begins)
{
  for (gint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);

    gst_buffer_memset (buffer, 0, 7, 64);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
  fail_unless (said->len == g_strv_length ((gchar **) begins), "%u warnings, the first: %s", said->len,
      said->len ? (gchar *) said->pdata[0] : "none");
  for (guint i = 0; begins[i]; i++) {
    gboolean found = FALSE;

    for (guint k = 0; k < said->len; k++)
      found |= g_str_has_prefix (said->pdata[k], begins[i]) && strstr (said->pdata[k], "has no effect");
    fail_unless (found, "no warning of %s", begins[i]);
  }
  g_ptr_array_set_size (said, 0);
}

#define SAID(...) expect_said (harness, (const gchar *[]){ __VA_ARGS__, NULL })
#define SAID_NOTHING() expect_said (harness, (const gchar *[]){ NULL })

/* A property without effect is told of in the log: once for each change, not for each frame, and not on the bus. */
GST_START_TEST (test_properties_without_effect)
{
  GstHarness *harness = harness_new ("mask=sobel-x sigma=3", frame_caps ("GRAY8", 8, 8, NULL));
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  said = g_ptr_array_new_with_free_func (g_free);
  gst_debug_set_threshold_for_name ("cudaconvolve", GST_LEVEL_WARNING);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (keep_warning, NULL, NULL);
  gst_element_set_bus (element, bus);

  SAID ("sigma: 3 ");
  g_object_set (element, "bias", 0.25, NULL);
  SAID_NOTHING ();
  g_object_set (element, "sigma", 4.0, NULL);
  SAID ("sigma: 4 ");
  g_object_set (element, "mask", "gaussian", NULL);
  SAID_NOTHING ();
  g_object_set (element, "mask", "1 2 1", NULL);
  SAID ("sigma: 4 ");
  g_object_set (element, "sigma", 0.0, "stride", 2, "mosaic", TRUE, NULL);
  SAID ("stride: 2 ", "mosaic: true ");
  gst_util_set_object_arg (G_OBJECT (element), "activation", "relu");
  SAID ("activation: relu ");
  g_object_set (element, "pool-size", 2, "pool-stride", 1, "padding", "valid", "layer-channels", "0", NULL);
  SAID ("pool-size: 2 ", "pool-stride: 1 ", "padding: ", "layer-channels: ");
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR)))
    fail ("a message on the bus");

  gst_debug_remove_log_function (keep_warning);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  gst_debug_unset_threshold_for_name ("cudaconvolve");
  g_ptr_array_unref (said);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* What gst-inspect shows: words that people search for, no origin that looks like a URL and is none, what is for layers. */
GST_START_TEST (test_inspection)
{
  static const gchar *const words[] = { "blur", "sharpen", "edge" };
  static const gchar *const layer[] = { "layer-location", "stride", "padding", "activation", "pool-size", "pool-stride",
    "layer-channels", "mosaic" };
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPlugin) plugin = gst_registry_find_plugin (gst_registry_get (), "cudaconvolve");
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  const gchar *origin = gst_plugin_get_origin (plugin);
  guint n, marked = 0;
  GParamSpec **specs = g_object_class_list_properties (klass, &n);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    g_autofree gchar *name = g_ascii_strdown (gst_element_get_metadata (element, GST_ELEMENT_METADATA_LONGNAME), -1);
    g_autofree gchar *text = g_ascii_strdown (gst_element_get_metadata (element, GST_ELEMENT_METADATA_DESCRIPTION), -1);

    /* "gst-inspect-1.0 | grep" sees the name alone. */
    fail_unless (strstr (name, words[i]) && strstr (text, words[i]), "%s is missing", words[i]);
  }
  fail_unless (g_str_has_prefix (origin, "https://") || g_str_equal (origin, "Unknown package origin"), "%s", origin);
  for (guint i = 0; i < G_N_ELEMENTS (layer); i++) {
    GParamSpec *spec = g_object_class_find_property (klass, layer[i]);

    fail_unless (g_str_has_prefix (g_param_spec_get_blurb (spec), "Layer: "), "%s", layer[i]);
  }
  for (guint i = 0; i < n; i++)
    marked += g_str_has_prefix (g_param_spec_get_blurb (specs[i]), "Layer: ");
  fail_unless_equals_int (marked, G_N_ELEMENTS (layer));
  fail_unless (strstr (g_param_spec_get_blurb (g_object_class_find_property (klass, "mask")), "NULL = the default"));
  fail_unless (strstr (g_param_spec_get_blurb (g_object_class_find_property (klass, "divisor")), "for a layer 1"));
  g_free (specs);
}
GST_END_TEST;

/* Any number of threads, changed while it plays, gives the same bytes; a frame large enough to be shared out. */
GST_START_TEST (test_threads)
{
  static const guint threads[] = { 1, 3, 2, 0, 8 };
  GstCaps *caps = frame_caps ("I420", 642, 482, NULL);
  GstHarness *harness;
  GstVideoInfo info;
  GstBuffer *in;
  Component single[4], many[4];

  fail_unless (gst_video_info_from_caps (&info, caps));
  harness = harness_new ("mask=gaussian sigma=2 kernel-variant=cpu", caps);
  in = frame_new (&info, FRAME_PLAIN, seed);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    GstBuffer *out;

    gst_harness_set (harness, "cudaconvolve", "n-threads", threads[i], NULL);
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    /* Sample by sample: what lies in the padding of rows is nobody's. */
    frame_read (&info, out, i == 0 ? single : many);
    for (guint c = 0; i > 0 && c < 3; c++)
      fail_unless (memcmp (single[c].samples, many[c].samples, 2 * single[c].width * single[c].height) == 0);
    if (i > 0)
      frame_clear (many);
    gst_buffer_unref (out);
  }
  frame_clear (single);
  gst_buffer_unref (in);
  gst_harness_teardown (harness);
}
GST_END_TEST;

static Suite *
element_suite (void)
{
  Suite *suite = suite_create ("element");
  TCase *tc = tcase_create ("element");
  const gchar *given = g_getenv ("CUDACONVOLVE_SEED");

  seed = given ? g_ascii_strtoull (given, NULL, 10) : g_random_int ();
  g_print ("seed %u: CUDACONVOLVE_SEED=%u repeats this run\n", seed, seed);

  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_promised_formats);
  tcase_add_test (tc, test_layouts);
  tcase_add_test (tc, test_padding_is_copied);
  tcase_add_test (tc, test_zero_is_black);
  tcase_add_test (tc, test_middle_grey);
  tcase_add_test (tc, test_presets);
  tcase_add_test (tc, test_worked_example);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_passthrough);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_changes_come_together);
  tcase_add_test (tc, test_changes_from_other_threads);
  tcase_add_test (tc, test_controller);
  tcase_add_test (tc, test_metadata);
  tcase_add_test (tc, test_stats_and_locale);
  tcase_add_test (tc, test_variants);
  tcase_add_test (tc, test_properties_without_effect);
  tcase_add_test (tc, test_inspection);
  tcase_add_test (tc, test_threads);
  return suite;
}

GST_CHECK_MAIN (element);
