/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture of region-picture: what the effect fill shows in the place of a colour. */
#include "element/regions/check_regions.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "support/cases.h"

#define MOST_SIDE 24 /* of a picture */
#define N_COLORS 4

/* One pixel of 32, 192, 96 and alpha 128. */
static const guint8 half_png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
  0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4, 0x89,
  0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x50, 0x38, 0x90, 0xd0, 0x00, 0x00, 0x04, 0x05,
  0x01, 0xc1, 0x09, 0xd2, 0x09, 0x4a, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };

/* A clear pixel, and one of 255, 10, 20. */
static const guint8 clear_png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
  0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0xf4, 0x22, 0x7f, 0x8a,
  0x00, 0x00, 0x00, 0x11, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0xff, 0xff, 0x3f, 0xc3, 0x7f, 0x2e, 0x91,
  0xff, 0x00, 0x1a, 0x35, 0x05, 0x1a, 0x4a, 0x60, 0x6d, 0xa9, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
  0x42, 0x60, 0x82 };

/* Gives the name of a new file with these bytes. */
static gchar *
write_file (gconstpointer bytes, gsize size)
{
  gchar *location = NULL;
  gint fd = g_file_open_tmp ("check-regions-XXXXXX", &location, NULL);

  fail_unless (fd >= 0 && write (fd, bytes, size) == (gssize) size);
  close (fd);
  return location;
}

static void
forget_file (gchar *location)
{
  g_unlink (location);
  g_free (location);
}

/* A PPM file of one colour 0xRRGGBB. */
static gchar *
write_color (guint color, gint width, gint height)
{
  g_autoptr (GString) ppm = g_string_new (NULL);

  g_string_printf (ppm, "P6 %d %d 255\n", width, height);
  for (gint i = 0; i < width * height; i++)
    for (gint shift = 16; shift >= 0; shift -= 8)
      g_string_append_c (ppm, (gchar) (color >> shift & 255));
  return write_file (ppm->str, ppm->len);
}

/* Whether this build reads PNG files. */
static gboolean
reads_png (void)
{
  gchar *name = write_file (half_png, sizeof half_png);
  g_autofree gchar *line = g_strdup_printf (FILL "regions=1,1,4,4 region-picture=%s", name);
  Run run = run_start (line, "GRAY8", 16, 16);
  gboolean reads = run.harness != NULL;

  run_stop (&run);
  forget_file (name);
  return reads;
}

static const GValue *
all_formats (GstCaps **template)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");

  *template = gst_pad_get_pad_template_caps (pad);
  return gst_structure_get_value (gst_caps_get_structure (*template, gst_caps_get_size (*template) - 1), "format");
}

/* The result of an element for a frame. */
static GstBuffer *
result_of (const gchar *line, const GstVideoInfo *info, GstBuffer *in, gboolean in_place)
{
  GstHarness *harness = harness_new_for (line, info);
  GstBuffer *out = push_frame (harness, in, in_place);

  gst_harness_teardown (harness);
  return out;
}

/* A picture of one colour is a fill of that colour, and its transparent pixels show region-color. In every format. */
GST_START_TEST (picture_of_one_colour)
{
  g_autoptr (GstCaps) template = NULL;
  const GValue *formats = all_formats (&template);
  gboolean png = reads_png ();

  for (guint i = 0; i < 2 * gst_value_list_get_size (formats); i++) {
    const gchar *format = g_value_get_string (gst_value_list_get_value (formats, i / 2));
    GstVideoInfo info = info_of (format, 37, 30);
    gboolean half = i % 2 && png;
    /* Half of 0x20c060 over 0x804020, and of alpha 255 over 0x40. */
    guint filled = half ? 0xa0508040 : 0xff20c060;
    gchar *name = half ? write_file (half_png, sizeof half_png) : write_color (filled & 0xffffff, 1 + i % 3, 2);
    const gchar *boxes = "regions=\"14,5,20,9;-4,20,9,30\" region-feather=3 components=y+u+v+r+g+b+a";
    g_autofree gchar *expected_line = g_strdup_printf (FILL "%s region-color=%u", boxes, filled);
    g_autofree gchar *line = g_strdup_printf (FILL "%s region-color=0x40804020 region-picture=%s", boxes, name);

    if (g_str_equal (format, "VYUY"))
      info = info_of (format, 36, 30);
    if (i % 3 == 0 && !frame_has_cells (&info))
      gst_video_info_set_interlaced_format (&info, GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_INTERLACE_MODE_INTERLEAVED,
          GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info));
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i);
    g_autoptr (GstBuffer) wanted = result_of (expected_line, &info, in, FALSE);
    g_autoptr (GstBuffer) out = result_of (line, &info, in, i % 4 < 2);
    Component expected[4];

    frame_read (&info, wanted, expected);
    compare_components (&info, expected, out, line);
    frame_clear (expected);
    forget_file (name);
  }
}
GST_END_TEST;

/* What is in the box does not depend on the frame, and what is outside is the frame. */
GST_START_TEST (nothing_shows_through_pictures)
{
  g_autoptr (GstCaps) template = NULL;
  const GValue *formats = all_formats (&template);
  gchar *name = reads_png () ? write_file (clear_png, sizeof clear_png) : write_color (0x102030, 3, 1);

  for (guint i = 0; i < gst_value_list_get_size (formats); i++) {
    const gchar *format = g_value_get_string (gst_value_list_get_value (formats, i));
    GstVideoInfo info = info_of (format, 40, 31);
    ConvolveRect box = { (gint) (i % 50) - 10, 5, 17, 14 };
    g_autofree gchar *line =
        g_strdup_printf (FILL "region-picture=%s regions=%d,%d,%d,%d", name, box.x, box.y, box.width, box.height);
    GstBuffer *in[2], *out[2];
    Component before[2][4], after[2][4];

    if (i % 3 == 0 && !frame_has_cells (&info))
      gst_video_info_set_interlaced_format (&info, GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_INTERLACE_MODE_INTERLEAVED,
          40, 31);
    for (guint k = 0; k < 2; k++) {
      in[k] = frame_new (&info, FRAME_PLAIN, seed + 2 * i + k);
      out[k] = result_of (line, &info, in[k], FALSE);
      frame_read (&info, in[k], before[k]);
      frame_read (&info, out[k], after[k]);
    }
    for (guint c = 0; c < MIN (3, GST_VIDEO_INFO_N_COMPONENTS (&info)); c++) {
      ConvolveArea area = area_of (&info, c, &box, 1, CONVOLVE_SHAPE_RECTANGLE, 0, FALSE);

      for (gint n = 0; n < after[0][c].width * after[0][c].height; n++) {
        gboolean inside = convolve_area_weight (&area, n % after[0][c].width, n / after[0][c].width) > 0;

        if (inside)
          fail_unless (after[0][c].samples[n] == after[1][c].samples[n], "%s: component %u at %d; seed %u", format, c,
              n, seed);
        else if (i % 3 != 0) /* both fields have the weights of a row of chroma */
          fail_unless (after[0][c].samples[n] == before[0][c].samples[n], "%s: component %u at %d; seed %u", format, c,
              n, seed);
      }
    }
    for (guint k = 0; k < 2; k++) {
      frame_clear (before[k]);
      frame_clear (after[k]);
      gst_buffer_unref (in[k]);
      gst_buffer_unref (out[k]);
    }
  }
  forget_file (name);
}
GST_END_TEST;

/* A picture of random pixels of a few colours. */
typedef struct
{
  gint width, height;
  guint8 color[MOST_SIDE * MOST_SIDE]; /* of N_COLORS */
} Picture;

static gchar *
make_picture (Picture *picture, CheckRandom *random, const guint colors[N_COLORS])
{
  g_autoptr (GString) ppm = g_string_new (NULL);

  picture->width = check_random_range (random, 1, MOST_SIDE);
  picture->height = check_random_range (random, 1, MOST_SIDE);
  g_string_printf (ppm, "P6 %d %d 255\n", picture->width, picture->height);
  for (gint i = 0; i < picture->width * picture->height; i++) {
    picture->color[i] = check_random_range (random, 0, N_COLORS - 1);
    for (gint shift = 16; shift >= 0; shift -= 8)
      g_string_append_c (ppm, (gchar) (colors[picture->color[i]] >> shift & 255));
  }
  return write_file (ppm->str, ppm->len);
}

/* A pixel of the picture halved `level` times, by means of 2x2; at an odd side the last pixel counts twice. */
static gdouble
pixel_of (const Picture *picture, const gint values[N_COLORS], guint level, gint x, gint y)
{
  gint width = picture->width, height = picture->height;
  gdouble sum = 0;

  for (guint i = 0; i < level; i++) {
    width = (width + 1) / 2;
    height = (height + 1) / 2;
  }
  x = CLAMP (x, 0, width - 1);
  y = CLAMP (y, 0, height - 1);
  if (level == 0)
    return values[picture->color[y * width + x]];
  for (gint k = 0; k < 4; k++)
    sum += pixel_of (picture, values, level - 1, 2 * x + k % 2, 2 * y + k / 2);
  return floor (sum / 4 + 0.5);
}

/*
 * The value at a place in luma pixels: the picture is as small as it can be where it covers the box, and the middles of both
 * lie on each other.
 */
static gdouble
value_in_box (const Picture *picture, const gint values[N_COLORS], ConvolveRect box, gdouble x, gdouble y, gint step)
{
  gdouble scale = fmax ((gdouble) box.width / picture->width, (gdouble) box.height / picture->height), u, v, sum = 0;
  guint level = 0;

  while (floor (65536 / scale) * step / (65536 << level) >= 2
      && (picture->width - 1) >> level | (picture->height - 1) >> level)
    level++;
  u = ((x - box.x - box.width / 2.0) / scale + picture->width / 2.0) / (1 << level) - 0.5;
  v = ((y - box.y - box.height / 2.0) / scale + picture->height / 2.0) / (1 << level) - 0.5;
  for (gint k = 0; k < 4; k++) {
    gint i = floor (u) + k % 2, j = floor (v) + k / 2;

    sum += (1 - fabs (u - i)) * (1 - fabs (v - j)) * pixel_of (picture, values, level, i, j);
  }
  return sum;
}

/* The place of the picture in boxes larger and smaller, inside the frame and over its edges. */
GST_START_TEST (pictures_in_boxes)
{
  static const gchar *const formats[] = { "GRAY8", "NV12", "I420", "RGBA", "YUY2", "P010_10LE", "Y41B", "GBR_10LE" };
  static const guint colors[N_COLORS] = { 0xff000000, 0xffffffff, 0xff20c060, 0xffe01020 };
  long cases = check_cases (48, 400);

  for (long i = 0; i < cases; i++) {
    GstVideoInfo info = info_of (formats[i % G_N_ELEMENTS (formats)], 96, 70);
    gint values[4][N_COLORS], tolerance = 3 << (GST_VIDEO_INFO_COMP_DEPTH (&info, 0) - 8);
    CheckRandom random;
    Component expected[4];
    Picture picture;

    check_random_init (&random, seed, i);
    gint small = check_random_one_in (&random, 3);
    ConvolveRect boxes[2];

    for (guint k = 0; k < 2; k++) {
      boxes[k] = (ConvolveRect){ check_random_range (&random, -20, 80), check_random_range (&random, -20, 60),
        check_random_range (&random, 1, small ? 12 : 120), check_random_range (&random, 1, small ? 12 : 120) };
      boxes[k].x = MAX (boxes[k].x, 1 - boxes[k].width);
      boxes[k].y = MAX (boxes[k].y, 1 - boxes[k].height);
    }
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i), out = NULL;
    for (guint k = 0; k < N_COLORS; k++) {
      g_autofree gchar *line =
          g_strdup_printf ("region-effect=fill apply-to=regions regions=0,0,100%%,100%% region-color=%u", colors[k]);
      g_autoptr (GstBuffer) filled = convolve_whole (line, &info, in);

      frame_read (&info, filled, expected);
      for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++)
        values[c][k] = expected[c].samples[0];
      frame_clear (expected);
    }
    gchar *name = make_picture (&picture, &random, colors);
    g_autofree gchar *text = text_of (boxes, 2);
    g_autofree gchar *line = g_strdup_printf (FILL "region-picture=%s regions=\"%s\"", name, text);
    g_autofree gchar *what = g_strdup_printf ("%s, %dx%d pixels", line, picture.width, picture.height);

    frame_read (&info, in, expected);
    for (guint k = 0; k < 2 * MIN (3, GST_VIDEO_INFO_N_COMPONENTS (&info)); k++) {
      const ConvolveRect *box = &boxes[k % 2]; /* the second one lies over the first */
      guint c = k / 2;
      ConvolveArea area = area_of (&info, c, box, 1, CONVOLVE_SHAPE_RECTANGLE, 0, FALSE);

      for (gint n = 0; n < expected[c].width * expected[c].height; n++) {
        gint x = n % expected[c].width, y = n / expected[c].width;

        if (convolve_area_weight (&area, x, y) > 0)
          expected[c].samples[n] = lrint (value_in_box (&picture, values[c], *box, (x + 0.5) * area.x_step,
              (y + 0.5) * area.y_step, MAX (area.x_step, area.y_step)));
      }
    }
    out = result_of (line, &info, in, i % 2);
    compare_components_within (&info, expected, out, tolerance, what);
    frame_clear (expected);
    forget_file (name);
  }
}
GST_END_TEST;

/* The colour below and the picture itself follow the properties while frames flow. */
GST_START_TEST (pictures_follow)
{
  GstVideoInfo info = info_of ("I420", 40, 30);
  gchar *names[] = { write_color (0xff0000, 1, 1), write_color (0x00ff00, 2, 2), NULL,
    reads_png () ? write_file (half_png, sizeof half_png) : write_color (0x111111, 1, 1) };
  GstHarness *harness = harness_new_for (FILL "regions=2,3,20,18", &info);

  for (guint i = 0; i < 8; i++) {
    guint color = i % 2 ? 0xff804020 : 0xff0040f0;
    const gchar *name = names[i / 2];
    g_autofree gchar *line = g_strdup_printf (FILL "regions=2,3,20,18 region-color=%u %s%s", color,
        name ? "region-picture=" : "", name ? name : "");
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i), out = NULL;
    g_autoptr (GstBuffer) wanted = result_of (line, &info, in, FALSE);
    Component expected[4];

    gst_harness_set (harness, "cudaconvolve", "region-color", color, NULL);
    if (i % 2 == 0)
      gst_harness_set (harness, "cudaconvolve", "region-picture", name, NULL);
    out = push_frame (harness, in, FALSE);
    frame_read (&info, wanted, expected);
    compare_components (&info, expected, out, line);
    frame_clear (expected);
  }
  gst_harness_teardown (harness);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i])
      forget_file (names[i]);
}
GST_END_TEST;

/* A picture that cannot be read is an error before PLAYING, and later a warning with which the last picture stays. */
GST_START_TEST (pictures_that_are_none)
{
  const GstMessageType kinds = GST_MESSAGE_ERROR | GST_MESSAGE_WARNING;
  gchar *text = write_file ("P2 1 1 255\n7", 12), *good = write_color (0xffffff, 1, 1);
  g_autofree gchar *bad_line = g_strdup_printf (FILL "regions=1,1,8,8 region-picture=%s", text);
  g_autofree gchar *good_line = g_strdup_printf (FILL "regions=1,1,8,8 region-picture=%s", good);
  Run run = run_start (bad_line, "GRAY8", 40, 30);

  if (run.harness)
    fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
  run_expect (&run, kinds, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "neither a PNG file nor a PGM or PPM file", NULL);
  run_stop (&run);

  run = run_start (good_line, "GRAY8", 40, 30);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 1, 1, 8, 8, "good");
  run_expect_none (&run, kinds);
  g_object_set (run.element, "region-picture", "/nowhere/there is none.png", "region-expand", 1.0, NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 1, 1, 8, 8, "none");
  run_expect (&run, kinds, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "region-picture: /nowhere/there is none.png: No such file", NULL);
  run_stop (&run);
  forget_file (text);
  forget_file (good);
}
GST_END_TEST;

TCase *
region_pictures (void)
{
  TCase *tc = tcase_create ("pictures");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, picture_of_one_colour);
  tcase_add_test (tc, nothing_shows_through_pictures);
  tcase_add_test (tc, pictures_in_boxes);
  tcase_add_test (tc, pictures_follow);
  tcase_add_test (tc, pictures_that_are_none);
  return tc;
}
