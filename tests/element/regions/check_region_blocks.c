/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks hide: no sample of a pixelated box is what it was, however small the box is and wherever it lies.
 *
 * Pictures are chessboards of two values in each plane. A mean of two or more neighbours is then far from both values.
 * Where pictures are stripes, the mean must be one of several rows.
 */
#include "element/regions/check_regions.h"

#include "support/cases.h"

#define DARK 0x40
#define BRIGHT 0xb0
#define FAR_OFF 12 /* the mean of 5x5 fields is 53.8 away from a dark one, and that of 3x1 is 37 away */

static gboolean stripes;

/* --- chessboards and stripes --- */

static guint8
value_at (gint x, gint y)
{
  return (stripes ? y : x + y) % 2 ? BRIGHT : DARK;
}

/* Rows that the frame has of a component: frames of fields may have one more than GStreamer counts. */
static gint
rows_of (const GstVideoFrame *frame, guint c)
{
  const GstVideoInfo *info = &frame->info;
  gint step = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c), rows = GST_VIDEO_INFO_COMP_HEIGHT (info, c);
  gint top = (GST_VIDEO_INFO_HEIGHT (info) + 1) / 2, bottom = GST_VIDEO_INFO_HEIGHT (info) / 2;
  gint most = MAX ((top + step - 1) / step * 2 - 1, (bottom + step - 1) / step * 2);
  guint plane = GST_VIDEO_FORMAT_INFO_PLANE (info->finfo, c);
  gsize end = plane + 1 < GST_VIDEO_INFO_N_PLANES (info) ? GST_VIDEO_INFO_PLANE_OFFSET (info, plane + 1) : info->size;

  if (!GST_VIDEO_INFO_IS_INTERLACED (info)
      || GST_VIDEO_INFO_PLANE_OFFSET (info, plane) + most * (gsize) GST_VIDEO_INFO_PLANE_STRIDE (info, plane) > end)
    return rows;
  return MAX (rows, most);
}

static guint8 *
sample_at (const GstVideoFrame *frame, guint c, gint x, gint y)
{
  gint high = GST_VIDEO_FRAME_COMP_DEPTH (frame, c) > 8 ? 1 : 0; /* little endian: the byte that counts */

  return (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c) + y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c)
      + x * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c) + high;
}

static GstBuffer *
chessboard (const GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstVideoFrame frame;

  gst_buffer_memset (buffer, 0, 0, info->size);
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++)
    for (gint y = 0; y < rows_of (&frame, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++)
        *sample_at (&frame, c, x, y) = value_at (x, y);
  gst_video_frame_unmap (&frame);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

/* --- what must have changed --- */

static gboolean
overlaps (gint first, gint end, gint box, gint size)
{
  return first < box + size && end > box;
}

/*
 * Whether row y of the component has luma rows of the box. Rows of chroma in fields stand for rows of their field; in
 * 4:1:0 they may count to one field alone.
 */
static gboolean
row_is_in (const GstVideoInfo *info, guint c, gint y, ConvolveRect box)
{
  gint step = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c);

  /* A row that only a field has goes with the last row of the picture. */
  if (!GST_VIDEO_INFO_IS_INTERLACED (info) || step != 2)
    y = MIN (y, (GST_VIDEO_INFO_HEIGHT (info) - 1) / step);
  if (!GST_VIDEO_INFO_IS_INTERLACED (info) || step != 2)
    return overlaps (y * step, (y + 1) * step, box.y, box.height);
  for (gint i = 0; i < step; i++) {
    gint row = 2 * (y / 2 * step + i) + y % 2;

    if (row < GST_VIDEO_INFO_HEIGHT (info) && overlaps (row, row + 1, box.y, box.height))
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_in (const GstVideoInfo *info, guint c, gint x, gint y, ConvolveRect box)
{
  gint step = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c);

  return overlaps (x * step, (x + 1) * step, box.x, box.width) && row_is_in (info, c, y, box);
}

/* How many samples of the component can differ. */
static gint
count_neighbours (const GstVideoFrame *frame, guint c)
{
  return rows_of (frame, c) * (stripes ? 1 : GST_VIDEO_FRAME_COMP_WIDTH (frame, c));
}

/* Fails where a sample that is in the box, or with outside one that is not, is still near what it was. */
static void
expect_hidden (const GstVideoInfo *info, GstBuffer *out, ConvolveRect box, gboolean outside, const gchar *what)
{
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, out, GST_MAP_READ));
  for (guint c = 0; c < MIN (3, GST_VIDEO_FRAME_N_COMPONENTS (&frame)); c++)
    for (gint y = 0; y < rows_of (&frame, c) && count_neighbours (&frame, c) > 1; y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++) {
        gint was = value_at (x, y), is = *sample_at (&frame, c, x, y);

        if (is_in (info, c, x, y, box) != outside)
          fail_unless (ABS (is - was) >= FAR_OFF, "%s %dx%d, %s: component %u at %d,%d is %d, and was %d",
              GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), what, c, x, y, is,
              was);
      }
  gst_video_frame_unmap (&frame);
}

static GstVideoInfo
info_in_mode (const gchar *format, gint width, gint height, gboolean fields)
{
  GstVideoInfo info = info_of (format, width, height);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);

  if (fields)
    gst_caps_set_simple (caps, "interlace-mode", G_TYPE_STRING, "interleaved", NULL);
  fail_unless (gst_video_info_from_caps (&info, caps));
  return info;
}

static void
try_box (const GstVideoInfo *info, GstHarness *harness, GstBuffer *in, ConvolveRect box, gboolean outside,
    const gchar *properties)
{
  g_autofree gchar *text = text_of (&box, 1), *what = g_strconcat (text, " ", properties, NULL);
  g_autoptr (GstBuffer) out = NULL;

  g_object_set (gst_harness_find_element (harness, "cudaconvolve"), "regions", text, NULL);
  out = push_frame (harness, in, FALSE);
  expect_hidden (info, out, box, outside, what);
}

static const gchar *const formats[] = { "GRAY8", "I420", "NV12", "YUY2", "Y41B", "YUV9", "RGB", "Y42B", "UYVY", "BGRx",
  "AYUV", "A420", "GRAY16_LE", "NV16", "Y444_16LE", "NV24" };

/* Every small box at every place of small frames, tiny ones too; with fields as well. */
static void
try_small_boxes (void)
{
  static const gint sizes[][2] = { { 17, 10 }, { 2, 1 }, { 1, 3 }, { 3, 3 }, { 5, 7 }, { 6, 11 }, { 9, 5 }, { 12, 14 },
    { 24, 6 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (sizes) * G_N_ELEMENTS (formats); i++) {
    const gint *size = sizes[i / 2 % G_N_ELEMENTS (sizes)];
    GstVideoInfo info = info_in_mode (formats[i / 2 / G_N_ELEMENTS (sizes)], size[0], size[1], i % 2);
    g_autoptr (GstBuffer) in = chessboard (&info);
    GstHarness *harness = harness_new_for ("cudaconvolve apply-to=regions region-effect=pixelate", &info);

    for (gint y = -1; y < size[1]; y++)
      for (gint x = y % 2; x < size[0]; x += check_cases (2, 1)) {
        gint width = 1 + (3 * y + x + 4) % 7, height = 1 + (y + 5 * x + 6) % 6;

        try_box (&info, harness, in, (ConvolveRect){ x, y, MAX (width, 1 - x), MAX (height, 1 - y) }, FALSE, "");
      }
    gst_harness_teardown (harness);
  }
}

GST_START_TEST (small_boxes)
{
  try_small_boxes ();
  stripes = TRUE;
  try_small_boxes ();
  stripes = FALSE;
}
GST_END_TEST;

/* Expansion, feather and number of blocks change no promise; nor does the whole frame, or all but a box. */
GST_START_TEST (small_boxes_and_other_properties)
{
  static const struct
  {
    const gchar *properties;
    gboolean outside;
  } rows[] = { { "apply-to=regions region-blocks=64", FALSE }, { "apply-to=regions region-expand=0.3", FALSE },
    { "apply-to=regions region-feather=5 region-blocks=30", FALSE },
    { "apply-to=outside-regions region-blocks=64", TRUE }, { "apply-to=regions region-blocks=1", FALSE } };
  CheckRandom random;

  check_random_init (&random, seed, 4);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows) * G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_in_mode (formats[i / 2 % G_N_ELEMENTS (formats)], check_random_range (&random, 5, 70),
        check_random_range (&random, 5, 50), i % 2);
    const gchar *properties = rows[i / 2 / G_N_ELEMENTS (formats)].properties;
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve region-effect=pixelate %s", properties);
    g_autoptr (GstBuffer) in = chessboard (&info);
    GstHarness *harness = harness_new_for (line, &info);

    for (guint k = 0; k < 40; k++) {
      gint x = check_random_range (&random, 0, info.width - 1), y = check_random_range (&random, 0, info.height - 1);
      gint width = check_random_range (&random, 1, 20), height = check_random_range (&random, 1, 20);

      try_box (&info, harness, in, (ConvolveRect){ x, y, width, height }, rows[i / 2 / G_N_ELEMENTS (formats)].outside,
          properties);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The whole frame, as one box: small frames, and frames whose last block would be a row or a column. */
GST_START_TEST (small_frames)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (gint side = 1; side < 30; side++) {
      GstVideoInfo info = info_in_mode (formats[i], side, 1 + side * 7 % 29, i % 2);
      GstHarness *harness =
          harness_new_for ("cudaconvolve apply-to=regions region-effect=pixelate region-blocks=5 region-fallback=frame",
              &info);
      g_autoptr (GstBuffer) in = chessboard (&info), out = push_frame (harness, in, FALSE);

      expect_hidden (&info, out, (ConvolveRect){ 0, 0, info.width, info.height }, FALSE, "the whole frame");
      gst_harness_teardown (harness);
    }
}
GST_END_TEST;

/* The middle of an ellipse. */
GST_START_TEST (small_ellipses)
{
  GstVideoInfo info = info_of ("GRAY8", 40, 30);
  g_autoptr (GstBuffer) in = chessboard (&info);

  for (gint width = 1; width < 9; width++)
    for (gint x = 0; x < 40; x++) {
      g_autofree gchar *line =
          g_strdup_printf ("cudaconvolve apply-to=regions region-effect=pixelate region-shape=ellipse "
                           "region-feather=%d regions=%d,29,%d,1",
              x % 3, x, width);
      GstHarness *harness = harness_new_for (line, &info);
      g_autoptr (GstBuffer) out = push_frame (harness, in, FALSE);

      if (x + width / 2 < 40)
        expect_hidden (&info, out, (ConvolveRect){ x + width / 2, 29, 1, 1 }, FALSE, line);
      gst_harness_teardown (harness);
    }
}
GST_END_TEST;

/* Where the blocks are large enough, and end where the frame does, they begin at the corner of the box. */
GST_START_TEST (blocks_begin_at_the_box)
{
  GstVideoInfo info = info_of ("GRAY8", 40, 30);
  g_autoptr (GstBuffer) in = frame_new (&info, FRAME_PLAIN, seed), out = NULL;
  GstHarness *harness = harness_new_for ("cudaconvolve apply-to=regions region-effect=pixelate region-blocks=3 "
                                         "regions=5,6,15,20",
      &info);
  Component from[4], to[4];

  out = push_frame (harness, in, FALSE);
  frame_read (&info, in, from);
  frame_read (&info, out, to);
  for (gint y = 6; y < 26; y++)
    for (gint x = 5; x < 20; x++) {
      gint left = 5 + (x - 5) / 5 * 5, top = 6 + (y - 6) / 5 * 5, sum = 0;

      for (gint i = 0; i < 25; i++)
        sum += from[0].samples[(top + i / 5) * 40 + left + i % 5];
      fail_unless_equals_int (to[0].samples[y * 40 + x], (2 * sum + 25) / 50);
    }
  frame_clear (from);
  frame_clear (to);
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
region_blocks (void)
{
  TCase *tc = tcase_create ("blocks");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, small_boxes);
  tcase_add_test (tc, small_boxes_and_other_properties);
  tcase_add_test (tc, small_frames);
  tcase_add_test (tc, small_ellipses);
  tcase_add_test (tc, blocks_begin_at_the_box);
  return tc;
}
