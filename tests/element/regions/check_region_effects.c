/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of a region: the mask, strengths, blocks and colour. */
#include "element/regions/check_regions.h"

#include <math.h>

#include "support/cases.h"

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

    if (!frame_reads_well (&info) || frame_has_few_bits (&info))
      continue;
    check_random_init (&random, seed, i);
    layout = check_random_range (&random, FRAME_PLAIN, FRAME_MEMORIES);
    g_autoptr (GstBuffer) in = frame_new (&info, layout, seed + i);
    const gchar *mask = check_random_one_in (&random, 3) ? "mask=kirsch boundary=wrap" : MASK;
    g_autoptr (GstBuffer) whole = convolve_whole (mask, &info, in), out = NULL;
    count = random_boxes (&random, &info, boxes);
    feather = check_random_one_in (&random, 2) ? 0 : check_random_range (&random, 1, 12);
    shape = check_random_range (&random, 0, CONVOLVE_N_SHAPES - 1);
    outside = check_random_one_in (&random, 3);
    g_autofree gchar *text = text_of (boxes, count);
    g_autofree gchar *line = g_strdup_printf (
        "cudaconvolve %s apply-to=%s region-effect=mask regions=\"%s\" region-feather=%d region-shape=%s n-threads=%d",
        mask, outside ? "outside-regions" : "regions", text, feather,
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

/* A box with the effect that the box gets; a larger strength is drawn over a smaller one. */
typedef struct
{
  ConvolveRect box;
  gint strength;
} Expectation;

/* The class of a sigma, counted from the blurb of region-strength: 1 to 256 by the square root of 2, rounded up. */
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

/* The sigma follows from the box; in overlaps the stronger effect wins. Up to 5.7 the picture is not shrunk. */
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
    compare_components_within (&info, expected, out, GST_VIDEO_INFO_COMP_DEPTH (&info, 0) > 8 ? 2 : 1, line);
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
/* Without a blur nothing changes, and -1 is the mask as it is. */
GST_START_TEST (strength_of_zero)
{
  static const gchar *const rows[][2] = {
    { "mask=gaussian region-strength=0 apply-to=regions", NULL },
    { "mask=box sigma=4 region-strength=0 apply-to=outside-regions", NULL },
    { "mask=gaussian region-strength=-1 sigma=2 apply-to=regions", "mask=gaussian sigma=2 apply-to=regions" },
    { "mask=sobel-x region-strength=-1 apply-to=regions", "mask=sobel-x apply-to=regions" },
    { "mask=gaussian mask-width=1 region-strength=0.3 apply-to=regions",
        "mask=gaussian mask-width=5 region-strength=0.3 apply-to=regions" },
  };
  static const gchar *const formats[] = { "I420", "RGBA", "GRAY16_LE", "YUY2" };

  for (guint i = 0; i < G_N_ELEMENTS (rows) * G_N_ELEMENTS (formats) * 2; i++) {
    const gchar *const *row = rows[i / 2 % G_N_ELEMENTS (rows)];
    GstVideoInfo info = info_of (formats[i / 2 / G_N_ELEMENTS (rows)], 90, 70);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PADDED, seed + i);
    GstBuffer *out[2] = { NULL, gst_buffer_ref (in) };
    Component expected[4];

    for (guint k = 0; k < 2 && row[k]; k++) {
      g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s regions=\"3,5,40,30;50,20,30,30\"", row[k]);
      GstHarness *harness = harness_new_for (line, &info);

      gst_buffer_replace (&out[k], NULL);
      out[k] = push_frame (harness, in, i % 2);
      gst_harness_teardown (harness);
    }
    frame_read (&info, out[1], expected);
    compare_components (&info, expected, out[0], row[0]);
    frame_clear (expected);
    gst_buffer_unref (out[0]);
    gst_buffer_unref (out[1]);
  }
}
GST_END_TEST;

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
        pixelate_component (&info, c, &from[c], &expected[c], boxes[k], MAX (4, (sides[k] + blocks - 1) / blocks));
    out = push_frame (harness, in, i % 2);
    compare_components (&info, expected, out, line);
    frame_clear (from);
    frame_clear (expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* --- blocks with noise --- */

#define NOISY "cudaconvolve apply-to=regions region-effect=noise-pixelate "

/* Draws what the library makes of component c, of blocks whose noise is as regions/noise.h says. */
static void
expect_noise (const GstVideoInfo *info, guint c, const Component *from, Component *to, ConvolveRect box, gint block,
    guint64 number, guint32 frame, gdouble epsilon)
{
  ConvolveArea area = area_of (info, c, &box, 1, CONVOLVE_SHAPE_RECTANGLE, 0, FALSE);
  gint depth = GST_VIDEO_INFO_COMP_DEPTH (info, c), count = from->width * from->height;
  guint group = GST_VIDEO_INFO_IS_RGB (info) ? 0 : c, sample = GST_VIDEO_INFO_IS_RGB (info) ? c : 0;
  g_autofree guint16 *in = g_new (guint16, 4 * count), *out = g_new0 (guint16, 4 * count);
  /* Samples of 9 bits or more alone have two bytes; those of 8 bits never reach the upper half. */
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U16,
    .depth = MAX (depth, 9),
    .samples = 4,
    .stride = 8,
    .select = 15 };
  ConvolvePlane plane = { in, out, 8 * from->width, 8 * from->width, from->width, from->height,
    { 0, 0, from->width, from->height } };
  ConvolveBlocks blocks = { .x = box.x,
    .y = box.y,
    .size = block,
    .x_step = area.x_step,
    .y_step = area.y_step,
    .noise = (guint32) floor (256 * ((1 << depth) - 1) / epsilon + 0.5),
    .key = { 7, 0 },
    .draws = { number << 3 | group << 1, (guint64) frame << 32 | number << 3 | group << 1 | 1 } };

  for (gint i = 0; i < 4 * count; i++)
    in[i] = from->samples[i / 4];
  fail_unless_equals_int (convolve_pixelate (&pixel, &blocks, &plane, NULL), CONVOLVE_OK);
  for (gint i = 0; i < count; i++)
    if (convolve_area_weight (&area, i % from->width, i / from->width) > 0)
      to->samples[i] = MIN (out[4 * i + sample], (1 << depth) - 1);
}

GST_START_TEST (noise_of_blocks)
{
  static const gchar *const formats[] = { "GRAY8", "I420", "RGBA", "I420_10LE" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_of (formats[i], 100, 41);
    const ConvolveRect boxes[] = { { 12, 4, 30, 33 }, { 60, 4, 30, 33 } };
    GstHarness *harness =
        harness_new_for (NOISY "regions=\"12,4,30,33;60,4,30,33\" region-epsilon=4 region-seed=7", &info);

    for (guint frame = 1; frame <= 3; frame++) {
      g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i + 10 * frame), out = NULL;
      Component from[4], expected[4];

      frame_read (&info, in, from);
      frame_read (&info, in, expected);
      for (guint c = 0; c < MIN (3, GST_VIDEO_INFO_N_COMPONENTS (&info)); c++)
        for (guint k = 0; k < 2; k++)
          expect_noise (&info, c, &from[c], &expected[c], boxes[k], 10, k, frame, 4);
      out = push_frame (harness, in, frame % 2);
      compare_components (&info, expected, out, formats[i]);
      frame_clear (from);
      frame_clear (expected);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

#define FILM 100                    /* frames */
#define NOISE (255 / 20.0)          /* the scale of the noise, of which a block has two numbers */
#define DEVIATION (G_SQRT2 * NOISE) /* of one number */

/* The squares of what noise shows of itself, and how many of them. */
typedef struct
{
  gdouble average, change; /* of the average over a film, and from frame to frame */
  guint n_averages, n_changes;
} Spread;

/*
 * A grey film of one box, which wobbles by up to `wobble` pixels each way. A restless film has a secret key, and new plans for
 * each frame.
 */
static void
add_film (Spread *spread, guint key, gint wobble, gboolean restless)
{
  GstVideoInfo info = info_of ("GRAY8", 80, 80);
  g_autofree gchar *line =
      g_strdup_printf (NOISY "region-sources=roi region-epsilon=20 region-seed=%u", restless ? 0 : key);
  GstHarness *harness = harness_new_for (line, &info);
  gdouble sums[9] = { 0 }, before[9] = { 0 };
  CheckRandom random;

  check_random_init (&random, seed, key);
  for (guint frame = 0; frame < FILM; frame++) {
    gint x = 10 + check_random_range (&random, -wobble, wobble), y = 10 + check_random_range (&random, -wobble, wobble);
    g_autoptr (GstBuffer) in = add_region (grey_frame (&info, frame * 40 * GST_MSECOND), "face", x, y, 60, 60),
                          out = NULL;
    Component grey[4], got[4];

    frame_read (&info, in, grey);
    if (restless)
      gst_harness_set (harness, "cudaconvolve", "n-threads", 1 + frame % 2, NULL);
    out = push_frame (harness, in, FALSE);
    frame_read (&info, out, got);
    for (gint k = 0; k < 9; k++) {
      gdouble noise = got[0].samples[(y + 20 * (k / 3) + 5) * 80 + x + 20 * (k % 3) + 5] - (gdouble) grey[0].samples[0];

      sums[k] += noise;
      spread->change += frame > 0 ? (noise - before[k]) * (noise - before[k]) : 0;
      before[k] = noise;
    }
    frame_clear (grey);
    frame_clear (got);
  }
  for (gint k = 0; k < 9; k++)
    spread->average += sums[k] / FILM * sums[k] / FILM;
  spread->n_averages += 9;
  spread->n_changes += 9 * (FILM - 1);
  gst_harness_teardown (harness);
}

/* One of the two numbers stays while the box is followed, so that no average takes it away; the other one is new. */
GST_START_TEST (noise_in_films)
{
  for (gint wobble = 0; wobble <= 3; wobble += 3) {
    Spread spread = { 0 };
    gdouble average, change;

    for (guint key = 1; key <= 12; key++)
      add_film (&spread, key, wobble, key % 2);
    average = sqrt (spread.average / spread.n_averages);
    change = sqrt (spread.change / spread.n_changes);
    g_print ("wobble %d: the average of %d frames is %.1f from the mean, and frames differ by %.1f; one number: %.1f\n",
        wobble, FILM, average, change, DEVIATION);
    fail_unless (average > 0.6 * DEVIATION && average < 1.5 * DEVIATION, "the average is %g from the mean", average);
    fail_unless (change > 1.2 * DEVIATION && change < 1.6 * DEVIATION, "frames differ by %g", change);
  }
}
GST_END_TEST;

/* Without a seed nobody can tell the noise; a seed says all of it. */
GST_START_TEST (noise_is_secret)
{
  static const gchar *const seeds[] = { "", "region-seed=0", "region-seed=1", "region-seed=1", "region-seed=2" };
  GstVideoInfo info = info_of ("GRAY8", 60, 60);
  g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed);
  Component out[G_N_ELEMENTS (seeds)][4];

  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++) {
    g_autofree gchar *line = g_strdup_printf (NOISY "regions=0,0,100%%,100%% %s", seeds[i]);
    GstHarness *harness = harness_new_for (line, &info);
    g_autoptr (GstBuffer) done = push_frame (harness, in, FALSE);

    frame_read (&info, done, out[i]);
    gst_harness_teardown (harness);
  }
  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++)
    for (guint k = 0; k < i; k++) {
      gboolean same = memcmp (out[i][0].samples, out[k][0].samples, 3600 * sizeof (*out[i][0].samples)) == 0;

      fail_unless_equals_int (same, i == 3 && k == 2);
    }
  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++)
    frame_clear (out[i]);
}
GST_END_TEST;

/* By default boxes are pixelated by 3 blocks, a strength asks for the blur, and outside of boxes is the mask. */
GST_START_TEST (defaults)
{
  static const gchar *const pairs[][2] = {
    { "apply-to=regions", "apply-to=regions region-effect=pixelate region-blocks=3" },
    { "apply-to=regions mask=box mask-width=3", "apply-to=regions region-effect=pixelate region-blocks=3" },
    { "apply-to=regions region-strength=0.2", "apply-to=regions region-effect=mask region-strength=0.2" },
    { "apply-to=outside-regions", "apply-to=outside-regions region-effect=mask mask=gaussian" },
    { "apply-to=regions region-effect=auto region-fallback=frame",
        "apply-to=regions region-effect=pixelate region-blocks=3 region-fallback=frame" },
  };
  GstVideoInfo info = info_of ("I420", 90, 70);

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i);
    GstBuffer *out[2];
    Component expected[4];

    for (guint k = 0; k < 2; k++) {
      g_autofree gchar *line = g_strdup_printf ("cudaconvolve regions=7,9,50,41 %s", pairs[i][k]);
      GstHarness *harness = harness_new_for (line, &info);

      out[k] = push_frame (harness, in, FALSE);
      gst_harness_teardown (harness);
    }
    frame_read (&info, out[1], expected);
    compare_components (&info, expected, out[0], pairs[i][0]);
    frame_clear (expected);
    for (guint k = 0; k < 2; k++)
      gst_clear_buffer (&out[k]);
  }
}
GST_END_TEST;

/* Whether the first block of the region is one value, as pixelate makes it. */
static gboolean
is_block (const Component *luma)
{
  for (guint y = 6; y < 22; y++)
    for (guint x = 6; x < 22; x++)
      if (luma->samples[y * 60 + x] != luma->samples[6 * 60 + 6])
        return FALSE;
  return TRUE;
}

/* The effect follows apply-to and region-strength while frames flow. */
GST_START_TEST (defaults_follow)
{
  GstVideoInfo info = info_of ("GRAY8", 60, 60);
  GstHarness *harness = harness_new_for ("cudaconvolve apply-to=regions regions=6,6,48,48", &info);
  g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed);
  Component out[4];

  for (guint i = 0; i < 4; i++) {
    g_autoptr (GstBuffer) done = NULL;

    gst_harness_set (harness, "cudaconvolve", "region-strength", i % 2 ? 0.2 : -1.0, NULL);
    done = push_frame (harness, in, FALSE);
    frame_read (&info, done, out);
    fail_unless_equals_int (is_block (&out[0]), i % 2 == 0);
    frame_clear (out);
  }
  gst_harness_teardown (harness);
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

/* --- opacity --- */

/* A share of an effect in 1/256, over what was there before. */
static gint
mix (gint before, gint effect, gint share)
{
  return floor (before + (effect - before) * share / 256.0 + 0.5);
}

/* What every effect shows alone is mixed with the picture; components are those of the frames alone and under the effect. */
GST_START_TEST (opacity)
{
  static const gchar *const formats[] = { "I420", "NV12", "RGBA", "P010_10LE", "YUY2", "GRAY8", "I420_10LE", "BGR" };
  static const gchar *const effects[] = { "region-effect=fill region-color=0xff30d060", "region-effect=pixelate",
    "region-effect=noise-pixelate region-seed=3", "region-effect=mask mask=sobel-x", "region-strength=0.2",
    "region-effect=fill region-shape=ellipse components=y+u+v+r+g+b+a" };
  static const gdouble opacities[] = { 0, 0.001, 0.25, 0.5, 0.777, 0.999, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (effects) * 4; i++) {
    const gchar *effect = effects[i / G_N_ELEMENTS (formats) % G_N_ELEMENTS (effects)];
    gdouble opacity = opacities[i % G_N_ELEMENTS (opacities)];
    gint share = floor (opacity * 256 + 0.5);
    GstVideoInfo info = info_of (formats[i % G_N_ELEMENTS (formats)], 90, 70);
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
    Component before[4], expected[4];
    GstBuffer *out[2];

    if (i % 3 == 0)
      gst_video_info_set_interlaced_format (&info, GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_INTERLACE_MODE_INTERLEAVED,
          90, 70);
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed + i);

    g_ascii_formatd (digits, sizeof digits, "%g", opacity);
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve regions=\"3,5,40,30;50,20,60,33\" apply-to=%s %s",
        i % 5 == 0 ? "outside-regions" : "regions", effect);
    g_autofree gchar *translucent = g_strdup_printf ("%s region-opacity=%s", line, digits);

    for (guint k = 0; k < 2; k++) {
      GstHarness *harness = harness_new_for (k == 0 ? line : translucent, &info);

      out[k] = push_frame (harness, in, i % 2 && share > 0);
      gst_harness_teardown (harness);
    }
    frame_read (&info, in, before);
    frame_read (&info, out[0], expected);
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++)
      for (gint n = 0; n < before[c].width * before[c].height; n++)
        expected[c].samples[n] = mix (before[c].samples[n], expected[c].samples[n], share);
    compare_components (&info, expected, out[1], translucent);
    frame_clear (before);
    frame_clear (expected);
    gst_buffer_unref (out[0]);
    gst_buffer_unref (out[1]);
  }
}
GST_END_TEST;

/* The feather fades from the share that the box has. */
GST_START_TEST (opacity_of_feathers)
{
  static const gchar *const formats[] = { "GRAY8", "I420", "RGBA", "P010_10LE" };
  const ConvolveRect box = { 20, 15, 30, 24 };

  for (guint i = 0; i < 4 * G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_of (formats[i % G_N_ELEMENTS (formats)], 90, 70);
    gint share = 1 + 255 * i / (4 * G_N_ELEMENTS (formats));
    ConvolveShape shape = i / 4 % 2 ? CONVOLVE_SHAPE_ELLIPSE : CONVOLVE_SHAPE_RECTANGLE;
    g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PADDED, seed + i), out = NULL;
    g_autoptr (GstBuffer) whole =
        convolve_whole ("apply-to=regions regions=0,0,100%,100% region-effect=fill", &info, in);
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
    Component expected[4], effect[4];

    g_ascii_dtostr (digits, sizeof digits, share / 256.0);
    g_autofree gchar *line =
        g_strdup_printf (FILL "regions=20,15,30,24 region-feather=9 region-shape=%s region-opacity=%s",
            shape == CONVOLVE_SHAPE_ELLIPSE ? "ellipse" : "rectangle", digits);
    GstHarness *harness = harness_new_for (line, &info);

    out = push_frame (harness, in, FALSE);
    frame_read (&info, in, expected);
    frame_read (&info, whole, effect);
    for (guint c = 0; c < MIN (3, GST_VIDEO_INFO_N_COMPONENTS (&info)); c++) {
      ConvolveArea area = area_of (&info, c, &box, 1, shape, 9, FALSE);

      for (gint n = 0; n < expected[c].width * expected[c].height; n++) {
        gint weight = convolve_area_weight (&area, n % expected[c].width, n / expected[c].width);

        expected[c].samples[n] =
            mix (expected[c].samples[n], effect[c].samples[n], (gint) floor (weight * share / 256.0 + 0.5));
      }
    }
    compare_components (&info, expected, out, line);
    frame_clear (expected);
    frame_clear (effect);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

TCase *
region_effects (void)
{
  TCase *tc = tcase_create ("effects");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, mask_in_every_format);
  tcase_add_test (tc, strength_of_boxes);
  tcase_add_test (tc, strength_of_zero);
  tcase_add_test (tc, large_strengths);
  tcase_add_test (tc, parts_of_large_strengths);
  tcase_add_test (tc, pixelate);
  tcase_add_test (tc, noise_of_blocks);
  tcase_add_test (tc, noise_in_films);
  tcase_add_test (tc, noise_is_secret);
  tcase_add_test (tc, defaults);
  tcase_add_test (tc, defaults_follow);
  tcase_add_test (tc, fill);
  tcase_add_test (tc, opacity);
  tcase_add_test (tc, opacity_of_feathers);
  return tc;
}
