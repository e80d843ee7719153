/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For how long boxes from metadata stay, which boxes end others, and boxes that begin outside the frame. */
#include "element/regions/check_regions.h"

#include <stdio.h>
#include <string.h>

#define FRAME (40 * GST_MSECOND) /* as the caps say */

/* Reads boxes as "face 10,10,20,20; plate 3,3,5,5" or without types; gives their number. */
static guint
read_boxes (const gchar *text, ConvolveRect *boxes, gchar **types)
{
  g_auto (GStrv) parts = g_strsplit (text, ";", -1);
  guint n = 0;

  for (guint i = 0; parts[i]; i++) {
    gchar type[16] = "";
    ConvolveRect *box = &boxes[n];
    const gchar *at = g_strstrip (parts[i]);

    if (sscanf (at, "%15[A-Za-z]", type) == 1)
      at += strlen (type);
    if (sscanf (at, "%d,%d,%d,%d", &box->x, &box->y, &box->width, &box->height) == 4)
      types[n++] = g_strdup (type);
  }
  return n;
}

/* Pushes a frame with the boxes, and expects that all pixels of the expected boxes changed, and no others. */
static void
push_boxes (GstHarness *harness, const GstVideoInfo *info, GstBuffer *in, const gchar *boxes, const gchar *expected,
    const gchar *what)
{
  g_autoptr (GstBuffer) out = NULL;
  ConvolveRect rects[16];
  gchar *types[16];
  Component got[4];
  guint n = read_boxes (boxes, rects, types);

  for (guint i = 0; i < n; i++) {
    add_region (in, types[i], rects[i].x, rects[i].y, rects[i].width, rects[i].height);
    g_free (types[i]);
  }
  out = push_frame (harness, in, TRUE);
  gst_buffer_unref (in);
  frame_read (info, out, got);
  n = read_boxes (expected, rects, types);
  for (guint i = 0; i < n; i++)
    g_free (types[i]);
  for (gint y = 0; y < got[0].height; y++)
    for (gint x = 0; x < got[0].width; x++) {
      gboolean inside = FALSE;

      for (guint i = 0; i < n; i++)
        inside |=
            x >= rects[i].x && x < rects[i].x + rects[i].width && y >= rects[i].y && y < rects[i].y + rects[i].height;
      if ((got[0].samples[y * got[0].width + x] != 128) != inside)
        fail ("%s: %d,%d is %s; expected %s", what, x, y, inside ? "bare" : "covered", expected);
    }
  frame_clear (got);
}

/* --- boxes outside the frame --- */

GST_START_TEST (boxes_over_edges)
{
  static const struct
  {
    guint x, y, width, height;
    gint expected[4];
  } rows[] = { { 4294967291u, 10, 20, 20, { 0, 10, 15, 20 } }, { 10, 4294967291u, 20, 20, { 10, 0, 20, 15 } },
    { 4294967291u, 4294967291u, 20, 20, { 0, 0, 15, 15 } }, { 4294967291u, 10, 5, 20, { 0, 0, 0, 0 } },
    { 4294967291u, 10, 6, 20, { 0, 10, 1, 20 } }, { 10, 10, G_MAXUINT, 20, { 10, 10, 90, 20 } },
    { 10, 10, 20, 4294967291u, { 10, 10, 20, 70 } }, { 10, 10, 0x7fffffff, 0x80000000u, { 10, 10, 90, 70 } },
    { 0x80000000u, 10, G_MAXUINT, 20, { 0, 10, 100, 20 } }, { 0x7fffffff, 10, G_MAXUINT, 20, { 0, 0, 0, 0 } },
    { 90, 70, 1000, 1000, { 90, 70, 10, 10 } }, { 4294967246u, 4294967246u, 1000, 1000, { 0, 0, 100, 80 } },
    { 99, 79, 1, 1, { 99, 79, 1, 1 } }, { 0, 0, 0, 0, { 0, 0, 0, 0 } }, { 10, 10, 0, 20, { 0, 0, 0, 0 } } };
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    /* A box without area is metadata, too. */
    GstHarness *harness = harness_new_for (FILL "region-fallback=frame", &info);
    g_autofree gchar *what = g_strdup_printf ("row %u", i);
    GstBuffer *buffer = grey_frame (&info, 0);
    const gint *e = rows[i].expected;

    gst_buffer_add_video_region_of_interest_meta (buffer, "face", rows[i].x, rows[i].y, rows[i].width, rows[i].height);
    expect_box (harness, &info, buffer, e[0], e[1], e[2], e[3], what);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The margins and the blocks of a box that passes the edge are those of the whole box; nonsense ends at the edge. */
GST_START_TEST (effects_over_edges)
{
  static const struct
  {
    const gchar *properties, *text;
    guint x, y, width, height;
  } rows[] = { { "region-effect=pixelate region-blocks=2", "90,70,20,20", 90, 70, 20, 20 },
    { "region-effect=pixelate region-blocks=2", "-10,-10,20,20", 4294967286u, 4294967286u, 20, 20 },
    { "region-effect=pixelate region-blocks=3", "60,50,40,30", 60, 50, G_MAXUINT, G_MAXUINT },
    { "region-effect=fill region-expand=0.5", "60,50,40,20", 60, 50, G_MAXUINT, 20 },
    { "region-effect=fill region-expand=0.5", "-5,50,40,20", 4294967291u, 50, 40, 20 } };
  GstVideoInfo info = info_of ("I420", 100, 80);
  g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *plain = g_strdup_printf ("cudaconvolve apply-to=regions %s", rows[i].properties);
    g_autofree gchar *line = g_strdup_printf ("%s regions=%s", plain, rows[i].text);
    GstHarness *by_meta = harness_new_for (plain, &info), *by_text = harness_new_for (line, &info);
    g_autoptr (GstBuffer) marked = gst_buffer_copy_deep (in), got = NULL, wanted = NULL;
    Component expected[4];

    gst_buffer_add_video_region_of_interest_meta (marked, "face", rows[i].x, rows[i].y, rows[i].width, rows[i].height);
    got = push_frame (by_meta, marked, TRUE);
    wanted = push_frame (by_text, in, TRUE);
    frame_read (&info, wanted, expected);
    compare_components (&info, expected, got, line);
    frame_clear (expected);
    gst_harness_teardown (by_meta);
    gst_harness_teardown (by_text);
  }
}
GST_END_TEST;

/* --- which boxes end others --- */

/* Frames, and what each must cover; NULL for as many as the frame has. */
typedef struct
{
  const gchar *what;
  struct
  {
    const gchar *boxes, *expected;
  } frames[8];
} Story;

static const Story stories[] = {
  { "a car and its plate, then the plate",
      { { "car 10,10,60,40; plate 36,28,10,6", NULL }, { "plate 36,28,10,6", "10,10,60,40" }, { "", "10,10,60,40" },
          { "car 12,10,60,40", "12,10,60,40" } } },
  { "a car and its plate of one type",
      { { "car 10,10,60,40; car 30,25,10,6", NULL }, { "car 30,25,10,6", "10,10,60,40" },
          { "car 14,10,60,40", "14,10,60,40" }, { "", "14,10,60,40" } } },
  { "another type on top",
      { { "face 30,30,20,20", NULL }, { "person 10,10,50,60", "10,10,50,60" },
          { "person 60,10,30,60", "10,10,50,60; 60,10,30,60; 30,30,20,20" } } },
  { "another type in the same place",
      { { "face 30,30,20,20", NULL }, { "head 34,30,20,20", "30,30,24,20" }, { "face 38,30,20,20", "34,30,24,20" } } },
  { "types that differ in case", { { "face 30,30,20,20", NULL }, { "Face 34,30,20,20", "34,30,20,20" } } },
  { "a face that moves by a third of its width",
      { { "face 0,10,18,18", NULL }, { "face 6,10,18,18", NULL }, { "face 12,10,18,18", NULL },
          { "face 18,10,18,18", NULL }, { "face 24,10,18,18", NULL }, { "", "24,10,18,18" },
          { "face 30,10,18,18", NULL } } },
  { "a face that moves askew",
      { { "face 50,40,16,16", NULL }, { "face 46,36,16,16", NULL }, { "face 42,40,16,16", NULL },
          { "face 42,46,16,16", NULL } } },
  { "a face that jumps",
      { { "face 0,10,18,18", NULL }, { "face 40,10,18,18", "0,10,18,18; 40,10,18,18" },
          { "face 44,10,18,18", "0,10,18,18; 44,10,18,18" } } },
  { "a box that grows and shrinks",
      { { "face 40,30,20,20", NULL }, { "face 30,20,40,40", NULL }, { "face 35,24,30,30", NULL },
          { "face 39,28,22,22", NULL } } },
  { "a box that shrinks to less than half", { { "face 30,20,40,40", NULL }, { "face 40,30,20,20", "30,20,40,40" } } },
  { "each of two that lie over each other is missed in turn",
      { { "face 10,10,20,20; face 18,10,20,20", NULL }, { "face 18,10,20,20", "10,10,28,20" },
          { "face 10,10,20,20", "10,10,28,20" }, { "face 18,10,20,20", "10,10,28,20" },
          { "face 10,10,20,20", "10,10,28,20" } } },
  { "a face that passes over another one, which is missed",
      { { "face 16,10,18,18; face 40,10,18,18", NULL }, { "face 22,10,18,18", "22,10,36,18" },
          { "face 28,10,18,18", "28,10,30,18" }, { "face 34,10,18,18", "28,10,30,18" },
          { "face 40,10,18,18", "28,10,30,18" }, { "face 46,10,18,18", "28,10,36,18" },
          { "face 52,10,18,18", "28,10,42,18" } } },
  { "a face that comes when another one is missed, and passes over it",
      { { "face 40,10,18,18", NULL }, { "face 22,10,18,18", "22,10,36,18" }, { "face 28,10,18,18", "28,10,30,18" },
          { "face 34,10,18,18", "28,10,30,18" }, { "face 40,10,18,18", "28,10,30,18" },
          { "face 46,10,18,18", "28,10,36,18" } } },
  { "two faces that cross, both seen",
      { { "face 0,10,18,18; face 40,10,18,18", NULL }, { "face 6,10,18,18; face 34,10,18,18", NULL },
          { "face 12,10,18,18; face 28,10,18,18", NULL }, { "face 18,10,18,18; face 22,10,18,18", NULL },
          { "face 24,10,18,18; face 16,10,18,18", NULL }, { "face 30,10,18,18; face 10,10,18,18", NULL },
          { "", "30,10,18,18; 10,10,18,18" } } },
  { "one box between two earlier ones replaces none of them",
      { { "face 10,10,20,20", NULL }, { "face 24,10,20,20", "10,10,34,20" }, { "face 18,10,20,20", "10,10,34,20" } } },
  { "the best overlap comes first",
      { { "face 10,10,20,20; face 20,10,20,20", NULL }, { "face 21,10,20,20; face 15,10,20,20", "15,10,26,20" } } },
  { "the best overlap comes first, and what may be the other one stays",
      { { "face 10,10,20,20; face 21,10,20,20", NULL }, { "face 12,10,20,20; face 2,10,20,20", "2,10,39,20" } } },
  { "what was seen last comes first",
      { { "face 10,10,20,20", NULL }, { "face 21,10,20,20", "10,10,31,20" },
          { "face 15,10,20,20; face 4,10,20,20", "4,10,31,20" } } },
  { "one box twice", { { "face 10,10,20,20; face 10,10,20,20", NULL }, { "face 14,10,20,20", "14,10,20,20" } } },
};

GST_START_TEST (successors)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (stories); i++) {
    GstHarness *harness = harness_new_for (FILL, &info);

    for (guint k = 0; k < G_N_ELEMENTS (stories[i].frames) && stories[i].frames[k].boxes; k++) {
      const gchar *boxes = stories[i].frames[k].boxes, *expected = stories[i].frames[k].expected;
      g_autofree gchar *what = g_strdup_printf ("%s, frame %u", stories[i].what, k);

      push_boxes (harness, &info, grey_frame (&info, k * FRAME), boxes, expected ? expected : boxes, what);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* What remains of boxes that were not replaced ends with their time, and leaves no trail behind it. */
GST_START_TEST (no_trail)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-hold=100000000", &info);

  push_boxes (harness, &info, grey_frame (&info, 0), "face 10,10,20,20; face 16,10,20,20", "10,10,26,20", "two");
  for (guint i = 1; i < 12; i++) {
    g_autofree gchar *face = g_strdup_printf ("face %u,10,20,20", 10 + i);
    g_autofree gchar *what = g_strdup_printf ("frame %u", i);

    if (i == 1)
      push_boxes (harness, &info, grey_frame (&info, i * FRAME), face, "10,10,26,20", what);
    else if (i < 6)
      gst_buffer_unref (
          push_frame (harness, add_region (grey_frame (&info, i * FRAME), "face", 10 + i, 10, 20, 20), TRUE));
    else
      push_boxes (harness, &info, grey_frame (&info, i * FRAME), face, face, what);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Boxes of earlier frames lie where they did in the picture when frames get another size. */
GST_START_TEST (new_size)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80), half = info_of ("GRAY8", 50, 80);
  GstHarness *harness = harness_new_for (FILL, &info);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&half);

  push_boxes (harness, &info, grey_frame (&info, 0), "face 40,20,20,30", "40,20,20,30", "before");
  fail_unless (gst_harness_push_event (harness, gst_event_new_caps (caps)));
  push_boxes (harness, &half, grey_frame (&half, FRAME), "", "20,20,10,30", "after");
  push_boxes (harness, &half, grey_frame (&half, 2 * FRAME), "face 22,20,10,30", "22,20,10,30", "a successor");
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* How many warnings of too many held boxes were posted since the last call. */
static guint
count_warnings (Run *run)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (run->bus, GST_MESSAGE_WARNING))) {
    g_autoptr (GError) error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    n += g_str_has_prefix (error->message, "region-hold: more than 16384 boxes");
    gst_message_unref (message);
  }
  return n;
}

/* Too many held boxes become the whole frame, which the user is told once until the caps change. */
GST_START_TEST (too_many)
{
  Run run = run_start (FILL "region-hold=18446744073709551615", "GRAY8", 100, 80);

  for (guint i = 0; i < 20; i++) {
    GstBuffer *buffer = add_region (grey_frame (&run.info, i * FRAME), "face", 10, 10, 20, 20);

    /* They lie outside the frame, each frame's in another place. */
    for (guint k = 0; k < 2000; k++)
      add_region (buffer, "face", 100000 * (i + 1) + 20 * k, 0, 10, 10);
    if (i == 9)
      expect_box (run.harness, &run.info, gst_buffer_ref (buffer), 0, 0, 100, 80, "too many");
    else
      gst_buffer_unref (push_frame (run.harness, buffer, TRUE));
    gst_buffer_unref (buffer);
    fail_unless_equals_int (count_warnings (&run), i == 9 || i == 18 ? 1 : 0);
    if (i == 10) {
      run_caps (&run, "RGB", 100, 80);
      run_caps (&run, "GRAY8", 100, 80);
    }
  }
  run_stop (&run);
}
GST_END_TEST;

/* --- time --- */

#define SEEN "face 10,10,20,20"
#define KEPT "10,10,20,20"

static void
push_segment (GstHarness *harness, gdouble rate, GstClockTime base, GstFormat format)
{
  GstSegment segment;

  gst_segment_init (&segment, format);
  segment.rate = rate;
  segment.base = base;
  if (format == GST_FORMAT_TIME && rate < 0)
    segment.stop = 100 * GST_SECOND;
  fail_unless (gst_harness_push_event (harness, gst_event_new_segment (&segment)));
}

/* Frames in the order of their time stamps in units of 10 ms; the first has the box, and the last ones have not. */
GST_START_TEST (order)
{
  static const struct
  {
    const gchar *what;
    gdouble rate;
    gint fps;
    gint64 times[5];   /* 0 ends; -1 for none */
    const gchar *kept; /* y or n for each frame */
  } rows[] = { { "forward", 1, 25, { 100, 104, 110, 111, 115 }, "yyynn" },
    { "backward", -1, 25, { 900, 896, 890, 889, 885 }, "yyynn" },
    { "backward, fast", -2, 25, { 900, 892, 880, 879, 870 }, "yyynn" },
    { "time stamps that go back", 1, 25, { 900, 896, 890, 889, 885 }, "yyynn" },
    { "out of order", 1, 25, { 100, 108, 104, 112, 108 }, "yyynn" },
    { "a jump back", 1, 25, { 900, 10, 14, 900 }, "ynnn" }, { "a gap", 1, 25, { 100, 200, 204 }, "ynn" },
    { "no time stamps", 1, 25, { -1, -1, -1, -1, -1 }, "yyynn" },
    { "no time stamps, backward", -1, 25, { -1, -1, -1, -1, -1 }, "yyynn" },
    { "one frame a second", 1, 1, { 100, 200, 300 }, "yyn" },
    { "one frame a second, backward", -1, 1, { 900, 800, 700 }, "yyn" },
    { "one frame a second, no time stamps", 1, 1, { -1, -1, -1 }, "yyn" },
    { "one frame a second, jitter", 1, 1, { 100, 230, 330 }, "yyn" },
    { "no frame rate", 1, 0, { 100, 200, 300 }, "yyn" }, { "some time stamps", 1, 25, { 100, -1, 108, 112 }, "yyyn" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstVideoInfo info = info_of ("GRAY8", 100, 80);
    GstHarness *harness;

    GST_VIDEO_INFO_FPS_N (&info) = rows[i].fps;
    GST_VIDEO_INFO_FPS_D (&info) = 1;
    harness = harness_new_for (FILL "region-hold=100000000", &info);
    push_segment (harness, rows[i].rate, 0, GST_FORMAT_TIME);
    for (guint k = 0; rows[i].kept[k]; k++) {
      g_autofree gchar *what = g_strdup_printf ("%s, frame %u", rows[i].what, k);
      gint64 time = rows[i].times[k];

      push_boxes (harness, &info,
          grey_frame (&info, time < 0 ? GST_CLOCK_TIME_NONE : (guint64) time * 10 * GST_MSECOND), k == 0 ? SEEN : "",
          rows[i].kept[k] == 'y' ? KEPT : "", what);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A time stamp that goes back by a nanosecond forgets neither boxes nor that there was metadata. */
GST_START_TEST (one_nanosecond)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-fallback=frame", &info);

  push_boxes (harness, &info, grey_frame (&info, GST_SECOND), SEEN, KEPT, "seen");
  push_boxes (harness, &info, grey_frame (&info, GST_SECOND - 1), "", KEPT, "a nanosecond back");
  push_boxes (harness, &info, grey_frame (&info, GST_SECOND - 2), "", KEPT, "one more");
  push_boxes (harness, &info, grey_frame (&info, GST_SECOND + GST_SECOND / 2), "", KEPT, "the last moment");
  push_boxes (harness, &info, grey_frame (&info, GST_SECOND + GST_SECOND / 2 + 1), "", "0,0,100,80", "lost");
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* With a hold of 0 no box of an earlier frame counts, at any rate, and no metadata of it. */
GST_START_TEST (no_hold)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-hold=0 region-fallback=frame", &info);

  push_boxes (harness, &info, grey_frame (&info, 0), SEEN, KEPT, "seen");
  push_boxes (harness, &info, grey_frame (&info, 0), "", "0,0,100,80", "at the same time");
  push_boxes (harness, &info, grey_frame (&info, 0), SEEN, KEPT, "seen again");
  push_boxes (harness, &info, grey_frame (&info, FRAME), "face 60,10,20,20", "60,10,20,20", "elsewhere");
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Segments that follow each other in running time, and frames without one. */
GST_START_TEST (more_segments)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  GstHarness *harness = harness_new_for (FILL "region-hold=100000000", &info);
  GstBuffer *buffer;

  push_segment (harness, 1, 0, GST_FORMAT_TIME);
  push_boxes (harness, &info, grey_frame (&info, 9 * GST_SECOND), SEEN, KEPT, "the last frame");
  push_segment (harness, 1, 9 * GST_SECOND + FRAME, GST_FORMAT_TIME);
  push_boxes (harness, &info, grey_frame (&info, 0), "", KEPT, "a loop");
  push_boxes (harness, &info, grey_frame (&info, FRAME), "", KEPT, "its second frame");
  push_boxes (harness, &info, grey_frame (&info, 2 * FRAME), "", "", "its third frame");
  /* The same time stamp a second later: the segment tells. */
  push_boxes (harness, &info, grey_frame (&info, 3 * FRAME), SEEN, KEPT, "seen again");
  push_segment (harness, 1, 20 * GST_SECOND, GST_FORMAT_TIME);
  push_boxes (harness, &info, grey_frame (&info, 4 * FRAME), "", "", "a gap");
  /* In bytes nothing has a time. */
  push_segment (harness, 1, 0, GST_FORMAT_BYTES);
  push_boxes (harness, &info, grey_frame (&info, 0), SEEN, KEPT, "in bytes");
  for (guint i = 0; i < 3; i++) {
    buffer = grey_frame (&info, i == 1 ? GST_CLOCK_TIME_NONE : i * GST_SECOND);
    GST_BUFFER_DTS (buffer) = i * GST_SECOND;
    push_boxes (harness, &info, buffer, "", i < 2 ? KEPT : "", "frames in bytes");
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* --- a film that is played backward --- */

typedef struct
{
  GstClockTime last; /* time stamp of the last frame */
  guint frames, seen, covered, bare;
  gboolean backward;
} Reverse;

static GstPadProbeReturn
add_face (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Reverse *reverse = data;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (probe));

  /* Of every 5 frames the detector finds one. */
  if (reverse->backward && reverse->frames % 5 == 0) {
    add_region (buffer, "face", 8, 8, 16, 16);
    reverse->seen++;
  }
  GST_PAD_PROBE_INFO_DATA (probe) = buffer;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
look_at_face (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Reverse *reverse = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  guint8 pixel;

  if (!reverse->backward)
    return GST_PAD_PROBE_OK;
  fail_unless (reverse->frames == 0 || GST_BUFFER_PTS (buffer) < reverse->last);
  reverse->last = GST_BUFFER_PTS (buffer);
  gst_buffer_extract (buffer, 16 * 32 + 16, &pixel, 1);
  reverse->frames++;
  if (pixel == 16 || pixel == 0)
    reverse->covered++;
  else
    reverse->bare++;
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (backward)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "videotestsrc pattern=white ! video/x-raw,format=GRAY8,width=32,height=32,framerate=25/1 ! " FILL
      "name=c ! fakesink name=sink",
      NULL);
  g_autoptr (GstElement) convolve = gst_bin_get_by_name (GST_BIN (pipeline), "c");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (convolve, "sink"), src = NULL;
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  Reverse reverse = { 0 };

  src = gst_element_get_static_pad (convolve, "src");
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, add_face, &reverse, NULL);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, look_at_face, &reverse, NULL);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless (gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS);
  reverse.backward = TRUE;
  fail_unless (gst_element_seek (pipeline, -1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
      GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 2 * GST_SECOND));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (reverse.frames >= 50 && reverse.seen >= 10 && reverse.bare == 0, "%u frames, %u of them bare",
      reverse.frames, reverse.bare);
}
GST_END_TEST;

TCase *
region_hold (void)
{
  TCase *tc = tcase_create ("held");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, boxes_over_edges);
  tcase_add_test (tc, effects_over_edges);
  tcase_add_test (tc, successors);
  tcase_add_test (tc, no_trail);
  tcase_add_test (tc, new_size);
  tcase_add_test (tc, too_many);
  tcase_add_test (tc, order);
  tcase_add_test (tc, one_nanosecond);
  tcase_add_test (tc, no_hold);
  tcase_add_test (tc, more_segments);
  tcase_add_test (tc, backward);
  return tc;
}
