/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes of frames without an element. The metadata of GStreamer's analytics library is played here, so that it can say anything,
 * and the library need not be there.
 */
#include "element/regions/check_detections.h"

#include <math.h>
#include <string.h>

#include "regions/analytics.h"
#include "regions/detections.h"
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

void
expect_rectangle (const GstCudaConvolveRectangle *got, gdouble x, gdouble y, gdouble width, gdouble height, guint row)
{
  fail_unless (got->x == x && got->y == y && got->width == width && got->height == height,
      "row %u: %gx%g at %g,%g, expected %gx%g at %g,%g", row, got->width, got->height, got->x, got->y, width, height, x,
      y);
}

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
  const GstCudaConvolveSighting plate = { .type = "plate", .id = GST_CUDA_CONVOLVE_NO_ID, .seen = { 0, 1 } };
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
  add_box_tests (tc);
  add_time_tests (tc);
  add_track_tests (tc);
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
