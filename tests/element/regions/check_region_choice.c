/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which regions count, by who they are and how sure the detector is; and when, by a controller. */
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <string.h>

#include "element/regions/check_regions.h"

/* --- which --- */

/* What a detector, a tracker and classifiers write beside a box; 0, a negative confidence and NULL are not written. */
typedef struct
{
  const gchar *type;
  gint id;
  gdouble confidence;
  const gchar *label;
  gdouble label_confidence;
} Face;

#define SIDE 20

/* Adds the faces side by side, as DL Streamer does. */
static GstBuffer *
add_faces (GstBuffer *buffer, const Face *faces, guint n)
{
  for (guint i = 0; i < n; i++) {
    GstVideoRegionOfInterestMeta *region =
        gst_buffer_add_video_region_of_interest_meta (buffer, faces[i].type, i * SIDE, 0, SIDE, SIDE);

    region->id = 7;
    if (faces[i].confidence >= 0)
      gst_video_region_of_interest_meta_add_param (region,
          gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, faces[i].confidence, NULL));
    if (faces[i].id > 0)
      gst_video_region_of_interest_meta_add_param (region,
          gst_structure_new ("object_id", "id", G_TYPE_INT, faces[i].id, NULL));
    if (faces[i].label) {
      GstStructure *label = gst_structure_new ("reidentification", "label", G_TYPE_STRING, faces[i].label, NULL);

      if (faces[i].label_confidence >= 0)
        gst_structure_set (label, "confidence", G_TYPE_DOUBLE, faces[i].label_confidence, NULL);
      gst_video_region_of_interest_meta_add_param (region, label);
    }
  }
  return buffer;
}

/* The letters of the faces that are black, from A on; a face is black as a whole or not at all. */
static gchar *
covered_faces (const GstVideoInfo *info, GstBuffer *out, guint n_faces)
{
  GString *letters = g_string_new (NULL);
  Component got[4];

  frame_read (info, out, got);
  for (guint i = 0; i < n_faces; i++) {
    guint n = 0;

    for (guint k = 0; k < SIDE * SIDE; k++)
      n += got[0].samples[k / SIDE * got[0].width + i * SIDE + k % SIDE] == 0;
    fail_unless (n == 0 || n == SIDE * SIDE, "%u samples of face %u are black", n, i);
    if (n > 0)
      g_string_append_c (letters, 'A' + i);
  }
  frame_clear (got);
  return g_string_free (letters, FALSE);
}

/*
 * Each way to choose, over faces of which everything, something and nothing is known. Who is not known is covered, in
 * regions and outside of them.
 */
GST_START_TEST (chosen)
{
  static const Face faces[] = { { "face", 7, 0.9, "Presenter", 0.9 }, { "face", 8, 0.3, "guest", 0.9 },
    { "face", 0, 0.5, NULL, -1 }, { "face", 0, -1, "presenter", 0.5 }, { "person", 9, 0, "presenter", -1 } };
  static const struct
  {
    const gchar *properties, *in_regions, *outside; /* the faces that are covered */
  } rows[] = {
    { "", "ABCDE", "" },
    { "region-min-confidence=0.3", "ABCDE", "DE" },
    { "region-min-confidence=0.5", "ACDE", "BDE" },
    { "region-min-confidence=0.91", "DE", "ABCDE" },
    { "region-min-confidence=1", "DE", "ABCDE" },
    { "region-ids=!7", "BCDE", "ACD" },
    { "region-ids=!7,!8", "CDE", "ABCD" },
    { "region-ids=7", "ACD", "BCDE" },
    { "region-ids=9,8", "BCDE", "ACD" },
    { "region-ids=!presenter", "BCD", "ACDE" },
    { "region-ids=presenter", "ACDE", "BCD" },
    { "region-ids=7,presenter", "ACDE", "BCD" },
    { "region-ids=\"!'7'\"", "ABCDE", "CD" },
    { "region-types=face region-ids=!7", "BCD", "ACDE" },
    { "region-types=person region-min-confidence=1", "E", "ABCDE" },
    { "region-sources=text region-ids=!7", "", "ABCDE" },
  };
  GstVideoInfo info = info_of ("GRAY8", 5 * SIDE, 40);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    const gchar *expected = i % 2 ? rows[i / 2].outside : rows[i / 2].in_regions;
    g_autofree gchar *line =
        g_strdup_printf (FILL "%s apply-to=%s", rows[i / 2].properties, i % 2 ? "outside-regions" : "regions");
    g_autofree gchar *covered = NULL;
    GstHarness *harness = harness_new_for (line, &info);
    g_autoptr (GstBuffer) in = add_faces (grey_frame (&info, 0), faces, G_N_ELEMENTS (faces));
    g_autoptr (GstBuffer) out = push_frame (harness, in, FALSE);

    covered = covered_faces (&info, out, G_N_ELEMENTS (faces));
    fail_unless (g_str_equal (covered, expected), "%s: %s are covered, and not %s", line, covered, expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A label in the detection itself, a confidence as a float, and more names than are read: the region has none then. */
GST_START_TEST (other_writers)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 40);

  for (guint i = 0; i < 4; i++) {
    const gchar *properties = i == 0 ? "region-ids=!bob" : i == 1 ? "region-min-confidence=0.5" : "region-ids=!bob";
    g_autofree gchar *line = g_strdup_printf (FILL "%s", properties);
    GstHarness *harness = harness_new_for (line, &info);
    GstBuffer *in = grey_frame (&info, 0);
    GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta (in, "face", 10, 10, 9, 9);

    if (i < 2)
      gst_video_region_of_interest_meta_add_param (region,
          gst_structure_new ("detection", "label", G_TYPE_STRING, "bob", "confidence", G_TYPE_FLOAT,
              i == 0 ? 0.6f : 0.4f, NULL));
    for (guint k = 0; i >= 2 && k < (i == 2 ? 15 : 40); k++)
      gst_video_region_of_interest_meta_add_param (region,
          gst_structure_new ("names", "label", G_TYPE_STRING, k == 14 ? "bob" : "other", NULL));
    expect_box (harness, &info, in, i < 3 ? 0 : 10, i < 3 ? 0 : 10, i < 3 ? 0 : 9, i < 3 ? 0 : 9, line);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Blanks are no type and no name, and an id counts in every type of integers. Who is not known is covered. */
GST_START_TEST (blank_texts)
{
  static const Face faces[] = { { "", 0, -1, NULL, -1 }, { " \t", 0, -1, "", -1 }, { "face", 0, -1, " ", -1 } };
  static const struct
  {
    const gchar *properties, *covered;
  } rows[] = { { "", "ABC" }, { "region-types=face", "ABC" }, { "region-types=person", "AB" },
    { "region-ids=!anna", "ABC" }, { "region-ids=anna", "ABC" } };
  GType types[] = { G_TYPE_INT, G_TYPE_UINT, G_TYPE_INT64, G_TYPE_UINT64 };
  GstVideoInfo info = info_of ("GRAY8", 5 * SIDE, 40);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "%s", rows[i].properties);
    g_autofree gchar *covered = NULL;
    GstHarness *harness = harness_new_for (line, &info);
    g_autoptr (GstBuffer) in = add_faces (grey_frame (&info, 0), faces, G_N_ELEMENTS (faces));
    g_autoptr (GstBuffer) out = push_frame (harness, in, FALSE);

    covered = covered_faces (&info, out, G_N_ELEMENTS (faces));
    fail_unless (g_str_equal (covered, rows[i].covered), "%s: %s are covered, and not %s", line, covered,
        rows[i].covered);
    gst_harness_teardown (harness);
  }
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    GstHarness *harness = harness_new_for (FILL "region-ids=!7", &info);
    GstBuffer *in = grey_frame (&info, 0);
    GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta (in, "face", 10, 10, 9, 9);
    GstStructure *param = gst_structure_new_empty ("object_id");
    GValue id = G_VALUE_INIT, seven = G_VALUE_INIT;

    g_value_init (&seven, G_TYPE_INT);
    g_value_set_int (&seven, 7);
    g_value_init (&id, types[i]);
    fail_unless (g_value_transform (&seven, &id));
    gst_structure_take_value (param, "id", &id);
    gst_video_region_of_interest_meta_add_param (region, param);
    expect_box (harness, &info, in, 0, 0, 0, 0, g_type_name (types[i]));
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Below the least confidence a region is no region, but the frame has metadata: no fallback. */
GST_START_TEST (unsure_is_metadata)
{
  static const Face unsure = { "face", 0, 0.2, NULL, -1 };
  GstVideoInfo info = info_of ("GRAY8", 100, 40);
  GstHarness *harness = harness_new_for (FILL "region-fallback=frame region-hold=0 region-min-confidence=0.5", &info);

  expect_box (harness, &info, grey_frame (&info, 0), 0, 0, 100, 40, "nothing");
  expect_box (harness, &info, add_faces (grey_frame (&info, GST_SECOND), &unsure, 1), 0, 0, 0, 0, "unsure");
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A face that is exempt for a moment has no box then; when the tracker loses the id, the face is covered. */
GST_START_TEST (lost_id)
{
  static const Face presenter = { "face", 7, 0.9, NULL, -1 }, unknown = { "face", 0, 0.9, NULL, -1 };
  GstVideoInfo info = info_of ("GRAY8", 100, 40);
  GstHarness *harness = harness_new_for (FILL "region-ids=!7 region-hold=100000000", &info);

  expect_box (harness, &info, add_faces (grey_frame (&info, 0), &presenter, 1), 0, 0, 0, 0, "known");
  expect_box (harness, &info, add_faces (grey_frame (&info, 40 * GST_MSECOND), &unknown, 1), 0, 0, SIDE, SIDE, "lost");
  /* Nobody knows who the unknown face was, so its box stays for its time. */
  expect_box (harness, &info, add_faces (grey_frame (&info, 80 * GST_MSECOND), &presenter, 1), 0, 0, SIDE, SIDE,
      "held");
  expect_box (harness, &info, add_faces (grey_frame (&info, 160 * GST_MSECOND), &presenter, 1), 0, 0, 0, 0, "over");
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Two faces with an id that is asked for: nobody knows which one is meant. A face and a plate are no such two. */
GST_START_TEST (shared_id)
{
  static const Face twins[] = { { "face", 7, 0.9, NULL, -1 }, { "face", 8, 0.9, NULL, -1 },
    { "face", 7, 0.9, NULL, -1 } };
  static const Face kinds[] = { { "face", 7, 0.9, NULL, -1 }, { "plate", 7, 0.9, NULL, -1 },
    { "face", 9, 0.9, NULL, -1 } };
  static const struct
  {
    const gchar *properties;
    const Face *faces;
    const gchar *covered;
    gboolean told;
  } rows[] = { { "region-ids=!7", twins, "ABC", TRUE }, { "region-ids=!7,!8", twins, "AC", TRUE },
    { "region-ids=!8", twins, "AC", FALSE }, { "region-ids=!7", kinds, "ABC", TRUE },
    { "region-ids=!7 region-types=face", kinds, "C", FALSE }, { "region-ids=7", twins, "AC", TRUE },
    { "region-ids=7 apply-to=outside-regions", twins, "ABC", TRUE },
    { "region-ids=!7 apply-to=outside-regions", twins, "AC", TRUE },
    { "region-ids=8 apply-to=outside-regions", twins, "AC", FALSE } };
  GstVideoInfo info = info_of ("GRAY8", 3 * SIDE, 40);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "region-hold=0 %s", rows[i].properties);
    Run run = run_start (line, "GRAY8", 3 * SIDE, 40);

    for (guint k = 0; k < 2; k++) {
      g_autoptr (GstBuffer) in = add_faces (grey_frame (&info, k * GST_SECOND), rows[i].faces, 3);
      g_autoptr (GstBuffer) out = push_frame (run.harness, in, FALSE);
      g_autofree gchar *covered = covered_faces (&info, out, 3);

      fail_unless (g_str_equal (covered, rows[i].covered), "%s: %s are covered", line, covered);
    }
    if (rows[i].told)
      run_expect (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING, GST_MESSAGE_WARNING, GST_STREAM_ERROR,
          GST_STREAM_ERROR_FORMAT,
          "region-ids: two regions of a frame have the id 7, so nobody knows which is meant, and both are covered",
          NULL);
    run_expect_none (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    run_stop (&run);
  }
}
GST_END_TEST;

/* A bad text is an error before the first frame, and later a warning; the regions before stay. */
GST_START_TEST (bad_ids)
{
  const GstMessageType kinds = GST_MESSAGE_ERROR | GST_MESSAGE_WARNING;
  static const Face face = { "face", 7, 0.9, NULL, -1 };
  Run run = run_start (FILL "region-ids=7,,8", "GRAY8", 100, 40);

  if (run.harness)
    fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
  run_expect (&run, kinds, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "region-ids: \"\" at place 2 has no id or name: ids and names are split by commas", NULL);
  run_stop (&run);

  run = run_start (FILL "region-ids=!7", "GRAY8", 100, 40);
  expect_box (run.harness, &run.info, add_faces (grey_frame (&run.info, 0), &face, 1), 0, 0, 0, 0, "good");
  g_object_set (run.element, "region-ids", "!", NULL);
  expect_box (run.harness, &run.info, add_faces (grey_frame (&run.info, GST_SECOND), &face, 1), 0, 0, 0, 0, "bad");
  run_expect (&run, kinds, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "region-ids: ", NULL);
  g_object_set (run.element, "region-ids", "!8", NULL);
  expect_box (run.harness, &run.info, add_faces (grey_frame (&run.info, 2 * GST_SECOND), &face, 1), 0, 0, SIDE, SIDE,
      "good again");
  run_expect_none (&run, kinds);
  run_stop (&run);
}
GST_END_TEST;

/* --- when --- */

/* Lets a property have these values from these seconds on. */
static void
set_keyframes (GstElement *element, const gchar *property, const gdouble *seconds, const gdouble *values, guint n,
    GstInterpolationMode mode)
{
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", mode, NULL);
  for (guint i = 0; i < n; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), seconds[i] * GST_SECOND, values[i]);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (element), property, source)));
  gst_object_unref (source);
}

/* region-active switches covering by time: text and metadata, in regions and outside of them, to the frame. */
GST_START_TEST (spans_of_time)
{
  static const gdouble seconds[] = { 0, 2, 5, 7.04 }, values[] = { 1, 0, 1, 0 };
  static const gchar *const lines[] = { FILL "regions=10,10,20,20", FILL "region-hold=0",
    "cudaconvolve region-effect=fill apply-to=outside-regions regions=0,0,100,10" };
  GstVideoInfo info = info_of ("GRAY8", 100, 40);

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run run = run_start (lines[i], "GRAY8", 100, 40);

    set_keyframes (run.element, "region-active", seconds, values, G_N_ELEMENTS (seconds), GST_INTERPOLATION_MODE_NONE);
    for (guint frame = 0; frame < 8 * 25; frame++) {
      GstBuffer *in = grey_frame (&info, frame * 40 * GST_MSECOND);
      gboolean active = frame < 50 || (frame >= 125 && frame < 176);
      const ConvolveRect box = i < 2 ? (ConvolveRect){ 10, 10, 20, 20 } : (ConvolveRect){ 0, 10, 100, 30 };
      g_autofree gchar *what = g_strdup_printf ("%s, frame %u", lines[i], frame);

      if (i == 1)
        add_region (in, "face", 10, 10, 20, 20);
      expect_box (run.harness, &info, in, active ? box.x : 0, active ? box.y : 0, active ? box.width : 0,
          active ? box.height : 0, what);
    }
    run_expect_none (&run, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    run_stop (&run);
  }
}
GST_END_TEST;

/* A frame that waits for later ones has the values of its own time. */
GST_START_TEST (spans_of_waiting_frames)
{
  static const gdouble seconds[] = { 0, 1, 2 }, values[] = { 0, 1, 0 };
  GstVideoInfo info = info_of ("GRAY8", 100, 40);
  Run run = run_start (FILL "regions=10,10,20,20 region-lookahead=200000000", "GRAY8", 100, 40);

  set_keyframes (run.element, "region-active", seconds, values, G_N_ELEMENTS (seconds), GST_INTERPOLATION_MODE_NONE);
  for (guint frame = 0; frame < 75; frame++)
    push_ok (run.harness, grey_frame (&info, frame * 40 * GST_MSECOND));
  fail_unless (gst_harness_push_event (run.harness, gst_event_new_eos ()));
  for (guint frame = 0; frame < 75; frame++) {
    g_autoptr (GstBuffer) out = gst_harness_pull (run.harness);
    Component got[4];

    frame_read (&info, out, got);
    fail_unless_equals_int (got[0].samples[15 * 100 + 15], frame >= 25 && frame < 50 ? 0 : 128);
    frame_clear (got);
  }
  run_stop (&run);
}
GST_END_TEST;

/* What a detector sees while nothing is changed is held when covering begins again. */
GST_START_TEST (held_while_inactive)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 40);
  GstHarness *harness = harness_new_for (FILL "region-active=false", &info);

  expect_box (harness, &info, add_region (grey_frame (&info, 0), "face", 10, 10, 20, 20), 0, 0, 0, 0, "inactive");
  gst_harness_set (harness, "cudaconvolve", "region-active", TRUE, NULL);
  expect_box (harness, &info, grey_frame (&info, 40 * GST_MSECOND), 10, 10, 20, 20, "held");
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Numbers go from keyframe to keyframe: the box grows, and the confidence that is asked for rises. */
GST_START_TEST (numbers_by_time)
{
  static const gdouble seconds[] = { 0, 10 }, expand[] = { 0, 0.5 }, confidence[] = { 0, 1 };
  static const Face face = { "face", 0, 0.55, NULL, -1 };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "regions=30,30,20,20 region-sources=text", &info);
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");

  set_keyframes (element, "region-expand", seconds, expand, 2, GST_INTERPOLATION_MODE_LINEAR);
  for (gint i = 0; i <= 10; i++)
    expect_box (harness, &info, grey_frame (&info, i * GST_SECOND), 30 - i, 30 - i, 20 + 2 * i, 20 + 2 * i, "expand");
  gst_object_unref (element);
  gst_harness_teardown (harness);

  harness = harness_new_for (FILL "region-hold=0", &info);
  element = gst_harness_find_element (harness, "cudaconvolve");
  set_keyframes (element, "region-min-confidence", seconds, confidence, 2, GST_INTERPOLATION_MODE_LINEAR);
  for (gint i = 0; i <= 10; i++) {
    gint side = i <= 5 ? SIDE : 0;

    expect_box (harness, &info, add_faces (grey_frame (&info, i * GST_SECOND), &face, 1), 0, 0, side, side,
        "confidence");
  }
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
region_choice (void)
{
  TCase *tc = tcase_create ("choice");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, chosen);
  tcase_add_test (tc, other_writers);
  tcase_add_test (tc, blank_texts);
  tcase_add_test (tc, unsure_is_metadata);
  tcase_add_test (tc, lost_id);
  tcase_add_test (tc, shared_id);
  tcase_add_test (tc, bad_ids);
  tcase_add_test (tc, spans_of_time);
  tcase_add_test (tc, spans_of_waiting_frames);
  tcase_add_test (tc, held_while_inactive);
  tcase_add_test (tc, numbers_by_time);
  return tc;
}
