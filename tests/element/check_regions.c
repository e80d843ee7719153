/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of frames: which boxes a frame has, and what becomes of it. What is expected inside a box follows from whole
 * frames, which check_element compares with the oracle, and from the definitions of the effects.
 */
#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "support/cases.h"
#include "support/element.h"
#include "support/names.h"
#include "support/random.h"
#include "convolve_region.h"

#define MASK "mask=\"5x3: 1 -2 3 0 4; 5 0 -6 7 -1; 2 0 -3 1 -2\" boundary=reflect"
#define MOST_BOXES 8

static guint32 seed;

/* --- what is expected --- */

/* A box with the effect that the box gets; a larger strength is drawn over a smaller one. */
typedef struct
{
  ConvolveRect box;
  gint strength;
} Expectation;

/* The result for a whole frame of an element with these properties. */
static GstBuffer *
convolve_whole (const gchar *properties, const GstVideoInfo *info, GstBuffer *in)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", properties);
  GstHarness *harness = harness_new_for (line, info);
  GstBuffer *out;

  push_ok (harness, gst_buffer_ref (in));
  out = gst_harness_pull (harness);
  gst_harness_teardown (harness);
  return out;
}

static ConvolveArea
area_of (const GstVideoInfo *info, guint component, const ConvolveRect *boxes, gint count, ConvolveShape shape,
    gint feather, gboolean outside)
{
  return (ConvolveArea){ boxes, count, shape, feather, outside,
    1 << GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, component),
    1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, component) };
}

static void
blend_component (Component *into, const Component *effect, const ConvolveArea *area)
{
  for (gint y = 0; y < into->height; y++)
    for (gint x = 0; x < into->width; x++) {
      guint16 *at = &into->samples[y * into->width + x];
      gint before = *at, after = effect->samples[y * into->width + x];

      *at = floor (before + ((after - before) * convolve_area_weight (area, x, y) + 128) / 256.0);
    }
}

/* Draws an effect that is known for the whole frame. */
static void
expect_effect (const GstVideoInfo *info, Component into[4], GstBuffer *effect, const ConvolveRect *boxes, gint count,
    ConvolveShape shape, gint feather, gboolean outside)
{
  Component components[4];

  frame_read (info, effect, components);
  for (guint c = 0; c < MIN (3, GST_VIDEO_INFO_N_COMPONENTS (info)); c++) {
    ConvolveArea area = area_of (info, c, boxes, count, shape, feather, outside);

    blend_component (&into[c], &components[c], &area);
  }
  frame_clear (components);
}

static void
compare_components (const GstVideoInfo *info, const Component expected[4], GstBuffer *out, const gchar *what)
{
  Component got[4];

  frame_read (info, out, got);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint i = 0; i < got[c].width * got[c].height; i++)
      if (got[c].samples[i] != expected[c].samples[i])
        fail ("%s %dx%d, %s: component %u at %d,%d is %d, expected %d; seed %u", GST_VIDEO_INFO_NAME (info),
            GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), what, c, i % got[c].width, i / got[c].width,
            got[c].samples[i], expected[c].samples[i], seed);
  frame_clear (got);
}

/* Every byte of the rows that no box touches, unused bits and padding of pixels too. */
static void
compare_rows_without_boxes (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const ConvolveRect *boxes,
    gint count, gint feather)
{
  GstVideoFrame from, to;

  fail_unless (
      gst_video_frame_map (&from, info, in, GST_MAP_READ) && gst_video_frame_map (&to, info, out, GST_MAP_READ));
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    gint component[GST_VIDEO_MAX_COMPONENTS], step, bytes;

    gst_video_format_info_component (info->finfo, p, component);
    step = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, component[0]);
    bytes = GST_VIDEO_FRAME_COMP_WIDTH (&from, component[0]) * GST_VIDEO_FRAME_COMP_PSTRIDE (&from, component[0]);
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&from, component[0]); y++) {
      gboolean touched = FALSE;

      for (gint i = 0; i < count; i++)
        touched |= (y + 1) * step > boxes[i].y - feather && y * step < boxes[i].y + boxes[i].height + feather;
      if (!touched)
        fail_unless (memcmp ((guint8 *) from.data[p] + y * GST_VIDEO_FRAME_PLANE_STRIDE (&from, p),
                         (guint8 *) to.data[p] + y * GST_VIDEO_FRAME_PLANE_STRIDE (&to, p), bytes)
            == 0);
    }
  }
  gst_video_frame_unmap (&from);
  gst_video_frame_unmap (&to);
}

/* --- boxes --- */

static gint
random_boxes (CheckRandom *random, const GstVideoInfo *info, ConvolveRect *boxes)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  gint count = check_random_range (random, 1, MOST_BOXES);

  for (gint i = 0; i < count; i++)
    boxes[i] = (ConvolveRect){ check_random_range (random, -width / 2, width - 1),
      check_random_range (random, -height / 2, height - 1), check_random_range (random, 1, width),
      check_random_range (random, 1, MAX (1, height / 2)) };
  return count;
}

/* The boxes as text, in luma pixels. */
static gchar *
text_of (const ConvolveRect *boxes, gint count)
{
  GString *text = g_string_new (NULL);

  for (gint i = 0; i < count; i++)
    g_string_append_printf (text, "%d,%d,%d,%d;", boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height);
  return g_string_free (text, FALSE);
}

/* Pushes the frame, and takes the result. In place where nobody else holds the frame. */
static GstBuffer *
push_frame (GstHarness *harness, GstBuffer *in, gboolean in_place)
{
  GstBuffer *pushed = in_place ? gst_buffer_copy_deep (in) : gst_buffer_ref (in), *out;

  push_ok (harness, pushed);
  out = gst_harness_pull (harness);
  fail_unless (in_place == (out == pushed) || !in_place);
  return out;
}

/* --- the mask --- */

/* Every format; boxes, shapes, feathers, in place and not, regions and what lies outside. */
GST_START_TEST (mask_in_every_format)
{
  static const gint sizes[][2] = { { 1, 1 }, { 17, 9 }, { 40, 26 }, { 33, 34 } };
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  const GValue *formats =
      gst_structure_get_value (gst_caps_get_structure (template, gst_caps_get_size (template) - 1), "format");

  for (guint i = 0; i < gst_value_list_get_size (formats) * G_N_ELEMENTS (sizes); i++) {
    const gchar *format = g_value_get_string (gst_value_list_get_value (formats, i / G_N_ELEMENTS (sizes)));
    const gint *size = sizes[i % G_N_ELEMENTS (sizes)];
    GstVideoInfo info = info_of (format, size[0], size[1]);
    ConvolveRect boxes[MOST_BOXES];
    CheckRandom random;
    gint count, feather;
    gboolean outside;
    ConvolveShape shape;
    Component expected[4];
    FrameLayout layout;

    /* GStreamer's own unpacking of VYUY takes U for V in the last pixel of an odd row. */
    if (g_str_equal (format, "VYUY") && size[0] % 2)
      continue;
    check_random_init (&random, seed, i);
    layout = check_random_range (&random, FRAME_PLAIN, FRAME_MEMORIES);
    g_autoptr (GstBuffer) in = frame_new (&info, layout, seed + i);
    g_autoptr (GstBuffer) whole = convolve_whole (MASK, &info, in), out = NULL;
    count = random_boxes (&random, &info, boxes);
    feather = check_random_one_in (&random, 2) ? 0 : check_random_range (&random, 1, 12);
    shape = check_random_range (&random, 0, CONVOLVE_N_SHAPES - 1);
    outside = check_random_one_in (&random, 3);
    g_autofree gchar *text = text_of (boxes, count);
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve " MASK
                         " apply-to=%s regions=\"%s\" region-feather=%d region-shape=%s n-threads=%d",
            outside ? "outside-regions" : "regions", text, feather,
            shape == CONVOLVE_SHAPE_ELLIPSE ? "ellipse" : "rectangle", check_random_range (&random, 1, 3));
    GstHarness *harness = harness_new_for (line, &info);

    frame_read (&info, in, expected);
    expect_effect (&info, expected, whole, boxes, count, shape, feather, outside);
    out = push_frame (harness, in, check_random_one_in (&random, 2));
    compare_components (&info, expected, out, line);
    if (!outside)
      compare_rows_without_boxes (&info, in, out, boxes, count, feather);
    frame_clear (expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* --- strength --- */

/* The class of a sigma, counted from the definition in README: 1 to 256 by the square root of 2, rounded up. */
static gint
class_of (gdouble sigma)
{
  gint strength = 0;

  while (strength < 16 && pow (2, strength / 2.0) < sigma)
    strength++;
  return strength;
}

static gint
compare_strengths (gconstpointer a, gconstpointer b)
{
  return ((const Expectation *) a)->strength - ((const Expectation *) b)->strength;
}

/* The sigma follows from the box; in overlaps the stronger effect wins. Sigmas up to 5.7 are masks of their own. */
GST_START_TEST (strength_of_boxes)
{
  static const gchar *const formats[] = { "GRAY8", "I420", "NV12", "RGBA", "P010_10LE", "YUY2" };
  long cases = check_cases (24, 120);

  for (long i = 0; i < cases; i++) {
    GstVideoInfo info = info_of (formats[i % G_N_ELEMENTS (formats)], 96, 70);
    ConvolveRect boxes[MOST_BOXES];
    Expectation list[MOST_BOXES] = { { { 0 }, 0 } };
    Component expected[4];
    CheckRandom random;
    gint count, feather;

    check_random_init (&random, seed, i);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i);
    g_autoptr (GstBuffer) out = NULL;
    count = random_boxes (&random, &info, boxes);
    feather = check_random_one_in (&random, 2) ? 0 : 5;
    for (gint k = 0; k < count; k++)
      list[k] = (Expectation){ boxes[k], class_of (0.08 * MIN (boxes[k].width, boxes[k].height)) };
    qsort (list, count, sizeof list[0], compare_strengths);
    g_autofree gchar *text = text_of (boxes, count);
    g_autofree gchar *line = g_strdup_printf (
        "cudaconvolve mask=gaussian apply-to=regions regions=\"%s\" region-feather=%d region-strength=0.08", text,
        feather);
    GstHarness *harness = harness_new_for (line, &info);

    frame_read (&info, in, expected);
    for (gint first = 0, n; first < count; first += n) {
      gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
      ConvolveRect same[MOST_BOXES];

      for (n = 0; first + n < count && list[first + n].strength == list[first].strength; n++)
        same[n] = list[first + n].box;
      g_ascii_dtostr (digits, sizeof digits, pow (2, list[first].strength / 2.0));
      g_autofree gchar *properties = g_strdup_printf ("mask=gaussian sigma=%s mask-width=%d", digits,
          2 * (gint) ceil (4 * pow (2, list[first].strength / 2.0)) + 1);
      g_autoptr (GstBuffer) whole = convolve_whole (properties, &info, in);
      expect_effect (&info, expected, whole, same, n, CONVOLVE_SHAPE_RECTANGLE, feather, FALSE);
    }
    out = push_frame (harness, in, i % 2);
    compare_components (&info, expected, out, line);
    frame_clear (expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The place inside a line of n samples that is mirrored at both ends. */
static gint
mirror (gint i, gint n)
{
  i = ((i % (2 * n)) + 2 * n) % (2 * n);
  return i < n ? i : 2 * n - 1 - i;
}

/* The true Gaussian of a whole plane, mirrored at the edges; sigma in samples. */
static void
blur_exactly (const Component *from, gdouble sigma, gdouble *to)
{
  gint radius = ceil (4 * sigma), width = from->width, height = from->height;
  g_autofree gdouble *weights = g_new (gdouble, radius + 1), *rows = g_new (gdouble, width * height);

  for (gint i = 0; i <= radius; i++)
    weights[i] = exp (-i * i / (2 * sigma * sigma));
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      gdouble sum = 0, total = 0;

      for (gint i = -radius; i <= radius; i++) {
        sum += weights[ABS (i)] * from->samples[y * width + mirror (x + i, width)];
        total += weights[ABS (i)];
      }
      rows[y * width + x] = sum / total;
    }
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      gdouble sum = 0, total = 0;

      for (gint i = -radius; i <= radius; i++) {
        sum += weights[ABS (i)] * rows[mirror (y + i, height) * width + x];
        total += weights[ABS (i)];
      }
      to[y * width + x] = sum / total;
    }
}

/* Sigmas above 5.7 are those of a picture that was shrunk first: near the true Gaussian, and never sharper. */
GST_START_TEST (large_strengths)
{
  static const gchar *const masks[] = { "gaussian", "box" };

  for (guint i = 0; i < 4; i++) {
    gint side = i < 2 ? 140 : 300;
    gdouble sigma = pow (2, class_of (0.3 * side) / 2.0), worst = 0;
    GstVideoInfo info = info_of ("GRAY8", side, side);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i);
    g_autoptr (GstBuffer) out = NULL;
    g_autofree gchar *line = g_strdup_printf (
        "cudaconvolve mask=%s boundary=reflect apply-to=regions regions=\"0,0,100%%,100%%\" region-strength=0.3",
        masks[i % 2]);
    GstHarness *harness = harness_new_for (line, &info);
    g_autofree gdouble *exact = g_new (gdouble, side * side);
    Component from[4], to[4];

    frame_read (&info, in, from);
    /* Large shapes with noise on top: blocks of 50, dark and bright. */
    for (gint k = 0; k < side * side; k++)
      from[0].samples[k] = ((k % side / 50 + k / side / 50) % 2 ? 40 : 170) + from[0].samples[k] % 46;
    for (gint k = 0; k < side * side; k++) {
      guint8 value = from[0].samples[k];

      gst_buffer_fill (in, k / side * GST_VIDEO_INFO_PLANE_STRIDE (&info, 0) + k % side, &value, 1);
    }
    blur_exactly (&from[0], sigma, exact);
    out = push_frame (harness, in, FALSE);
    frame_read (&info, out, to);
    for (gint k = 0; k < side * side; k++)
      worst = MAX (worst, fabs (to[0].samples[k] - exact[k]));
    g_print ("%s, sigma %g: at most %g code values from the Gaussian\n", masks[i % 2], sigma, worst);
    fail_unless (worst < (i % 2 ? 20 : 1.5), "%s, sigma %g: %g code values from the Gaussian", masks[i % 2], sigma,
        worst);
    frame_clear (from);
    frame_clear (to);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A box of a large sigma is a part of what the same sigma makes of the whole frame, at every edge and boundary. */
GST_START_TEST (parts_of_large_strengths)
{
  static const gchar *const formats[] = { "GRAY8", "NV12" };

  for (guint i = 0; i < 4 * CONVOLVE_N_BOUNDARIES; i++) {
    GstVideoInfo info = info_of (formats[i % 2], 420, 400);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i), whole = NULL, out = NULL;
    ConvolveRect box = { 0, 0, 100, 100 };
    Component expected[4];
    CheckRandom random;
    GstHarness *harness;

    check_random_init (&random, seed, i);
    box.x = check_random_one_in (&random, 3) ? 0 : check_random_range (&random, 0, 320);
    box.y = check_random_one_in (&random, 3) ? 300 : check_random_range (&random, 0, 300);
    /* Both are sigma 45: 0.4 of 100 and 0.1 of 400. */
    g_autofree gchar *properties =
        g_strdup_printf ("mask=gaussian boundary=%s apply-to=regions regions=0,0,420,400 region-strength=0.1",
            check_boundary_name (i % CONVOLVE_N_BOUNDARIES));
    g_autofree gchar *line = g_strdup_printf (
        "cudaconvolve mask=gaussian boundary=%s apply-to=regions regions=%d,%d,100,100 region-strength=0.4",
        check_boundary_name (i % CONVOLVE_N_BOUNDARIES), box.x, box.y);
    whole = convolve_whole (properties, &info, in);
    harness = harness_new_for (line, &info);
    frame_read (&info, in, expected);
    expect_effect (&info, expected, whole, &box, 1, CONVOLVE_SHAPE_RECTANGLE, 0, FALSE);
    out = push_frame (harness, in, FALSE);
    compare_components (&info, expected, out, line);
    frame_clear (expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* --- blocks and colour --- */

/* One block after another, from the components: the mean of the samples whose first luma pixel is in the block. */
static void
pixelate_component (const GstVideoInfo *info, guint component, const Component *from, Component *to, ConvolveRect box,
    gint block)
{
  ConvolveArea area = area_of (info, component, &box, 1, CONVOLVE_SHAPE_RECTANGLE, 0, FALSE);

  for (gint y = 0; y < from->height; y++)
    for (gint x = 0; x < from->width; x++) {
      gint column = floor ((gdouble) (x * area.x_step - box.x) / block);
      gint row = floor ((gdouble) (y * area.y_step - box.y) / block), n = 0;
      gdouble sum = 0;

      if (convolve_area_weight (&area, x, y) == 0)
        continue;
      for (gint v = 0; v < from->height; v++)
        for (gint u = 0; u < from->width; u++)
          if (floor ((gdouble) (u * area.x_step - box.x) / block) == column
              && floor ((gdouble) (v * area.y_step - box.y) / block) == row) {
            sum += from->samples[v * from->width + u];
            n++;
          }
      to->samples[y * from->width + x] = floor (sum / n + 0.5);
    }
}

GST_START_TEST (pixelate)
{
  static const gchar *const formats[] = { "I420", "NV12", "RGBx", "P010_10LE", "YUY2", "Y41B" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_of (formats[i % G_N_ELEMENTS (formats)], 50, 41);
    /* The second is stronger, though named first: its blocks are larger. */
    const ConvolveRect boxes[] = { { 11, 7, 35, 40 }, { 3, 5, 19, 17 } };
    const gint sides[] = { 35, 17 };
    guint blocks = i < G_N_ELEMENTS (formats) ? 6 : 3;
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i);
    g_autoptr (GstBuffer) out = NULL;
    g_autofree gchar *text = text_of (boxes, 2);
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve apply-to=regions regions=\"%s\" region-effect=pixelate region-blocks=%u", text,
            blocks);
    GstHarness *harness = harness_new_for (line, &info);
    Component from[4], expected[4];

    frame_read (&info, in, from);
    frame_read (&info, in, expected);
    for (gint k = 1; k >= 0; k--)
      for (guint c = 0; c < 3; c++)
        pixelate_component (&info, c, &from[c], &expected[c], boxes[k], (sides[k] + blocks - 1) / blocks);
    out = push_frame (harness, in, i % 2);
    compare_components (&info, expected, out, line);
    frame_clear (from);
    frame_clear (expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The colour by GStreamer's own conversion, which may round otherwise. */
GST_START_TEST (fill)
{
  static const gchar *const formats[] = { "I420", "NV12", "RGBA", "BGR", "P010_10LE", "YUY2", "GRAY8", "GBR_10LE",
    "AYUV", "Y444_16LE" };
  static const gchar *const colorimetries[] = { "bt601", "bt709", "1:4:0:0" };
  static const guint colors[] = { 0xff000000, 0xffffffff, 0xff20c060, 0x00ff8000 };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (colorimetries) * G_N_ELEMENTS (colors); i++) {
    const gchar *format = formats[i % G_N_ELEMENTS (formats)];
    guint color = colors[i / G_N_ELEMENTS (formats) % G_N_ELEMENTS (colors)];
    g_autoptr (GstCaps) caps = NULL;
    g_autoptr (GstBuffer) in = NULL, out = NULL, source = NULL, wanted = NULL;
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve apply-to=regions regions=0,0,16,16 region-effect=fill region-color=%u", color);
    GstVideoInfo info = info_of (format, 16, 16), argb = info_of ("ARGB", 16, 16);
    Component got[4], expected[4];
    GstVideoConverter *converter;
    GstVideoFrame from, to;
    GstHarness *harness;
    gint tolerance;

    if (!GST_VIDEO_INFO_IS_RGB (&info) && !GST_VIDEO_INFO_IS_GRAY (&info))
      gst_video_colorimetry_from_string (&info.colorimetry, colorimetries[i / 40 % G_N_ELEMENTS (colorimetries)]);
    tolerance = 2 << (GST_VIDEO_INFO_COMP_DEPTH (&info, 0) - 8);
    caps = gst_video_info_to_caps (&info);
    fail_unless (gst_video_info_from_caps (&info, caps));
    in = frame_new (&info, FRAME_PLAIN, seed + i);
    harness = harness_new_for (line, &info);
    out = push_frame (harness, in, FALSE);

    source = gst_buffer_new_allocate (NULL, argb.size, NULL);
    wanted = gst_buffer_new_allocate (NULL, info.size, NULL);
    for (gint k = 0; k < 256; k++) {
      guint8 bytes[4] = { 255, color >> 16, color >> 8, color };

      gst_buffer_fill (source, 4 * k, bytes, 4);
    }
    converter = gst_video_converter_new (&argb, &info, NULL);
    fail_unless (converter && gst_video_frame_map (&from, &argb, source, GST_MAP_READ)
        && gst_video_frame_map (&to, &info, wanted, GST_MAP_WRITE));
    gst_video_converter_frame (converter, &from, &to);
    gst_video_frame_unmap (&from);
    gst_video_frame_unmap (&to);
    gst_video_converter_free (converter);
    frame_read (&info, out, got);
    frame_read (&info, wanted, expected);
    for (guint c = 0; c < MIN (3, GST_VIDEO_INFO_N_COMPONENTS (&info)); c++)
      for (gint k = 0; k < got[c].width * got[c].height; k++)
        fail_unless (ABS (got[c].samples[k] - expected[c].samples[k]) <= tolerance,
            "%s %s 0x%08x: component %u is %d, expected %d", format,
            gst_video_colorimetry_to_string (&info.colorimetry), color, c, got[c].samples[k], expected[c].samples[k]);
    frame_clear (got);
    frame_clear (expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* --- where boxes come from --- */

/* The least box around all samples of GRAY8 that differ, or an empty one. */
static ConvolveRect
changed_box (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out)
{
  gint left = G_MAXINT, top = G_MAXINT, right = 0, bottom = 0;
  Component from[4], to[4];

  frame_read (info, in, from);
  frame_read (info, out, to);
  for (gint y = 0; y < from[0].height; y++)
    for (gint x = 0; x < from[0].width; x++)
      if (from[0].samples[y * from[0].width + x] != to[0].samples[y * from[0].width + x]) {
        left = MIN (left, x);
        top = MIN (top, y);
        right = MAX (right, x + 1);
        bottom = MAX (bottom, y + 1);
      }
  frame_clear (from);
  frame_clear (to);
  return right > left ? (ConvolveRect){ left, top, right - left, bottom - top } : (ConvolveRect){ 0 };
}

/* A frame of one value, so that fill changes all of a box. */
static GstBuffer *
grey_frame (const GstVideoInfo *info, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);

  gst_buffer_memset (buffer, 0, 128, info->size);
  GST_BUFFER_PTS (buffer) = time;
  return buffer;
}

static void
expect_box (GstHarness *harness, const GstVideoInfo *info, GstBuffer *in, gint x, gint y, gint width, gint height,
    const gchar *what)
{
  g_autoptr (GstBuffer) out = push_frame (harness, in, FALSE);
  ConvolveRect box = changed_box (info, in, out);

  fail_unless (box.x == x && box.y == y && box.width == width && box.height == height,
      "%s: %dx%d at %d,%d changed, expected %dx%d at %d,%d", what, box.width, box.height, box.x, box.y, width, height,
      x, y);
  gst_buffer_unref (in);
}

#define FILL "cudaconvolve apply-to=regions region-effect=fill "

GST_START_TEST (text)
{
  static const struct
  {
    const gchar *text;
    gint x, y, width, height;
  } rows[] = { { "", 0, 0, 0, 0 }, { "10,12,20,22", 10, 12, 20, 22 }, { " 10 12\t20 22 ;\n", 10, 12, 20, 22 },
    { "50%,25%,50%,25%", 50, 20, 50, 20 }, { "10.5,3.25,2,2", 10, 3, 3, 3 }, { "-10,-10,20,20", 0, 0, 10, 10 },
    { "90,70,1e3,1e3", 90, 70, 10, 10 }, { "200,200,10,10", 0, 0, 0, 0 }, { "0,0,1,1;99,79,1,1", 0, 0, 100, 80 },
    { "0,0,0.001%,100%", 0, 0, 1, 80 } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "regions=\"%s\"", rows[i].text);
    GstHarness *harness = harness_new_for (line, &info);

    expect_box (harness, &info, grey_frame (&info, 0), rows[i].x, rows[i].y, rows[i].width, rows[i].height,
        rows[i].text);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The effect follows from the expanded box: blocks of 20 for a box of 60 that doubles. */
GST_START_TEST (strength_after_expansion)
{
  GstVideoInfo info = info_of ("GRAY8", 200, 200);
  g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed);
  static const gchar *const pairs[][2] = { { "region-effect=pixelate regions=70,70,60,60 region-expand=0.5",
                                               "region-effect=pixelate regions=40,40,120,120" },
    { "region-strength=0.2 regions=70,70,60,60 region-expand=0.5", "region-strength=0.2 regions=40,40,120,120" } };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    Component expected[4];
    GstBuffer *out[2];

    for (guint k = 0; k < 2; k++) {
      g_autofree gchar *line = g_strdup_printf ("cudaconvolve apply-to=regions %s", pairs[i][k]);
      GstHarness *harness = harness_new_for (line, &info);

      out[k] = push_frame (harness, in, FALSE);
      gst_harness_teardown (harness);
    }
    frame_read (&info, out[1], expected);
    compare_components (&info, expected, out[0], pairs[i][0]);
    frame_clear (expected);
    gst_buffer_unref (out[0]);
    gst_buffer_unref (out[1]);
  }
}
GST_END_TEST;

GST_START_TEST (expand)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "regions=40,30,20,10 region-expand=0.25", &info);

  expect_box (harness, &info, grey_frame (&info, 0), 35, 27, 30, 16, "a quarter more on each side, rounded outward");
  gst_harness_set (harness, "cudaconvolve", "region-expand", 1.0, "regions", "40,30,20,10", NULL);
  expect_box (harness, &info, grey_frame (&info, 0), 20, 20, 60, 30, "live");
  gst_harness_teardown (harness);
}
GST_END_TEST;

static GstBuffer *
add_region (GstBuffer *buffer, const gchar *type, gint x, gint y, gint width, gint height)
{
  gst_buffer_add_video_region_of_interest_meta (buffer, type, x, y, width, height);
  return buffer;
}

GST_START_TEST (types_and_sources)
{
  static const struct
  {
    const gchar *properties;
    gboolean face, person;
  } rows[] = { { "", TRUE, TRUE }, { "region-types=face", TRUE, FALSE },
    { "region-types=\" Person , x\"", FALSE, TRUE }, { "region-types=!person", TRUE, FALSE },
    { "region-types=!face,!person", FALSE, FALSE }, { "region-types=face,person,!person", TRUE, FALSE },
    { "region-sources=text", FALSE, FALSE }, { "region-sources=roi", TRUE, TRUE },
    { "region-sources=analytics", FALSE, FALSE } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "%s", rows[i].properties);
    GstHarness *harness = harness_new_for (line, &info);
    GstBuffer *buffer = add_region (grey_frame (&info, 0), "face", 10, 10, 10, 10);
    gint left, right;

    add_region (buffer, "person", 50, 10, 10, 10);
    left = rows[i].face ? 10 : 50;
    right = rows[i].person ? 60 : 20;
    if (rows[i].face || rows[i].person)
      expect_box (harness, &info, buffer, left, 10, right - left, 10, line);
    else
      expect_box (harness, &info, buffer, 0, 0, 0, 0, line);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The metas stay on the output, whether the frame was changed in place, copied or passed. */
GST_START_TEST (metas_stay)
{
  GstVideoInfo info = info_of ("NV12", 64, 48);

  for (guint i = 0; i < 4; i++) {
    GstHarness *harness = harness_new_for (i < 2 ? FILL : FILL "region-types=plate", &info);
    g_autoptr (GstBuffer) in = add_region (grey_frame (&info, 0), "face", 10, 10, 10, 10), out = NULL;
    GstVideoRegionOfInterestMeta *meta;

    out = push_frame (harness, in, i % 2);
    meta = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
    fail_unless (meta && meta->x == 10 && meta->w == 10 && g_str_equal (g_quark_to_string (meta->roi_type), "face"));
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* --- a detector that misses frames --- */

GST_START_TEST (hold)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-hold=100000000", &info);
  const GstClockTime ms = GST_MSECOND;

  expect_box (harness, &info, grey_frame (&info, 0), 0, 0, 0, 0, "nothing yet");
  expect_box (harness, &info, add_region (grey_frame (&info, 40 * ms), "face", 10, 10, 20, 20), 10, 10, 20, 20, "seen");
  expect_box (harness, &info, grey_frame (&info, 80 * ms), 10, 10, 20, 20, "missed once");
  expect_box (harness, &info, add_region (grey_frame (&info, 120 * ms), "face", 60, 50, 20, 20), 10, 10, 70, 60,
      "another face, and the first is missed");
  expect_box (harness, &info, add_region (grey_frame (&info, 140 * ms), "face", 12, 10, 20, 20), 12, 10, 68, 60,
      "the first face moved by 2, the other is missed");
  expect_box (harness, &info, add_region (grey_frame (&info, 150 * ms), "face", 12, 10, 20, 20), 12, 10, 68, 60,
      "a face beside another one does not end that one");
  expect_box (harness, &info, grey_frame (&info, 221 * ms), 12, 10, 20, 20, "the other face is gone");
  expect_box (harness, &info, grey_frame (&info, 250 * ms), 12, 10, 20, 20, "100 ms are not too long");
  expect_box (harness, &info, grey_frame (&info, 251 * ms), 0, 0, 0, 0, "101 ms are");
  expect_box (harness, &info, add_region (grey_frame (&info, 260 * ms), "face", 10, 10, 20, 20), 10, 10, 20, 20, "");
  expect_box (harness, &info, add_region (grey_frame (&info, 270 * ms), "face", 12, 50, 20, 20), 10, 10, 22, 60,
      "a face below another one does not end that one");
  expect_box (harness, &info, add_region (grey_frame (&info, 300 * ms), "face", 10, 10, 20, 20), 10, 10, 22, 60,
      "again");
  expect_box (harness, &info, grey_frame (&info, 0), 0, 0, 0, 0, "the stream begins again");

  /* Without time stamps each frame takes as long as the caps say: 40 ms. */
  expect_box (harness, &info, add_region (grey_frame (&info, GST_CLOCK_TIME_NONE), "face", 1, 1, 2, 2), 1, 1, 2, 2, "");
  expect_box (harness, &info, grey_frame (&info, GST_CLOCK_TIME_NONE), 1, 1, 2, 2, "40 ms");
  expect_box (harness, &info, grey_frame (&info, GST_CLOCK_TIME_NONE), 1, 1, 2, 2, "80 ms");
  expect_box (harness, &info, grey_frame (&info, GST_CLOCK_TIME_NONE), 0, 0, 0, 0, "120 ms");
  gst_harness_teardown (harness);
}
GST_END_TEST;

GST_START_TEST (flush_forgets)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL, &info);
  GstSegment segment;

  expect_box (harness, &info, add_region (grey_frame (&info, 0), "face", 10, 10, 20, 20), 10, 10, 20, 20, "seen");
  fail_unless (gst_harness_push_event (harness, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (harness, gst_event_new_segment (&segment)));
  expect_box (harness, &info, grey_frame (&info, GST_MSECOND), 0, 0, 0, 0, "after a seek");
  gst_harness_teardown (harness);
}
GST_END_TEST;

GST_START_TEST (fallback)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  /* Shape, feather and expansion are those of boxes; nothing of a frame is left over. */
  GstHarness *harness = harness_new_for (FILL
      "region-fallback=frame region-hold=50000000 region-shape=ellipse region-expand=1 region-feather=9",
      &info);
  const GstClockTime ms = GST_MSECOND;

  expect_box (harness, &info, grey_frame (&info, 0), 0, 0, 100, 80, "before the first metadata");
  gst_harness_set (harness, "cudaconvolve", "region-shape", 0, "region-expand", 0.0, "region-feather", 0, NULL);
  expect_box (harness, &info, add_region (grey_frame (&info, 40 * ms), "face", 10, 10, 20, 20), 10, 10, 20, 20, "seen");
  expect_box (harness, &info, grey_frame (&info, 90 * ms), 10, 10, 20, 20, "held");
  expect_box (harness, &info, grey_frame (&info, 91 * ms), 0, 0, 100, 80, "lost");
  gst_harness_set (harness, "cudaconvolve", "region-types", "plate", NULL);
  expect_box (harness, &info, add_region (grey_frame (&info, 200 * ms), "face", 10, 10, 20, 20), 0, 0, 0, 0,
      "the detector is there, and found no plate");
  gst_harness_set (harness, "cudaconvolve", "region-sources", 1, NULL);
  expect_box (harness, &info, grey_frame (&info, 900 * ms), 0, 0, 0, 0, "no metadata is expected");
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* --- what a frame costs --- */

/* A frame without boxes is the very buffer that came. One with boxes is, too, where nobody else holds it. */
GST_START_TEST (in_place)
{
  GstVideoInfo info = info_of ("NV12", 64, 48);
  GstHarness *harness = harness_new_for (FILL, &info);
  GstBuffer *pushed = grey_frame (&info, 0), *out;
  g_autoptr (GstBuffer) kept = NULL;

  push_ok (harness, pushed);
  out = gst_harness_pull (harness);
  fail_unless (out == pushed);
  gst_buffer_unref (out);

  pushed = add_region (grey_frame (&info, GST_SECOND), "face", 3, 3, 8, 8);
  push_ok (harness, pushed);
  out = gst_harness_pull (harness);
  fail_unless (out == pushed);
  gst_buffer_unref (out);

  kept = add_region (grey_frame (&info, 2 * GST_SECOND), "face", 3, 3, 8, 8);
  push_ok (harness, gst_buffer_ref (kept));
  out = gst_harness_pull (harness);
  fail_unless (out != kept);
  for (guint i = 0; i < info.size; i++) {
    guint8 byte;

    gst_buffer_extract (kept, i, &byte, 1);
    fail_unless_equals_int (byte, 128);
  }
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Many boxes, boxes over each other, and the whole frame a thousand times. */
GST_START_TEST (thousand_boxes)
{
  GstVideoInfo info = info_of ("I420", 320, 240);
  g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed);
  g_autoptr (GstBuffer) whole = convolve_whole (MASK, &info, in);
  ConvolveRect *boxes = g_new (ConvolveRect, 1000);
  CheckRandom random;

  check_random_init (&random, seed, 0);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) out = NULL;
    GstHarness *harness;
    Component expected[4];

    for (guint k = 0; k < 1000; k++)
      boxes[k] = i == 0 ? (ConvolveRect){ k % 32 * 10, k / 32 * 7, 6, 4 }
          : i == 1      ? (ConvolveRect){ check_random_range (&random, -9, 320), check_random_range (&random, -9, 240),
                   check_random_range (&random, 1, 40), check_random_range (&random, 1, 40) }
                        : (ConvolveRect){ 0, 0, 320, 240 };
    g_autofree gchar *text = text_of (boxes, 1000);
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve " MASK " apply-to=regions regions=\"%s\"", text);
    harness = harness_new_for (line, &info);
    frame_read (&info, in, expected);
    expect_effect (&info, expected, whole, boxes, 1000, CONVOLVE_SHAPE_RECTANGLE, 0, FALSE);
    out = push_frame (harness, in, TRUE);
    compare_components (&info, expected, out, "1,000 boxes");
    frame_clear (expected);
    gst_harness_teardown (harness);
  }
  g_free (boxes);
}
GST_END_TEST;

/* --- leaks --- */

/* Two frames that differ inside a box alone; their results must not differ beyond `radius` pixels of the box. */
static void
expect_no_leak (const gchar *properties, gint radius)
{
  GstVideoInfo info = info_of ("GRAY8", 160, 120);
  GstBuffer *out[2];
  Component got[2][4];

  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve regions=60,40,30,20 %s", properties);
    GstHarness *harness = harness_new_for (line, &info);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed), other = frame_new (&info, FRAME_PLAIN, seed + 1);

    for (gint y = 40; y < 60 && i == 1; y++) {
      guint8 row[30];

      gst_buffer_extract (other, y * 160 + 60, row, 30);
      gst_buffer_fill (in, y * 160 + 60, row, 30);
    }
    out[i] = push_frame (harness, in, FALSE);
    frame_read (&info, out[i], got[i]);
    gst_harness_teardown (harness);
  }
  for (gint y = 0; y < 120; y++)
    for (gint x = 0; x < 160; x++)
      if (x < 60 - radius || x >= 90 + radius || y < 40 - radius || y >= 60 + radius)
        fail_unless (got[0][0].samples[y * 160 + x] == got[1][0].samples[y * 160 + x], "%s: %d,%d tells of the box",
            properties, x, y);
  for (guint i = 0; i < 2; i++) {
    frame_clear (got[i]);
    gst_buffer_unref (out[i]);
  }
}

GST_START_TEST (leaks)
{
  expect_no_leak ("apply-to=regions mask=gaussian sigma=4", 0);
  expect_no_leak ("apply-to=regions region-effect=pixelate", 0);
  expect_no_leak ("apply-to=regions mask=gaussian region-strength=0.4 region-feather=7", 0 + 7);
  expect_no_leak ("apply-to=outside-regions mask=gaussian sigma=4", 12);
  expect_no_leak ("apply-to=outside-regions region-effect=fill", 0);
}
GST_END_TEST;

/* The strongest detail that is left inside a box, as a share of what was there: stripes of some width, black and white. */
static gdouble
detail_left (const gchar *properties, gint side, gint stripe)
{
  GstVideoInfo info = info_of ("GRAY8", side * 2, side * 2);
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve boundary=reflect apply-to=regions regions=%d,%d,%d,%d %s",
      side / 2, side / 2, side, side, properties);
  GstHarness *harness = harness_new_for (line, &info);
  g_autoptr (GstBuffer) in = gst_buffer_new_allocate (NULL, info.size, NULL), out = NULL;
  gint least = 255, most = 0;
  Component got[4];

  for (gint i = 0; i < 4 * side * side; i++) {
    guint8 value = i % (2 * side) / stripe % 2 ? 255 : 0;

    gst_buffer_fill (in, i / (2 * side) * GST_VIDEO_INFO_PLANE_STRIDE (&info, 0) + i % (2 * side), &value, 1);
  }
  out = push_frame (harness, in, FALSE);
  frame_read (&info, out, got);
  for (gint y = side / 2; y < side * 3 / 2; y++)
    for (gint x = side / 2; x < side * 3 / 2; x++) {
      least = MIN (least, got[0].samples[y * 2 * side + x]);
      most = MAX (most, got[0].samples[y * 2 * side + x]);
    }
  frame_clear (got);
  gst_harness_teardown (harness);
  return (most - least) / 255.0;
}

/* With strength 0.2 nothing is left of details below a third of a box, however large the box is. */
GST_START_TEST (detail_is_gone)
{
  static const gint sides[] = { 20, 50, 100, 240, 600 };

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++) {
    gdouble gaussian = detail_left ("mask=gaussian region-strength=0.2", sides[i], sides[i] / 10);
    gdouble box = detail_left ("mask=box region-strength=0.2", sides[i], sides[i] / 10);
    gdouble coarse = detail_left ("mask=gaussian region-strength=0.2", sides[i], sides[i] / 2);

    fail_unless (gaussian < 0.03 && box < 0.25, "%d: %g and %g of the detail is left", sides[i], gaussian, box);
    fail_unless (coarse > 0.05, "%d: %g of a coarse shape is left", sides[i], coarse);
  }
}
GST_END_TEST;

/* --- settings that are wrong or idle --- */

GST_START_TEST (bad_settings)
{
  static const struct
  {
    const gchar *properties, *text;
  } rows[] = {
    { "regions=1,2,3", "regions: \"1,2,3\" is box 1 and lacks its height" },
    { "regions=\"1,2,3,4;5,6,x,8\"", "regions: \"x\" in box 2 is not a number" },
    { "regions=1,2,0,4", "regions: \"0\" in box 1 is no width: a width is above 0" },
    { "regions=1,2,3,-4%", "regions: \"-4%\" in box 1 is no height" },
    { "regions=1,2,3,4,5", "regions: \"5\" is one number too many in box 1" },
    { "regions=1e7,2,3,4", "regions: \"1e7\" in box 1 is above a million" },
    { "regions=1,2,3,4%%", "regions: \"4%%\" in box 1 is not a number" },
    { "region-types=face,,plate", "region-types: \"face,,plate\" has no name at place 2" },
    { "region-types=!", "region-types: \"!\" has no name at place 1" },
    { "mask=sobel-x region-strength=0.2",
        "region-strength: sobel-x in mask has no strength; gaussian and box have one" },
    { "kernel-variant=tiled", "kernel-variant: tiled takes whole frames, and apply-to is not frame" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve apply-to=regions %s", rows[i].properties);
    Run run;

    if (g_str_equal (rows[i].properties, "kernel-variant=tiled"))
      continue; /* without a device the error is that there is none */
    run = run_start (line, "GRAY8", 32, 32);
    run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR,
        GST_LIBRARY_ERROR_SETTINGS, rows[i].text, NULL);
    run_stop (&run);
  }
}
GST_END_TEST;

/* While frames flow a bad text is a warning, and the good boxes stay; what is set beside the text holds. */
GST_START_TEST (bad_text_while_playing)
{
  Run run = run_start (FILL "regions=10,10,8,8", "GRAY8", 100, 80);

  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 10, 10, 8, 8, "good");
  g_object_set (run.element, "regions", "1,2,3", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 10, 10, 8, 8, "bad");
  run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR,
      GST_LIBRARY_ERROR_SETTINGS, "regions: ", NULL);
  g_object_set (run.element, "regions", "20,20,8,8", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 20, 20, 8, 8, "good again");
  g_object_set (run.element, "region-effect", 0, "region-strength", 0.2, "mask", "sobel-x", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 20, 20, 8, 8, "a mask without strength: still fill");
  run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR,
      GST_LIBRARY_ERROR_SETTINGS, "region-strength: sobel-x", NULL);
  run_stop (&run);
}
GST_END_TEST;

static Suite *
regions_suite (void)
{
  Suite *suite = suite_create ("regions");
  TCase *tc = tcase_create ("regions");
  const gchar *wanted = g_getenv ("CUDACONVOLVE_SEED");

  seed = wanted ? g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();
  g_print ("seed %u: CUDACONVOLVE_SEED=%u repeats this run\n", seed, seed);
  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, mask_in_every_format);
  tcase_add_test (tc, strength_of_boxes);
  tcase_add_test (tc, large_strengths);
  tcase_add_test (tc, parts_of_large_strengths);
  tcase_add_test (tc, pixelate);
  tcase_add_test (tc, fill);
  tcase_add_test (tc, text);
  tcase_add_test (tc, expand);
  tcase_add_test (tc, strength_after_expansion);
  tcase_add_test (tc, types_and_sources);
  tcase_add_test (tc, metas_stay);
  tcase_add_test (tc, hold);
  tcase_add_test (tc, flush_forgets);
  tcase_add_test (tc, fallback);
  tcase_add_test (tc, in_place);
  tcase_add_test (tc, thousand_boxes);
  tcase_add_test (tc, leaks);
  tcase_add_test (tc, detail_is_gone);
  tcase_add_test (tc, bad_settings);
  tcase_add_test (tc, bad_text_while_playing);
  suite_add_tcase (suite, tc);
  return suite;
}

GST_CHECK_MAIN (regions);
