/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Polygons in the property regions: their shape in every format, with each effect, in fields, and beside boxes. Mattes:
 * a picture in a file, and the alpha of frames.
 */
#include "element/regions/check_regions.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "support/cases.h"

#define MOST_SHAPES 4
#define MOST_CORNERS 8

/* Shapes as the user writes them, and as the kernel library is to see them. */
typedef struct
{
  ConvolveRect boxes[MOST_SHAPES];
  ConvolveOutline outlines[MOST_SHAPES];
  ConvolvePoint corners[MOST_SHAPES * MOST_CORNERS];
  gint count;
  ConvolveExtras extras;
  GString *text;
} Shapes;

/* Adds a polygon whose corners are multiples of a sixteenth of a pixel, and the first of which lies in the frame. */
static void
add_polygon (Shapes *shapes, CheckRandom *random, const GstVideoInfo *info, gdouble expand)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  gint n = check_random_range (random, 3, MOST_CORNERS);
  gint left = G_MAXINT, top = G_MAXINT, right = G_MININT, bottom = G_MININT, margin;
  ConvolvePoint *corners = shapes->corners + shapes->extras.n_corners;

  g_string_append (shapes->text, "polygon:");
  for (gint i = 0; i < n; i++) {
    gchar x[G_ASCII_DTOSTR_BUF_SIZE], y[G_ASCII_DTOSTR_BUF_SIZE];

    corners[i] =
        (ConvolvePoint){ check_random_range (random, i == 0 ? 1 : -8 * width, i == 0 ? 16 * width - 1 : 24 * width),
          check_random_range (random, i == 0 ? 1 : -8 * height, i == 0 ? 16 * height - 1 : 24 * height) };
    left = MIN (left, corners[i].x);
    top = MIN (top, corners[i].y);
    right = MAX (right, corners[i].x);
    bottom = MAX (bottom, corners[i].y);
    g_string_append_printf (shapes->text, "%s%s,%s", i > 0 ? " " : "",
        g_ascii_dtostr (x, sizeof x, corners[i].x / 16.0), g_ascii_dtostr (y, sizeof y, corners[i].y / 16.0));
  }
  g_string_append (shapes->text, ";");
  margin = ceil (expand * MIN (right - left, bottom - top));
  left = floor ((left - margin) / 16.0);
  top = floor ((top - margin) / 16.0);
  shapes->boxes[shapes->count] =
      (ConvolveRect){ left, top, ceil ((right + margin) / 16.0) - left, ceil ((bottom + margin) / 16.0) - top };
  shapes->outlines[shapes->count++] = (ConvolveOutline){ shapes->extras.n_corners, n, margin };
  shapes->extras.n_corners += n;
}

static void
add_box (Shapes *shapes, CheckRandom *random, const GstVideoInfo *info, gdouble expand)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  ConvolveRect box = { check_random_range (random, 0, width - 1), check_random_range (random, 0, height - 1),
    check_random_range (random, 1, width), check_random_range (random, 1, height) };
  gint left = floor (box.x - expand * box.width), top = floor (box.y - expand * box.height);

  g_string_append_printf (shapes->text, "%d,%d,%d,%d;", box.x, box.y, box.width, box.height);
  shapes->boxes[shapes->count] = (ConvolveRect){ left, top, ceil (box.x + box.width + expand * box.width) - left,
    ceil (box.y + box.height + expand * box.height) - top };
  shapes->outlines[shapes->count++] = (ConvolveOutline){ 0 };
}

static void
make_shapes (Shapes *shapes, CheckRandom *random, const GstVideoInfo *info, gdouble expand)
{
  gint n = check_random_range (random, 1, MOST_SHAPES);

  *shapes = (Shapes){ .text = g_string_new (NULL) };
  shapes->extras.outlines = shapes->outlines;
  shapes->extras.corners = shapes->corners;
  for (gint i = 0; i < n; i++)
    if (i > 0 && check_random_one_in (random, 3))
      add_box (shapes, random, info, expand);
    else
      add_polygon (shapes, random, info, expand);
}

static ConvolveArea
area_of_shapes (const Shapes *shapes, ConvolveShape shape, gint feather, gboolean outside)
{
  return (ConvolveArea){ .boxes = shapes->boxes,
    .count = shapes->count,
    .shape = shape,
    .feather = feather,
    .outside = outside,
    .x_step = 1,
    .y_step = 1,
    .extras = &shapes->extras };
}

/* Every format at an odd size; the mask or a colour, feather, expansion, ellipses in boxes, inside and outside. */
GST_START_TEST (polygons_in_every_format)
{
  static const gint sizes[][2] = { { 41, 27 }, { 33, 34 }, { 17, 9 } };
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  const GValue *formats =
      gst_structure_get_value (gst_caps_get_structure (template, gst_caps_get_size (template) - 1), "format");

  for (guint i = 0; i < 2 * gst_value_list_get_size (formats); i++) {
    const gchar *format = g_value_get_string (gst_value_list_get_value (formats, i / 2));
    const gint *size = sizes[i % G_N_ELEMENTS (sizes)];
    GstVideoInfo info = info_of (format, size[0], size[1]);
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
    CheckRandom random;
    Component expected[4];
    Shapes shapes;

    if (!frame_reads_well (&info) || frame_has_few_bits (&info))
      continue;
    check_random_init (&random, seed, i);
    gdouble expand = check_random_one_in (&random, 2) ? 0 : check_random_range (&random, 1, 8) / 16.0;
    gint feather = check_random_one_in (&random, 2) ? 0 : check_random_range (&random, 1, 12);
    gboolean outside = check_random_one_in (&random, 3), ellipse = check_random_one_in (&random, 3);
    const gchar *effect = i % 2 ? "region-effect=fill region-color=0xff804020" : "region-effect=mask " MASK;
    g_autoptr (GstBuffer) in = frame_new (&info, check_random_range (&random, FRAME_PLAIN, FRAME_MEMORIES), seed + i);
    g_autoptr (GstBuffer) out = NULL;
    g_autofree gchar *of_whole = g_strdup_printf ("%s apply-to=regions regions=\"0,0,100%%,100%%\"", effect);
    g_autoptr (GstBuffer) whole = convolve_whole (i % 2 ? of_whole : MASK, &info, in);

    make_shapes (&shapes, &random, &info, expand);
    ConvolveArea area =
        area_of_shapes (&shapes, ellipse ? CONVOLVE_SHAPE_ELLIPSE : CONVOLVE_SHAPE_RECTANGLE, feather, outside);
    g_autofree gchar *line = g_strdup_printf (
        "cudaconvolve %s apply-to=%s regions=\"%s\" region-feather=%d region-expand=%s region-shape=%s", effect,
        outside ? "outside-regions" : "regions", shapes.text->str, feather,
        g_ascii_dtostr (digits, sizeof digits, expand), ellipse ? "ellipse" : "rectangle");
    GstHarness *harness = harness_new_for (line, &info);

    frame_read (&info, in, expected);
    expect_area (&info, expected, whole, &area);
    out = push_frame (harness, in, check_random_one_in (&random, 2));
    compare_components (&info, expected, out, line);
    if (!outside)
      compare_rows_without_boxes (&info, in, out, shapes.boxes, shapes.count, feather);
    frame_clear (expected);
    gst_harness_teardown (harness);
    g_string_free (shapes.text, TRUE);
  }
}
GST_END_TEST;

/* --- what is left in sight --- */

/* Whether a sample touches one of the shapes: any of the luma pixels that it stands for, those of both fields in fields. */
static gboolean
touches (const GstVideoInfo *info, const ConvolveArea *area, guint component, gint x, gint y)
{
  gint across = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, component);
  gint down = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, component), rows = down;

  if (GST_VIDEO_INFO_IS_INTERLACED (info) && down == 2) {
    rows = 4;
    y /= 2;
  }
  for (gint v = y * rows; v < (y + 1) * rows; v++)
    for (gint u = x * across; u < (x + 1) * across; u++)
      if (convolve_area_weight (area, u, v) > 0)
        return TRUE;
  return FALSE;
}

/*
 * Two frames that differ everywhere: each effect that hides gives one result inside the shapes where the frames differ
 * outside of them alone, and leaves every byte outside as it was.
 */
GST_START_TEST (nothing_leaks)
{
  static const gchar *const formats[] = { "NV12", "I420", "RGB", "YUY2", "P010_10LE", "Y42B", "GRAY8" };
  static const gchar *const effects[] = { "region-effect=fill", "region-effect=pixelate region-blocks=2",
    "region-effect=mask mask=gaussian region-strength=0.2", "" };
  long cases = check_cases (112, 560);

  for (long i = 0; i < cases; i++) {
    const gchar *format = formats[i % G_N_ELEMENTS (formats)], *effect = effects[i / 7 % G_N_ELEMENTS (effects)];
    GstVideoInfo info = info_of (format, 62, 44);
    CheckRandom random;
    Component before[4], after[4], plain[4];
    Shapes shapes;

    if (i / 28 % 2)
      info.interlace_mode = GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
    if (i / 56 % 2)
      info.views = 2, GST_VIDEO_INFO_MULTIVIEW_MODE (&info) = GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE;
    check_random_init (&random, seed, i);
    make_shapes (&shapes, &random, &info, 0);
    ConvolveArea area = area_of_shapes (&shapes, CONVOLVE_SHAPE_RECTANGLE, 0, FALSE);
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve apply-to=regions %s regions=\"%s\"", effect, shapes.text->str);
    g_autofree gchar *filled =
        g_strdup_printf ("cudaconvolve apply-to=regions region-effect=fill regions=\"%s\"", shapes.text->str);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i), out = NULL, plain_out = NULL;
    GstHarness *harness = harness_new_for (line, &info), *fill = harness_new_for (filled, &info);

    out = push_frame (harness, in, FALSE);
    plain_out = push_frame (fill, in, FALSE);
    frame_read (&info, in, before);
    frame_read (&info, out, after);
    frame_read (&info, plain_out, plain);
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++)
      for (gint at = 0; at < before[c].width * before[c].height; at++) {
        gint x = at % before[c].width, y = at / before[c].width;
        gboolean inside = touches (&info, &area, c, x, y);
        guint16 black = GST_VIDEO_INFO_IS_RGB (&info) || GST_VIDEO_INFO_IS_GRAY (&info) ? 0
            : c == 0 ? 16 << (GST_VIDEO_INFO_COMP_DEPTH (&info, 0) - 8)
                     : 128 << (GST_VIDEO_INFO_COMP_DEPTH (&info, 0) - 8);

        fail_unless (inside || after[c].samples[at] == before[c].samples[at], "%s, %s: component %u at %d,%d changed",
            line, format, c, x, y);
        fail_unless (plain[c].samples[at] == (inside ? black : before[c].samples[at]),
            "%s, %s: component %u at %d,%d is %d", filled, format, c, x, y, plain[c].samples[at]);
      }
    frame_clear (before);
    frame_clear (after);
    frame_clear (plain);
    gst_harness_teardown (harness);
    gst_harness_teardown (fill);
    g_string_free (shapes.text, TRUE);
  }
}
GST_END_TEST;

/* --- texts --- */

/* Polygons that are boxes, that cross themselves, that lie on one line or far away, in pixels and in per cent. */
GST_START_TEST (texts_of_polygons)
{
  static const struct
  {
    const gchar *text;
    gint x, y, width, height;
  } rows[] = { { "polygon:10,12 30,12 30,34 10,34", 10, 12, 20, 22 },
    { "polygon: 10,12,30,12,30,34,10,34", 10, 12, 20, 22 },
    { "polygon:10%,25% 60%,25% 60%,50% 10%,50%", 10, 20, 50, 20 },
    { "polygon:10.5,3.25 12.5,3.25 10.5,5.25", 10, 3, 3, 3 }, { "polygon:-10,-10 10,-10 10,10 -10,10", 0, 0, 10, 10 },
    { "polygon:5,5 9,5 20,5", 5, 5, 15, 1 }, { "polygon:7,7 7,7 7,7;40,40,2,2", 7, 7, 35, 35 },
    { "polygon:-1e6,10 1e6,10 1e6,20 -1e6,20", 0, 10, 100, 10 },
    { "polygon:50,40 60,40 60,50 50,50 50,40 60,40 60,50 50,50", 50, 40, 10, 10 },
    { "polygon:0,0 0,100% 100%,100% 100%,0", 0, 0, 100, 80 }, { "1,1,2,2;polygon:90,70 99,70 99,79", 1, 1, 98, 78 } };
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

/* All of a star is covered, its middle too, which the outline winds around twice. */
GST_START_TEST (star)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "regions=\"polygon:50,5 70,70 15,28 85,28 30,70\"", &info);
  g_autoptr (GstBuffer) in = grey_frame (&info, 0), out = push_frame (harness, in, FALSE);
  Component got[4];

  frame_read (&info, out, got);
  fail_unless_equals_int (got[0].samples[40 * 100 + 50], 0);
  fail_unless_equals_int (got[0].samples[60 * 100 + 50], 128);
  fail_unless_equals_int (got[0].samples[8 * 100 + 50], 0);
  frame_clear (got);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A polygon whose rectangle touches the frame, and that itself does not, comes to nothing, and the user is told. */
GST_START_TEST (beside_the_frame)
{
  Run run = run_start (FILL "regions=\"10,10,5,5;polygon:-100,40 40,-100 -100,-100\"", "GRAY8", 100, 80);
  GstBuffer *buffer = grey_frame (&run.info, 0);

  push_ok (run.harness, buffer);
  gst_buffer_unref (gst_harness_pull (run.harness));
  run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR,
      GST_LIBRARY_ERROR_SETTINGS, "regions: box 2 lies outside the frame of 100x80", NULL);
  run_stop (&run);
}
GST_END_TEST;

/*
 * Many boxes that are one shape together, as the parts of a segmentation mask are: outside of them no sample keeps what it
 * shows, and inside a sample of chroma stays whose luma pixels are in different boxes.
 */
GST_START_TEST (outside_of_many)
{
  static const gchar *const formats[] = { "NV12", "I420", "YUV9", "YUY2", "P010_10LE", "RGB" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_of (formats[i], 61, 45);
    g_autoptr (GString) text = g_string_new (NULL);
    guint8 inside[45][61] = { { 0 } };
    Component expected[4], filled[4];
    CheckRandom random;

    check_random_init (&random, seed, i);
    for (gint y = 5; y < 40; y++) {
      gint first = check_random_range (&random, 3, 20), end = check_random_range (&random, 25, 58);

      g_string_append_printf (text, "%d,%d,%d,1;", first, y, end - first);
      memset (&inside[y][first], 1, end - first);
    }
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i), out = NULL;
    g_autoptr (GstBuffer) whole =
        convolve_whole ("apply-to=regions region-effect=fill regions=\"0,0,100%,100%\"", &info, in);
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve apply-to=outside-regions region-effect=fill regions=\"%s\"", text->str);
    GstHarness *harness = harness_new_for (line, &info);

    frame_read (&info, in, expected);
    frame_read (&info, whole, filled);
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++)
      for (gint at = 0; at < expected[c].width * expected[c].height; at++) {
        gint across = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, c);
        gint down = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info.finfo, c);
        gint x = at % expected[c].width * across, y = at / expected[c].width * down;
        gboolean stays = TRUE;

        for (gint v = y; v < y + down; v++)
          for (gint u = x; u < x + across; u++)
            stays &= v < 45 && u < 61 && inside[v][u];
        if (!stays)
          expected[c].samples[at] = filled[c].samples[at];
      }
    out = push_frame (harness, in, FALSE);
    compare_components (&info, expected, out, line);
    frame_clear (expected);
    frame_clear (filled);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* --- mattes --- */

/* A picture of grey values in a file, and what a frame is to make of the picture. */
typedef struct
{
  gchar *location;
  guint8 *plane; /* of the frame */
  ConvolveMatte matte;
  ConvolveExtras extras;
} Mask;

/* Writes a PGM file of 8 or 16 bits; a pixel of the frame takes the largest value that it touches. */
static void
make_mask (Mask *mask, CheckRandom *random, const GstVideoInfo *info)
{
  gint width = check_random_range (random, 1, 60), height = check_random_range (random, 1, 40);
  gint across = GST_VIDEO_INFO_WIDTH (info), down = GST_VIDEO_INFO_HEIGHT (info);
  gboolean wide = check_random_one_in (random, 3);
  g_autofree guint8 *values = g_malloc (width * height);
  g_autoptr (GString) file = g_string_new (NULL);
  gint fd = g_file_open_tmp ("check-regions-XXXXXX.pgm", &mask->location, NULL);

  g_string_printf (file, "P5\n# a comment\n%d %d\n%d\n", width, height, wide ? 65535 : 255);
  for (gint i = 0; i < width * height; i++) {
    values[i] = check_random_one_in (random, 2) ? 0 : check_random_range (random, 0, 255);
    for (gint k = 0; k < (wide ? 2 : 1); k++) /* 257 v of 65535 is v of 255 */
      g_string_append_c (file, values[i]);
  }
  values[0] = 255;
  file->str[file->len - width * height * (wide ? 2 : 1)] = (gchar) 255;
  if (wide)
    file->str[file->len - width * height * 2 + 1] = (gchar) 255;
  fail_unless (fd >= 0 && write (fd, file->str, file->len) == (gssize) file->len);
  close (fd);
  mask->plane = g_malloc0 (across * down);
  for (gint y = 0; y < down; y++)
    for (gint x = 0; x < across; x++)
      for (gint v = 0; v < height; v++)
        for (gint u = 0; u < width; u++)
          if ((u + 1) * across > x * width && u * across < (x + 1) * width && (v + 1) * down > y * height
              && v * down < (y + 1) * height)
            mask->plane[y * across + x] = MAX (mask->plane[y * across + x], values[v * width + u]);
  mask->matte = (ConvolveMatte){ .samples = mask->plane,
    .stride = across,
    .width = across,
    .height = down,
    .pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 } };
  mask->extras = (ConvolveExtras){ .mattes = &mask->matte, .n_mattes = 1 };
}

static void
clear_mask (Mask *mask)
{
  g_unlink (mask->location);
  g_free (mask->location);
  g_free (mask->plane);
}

/* Every format; the mask or a colour, inside and outside, alone and over a box, whose effect is drawn before. */
GST_START_TEST (masks_in_every_format)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  const GValue *formats =
      gst_structure_get_value (gst_caps_get_structure (template, gst_caps_get_size (template) - 1), "format");

  for (guint i = 0; i < gst_value_list_get_size (formats); i++) {
    const gchar *format = g_value_get_string (gst_value_list_get_value (formats, i));
    GstVideoInfo info = info_of (format, 34 - i % 2, 27 - i / 2 % 2);
    ConvolveRect box = { 3, 4, 20, 9 };
    CheckRandom random;
    Component expected[4];
    Mask mask;

    if (!frame_reads_well (&info) || frame_has_few_bits (&info))
      continue;
    check_random_init (&random, seed, i);
    gboolean outside = check_random_one_in (&random, 3), has_box = check_random_one_in (&random, 2);
    const gchar *effect =
        check_random_one_in (&random, 2) ? "region-effect=fill region-color=0xff804020" : "region-effect=mask " MASK;
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i), out = NULL;
    g_autofree gchar *of_whole = g_strdup_printf ("%s apply-to=regions regions=\"0,0,100%%,100%%\"", effect);
    g_autoptr (GstBuffer) whole = convolve_whole (of_whole, &info, in);
    ConvolveArea boxes = { .boxes = &box, .count = has_box ? 1 : 0, .outside = outside };
    ConvolveArea matte = { .boxes = &box,
      .count = outside && has_box ? 1 : 0,
      .outside = outside,
      .extras = &mask.extras };

    make_mask (&mask, &random, &info);
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s apply-to=%s region-mask-location=%s %s", effect,
        outside ? "outside-regions" : "regions", mask.location, has_box ? "regions=3,4,20,9" : "");
    GstHarness *harness = harness_new_for (line, &info);

    frame_read (&info, in, expected);
    if (!outside)
      expect_area (&info, expected, whole, &boxes);
    expect_area (&info, expected, whole, &matte);
    out = push_frame (harness, in, check_random_one_in (&random, 2));
    compare_components (&info, expected, out, line);
    frame_clear (expected);
    gst_harness_teardown (harness);
    clear_mask (&mask);
  }
}
GST_END_TEST;

/* The frame's own alpha, in every format that has one, in place and not, and where the alpha changes itself. */
GST_START_TEST (alpha)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  const GValue *formats =
      gst_structure_get_value (gst_caps_get_structure (template, gst_caps_get_size (template) - 1), "format");
  guint n = 0;

  for (guint i = 0; i < 8 * gst_value_list_get_size (formats); i++) {
    const gchar *format = g_value_get_string (gst_value_list_get_value (formats, i / 8));
    GstVideoInfo info = info_of (format, 33, 27);
    const gchar *properties = i & 4 ? "region-color=0x40804020 components=y+u+v+r+g+b+a" : "region-color=0xff804020";
    gboolean outside = i & 1, in_place = (i & 2) != 0, has_box = (i & 5) == 4;
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve region-effect=fill apply-to=%s region-sources=text+alpha %s %s",
            outside ? "outside-regions" : "regions", properties, has_box ? "regions=10,8,9,7 region-feather=6" : "");
    ConvolveRect box = { 10, 8, 9, 7 };
    g_autofree gchar *of_whole =
        g_strdup_printf ("region-effect=fill apply-to=regions regions=\"0,0,100%%,100%%\" %s", properties);
    Component expected[4], filled[4];

    if (!GST_VIDEO_INFO_HAS_ALPHA (&info) || frame_has_few_bits (&info))
      continue;
    n++;
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i), out = NULL;
    g_autoptr (GstBuffer) whole = convolve_whole (of_whole, &info, in);
    GstHarness *harness = harness_new_for (line, &info);

    frame_read (&info, in, expected);
    frame_read (&info, whole, filled);
    g_autofree guint16 *weights = g_memdup2 (expected[3].samples, 33 * 27 * sizeof (guint16));
    gint most = (1 << GST_VIDEO_INFO_COMP_DEPTH (&info, 3)) - 1;
    for (guint c = 0; c < (i & 4 ? 4 : 3); c++) {
      ConvolveArea area = area_of (&info, c, &box, 1, CONVOLVE_SHAPE_RECTANGLE, 6, FALSE);

      for (gint at = 0; at < expected[c].width * expected[c].height; at++) {
        gint across = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, c),
             down = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info.finfo, c);
        gint x = at % expected[c].width * across, y = at / expected[c].width * down, found = outside ? most : 0, before,
             weight;

        for (gint v = y; v < MIN (y + down, 27); v++)
          for (gint u = x; u < MIN (x + across, 33); u++)
            found = outside ? MIN (found, weights[v * 33 + u]) : MAX (found, weights[v * 33 + u]);
        weight = (gint) floor (256.0 * found / most + 0.5);
        weight = outside ? 256 - weight : weight;
        before = expected[c].samples[at];
        /* A box that is drawn before, alpha and all, does not change the matte. */
        if (has_box)
          before = (gint) floor (before
              + ((filled[c].samples[at] - before)
                        * convolve_area_weight (&area, at % expected[c].width, at / expected[c].width)
                    + 128)
                  / 256.0);
        expected[c].samples[at] = (gint) floor (before + ((filled[c].samples[at] - before) * weight + 128) / 256.0);
      }
    }
    out = push_frame (harness, in, in_place);
    compare_components (&info, expected, out, line);
    frame_clear (expected);
    frame_clear (filled);
    gst_harness_teardown (harness);
  }
  fail_unless (n >= 8 * 10, "%u", n / 8);
}
GST_END_TEST;

/* A format without alpha counts as opaque, and the user is told; a black picture covers nothing, and the user is told. */
GST_START_TEST (mattes_that_are_none)
{
  const GstMessageType kinds = GST_MESSAGE_ERROR | GST_MESSAGE_WARNING;
  g_autofree gchar *black = NULL, *line = NULL;
  gint fd = g_file_open_tmp ("check-regions-XXXXXX.pgm", &black, NULL);

  fail_unless (fd >= 0 && write (fd, "P5 2 1 255\n\0\0", 13) == 13);
  close (fd);
  line = g_strdup_printf (FILL "region-mask-location=%s", black);
  for (guint i = 0; i < 3; i++) {
    Run run = run_start (i == 0 ? FILL "region-sources=alpha"
            : i == 1            ? FILL "region-sources=alpha apply-to=outside-regions"
                                : line,
        "GRAY8", 100, 80);

    expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 0, 0, i < 2 ? 100 : 0, i < 2 ? 80 : 0, "");
    run_expect (&run, kinds, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        i < 2 ? "region-sources: the format GRAY8 has no alpha, so the whole frame is changed"
              : "is black, and covers nothing",
        NULL);
    run_stop (&run);
  }
  g_unlink (black);
}
GST_END_TEST;

TCase *
region_shapes (void)
{
  TCase *tc = tcase_create ("shapes");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, polygons_in_every_format);
  tcase_add_test (tc, nothing_leaks);
  tcase_add_test (tc, texts_of_polygons);
  tcase_add_test (tc, star);
  tcase_add_test (tc, beside_the_frame);
  tcase_add_test (tc, outside_of_many);
  tcase_add_test (tc, masks_in_every_format);
  tcase_add_test (tc, alpha);
  tcase_add_test (tc, mattes_that_are_none);
  return tc;
}
