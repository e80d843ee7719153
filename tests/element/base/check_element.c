/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element in a harness: every format, layouts of frames, zero and bias, presets, new caps. */
#include <gst/check/gstcheck.h>
#include <string.h>

#include "element/base/check_element.h"
#include "presets/presets.h"

guint32 seed;

/* The weights of SKEWED. */
static const gint64 skewed[] = { 1, -2, 3, 0, 4, 5, 0, -6, 7, -1, 2, 0, -3, 1, -2 };

GstHarness *
harness_new (const gchar *properties, GstCaps *caps)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve alpha=copy %s", properties);
  GstHarness *harness = gst_harness_new_parse (line);

  gst_harness_set_src_caps (harness, caps);
  return harness;
}

void
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

Expected
skewed_expected (ConvolveBoundary boundary, gdouble bias)
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
      "format"); /* the caps of CUDA memory come first and have fewer formats */

  fail_unless (gst_value_list_get_size (formats) >= 80);
  for (guint i = 0; i < gst_value_list_get_size (formats); i++) {
    const gchar *format = g_value_get_string (gst_value_list_get_value (formats, i));

    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
      gint boundary = (i + k) % CONVOLVE_N_BOUNDARIES;
      g_autofree gchar *properties =
          g_strdup_printf ("mask=\"" SKEWED "\" bias=0.25 boundary=%s", check_boundary_name (boundary));
      GstCaps *caps = frame_caps (format, sizes[k][0], sizes[k][1], NULL);
      Expected expected = skewed_expected (boundary, 0.25);
      GstVideoInfo info;
      GstHarness *harness;

      fail_unless (gst_video_info_from_caps (&info, caps));
      if (!frame_reads_well (&info)) {
        gst_caps_unref (caps);
        continue;
      }
      harness = harness_new (properties, caps);
      check_one (harness, &info, FRAME_PLAIN, &expected, check_boundary_name (boundary));
      gst_harness_teardown (harness);
    }
  }
}
GST_END_TEST;

/* Formats that plugin/frames.md promises must be among those of the pads. */
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
  static const gchar *const formats[] = { "I420", "NV12", "YUY2", "RGB", "BGRA", "P010_10LE", "Y444_12LE", "AYUV64",
    "v210", "UYVP", "r210", "RGB16", "NV12_10LE32", "NV12_4L4" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (FrameLayout layout = FRAME_PADDED; layout <= FRAME_MEMORIES; layout++) {
      gboolean even = g_str_equal (formats[i], "NV12_10LE32"); /* 21 leaves no room for the last V */
      GstCaps *caps = frame_caps (formats[i], even ? 22 : 21, 10, NULL);
      Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REFLECT, 0);
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

/* Bytes that belong to no component are copied: x of RGBx, the second luma at the end of an odd YUY2 row. */
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

/* The boundary zero is black in full range, limited range and RGB, and no bias moves chroma. */
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
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_ZERO, 0.5);
    GstHarness *harness;
    GstVideoInfo info;

    fail_unless (gst_video_info_from_caps (&info, caps));
    harness = harness_new ("mask=\"" SKEWED "\" boundary=zero bias=0.5", caps);
    check_one (harness, &info, FRAME_PLAIN, &expected, kinds[i].colorimetry ? kinds[i].colorimetry : "default");
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A frame with a wide border of one colour around the picture, whose samples are all copied. */
static GstBuffer *
frame_with_border (const GstVideoInfo *large, const GstVideoInfo *info, GstBuffer *in, guint color, gint border)
{
  g_autofree gchar *line =
      g_strdup_printf ("apply-to=regions regions=0,0,100%%,100%% region-effect=fill region-color=%u", color);
  GstHarness *harness = harness_new (line, gst_video_info_to_caps (large));
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, large->size, NULL);
  GstVideoFrame from, to;

  gst_buffer_memset (buffer, 0, 0, large->size);
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  buffer = gst_buffer_make_writable (gst_harness_pull (harness));
  fail_unless (
      gst_video_frame_map (&from, info, in, GST_MAP_READ) && gst_video_frame_map (&to, large, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    gint x = border >> GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c),
         y = border >> GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c);
    gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (&from, c);

    for (gint row = 0; row < GST_VIDEO_FRAME_COMP_HEIGHT (&from, c); row++)
      for (gint i = 0; i < GST_VIDEO_FRAME_COMP_WIDTH (&from, c); i++)
        memcpy (GST_VIDEO_FRAME_COMP_DATA (&to, c) + (row + y) * GST_VIDEO_FRAME_COMP_STRIDE (&to, c) + (i + x) * step,
            GST_VIDEO_FRAME_COMP_DATA (&from, c) + row * GST_VIDEO_FRAME_COMP_STRIDE (&from, c) + i * step,
            GST_VIDEO_INFO_COMP_DEPTH (info, c) > 8 ? 2 : 1);
  }
  gst_video_frame_unmap (&from);
  gst_video_frame_unmap (&to);
  gst_harness_teardown (harness);
  return buffer;
}

/* The boundary constant is a border of that colour around the picture: luma, chroma and RGB, in place of no border. */
GST_START_TEST (test_boundary_color)
{
  static const gchar *const formats[] = { "GRAY8", "I420", "NV12", "I420_10LE", "RGB", "BGRA", "Y444_12LE",
    "GBR_10LE" };
  const guint color = 0xff20c0e0;
  const gint border = 8, width = 20, height = 14;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_of (formats[i], width, height);
    GstVideoInfo large = info_of (formats[i], width + 2 * border, height + 2 * border);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed), out = NULL;
    g_autoptr (GstBuffer) whole = frame_with_border (&large, &info, in, color, border), expected = NULL;
    g_autofree gchar *line = g_strdup_printf ("mask=\"" SKEWED "\" boundary=constant boundary-color=%u", color);
    GstHarness *harness = harness_new (line, gst_video_info_to_caps (&info));
    Component got[4], want[4];

    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    gst_harness_teardown (harness);
    harness = harness_new ("mask=\"" SKEWED "\"", gst_video_info_to_caps (&large));
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (whole)), GST_FLOW_OK);
    expected = gst_harness_pull (harness);
    gst_harness_teardown (harness);
    frame_read (&info, out, got);
    frame_read (&large, expected, want);
    for (guint c = 0; c < MIN (3, GST_VIDEO_INFO_N_COMPONENTS (&info)); c++)
      for (gint k = 0; k < got[c].width * got[c].height; k++) {
        gint x = k % got[c].width + (border >> GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, c));
        gint y = k / got[c].width + (border >> GST_VIDEO_FORMAT_INFO_H_SUB (info.finfo, c));

        fail_unless (got[c].samples[k] == want[c].samples[y * want[c].width + x],
            "%s: component %u at %d,%d is %d, not %d", formats[i], c, k % got[c].width, k / got[c].width,
            got[c].samples[k], want[c].samples[y * want[c].width + x]);
      }
    frame_clear (got);
    frame_clear (want);
  }
}
GST_END_TEST;

/* A bias of 0.5 on black is middle grey in every range and depth; so is the offset that emboss brings. */
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

/*
 * Every preset in formats with subsampled chroma and in RGB, with its sign and without, against the masks that props
 * makes for the planes.
 */
GST_START_TEST (test_presets)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);
  static const gchar *const formats[] = { "I420", "NV12", "RGB", "RGBA", "P010_10LE", "Y444_16BE", "AYUV", "v308",
    "Y412_LE" };

  for (guint i = 0; i < n_presets; i++)
    for (guint k = 0; k < 2 * G_N_ELEMENTS (formats); k++) {
      const gchar *name = presets[i].name;
      gboolean absolute = k >= G_N_ELEMENTS (formats);
      g_autofree gchar *properties =
          g_strdup_printf ("mask=%s boundary=reflect-101 absolute=%s", name, absolute ? "true" : "false");
      GstCaps *caps = frame_caps (formats[k % G_N_ELEMENTS (formats)], 30, 22, NULL);
      ConvolveSettings settings;
      ConvolveMask luma, chroma;
      GstHarness *harness;
      GstVideoInfo info;
      Expected expected;

      convolve_settings_init (&settings);
      g_free (settings.mask);
      settings.mask = g_strdup (name);
      settings.absolute = absolute;
      fail_unless (convolve_settings_make_mask (&settings, 1, 1, &luma, NULL));
      fail_unless (convolve_settings_make_mask (&settings, 2, 2, &chroma, NULL));
      expected = expected_of_masks (&luma, &chroma, CONVOLVE_BOUNDARY_REFLECT_101);
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

/* A worked example in one dimension, along both axes. */
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

/* New caps in mid-stream: another size, another format, and the first again. */
GST_START_TEST (test_renegotiation)
{
  static const struct
  {
    const gchar *format;
    gint width, height;
  } kinds[] = { { "I420", 16, 16 }, { "I420", 7, 5 }, { "RGBA", 31, 3 }, { "GRAY16_LE", 64, 2 }, { "NV12", 8, 40 },
    { "I420", 16, 16 } };
  Expected expected = skewed_expected (CONVOLVE_BOUNDARY_WRAP, 0);
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

static Suite *
element_suite (void)
{
  Suite *suite = suite_create ("element");
  TCase *tc = tcase_create ("element");

  seed = check_seed ();

  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_promised_formats);
  tcase_add_test (tc, test_layouts);
  tcase_add_test (tc, test_padding_is_copied);
  tcase_add_test (tc, test_zero_is_black);
  tcase_add_test (tc, test_boundary_color);
  tcase_add_test (tc, test_middle_grey);
  tcase_add_test (tc, test_presets);
  tcase_add_test (tc, test_worked_example);
  tcase_add_test (tc, test_renegotiation);
  suite_add_tcase (suite, element_changes ());
  return suite;
}

GST_CHECK_MAIN (element);
