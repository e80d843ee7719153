/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes from numbers, the time of frames, and which boxes replace each other, without an element. The metadata of
 * GStreamer's analytics library is played here, so that it can say anything, and the library need not be there.
 */
#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "regions/analytics.h"
#include "regions/boxes.h"
#include "regions/detections.h"
#include "regions/lookahead.h"
#include "regions/shapes.h"
#include "support/random.h"
#include "regions/tracks.h"

/* The object that every frame has, or none without a type; and whether there is a bad mask. */
static struct
{
  GstCudaConvolveObject object;
  gboolean has_bad_mask;
} played;

gboolean
gst_cuda_convolve_analytics_read (GstBuffer *buffer, const GstCudaConvolveAnalyticsReader *reader)
{
  if (played.object.type)
    reader->add_object (reader->data, &played.object);
  if (played.has_bad_mask)
    reader->refuse_mask (reader->data, "it is bad");
  return played.object.type || played.has_bad_mask;
}

gboolean
gst_cuda_convolve_analytics_are_readable (void)
{
  return TRUE;
}

static void
expect_rectangle (const GstCudaConvolveRectangle *got, gdouble x, gdouble y, gdouble width, gdouble height, guint row)
{
  fail_unless (got->x == x && got->y == y && got->width == width && got->height == height,
      "row %u: %gx%g at %g,%g, expected %gx%g at %g,%g", row, got->width, got->height, got->x, got->y, width, height, x,
      y);
}

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

/* --- time --- */

typedef struct
{
  GstCudaConvolveFrameTime time;
  GstSegment segment;
  GstVideoInfo info;
} Clock;

static void
clock_init (Clock *clock, gint fps_n, gint fps_d)
{
  *clock = (Clock){ 0 };
  gst_segment_init (&clock->segment, GST_FORMAT_TIME);
  gst_video_info_set_format (&clock->info, GST_VIDEO_FORMAT_GRAY8, 100, 80);
  clock->info.fps_n = fps_n;
  clock->info.fps_d = fps_d;
}

/* Goes on to a frame with that time stamp, in milliseconds unless below 0, and gives its moment. */
static GstCudaConvolveMoment
clock_tick (Clock *clock, gint64 pts, gint64 duration)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = pts < 0 ? GST_CLOCK_TIME_NONE : (guint64) pts * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = duration < 0 ? GST_CLOCK_TIME_NONE : (guint64) duration * GST_MSECOND;
  gst_cuda_convolve_frame_time_advance (&clock->time, &clock->segment, buffer, &clock->info);
  return clock->time.now;
}

static gboolean
clock_holds (const Clock *clock, GstCudaConvolveMoment then, gint64 hold)
{
  return gst_cuda_convolve_frame_time_is_within (&clock->time, &then, hold * GST_MSECOND);
}

GST_START_TEST (time_runs_both_ways)
{
  GstCudaConvolveMoment first, none = { 0 };
  Clock clock;

  clock_init (&clock, 25, 1);
  first = clock_tick (&clock, 1000, -1);
  fail_unless (clock_holds (&clock, first, 0) && !clock_holds (&clock, none, 1 << 30));
  clock_tick (&clock, 1040, -1);
  fail_unless (clock_holds (&clock, first, 40) && !clock_holds (&clock, first, 0));
  clock_tick (&clock, 960, -1);
  fail_unless (clock_holds (&clock, first, 40) && !clock_holds (&clock, first, 39));
  clock_tick (&clock, 600, -1);
  fail_unless (clock_holds (&clock, first, 400) && !clock_holds (&clock, first, 399));
  clock_tick (&clock, 0, -1);
  fail_unless (clock_holds (&clock, first, 1000) && !clock_holds (&clock, first, 999));
  clock_tick (&clock, 3000, -1);
  fail_unless (clock_holds (&clock, first, 2000) && !clock_holds (&clock, first, 1999));
}
GST_END_TEST;

/* One frame is bridged whatever the hold, and a gap of several frames is not. */
GST_START_TEST (one_frame_is_bridged)
{
  static const struct
  {
    gint fps_n, fps_d;
    gint64 times[3], duration, last; /* of the first frames, and of the one that is asked for */
    gint64 hold;
    gboolean held;
  } rows[] = { { 1, 1, { 0, 1000, 2000 }, -1, 3000, 500, TRUE }, { 1, 1, { 0, 1000, 2000 }, -1, 3000, 1, TRUE },
    { 1, 1, { 0, 1000, 2000 }, -1, 3000, 0, FALSE }, { 1, 1, { 0, 1000, 2000 }, -1, 3400, 1, TRUE },
    { 1, 1, { 0, 1000, 2000 }, -1, 3600, 1, FALSE }, { 1, 1, { -1, -1, -1 }, -1, -1, 1, TRUE },
    { 0, 1, { 0, 1000, 2000 }, -1, 3000, 1, TRUE }, { 0, 1, { 0, 1000, 2000 }, -1, 9000, 1, FALSE },
    { 0, 1, { 0, 40, 80 }, 2000, 2080, 1, TRUE }, { 0, 1, { 0, 40, 80 }, 2000, 6080, 1, FALSE },
    { 25, 1, { 0, 1000, 2000 }, -1, 3000, 1, TRUE }, { 25, 1, { 0, 40, 80 }, -1, 120, 1, TRUE },
    { 25, 1, { 0, 40, 80 }, -1, 1080, 1, FALSE }, { 25, 1, { 0, 40, 80 }, -1, 1080, 1000, TRUE },
    { 25, 1, { 2080, 2040, 2000 }, -1, 1960, 1, TRUE }, { 25, 1, { 2080, 2040, 2000 }, -1, 1000, 1, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstCudaConvolveMoment then;
    Clock clock;

    clock_init (&clock, rows[i].fps_n, rows[i].fps_d);
    for (guint k = 0; k < 3; k++)
      then = clock_tick (&clock, rows[i].times[k], rows[i].duration);
    clock_tick (&clock, rows[i].last, rows[i].duration);
    fail_unless (clock_holds (&clock, then, rows[i].hold) == rows[i].held, "row %u", i);
    clock_tick (&clock, rows[i].last < 0 ? -1 : rows[i].last + 3, -1);
    if (rows[i].hold == 1)
      fail_unless (!clock_holds (&clock, then, 1), "row %u: a second frame is bridged", i);
  }
}
GST_END_TEST;

/* Where nothing tells how long a frame lasts, the first one is bridged. */
GST_START_TEST (nothing_known)
{
  GstCudaConvolveMoment then;
  Clock clock;

  clock_init (&clock, 0, 1);
  then = clock_tick (&clock, 0, -1);
  clock_tick (&clock, 5000, -1);
  fail_unless (clock_holds (&clock, then, 1));
}
GST_END_TEST;

GST_START_TEST (segments)
{
  GstCudaConvolveMoment then;
  Clock clock;

  /* Backward: the running time goes on where the time stamps go back, twice as fast. */
  clock_init (&clock, 25, 1);
  clock.segment.rate = -2;
  clock.segment.stop = 10 * GST_SECOND;
  then = clock_tick (&clock, 9000, -1);
  clock_tick (&clock, 8960, -1);
  clock_tick (&clock, 8000, -1);
  fail_unless (clock_holds (&clock, then, 500) && !clock_holds (&clock, then, 499));
  /* The next piece of a playlist begins at 0 again, a second later. */
  clock_init (&clock, 25, 1);
  clock_tick (&clock, 920, -1);
  then = clock_tick (&clock, 960, -1);
  clock.segment.base = GST_SECOND;
  clock_tick (&clock, 0, -1);
  clock_tick (&clock, 40, -1);
  fail_unless (clock_holds (&clock, then, 80) && !clock_holds (&clock, then, 79));
  /* Time stamps before the segment, and behind it. */
  clock_init (&clock, 25, 1);
  clock.segment.start = GST_SECOND;
  clock.segment.stop = 2 * GST_SECOND;
  clock_tick (&clock, 920, -1);
  then = clock_tick (&clock, 960, -1);
  clock_tick (&clock, 1000, -1);
  clock_tick (&clock, 1040, -1);
  fail_unless (clock_holds (&clock, then, 80) && !clock_holds (&clock, then, 79));
  then = clock_tick (&clock, 2100, -1);
  clock_tick (&clock, 2110, -1);
  clock_tick (&clock, 2120, -1);
  fail_unless (clock_holds (&clock, then, 20) && !clock_holds (&clock, then, 19));
}
GST_END_TEST;

/* Frames count where they have no running time: no time stamp, another format, a segment that runs back from nowhere. */
GST_START_TEST (frames_count)
{
  for (guint i = 0; i < 3; i++) {
    GstCudaConvolveMoment then;
    Clock clock;

    clock_init (&clock, 25, 1);
    if (i == 1)
      gst_segment_init (&clock.segment, GST_FORMAT_BYTES);
    if (i == 2)
      clock.segment.rate = -1;
    then = clock_tick (&clock, i == 0 ? -1 : 5000, -1);
    clock_tick (&clock, i == 0 ? -1 : 0, -1);
    clock_tick (&clock, i == 0 ? -1 : 9000, -1);
    fail_unless (clock_holds (&clock, then, 80) && !clock_holds (&clock, then, 79), "case %u", i);
  }
}
GST_END_TEST;

/* A frame takes half of its duration where it is played twice as fast, forward and backward. */
GST_START_TEST (frames_count_with_rate)
{
  for (guint i = 0; i < 2; i++) {
    GstCudaConvolveMoment then;
    Clock clock;

    clock_init (&clock, 25, 1);
    clock.segment.rate = i == 0 ? 2 : -2;
    then = clock_tick (&clock, -1, -1);
    clock_tick (&clock, -1, -1);
    clock_tick (&clock, -1, -1);
    fail_unless (clock_holds (&clock, then, 40) && !clock_holds (&clock, then, 39), "case %u", i);
  }
}
GST_END_TEST;

/* Time stamps that begin late, and that only some frames have. */
GST_START_TEST (some_time_stamps)
{
  GstCudaConvolveMoment then;
  Clock clock;

  clock_init (&clock, 25, 1);
  then = clock_tick (&clock, -1, -1);
  clock_tick (&clock, -1, -1);
  clock_tick (&clock, 3600000, -1);
  fail_unless (clock_holds (&clock, then, 80) && !clock_holds (&clock, then, 79));
  clock_tick (&clock, -1, -1);
  clock_tick (&clock, 3600080, -1);
  fail_unless (clock_holds (&clock, then, 160) && !clock_holds (&clock, then, 159));
}
GST_END_TEST;

/* --- regions that replace each other --- */

#define NO_ID GST_CUDA_CONVOLVE_NO_ID

static GstCudaConvolveSighting
what_is (const gchar *type, guint64 id, guint source)
{
  return (GstCudaConvolveSighting){ .type = type, .id = id, .confidence = NAN, .source = source, .seen = { 0, 1 } };
}

static void
add_box_with_id (GstCudaConvolveSightings *sightings, const gchar *type, guint64 id, guint source, gdouble x, gdouble y,
    gdouble width, gdouble height)
{
  GstCudaConvolveRectangle area = { x, y, width, height };
  GstCudaConvolveBox box = { .area = area, .region = area };
  GstCudaConvolveSighting what = what_is (type, id, source);

  gst_cuda_convolve_sightings_add (sightings, &box, &what);
}

static void
add_box (GstCudaConvolveSightings *sightings, const gchar *type, guint source, gdouble x, gdouble y, gdouble width,
    gdouble height)
{
  add_box_with_id (sightings, type, NO_ID, source, x, y, width, height);
}

static GstCudaConvolveSighting *
sighting (GstCudaConvolveSightings *sightings, guint index)
{
  return &g_array_index (sightings->sightings, GstCudaConvolveSighting, index);
}

/* Whether a box replaces the box 100,100,100,100 of type "face" and source 1. */
static gboolean
replaces (const gchar *type, guint source, gdouble x, gdouble y, gdouble width, gdouble height)
{
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  GstCudaConvolveSightings held, fresh;
  gboolean replaced;

  gst_cuda_convolve_sightings_init (&held);
  gst_cuda_convolve_sightings_init (&fresh);
  add_box (&held, "face", 1, 100, 100, 100, 100);
  add_box (&fresh, type, source, x, y, width, height);
  gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
  replaced = sighting (&held, 0)->is_replaced;
  fail_unless (sighting (&fresh, 0)->partner == (replaced ? 1 : 0));
  gst_cuda_convolve_sightings_clear (&held);
  gst_cuda_convolve_sightings_clear (&fresh);
  gst_cuda_convolve_tracks_free (tracks);
  return replaced;
}

GST_START_TEST (rule)
{
  static const struct
  {
    gdouble x, y, width, height;
    gboolean replaces;
  } rows[] = { { 100, 100, 100, 100, TRUE }, { 150, 100, 100, 100, TRUE }, { 151, 100, 100, 100, FALSE },
    { 50, 100, 100, 100, TRUE }, { 49, 100, 100, 100, FALSE }, { 100, 150, 100, 100, TRUE },
    { 100, 151, 100, 100, FALSE }, { 100, 50, 100, 100, TRUE }, { 100, 49, 100, 100, FALSE },
    { 129, 129, 100, 100, TRUE }, { 130, 130, 100, 100, FALSE }, { 50, 50, 200, 200, TRUE },
    { 50, 50, 201, 200, FALSE }, { 100, 100, 50, 100, TRUE }, { 100, 100, 49, 100, FALSE }, { 120, 120, 60, 60, FALSE },
    { 0, 100, 100, 100, FALSE }, { 300, 300, 100, 100, FALSE }, { 0, 100, 149, 100, FALSE }, { 0, 100, 150, 100, TRUE },
    { 0, 100, 200, 100, TRUE }, { 0, 100, 400, 100, TRUE }, { 0, 100, 401, 100, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    fail_unless (replaces ("face", 1, rows[i].x, rows[i].y, rows[i].width, rows[i].height) == rows[i].replaces,
        "row %u", i);
  fail_unless (replaces ("Face", 1, 100, 100, 100, 100));
  fail_unless (!replaces ("plate", 1, 100, 100, 100, 100) && !replaces (NULL, 1, 100, 100, 100, 100));
  fail_unless (!replaces ("face", 2, 100, 100, 100, 100));
}
GST_END_TEST;

/* Thousands of boxes: those that lie apart are all replaced, and crowds are done in a limited time. */
GST_START_TEST (many)
{
  enum
  {
    MANY = 5000
  };

  for (guint crowd = 0; crowd < 3; crowd++) {
    GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
    GstCudaConvolveSightings held, fresh;
    gint64 start = g_get_monotonic_time ();
    guint replaced = 0, repeated = 0;

    gst_cuda_convolve_sightings_init (&held);
    gst_cuda_convolve_sightings_init (&fresh);
    for (guint i = 0; i < MANY; i++) {
      /* A grid; all over each other; all the same. */
      gdouble x = crowd == 0 ? i % 100 * 16 : crowd == 1 ? i / 1000.0 : 0, y = crowd == 0 ? i / 100 * 16 : 0;

      add_box (&held, "face", 1, x, y, 12, 12);
      add_box (&fresh, "face", 1, x + 3, y, 12, 12);
    }
    gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
    for (guint i = 0; i < MANY; i++) {
      replaced += sighting (&held, i)->is_replaced;
      repeated += sighting (&fresh, i)->is_replaced;
    }
    fail_unless (g_get_monotonic_time () - start < 2 * G_USEC_PER_SEC);
    fail_unless_equals_int (repeated, crowd == 2 ? MANY - 1 : 0);
    fail_unless (crowd != 0 || replaced == MANY, "%u are replaced", replaced);
    gst_cuda_convolve_sightings_clear (&held);
    gst_cuda_convolve_sightings_clear (&fresh);
    gst_cuda_convolve_tracks_free (tracks);
  }
}
GST_END_TEST;

/* Which earlier regions are side by side is found by a search; here by a comparison of all, for random boxes. */
GST_START_TEST (search)
{
  const gchar *wanted = g_getenv ("CUDACONVOLVE_SEED");
  guint32 seed = wanted ? g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();
  CheckRandom random;

  check_random_init (&random, seed, 0);
  for (guint round = 0; round < 200; round++) {
    GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
    GstCudaConvolveSightings held, fresh;

    gst_cuda_convolve_sightings_init (&held);
    gst_cuda_convolve_sightings_init (&fresh);
    for (guint i = 0; i < 20; i++) {
      add_box (&held, "face", 1, check_random_range (&random, -50, 200), check_random_range (&random, -5, 5),
          check_random_range (&random, 1, 60), check_random_range (&random, 8, 12));
      add_box (&fresh, "face", 1, check_random_range (&random, -50, 200), check_random_range (&random, -5, 5),
          check_random_range (&random, 1, 60), check_random_range (&random, 8, 12));
    }
    gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
    for (guint i = 0; i < 20; i++)
      for (guint k = 0; k < 20; k++) {
        const GstCudaConvolveRectangle *a = &sighting (&held, i)->region, *b = &sighting (&fresh, k)->region;
        gdouble width = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
        gdouble height = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
        gdouble common = MAX (width, 0) * MAX (height, 0), size = a->width * a->height;

        if (2 * common >= size && 4 * common >= size + b->width * b->height - common)
          fail_unless (sighting (&held, i)->partner || sighting (&fresh, k)->partner
                  || sighting (&fresh, k)->is_replaced,
              "CUDACONVOLVE_SEED=%u, round %u: %u and %u fit, and both are free", seed, round, i, k);
      }
    gst_cuda_convolve_sightings_clear (&held);
    gst_cuda_convolve_sightings_clear (&fresh);
    gst_cuda_convolve_tracks_free (tracks);
  }
}
GST_END_TEST;

/* Two regions of one frame are never one track, also where both follow regions of one track. */
GST_START_TEST (two_tracks)
{
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  GstCudaConvolveSightings held, fresh;

  gst_cuda_convolve_sightings_init (&held);
  gst_cuda_convolve_sightings_init (&fresh);
  for (guint i = 0; i < 2; i++) {
    add_box (&held, "face", 1, 100 * i, 0, 20, 20);
    sighting (&held, i)->track = 7;
    add_box (&fresh, "face", 1, 100 * i + 2, 0, 20, 20);
  }
  gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
  for (guint i = 0; i < 2; i++)
    fail_unless (sighting (&held, i)->is_replaced && sighting (&fresh, i)->partner == 1 + i);
  fail_unless (sighting (&fresh, 0)->track != sighting (&fresh, 1)->track);
  gst_cuda_convolve_sightings_clear (&held);
  gst_cuda_convolve_sightings_clear (&fresh);
  gst_cuda_convolve_tracks_free (tracks);
}
GST_END_TEST;

/* --- ids of a tracker --- */

/* Which of two earlier regions are replaced, as bits. Rows with a type of NULL are left out. */
typedef struct
{
  const gchar *type;
  guint64 id;
  gdouble x;
} Tracked;

static void
add_tracked (GstCudaConvolveSightings *sightings, const Tracked *regions, guint n)
{
  for (guint i = 0; i < n; i++)
    if (regions[i].type)
      add_box_with_id (sightings, regions[i].type, regions[i].id, 1, regions[i].x, 0, 20, 20);
}

GST_START_TEST (ids)
{
  static const struct
  {
    Tracked held[2], fresh[2];
    guint replaced; /* of held, as bits */
  } rows[] = {
    /* One id, wherever the region lies; another id, and regions of which one has none. */
    { { { "face", 5, 0 } }, { { "face", 5, 500 } }, 1 },
    { { { "face", 0, 0 } }, { { "face", 0, 500 } }, 1 },
    { { { "face", 5, 0 } }, { { "face", 6, 1 } }, 0 },
    { { { "face", 5, 0 } }, { { "face", NO_ID, 1 } }, 1 },
    { { { "face", NO_ID, 0 } }, { { "face", 5, 1 } }, 1 },
    { { { "face", 5, 0 } }, { { "face", NO_ID, 500 } }, 0 },
    { { { "face", NO_ID, 0 } }, { { "face", NO_ID, 500 } }, 0 },
    { { { "face", 5, 0 } }, { { "person", 5, 0 } }, 0 },
    /* The id decides between two, and leaves no doubt. */
    { { { "face", 5, 0 }, { "face", 6, 100 } }, { { "face", 6, 0 } }, 2 },
    { { { "face", 5, 0 }, { "face", 6, 100 } }, { { "face", 6, 0 }, { "face", 5, 100 } }, 3 },
    { { { "face", NO_ID, 0 }, { "face", 5, 2 } }, { { "face", 5, 1 } }, 2 },
    { { { "face", NO_ID, 0 }, { "face", NO_ID, 2 } }, { { "face", 5, 1 } }, 0 },
    /* An id that two regions share says nothing: the overlap decides. */
    { { { "face", 5, 0 }, { "face", 5, 100 } }, { { "face", 5, 500 } }, 0 },
    { { { "face", 5, 0 }, { "face", 5, 100 } }, { { "face", 5, 101 } }, 2 },
    { { { "face", 5, 0 } }, { { "face", 5, 300 }, { "face", 5, 500 } }, 0 },
    { { { "face", 5, 0 } }, { { "face", 5, 300 }, { "face", 5, 1 } }, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
    GstCudaConvolveSightings held, fresh;

    gst_cuda_convolve_sightings_init (&held);
    gst_cuda_convolve_sightings_init (&fresh);
    add_tracked (&held, rows[i].held, 2);
    add_tracked (&fresh, rows[i].fresh, 2);
    for (guint k = 0; k < held.sightings->len; k++)
      sighting (&held, k)->track = 1000 + k;
    gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
    for (guint k = 0; k < held.sightings->len; k++)
      fail_unless_equals_int (sighting (&held, k)->is_replaced, rows[i].replaced >> k & 1);
    gst_cuda_convolve_sightings_clear (&held);
    gst_cuda_convolve_sightings_clear (&fresh);
    gst_cuda_convolve_tracks_free (tracks);
  }
}
GST_END_TEST;

/* How many regions have that id. */
static guint
count_id (GstCudaConvolveSightings *sightings, guint64 id)
{
  guint n = 0;

  for (guint i = 0; i < sightings->sightings->len; i++)
    n += sighting (sightings, i)->id == id;
  return n;
}

/* Random regions: an id that is one region's alone decides, and no region follows one with another id. */
GST_START_TEST (random_ids)
{
  const gchar *wanted = g_getenv ("CUDACONVOLVE_SEED");
  guint32 seed = wanted ? g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();
  CheckRandom random;
  guint decided = 0;

  check_random_init (&random, seed, 0);
  for (guint round = 0; round < 300; round++) {
    GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
    GstCudaConvolveSightings lists[2], *held = &lists[0], *fresh = &lists[1];

    for (guint k = 0; k < 2; k++) {
      gst_cuda_convolve_sightings_init (&lists[k]);
      for (guint i = 0; i < 12; i++)
        add_box_with_id (&lists[k], "face",
            check_random_range (&random, 0, 2) == 0 ? NO_ID : (guint64) check_random_range (&random, 0, 15), 1,
            check_random_range (&random, 0, 60), 0, check_random_range (&random, 5, 20), 10);
    }
    gst_cuda_convolve_tracks_match (tracks, held, fresh);
    for (guint i = 0; i < 12; i++)
      for (guint k = 0; k < 12; k++) {
        const GstCudaConvolveSighting *before = sighting (held, i), *after = sighting (fresh, k);
        gboolean known = before->id != NO_ID && after->id != NO_ID;
        gboolean certain =
            known && before->id == after->id && count_id (held, before->id) == 1 && count_id (fresh, after->id) == 1;

        if (certain)
          fail_unless (before->is_replaced && before->partner == 1 + k && after->partner == 1 + i,
              "CUDACONVOLVE_SEED=%u, round %u: %u and %u have one id, and are not one", seed, round, i, k);
        if (known && before->id != after->id)
          fail_unless (before->partner != 1 + k && after->partner != 1 + i,
              "CUDACONVOLVE_SEED=%u, round %u: %u and %u have two ids, and are one", seed, round, i, k);
        decided += certain;
      }
    gst_cuda_convolve_sightings_clear (held);
    gst_cuda_convolve_sightings_clear (fresh);
    gst_cuda_convolve_tracks_free (tracks);
  }
  fail_unless (decided > 100, "%u", decided);
}
GST_END_TEST;

/* The parts of a region in a mask are one thing, which moves with all of its parts. */
GST_START_TEST (parts)
{
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  GstCudaConvolveSightings held, fresh, copy;
  const GstCudaConvolveSighting person = what_is ("person", NO_ID, 1);

  gst_cuda_convolve_sightings_init (&held);
  gst_cuda_convolve_sightings_init (&fresh);
  gst_cuda_convolve_sightings_init (&copy);
  for (guint i = 0; i < 3; i++) {
    GstCudaConvolveBox box = { .area = { 0, 10 * i, 10, 10 }, .region = { 0, 0, 10, 30 }, .is_part = TRUE };
    GstCudaConvolveBox other = { .area = { 50, 20 * i, 5, 10 }, .region = { 50, 0, 10, 60 }, .is_part = TRUE };

    gst_cuda_convolve_sightings_add (&held, &box, &person);
    gst_cuda_convolve_sightings_add (&fresh, &other, &person);
  }
  for (guint i = 0; i < 2; i++) {
    GstCudaConvolveBox box = { .area = { 2, 10 * i, 10, 10 }, .region = { 2, 0, 10, 30 }, .is_part = TRUE };

    gst_cuda_convolve_sightings_add (&fresh, &box, &person);
  }
  fail_unless_equals_int (held.sightings->len, 1);
  fail_unless_equals_int (fresh.sightings->len, 2);
  gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
  fail_unless (sighting (&held, 0)->is_replaced && sighting (&held, 0)->partner == 2);
  gst_cuda_convolve_sightings_copy (&copy, &fresh, 1);
  gst_cuda_convolve_sightings_copy (&copy, &held, 0);
  fail_unless_equals_int (copy.boxes->len, 5);
  fail_unless_equals_int (sighting (&copy, 1)->first_box, 2);
  expect_rectangle (&g_array_index (copy.boxes, GstCudaConvolveBox, 1).area, 2, 10, 10, 10, 0);
  expect_rectangle (&g_array_index (copy.boxes, GstCudaConvolveBox, 4).area, 0, 20, 10, 10, 0);
  gst_cuda_convolve_sightings_clear (&held);
  gst_cuda_convolve_sightings_clear (&fresh);
  gst_cuda_convolve_sightings_clear (&copy);
  gst_cuda_convolve_tracks_free (tracks);
}
GST_END_TEST;

/* --- look-ahead --- */

/* A region of the first frame, the second region in the last frame, and what both give to the second one of the frames. */
typedef struct
{
  const gchar *type[2];
  guint64 id[2];
  gdouble place[2][4];
  gint64 times[8]; /* of the frames, in milliseconds; -1 ends */
  guint found;
  gdouble expected[4]; /* the last one found */
} Pass;

/* Where the region lies, in three parts of which the last is as high as the others. */
static void
add_parts (GstCudaConvolveSightings *sightings, const gdouble place[4], const GstCudaConvolveSighting *what)
{
  for (guint i = 0; i < 3; i++) {
    GstCudaConvolveBox box = { .area = { place[0] + (i == 1 ? place[2] / 2 : 0), place[1] + (i == 2 ? place[3] / 2 : 0),
                                   place[2] / 2, place[3] / 2 },
      .region = { place[0], place[1], place[2], place[3] },
      .is_part = TRUE };

    gst_cuda_convolve_sightings_add (sightings, &box, what);
  }
}

static void
pass (const Pass *row, guint number, gboolean parts)
{
  GstCudaConvolveLookahead *lookahead = gst_cuda_convolve_lookahead_new ();
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  GstCudaConvolveSightings found;
  GstCudaConvolveArrival frame;
  guint n = 0;
  Clock clock;

  clock_init (&clock, 25, 1);
  gst_cuda_convolve_sightings_init (&found);
  gst_cuda_convolve_arrival_init (&frame);
  while (row->times[n + 1] >= 0)
    n++;
  for (guint i = 0; i <= n; i++) {
    GstCudaConvolveMoment now = clock_tick (&clock, row->times[i], -1);
    GstCudaConvolveArrival *arrival = gst_cuda_convolve_lookahead_add (lookahead, &clock.time, NULL);
    const gdouble *place = row->place[i > 0];
    GstCudaConvolveSighting what = what_is (row->type[i > 0], row->id[i > 0], 1);

    what.seen = now;
    if ((i == 0 || i == n) && parts)
      add_parts (&arrival->fresh, place, &what);
    else if (i == 0 || i == n)
      gst_cuda_convolve_sightings_add (&arrival->fresh,
          &(GstCudaConvolveBox){ .area = { place[0], place[1], place[2], place[3] },
              .region = { place[0], place[1], place[2], place[3] } },
          &what);
    gst_cuda_convolve_lookahead_link (lookahead, tracks, arrival, GST_SECOND);
  }
  fail_unless (!gst_cuda_convolve_lookahead_is_due (lookahead, 60 * GST_SECOND));
  fail_unless (gst_cuda_convolve_lookahead_is_due (lookahead, 0));
  for (guint i = 0; i < 2; i++)
    gst_cuda_convolve_lookahead_take (lookahead, &frame);
  gst_cuda_convolve_lookahead_find (lookahead, &frame, GST_SECOND, &found);
  fail_unless (found.sightings->len == row->found, "row %u: %u found", number, found.sightings->len);
  if (row->found > 0) {
    const GstCudaConvolveSighting *last = sighting (&found, row->found - 1);
    const gdouble *e = row->expected;

    expect_rectangle (&last->region, e[0], e[1], e[2], e[3], number);
    fail_unless_equals_int (last->n_boxes, parts ? 3 : 1);
    for (guint i = 0; i < last->n_boxes; i++) {
      const GstCudaConvolveBox *box = &g_array_index (found.boxes, GstCudaConvolveBox, last->first_box + i);

      expect_rectangle (&box->region, e[0], e[1], e[2], e[3], number);
      if (parts)
        expect_rectangle (&box->area, e[0] + (i == 1 ? e[2] / 2 : 0), e[1] + (i == 2 ? e[3] / 2 : 0), e[2] / 2,
            e[3] / 2, number);
      else
        expect_rectangle (&box->area, e[0], e[1], e[2], e[3], number);
    }
  }
  gst_cuda_convolve_arrival_clear (&frame);
  gst_cuda_convolve_sightings_clear (&found);
  gst_cuda_convolve_tracks_free (tracks);
  gst_cuda_convolve_lookahead_free (lookahead);
}

/* What a region between two others is, from the definition in words; each row also with regions of parts. */
GST_START_TEST (looked_ahead)
{
#define FACES \
  { \
    "face", "face" \
  }
#define UNKNOWN \
  { \
    NO_ID, NO_ID \
  }
#define EVEN \
  { \
    0, 40, 80, 120, 160, -1 \
  }
  static const Pass rows[] = {
    /* On the way, by overlap and by id: linear in time, and in frames where time stands still. */
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 8, 8, 32, 32 } }, EVEN, 1, { 2, 2, 32, 32 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 800, 0, 64, 16 } }, EVEN, 1, { 200, 0, 40, 28 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 0, 10, 20, 160, -1 }, 1, { 5, 0, 32, 32 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 0, 0, 0, 0, 0, -1 }, 1, { 20, 0, 32, 32 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 900, 860, 820, 780, 740, -1 }, 1, { 20, 0, 32, 32 } },
    /* By half of its width and height for each of four frames, and no more; twice the size, and no more. */
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 64, 0, 32, 32 } }, EVEN, 2, { 16, 0, 32, 32 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 64.5, 0, 32, 32 } }, EVEN, 1, { 64.5, 0, 32, 32 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 64, 64, 32, 32 } }, EVEN, 2, { 16, 16, 32, 32 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 0, 65, 32, 32 } }, EVEN, 1, { 0, 65, 32, 32 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 48, 0, 64, 64 } }, EVEN, 2, { 12, 0, 40, 40 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 48, 0, 65, 64 } }, EVEN, 1, { 48, 0, 65, 64 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 16, 0, 16, 16 } }, EVEN, 2, { 4, 0, 28, 28 } },
    /* Another face: another type, another id. */
    { { "face", "plate" }, UNKNOWN, { { 0, 0, 32, 32 }, { 8, 16, 32, 32 } }, EVEN, 1, { 8, 16, 32, 32 } },
    { FACES, { 7, 8 }, { { 0, 0, 32, 32 }, { 8, 16, 32, 32 } }, EVEN, 1, { 8, 16, 32, 32 } },
    { FACES, { 7, NO_ID }, { { 0, 0, 32, 32 }, { 8, 8, 32, 32 } }, EVEN, 1, { 2, 2, 32, 32 } },
    /* Too long ago, and too late. */
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 0, 800, 1100, -1 }, 1, { 80, 0, 32, 32 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 0, 40, 1200, -1 }, 0, { 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint parts = 0; parts < 2; parts++)
      pass (&rows[i], i, parts);
}
GST_END_TEST;

/* --- all together --- */

typedef struct
{
  GstCudaConvolveDetections *detections;
  GstSegment segment;
  GstVideoInfo info;
  guint64 frames;
} Play;

static void
play_init (Play *play, guint64 hold)
{
  ConvolveRegionSettings settings = { .sources = CONVOLVE_REGION_SOURCE_ROI, .hold = hold };

  play->detections = gst_cuda_convolve_detections_new ();
  gst_segment_init (&play->segment, GST_FORMAT_TIME);
  gst_video_info_set_format (&play->info, GST_VIDEO_FORMAT_GRAY8, 100, 80);
  play->info.fps_n = 25;
  play->frames = 0;
  fail_unless (gst_cuda_convolve_detections_set (play->detections, &settings, NULL));
}

/* The next frame comes and leaves. */
static void
play_arrival (Play *play, GstBuffer *buffer)
{
  gst_cuda_convolve_detections_arrive (play->detections, &play->segment, buffer, &play->info);
  gst_cuda_convolve_detections_leave (play->detections);
  gst_cuda_convolve_detections_advance (play->detections, &play->info);
}

/* The boxes of the next frame, twice; n boxes of the frame lie at x, x + step, ... in two rows. */
static const GArray *
play_frame (Play *play, guint n, guint x, guint step)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GArray) once = NULL;
  const GArray *found;
  gboolean lost;

  for (guint i = 0; i < n; i++)
    gst_buffer_add_video_region_of_interest_meta (buffer, "face", x + i / 2 * step, i % 2 * 40, 10, 10);
  GST_BUFFER_PTS (buffer) = play->frames++ * 40 * GST_MSECOND;
  play_arrival (play, buffer);
  once = g_array_copy ((GArray *) gst_cuda_convolve_detections_find (play->detections, buffer, &play->info, &lost));
  fail_unless (lost == (n == 0 && play->frames == 1));
  found = gst_cuda_convolve_detections_find (play->detections, buffer, &play->info, &lost);
  fail_unless (lost == (n == 0 && play->frames == 1));
  fail_unless_equals_int (once->len, found->len);
  for (guint i = 0; i < found->len; i++) {
    const GstCudaConvolveRectangle *area = &g_array_index (found, GstCudaConvolveBox, i).area;

    expect_rectangle (&g_array_index (once, GstCudaConvolveBox, i).area, area->x, area->y, area->width, area->height,
        i);
  }
  return found;
}

GST_START_TEST (twice)
{
  Play play;

  play_init (&play, GST_SECOND);
  fail_unless_equals_int (play_frame (&play, 0, 0, 0)->len, 0);
  fail_unless_equals_int (play_frame (&play, 2, 10, 0)->len, 2);
  fail_unless_equals_int (play_frame (&play, 1, 14, 0)->len, 2);
  fail_unless_equals_int (play_frame (&play, 2, 50, 0)->len, 4);
  fail_unless_equals_int (play_frame (&play, 0, 0, 0)->len, 4);
  gst_cuda_convolve_detections_free (play.detections);
}
GST_END_TEST;

#define NONE G_MININT

/* A region jumps across the frame. It is one region where "object_id" says so, and not where the meta's own id does. */
GST_START_TEST (ids_of_regions_of_interest)
{
  static const struct
  {
    gint id[2], meta_id; /* NONE is not written */
    guint found;
  } rows[] = { { { 5, 5 }, 0, 1 }, { { 5, 6 }, 0, 2 }, { { 0, 0 }, 0, 2 }, { { -1, -1 }, 0, 2 },
    { { NONE, NONE }, 5, 2 } };

  for (guint row = 0; row < G_N_ELEMENTS (rows); row++) {
    Play play;

    play_init (&play, GST_SECOND);
    for (guint i = 0; i < 2; i++) {
      g_autoptr (GstBuffer) buffer = gst_buffer_new ();
      GstVideoRegionOfInterestMeta *region =
          gst_buffer_add_video_region_of_interest_meta (buffer, "face", 60 * i, 0, 10, 10);
      const GArray *found;
      gboolean lost;

      region->id = rows[row].meta_id;
      if (rows[row].id[i] != NONE)
        gst_video_region_of_interest_meta_add_param (region,
            gst_structure_new ("object_id", "id", G_TYPE_INT, rows[row].id[i], NULL));
      GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
      play_arrival (&play, buffer);
      found = gst_cuda_convolve_detections_find (play.detections, buffer, &play.info, &lost);
      fail_unless (found->len == (i == 0 ? 1 : rows[row].found), "row %u: %u", row, found->len);
    }
    gst_cuda_convolve_detections_free (play.detections);
  }
}
GST_END_TEST;

static const GArray *
play_object (Play *play, const gchar *type, gdouble x, gdouble height, gdouble angle, gboolean lost)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  const GArray *found;
  gboolean is_lost;

  played.object = (GstCudaConvolveObject){ .type = type,
    .id = GST_CUDA_CONVOLVE_NO_ID,
    .confidence = NAN,
    .x = x,
    .y = 10,
    .width = 20,
    .height = height,
    .angle = angle };
  GST_BUFFER_PTS (buffer) = play->frames++ * 40 * GST_MSECOND;
  play_arrival (play, buffer);
  found = gst_cuda_convolve_detections_find (play->detections, buffer, &play->info, &is_lost);
  fail_unless (is_lost == lost);
  return found;
}

/*
 * Numbers that say nothing give no box, are told once, and leave the frame without metadata. The box before stays for
 * its time.
 */
GST_START_TEST (refused_metadata)
{
  ConvolveRegionSettings settings = { .sources = CONVOLVE_REGION_SOURCE_ANALYTICS, .hold = 100 * GST_MSECOND };
  g_autofree gchar *fault = NULL, *mask = NULL;
  Play play;

  play_init (&play, 0);
  settings.types = (gchar *) "!dog";
  fail_unless (gst_cuda_convolve_detections_set (play.detections, &settings, NULL));
  fail_unless_equals_int (play_object (&play, "face", 10, 20, 0, FALSE)->len, 1);
  fail_unless_equals_int (play_object (&play, "dog", 10, 20, NAN, FALSE)->len, 1);
  fail_unless (!gst_cuda_convolve_detections_take_fault (play.detections));
  fail_unless_equals_int (play_object (&play, "face", 12, 20, NAN, FALSE)->len, 1);
  fault = gst_cuda_convolve_detections_take_fault (play.detections);
  fail_unless_equals_string (fault,
      "region-sources: the object \"face\" in a GstAnalyticsRelationMeta is no box: x 12, y 10, width 20, height 20, "
      "angle nan. The frame counts as one without metadata; mend the detector, or leave the type out with "
      "region-types=!face");
  fail_unless_equals_int (play_object (&play, "face", 12, -3, 0, FALSE)->len, 0);
  played.has_bad_mask = TRUE;
  fail_unless_equals_int (play_object (&play, "face", 12, -3, 0, TRUE)->len, 0);
  mask = gst_cuda_convolve_detections_take_fault (play.detections);
  fail_unless (
      mask && strstr (mask, "a mask of segmentation in a GstAnalyticsRelationMeta cannot be read: it is bad."));
  fail_unless_equals_int (play_object (&play, "face", 10, 20, 0, TRUE)->len, 1);
  fail_unless (!gst_cuda_convolve_detections_take_fault (play.detections));
  played.has_bad_mask = FALSE;
  fail_unless_equals_int (play_object (&play, "face", 50, 0, 0, FALSE)->len, 1);
  gst_cuda_convolve_detections_forget_faults (play.detections);
  play_object (&play, "face", INFINITY, 20, 0, FALSE);
  g_free (fault);
  fault = gst_cuda_convolve_detections_take_fault (play.detections);
  fail_unless (fault && strstr (fault, "x inf,"));
  gst_cuda_convolve_detections_free (play.detections);
}
GST_END_TEST;

/* A held box keeps its angle, also where frames get another size; boxes that are turned otherwise are other boxes. */
GST_START_TEST (held_and_turned)
{
  ConvolveRegionSettings settings = { .sources = CONVOLVE_REGION_SOURCE_ANALYTICS, .hold = GST_SECOND };
  const GstCudaConvolveBox *box;
  GstCudaConvolveBox turned = { .is_turned = FALSE };
  const GstCudaConvolveSighting plate = { .type = "plate", .id = NO_ID, .seen = { 0, 1 } };
  GstCudaConvolveSightings fresh, held;
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  Play play;

  play_init (&play, 0);
  fail_unless (gst_cuda_convolve_detections_set (play.detections, &settings, NULL));
  fail_unless_equals_int (play_object (&play, "plate", 30, 10, G_PI / 6, FALSE)->len, 1);
  box = &g_array_index (play_object (&play, NULL, 0, 0, 0, FALSE), GstCudaConvolveBox, 0);
  fail_unless (box->is_turned && fabs (box->side[0][0] - 10 * cos (G_PI / 6)) < 1e-9
      && fabs (box->side[0][1] - 5) < 1e-9 && fabs (box->side[1][0] + 2.5) < 1e-9
      && fabs (box->side[1][1] - 5 * cos (G_PI / 6)) < 1e-9);
  gst_video_info_set_format (&play.info, GST_VIDEO_FORMAT_GRAY8, 200, 240);
  play.info.fps_n = 25;
  box = &g_array_index (play_object (&play, NULL, 0, 0, 0, FALSE), GstCudaConvolveBox, 0);
  fail_unless (box->is_turned && fabs (box->side[0][0] - 20 * cos (G_PI / 6)) < 1e-9
      && fabs (box->side[0][1] - 15) < 1e-9 && fabs (box->side[1][0] + 5) < 1e-9
      && fabs (box->side[1][1] - 15 * cos (G_PI / 6)) < 1e-9);
  gst_cuda_convolve_detections_free (play.detections);

  gst_cuda_convolve_sightings_init (&fresh);
  gst_cuda_convolve_sightings_init (&held);
  for (guint i = 0; i < 3; i++) {
    gst_cuda_convolve_box_read_turned (10, 10, 40, 20, i < 2 ? 0.5 : -0.5, 100, 80, &turned);
    gst_cuda_convolve_sightings_add (&fresh, &turned, &plate);
  }
  gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
  fail_if (g_array_index (fresh.sightings, GstCudaConvolveSighting, 0).is_replaced
      && g_array_index (fresh.sightings, GstCudaConvolveSighting, 1).is_replaced);
  fail_if (g_array_index (fresh.sightings, GstCudaConvolveSighting, 2).is_replaced);
  gst_cuda_convolve_sightings_clear (&fresh);
  gst_cuda_convolve_sightings_clear (&held);
  gst_cuda_convolve_tracks_free (tracks);
}
GST_END_TEST;

/* Boxes that jump about with an endless hold take no memory without end. */
GST_START_TEST (endless_hold)
{
  g_autofree gchar *fault = NULL, *again = NULL;
  guint most = 0;
  Play play;

  play_init (&play, G_MAXUINT64);
  for (guint i = 0; i < 20; i++) {
    const GArray *found = play_frame (&play, 2000, 1000000 * (i + 1), 20);
    const GstCudaConvolveRectangle *first = &g_array_index (found, GstCudaConvolveBox, 0).area;

    most = MAX (most, found->len);
    if (fault == NULL && (fault = gst_cuda_convolve_detections_take_fault (play.detections)) != NULL)
      expect_rectangle (first, 0, 0, 100, 80, i);
  }
  again = gst_cuda_convolve_detections_take_fault (play.detections);
  fail_unless (fault && g_str_has_prefix (fault, "region-hold: ") && !again);
  fail_unless (most > 16000 && most <= 16384 + 2000, "%u", most);
  gst_cuda_convolve_detections_free (play.detections);
}
GST_END_TEST;

/* A frame counts once, however often it is looked at, and each caps have a count of their own. */
GST_START_TEST (missing_type)
{
  ConvolveRegionSettings settings = { .sources = CONVOLVE_REGION_SOURCE_ROI, .types = (gchar *) "plate" };
  Play play;

  play_init (&play, 0);
  fail_unless (gst_cuda_convolve_detections_set (play.detections, &settings, NULL));
  for (guint i = 1; i <= 130; i++) {
    g_autofree gchar *fault = NULL;

    fail_unless_equals_int (play_frame (&play, 2, 10, 0)->len, 0);
    fault = gst_cuda_convolve_detections_take_fault (play.detections);
    fail_unless ((fault != NULL) == (i == 50 || i == 120), "frame %u", i);
    if (i == 70)
      gst_cuda_convolve_detections_forget_faults (play.detections);
  }
  gst_cuda_convolve_detections_free (play.detections);
}
GST_END_TEST;

static Suite *
detections_suite (void)
{
  Suite *suite = suite_create ("detections");
  TCase *tc = tcase_create ("detections");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, unsigned_numbers);
  tcase_add_test (tc, turned_numbers);
  tcase_add_test (tc, refused_numbers);
  tcase_add_test (tc, places_of_masks);
  tcase_add_test (tc, turned_shapes);
  tcase_add_test (tc, area_of_a_plate);
  tcase_add_test (tc, crossed_plates);
  tcase_add_test (tc, shape_of_segments);
  tcase_add_test (tc, time_runs_both_ways);
  tcase_add_test (tc, one_frame_is_bridged);
  tcase_add_test (tc, nothing_known);
  tcase_add_test (tc, segments);
  tcase_add_test (tc, frames_count);
  tcase_add_test (tc, frames_count_with_rate);
  tcase_add_test (tc, some_time_stamps);
  tcase_add_test (tc, rule);
  tcase_add_test (tc, many);
  tcase_add_test (tc, search);
  tcase_add_test (tc, two_tracks);
  tcase_add_test (tc, ids);
  tcase_add_test (tc, random_ids);
  tcase_add_test (tc, parts);
  tcase_add_test (tc, looked_ahead);
  tcase_add_test (tc, twice);
  tcase_add_test (tc, ids_of_regions_of_interest);
  tcase_add_test (tc, refused_metadata);
  tcase_add_test (tc, held_and_turned);
  tcase_add_test (tc, endless_hold);
  tcase_add_test (tc, missing_type);
  suite_add_tcase (suite, tc);
  return suite;
}

GST_CHECK_MAIN (detections);
