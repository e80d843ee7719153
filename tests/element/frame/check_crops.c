/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstVideoCropMeta: the crop against the oracle as a picture of its own, and the views of stereo frames. */
#include <string.h>

#include "element/frame/check_windows.h"

static void
set_crop (GstBuffer *buffer, guint x, guint y, guint width, guint height)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  crop->x = x;
  crop->y = y;
  crop->width = width;
  crop->height = height;
}

static void
expect_crop (GstBuffer *buffer, guint x, guint y, guint width, guint height)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);

  fail_unless (crop != NULL);
  fail_unless (crop->x == x && crop->y == y && crop->width == width && crop->height == height);
}

/* The crops of a frame of 34 by 20: at odd places, at each edge, beyond an edge, of one pixel, of one row. */
static const guint crops[][4] = { { 5, 3, 17, 9 }, { 0, 0, 13, 7 }, { 9, 11, 25, 9 }, { 20, 4, 100, 100 },
  { 7, 7, 1, 1 }, { 0, 5, 34, 1 }, { 11, 0, 3, 20 }, { 2, 2, G_MAXUINT, 4 }, { 0, 0, 34, 20 } };

/* What of the rows phase, phase + step, ... is inside the crop. */
static Part
part_of_crop (const GstVideoInfo *info, const guint *crop, gint phase, gint step)
{
  guint64 x_end = (guint64) crop[0] + crop[2], y_end = (guint64) crop[1] + crop[3];

  return (Part){ phase, step, crop[0], MIN (x_end, (guint) GST_VIDEO_INFO_WIDTH (info)), crop[1],
    MIN (y_end, (guint) GST_VIDEO_INFO_HEIGHT (info)) };
}

static void
check_crop (GstHarness *harness, const GstVideoInfo *info, const guint *crop, guint number, const Expected *expected)
{
  gint step = GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_INTERLEAVED ? 2 : 1;
  g_autofree gchar *what = g_strdup_printf ("crop %u,%u %ux%u", crop[0], crop[1], crop[2], crop[3]);
  GstBuffer *in = random_frame (info, number), *out;

  set_crop (in, crop[0], crop[1], crop[2], crop[3]);
  out = push_and_pull (harness, in);
  expect_crop (out, crop[0], crop[1], crop[2], crop[3]);
  for (gint phase = 0; phase < step; phase++) {
    check_part (info, in, out, part_of_crop (info, crop, phase, step), TRUE, expected, what);
    check_rest (info, in, out, part_of_crop (info, crop, phase, step), what);
  }
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}

static void
check_crops (const gchar *more)
{
  GPtrArray *formats = element_formats ();

  for (guint i = 0; i < formats->len; i++) {
    gint boundary = i % CONVOLVE_N_BOUNDARIES;
    g_autofree gchar *properties =
        g_strdup_printf ("mask=\"" SKEWED "\" bias=0.25 boundary=%s", check_boundary_name (boundary));
    GstVideoInfo info = info_with (formats->pdata[i], 34, 20, more);
    Expected expected = skewed_expected (boundary, 0.25);
    GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (&info));

    for (guint k = 0; k < G_N_ELEMENTS (crops); k++)
      check_crop (harness, &info, crops[k], k, &expected);
    gst_harness_teardown (harness);
  }
  g_ptr_array_unref (formats);
}

GST_START_TEST (test_crops)
{
  check_crops (NULL);
}
GST_END_TEST;

/* A crop of an interlaced frame is a crop of each of its fields. */
GST_START_TEST (test_crops_of_fields)
{
  check_crops ("interlace-mode=interleaved");
}
GST_END_TEST;

/* Padding bytes of pixels outside and inside a crop, and the second luma at the end of an odd row. */
GST_START_TEST (test_padding_beside_crop)
{
  static const struct
  {
    const gchar *format;
    gint first, step;
  } rows[] = { { "RGBx", 3, 4 }, { "xRGB", 0, 4 }, { "BGRx", 3, 4 }, { "YUY2", 14, 16 }, { "UYVY", 15, 16 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstVideoInfo info = info_of (rows[i].format, 7, 6);
    GstHarness *harness = windows_harness ("mask=box", gst_video_info_to_caps (&info));
    GstBuffer *in = random_frame (&info, i), *out;
    GByteArray *from, *to;

    set_crop (in, 1, 2, 5, 3);
    out = push_and_pull (harness, in);
    from = g_byte_array_new_take (g_malloc (info.size), info.size);
    to = g_byte_array_new_take (g_malloc (info.size), info.size);
    gst_buffer_extract (in, 0, from->data, info.size);
    gst_buffer_extract (out, 0, to->data, info.size);
    for (gint y = 0; y < 6; y++)
      for (gint x = rows[i].first; x < info.stride[0]; x += rows[i].step)
        fail_unless_equals_int (to->data[y * info.stride[0] + x], from->data[y * info.stride[0] + x]);
    g_byte_array_unref (from);
    g_byte_array_unref (to);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Crops that come, move and go: no plan is made but once, at the first frame that has a crop. */
GST_START_TEST (test_crop_changes)
{
  GstVideoInfo info = info_of ("I420", 34, 20);
  Expected expected = skewed_expected (CONVOLVE_BOUNDARY_WRAP, 0);
  GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=wrap", gst_video_info_to_caps (&info));
  GstBuffer *in, *out;

  for (guint k = 0; k < 4 * G_N_ELEMENTS (crops); k++) {
    if (k > 2)
      listen_begin (GST_LEVEL_DEBUG, "plane ");
    if (k % 3 == 0) {
      in = random_frame (&info, k);
      out = push_and_pull (harness, in);
      check_part (&info, in, out, (Part){ 0, 1, 0, 34, 0, 20 }, FALSE, &expected, "no crop");
      fail_unless (gst_buffer_get_video_crop_meta (out) == NULL);
      gst_buffer_unref (in);
      gst_buffer_unref (out);
    } else {
      check_crop (harness, &info, crops[k % G_N_ELEMENTS (crops)], k, &expected);
    }
    fail_unless (k <= 2 || listen_end () == 0, "a new plan for frame %u", k);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A crop without a pixel of the frame: the whole frame is convolved, and one warning says so. */
GST_START_TEST (test_empty_crops)
{
  static const guint empty[][4] = { { 0, 0, 0, 0 }, { 34, 0, 5, 5 }, { 0, 20, 5, 5 }, { 4, 4, 9, 0 },
    { G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT } };
  GstVideoInfo info = info_of ("NV12", 34, 20);
  Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REFLECT, 0);
  GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=reflect", gst_video_info_to_caps (&info));

  listen_begin (GST_LEVEL_WARNING, "GstVideoCropMeta: the crop has no pixel of its frame");
  for (guint i = 0; i < G_N_ELEMENTS (empty); i++) {
    GstBuffer *in = random_frame (&info, i), *out;

    set_crop (in, empty[i][0], empty[i][1], empty[i][2], empty[i][3]);
    out = push_and_pull (harness, in);
    check_part (&info, in, out, (Part){ 0, 1, 0, 34, 0, 20 }, FALSE, &expected, "empty crop");
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (listen_end (), 1);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* The components that are not chosen keep every bit inside the crop, too. */
GST_START_TEST (test_crop_and_components)
{
  GstVideoInfo info = info_with ("A420", 34, 20, "interlace-mode=interleaved");
  Expected expected = skewed_expected (CONVOLVE_BOUNDARY_ZERO, 0);
  GstHarness *harness =
      windows_harness ("mask=\"" SKEWED "\" boundary=zero components=y+a", gst_video_info_to_caps (&info));

  expected.chosen = 9;
  for (guint k = 0; k < G_N_ELEMENTS (crops); k++)
    check_crop (harness, &info, crops[k], k, &expected);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* The field of an alternate stream has the crop's rows of that field; the crop counts the rows of both. */
GST_START_TEST (test_crop_of_alternate)
{
  GstVideoInfo info = info_with ("I420", 34, 20, "interlace-mode=alternate");
  Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REPLICATE, 0);
  GstHarness *harness = windows_harness ("mask=\"" SKEWED "\"", gst_video_info_to_caps (&info));

  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = random_frame (&info, i), *out;
    /* Rows 5 to 11 of the frame: 6, 8, 10 of the top field, and 5, 7, 9, 11 of the bottom field. */
    Part part = { 0, 1, 3, 20, i ? 2 : 3, 6 };

    GST_BUFFER_FLAG_SET (in, i ? GST_VIDEO_BUFFER_FLAG_BOTTOM_FIELD : GST_VIDEO_BUFFER_FLAG_TOP_FIELD);
    set_crop (in, 3, 5, 17, 7);
    out = push_and_pull (harness, in);
    check_part (&info, in, out, part, TRUE, &expected, "alternate");
    check_rest (&info, in, out, part, "alternate");
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* --- a picture in a larger frame, as videocrop and hardware decoders send it --- */

/* The row of the larger frame that row k of the picture at row y is; y is even in interlaced frames. */
static gint
row_in_large (const GstVideoInfo *small, guint c, gint k, gint y)
{
  gint y_sub = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (small->finfo, c);

  return GST_VIDEO_INFO_IS_INTERLACED (small) ? k + y / 2 / y_sub * 2 : k + y / y_sub;
}

/* What the larger frame has of the picture at x, y, as a frame of its own. */
static GstBuffer *
cut_out (const GstVideoInfo *large, GstBuffer *buffer, const GstVideoInfo *small, gint x, gint y)
{
  GstBuffer *piece = gst_buffer_new_allocate (NULL, small->size, NULL);
  GstVideoFrame from, to;

  /* Luma of packed 4:2:2 moves with its chroma. */
  if (GST_VIDEO_INFO_N_PLANES (small) == 1 && GST_VIDEO_INFO_IS_YUV (small)
      && GST_VIDEO_FORMAT_INFO_W_SUB (small->finfo, 1))
    x &= ~1;
  gst_buffer_memset (piece, 0, 0, small->size);
  fail_unless (gst_video_frame_map (&from, large, buffer, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&to, small, piece, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (small); c++) {
    gint step = GST_VIDEO_INFO_COMP_PSTRIDE (small, c), bytes = GST_VIDEO_INFO_COMP_DEPTH (small, c) > 8 ? 2 : 1;
    const guint8 *source = GST_VIDEO_FRAME_COMP_DATA (&from, c);
    guint8 *destination = GST_VIDEO_FRAME_COMP_DATA (&to, c);

    source += (x >> GST_VIDEO_FORMAT_INFO_W_SUB (small->finfo, c)) * step;
    for (gint k = 0; k < GST_VIDEO_INFO_COMP_HEIGHT (small, c); k++)
      for (gint i = 0; i < GST_VIDEO_INFO_COMP_WIDTH (small, c); i++)
        memcpy (destination + k * GST_VIDEO_FRAME_COMP_STRIDE (&to, c) + i * step,
            source + row_in_large (small, c, k, y) * GST_VIDEO_FRAME_COMP_STRIDE (&from, c) + i * step, bytes);
  }
  gst_video_frame_unmap (&from);
  gst_video_frame_unmap (&to);
  return piece;
}

static void
check_picture (GstHarness *harness, GstVideoInfo *large, const GstVideoInfo *small, gint x, gint y,
    const Expected *expected)
{
  gint width = GST_VIDEO_INFO_WIDTH (small), height = GST_VIDEO_INFO_HEIGHT (small);
  gint step = GST_VIDEO_INFO_IS_INTERLACED (small) ? 2 : 1;
  GstBuffer *in = random_frame (large, x), *picture = cut_out (large, in, small, x, y), *out;

  gst_buffer_add_video_meta_full (in, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (large), large->width,
      large->height, GST_VIDEO_INFO_N_PLANES (large), large->offset, large->stride);
  set_crop (in, x, y, width, height);
  out = push_and_pull (harness, in);
  fail_unless_equals_int (gst_buffer_get_size (out), small->size);
  fail_unless (gst_buffer_get_video_crop_meta (out) == NULL);
  for (gint phase = 0; phase < step; phase++)
    check_part (small, picture, out, (Part){ phase, step, 0, width, 0, height }, FALSE, expected,
        "picture in a larger frame");
  gst_buffer_unref (in);
  gst_buffer_unref (picture);
  gst_buffer_unref (out);
}

/* The output has the picture alone, and no crop any more. */
GST_START_TEST (test_picture_in_frame)
{
  static const gchar *const formats[] = { "I420", "NV12", "RGB", "BGRx", "GRAY16_LE", "YUY2", "AYUV", "GBR_10LE" };
  static const gint places[][2] = { { 2, 4 }, { 8, 1 }, { 0, 6 }, { 6, 0 }, { 14, 12 }, { 5, 3 }, { 7, 2 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    const gchar *format = formats[i / 2], *more = i % 2 ? "interlace-mode=interleaved" : NULL;
    GstVideoInfo small = info_with (format, 20, 12, more), large = info_with (format, 34, 24, more);
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REFLECT_101, 0);
    GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=reflect-101", gst_video_info_to_caps (&small));

    for (guint k = 0; k < G_N_ELEMENTS (places); k++)
      if (i % 2 == 0 || places[k][1] % 2 == 0)
        check_picture (harness, &large, &small, places[k][0], places[k][1], &expected);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A crop is offered upstream where downstream takes it, and where no layer convolves the frames. */
GST_START_TEST (test_offered_crop)
{
  for (guint taken = 0; taken < 2; taken++) {
    GstVideoInfo info = info_of ("I420", 32, 16);
    g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
    GstHarness *harness = harness_new_line ("cudaconvolve mask=box");
    GstQuery *query = gst_query_new_allocation (caps, TRUE);

    if (taken)
      gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_CROP_META_API_TYPE, NULL);
    gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
    gst_harness_set_src_caps (harness, gst_caps_ref (caps));
    push_ok (harness, random_frame (&info, 0));
    fail_unless (gst_pad_peer_query (harness->srcpad, query));
    fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
    fail_unless_equals_int (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL), taken);
    fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL));
    gst_query_unref (query);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

TCase *
crop_tests (void)
{
  TCase *tc = tcase_create ("crops");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_crops);
  tcase_add_test (tc, test_crops_of_fields);
  tcase_add_test (tc, test_padding_beside_crop);
  tcase_add_test (tc, test_crop_changes);
  tcase_add_test (tc, test_empty_crops);
  tcase_add_test (tc, test_crop_and_components);
  tcase_add_test (tc, test_crop_of_alternate);
  tcase_add_test (tc, test_picture_in_frame);
  tcase_add_test (tc, test_offered_crop);
  return tc;
}
