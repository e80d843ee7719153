/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions of frames that have fields, views, crops or chosen components: inside as in the whole frame, outside as before. */
#include "element/frame/check_windows.h"

/* Multiples of 8, so that every sample of every field is inside or outside; the box lies across both views. */
#define BOX "16,8,32,24"
static const Part box[] = { { 0, 2, 16, 48, 8, 32 }, { 1, 2, 16, 48, 8, 32 } };

/* What the element makes of the frame; properties are those of the mask. */
static GstBuffer *
result_of (const GstVideoInfo *info, const gchar *properties, const gchar *more, GstBuffer *in)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve kernel-variant=cpu %s %s", properties, more);
  GstHarness *harness = harness_new_for (line, info);
  GstBuffer *out = push_and_pull (harness, in);

  gst_harness_teardown (harness);
  return out;
}

static void
check_box (const GstVideoInfo *info, const gchar *properties, GstBuffer *in, const gchar *what)
{
  GstBuffer *whole = result_of (info, properties, "", in);
  GstBuffer *part = result_of (info, properties, "apply-to=regions region-effect=mask regions=" BOX, in);

  for (guint i = 0; i < G_N_ELEMENTS (box); i++) {
    check_rest (info, in, part, box[i], what);
    check_equal (info, whole, part, box[i], what);
  }
  gst_buffer_unref (whole);
  gst_buffer_unref (part);
}

GST_START_TEST (test_regions)
{
  static const gchar *const formats[] = { "I420", "NV12", "YUV9", "YUY2", "RGBA", "GRAY16_BE", "A420_10LE" };
  static const gchar *const kinds[] = { "interlace-mode=interleaved", "multiview-mode=side-by-side,views=2",
    "multiview-mode=top-bottom,views=2,interlace-mode=interleaved", "multiview-mode=row-interleaved,views=2",
    "multiview-mode=column-interleaved,views=2" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      GstVideoInfo info = info_with (formats[i], 64, 48, kinds[k]);
      GstBuffer *in = random_frame (&info, i);

      check_box (&info, "mask=\"" SKEWED "\" boundary=wrap", in, kinds[k]);
      check_box (&info, "mask=gaussian sigma=2 components=y+r+a", in, kinds[k]);
      gst_buffer_unref (in);
    }
}
GST_END_TEST;

/*
 * A box of any rows hides all samples that touch the box in either field. Chroma rows next to the box may be hidden,
 * too, but luma is not.
 */
GST_START_TEST (test_edges_in_fields)
{
  static const gchar *const formats[] = { "I420", "NV12", "I420_10BE", "YUY2", "RGB" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (gint y = 8; y < 16; y++)
      for (gint height = 1; height < 9; height++) {
        g_autofree gchar *regions = g_strdup_printf ("regions=\"16,%d,32,%d\"", y, height);
        GstVideoInfo info = info_with (formats[i], 64, 46, "interlace-mode=interleaved");
        GstBuffer *in = random_frame (&info, y), *other = random_frame (&info, y + 100);
        GstBuffer *out = result_of (&info, "apply-to=regions region-effect=fill", regions, in);
        GstBuffer *out_of_other = result_of (&info, "apply-to=regions region-effect=fill", regions, other);

        for (gint field = 0; field < 2; field++) {
          Part touched = { field, 2, 16, 48, y, y + height };
          Part near = { field, 2, 16, 48, y / 4 * 4, (y + height + 3) / 4 * 4 };

          check_equal (&info, out, out_of_other, touched, "edge of a box");
          check_rest (&info, in, out, near, "edge of a box");
        }
        gst_buffer_unref (in);
        gst_buffer_unref (other);
        gst_buffer_unref (out);
        gst_buffer_unref (out_of_other);
      }
}
GST_END_TEST;

/* A large sigma is computed at a smaller size: in a field, of the field. Nothing of one field shows in the other. */
GST_START_TEST (test_strength)
{
  GstVideoInfo info = info_with ("NV12", 512, 512, "interlace-mode=interleaved");
  GstBuffer *in = random_frame (&info, 0), *changed = gst_buffer_copy_deep (in), *one, *other;
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, &info, changed, GST_MAP_WRITE));
  for (guint i = 0; i < 2; i++) /* other samples in the bottom field */
    for (gint y = 1; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, i); y += 2)
      for (gint x = 0; x < GST_VIDEO_FRAME_PLANE_STRIDE (&frame, i); x++)
        ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, i))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, i) + x] ^= 0x5a;
  gst_video_frame_unmap (&frame);
  one = result_of (&info, "region-strength=0.5 apply-to=regions", "regions=\"64,64,256,256\"", in);
  other = result_of (&info, "region-strength=0.5 apply-to=regions", "regions=\"64,64,256,256\"", changed);
  check_equal (&info, one, other, (Part){ 0, 2, 0, 512, 0, 512 }, "the top field");
  gst_buffer_unref (in);
  gst_buffer_unref (changed);
  gst_buffer_unref (one);
  gst_buffer_unref (other);
}
GST_END_TEST;

/* The same for the columns of two views. */
GST_START_TEST (test_strength_of_views)
{
  GstVideoInfo info = info_with ("GRAY8", 512, 256, "multiview-mode=column-interleaved,views=2");
  GstBuffer *in = random_frame (&info, 0), *changed = gst_buffer_copy_deep (in), *one, *other;
  GstMapInfo map, first, second;

  gst_buffer_map (changed, &map, GST_MAP_WRITE);
  for (gsize i = 1; i < map.size; i += 2)
    map.data[i] ^= 0x5a;
  gst_buffer_unmap (changed, &map);
  one = result_of (&info, "region-strength=0.5 apply-to=regions", "regions=\"64,64,256,128\"", in);
  other = result_of (&info, "region-strength=0.5 apply-to=regions", "regions=\"64,64,256,128\"", changed);
  gst_buffer_map (one, &first, GST_MAP_READ);
  gst_buffer_map (other, &second, GST_MAP_READ);
  for (gsize i = 0; i < first.size; i += 2)
    fail_unless (first.data[i] == second.data[i]);
  gst_buffer_unmap (one, &first);
  gst_buffer_unmap (other, &second);
  gst_buffer_unref (in);
  gst_buffer_unref (changed);
  gst_buffer_unref (one);
  gst_buffer_unref (other);
}
GST_END_TEST;

/* A crop does not limit the regions, and one warning says so. */
GST_START_TEST (test_regions_and_crop)
{
  static const gchar properties[] = "mask=\"" SKEWED "\" apply-to=regions region-effect=mask";
  GstVideoInfo info = info_of ("I420", 64, 48);
  GstBuffer *in = random_frame (&info, 0), *expected = result_of (&info, properties, "regions=" BOX, in), *out;
  GstVideoCropMeta *crop;

  in = gst_buffer_make_writable (in);
  crop = gst_buffer_add_video_crop_meta (in);
  crop->x = crop->y = 20;
  crop->width = crop->height = 8;
  listen_begin (GST_LEVEL_WARNING, "GstVideoCropMeta: the crop does not limit the regions");
  out = result_of (&info, properties, "regions=" BOX, in);
  fail_unless_equals_int (listen_end (), 1);
  check_equal (&info, expected, out, (Part){ 0, 1, 0, 64, 0, 48 }, "crop");
  fail_unless (gst_buffer_get_video_crop_meta (out) != NULL);
  gst_buffer_unref (in);
  gst_buffer_unref (expected);
  gst_buffer_unref (out);
}
GST_END_TEST;

/* A box in a picture that lies in a larger frame: the frame is changed in place, and the rest of it stays. */
GST_START_TEST (test_regions_in_picture)
{
  GstVideoInfo small = info_of ("RGB", 40, 24), large = info_of ("RGB", 64, 48);
  GstHarness *harness =
      harness_new_for ("cudaconvolve mask=box apply-to=regions regions=8,8,16,8 region-effect=fill", &small);
  GstBuffer *in = random_frame (&large, 0), *before = gst_buffer_copy_deep (in), *out;
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (in);
  Part filled = { 0, 1, 12 + 8, 12 + 24, 10 + 8, 10 + 16 };
  GstVideoFrame frame;

  crop->x = 12;
  crop->y = 10;
  crop->width = 40;
  crop->height = 24;
  gst_buffer_add_video_meta_full (in, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, 64, 48, 1, large.offset,
      large.stride);
  push_ok (harness, in);
  out = gst_harness_pull (harness);
  check_rest (&large, before, out, filled, "picture in a larger frame");
  fail_unless (gst_video_frame_map (&frame, &large, out, GST_MAP_READ));
  for (gint y = filled.y; y < filled.y_end; y++)
    for (gint x = 3 * filled.x; x < 3 * filled.x_end; x++)
      fail_unless (((guint8 *) frame.data[0])[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + x] == 0);
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (before);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* With components=a a fill sets alpha, and nothing else. */
GST_START_TEST (test_fill_of_alpha)
{
  GstVideoInfo info = info_of ("RGBA", 64, 48);
  GstBuffer *in = random_frame (&info, 0);
  GstBuffer *out =
      result_of (&info, "apply-to=regions region-effect=fill region-color=0x40ffffff components=a", "regions=" BOX, in);
  GstMapInfo from, to;

  gst_buffer_map (in, &from, GST_MAP_READ);
  gst_buffer_map (out, &to, GST_MAP_READ);
  for (gint y = 0; y < 48; y++)
    for (gint x = 0; x < 64 * 4; x++) {
      gboolean inside = x % 4 == 3 && x / 4 >= 16 && x / 4 < 48 && y >= 8 && y < 32;

      fail_unless_equals_int (to.data[y * 256 + x], inside ? 0x40 : from.data[y * 256 + x]);
    }
  gst_buffer_unmap (in, &from);
  gst_buffer_unmap (out, &to);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;

/* Regions are parts of whole frames, and a buffer of one field is none. */
GST_START_TEST (test_regions_of_alternate)
{
  Run run = run_start ("cudaconvolve apply-to=regions regions=" BOX, "GRAY8", 64, 48);
  GstVideoInfo info = info_with ("GRAY8", 64, 48, "interlace-mode=alternate");

  gst_harness_set_src_caps (run.harness, gst_video_info_to_caps (&info));
  run.info = info;
  for (gint i = 0; i < 2; i++)
    fail_unless_equals_int (run_push (&run), GST_FLOW_ERROR);
  run_expect (&run, GST_MESSAGE_ERROR, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "apply-to: each frame is one field (interlace-mode=alternate)", NULL);
  run_stop (&run);
}
GST_END_TEST;

/* A source that this build cannot read is told once, where the user named that source. */
GST_START_TEST (test_unreadable_source)
{
  static const gchar *const sources[] = { "analytics", "text+analytics", "roi", "text+roi+analytics" };

  for (guint i = 0; i < G_N_ELEMENTS (sources); i++) {
    g_autofree gchar *line =
        g_strdup_printf ("cudaconvolve kernel-variant=cpu apply-to=regions region-sources=%s regions=" BOX, sources[i]);
    GstVideoInfo info = info_of ("GRAY8", 64, 48);
    GstBuffer *in = random_frame (&info, i);
    GstHarness *harness;

    listen_begin (GST_LEVEL_WARNING, "region-sources: analytics has no effect: this build reads no");
    harness = harness_new_for (line, &info);
    gst_buffer_unref (push_and_pull (harness, in));
    gst_harness_set (harness, "cudaconvolve", "region-hold", G_GUINT64_CONSTANT (1), NULL);
    gst_buffer_unref (push_and_pull (harness, in));
    gst_harness_teardown (harness);
    gst_buffer_unref (in);
    fail_unless_equals_int (listen_end (), i < 2 && !HAVE_ANALYTICS);
  }
}
GST_END_TEST;

/* A change of regions makes no new plans, so that boxes can be set for every frame. A change of the mask does. */
GST_START_TEST (test_plans_stay)
{
  GstVideoInfo info = info_with ("I420", 64, 48, NULL);
  /* kernel-variant=auto logs each plan. */
  GstHarness *harness =
      harness_new_for ("cudaconvolve apply-to=regions region-effect=mask sigma=2 regions=0,0,16,16", &info);
  GstBuffer *in = random_frame (&info, 1);

  gst_buffer_unref (push_and_pull (harness, in));
  listen_begin (GST_LEVEL_DEBUG, "plane ");
  for (guint i = 1; i < 4; i++) {
    g_autofree gchar *regions = g_strdup_printf ("%u,0,16,16", 8 * i);
    Part part = { 0, 1, 8 * i, 8 * i + 16, 0, 16 };
    GstBuffer *out;

    g_object_set (harness->element, "regions", regions, NULL);
    out = push_and_pull (harness, in);
    check_rest (&info, in, out, part, regions);
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (listen_end (), 0);
  listen_begin (GST_LEVEL_DEBUG, "plane ");
  g_object_set (harness->element, "sigma", 3.0, NULL);
  gst_buffer_unref (push_and_pull (harness, in));
  fail_unless (listen_end () > 0);
  gst_buffer_unref (in);
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
region_tests (void)
{
  TCase *tc = tcase_create ("regions");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_regions);
  tcase_add_test (tc, test_edges_in_fields);
  tcase_add_test (tc, test_strength);
  tcase_add_test (tc, test_strength_of_views);
  tcase_add_test (tc, test_regions_and_crop);
  tcase_add_test (tc, test_regions_in_picture);
  tcase_add_test (tc, test_fill_of_alpha);
  tcase_add_test (tc, test_regions_of_alternate);
  tcase_add_test (tc, test_unreadable_source);
  tcase_add_test (tc, test_plans_stay);
  return tc;
}
