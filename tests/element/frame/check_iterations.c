/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mask n times: the same bytes as n elements in a row, on the CPU and over a device, for fields, crops and regions. */
#include "element/frame/check_windows.h"

#define MASK "mask=\"" SKEWED "\" boundary=wrap"

/* The frame after so many elements in a row, each with these properties. */
static GstBuffer *
through_elements (const GstVideoInfo *info, const gchar *properties, guint count, GstBuffer *in)
{
  GstBuffer *buffer = gst_buffer_copy_deep (in);

  for (guint i = 0; i < count; i++) {
    GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (info));
    GstBuffer *out = push_and_pull (harness, buffer);

    gst_buffer_unref (buffer);
    buffer = out;
    gst_harness_teardown (harness);
  }
  return buffer;
}

static void
check_iterations (const GstVideoInfo *info, const gchar *properties, guint count, GstBuffer *in)
{
  g_autofree gchar *several = g_strdup_printf ("%s iterations=%u", properties, count);
  g_autoptr (GstBuffer) expected = through_elements (info, properties, count, in);
  g_autoptr (GstBuffer) out = through_elements (info, several, 1, in);
  g_autoptr (GByteArray) wanted = rows_of (info, expected), got = rows_of (info, out);

  fail_unless (wanted->len == got->len && memcmp (wanted->data, got->data, got->len) == 0, "%s %s: seed %u", several,
      GST_VIDEO_INFO_NAME (info), seed);
}

/* Every format, with two to five iterations in turn. */
GST_START_TEST (test_formats)
{
  g_autoptr (GPtrArray) formats = element_formats ();

  for (guint i = 0; i < formats->len; i++) {
    GstVideoInfo info = info_with (g_ptr_array_index (formats, i), 37, 26, NULL);
    g_autoptr (GstBuffer) in = random_frame (&info, i);

    check_iterations (&info, MASK, 2 + i % 4, in);
  }
}
GST_END_TEST;

/* Fields, views, crops, chosen components, regions in place, and masks that are not exact. */
GST_START_TEST (test_kinds_of_frames)
{
  static const gchar *const formats[] = { "I420", "YUY2", "RGBA", "P010_10LE", "AYUV" };
  static const gchar *const kinds[] = { NULL, "interlace-mode=interleaved", "multiview-mode=side-by-side,views=2" };
  static const gchar *const settings[] = { MASK, "mask=gaussian sigma=2 boundary=reflect", MASK " components=y+r",
    MASK " apply-to=regions regions=10,8,20,16;5,5,9,9 region-feather=5 region-shape=ellipse "
         "region-effect=mask",
    "mask=gaussian apply-to=regions regions=10,8,20,16 region-strength=0.4", "mask=sobel boundary=wrap" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (kinds) * G_N_ELEMENTS (settings); i++) {
    GstVideoInfo info = info_with (formats[i % 5], 64, 48, kinds[i / 5 % 3]);
    g_autoptr (GstBuffer) in = random_frame (&info, i);

    /* No variant for devices takes regions. */
    if (strstr (settings[i / 15], "apply-to") && g_getenv ("CUDACONVOLVE_OVER_DEVICE"))
      continue;
    if (i % 7 == 0) {
      GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (in);

      *crop = (GstVideoCropMeta){ .meta = crop->meta, .x = 6, .y = 4, .width = 40, .height = 30 };
    }
    check_iterations (&info, settings[i / 15], 2 + i % 3, in);
  }
}
GST_END_TEST;

/* Many iterations, a live change, and none beside a layer. */
GST_START_TEST (test_live)
{
  GstVideoInfo info = info_with ("NV12", 40, 30, NULL);
  g_autoptr (GstBuffer) in = random_frame (&info, 1);
  GstHarness *harness = windows_harness (MASK, gst_video_info_to_caps (&info));

  check_iterations (&info, "mask=box", 17, in);
  for (guint n = 3; n > 0; n--) {
    g_autoptr (GstBuffer) expected = through_elements (&info, MASK, n, in), out = NULL;
    g_autoptr (GByteArray) wanted = rows_of (&info, expected), got = NULL;

    gst_harness_set (harness, "cudaconvolve", "iterations", n, NULL);
    out = push_and_pull (harness, in);
    got = rows_of (&info, out);
    fail_unless (memcmp (wanted->data, got->data, got->len) == 0, "%u iterations", n);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
iteration_tests (void)
{
  TCase *tc = tcase_create ("iterations");

  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_kinds_of_frames);
  tcase_add_test (tc, test_live);
  return tc;
}
