/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record of region-log: its chain and its checksums, from the words of plugin/regions.md, its order, and its
 * errors.
 */
#include "element/regions/check_regions.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FRAME (40 * GST_MSECOND)
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define BLOCKS "apply-to=regions region-effect=pixelate "

/* --- files --- */

/* A new empty file; to be freed, and deleted by forget(). */
static gchar *
new_file (void)
{
  gchar *name;
  gint file = g_file_open_tmp ("record-XXXXXX", &name, NULL);

  fail_unless (file >= 0);
  close (file);
  return name;
}

static void
forget (gchar *name)
{
  g_unlink (name);
  g_free (name);
}

static gchar *
line_with (const gchar *properties, const gchar *name)
{
  return g_strdup_printf ("cudaconvolve %s region-log=\"%s\"", properties, name);
}

/*
 * The lines of a record, to be freed by g_strfreev(). Each must end, have ASCII alone, and begin with the hash of the
 * line before; the last one must be an end with this number of frames.
 */
static GStrv
read_lines (const gchar *name, guint frames)
{
  g_autofree gchar *text = NULL, *end = g_strdup_printf ("\"line\":\"end\",\"frames\":%u}", frames);
  g_autofree gchar *previous = g_strdup (ZEROS);
  gsize length;
  GStrv lines;
  guint n;

  fail_unless (g_file_get_contents (name, &text, &length, NULL));
  fail_unless (length > 0 && text[length - 1] == '\n' && strlen (text) == length);
  for (gsize i = 0; i < length; i++)
    fail_unless (text[i] == '\n' || (text[i] >= ' ' && text[i] < 127), "byte %d at %zu", text[i], i);
  text[length - 1] = '\0';
  lines = g_strsplit (text, "\n", -1);
  n = g_strv_length (lines);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *begin = g_strdup_printf ("{\"previous\":\"%s\",\"line\":\"", previous);

    fail_unless (g_str_has_prefix (lines[i], begin), "line %u: %s, expected %s", i + 1, lines[i], begin);
    g_free (previous);
    previous = g_compute_checksum_for_string (G_CHECKSUM_SHA256, lines[i], -1);
  }
  fail_unless (strstr (lines[0], "\"line\":\"head\",\"format\":1,\"plugin\":\"cudaconvolve "), "%s", lines[0]);
  fail_unless (g_str_has_suffix (lines[n - 1], end), "%s", lines[n - 1]);
  return lines;
}

/* The n-th line of a frame, counted from 0. */
static const gchar *
frame_line (GStrv lines, guint n)
{
  g_autofree gchar *wanted = g_strdup_printf ("\"line\":\"frame\",\"frame\":%u,", n);

  for (guint i = 0; lines[i]; i++)
    if (strstr (lines[i], wanted))
      return lines[i];
  fail ("no line of frame %u", n);
  return NULL;
}

static void
expect_in (const gchar *line, const gchar *text)
{
  fail_unless (strstr (line, text), "\"%s\" is not in %s", text, line);
}

static void
expect_not_in (const gchar *line, const gchar *text)
{
  fail_if (strstr (line, text), "\"%s\" is in %s", text, line);
}

/* The kinds of all lines, split by blanks; to be freed. */
static gchar *
kinds_of (GStrv lines)
{
  GString *kinds = g_string_new (NULL);

  for (guint i = 0; lines[i]; i++) {
    const gchar *kind = strstr (lines[i], "\"line\":\"") + strlen ("\"line\":\"");

    g_string_append_printf (kinds, "%s%.*s", i > 0 ? " " : "", (gint) strcspn (kind, "\""), kind);
  }
  return g_string_free (kinds, FALSE);
}

/* --- checksums --- */

/*
 * As the words say: component after component, row after row, a byte for 8 bits, and otherwise two with the lower
 * first.
 */
static gchar *
hash_of (const GstVideoInfo *info, GstBuffer *buffer)
{
  guint depth = GST_VIDEO_INFO_COMP_DEPTH (info, 0);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  Component components[4];

  frame_read (info, buffer, components);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint i = 0; i < components[c].width * components[c].height; i++) {
      guint8 value[2] = { components[c].samples[i] & 255, components[c].samples[i] >> 8 };

      g_byte_array_append (bytes, value, depth > 8 ? 2 : 1);
    }
  frame_clear (components);
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, bytes->data, bytes->len);
}

/* The means of 8 by 8 parts of the first component. */
static gchar *
means_of (const GstVideoInfo *info, GstBuffer *buffer)
{
  guint shift = GST_VIDEO_INFO_COMP_DEPTH (info, 0) - 8;
  GString *text = g_string_new (NULL);
  Component components[4];

  frame_read (info, buffer, components);
  for (gint j = 0; j < 8; j++)
    for (gint i = 0; i < 8; i++) {
      gint width = components[0].width, height = components[0].height, n = 0;
      guint64 sum = 0;

      for (gint y = height * j / 8; y < height * (j + 1) / 8; y++)
        for (gint x = width * i / 8; x < width * (i + 1) / 8; x++, n++)
          sum += components[0].samples[y * width + x];
      g_string_append_printf (text, "%02x", n > 0 ? (guint) ((sum * 2 + n) / (2 * n)) >> shift : 0);
    }
  frame_clear (components);
  return g_string_free (text, FALSE);
}

static void
expect_samples (const gchar *line, const GstVideoInfo *info, GstBuffer *buffer)
{
  g_autofree gchar *hash = hash_of (info, buffer), *means = means_of (info, buffer);
  g_autofree gchar *tail = g_strdup_printf (",\"means\":\"%s\",\"sha256\":\"%s\"}", means, hash);

  fail_unless (g_str_has_suffix (line, tail), "%s %dx%d: %s, expected %s; seed %u", GST_VIDEO_INFO_NAME (info),
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), line, tail, seed);
}

/* One changed frame and one that passes, of every kind of format, memory and size. */
GST_START_TEST (checksums)
{
  static const gchar *const formats[] = { "GRAY8", "I420", "NV12", "NV21", "Y42B", "Y444", "YUY2", "UYVY", "AYUV",
    "RGB", "BGRx", "xRGB", "ARGB", "GBR", "GRAY16_LE", "GRAY16_BE", "I420_10LE", "I420_10BE", "P010_10LE", "P012_BE",
    "Y444_12LE", "Y210", "ARGB64", "YUV9", "A420", "v210", "r210", "Y410", "NV12_10LE40", "NV12_4L4", "IYU1" };
  static const gint sizes[][2] = { { 64, 48 }, { 33, 21 }, { 5, 3 }, { 1, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
      GstVideoInfo info = info_of (formats[i], sizes[k][0], sizes[k][1]);
      gchar *name = new_file ();
      g_autofree gchar *plain = line_with (BLOCKS "region-hold=0", name);
      GstHarness *harness = harness_new_for (plain, &info);
      GstBuffer *outputs[4];
      g_auto (GStrv) lines = NULL;

      for (guint layout = FRAME_PLAIN; layout <= FRAME_MEMORIES; layout++) {
        GstBuffer *buffer = frame_new (&info, layout, seed + layout);

        if (layout % 2 == 0)
          add_region (buffer, "face", 0, 0, MIN (20, sizes[k][0]), MIN (10, sizes[k][1]));
        push_ok (harness, buffer);
        outputs[layout] = gst_harness_pull (harness);
      }
      gst_harness_teardown (harness);
      lines = read_lines (name, 4);
      for (guint layout = FRAME_PLAIN; layout <= FRAME_MEMORIES; layout++) {
        const gchar *line = frame_line (lines, layout);

        expect_samples (line, &info, outputs[layout]);
        expect_in (line, layout % 2 == 0 ? "\"boxes\":[[0,0," : "\"regions\":[]");
        gst_buffer_unref (outputs[layout]);
      }
      forget (name);
    }
}
GST_END_TEST;

/* --- regions --- */

/* Pushes a grey frame, and lets the result go. */
static void
push_grey (GstHarness *harness, const GstVideoInfo *info, guint n, const gchar *type, gint x, gint y, gint width,
    gint height)
{
  GstBuffer *buffer = grey_frame (info, n * FRAME);

  if (width > 0)
    add_region (buffer, type, x, y, width, height);
  push_ok (harness, buffer);
  gst_buffer_unref (gst_harness_pull (harness));
}

GST_START_TEST (sources)
{
  GstVideoInfo info = info_of ("I420", 100, 80);
  gchar *name = new_file ();
  g_autofree gchar *line =
      line_with (BLOCKS "region-blocks=2 regions=50,40,20,30 region-hold=40000000 region-expand=0.1", name);
  GstHarness *harness = harness_new_for (line, &info);
  g_auto (GStrv) lines = NULL;

  push_grey (harness, &info, 0, "face", 10, 10, 20, 20);
  push_grey (harness, &info, 1, NULL, 0, 0, 0, 0);
  push_grey (harness, &info, 2, NULL, 0, 0, 0, 0);
  gst_harness_teardown (harness);
  lines = read_lines (name, 3);
  expect_in (lines[0], "\"region-blocks\":2,");
  expect_in (lines[0], "\"regions\":\"50,40,20,30\"");
  expect_in (frame_line (lines, 0), "\"frame\":0,\"running-time\":0,\"pts\":0,");
  expect_in (frame_line (lines, 0), "\"settings\":{\"mask\":");
  expect_in (frame_line (lines, 0),
      "{\"source\":\"text\",\"type\":null,\"id\":null,\"confidence\":null,\"how\":\"seen\",\"effect\":\"pixelate\",\"blocks\":[48,37,12],"
      "\"shape\":\"rectangle\",\"boxes\":[[48,37,24,36]]}");
  expect_in (frame_line (lines, 0),
      "{\"source\":\"roi\",\"type\":\"face\",\"id\":null,\"confidence\":null,\"how\":\"seen\",\"effect\":\"pixelate\",\"blocks\":[8,8,12],"
      "\"shape\":\"rectangle\",\"boxes\":[[8,8,24,24]]}");
  expect_in (frame_line (lines, 1), "\"running-time\":40000000,\"pts\":40000000,");
  expect_not_in (frame_line (lines, 1), "settings");
  expect_in (frame_line (lines, 1),
      "\"source\":\"roi\",\"type\":\"face\",\"id\":null,\"confidence\":null,\"how\":\"held\"");
  expect_not_in (frame_line (lines, 2), "roi");
  expect_in (frame_line (lines, 2), "text");
  forget (name);
}
GST_END_TEST;

/* A box before the first frame that has it. */
GST_START_TEST (looked_ahead)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  gchar *name = new_file ();
  g_autofree gchar *line = line_with (BLOCKS "region-hold=0 region-lookahead=80000000", name);
  GstHarness *harness = harness_new_for (line, &info);
  g_auto (GStrv) lines = NULL;

  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = grey_frame (&info, i * FRAME);

    push_ok (harness, i == 2 ? add_region (buffer, "face", 10, 10, 20, 20) : buffer);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  gst_harness_teardown (harness);
  lines = read_lines (name, 4);
  for (guint i = 0; i < 3; i++) {
    expect_in (frame_line (lines, i), "\"source\":\"roi\",\"type\":\"face\",");
    expect_in (frame_line (lines, i), i == 2 ? "\"how\":\"seen\"" : "\"how\":\"looked-ahead\"");
    expect_in (frame_line (lines, i), "\"boxes\":[[10,10,20,20]]");
  }
  expect_in (frame_line (lines, 3), "\"regions\":[]");
  forget (name);
}
GST_END_TEST;

/* The tracker's number and the detector's confidence. */
GST_START_TEST (trackers)
{
  GstVideoInfo info = info_of ("GRAY8", 100, 80);
  gchar *name = new_file ();
  g_autofree gchar *line = line_with (BLOCKS, name);
  GstHarness *harness = harness_new_for (line, &info);
  GstBuffer *buffer = grey_frame (&info, 0);
  GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta (buffer, "face", 10, 10, 20, 20);
  g_auto (GStrv) lines = NULL;

  gst_video_region_of_interest_meta_add_param (meta,
      gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.75, NULL));
  gst_video_region_of_interest_meta_add_param (meta, gst_structure_new ("object_id", "id", G_TYPE_INT, 42, NULL));
  push_ok (harness, buffer);
  gst_harness_teardown (harness);
  lines = read_lines (name, 1);
  expect_in (frame_line (lines, 0), "\"type\":\"face\",\"id\":42,\"confidence\":0.75,\"how\":\"seen\"");
  forget (name);
}
GST_END_TEST;

/* What is said of each effect, of the whole frame, and of what lies outside. */
GST_START_TEST (effects)
{
  static const struct
  {
    const gchar *properties, *expected;
  } rows[] = {
    { "apply-to=regions region-effect=fill region-color=0xffffffff regions=0,0,8,8",
        "\"effect\":\"fill\",\"fill\":[235,128,128,-1]" },
    { "apply-to=regions region-effect=fill region-color=0xffffffff region-opacity=0.25 regions=0,0,8,8",
        "\"effect\":\"fill\",\"opacity\":0.25,\"fill\":[235,128,128,-1]" },
    { "apply-to=regions region-effect=fill region-opacity=0 regions=0,0,8,8", "\"regions\":[]" },
    { "apply-to=regions region-effect=fill components=y regions=0,0,8,8 region-shape=ellipse",
        "\"fill\":[16,-1,-1,-1],\"shape\":\"ellipse\",\"boxes\":[[0,0,8,8]]" },
    { "apply-to=regions region-strength=0.2 regions=-10,-10,50,60", "\"effect\":\"mask\",\"sigma\":11.3137" },
    { "apply-to=regions region-effect=mask regions=0,0,8,8", "\"effect\":\"mask\",\"shape\"" },
    { "apply-to=regions region-strength=0 regions=0,0,8,8", "\"regions\":[]" },
    { "apply-to=regions region-effect=mask mask=identity regions=0,0,8,8", "\"boxes\":[[0,0,8,8]]" },
    { "apply-to=regions region-effect=fill region-fallback=frame",
        "\"whole\":\"no-metadata\",\"regions\":[{\"source\":null,\"type\":null,\"id\":null,\"confidence\":null,\"how\":\"fallback\",\"effect\":\"fill\"" },
    { "apply-to=outside-regions region-effect=pixelate region-blocks=4 regions=1,2,3,4",
        "\"outside\":{\"effect\":\"pixelate\",\"blocks\":[0,0,20]},\"regions\":[{\"source\":\"text\",\"type\":null,\"id\":null,"
        "\"confidence\":null,\"how\":\"seen\",\"effect\":null,\"shape\":\"rectangle\",\"boxes\":[[1,2,3,4]]}]" },
    { "apply-to=outside-regions region-effect=fill region-color=0xff000000",
        "\"outside\":{\"effect\":\"fill\",\"fill\":[16,128,128,-1]},\"regions\":[]" },
    { "apply-to=regions region-effect=fill regions=\"polygon:10,10 30,10.5 20,40;0,0,8,8\"",
        "\"boxes\":[[10,10,20,30]],\"polygons\":[[0,160,160,480,168,320,640]]}" },
    { "apply-to=regions region-effect=fill regions=0,0,8,8 region-active=false", "\"regions\":[]" },
    { "apply-to=regions region-effect=fill region-fallback=frame region-active=false", "null,\"settings\"" },
    { "apply-to=regions region-effect=noise-pixelate regions=0,0,8,8 region-seed=2031047115",
        "\"region-seed\":\"secret\"" },
    { "apply-to=regions region-effect=noise-pixelate regions=0,0,8,8", "\"region-seed\":0" },
    { "mask=identity", "\"regions\":[]" },
    { "mask=gaussian", "\"regions\":[]" },
  };
  GstVideoInfo info = info_of ("I420", 100, 80);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gchar *name = new_file ();
    g_autofree gchar *line = line_with (rows[i].properties, name);
    GstHarness *harness = harness_new_for (line, &info);
    g_autoptr (GstBuffer) out = NULL;
    g_auto (GStrv) lines = NULL;

    push_ok (harness, frame_new (&info, FRAME_PLAIN, seed));
    out = gst_harness_pull (harness);
    gst_harness_teardown (harness);
    lines = read_lines (name, 1);
    expect_in (frame_line (lines, 0), rows[i].expected);
    expect_not_in (frame_line (lines, 0), "2031047115");
    expect_samples (frame_line (lines, 0), &info, out);
    forget (name);
  }
}
GST_END_TEST;

/* A region that a picture fills has the checksum of the picture's file, and no colour. */
GST_START_TEST (pictures)
{
  static const gchar pgm[] = "P5 1 1 255\n\x80";
  GstVideoInfo info = info_of ("I420", 32, 32);
  g_autofree gchar *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) pgm, sizeof pgm - 1);
  g_autofree gchar *expected = g_strdup_printf ("\"effect\":\"fill\",\"picture\":\"%s\",\"shape\"", sum);
  gchar *name = new_file (), *picture = new_file ();
  g_autofree gchar *properties =
      g_strdup_printf ("apply-to=regions region-effect=fill regions=1,1,8,8 region-picture=%s", picture);
  g_autofree gchar *line = line_with (properties, name);
  g_auto (GStrv) lines = NULL;
  GstHarness *harness;

  fail_unless (g_file_set_contents (picture, pgm, sizeof pgm - 1, NULL));
  harness = harness_new_for (line, &info);
  push_ok (harness, frame_new (&info, FRAME_PLAIN, seed));
  gst_harness_teardown (harness);
  lines = read_lines (name, 1);
  expect_in (frame_line (lines, 0), expected);
  expect_not_in (frame_line (lines, 0), "\"fill\":[");
  forget (picture);
  forget (name);
}
GST_END_TEST;

/* Texts of users and of other elements go in so that each line stays one line of ASCII. */
GST_START_TEST (texts)
{
  GstVideoInfo info = info_of ("GRAY8", 32, 32);
  gchar *name = new_file ();
  g_autofree gchar *line = line_with (BLOCKS "region-hold=0", name);
  GstHarness *harness = harness_new_for (line, &info);
  g_auto (GStrv) lines = NULL;

  g_object_set (harness->element, "region-types", "!\"quoted\"\\,!line\nbreak", NULL);
  push_grey (harness, &info, 0, "a \"face\"\\\n\t\r\x7f", 0, 0, 8, 8);
  push_grey (harness, &info, 1, "Gesicht \xc3\xa4 \xe4\xba\xba \xf0\x9f\x98\x80 \xe2\x80\xa8", 0, 0, 8, 8);
  push_grey (harness, &info, 2, "bad \xff\xc3", 0, 0, 8, 8);
  gst_harness_teardown (harness);
  lines = read_lines (name, 3);
  expect_in (frame_line (lines, 0), "\"region-types\":\"!\\\"quoted\\\"\\\\,!line\\u000abreak\"");
  expect_in (frame_line (lines, 0), "\"type\":\"a \\\"face\\\"\\\\\\u000a\\u0009\\u000d\\u007f\"");
  expect_in (frame_line (lines, 1), "\"type\":\"Gesicht \\u00e4 \\u4eba \\ud83d\\ude00 \\u2028\"");
  expect_in (frame_line (lines, 2), "\"type\":\"bad \\ufffd\\ufffd\"");
  forget (name);
}
GST_END_TEST;

/* --- order --- */

/*
 * With frames in flight each line is that of its frame, with the settings that the frame had. Over the fake device,
 * frames are done at the last moment.
 */
GST_START_TEST (order)
{
  GstVideoInfo info = info_of ("NV12", 64, 48);
  gchar *name = new_file ();
  g_autofree gchar *line = line_with ("apply-to=regions region-effect=fill frames-in-flight=3", name);
  GstHarness *harness = harness_new_for (line, &info);
  GstBuffer *outputs[12];
  g_auto (GStrv) lines = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++) {
    GstBuffer *buffer = frame_new (&info, FRAME_PLAIN, seed + i);
    g_autofree gchar *box = g_strdup_printf ("%u,0,8,8", i);

    GST_BUFFER_PTS (buffer) = i * FRAME;
    if (i % 3 == 0)
      g_object_set (harness->element, "regions", i == 6 ? NULL : box, NULL);
    push_ok (harness, buffer);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    outputs[i] = gst_harness_pull (harness);
  gst_harness_teardown (harness);
  lines = read_lines (name, G_N_ELEMENTS (outputs));
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++) {
    const gchar *got = frame_line (lines, i);
    g_autofree gchar *pts = g_strdup_printf ("\"pts\":%" G_GUINT64_FORMAT ",", i * FRAME);
    g_autofree gchar *box = g_strdup_printf ("\"boxes\":[[%u,0,8,8]]", i / 3 * 3);

    expect_in (got, pts);
    expect_in (got, i / 3 == 2 ? "\"regions\":[]" : box);
    fail_unless ((strstr (got, "\"settings\"") != NULL) == (i % 3 == 0), "%s", got);
    expect_samples (got, &info, outputs[i]);
    gst_buffer_unref (outputs[i]);
  }
  forget (name);
}
GST_END_TEST;

/* What happens between frames has its place among them, and a flush does not lose settings. */
GST_START_TEST (events)
{
  GstVideoInfo info = info_of ("GRAY8", 32, 32);
  gchar *name = new_file ();
  g_autofree gchar *line = line_with ("apply-to=regions region-effect=fill regions=0,0,8,8", name), *kinds = NULL;
  GstHarness *harness = harness_new_line (line);
  g_auto (GStrv) lines = NULL;
  GstSegment segment;

  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
  push_grey (harness, &info, 0, NULL, 0, 0, 0, 0);
  gst_harness_push_event (harness, gst_event_new_gap (FRAME, FRAME));
  push_grey (harness, &info, 2, NULL, 0, 0, 0, 0);
  gst_element_set_state (harness->element, GST_STATE_PAUSED);
  gst_element_set_state (harness->element, GST_STATE_PLAYING);
  gst_harness_push_event (harness, gst_event_new_flush_start ());
  gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 2;
  segment.start = segment.time = 10 * GST_SECOND;
  gst_harness_push_event (harness, gst_event_new_segment (&segment));
  push_grey (harness, &info, 300, NULL, 0, 0, 0, 0);
  gst_harness_set_src_caps (harness, frame_caps ("RGB", 16, 16, NULL));
  info = info_of ("RGB", 16, 16);
  push_grey (harness, &info, 301, NULL, 0, 0, 0, 0);
  gst_harness_push_event (harness, gst_event_new_eos ());
  gst_harness_teardown (harness);
  lines = read_lines (name, 4);
  kinds = kinds_of (lines);
  fail_unless_equals_string (kinds,
      "head state stream-start caps segment frame gap frame state state flush-stop segment "
      "frame caps segment frame eos state end");
  expect_in (lines[3], "\"format\":\"GRAY8\",\"width\":32,\"height\":32,\"caps\":\"video/x-raw, ");
  expect_in (lines[6], "\"pts\":40000000,\"duration\":40000000}");
  expect_in (lines[8], "\"state\":\"paused\"");
  expect_in (lines[9], "\"state\":\"playing\"");
  expect_in (lines[11],
      "\"rate\":2,\"format\":\"time\",\"start\":10000000000,\"stop\":null,\"time\":10000000000,\"base\":0");
  expect_in (frame_line (lines, 2), "\"running-time\":1000000000,\"pts\":12000000000,");
  expect_in (lines[13], "\"format\":\"RGB\",\"width\":16,");
  forget (name);
}
GST_END_TEST;

/* Frames under way that a flush throws away have no line, and the settings come with the next frame. */
GST_START_TEST (flush)
{
  GstVideoInfo info = info_of ("GRAY8", 32, 32);
  gchar *name = new_file ();
  g_autofree gchar *line = line_with ("apply-to=regions region-effect=fill regions=0,0,8,8 frames-in-flight=4", name);
  GstHarness *harness = harness_new_for (line, &info);
  GstBuffer *out;
  GstSegment segment;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  for (guint i = 0; i < 6; i++) {
    g_autofree gchar *box = g_strdup_printf ("%u,0,8,8", i);

    g_object_set (harness->element, "regions", box, NULL);
    push_ok (harness, grey_frame (&info, i * FRAME));
  }
  while ((out = gst_harness_try_pull (harness))) {
    gst_buffer_unref (out);
    n++;
  }
  gst_harness_push_event (harness, gst_event_new_flush_start ());
  gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (harness, gst_event_new_segment (&segment));
  push_ok (harness, grey_frame (&info, 0));
  gst_buffer_unref (gst_harness_pull (harness));
  gst_harness_teardown (harness);
  lines = read_lines (name, n + 1);
  expect_in (frame_line (lines, n), "\"regions\":\"5,0,8,8\"");
  expect_in (frame_line (lines, n), "\"boxes\":[[5,0,8,8]]");
  forget (name);
}
GST_END_TEST;

/* --- errors --- */

/* The element does not start, and says why. */
static void
expect_refused (const gchar *name, gint code, const gchar *why)
{
  g_autofree gchar *line = line_with ("apply-to=regions regions=0,0,8,8", name);
  g_autofree gchar *text = g_strdup_printf ("region-log: the file \"%s\" cannot be", name);
  Run run = run_start (line, "GRAY8", 32, 32);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (run.bus, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;

  fail_unless (run.harness == NULL && message != NULL, "%s started", line);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, code), "%d: %s", error->code, error->message);
  expect_in (error->message, text);
  expect_in (error->message, why);
  run_expect_none (&run, GST_MESSAGE_ERROR);
  run_stop (&run);
}

GST_START_TEST (not_opened)
{
  gchar *name = new_file ();
  g_autofree gchar *line = line_with ("apply-to=regions regions=0,0,8,8", name), *text = NULL;
  g_autofree gchar *bad = line_with ("apply-to=regions regions=nonsense", name);
  Run run;

  expect_refused ("/nowhere/record", GST_RESOURCE_ERROR_OPEN_WRITE, "No such file or directory");
  expect_refused ("/", GST_RESOURCE_ERROR_OPEN_WRITE, "directory");
  /* What would not start for another reason leaves no record. */
  run = run_start (bad, "GRAY8", 32, 32);
  fail_unless (run.harness == NULL);
  run_stop (&run);
  fail_unless (g_file_get_contents (name, &text, NULL, NULL) && text[0] == '\0');
  /* Two elements do not write to one file. A record is not written over, not by the element that wrote it either. */
  run = run_start (line, "GRAY8", 32, 32);
  fail_unless (run.harness != NULL);
  expect_refused (name, GST_RESOURCE_ERROR_OPEN_WRITE, "a record is never written over");
  run_stop (&run);
  expect_refused (name, GST_RESOURCE_ERROR_OPEN_WRITE, "a record is never written over");
  forget (name);
}
GST_END_TEST;

GST_START_TEST (full_at_start)
{
  if (g_access ("/dev/full", W_OK) == 0)
    expect_refused ("/dev/full", GST_RESOURCE_ERROR_NO_SPACE_LEFT, "No space left");
}
GST_END_TEST;

/*
 * A file that may grow no more stands for a full disk: the frame whose line is lost does not leave, and no line is
 * torn.
 */
GST_START_TEST (full_in_mid_stream)
{
  gchar *name = new_file ();
  g_autofree gchar *line = line_with ("apply-to=regions regions=0,0,8,8", name), *text = NULL;
  g_autofree gchar *why = g_strdup_printf ("region-log: the file \"%s\" cannot be written: ", name);
  Run run = run_start (line, "GRAY8", 32, 32);
  struct rlimit before, limit;
  guint n = 0;
  gsize length;

  fail_unless_equals_int (run_push (&run), GST_FLOW_OK);
  fail_unless (g_file_get_contents (name, &text, &length, NULL));
  g_clear_pointer (&text, g_free);
  getrlimit (RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = length + 1000;
  signal (SIGXFSZ, SIG_IGN);
  setrlimit (RLIMIT_FSIZE, &limit);
  while (run_push (&run) == GST_FLOW_OK)
    fail_unless (++n < 100);
  fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
  setrlimit (RLIMIT_FSIZE, &before);
  fail_unless_equals_int (gst_harness_buffers_received (run.harness), n + 1);
  run_expect (&run, GST_MESSAGE_ERROR, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, why,
      NULL);
  run_stop (&run);
  fail_unless (g_file_get_contents (name, &text, &length, NULL));
  fail_unless (text[length - 1] == '\n');
  expect_not_in (text, "\"line\":\"end\"");
  forget (name);
}
GST_END_TEST;

TCase *
region_record (void)
{
  TCase *record = tcase_create ("record");

  tcase_set_timeout (record, 300);
  tcase_add_test (record, checksums);
  tcase_add_test (record, sources);
  tcase_add_test (record, trackers);
  tcase_add_test (record, looked_ahead);
  tcase_add_test (record, effects);
  tcase_add_test (record, pictures);
  tcase_add_test (record, texts);
  tcase_add_test (record, order);
  tcase_add_test (record, events);
  tcase_add_test (record, flush);
  tcase_add_test (record, not_opened);
  tcase_add_test (record, full_at_start);
  tcase_add_test (record, full_in_mid_stream);
  return record;
}
