/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes from numbers, turned boxes, and shapes from masks. */
#include <math.h>
#include <string.h>

#include "element/regions/check_detections.h"
#include "regions/detections.h"
#include "regions/shapes.h"
#include "support/random.h"

/* --- numbers --- */

GST_START_TEST (unsigned_numbers)
{
  static const struct
  {
    guint x, y, width, height;
    gdouble expected[4];
  } rows[] = { { 10, 12, 20, 22, { 10, 12, 20, 22 } }, { 4294967291u, 3, 20, 20, { -5, 3, 20, 20 } },
    { 3, 4294967291u, 20, 20, { 3, -5, 20, 20 } }, { 90, 70, 20, 20, { 90, 70, 20, 20 } },
    { 90, 70, 101, 81, { 90, 70, 10, 10 } }, { 10, 10, G_MAXUINT, 20, { 10, 10, 90, 20 } },
    { 10, 10, 20, 4294967291u, { 10, 10, 20, 70 } }, { 4294967276u, 0, 140, 80, { -20, 0, 120, 80 } },
    { 4294967246u, 0, 120, 80, { -50, 0, 120, 80 } }, { 150, 10, G_MAXUINT, 20, { 150, 10, 1, 20 } },
    { 0x80000000u, 0, G_MAXUINT, 80, { -2147483648.0, 0, 2147483748.0, 80 } } };
  GstCudaConvolveBox box;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const gdouble *e = rows[i].expected;

    fail_unless_equals_int (gst_cuda_convolve_box_read_unsigned (rows[i].x, rows[i].y, rows[i].width, rows[i].height,
                                100, 80, &box),
        GST_CUDA_CONVOLVE_BOX_TAKEN);
    expect_rectangle (&box.area, e[0], e[1], e[2], e[3], i);
    expect_rectangle (&box.region, e[0], e[1], e[2], e[3], i);
    fail_if (box.is_part);
  }
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (gst_cuda_convolve_box_read_unsigned (1, 1, i % 2, i / 2, 100, 80, &box),
        GST_CUDA_CONVOLVE_BOX_EMPTY);
}
GST_END_TEST;

GST_START_TEST (turned_numbers)
{
  static const struct
  {
    gdouble x, y, width, height, angle;
    gdouble expected[4];
  } rows[] = { { -5, 12, 20, 22, 0, { -5, 12, 20, 22 } }, { 30, 30, 40, 20, (gfloat) G_PI_2, { 40, 20, 20, 40 } },
    { 30, 30, 40, 20, -3 * (gfloat) G_PI_2, { 40, 20, 20, 40 } }, { 30, 30, 40, 20, G_PI, { 30, 30, 40, 20 } },
    { 0, 0, 90, 10, G_PI_2, { 40, -40, 10, 90 } }, { 10, 10, 2147483647, 5, 0, { 10, 10, 90, 5 } },
    { 10, 10, 2147483647, 5, 1, { 0, 0, 100, 80 } }, { 10, 10, 5, 181, 1, { 0, 0, 100, 80 } },
    { 300, 300, 10, 10, 0, { 300, 300, 10, 10 } } };
  GstCudaConvolveBox box;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const gdouble *e = rows[i].expected;

    fail_unless_equals_int (gst_cuda_convolve_box_read_turned (rows[i].x, rows[i].y, rows[i].width, rows[i].height,
                                rows[i].angle, 100, 80, &box),
        GST_CUDA_CONVOLVE_BOX_TAKEN);
    expect_rectangle (&box.area, e[0], e[1], e[2], e[3], i);
  }
}
GST_END_TEST;

/* Each number that says nothing, alone among good ones. */
GST_START_TEST (refused_numbers)
{
  const gdouble bad[] = { NAN, INFINITY, -INFINITY, -1, -2147483648.0 };
  GstCudaConvolveBox box;

  for (guint place = 0; place < 5; place++)
    for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
      gdouble number[5] = { 10, 10, 20, 20, 0.5 };
      gboolean refused = !isfinite (bad[i]) || place == 2 || place == 3;

      number[place] = bad[i];
      fail_unless_equals_int (gst_cuda_convolve_box_read_turned (number[0], number[1], number[2], number[3], number[4],
                                  100, 80, &box),
          refused ? GST_CUDA_CONVOLVE_BOX_REFUSED : GST_CUDA_CONVOLVE_BOX_TAKEN);
    }
  fail_unless_equals_int (gst_cuda_convolve_box_read_turned (1, 1, 0, 20, 0.5, 100, 80, &box),
      GST_CUDA_CONVOLVE_BOX_EMPTY);
  fail_unless_equals_int (gst_cuda_convolve_box_read_turned (1, 1, 20, 0, 0.5, 100, 80, &box),
      GST_CUDA_CONVOLVE_BOX_EMPTY);
}
GST_END_TEST;

/* A mask may be larger than the frame, which a detector's padding is; only nonsense goes to the edge. */
GST_START_TEST (places_of_masks)
{
  GstCudaConvolveRectangle place = gst_cuda_convolve_box_place_mask (-20, -5, 140, 90, 100, 80);

  expect_rectangle (&place, -20, -5, 140, 90, 0);
  place = gst_cuda_convolve_box_place_mask (10, 20, G_MAXUINT, G_MAXUINT - 4, 100, 80);
  expect_rectangle (&place, 10, 20, 90, 60, 1);
  place = gst_cuda_convolve_box_place_mask (110, 20, G_MAXUINT, 10, 100, 80);
  expect_rectangle (&place, 110, 20, 1, 10, 2);
}
GST_END_TEST;

/* --- turned boxes --- */

#define WIDTH 160
#define HEIGHT 120

/* The patches of the boxes in a frame of one value. */
static void
find_patches (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings, const GArray *boxes)
{
  const GstCudaConvolvePicture picture = { .width = WIDTH, .height = HEIGHT, .y_unit = 1, .block = 1 };

  gst_cuda_convolve_patches_init (patches);
  gst_cuda_convolve_patches_find (patches, settings, boxes, &picture);
}

/* The largest weight of a pixel in all patches, and 0 outside of their rectangles. */
static gint
weight_at (const GstCudaConvolvePatches *patches, gint x, gint y)
{
  gint most = 0;

  for (guint i = 0; i < patches->patches->len; i++) {
    const GstCudaConvolvePatch *patch = &g_array_index (patches->patches, GstCudaConvolvePatch, i);
    ConvolveExtras extras = { .outlines = patch->has_polygons
          ? &g_array_index (patches->outlines, ConvolveOutline, patch->first_box)
          : NULL,
      .corners = (const ConvolvePoint *) patches->corners->data,
      .n_corners = patches->corners->len };
    ConvolveArea area = { .boxes = &g_array_index (patches->boxes, ConvolveRect, patch->first_box),
      .count = patch->n_boxes,
      .shape = patch->shape,
      .feather = patches->feather,
      .x_step = 1,
      .y_step = 1,
      .extras = patch->has_polygons ? &extras : NULL };

    if (x >= patch->rect.x && y >= patch->rect.y && x < patch->rect.x + patch->rect.width
        && y < patch->rect.y + patch->rect.height)
      most = MAX (most, convolve_area_weight (&area, x, y));
  }
  return most;
}

/*
 * How far outside of a turned box, or of the ellipse in it, a point is, about: turned back about the box's middle. The
 * angle turns the x axis towards the y axis, which points down.
 */
static gdouble
distance_to_turned (gdouble x, gdouble y, const gdouble box[5], gdouble grown, gboolean ellipse)
{
  gdouble dx = x - box[0] - box[2] / 2, dy = y - box[1] - box[3] / 2;
  gdouble along = fabs (dx * cos (box[4]) + dy * sin (box[4])), across = fabs (dy * cos (box[4]) - dx * sin (box[4]));
  gdouble a = grown * box[2] / 2, b = grown * box[3] / 2, u = along / (a * a), v = across / (b * b);

  if (!ellipse)
    return along > a && across > b ? hypot (along - a, across - b) : MAX (along - a, across - b);
  return (along * u + across * v - 1) / (2 * hypot (u, v)); /* to first order */
}

/* Every pixel whose middle is in the box has the whole effect, and none whose square the box does not touch has any. */
GST_START_TEST (turned_shapes)
{
  CheckRandom random;

  check_random_init (&random, 20261127, 0);
  for (guint i = 0; i < 120; i++) {
    gboolean ellipse = i % 3 == 2;
    ConvolveRegionSettings settings = { .effect = CONVOLVE_REGION_EFFECT_FILL,
      .opacity = 1,
      .shape = ellipse ? CONVOLVE_SHAPE_ELLIPSE : CONVOLVE_SHAPE_RECTANGLE,
      .expand = i % 2 ? 0 : check_random_range (&random, 1, 10) / 20.0,
      .feather = i % 5 ? 0 : check_random_range (&random, 1, 20) };
    const gdouble box[5] = { check_random_range (&random, -40, 150), check_random_range (&random, -40, 110),
      check_random_range (&random, 3, 90), check_random_range (&random, 3, 90),
      check_random_range (&random, -400, 400) / 100.0 };
    g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
    GstCudaConvolvePatches patches;
    GstCudaConvolveBox read;

    fail_unless_equals_int (gst_cuda_convolve_box_read_turned (box[0], box[1], box[2], box[3], box[4], WIDTH, HEIGHT,
                                &read),
        GST_CUDA_CONVOLVE_BOX_TAKEN);
    g_array_append_val (boxes, read);
    find_patches (&patches, &settings, boxes);
    for (gint at = 0; at < WIDTH * HEIGHT; at++) {
      gint x = at % WIDTH, y = at / WIDTH, weight = weight_at (&patches, x, y);
      gdouble outside = distance_to_turned (x + 0.5, y + 0.5, box, 1 + 2 * settings.expand, ellipse);

      fail_unless (outside > -0.05 || weight == 256, "case %u: %d,%d has %d, and is in the box by %g", i, x, y, weight,
          -outside);
      /* Half a diagonal of a pixel, half a pixel of the ellipse's polygon, and the sixteenths. */
      fail_unless (outside < (ellipse ? 1.6 : 0.8) + 1.5 * settings.feather || weight == 0,
          "case %u: %d,%d has %d, and is %g away", i, x, y, weight, outside);
    }
    gst_cuda_convolve_patches_clear (&patches);
  }
}
GST_END_TEST;

/* A plate of 4:1 at 45 degrees: the rectangle around it has three times its area. */
GST_START_TEST (area_of_a_plate)
{
  ConvolveRegionSettings settings = { .effect = CONVOLVE_REGION_EFFECT_FILL, .opacity = 1 };
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
  GstCudaConvolvePatches patches;
  GstCudaConvolveBox box;
  gint covered = 0;

  gst_cuda_convolve_box_read_turned (20, 40, 112, 28, G_PI_4, WIDTH, HEIGHT, &box);
  g_array_append_val (boxes, box);
  find_patches (&patches, &settings, boxes);
  for (gint at = 0; at < WIDTH * HEIGHT; at++)
    covered += weight_at (&patches, at % WIDTH, at / WIDTH) > 0 ? 1 : 0;
  g_print (
      "a plate of 112x28 at 45 degrees: %.2f times its area is covered, and %.2f times by the rectangle around it\n",
      covered / (112.0 * 28), box.region.width * box.region.height / (112.0 * 28));
  fail_unless (covered >= 112 * 28 && covered < 1.1 * 112 * 28, "%d", covered);
  gst_cuda_convolve_patches_clear (&patches);
}
GST_END_TEST;

/* Of two boxes with one rectangle around them, turned against each other, each keeps its own blocks and place. */
GST_START_TEST (crossed_plates)
{
  static const ConvolveRegionEffect effects[] = { CONVOLVE_REGION_EFFECT_FILL, CONVOLVE_REGION_EFFECT_PIXELATE };

  for (guint i = 0; i < 2; i++) {
    ConvolveRegionSettings settings = { .effect = effects[i], .blocks = 3, .opacity = 1 };
    g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
    GstCudaConvolvePatches patches;

    for (guint k = 0; k < 2; k++) {
      GstCudaConvolveBox box;

      gst_cuda_convolve_box_read_turned (40, 50, 80, 20, k == 0 ? G_PI_4 : -G_PI_4, WIDTH, HEIGHT, &box);
      g_array_append_val (boxes, box);
    }
    find_patches (&patches, &settings, boxes);
    fail_unless (weight_at (&patches, 105, 85) == 256 && weight_at (&patches, 105, 35) == 256
        && weight_at (&patches, 55, 85) == 256 && weight_at (&patches, 55, 35) == 256);
    fail_unless (weight_at (&patches, 80, 35) == 0 && weight_at (&patches, 105, 60) == 0);
    gst_cuda_convolve_patches_clear (&patches);
  }
}
GST_END_TEST;

/*
 * A region of a mask of segmentation keeps its shape: runs of pixels, each grown by region-expand of the region's sides.
 * Around them the effect fades with the distance to the nearest pixel, and region-shape does not count.
 */
GST_START_TEST (shape_of_segments)
{
  CheckRandom random;

  check_random_init (&random, 20261127, 1);
  for (guint i = 0; i < 20; i++) {
    ConvolveRegionSettings settings = { .effect = CONVOLVE_REGION_EFFECT_FILL,
      .opacity = 1,
      .shape = CONVOLVE_SHAPE_ELLIPSE,
      .expand = i % 2 ? 0 : 0.1,
      .feather = i % 3 * 7 };
    g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
    g_autofree guint8 *inside = g_malloc0 (WIDTH * HEIGHT);
    const gint left = 40, top = 30, width = 60, height = 40;
    gint across = ceil (settings.expand * width), down = ceil (settings.expand * height);
    GstCudaConvolvePatches patches;

    for (gint y = top; y < top + height; y++) {
      gint first = check_random_range (&random, left, left + 20),
           end = check_random_range (&random, first + 1, left + width);
      GstCudaConvolveBox part = { .area = { first, y, end - first, 1 },
        .region = { left, top, width, height },
        .is_part = TRUE };

      g_array_append_val (boxes, part);
      for (gint v = y - down; v <= y + down; v++)
        memset (inside + v * WIDTH + first - across, 1, end - first + 2 * across);
    }
    find_patches (&patches, &settings, boxes);
    for (gint at = 0; at < WIDTH * HEIGHT; at += 3) {
      gint x = at % WIDTH, y = at / WIDTH, far = settings.feather + 1, least = far * far;

      for (gint v = MAX (y - far, 0); v < MIN (y + far + 1, HEIGHT); v++)
        for (gint u = MAX (x - far, 0); u < MIN (x + far + 1, WIDTH); u++)
          if (inside[v * WIDTH + u])
            least = MIN (least, (u - x) * (u - x) + (v - y) * (v - y));
      fail_unless_equals_int (weight_at (&patches, x, y), (gint) floor (256 * (far - sqrt (least)) / far));
    }
    gst_cuda_convolve_patches_clear (&patches);
  }
}
GST_END_TEST;

void
add_box_tests (TCase *tc)
{
  tcase_add_test (tc, unsigned_numbers);
  tcase_add_test (tc, turned_numbers);
  tcase_add_test (tc, refused_numbers);
  tcase_add_test (tc, places_of_masks);
  tcase_add_test (tc, turned_shapes);
  tcase_add_test (tc, area_of_a_plate);
  tcase_add_test (tc, crossed_plates);
  tcase_add_test (tc, shape_of_segments);
}
