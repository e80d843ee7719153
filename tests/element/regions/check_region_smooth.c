/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region-smooth: weights that follow the boxes in time. What is expected is worked out here from the words of smooth.h, and drawn
 * by another element as the picture of region-mask-location.
 */
#include "element/regions/check_regions.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "support/file.h"

#define EFFECT "cudaconvolve apply-to=outside-regions region-effect=fill region-color=0xff3070a0 "
#define MOST_PIXELS (64 * 64)

/* The weights of a film so far, in 1/65280. */
typedef struct
{
  gint width, height;
  gboolean any;
  gint state[MOST_PIXELS];
} Film;

/* The result of an element for a frame. */
static GstBuffer *
result_of (const gchar *line, const GstVideoInfo *info, GstBuffer *in)
{
  GstHarness *harness = harness_new_for (line, info);
  GstBuffer *out = push_frame (harness, in, FALSE);

  gst_harness_teardown (harness);
  return out;
}

/* The weights of boxes in 1/255: white that is drawn over black. */
static void
draw_boxes (const Film *film, const ConvolveRect *boxes, gint count, const gchar *shape, gint *weights)
{
  GstVideoInfo info = info_of ("GRAY8", film->width, film->height);
  g_autofree gchar *text = text_of (boxes, count);
  g_autofree gchar *line = g_strdup_printf (FILL "region-color=0xffffffff regions=\"%s\" %s", text, shape);
  g_autoptr (GstBuffer) black = grey_frame (&info, 0), out = NULL;
  Component got[4];

  memset (weights, 0, sizeof (gint) * film->width * film->height);
  if (count == 0)
    return;
  gst_buffer_memset (black, 0, 0, gst_buffer_get_size (black));
  out = result_of (line, &info, black);
  frame_read (&info, out, got);
  for (gint i = 0; i < film->width * film->height; i++)
    weights[i] = got[0].samples[i];
  frame_clear (got);
}

/* Goes on to weights, by the words. */
static void
follow (Film *film, const gint *weights, gdouble distance, gdouble constant)
{
  gdouble share = MIN (floor (65536 * (1 - exp (-distance / constant)) + 0.5), 65535);

  for (gint i = 0; i < film->width * film->height; i++) {
    gdouble way = 256.0 * weights[i] - film->state[i], step = ceil (fabs (way) * share / 65536);

    film->state[i] = film->any ? film->state[i] + (gint) (way < 0 ? -step : step) : 256 * weights[i];
  }
  film->any = TRUE;
}

/* What an element makes of the frame by the weights of the film. */
static GstBuffer *
expected_frame (const Film *film, const GstVideoInfo *info, GstBuffer *in)
{
  g_autofree gchar *folder = check_folder (), *name = g_build_filename (folder, "weights.pgm", NULL);
  g_autofree gchar *line = g_strdup_printf (EFFECT "region-sources=text region-mask-location=%s", name);
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autofree gchar *header = g_strdup_printf ("P5 %d %d 255\n", film->width, film->height);
  GstBuffer *out;

  g_byte_array_append (file, (const guint8 *) header, strlen (header));
  for (gint i = 0; i < film->width * film->height; i++) {
    const guint8 weight = (film->state[i] + 128) / 256;

    g_byte_array_append (file, &weight, 1);
  }
  fail_unless (check_write_file (name, file));
  out = result_of (line, info, in);
  g_unlink (name);
  check_remove_folder (g_steal_pointer (&folder));
  return out;
}

static void
expect_film (const Film *film, const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const gchar *what)
{
  g_autoptr (GstBuffer) wanted = expected_frame (film, info, in);
  Component expected[4];

  frame_read (info, wanted, expected);
  compare_components (info, expected, out, what);
  frame_clear (expected);
}

/* A frame at a time, with regions of metadata. */
static GstBuffer *
frame_at (const GstVideoInfo *info, guint32 number, GstClockTime time, const ConvolveRect *boxes, gint count)
{
  GstBuffer *in = frame_new (info, FRAME_PLAIN, number);

  GST_BUFFER_PTS (in) = time;
  GST_BUFFER_DURATION (in) = 40 * GST_MSECOND;
  for (gint i = 0; i < count; i++)
    add_region (in, "person", boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height);
  return in;
}

static void
set (GstHarness *harness, const gchar *property, const gchar *value)
{
  g_autoptr (GstElement) element = gst_harness_find_element (harness, "cudaconvolve");

  gst_util_set_object_arg (G_OBJECT (element), property, value);
}

GST_START_TEST (weights_follow_boxes)
{
  static const gchar *const formats[] = { "GRAY8", "I420", "AYUV", "P010_10LE", "RGB" };
  static const gchar *const shapes[] = { "", "region-feather=5", "region-shape=ellipse region-feather=9" };
  static const gdouble constants[] = { 1, 40, 300, 9000 }; /* ms */
  CheckRandom random;
  static Film film;
  static gint weights[MOST_PIXELS];

  check_random_init (&random, seed, 0);
  for (guint round = 0; round < 24; round++) {
    const gchar *shape = shapes[check_random_range (&random, 0, G_N_ELEMENTS (shapes) - 1)];
    gdouble constant = constants[round % G_N_ELEMENTS (constants)];
    GstVideoInfo info = info_of (formats[round % G_N_ELEMENTS (formats)], check_random_range (&random, 16, 63),
        check_random_range (&random, 16, 63));
    g_autofree gchar *line = g_strdup_printf (EFFECT "region-hold=0 region-smooth=%.0f000000 %s", constant, shape);
    GstHarness *harness = harness_new_for (line, &info);
    GstClockTime time = 0;

    film = (Film){ .width = GST_VIDEO_INFO_WIDTH (&info), .height = GST_VIDEO_INFO_HEIGHT (&info) };
    for (guint i = 0; i < 7; i++) {
      gint64 distance = check_random_range (&random, 1, 100) * GST_MSECOND;
      ConvolveRect boxes[MOST_BOXES];
      gint count = i == 3 ? 0 : random_boxes (&random, &info, boxes);
      g_autofree gchar *what = g_strdup_printf ("round %u, frame %u, %s", round, i, line);
      g_autoptr (GstBuffer) in = frame_at (&info, seed + round * 100 + i, time += distance, boxes, count), out = NULL;

      draw_boxes (&film, boxes, count, shape, weights);
      follow (&film, weights, distance, constant * GST_MSECOND);
      out = push_frame (harness, in, FALSE);
      expect_film (&film, &info, in, out, what);
      /* New settings, and a mask that needs new plans, change no weight. */
      if (i == 4)
        set (harness, "mask", "sharpen");
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* With several frames under way each has its own weights. */
GST_START_TEST (weights_of_several_frames)
{
  GstVideoInfo info = info_of ("I420", 64, 48);
  GstBuffer *out[2][12];

  for (guint k = 0; k < 2; k++) {
    g_autofree gchar *line = g_strdup_printf (EFFECT "region-hold=0 region-smooth=100000000 frames-in-flight=%d",
        k == 0 ? 1 : CONVOLVE_MAX_FRAMES);
    GstHarness *harness = harness_new_for (line, &info);

    for (guint i = 0; i < 12; i++) {
      ConvolveRect box = { 3 * i, 2 * i, 20, 20 };

      fail_unless (
          gst_harness_push (harness, frame_at (&info, seed + i, i * 40 * GST_MSECOND, &box, 1)) == GST_FLOW_OK);
    }
    fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
    for (guint i = 0; i < 12; i++)
      out[k][i] = gst_harness_pull (harness);
    gst_harness_teardown (harness);
  }
  for (guint i = 0; i < 12; i++) {
    g_autofree gchar *what = g_strdup_printf ("frame %u", i);
    Component expected[4];

    frame_read (&info, out[0][i], expected);
    compare_components (&info, expected, out[1][i], what);
    frame_clear (expected);
    gst_buffer_unref (out[0][i]);
    gst_buffer_unref (out[1][i]);
  }
}
GST_END_TEST;

/* The first frame after a flush has its weights as they are, and so has one after apply-to was something else. */
GST_START_TEST (weights_begin_anew)
{
  static const ConvolveRect left = { 2, 2, 20, 20 }, right = { 30, 20, 20, 20 };
  GstVideoInfo info = info_of ("GRAY8", 64, 48);
  GstHarness *harness = harness_new_for (EFFECT "region-hold=0 region-smooth=1000000000", &info);
  static Film film;
  static gint weights[MOST_PIXELS];

  for (guint i = 0; i < 6; i++) {
    g_autofree gchar *what = g_strdup_printf ("frame %u", i);
    const ConvolveRect *box = i % 2 ? &right : &left;
    g_autoptr (GstBuffer) in = frame_at (&info, seed + i, i * 40 * GST_MSECOND, box, 1), out = NULL;

    if (i == 2) {
      GstSegment segment;

      gst_segment_init (&segment, GST_FORMAT_TIME);
      fail_unless (gst_harness_push_event (harness, gst_event_new_flush_start ()));
      fail_unless (gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE)));
      fail_unless (gst_harness_push_event (harness, gst_event_new_segment (&segment)));
      film.any = FALSE;
    }
    if (i == 4) {
      g_autoptr (GstBuffer) other = frame_at (&info, seed, 150 * GST_MSECOND, box, 1), seen = NULL;

      set (harness, "apply-to", "regions");
      seen = push_frame (harness, other, FALSE);
      set (harness, "apply-to", "outside-regions");
      film.any = FALSE;
    }
    film.width = 64;
    film.height = 48;
    draw_boxes (&film, box, 1, "", weights);
    follow (&film, weights, 40, 1000);
    out = push_frame (harness, in, FALSE);
    expect_film (&film, &info, in, out, what);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
region_smooth (void)
{
  TCase *tc = tcase_create ("smooth");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, weights_follow_boxes);
  tcase_add_test (tc, weights_of_several_frames);
  tcase_add_test (tc, weights_begin_anew);
  return tc;
}
