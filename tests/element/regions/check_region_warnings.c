/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions that come to nothing, or to less than they seem to, are told on the bus, once for each fault and caps. Too many
 * boxes become the whole frame.
 */
#include "element/regions/check_regions.h"

#include <string.h>

#define KINDS (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING)

/* Takes all messages: one warning that has all words, which are split by '|', or none where words is NULL. */
static void
expect_warning (Run *run, const gchar *words, const gchar *what)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (run->bus, KINDS))) {
    g_auto (GStrv) list = g_strsplit (words ? words : "", "|", -1);
    g_autoptr (GError) error = NULL;

    fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_WARNING);
    gst_message_parse_warning (message, &error, NULL);
    fail_unless (words != NULL && n++ == 0, "%s: \"%s\"", what, error->message);
    for (guint i = 0; list[i]; i++)
      fail_unless (strstr (error->message, list[i]), "%s: \"%s\" has no \"%s\"", what, error->message, list[i]);
    gst_message_unref (message);
  }
  fail_unless (n == (words ? 1 : 0), "%s: nothing was told", what);
}

static void
push_at (Run *run, GstClockTime time)
{
  g_autoptr (GstBuffer) in = grey_frame (&run->info, time);

  gst_buffer_unref (push_frame (run->harness, in, FALSE));
}

/* --- settings --- */

GST_START_TEST (settings_are_told)
{
  static const struct
  {
    const gchar *line, *words;
  } rows[] = {
    { "regions=1,1,8,8", "regions: without effect|apply-to is frame|apply-to=regions covers" },
    { "region-effect=fill region-types=face", "region-types, region-effect: without effect|apply-to=regions covers" },
    { "regions=\"\"", NULL },
    { "sigma=2", NULL },
    { "apply-to=regions region-sources=text", "apply-to: there can be no region|write boxes into regions" },
    { "apply-to=outside-regions region-sources=text", "apply-to: there can be no region|write boxes into regions" },
    { "apply-to=regions regions=0.1,0.1,0.5,0.5", "regions: box 1 is less than a pixel|10%,10%,50%,50%" },
    { "apply-to=regions regions=1,1,8,8;3,3,0.5,20", "regions: box 2 is less than a pixel|10%,10%,50%,50%" },
    { "apply-to=regions regions=0,0,1,1", "regions: box 1 is one pixel large|10%,10%,50%,50%" },
    { "apply-to=regions regions=2,0,1,1", NULL },
    { "apply-to=regions regions=0.1%,0.1%,0.5%,0.5%", NULL },
    { "apply-to=regions regions=1,1,8,8 region-types=\"face;plate\"", "region-types:|comma|face,plate" },
    { "apply-to=regions regions=1,1,8,8 region-types=\"face,plate\"", NULL },
    { "apply-to=regions regions=1,1,8,8 region-ids=\"7;12\"", "region-ids:|comma|7,12" },
    { "apply-to=regions regions=1,1,8,8 region-ids=7,12", NULL },
    { "apply-to=regions regions=1,1,8,8 region-strength=0.19", "region-strength: below 0.2|tests/results/undo.md" },
    { "apply-to=regions regions=1,1,8,8 region-strength=0.2", NULL },
    { "apply-to=regions regions=1,1,8,8 region-strength=0.2 mask=box", "region-strength: below 0.3|undo.md" },
    { "apply-to=regions regions=1,1,8,8 region-strength=0.3 mask=box", NULL },
    { "apply-to=regions regions=1,1,8,8 region-blocks=4", "region-blocks: |3 blocks|tests/results/undo.md" },
    { "apply-to=regions regions=1,1,8,8 region-blocks=3", NULL },
    { "apply-to=regions regions=1,1,8,8 region-blocks=4 region-effect=fill", NULL },
    { "apply-to=regions regions=1,1,8,8 region-effect=noise-pixelate region-epsilon=1.5",
        "region-epsilon: |tests/results/undo.md" },
    { "apply-to=regions regions=1,1,8,8 region-effect=noise-pixelate region-epsilon=1", NULL },
    { "apply-to=regions regions=1,1,8,8 region-opacity=0.9", "region-opacity: below 1|shows through|region-opacity=1" },
    { "apply-to=outside-regions regions=1,1,8,8 region-opacity=0.9", "region-opacity: below 1|shows through" },
    { "apply-to=regions regions=1,1,8,8 region-opacity=1", NULL },
    { "apply-to=outside-regions regions=1,1,8,8 region-smooth=100000000",
        "region-smooth: |stays in sight|region-smooth=0" },
    { "apply-to=outside-regions regions=1,1,8,8 region-smooth=0", NULL },
    { "apply-to=regions regions=1,1,8,8", NULL },
    { "apply-to=outside-regions regions=1,1,8,8", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", rows[i].line);
    Run run = run_start (line, "GRAY8", 64, 48);

    push_at (&run, 0);
    expect_warning (&run, rows[i].words, line);
    /* The same again is no new fault; after a start it is. */
    g_object_set (run.element, "region-hold", G_GUINT64_CONSTANT (500000000), NULL);
    push_at (&run, GST_SECOND);
    expect_warning (&run, NULL, line);
    run_stop (&run);
  }
}
GST_END_TEST;

/* --- boxes outside the frame --- */

/* Without caps, and with the first caps, a text whose boxes touch no frame is an error, and no frame is touched. */
GST_START_TEST (outside_before_playing)
{
  static const struct
  {
    const gchar *regions, *error;
  } rows[] = {
    { "120%,0,10%,10%", "regions: \"120%,0,10%,10%\" has no box that can touch a frame" },
    { "100%,0,10,10", "has no box that can touch a frame" },
    { "0,100%,10,10", "has no box that can touch a frame" },
    { "-10,0,10,10", "has no box that can touch a frame" },
    { "0,-20%,10,20%", "has no box that can touch a frame" },
    { "0,-20%,10,20%;-9,3,9,3", "has no box that can touch a frame" },
    { "64,0,10,10", "regions: \"64,0,10,10\" has no box that touches the frame of 64x48; boxes are in luma pixels" },
    { "0,48,10,10;1000,1,9,9", "has no box that touches the frame of 64x48" },
    { "-100%,0,50,10", "has no box that touches the frame of 64x48" },
    { "63,0,10,10", NULL },
    { "99.9%,0,10,10", NULL },
    { "-10,0,10.5,10", NULL },
    { "-50%,0,33,10", NULL },
  };

  for (guint i = 0; i < 3 * G_N_ELEMENTS (rows); i++) {
    const gchar *error = rows[i / 3].error;
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve apply-to=%s regions=\"%s\" %s",
        i % 3 == 1 ? "outside-regions" : "regions", rows[i / 3].regions, i % 3 == 2 ? "region-sources=text" : "");
    Run run = run_start (line, "GRAY8", 64, 48);

    fail_unless (run.harness || error, "%s", line);
    if (run.harness)
      fail_unless_equals_int (run_push (&run), error ? GST_FLOW_ERROR : GST_FLOW_OK);
    if (error)
      run_expect (&run, KINDS, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, error, NULL);
    else
      expect_warning (&run, NULL, line);
    run_stop (&run);
  }
}
GST_END_TEST;

/* Expansion and feather count: a box beside the frame may reach it. */
GST_START_TEST (outside_with_margins)
{
  static const gchar *const lines[] = { "regions=-10,0,10,10 region-expand=0.2", "regions=-10,0,10,10 region-feather=1",
    "regions=100%,0,10,10 region-expand=0.1", "regions=64,0,10,10 region-feather=3",
    "regions=-20%,0,20%,10 region-expand=0.1" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "%s", lines[i]);
    Run run = run_start (line, "GRAY8", 64, 48);
    g_autoptr (GstBuffer) in = grey_frame (&run.info, 0), out = push_frame (run.harness, in, FALSE);

    fail_if (gst_buffer_memcmp (out, 0, "\200\200\200\200\200\200\200\200", 8) == 0 && !strstr (lines[i], "64,0")
        && !strstr (lines[i], "100%"));
    expect_warning (&run, NULL, line);
    run_stop (&run);
  }
}
GST_END_TEST;

/* While frames flow a new text outside is a warning, and the boxes before stay. One box outside is a warning alone. */
GST_START_TEST (outside_while_playing)
{
  Run run = run_start (FILL "regions=10,10,8,8", "GRAY8", 100, 80);

  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 10, 10, 8, 8, "good");
  g_object_set (run.element, "regions", "100,10,8,8", NULL);
  for (guint i = 0; i < 2; i++)
    expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 10, 10, 8, 8, "outside");
  expect_warning (&run, "regions: \"100,10,8,8\" has no box that touches the frame of 100x80|per cent", "outside");
  g_object_set (run.element, "regions", "120%,10,8,8", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 10, 10, 8, 8, "outside of all frames");
  expect_warning (&run, "regions: \"120%,10,8,8\" has no box that touches the frame", "outside of all frames");
  g_object_set (run.element, "regions", "20,20,8,8;100,10,8,8", NULL);
  for (guint i = 0; i < 2; i++)
    expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 20, 20, 8, 8, "one outside");
  expect_warning (&run, "regions: box 2 lies outside the frame of 100x80|per cent", "one outside");
  g_object_set (run.element, "regions", "30,20,8,8", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 30, 20, 8, 8, "good again");
  expect_warning (&run, NULL, "good again");
  g_object_set (run.element, "regions", "30,80,8,8;20,20,8,8", "mask", "box", NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 20, 20, 8, 8, "one outside again");
  expect_warning (&run, "regions: box 1 lies outside the frame of 100x80", "one outside again");
  run_stop (&run);
}
GST_END_TEST;

/* What is set beside boxes outside of the frame holds. */
GST_START_TEST (outside_beside_a_mask)
{
  Run run =
      run_start ("cudaconvolve apply-to=regions region-effect=mask mask=identity regions=10,10,8,8", "GRAY8", 100, 80);

  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 0, 0, 0, 0, "identity");
  g_object_set (run.element, "regions", "100,10,8,8", "bias", 0.25, NULL);
  expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 10, 10, 8, 8, "bias");
  expect_warning (&run, "regions: |no box that touches the frame", "bias");
  run_stop (&run);
}
GST_END_TEST;

/* With new caps the boxes that stay may lie outside. Then the whole frame is covered, which is told for each caps. */
GST_START_TEST (outside_of_new_caps)
{
  static const gchar *const lines[] = {
    FILL "regions=70,10,20,20",
    "cudaconvolve apply-to=outside-regions region-effect=fill regions=70,10,20,20 region-shape=ellipse region-feather=9"
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run run = run_start (lines[i], "GRAY8", 100, 80);

    push_at (&run, 0);
    expect_warning (&run, NULL, "large");
    for (guint k = 0; k < 2; k++) {
      run_caps (&run, "GRAY8", 60 - k, 50);
      for (guint n = 0; n < 3; n++)
        expect_box (run.harness, &run.info, grey_frame (&run.info, 0), 0, 0, 60 - k, 50, "small");
      expect_warning (&run,
          k ? "regions: no box touches the frame of 59x50, so the whole frame is changed"
            : "regions: no box touches the frame of 60x50, so the whole frame is changed",
          "small");
    }
    g_object_set (run.element, "regions", "10,10,5,5", NULL);
    push_at (&run, 0);
    expect_warning (&run, NULL, "small, and good");
    run_caps (&run, "GRAY8", 100, 80);
    push_at (&run, 0);
    expect_warning (&run, NULL, "large again");
    run_stop (&run);
  }
}
GST_END_TEST;

GST_START_TEST (metadata_outside)
{
  Run run = run_start (FILL "region-hold=0 region-feather=3", "GRAY8", 100, 80);

  expect_box (run.harness, &run.info,
      add_region (add_region (grey_frame (&run.info, 0), "face", 110, 10, 20, 20), "face", 10, 10, 1, 1), 7, 7, 7, 7,
      "one outside");
  expect_warning (&run, NULL, "one outside");
  for (guint i = 1; i < 4; i++)
    expect_box (run.harness, &run.info,
        add_region (add_region (grey_frame (&run.info, i * GST_SECOND), "face", 103, 10, 20, 20), "face", 0, 90, 9, 9),
        0, 0, 0, 0, "all outside");
  expect_warning (&run,
      "region-sources: all boxes in the metadata of a frame lie outside the frame of 100x80|luma pixels",
      "all outside");
  run_caps (&run, "GRAY8", 90, 80);
  for (guint i = 4; i < 6; i++)
    expect_box (run.harness, &run.info, add_region (grey_frame (&run.info, i * GST_SECOND), "face", 200, 10, 20, 20), 0,
        0, 0, 0, "new caps");
  expect_warning (&run, "region-sources: all boxes|90x80", "new caps");
  run_stop (&run);
}
GST_END_TEST;

/* --- what does not come --- */

#define FRAME (40 * GST_MSECOND)

static void
push_types (Run *run, guint n, const gchar *type, const gchar *other)
{
  for (guint i = 0; i < n; i++) {
    g_autoptr (GstBuffer) in = grey_frame (&run->info, i * FRAME);

    if (type)
      add_region (in, type, 10, 10, 20, 20);
    if (other)
      add_region (in, other, 50, 10, 20, 20);
    gst_buffer_unref (push_frame (run->harness, in, FALSE));
  }
}

/* Pushes EOS, which ends the stream. */
static void
end_stream (Run *run)
{
  fail_unless (gst_harness_push_event (run->harness, gst_event_new_eos ()));
}

GST_START_TEST (types_that_never_come)
{
  Run run = run_start (FILL "region-types=\"Face, plate ,!dog\"", "GRAY8", 100, 80);

  push_types (&run, 60, NULL, NULL);
  expect_warning (&run, "apply-to: nothing is changed in the first 50 frames", "no metadata");
  push_types (&run, 49, "car", "Person");
  expect_warning (&run, NULL, "49 frames");
  push_types (&run, 30, "car", "dog");
  expect_warning (&run,
      "region-types: no region of the types \"face\", \"plate\" came in 50 frames|types that came: \"car\", \"Person\", \"dog\". |by commas",
      "50 frames");
  /* Other types begin anew. */
  g_object_set (run.element, "region-types", "car,bus", NULL);
  push_types (&run, 49, "car", NULL);
  expect_warning (&run, NULL, "a new type");
  end_stream (&run);
  expect_warning (&run, NULL, "told in these caps");
  run_stop (&run);

  run = run_start (FILL "region-types=\"face\"", "GRAY8", 100, 80);
  push_types (&run, 20, "FACE", "car");
  push_types (&run, 100, NULL, "car");
  end_stream (&run);
  expect_warning (&run, NULL, "the type came");
  run_stop (&run);

  run = run_start (FILL "region-types=\"faces\"", "GRAY8", 100, 80);
  push_types (&run, 3, "face", "car");
  expect_warning (&run, NULL, "a short stream");
  end_stream (&run);
  expect_warning (&run, "region-types: no region of the types \"faces\" came in 3 frames|\"face\", \"car\"", "the end");
  run_stop (&run);

  run = run_start (FILL "region-types=\"!dog\"", "GRAY8", 100, 80);
  push_types (&run, 100, "face", "car");
  end_stream (&run);
  expect_warning (&run, NULL, "types that are left out");
  run_stop (&run);
}
GST_END_TEST;

/* Pushes frames with a region, which a tracker gave this id, or none for 0, and the detector this confidence. */
static void
push_ids (Run *run, guint n, gint id, gdouble confidence)
{
  for (guint i = 0; i < n; i++) {
    g_autoptr (GstBuffer) in = grey_frame (&run->info, i * FRAME);
    GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta (in, "face", 10, 10, 20, 20);

    if (id > 0)
      gst_video_region_of_interest_meta_add_param (region, gst_structure_new ("object_id", "id", G_TYPE_INT, id, NULL));
    gst_video_region_of_interest_meta_add_param (region,
        gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, confidence, NULL));
    gst_buffer_unref (push_frame (run->harness, in, FALSE));
  }
}

/* Ids and names that were asked for and never came; what is left out by an id is missing where no region has an id. */
GST_START_TEST (ids_that_never_come)
{
  Run run = run_start (FILL "region-ids=\"7, !9, Bob\"", "GRAY8", 100, 80);

  push_types (&run, 20, NULL, NULL);
  push_ids (&run, 49, 3, 1);
  expect_warning (&run, NULL, "49 frames");
  push_ids (&run, 30, 4, 1);
  expect_warning (&run,
      "region-ids: no region of 50 frames says anything of 7, \"bob\"; ids and names that came: 3, 4. Trackers write ids",
      "50 frames");
  end_stream (&run);
  expect_warning (&run, NULL, "told");
  run_stop (&run);

  run = run_start (FILL "region-ids=!7", "GRAY8", 100, 80);
  push_ids (&run, 60, 0, 1);
  expect_warning (&run,
      "region-ids: no region of 50 frames says anything of !7; none has an id or a name. Trackers write ids, classifiers "
      "write names, and a region without an id or a name is covered",
      "no tracker");
  run_stop (&run);

  run = run_start (FILL "region-ids=!7", "GRAY8", 100, 80);
  push_ids (&run, 1, 3, 1);
  push_ids (&run, 60, 0, 1);
  end_stream (&run);
  expect_warning (&run, NULL, "a tracker");
  run_stop (&run);

  run = run_start (FILL "region-ids=7", "GRAY8", 100, 80);
  push_ids (&run, 3, 8, 1);
  end_stream (&run);
  expect_warning (&run, "region-ids: no region of 3 frames says anything of 7; ids and names that came: 8. ",
      "the end");
  run_stop (&run);
}
GST_END_TEST;

GST_START_TEST (too_little_confidence)
{
  Run run = run_start (FILL "region-min-confidence=0.8", "GRAY8", 100, 80);

  push_ids (&run, 20, 0, 0.3);
  push_ids (&run, 29, 0, 0.625);
  expect_warning (&run, NULL, "49 frames");
  push_ids (&run, 9, 0, 0.4);
  expect_warning (&run,
      "region-min-confidence: the regions of 50 frames are all below 0.8, so none of them counts; the largest confidence was "
      "0.62",
      "50 frames");
  run_stop (&run);

  run = run_start (FILL "region-min-confidence=0.8", "GRAY8", 100, 80);
  push_ids (&run, 30, 0, 0.3);
  push_ids (&run, 1, 0, 0.8);
  push_ids (&run, 60, 0, 0.3);
  end_stream (&run);
  expect_warning (&run, NULL, "one that is sure");
  run_stop (&run);
}
GST_END_TEST;

/* A message lists some types, none of them long. */
GST_START_TEST (many_types)
{
  Run run = run_start (FILL "region-types=face", "GRAY8", 100, 80);

  for (guint i = 0; i < 50; i++) {
    g_autofree gchar *name = g_strnfill (i == 1 ? 5000 : 1, i == 1 ? 'x' : 'A' + i % 26);
    g_autofree gchar *type = g_strdup_printf ("%s%u", name, i);
    g_autoptr (GstBuffer) in = add_region (grey_frame (&run.info, i * FRAME), type, 1, 1, 2, 2);

    gst_buffer_unref (push_frame (run.harness, in, FALSE));
  }
  expect_warning (&run, "\"A0\", \"xxxxxx|xxx...\", \"C2\", \"D3\", \"E4\", \"F5\", \"G6\", \"H7\" and others. ",
      "many types");
  run_stop (&run);
}
GST_END_TEST;

GST_START_TEST (metadata_that_never_comes)
{
  static const struct
  {
    const gchar *properties;
    gboolean told;
  } rows[] = { { "", TRUE }, { "region-sources=roi regions=1,1,8,8", TRUE }, { "regions=1,1,8,8", FALSE },
    { "region-fallback=frame", FALSE }, { "region-sources=text", FALSE } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (FILL "%s", rows[i / 2].properties);
    gboolean told = rows[i / 2].told;
    Run run = run_start (line, "GRAY8", 100, 80);

    gst_buffer_unref (push_frame (run.harness, grey_frame (&run.info, 0), FALSE));
    while (gst_bus_have_pending (run.bus))
      gst_message_unref (gst_bus_pop (run.bus)); /* of the settings */
    push_types (&run, i % 2 ? 70 : 20, NULL, NULL);
    expect_warning (&run,
        told && i % 2 ? "apply-to: nothing is changed in the first 50 frames|region-fallback=frame" : NULL, line);
    end_stream (&run);
    expect_warning (&run, told && i % 2 == 0 ? "apply-to: nothing is changed in the first 21 frames" : NULL, line);
    run_stop (&run);
  }
}
GST_END_TEST;

/* --- too many boxes --- */

static gchar *
grid_of_boxes (guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%u,%u,1,1;", 1 + i % 60 * 2, 1 + i / 60 * 2);
  return g_string_free (text, FALSE);
}

/* One box more than the limit is the whole frame; so is a little more area. Nothing outside counts. */
GST_START_TEST (limits)
{
  g_autofree gchar *many = grid_of_boxes (1024), *too_many = grid_of_boxes (1025);
  g_autofree gchar *with_outside = g_strdup_printf ("%s;500,500,9,9", many);
  const struct
  {
    const gchar *regions, *properties, *words;
  } rows[] = {
    { many, "", NULL },
    { with_outside, "", "box 1025 lies outside" },
    { too_many, "", "regions: 1025 boxes touch a frame, and more than 1024|whole frame is changed|fewer boxes" },
    { "0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90", "", NULL },
    { "0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;0,0,124,90;2,2,3,3", "",
        "times the frame's area|more than 8 times|whole frame is changed" },
    { "9,9,9,9;9,9,9,8;9,9,9,7;9,9,9,6;9,9,9,5;9,9,9,4;9,9,9,3;9,9,9,2;9,9,9,1", "region-feather=200",
        "9.0 times the frame's area" },
    { "9,9,9,9;9,9,9,8;9,9,9,7;9,9,9,6;9,9,9,5;9,9,9,4;9,9,9,3;9,9,9,2;9,9,20,9", "region-expand=10", NULL },
  };
  static const gchar *const effects[] = { "region-effect=fill", "region-effect=pixelate",
    "region-effect=mask mask=box region-shape=ellipse" };

  for (guint i = 0; i < 6 * G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve apply-to=%s %s %s regions=\"%s\"",
        i % 2 ? "outside-regions" : "regions", effects[i / 2 % 3], rows[i / 6].properties, rows[i / 6].regions);
    g_autofree gchar *whole =
        g_strdup_printf ("apply-to=regions %s regions=0,0,124,90 region-shape=rectangle", effects[i / 2 % 3]);
    gboolean limited = rows[i / 6].words && strstr (rows[i / 6].words, "whole frame");
    Run run = run_start (line, "I420", 124, 90);
    g_autoptr (GstBuffer) in = frame_new (&run.info, FRAME_PLAIN, seed + i), out = NULL, expected = NULL;
    Component components[4];

    gst_buffer_unref (push_frame (run.harness, in, FALSE));
    out = push_frame (run.harness, in, i % 4 > 1);
    expect_warning (&run, rows[i / 6].words, rows[i / 6].properties);
    expected = convolve_whole (whole, &run.info, in);
    frame_read (&run.info, expected, components);
    if (limited)
      compare_components (&run.info, components, out, effects[i / 2 % 3]);
    frame_clear (components);
    run_stop (&run);
  }
}
GST_END_TEST;

static gint
touched_share (Run *run, GstBuffer *in)
{
  g_autoptr (GstBuffer) out = push_frame (run->harness, in, FALSE);
  GstMapInfo map;
  gint n = 0;

  gst_buffer_map (out, &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size; i++)
    n += map.data[i] != 128;
  gst_buffer_unmap (out, &map);
  return 100 * n / (gint) map.size;
}

/* The metadata of a frame, too: a million boxes take some seconds to make, and less to cover. */
GST_START_TEST (a_million_boxes)
{
  static const gchar *const lines[] = { FILL "region-hold=0", FILL "region-hold=18446744073709551615",
    "cudaconvolve apply-to=outside-regions region-effect=fill region-hold=0" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run run = run_start (lines[i], "GRAY8", 1000, 800);
    g_autoptr (GstBuffer) in = grey_frame (&run.info, 0), few = grey_frame (&run.info, 2 * GST_SECOND);
    gint64 start;

    for (guint k = 0; k < (i == 0 ? 1000000 : 100000); k++)
      add_region (in, "face", k % 997, k / 1000 % 797, 3, 3);
    start = g_get_monotonic_time ();
    fail_unless_equals_int (touched_share (&run, in), 100);
    fail_unless (g_get_monotonic_time () - start < 20 * G_USEC_PER_SEC);
    expect_warning (&run, "region-sources: the metadata of a frame has more than 65536 boxes|whole frame|region-types",
        "a million");
    /* The next frame has one box, which is enough where nothing is held. */
    add_region (few, "face", 0, 0, 500, 800);
    push_at (&run, GST_SECOND);
    fail_unless_equals_int (touched_share (&run, few), i == 1 ? 100 : 50);
    expect_warning (&run, NULL, "few");
    run_stop (&run);
  }
}
GST_END_TEST;

/* Boxes in a chain, each with the next one alone, from the last to the first: the union of patches is no slow search. */
GST_START_TEST (chains)
{
  GString *text = g_string_new (NULL);
  gint64 start;

  for (guint i = 1000; i-- > 0;)
    g_string_append_printf (text, "%u,%u,4,4;", i * 3 % 1500 / 2 * 2, i * 3 / 1500 * 8 + i % 2);
  g_autofree gchar *line = g_strdup_printf (FILL "regions=\"%s\"", text->str);
  Run run = run_start (line, "GRAY8", 1600, 1200);

  g_string_free (text, TRUE);
  start = g_get_monotonic_time ();
  for (guint i = 0; i < 20; i++)
    push_at (&run, i * FRAME);
  fail_unless (g_get_monotonic_time () - start < 10 * G_USEC_PER_SEC);
  expect_warning (&run, NULL, "a chain");
  run_stop (&run);
}
GST_END_TEST;

TCase *
region_warnings (void)
{
  TCase *tc = tcase_create ("warnings");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, settings_are_told);
  tcase_add_test (tc, outside_before_playing);
  tcase_add_test (tc, outside_with_margins);
  tcase_add_test (tc, outside_while_playing);
  tcase_add_test (tc, outside_beside_a_mask);
  tcase_add_test (tc, outside_of_new_caps);
  tcase_add_test (tc, metadata_outside);
  tcase_add_test (tc, types_that_never_come);
  tcase_add_test (tc, ids_that_never_come);
  tcase_add_test (tc, too_little_confidence);
  tcase_add_test (tc, many_types);
  tcase_add_test (tc, metadata_that_never_comes);
  tcase_add_test (tc, limits);
  tcase_add_test (tc, a_million_boxes);
  tcase_add_test (tc, chains);
  return tc;
}
