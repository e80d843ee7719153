/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions from GStreamer's analytics library: objects, their types, turned boxes, and that no object is news too. */
#include <gst/analytics/analytics.h>
#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "support/element.h"

#define FILL "cudaconvolve apply-to=regions region-effect=fill "

static GstBuffer *
grey_frame (const GstVideoInfo *info, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);

  gst_buffer_memset (buffer, 0, 128, info->size);
  GST_BUFFER_PTS (buffer) = time;
  return buffer;
}

/* Adds an object to the frame's relations, which are added first where there are none. A NULL type adds no object. */
static GstBuffer *
add_object (GstBuffer *buffer, const gchar *type, gint x, gint y, gint width, gint height)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;

  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  if (type)
    fail_unless (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string (type), x, y, width, height,
        0.9, &object));
  return buffer;
}

/* Pushes the frame, and expects that only the samples of this box are black. */
static void
expect_box (GstHarness *harness, GstBuffer *buffer, gint x, gint y, gint width, gint height)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  Component got[4];

  push_ok (harness, buffer);
  buffer = gst_harness_pull (harness);
  frame_read (&info, buffer, got);
  for (gint i = 0; i < 100 * 80; i++) {
    gboolean inside = i % 100 >= x && i % 100 < x + width && i / 100 >= y && i / 100 < y + height;

    fail_unless (got[0].samples[i] == (inside ? 0 : 128), "%d,%d is %d", i % 100, i / 100, got[0].samples[i]);
  }
  frame_clear (got);
  gst_buffer_unref (buffer);
}

GST_START_TEST (objects)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-types=face,!person region-hold=0", &info);
  GstBuffer *buffer = add_object (grey_frame (&info, 0), "face", 10, 12, 20, 22);

  add_object (buffer, "person", 0, 0, 90, 70);
  add_object (buffer, "dog", 50, 0, 50, 70);
  expect_box (harness, buffer, 10, 12, 20, 22);
  expect_box (harness, grey_frame (&info, GST_SECOND), 0, 0, 0, 0);
  gst_harness_set (harness, "cudaconvolve", "region-sources", 3, NULL); /* text and roi */
  expect_box (harness, add_object (grey_frame (&info, 2 * GST_SECOND), "face", 10, 12, 20, 22), 0, 0, 0, 0);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A face that jumps across the frame is one face where both objects are related to one track. */
GST_START_TEST (tracked_objects)
{
  static const struct
  {
    GstAnalyticsRelTypes relation;
    guint64 id[2];
    gboolean followed;
  } rows[] = { { GST_ANALYTICS_REL_TYPE_RELATE_TO, { 0, 0 }, TRUE },
    { GST_ANALYTICS_REL_TYPE_RELATE_TO, { 3, 4 }, FALSE }, { GST_ANALYTICS_REL_TYPE_IS_PART_OF, { 3, 3 }, FALSE },
    { GST_ANALYTICS_REL_TYPE_NONE, { 3, 3 }, FALSE } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint row = 0; row < G_N_ELEMENTS (rows); row++) {
    GstHarness *harness = harness_new_for (FILL, &info);

    for (guint i = 0; i < 2; i++) {
      GstBuffer *buffer = grey_frame (&info, i * 40 * GST_MSECOND);
      GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (buffer);
      GstAnalyticsTrackingMtd track;
      GstAnalyticsODMtd object;

      fail_unless (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_string ("face"), 60 * i, 0, 20, 80,
          0.9, &object));
      fail_unless (gst_analytics_relation_meta_add_tracking_mtd (relations, rows[row].id[i], 0, &track));
      fail_unless (gst_analytics_relation_meta_set_relation (relations, rows[row].relation, object.id, track.id));
      /* Without a successor the box before stays, too. */
      if (i == 0)
        expect_box (harness, buffer, 0, 0, 20, 80);
      else if (rows[row].followed)
        expect_box (harness, buffer, 60, 0, 20, 80);
      else {
        guint8 *samples;
        gsize size;

        push_ok (harness, buffer);
        buffer = gst_harness_pull (harness);
        gst_buffer_extract_dup (buffer, 0, -1, (gpointer *) &samples, &size);
        fail_unless (samples[0] == 0 && samples[40] == 128 && samples[60] == 0, "row %u", row);
        gst_buffer_unref (buffer);
        g_free (samples);
      }
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The names of objects: a class that a classification is sure of, and never a list of all classes that a model knows. */
GST_START_TEST (named_objects)
{
  static const struct
  {
    const gchar *ids;
    gfloat levels[2]; /* of guest and presenter */
    gboolean covered;
  } rows[] = { { "!presenter", { 0.1, 0.9 }, FALSE }, { "!presenter", { 0.9, 0.1 }, TRUE },
    { "!presenter", { 0, 0 }, TRUE }, { "!presenter", { 0.5, 0.5 }, TRUE }, { "!presenter", { -1, NAN }, TRUE },
    { "presenter", { 0.1, 0.9 }, TRUE }, { "presenter", { 0.9, 0.1 }, FALSE }, { "presenter", { 0, 0 }, TRUE },
    { "!7", { 0.1, 0.9 }, FALSE }, { "!8", { 0.1, 0.9 }, TRUE }, { "7", { 0, 0 }, TRUE }, { "8", { 0, 0 }, FALSE } };
  static const GstAnalyticsRelTypes relations[] = { GST_ANALYTICS_REL_TYPE_RELATE_TO, GST_ANALYTICS_REL_TYPE_CONTAIN };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "region-ids=%s", rows[i / 2].ids);
    GstHarness *harness = harness_new_for (line, &info);
    GstBuffer *buffer = grey_frame (&info, 0);
    GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (buffer);
    GQuark names[] = { g_quark_from_string ("guest"), g_quark_from_string ("Presenter") };
    gfloat levels[2];
    GstAnalyticsTrackingMtd track;
    GstAnalyticsClsMtd classes;
    GstAnalyticsODMtd object;

    memcpy (levels, rows[i / 2].levels, sizeof levels);
    fail_unless (
        gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("face"), 10, 12, 20, 22, 0.9, &object));
    fail_unless (gst_analytics_relation_meta_add_tracking_mtd (meta, 7, 0, &track));
    fail_unless (gst_analytics_relation_meta_add_cls_mtd (meta, 2, levels, names, &classes));
    fail_unless (
        gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, track.id));
    fail_unless (gst_analytics_relation_meta_set_relation (meta, relations[i % 2], object.id, classes.id));
    if (rows[i / 2].covered)
      expect_box (harness, buffer, 10, 12, 20, 22);
    else
      expect_box (harness, buffer, 0, 0, 0, 0);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* An object below the least confidence is no region; one whose confidence is none of 0 to 1 is. */
GST_START_TEST (confidence_of_objects)
{
  static const struct
  {
    gfloat confidence;
    gboolean covered;
  } rows[] = { { 0.75, TRUE }, { 0.7, FALSE }, { 1, TRUE }, { 0, TRUE }, { -1, TRUE }, { 87, TRUE }, { NAN, TRUE } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstHarness *harness =
        harness_new_for (FILL "region-min-confidence=0.75 region-fallback=frame region-hold=0", &info);
    GstBuffer *buffer = grey_frame (&info, 0);
    GstAnalyticsODMtd object;

    fail_unless (gst_analytics_relation_meta_add_od_mtd (gst_buffer_add_analytics_relation_meta (buffer),
        g_quark_from_string ("face"), 10, 12, 20, 22, rows[i].confidence, &object));
    if (rows[i].covered)
      expect_box (harness, buffer, 10, 12, 20, 22);
    else
      expect_box (harness, buffer, 0, 0, 0, 0);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Relations without an object tell that the detector is there and found nothing. */
GST_START_TEST (nothing_found)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-fallback=frame region-hold=10000000", &info);

  expect_box (harness, grey_frame (&info, 0), 0, 0, 100, 80);
  expect_box (harness, add_object (grey_frame (&info, GST_SECOND), NULL, 0, 0, 0, 0), 0, 0, 0, 0);
  expect_box (harness, grey_frame (&info, GST_SECOND + 10 * GST_MSECOND), 0, 0, 0, 0);
  expect_box (harness, grey_frame (&info, GST_SECOND + 11 * GST_MSECOND), 0, 0, 100, 80);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Objects over the edges, and one that is far too large. */
GST_START_TEST (over_edges)
{
  static const struct
  {
    gint x, y, width, height;
    gint expected[4];
  } rows[] = { { -5, 10, 20, 20, { 0, 10, 15, 20 } }, { 10, -5, 20, 20, { 10, 0, 20, 15 } },
    { 10, 10, G_MAXINT, 20, { 10, 10, 90, 20 } }, { G_MININT, 0, 10, 10, { 0, 0, 0, 0 } },
    { 10, 10, 0, 20, { 0, 0, 0, 0 } } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstHarness *harness = harness_new_for (FILL "region-fallback=frame", &info);
    const gint *e = rows[i].expected;

    expect_box (harness,
        add_object (grey_frame (&info, 0), "face", rows[i].x, rows[i].y, rows[i].width, rows[i].height), e[0], e[1],
        e[2], e[3]);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/*
 * A negative size is refused with one warning until the caps change, and the frame then counts as one without metadata.
 * Good objects beside the bad one count.
 */
GST_START_TEST (refused_objects)
{
  Run run = run_start (FILL "region-fallback=frame region-hold=100000000 region-types=!dog", "GRAY8", 100, 80);
  const GstMessageType kinds = GST_MESSAGE_ERROR | GST_MESSAGE_WARNING;
  GstBuffer *buffer;

  expect_box (run.harness, add_object (grey_frame (&run.info, 0), "face", 10, 10, 20, 20), 10, 10, 20, 20);
  expect_box (run.harness, add_object (grey_frame (&run.info, 50 * GST_MSECOND), "dog", 10, 10, -1, 20), 10, 10, 20,
      20);
  run_expect_none (&run, kinds);
  expect_box (run.harness, add_object (grey_frame (&run.info, 90 * GST_MSECOND), "face", 10, 10, -1, 20), 10, 10, 20,
      20);
  run_expect (&run, kinds, GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "region-sources: the object \"face\" in a GstAnalyticsRelationMeta is no box: x 10, y 10, width -1, height 20, "
      "angle 0. The frame counts as one without metadata; mend the detector, or leave the type out with "
      "region-types=!face",
      NULL);
  buffer = add_object (grey_frame (&run.info, 160 * GST_MSECOND), "face", 10, 10, 20, -1);
  expect_box (run.harness, buffer, 0, 0, 100, 80);
  run_expect_none (&run, kinds);
  buffer = add_object (grey_frame (&run.info, GST_SECOND), "face", 50, 10, 20, 20);
  expect_box (run.harness, buffer, 50, 10, 20, 20);
  buffer = add_object (grey_frame (&run.info, GST_SECOND + 40 * GST_MSECOND), "face", 54, 10, 20, 20);
  expect_box (run.harness, add_object (buffer, "face", 10, 10, 20, G_MININT), 54, 10, 20, 20);
  run_expect_none (&run, kinds);
  run_caps (&run, "RGB", 100, 80);
  run_caps (&run, "GRAY8", 100, 80);
  expect_box (run.harness, add_object (grey_frame (&run.info, GST_SECOND + 80 * GST_MSECOND), "face", 1, 1, -2, -3), 54,
      10, 20, 20);
  run_expect (&run, kinds, GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "width -2, height -3", NULL);
  run_stop (&run);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 26, 0)
/* A box that is turned by a right angle has its sides exchanged. */
GST_START_TEST (turned)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL, &info);
  GstBuffer *buffer = grey_frame (&info, 0);
  GstAnalyticsODMtd object;

  fail_unless (gst_analytics_relation_meta_add_oriented_od_mtd (gst_buffer_add_analytics_relation_meta (buffer),
      g_quark_from_static_string ("face"), 30, 30, 40, 20, G_PI / 2, 0.9, &object));
  expect_box (harness, buffer, 40, 20, 20, 40);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A box at 30 degrees: its left end is higher than its right one, because y points down, and nothing beside it changes. */
GST_START_TEST (turned_in_shape)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL, &info);
  GstBuffer *buffer = grey_frame (&info, 0);
  GstAnalyticsODMtd object;
  Component got[4];

  fail_unless (gst_analytics_relation_meta_add_oriented_od_mtd (gst_buffer_add_analytics_relation_meta (buffer),
      g_quark_from_static_string ("plate"), 20, 35, 60, 10, G_PI / 6, 0.9, &object));
  push_ok (harness, buffer);
  buffer = gst_harness_pull (harness);
  frame_read (&info, buffer, got);
  for (gint at = 0; at < 100 * 80; at++) {
    gdouble dx = at % 100 + 0.5 - 50, dy = at / 100 + 0.5 - 40;
    gdouble along = fabs (dx * cos (G_PI / 6) + dy * 0.5), across = fabs (dy * cos (G_PI / 6) - dx * 0.5);

    if (along <= 30 && across <= 5)
      fail_unless_equals_int (got[0].samples[at], 0);
    if (along > 30.8 || across > 5.8)
      fail_unless_equals_int (got[0].samples[at], 128);
  }
  frame_clear (got);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* An angle that is no number is refused; a turned box that is far too large is the whole frame. */
GST_START_TEST (turned_nowhere)
{
  const gfloat angles[] = { NAN, INFINITY, -INFINITY };

  for (guint i = 0; i < G_N_ELEMENTS (angles); i++) {
    Run run = run_start (FILL "region-fallback=frame", "GRAY8", 100, 80);
    GstBuffer *buffer = grey_frame (&run.info, 0);
    GstAnalyticsODMtd object;

    fail_unless (gst_analytics_relation_meta_add_oriented_od_mtd (gst_buffer_add_analytics_relation_meta (buffer),
        g_quark_from_static_string ("face"), 30, 30, 40, 20, angles[i], 0.9, &object));
    expect_box (run.harness, buffer, 0, 0, 100, 80);
    run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_WARNING, GST_STREAM_ERROR,
        GST_STREAM_ERROR_FORMAT, "region-sources: the object \"face\"", NULL);
    buffer = grey_frame (&run.info, GST_SECOND);
    fail_unless (gst_analytics_relation_meta_add_oriented_od_mtd (gst_buffer_add_analytics_relation_meta (buffer),
        g_quark_from_static_string ("face"), 30, 30, G_MAXINT, 20, 0.5, NAN, &object));
    expect_box (run.harness, buffer, 0, 0, 100, 80);
    run_expect_none (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    run_stop (&run);
  }
}
GST_END_TEST;

/* Adds a mask with the regions 0, seven and 9, which covers the frame from (20, 10) with 4x2 luma pixels to a pixel. */
static void
add_segments (GstBuffer *buffer, GstBuffer *mask, guint width, guint height, guint seven,
    GstAnalyticsSegmentationMtd *segments)
{
  guint regions[] = { 0, seven, 9 };

  fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (gst_buffer_add_analytics_relation_meta (buffer), mask,
      GST_SEGMENTATION_TYPE_SEMANTIC, 3, regions, 20, 10, 4 * width, 2 * height, segments));
}

/* Adds a mask of segmentation with these ids. Its classes, if there are any, are related to it by relation. */
static GstBuffer *
add_mask (GstBuffer *buffer, const guint8 *ids, guint width, guint height, gboolean wide, const gchar *const *classes,
    GstAnalyticsRelTypes relation)
{
  GstAnalyticsRelationMeta *relations;
  GstBuffer *mask = gst_buffer_new_allocate (NULL, width * height * (wide ? 2 : 1), NULL);
  GstAnalyticsSegmentationMtd segments;

  for (guint i = 0; i < width * height; i++) {
    guint16 id = GUINT16_TO_LE (ids[i]);

    gst_buffer_fill (mask, i * (wide ? 2 : 1), wide ? (gpointer) &id : (gpointer) &ids[i], wide ? 2 : 1);
  }
  gst_buffer_add_video_meta_full (mask, GST_VIDEO_FRAME_FLAG_NONE,
      wide ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8, width, height, 1, (gsize[GST_VIDEO_MAX_PLANES]){ 0 },
      (gint[GST_VIDEO_MAX_PLANES]){ width * (wide ? 2 : 1) });
  add_segments (buffer, mask, width, height, 7, &segments);
  relations = gst_buffer_get_analytics_relation_meta (buffer);
  if (classes) {
    GQuark quarks[3];
    gfloat confidence[3] = { -1, -1, -1 };
    GstAnalyticsClsMtd types;

    for (guint i = 0; i < 3; i++)
      quarks[i] = g_quark_from_string (classes[i]);
    fail_unless (gst_analytics_relation_meta_add_cls_mtd (relations, 3, confidence, quarks, &types));
    fail_unless (gst_analytics_relation_meta_set_relation (relations, relation, segments.id, types.id));
  }
  return buffer;
}

/* Only the pixels of the wanted ids change, whatever their shape, with region-shape=ellipse too. */
GST_START_TEST (masks)
{
  static const guint8 ids[] = {
    0, 7, 7, 0, 9, 9, 9, 0, /* */
    7, 7, 0, 0, 9, 0, 9, 0, /* */
    7, 7, 0, 7, 9, 9, 9, 7, /* */
    0, 0, 0, 7, 0, 0, 0, 7, /* */
    0, 7, 7, 7, 7, 7, 7, 7, /* */
  };
  static const gchar *const classes[] = { "background", "person", "car" };
  static const struct
  {
    const gchar *properties;
    gboolean classified, seven, nine, rest;
  } rows[] = { { "", FALSE, TRUE, TRUE, FALSE }, { "", TRUE, TRUE, TRUE, FALSE },
    { "region-types=person", TRUE, TRUE, FALSE, FALSE }, { "region-types=!person", TRUE, FALSE, TRUE, FALSE },
    { "region-types=background", TRUE, FALSE, FALSE, TRUE },
    { "region-types=car region-shape=ellipse", TRUE, FALSE, TRUE, FALSE },
    { "region-types=car", FALSE, TRUE, TRUE, FALSE } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < 4 * G_N_ELEMENTS (rows); i++) {
    guint k = i / 4;
    g_autofree gchar *line = g_strdup_printf (FILL "%s", rows[k].properties);
    GstHarness *harness = harness_new_for (line, &info);
    GstBuffer *buffer = add_mask (grey_frame (&info, 0), ids, 8, 5, i % 2, rows[k].classified ? classes : NULL,
        i % 4 < 2 ? GST_ANALYTICS_REL_TYPE_N_TO_N : GST_ANALYTICS_REL_TYPE_RELATE_TO);
    Component got[4];

    push_ok (harness, buffer);
    buffer = gst_harness_pull (harness);
    frame_read (&info, buffer, got);
    for (gint at = 0; at < 100 * 80; at++) {
      gint x = (at % 100 - 20) / 4, y = (at / 100 - 10) / 2;
      gboolean inside = at % 100 >= 20 && at / 100 >= 10 && x < 8 && y < 5;
      guint8 id = inside ? ids[y * 8 + x] : 255;
      gboolean changed = (id == 7 && rows[k].seven) || (id == 9 && rows[k].nine) || (id == 0 && rows[k].rest);

      fail_unless (got[0].samples[at] == (changed ? 0 : 128), "%s: %d,%d is %d", line, at % 100, at / 100,
          got[0].samples[at]);
    }
    frame_clear (got);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/*
 * A mask as yolosegv8tensordec of GStreamer 1.28 writes it: beside its object, which both are related to, and with a list
 * that has the id 0 alone. The mask is what the object is.
 */
GST_START_TEST (masks_of_objects)
{
  static const struct
  {
    const gchar *properties;
    gboolean listed, covered;
  } rows[] = { { "", FALSE, TRUE }, { "", TRUE, TRUE }, { "region-ids=!7", FALSE, FALSE },
    { "region-ids=!7", TRUE, FALSE }, { "region-ids=7", FALSE, TRUE }, { "region-ids=8", TRUE, FALSE },
    { "region-types=person", FALSE, TRUE }, { "region-types=car", TRUE, FALSE },
    { "region-min-confidence=0.95", FALSE, FALSE }, { "region-min-confidence=0.8", TRUE, TRUE } };
  static const guint8 ids[] = { 0, 3, 3, 0 };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "%s", rows[i].properties);
    GstHarness *harness = harness_new_for (line, &info);
    GstBuffer *buffer = grey_frame (&info, 0), *mask = gst_buffer_new_allocate (NULL, 4, NULL);
    GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (buffer);
    guint regions[] = { 0, 3 };
    GstAnalyticsSegmentationMtd segments;
    GstAnalyticsTrackingMtd track;
    GstAnalyticsODMtd object;

    gst_buffer_fill (mask, 0, ids, 4);
    gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 1);
    /* The object has no area, so that the mask alone shows. */
    fail_unless (
        gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("person"), 20, 10, 0, 20, 0.9, &object));
    fail_unless (gst_analytics_relation_meta_add_tracking_mtd (meta, 7, 0, &track));
    fail_unless (
        gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, track.id));
    fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (meta, mask, GST_SEGMENTATION_TYPE_INSTANCE,
        rows[i].listed ? 2 : 1, regions, 20, 10, 40, 20, &segments));
    fail_unless (
        gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, segments.id));
    fail_unless (
        gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, segments.id, object.id));
    if (rows[i].covered)
      expect_box (harness, buffer, 30, 10, 20, 20);
    else
      expect_box (harness, buffer, 0, 0, 0, 0);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A mask with two regions, or of two objects, is none of them: what is left out by its id stays covered. */
GST_START_TEST (masks_of_many)
{
  static const guint8 ids[] = { 0, 3, 9, 5 };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < 2; i++) {
    GstHarness *harness = harness_new_for (FILL "region-ids=!7", &info);
    GstBuffer *buffer = grey_frame (&info, 0), *mask = gst_buffer_new_allocate (NULL, 4, NULL);
    GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (buffer);
    guint regions[] = { 0, 3, 9 };
    GstAnalyticsSegmentationMtd segments;
    GstAnalyticsTrackingMtd track;
    GstAnalyticsODMtd object;

    gst_buffer_fill (mask, 0, ids, 4);
    gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 1);
    fail_unless (gst_analytics_relation_meta_add_tracking_mtd (meta, 7, 0, &track));
    fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (meta, mask, GST_SEGMENTATION_TYPE_INSTANCE,
        i == 0 ? 3 : 2, regions, 20, 10, 40, 20, &segments));
    for (guint k = 0; k <= i; k++) {
      fail_unless (
          gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("person"), 20, 10, 0, 20, 0.9, &object));
      fail_unless (
          gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, object.id, track.id));
      fail_unless (
          gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, segments.id, object.id));
    }
    expect_box (harness, buffer, 30, 10, 30, 20);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Outside of regions samples that the list lacks are changed with the rest. */
GST_START_TEST (unlisted_outside)
{
  static const guint8 ids[] = { 0, 3, 9, 5 };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for ("cudaconvolve apply-to=outside-regions region-effect=fill", &info);
  GstBuffer *buffer = grey_frame (&info, 0), *mask = gst_buffer_new_allocate (NULL, 4, NULL);
  guint regions[] = { 0, 3 };
  GstAnalyticsSegmentationMtd segments;
  Component got[4];

  gst_buffer_fill (mask, 0, ids, 4);
  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 1);
  fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (gst_buffer_add_analytics_relation_meta (buffer), mask,
      GST_SEGMENTATION_TYPE_INSTANCE, 2, regions, 20, 10, 40, 20, &segments));
  push_ok (harness, buffer);
  buffer = gst_harness_pull (harness);
  frame_read (&info, buffer, got);
  for (gint i = 0; i < 100 * 80; i++) {
    gboolean kept = i % 100 >= 30 && i % 100 < 40 && i / 100 >= 10 && i / 100 < 30;

    fail_unless (got[0].samples[i] == (kept ? 128 : 0), "%d,%d is %d", i % 100, i / 100, got[0].samples[i]);
  }
  frame_clear (got);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Every second pixel of a large mask is a region: noise, whose rectangle changes instead. */
GST_START_TEST (noise)
{
  GstVideoInfo info = info_of ("GRAY8", 2000, 1000);
  GstHarness *harness = harness_new_for (FILL, &info);
  guint8 *ids = g_new0 (guint8, 400 * 400);
  GstBuffer *buffer;
  Component got[4];

  for (guint i = 0; i < 400 * 400; i++)
    ids[i] = i % 400 > 10 && (i % 400 + i / 400) % 2 ? 7 : 0;
  buffer = add_mask (grey_frame (&info, 0), ids, 400, 400, FALSE, NULL, GST_ANALYTICS_REL_TYPE_NONE);
  push_ok (harness, buffer);
  buffer = gst_harness_pull (harness);
  frame_read (&info, buffer, got);
  for (gint at = 0; at < 2000 * 1000; at++) {
    gint x = at % 2000 - 20, y = at / 2000 - 10;

    fail_unless (got[0].samples[at] == (x >= 44 && x < 1600 && y >= 0 && y < 800 ? 0 : 128), "%d,%d is %d", at % 2000,
        at / 2000, got[0].samples[at]);
  }
  frame_clear (got);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  g_free (ids);
}
GST_END_TEST;

/* A region of a mask is one thing: its parts end where the region has a successor, and all of them stay otherwise. */
GST_START_TEST (parts_are_one_thing)
{
  static const guint8 first[] = { 7, 7, 0, 0, 7, 0, 0, 0, 7, 7, 0, 0 };
  static const guint8 moved[] = { 0, 7, 7, 0, 0, 7, 7, 0, 0, 7, 7, 0 };
  static const guint8 other[] = { 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 9 };
  static const gchar *const classes[] = { "background", "person", "car" };
  const guint8 *ids[] = { first, moved, other };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL, &info);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = add_mask (grey_frame (&info, i * 40 * GST_MSECOND), ids[i], 4, 3, FALSE, classes,
        GST_ANALYTICS_REL_TYPE_N_TO_N);
    Component got[4];

    push_ok (harness, buffer);
    buffer = gst_harness_pull (harness);
    frame_read (&info, buffer, got);
    for (gint at = 0; at < 100 * 80; at++) {
      gint x = (at % 100 - 20) / 4, y = (at / 100 - 10) / 2;
      gboolean inside = at % 100 >= 20 && at / 100 >= 10 && x < 4 && y < 3;
      gboolean covered = inside && (ids[i][y * 4 + x] || (i == 2 && moved[y * 4 + x]));

      fail_unless (got[0].samples[at] == (covered ? 0 : 128), "frame %u: %d,%d is %d", i, at % 100, at / 100,
          got[0].samples[at]);
    }
    frame_clear (got);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A mask that lies nowhere, or that cannot be read, gives one warning until the caps change, and is no metadata. */
GST_START_TEST (refused_masks)
{
  static const guint8 ids[] = { 7, 7, 7, 7 };
  Run run = run_start (FILL "region-fallback=frame region-hold=0", "GRAY8", 100, 80);
  const GstMessageType kinds = GST_MESSAGE_ERROR | GST_MESSAGE_WARNING;

  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer =
        add_mask (grey_frame (&run.info, i * GST_SECOND), ids, 2, 2, FALSE, NULL, GST_ANALYTICS_REL_TYPE_NONE);
    GstAnalyticsSegmentationMtd segments;
    gpointer state = NULL;
    g_autoptr (GstBuffer) mask = NULL;
    gint x, y;
    guint width, height;

    fail_unless (gst_analytics_relation_meta_iterate (gst_buffer_get_analytics_relation_meta (buffer), &state,
        gst_analytics_segmentation_mtd_get_mtd_type (), &segments));
    mask = gst_analytics_segmentation_mtd_get_mask (&segments, &x, &y, &width, &height);
    gst_buffer_get_video_meta (mask)->stride[0] = 100;
    expect_box (run.harness, buffer, 0, 0, 100, 80);
    if (i % 3 == 0)
      run_expect (&run, kinds, GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "region-sources: a mask of segmentation", NULL);
    else
      run_expect_none (&run, kinds);
    if (i == 2) {
      run_caps (&run, "RGB", 100, 80);
      run_caps (&run, "GRAY8", 100, 80);
    }
  }
  run_stop (&run);
}
GST_END_TEST;

/*
 * Masks whose GstVideoMeta says more than the buffer has, and formats whose samples are no ids, are left out: the
 * memory around the buffer has ids, too, which must not be seen. Unusual masks that lie inside are taken.
 */
GST_START_TEST (masks_beyond)
{
  static const struct
  {
    const gchar *what;
    GstVideoFormat format;
    guint width, height, planes, size; /* size: bytes of the buffer */
    gsize offset;
    gint stride;
    gboolean sound;
  } rows[] = { { "plain", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 40, 0, 8, TRUE },
    { "wide rows", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 4 * 20 + 8, 0, 20, TRUE },
    { "upside down", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 40, 32, -8, TRUE },
    { "words", GST_VIDEO_FORMAT_GRAY16_BE, 8, 5, 1, 80, 0, 16, TRUE },
    { "a short buffer", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 39, 0, 8, FALSE },
    { "a large stride", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 40, 0, 9, FALSE },
    { "a huge stride", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 40, 0, 1 << 10, FALSE },
    { "an offset", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 40, 1, 8, FALSE },
    { "an offset outside", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 40, 48, 8, FALSE },
    { "rows before the buffer", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 40, 0, -8, FALSE },
    { "a height", GST_VIDEO_FORMAT_GRAY8, 8, 500, 1, 40, 0, 8, FALSE },
    { "a width", GST_VIDEO_FORMAT_GRAY8, 9, 5, 1, 40, 0, 8, FALSE },
    { "rows that overlap", GST_VIDEO_FORMAT_GRAY8, 8, 5, 1, 40, 0, 0, FALSE },
    { "words in a buffer for bytes", GST_VIDEO_FORMAT_GRAY16_LE, 8, 5, 1, 40, 0, 16, FALSE },
    { "words that overlap", GST_VIDEO_FORMAT_GRAY16_LE, 8, 5, 1, 80, 0, 8, FALSE },
    { "a second plane", GST_VIDEO_FORMAT_GRAY8, 8, 5, 2, 40, 0, 8, FALSE },
    { "no columns", GST_VIDEO_FORMAT_GRAY8, 0, 5, 1, 40, 0, 8, FALSE },
    { "no rows", GST_VIDEO_FORMAT_GRAY8, 8, 0, 1, 40, 0, 8, FALSE },
    { "packed samples", GST_VIDEO_FORMAT_GRAY10_LE32, 8, 5, 1, 60, 0, 12, FALSE },
    { "colours", GST_VIDEO_FORMAT_RGB, 8, 5, 1, 120, 0, 24, FALSE } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-hold=0", &info);
  const gsize room = 1 << 16, around = 1 << 14; /* bytes with ids in front of the buffer, too */
  guint8 *memory = g_malloc (room);

  memset (memory, 7, room);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstBuffer *buffer = grey_frame (&info, i * GST_SECOND), *mask;
    GstAnalyticsSegmentationMtd segments;
    gboolean changed = FALSE;
    Component got[4];

    mask = gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, memory + around, rows[i].size, 0, rows[i].size, NULL,
        NULL);
    gst_buffer_add_video_meta_full (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, rows[i].width,
        rows[i].height, rows[i].planes, (gsize[GST_VIDEO_MAX_PLANES]){ rows[i].offset, rows[i].offset },
        (gint[GST_VIDEO_MAX_PLANES]){ rows[i].stride, rows[i].stride });
    /* A word has 7 in each byte. */
    add_segments (buffer, gst_buffer_ref (mask), 8, 5,
        rows[i].format == GST_VIDEO_FORMAT_GRAY16_LE || rows[i].format == GST_VIDEO_FORMAT_GRAY16_BE ? 0x707 : 7,
        &segments);
    /* GStreamer looks at the format when the mask is added. */
    gst_buffer_get_video_meta (mask)->format = rows[i].format;
    push_ok (harness, buffer);
    buffer = gst_harness_pull (harness);
    frame_read (&info, buffer, got);
    for (gint at = 0; at < 100 * 80; at++)
      changed |= got[0].samples[at] != 128;
    frame_clear (got);
    gst_buffer_unref (buffer);
    fail_unless (changed == rows[i].sound, "%s: the mask was %s", rows[i].what, changed ? "taken" : "left out");
    fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (mask), 1);
    gst_buffer_unref (mask);
  }
  gst_harness_teardown (harness);
  g_free (memory);
}
GST_END_TEST;
#endif

static Suite *
analytics_suite (void)
{
  Suite *suite = suite_create ("analytics");
  TCase *tc = tcase_create ("analytics");

  tcase_add_test (tc, objects);
  tcase_add_test (tc, tracked_objects);
  tcase_add_test (tc, named_objects);
  tcase_add_test (tc, confidence_of_objects);
  tcase_add_test (tc, nothing_found);
  tcase_add_test (tc, over_edges);
  tcase_add_test (tc, refused_objects);
#if GST_CHECK_VERSION(1, 26, 0)
  tcase_add_test (tc, turned);
  tcase_add_test (tc, turned_in_shape);
  tcase_add_test (tc, turned_nowhere);
  tcase_add_test (tc, masks);
  tcase_add_test (tc, masks_of_objects);
  tcase_add_test (tc, masks_of_many);
  tcase_add_test (tc, unlisted_outside);
  tcase_add_test (tc, noise);
  tcase_add_test (tc, parts_are_one_thing);
  tcase_add_test (tc, refused_masks);
  tcase_add_test (tc, masks_beyond);
#endif
  suite_add_tcase (suite, tc);
  return suite;
}

GST_CHECK_MAIN (analytics);
