/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interlaced frames: each field against the oracle as a picture of its own. */
#include <string.h>

#include "element/frame/check_windows.h"
#include "masks/mask_text.h"

static Part
field_of (const GstVideoInfo *info, gint field)
{
  return (Part){ field, 2, 0, GST_VIDEO_INFO_WIDTH (info), 0, GST_VIDEO_INFO_HEIGHT (info) };
}

static void
check_fields (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const Expected *expected, const gchar *what)
{
  for (gint field = 0; field < 2; field++)
    check_part (info, in, out, field_of (info, field), FALSE, expected, what);
}

static void
check_whole (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const Expected *expected, const gchar *what)
{
  Part whole = { 0, 1, 0, GST_VIDEO_INFO_WIDTH (info), 0, GST_VIDEO_INFO_HEIGHT (info) };

  check_part (info, in, out, whole, FALSE, expected, what);
}

/*
 * Whether GStreamer's layout of the frame has room for all rows of chroma of both fields. AV12, P010, YUV9 and kin lack
 * the last row of the bottom field in some heights, and unpacking reads beyond the plane there.
 */
static gboolean
has_rows_of_fields (const GstVideoInfo *info)
{
  gint height = GST_VIDEO_INFO_HEIGHT (info), y_sub = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, 1);
  gint bottom = 2 * ((height / 2 + y_sub - 1) / y_sub);
  gsize room = info->size;

  if (GST_VIDEO_INFO_N_COMPONENTS (info) == 1 || bottom <= GST_VIDEO_INFO_COMP_HEIGHT (info, 1))
    return TRUE;
  for (guint i = 2; i < GST_VIDEO_INFO_N_PLANES (info); i++)
    room = MIN (room, MAX (GST_VIDEO_INFO_PLANE_OFFSET (info, i), GST_VIDEO_INFO_PLANE_OFFSET (info, 1)));
  return room - GST_VIDEO_INFO_PLANE_OFFSET (info, 1) >= (gsize) bottom * GST_VIDEO_INFO_PLANE_STRIDE (info, 1);
}

/* Every format and odd heights: a field of 1 row, no bottom field, and chroma rows that a progressive frame lacks. */
GST_START_TEST (test_fields)
{
  static const gint sizes[][2] = { { 22, 1 }, { 22, 2 }, { 21, 5 }, { 34, 6 }, { 17, 11 }, { 40, 16 } };
  GPtrArray *formats = element_formats ();

  for (guint i = 0; i < formats->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
      gint boundary = (i + k) % CONVOLVE_N_BOUNDARIES;
      g_autofree gchar *properties =
          g_strdup_printf ("mask=\"" SKEWED "\" bias=0.25 boundary=%s", check_boundary_name (boundary));
      Expected expected = skewed_expected (boundary, 0.25);
      GstVideoInfo info = info_with (formats->pdata[i], sizes[k][0], sizes[k][1], "interlace-mode=interleaved");
      GstHarness *harness;
      GstBuffer *in, *out;

      /* GStreamer's own unpacking of VYUY takes U for V in the last pixel of an odd row. */
      if ((g_str_equal (formats->pdata[i], "VYUY") && sizes[k][0] % 2) || !has_rows_of_fields (&info))
        continue;
      harness = windows_harness (properties, gst_video_info_to_caps (&info));
      in = random_frame (&info, k);
      out = push_and_pull (harness, in);
      check_fields (&info, in, out, &expected, check_boundary_name (boundary));
      gst_buffer_unref (in);
      gst_buffer_unref (out);
      gst_harness_teardown (harness);
    }
  g_ptr_array_unref (formats);
}
GST_END_TEST;

/* Rows with padding, negative strides, a memory for each plane. */
GST_START_TEST (test_layouts_of_fields)
{
  static const gchar *const formats[] = { "I420", "NV12", "YUY2", "RGB", "P010_10LE", "AYUV64", "YUV9" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (FrameLayout layout = FRAME_PADDED; layout <= FRAME_MEMORIES; layout++) {
      GstVideoInfo info = info_with (formats[i], 21, 16, "interlace-mode=interleaved");
      Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REFLECT, 0);
      GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=reflect", gst_video_info_to_caps (&info));
      GstBuffer *in = frame_new (&info, layout, seed), *out = push_and_pull (harness, in);

      check_fields (&info, in, out, &expected, formats[i]);
      gst_buffer_unref (in);
      gst_buffer_unref (out);
      gst_harness_teardown (harness);
    }
}
GST_END_TEST;

/* Compares the fields of the rows that a progressive frame has. */
static void
check_known_rows (const GstVideoInfo *info, guint c, const Component *in, const Component *out,
    const Expected *expected)
{
  gint width = in->width;

  for (gint field = 0; field < 2; field++) {
    gint rows = (in->height + 1 - field) / 2;
    Component a = { width, rows, g_new (guint16, width * rows) }, b = { width, rows, g_new (guint16, width * rows) };

    for (gint y = 0; y < rows; y++) {
      memcpy (a.samples + y * width, in->samples + (2 * y + field) * width, 2 * width);
      memcpy (b.samples + y * width, out->samples + (2 * y + field) * width, 2 * width);
    }
    frame_check_component (info, c, &a, &b, expected, "missing row");
    g_free (a.samples);
    g_free (b.samples);
  }
}

/* A frame in the memory of a progressive one: a memory for each plane, or one block with a GstVideoMeta. */
static GstBuffer *
progressive_memory (GstVideoInfo *progressive, gboolean block)
{
  GstBuffer *buffer = frame_new (progressive, block ? FRAME_PLAIN : FRAME_MEMORIES, seed);

  if (block)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (progressive),
        progressive->width, progressive->height, GST_VIDEO_INFO_N_PLANES (progressive), progressive->offset,
        progressive->stride);
  return buffer;
}

/*
 * An interlaced 4:2:0 frame of 6 rows has 4 rows of chroma, but memory that was laid out for a progressive frame has 3.
 * The third is then the last that counts, and nothing is read or written behind it.
 */
GST_START_TEST (test_missing_chroma_row)
{
  static const gchar *const formats[] = { "I420", "NV12", "A420_10LE", "P010_10LE", "AV12", "P016_BE" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_with (formats[i / 2], 16, 6, "interlace-mode=interleaved");
    GstVideoInfo progressive = info_of (formats[i / 2], 16, 6);
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_WRAP, 0);
    GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=wrap", gst_video_info_to_caps (&info));
    GstBuffer *in = progressive_memory (&progressive, i % 2), *out = push_and_pull (harness, in);
    Component from[4], to[4];

    frame_read (&progressive, in, from);
    frame_read (&info, out, to);
    for (guint c = 0; c < 3; c++)
      check_known_rows (&info, c, &from[c], &to[c], &expected);
    frame_clear (from);
    frame_clear (to);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Row y of a plane in a buffer that lies as info says. */
static guint8 *
row_at (const GstVideoInfo *info, const GstMapInfo *map, guint plane, gint y)
{
  return map->data + GST_VIDEO_INFO_PLANE_OFFSET (info, plane) + y * GST_VIDEO_INFO_PLANE_STRIDE (info, plane);
}

/* The rows of a plane that a progressive frame has. */
static gint
progressive_rows (const GstVideoInfo *info, guint plane)
{
  gint rows = 0;

  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    if (GST_VIDEO_INFO_COMP_PLANE (info, c) == plane)
      rows = GST_VIDEO_INFO_COMP_HEIGHT (info, c);
  return rows;
}

/* A copy of the frame whose planes have room for a row more, with this value in all bytes that no progressive frame has. */
static GstBuffer *
with_padding (const GstVideoInfo *info, GstBuffer *frame, guint8 value)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, size = 0;
  GstMapInfo from, to;
  GstBuffer *buffer;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    offset[p] = size;
    size += (gsize) (progressive_rows (info, p) + 1) * GST_VIDEO_INFO_PLANE_STRIDE (info, p);
  }
  buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_memset (buffer, 0, value, size);
  gst_buffer_map (frame, &from, GST_MAP_READ);
  gst_buffer_map (buffer, &to, GST_MAP_WRITE);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++)
    memcpy (to.data + offset[p], row_at (info, &from, p, 0),
        (gsize) progressive_rows (info, p) * GST_VIDEO_INFO_PLANE_STRIDE (info, p));
  gst_buffer_unmap (buffer, &to);
  gst_buffer_unmap (frame, &from);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info), info->width,
      info->height, GST_VIDEO_INFO_N_PLANES (info), offset, (gint *) info->stride);
  return buffer;
}

static GByteArray *
result_rows (const gchar *properties, const GstVideoInfo *info, GstBuffer *in)
{
  GstHarness *harness = windows_harness (properties, gst_video_info_to_caps ((GstVideoInfo *) info));
  GstBuffer *out;
  GByteArray *rows;

  push_ok (harness, gst_buffer_copy_deep (in)); /* regions are changed in place */
  out = gst_harness_pull (harness);
  rows = rows_of (info, out);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
  return rows;
}

static void
expect_same_rows (GByteArray *a, GByteArray *b, const gchar *format, const gchar *what)
{
  fail_unless (a->len == b->len && memcmp (a->data, b->data, a->len) == 0, "%s, %s", format, what);
}

/*
 * With field-mode=disabled an interlaced frame is convolved as a progressive one. A row of chroma that only a field has is
 * no part of that picture. In the memory of other programs the row is padding.
 */
GST_START_TEST (test_padding_is_no_chroma)
{
  static const gchar *const formats[] = { "I420", "YV12", "NV12", "A420", "I420_10LE", "YUV9", "P010_10LE", "AV12",
    "Y42B" };
  static const gchar *const properties[] = { "mask=\"" SKEWED "\" boundary=wrap",
    "mask=gaussian mask-width=9 iterations=2", "mask=box apply-to=regions regions=0,0,100%,100%",
    "apply-to=regions region-effect=pixelate regions=1,1,100%,100%",
    "apply-to=regions region-effect=pixelate region-blocks=1 regions=0,0,100%,100% region-feather=3",
    "mask=gaussian apply-to=regions region-strength=0.3 regions=0,0,100%,100%",
    "mask=box apply-to=outside-regions region-feather=4 regions=3,0,4,100%" };
  static const gchar *const kinds[] = { "interlace-mode=interleaved", "interlace-mode=mixed",
    "interlace-mode=interleaved,multiview-mode=side-by-side,views=2",
    "interlace-mode=interleaved,multiview-mode=top-bottom,views=2",
    "interlace-mode=interleaved,multiview-mode=row-interleaved,views=2" };
  static const gint heights[] = { 2, 6, 10, 18, 8 };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (properties) * G_N_ELEMENTS (heights); k++) {
      const gchar *kind = kinds[k % G_N_ELEMENTS (kinds)];
      GstVideoInfo info = info_with (formats[i], 20, heights[k / G_N_ELEMENTS (properties)], kind);
      g_autofree gchar *line = g_strdup_printf ("%s field-mode=disabled", properties[k % G_N_ELEMENTS (properties)]);
      GstVideoInfo progressive = info;
      GstBuffer *frame = random_frame (&info, k);
      g_autoptr (GByteArray) expected = NULL;

      GST_VIDEO_INFO_INTERLACE_MODE (&progressive) = GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
      for (gint value = 0; value <= 255; value += 255) {
        GstBuffer *in = with_padding (&info, frame, value);
        g_autoptr (GByteArray) rows = NULL;

        if (!expected)
          expected = result_rows (line, &progressive, in);
        GST_BUFFER_FLAG_SET (in, GST_VIDEO_BUFFER_FLAG_INTERLACED);
        rows = result_rows (line, &info, in);
        expect_same_rows (expected, rows, formats[i], line);
        gst_buffer_unref (in);
      }
      gst_buffer_unref (frame);
    }
}
GST_END_TEST;

/* The same with fields, where GStreamer's own layout has no room for the row. */
GST_START_TEST (test_row_without_room)
{
  static const gchar *const formats[] = { "P010_10LE", "P016_BE", "AV12" };
  static const gchar *const properties[] = { "mask=\"" SKEWED "\" boundary=wrap",
    "mask=box apply-to=regions regions=0,0,100%,100%" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_with (formats[i / 2], 20, 6, "interlace-mode=interleaved");
    GstBuffer *frame = random_frame (&info, i), *in = with_padding (&info, frame, 0);
    g_autoptr (GByteArray) expected = NULL, rows = NULL;

    if (has_rows_of_fields (&info)) /* of another release of GStreamer */
      continue;
    expected = result_rows (properties[i % 2], &info, in);
    gst_buffer_unref (in);
    in = with_padding (&info, frame, 255);
    rows = result_rows (properties[i % 2], &info, in);
    expect_same_rows (expected, rows, formats[i / 2], properties[i % 2]);
    gst_buffer_unref (in);
    gst_buffer_unref (frame);
  }
}
GST_END_TEST;

/* The rows of a plane of chroma that frames with info can show, in their fields or as one picture. */
static gint
shown_rows (const GstVideoInfo *info, guint plane)
{
  gint rows = progressive_rows (info, plane), y_sub = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, 1);
  gint bottom = 2 * ((GST_VIDEO_INFO_HEIGHT (info) / 2 + y_sub - 1) / y_sub);

  return GST_VIDEO_INFO_IS_INTERLACED (info) && has_rows_of_fields (info) ? MAX (rows, bottom) : rows;
}

/* Every sample of chroma must be 128, or for another effect every row another one. */
static void
check_hidden (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, gboolean filled, const gchar *what)
{
  GstMapInfo from, to;

  gst_buffer_map (in, &from, GST_MAP_READ);
  gst_buffer_map (out, &to, GST_MAP_READ);
  for (guint p = 1; p < MIN (3, GST_VIDEO_INFO_N_PLANES (info)); p++)
    for (gint y = 0; y < shown_rows (info, p); y++) {
      gint bytes = GST_VIDEO_INFO_COMP_WIDTH (info, p) * GST_VIDEO_INFO_COMP_PSTRIDE (info, p);

      for (gint x = 0; filled && x < bytes; x++)
        fail_unless (row_at (info, &to, p, y)[x] == 128, "%s, plane %u, row %d", what, p, y);
      fail_if (memcmp (row_at (info, &from, p, y), row_at (info, &to, p, y), bytes) == 0, "%s, plane %u, row %d", what,
          p, y);
    }
  gst_buffer_unmap (out, &to);
  gst_buffer_unmap (in, &from);
}

/* Whatever fields a frame has, a region over all of it hides every row of chroma that one of them can show. */
GST_START_TEST (test_hidden_chroma_rows)
{
  static const gchar *const formats[] = { "I420", "YV12", "NV12", "A420", "YUV9", "YVU9" };
  static const gchar *const modes[] = { "auto", "disabled" }, *const kinds[] = { "interleaved", "progressive" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (modes) * G_N_ELEMENTS (kinds); i++)
    for (gint height = 1; height <= 12; height++)
      for (guint filled = 0; filled < 2; filled++) {
        const gchar *format = formats[i % 6], *mode = modes[i / 6 % 2];
        gboolean copied = (i / 6 + height) % 3 == 0;
        g_autofree gchar *kind = g_strdup_printf ("interlace-mode=%s", kinds[i / 12]);
        g_autofree gchar *properties =
            g_strdup_printf ("apply-to=regions regions=0,0,100%%,100%% region-color=0xffffffff "
                             "region-effect=%s mask=box mask-width=9 field-mode=%s",
                filled ? "fill" : "mask", mode);
        g_autofree gchar *what = g_strdup_printf ("%s, %s, %s, height %d", format, kind, properties, height);
        GstVideoInfo info = info_with (format, 24, height, kind);
        GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (&info));
        GstBuffer *in = random_frame (&info, height), *out;

        GST_BUFFER_FLAG_SET (in, GST_VIDEO_BUFFER_FLAG_INTERLACED);
        push_ok (harness, copied ? gst_buffer_ref (in) : gst_buffer_copy_deep (in));
        out = gst_harness_pull (harness);
        check_hidden (&info, in, out, filled, what);
        gst_buffer_unref (in);
        gst_buffer_unref (out);
        gst_harness_teardown (harness);
      }
}
GST_END_TEST;

#define AROUND 64 /* bytes of somebody else before and behind each plane */

/* An I420 frame of 16x6, upside down, with a memory for each plane. Around each there is value, and in it 10 * plane. */
static GstBuffer *
upside_down (guint8 *block, guint8 value)
{
  static const gint widths[] = { 16, 8, 8 }, heights[] = { 6, 3, 3 };
  gint stride[GST_VIDEO_MAX_PLANES] = { -16, -8, -8 };
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, start = 0, size = 0;
  GstBuffer *buffer = gst_buffer_new ();

  for (guint p = 0; p < 3; p++) {
    gsize bytes = widths[p] * heights[p];

    memset (block + start, value, bytes + 2 * AROUND);
    for (gsize i = 0; i < bytes; i++)
      block[start + AROUND + i] = 10 * p + i;
    gst_buffer_append_memory (buffer, gst_memory_new_wrapped (0, block + start + AROUND, bytes, 0, bytes, NULL, NULL));
    offset[p] = size + bytes - widths[p];
    size += bytes;
    start += bytes + 2 * AROUND;
  }
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 16, 6, 3, offset, stride);
  return buffer;
}

/* Upside down a row behind the last one lies before the memory. Nothing is read or written there. */
GST_START_TEST (test_row_before_memory)
{
  static const gchar *const properties[] = { "mask=\"" SKEWED "\" boundary=wrap",
    "mask=\"" SKEWED "\" boundary=wrap apply-to=regions regions=0,0,100%,100%",
    "region-effect=fill apply-to=regions regions=0,0,100%,100%" };
  static const gchar *const modes[] = { "auto", "disabled" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (properties); i++) {
    GstVideoInfo info = info_with ("I420", 16, 6, "interlace-mode=interleaved");
    g_autofree gchar *line = g_strdup_printf ("%s field-mode=%s", properties[i / 2], modes[i % 2]);
    g_autoptr (GByteArray) expected = NULL;

    for (gint value = 0; value <= 255; value += 255) {
      guint8 block[6 * AROUND + 16 * 6 * 3 / 2];
      GstHarness *harness = windows_harness (line, gst_video_info_to_caps (&info));
      g_autoptr (GByteArray) rows = NULL;
      GstBuffer *out;

      push_ok (harness, upside_down (block, value));
      out = gst_harness_pull (harness);
      rows = rows_of (&info, out);
      if (!expected)
        expected = g_byte_array_ref (rows);
      expect_same_rows (expected, rows, "I420", line);
      for (gsize k = 0; k < AROUND; k++)
        fail_unless (block[k] == value && block[AROUND + 96 + k] == value && block[2 * AROUND + 96 + k] == value
                && block[3 * AROUND + 120 + k] == value,
            "%s", line);
      gst_buffer_unref (out);
      gst_harness_teardown (harness);
    }
  }
}
GST_END_TEST;

/* In a stream of both kinds each frame is convolved as its flags say, and no plan is made after the first frame. */
GST_START_TEST (test_mixed)
{
  static const gboolean interlaced[] = { FALSE, TRUE, TRUE, FALSE, TRUE, FALSE, FALSE, TRUE };
  static const gchar *const formats[] = { "I420", "P010_10LE", "RGBx", "GRAY16_BE", "UYVY" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gint height = g_str_has_prefix (formats[i], "P0") ? 16 : 14; /* see has_rows_of_fields() */
    GstVideoInfo info = info_with (formats[i], 36, height, "interlace-mode=mixed");
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_WRAP, 0.5);
    GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" bias=0.5 boundary=wrap kernel-variant=auto",
        gst_video_info_to_caps (&info));

    for (guint k = 0; k < G_N_ELEMENTS (interlaced); k++) {
      GstBuffer *in = random_frame (&info, k), *out;

      if (interlaced[k])
        GST_BUFFER_FLAG_SET (in, GST_VIDEO_BUFFER_FLAG_INTERLACED);
      if (k > 0)
        listen_begin (GST_LEVEL_DEBUG, "plane ");
      out = push_and_pull (harness, in);
      fail_unless (k == 0 || listen_end () == 0, "a new plan for frame %u", k);
      fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (out, GST_VIDEO_BUFFER_FLAG_INTERLACED), interlaced[k]);
      if (interlaced[k])
        check_fields (&info, in, out, &expected, "interlaced");
      else
        check_whole (&info, in, out, &expected, "progressive");
      gst_buffer_unref (in);
      gst_buffer_unref (out);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The property decides over the caps, from the next frame on. */
GST_START_TEST (test_field_mode)
{
  static const struct
  {
    const gchar *caps, *mode;
    gboolean fields;
  } rows[] = { { "interlace-mode=interleaved", "auto", TRUE }, { "interlace-mode=interleaved", "disabled", FALSE },
    { "interlace-mode=interleaved", "interlaced", TRUE }, { "interlace-mode=mixed", "auto", FALSE },
    { "interlace-mode=mixed", "interlaced", TRUE }, { "interlace-mode=mixed", "disabled", FALSE },
    { "interlace-mode=progressive", "auto", FALSE }, { "interlace-mode=progressive", "interlaced", TRUE },
    { "interlace-mode=progressive", "disabled", FALSE } };
  Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REPLICATE, 0);
  GstVideoInfo first = info_of ("GRAY8", 8, 8);
  GstHarness *harness = windows_harness ("mask=\"" SKEWED "\"", gst_video_info_to_caps (&first));
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstVideoInfo info = info_with ("NV12", 20, 12, rows[i].caps);
    GstBuffer *in = random_frame (&info, i), *out;

    gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
    gst_util_set_object_arg (G_OBJECT (element), "field-mode", rows[i].mode);
    out = push_and_pull (harness, in);
    if (rows[i].fields)
      check_fields (&info, in, out, &expected, rows[i].mode);
    else
      check_whole (&info, in, out, &expected, rows[i].mode);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A preset that has a size covers as much of the picture in a field as in a frame: half as many rows. */
GST_START_TEST (test_presets_in_fields)
{
  static const gchar *const lines[] = { "mask=gaussian sigma=3", "mask=box mask-width=9", "mask=motion:90",
    "mask=binomial mask-width=3 mask-height=11", "mask=sharpen", "mask=roberts" };
  static const gchar *const formats[] = { "I420", "YUV9", "RGB", "AYUV" };

  for (guint i = 0; i < G_N_ELEMENTS (lines) * G_N_ELEMENTS (formats); i++) {
    const gchar *line = lines[i / G_N_ELEMENTS (formats)], *format = formats[i % G_N_ELEMENTS (formats)];
    g_autofree gchar *properties = g_strdup_printf ("%s boundary=reflect", line), *mask = NULL;
    GstVideoInfo info = info_with (format, 40, 32, "interlace-mode=interleaved");
    GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (&info));
    GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
    guint step = 1u << GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, 1);
    GstBuffer *in = random_frame (&info, i), *out = push_and_pull (harness, in);
    ConvolveSettings settings;
    ConvolveMask luma, chroma;
    Expected expected;

    convolve_settings_init (&settings);
    g_object_get (element, "mask", &mask, "mask-width", &settings.mask_width, "mask-height", &settings.mask_height,
        "sigma", &settings.sigma, NULL);
    g_free (settings.mask);
    settings.mask = g_strdup (mask);
    fail_unless (convolve_settings_make_mask (&settings, 1, 2, &luma, NULL));
    fail_unless (convolve_settings_make_mask (&settings, step, 2 * step, &chroma, NULL));
    expected = expected_of_masks (&luma, &chroma, CONVOLVE_BOUNDARY_REFLECT);
    check_fields (&info, in, out, &expected, line);
    convolve_mask_clear (&luma);
    convolve_mask_clear (&chroma);
    convolve_settings_clear (&settings);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_object_unref (element);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A buffer for each field, in every format: half the height, and odd heights rounded up. */
GST_START_TEST (test_alternate)
{
  static const gint heights[] = { 1, 2, 6, 11 };
  GPtrArray *formats = element_formats ();

  for (guint i = 0; i < formats->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (heights); k++) {
      gint boundary = (i + k) % CONVOLVE_N_BOUNDARIES;
      g_autofree gchar *properties =
          g_strdup_printf ("mask=\"" SKEWED "\" boundary=%s", check_boundary_name (boundary));
      GstVideoInfo info = info_with (formats->pdata[i], 22, heights[k], "interlace-mode=alternate");
      Expected expected = skewed_expected (boundary, 0);
      GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (&info));

      for (guint field = 0; field < 2; field++) {
        Part part = { 0, 1, 0, 22, 0, (heights[k] + 1) / 2 };
        GstBuffer *in = random_frame (&info, k), *out;

        GST_BUFFER_FLAG_SET (in, field ? GST_VIDEO_BUFFER_FLAG_BOTTOM_FIELD : GST_VIDEO_BUFFER_FLAG_TOP_FIELD);
        out = push_and_pull (harness, in);
        fail_unless_equals_int (gst_buffer_get_size (out), info.size);
        check_part (&info, in, out, part, FALSE, &expected, "alternate");
        gst_buffer_unref (in);
        gst_buffer_unref (out);
      }
      gst_harness_teardown (harness);
    }
  g_ptr_array_unref (formats);
}
GST_END_TEST;

/* The caps that the element's other side has for these; the pads must keep the feature. */
GST_START_TEST (test_alternate_caps)
{
  GstElement *element = gst_object_ref_sink (gst_element_factory_make ("cudaconvolve", NULL));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "src");
  g_autoptr (GstCaps) asked = gst_caps_from_string ("video/x-raw(format:Interlaced),interlace-mode=alternate"),
                      got = NULL;
  GstHarness *harness;
  GstVideoInfo info = info_with ("I420", 16, 8, "interlace-mode=alternate");
  g_autoptr (GstCaps) out = NULL;

  got = gst_pad_query_caps (pad, asked);
  fail_unless_equals_int (gst_caps_get_size (got), 1);
  fail_unless (gst_caps_features_contains (gst_caps_get_features (got, 0), GST_CAPS_FEATURE_FORMAT_INTERLACED));
  gst_object_unref (element);

  harness = windows_harness ("", gst_video_info_to_caps (&info));
  push_ok (harness, random_frame (&info, 0));
  gst_buffer_unref (gst_harness_pull (harness));
  out = gst_pad_get_current_caps (harness->sinkpad);
  fail_unless (gst_caps_features_contains (gst_caps_get_features (out, 0), GST_CAPS_FEATURE_FORMAT_INTERLACED));
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Takes what has come out, so that the pool gets its memory back, and appends the rows. */
static void
append_outputs (GstHarness *harness, const GstVideoInfo *info, GByteArray *bytes)
{
  GstBuffer *out;

  while ((out = gst_harness_try_pull (harness))) {
    GByteArray *rows = rows_of (info, out);

    g_byte_array_append (bytes, rows->data, rows->len);
    g_byte_array_unref (rows);
    gst_buffer_unref (out);
  }
}

/* A pool of memory that fills pages and can be page-locked. Page-locked frames are copied in strips. */
static GstBufferPool *
page_pool (const GstVideoInfo *info)
{
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  GstAllocationParams params;

  gst_allocation_params_init (&params);
  params.align = params.padding = 0xffff; /* no page is larger */
  gst_buffer_pool_config_set_params (config, caps, info->size, 2, 0);
  gst_buffer_pool_config_set_allocator (config, NULL, &params);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}

static GstBuffer *
pool_frame (GstBufferPool *pool, const GstVideoInfo *info, guint number)
{
  GstBuffer *buffer, *random = random_frame (info, number);
  GstVideoCropMeta *crop;
  GstMapInfo map;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), GST_FLOW_OK);
  gst_buffer_map (random, &map, GST_MAP_READ);
  gst_buffer_fill (buffer, 0, map.data, map.size);
  gst_buffer_unmap (random, &map);
  gst_buffer_unref (random);
  if (number % 2)
    GST_BUFFER_FLAG_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
  if (number % 4 >= 2) {
    crop = gst_buffer_add_video_crop_meta (buffer);
    crop->x = 33;
    crop->y = 101;
    crop->width = 501;
    crop->height = 233;
  }
  return buffer;
}

/* The bytes of what an element makes of the frames of a mixed stream, half of which are cropped. */
static GByteArray *
bytes_of (const gchar *properties, const GstVideoInfo *info)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", properties);
  GstHarness *harness = harness_new_for (line, info);
  GByteArray *bytes = g_byte_array_new ();
  GstBufferPool *pool = page_pool (info);

  for (guint i = 0; i < 8; i++) {
    push_ok (harness, pool_frame (pool, info, i));
    append_outputs (harness, info, bytes);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  append_outputs (harness, info, bytes);
  gst_harness_teardown (harness);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  return bytes;
}

/* Where two runs differ by more than one code value, as no two ways of rounding do; or NULL. */
static gchar *
describe_difference (const GByteArray *bytes, const GByteArray *expected)
{
  guint first = G_MAXUINT, n = 0, most = 0;

  if (bytes->len != expected->len)
    return g_strdup_printf ("%u bytes, not %u", bytes->len, expected->len);
  for (guint i = 0; i < bytes->len; i++)
    if (ABS (bytes->data[i] - expected->data[i]) > 1) {
      first = MIN (first, i);
      most = MAX (most, (guint) ABS (bytes->data[i] - expected->data[i]));
      n++;
    }
  return n == 0 ? NULL
                : g_strdup_printf ("%u of %u bytes differ, by at most %u, from byte %u on", n, bytes->len, most, first);
}

/* Frames that cross the bus in strips or as one block, several at once, with tall masks and every boundary. */
GST_START_TEST (test_strips)
{
  static const gchar *const formats[] = { "NV12", "RGBA" };
  static const gchar *const masks[] = { "gaussian mask-width=1 mask-height=41", "motion:60 mask-width=9" };

  if (!g_getenv ("CUDACONVOLVE_OVER_DEVICE"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (gint boundary = 0; boundary < CONVOLVE_N_BOUNDARIES; boundary++) {
      GstVideoInfo info = info_with (formats[i], 800, i == 0 ? 602 : 402, "interlace-mode=mixed");
      g_autofree gchar *common =
          g_strdup_printf ("mask=%s boundary=%s", masks[boundary % 2], check_boundary_name (boundary));
      g_autofree gchar *cpu = g_strdup_printf ("%s kernel-variant=cpu-reference", common);
      GByteArray *expected = bytes_of (cpu, &info);

      for (guint n = 1; n <= 3; n++) {
        g_autofree gchar *device = g_strdup_printf ("%s kernel-variant=global frames-in-flight=%u", common, n);
        GByteArray *bytes = bytes_of (device, &info);
        g_autofree gchar *difference = describe_difference (bytes, expected);

        fail_unless (!difference, "%s, %s: %s", formats[i], device, difference);
        g_byte_array_unref (bytes);
      }
      g_byte_array_unref (expected);
    }
}
GST_END_TEST;

TCase *
field_tests (void)
{
  TCase *tc = tcase_create ("fields");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_fields);
  tcase_add_test (tc, test_layouts_of_fields);
  tcase_add_test (tc, test_missing_chroma_row);
  tcase_add_test (tc, test_padding_is_no_chroma);
  tcase_add_test (tc, test_row_without_room);
  tcase_add_test (tc, test_hidden_chroma_rows);
  tcase_add_test (tc, test_row_before_memory);
  tcase_add_test (tc, test_mixed);
  tcase_add_test (tc, test_field_mode);
  tcase_add_test (tc, test_presets_in_fields);
  tcase_add_test (tc, test_alternate);
  tcase_add_test (tc, test_alternate_caps);
  tcase_add_test (tc, test_strips);
  return tc;
}
