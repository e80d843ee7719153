/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property light, against what kernels/README.md says of it, with GStreamer's own transfer functions. */
#include <math.h>
#include <string.h>

#include "element/frame/check_windows.h"

#define MOST 65535

/* What of code values is light: the function, and the code values of none and of all. */
typedef struct
{
  GstVideoTransferFunction function;
  gint zero, range, largest;
} Curve;

static Curve
curve_of (const GstVideoInfo *info)
{
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];

  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset, scale);
  return (Curve){ .function = info->colorimetry.transfer == GST_VIDEO_TRANSFER_UNKNOWN ? GST_VIDEO_TRANSFER_SRGB
                                                                                       : info->colorimetry.transfer,
    .zero = offset[0],
    .range = scale[0],
    .largest = (1 << GST_VIDEO_INFO_COMP_DEPTH (info, 0)) - 1 };
}

static gint
word_of (const Curve *curve, gint code)
{
  gdouble share = CLAMP ((gdouble) (code - curve->zero) / curve->range, 0, 1);

  if (curve->function == GST_VIDEO_TRANSFER_GAMMA10)
    return (code * (gint64) MOST * 2 + curve->largest) / (2 * curve->largest);
  return floor (MOST * gst_video_transfer_function_decode (curve->function, share) + 0.5);
}

static gint
code_of (const Curve *curve, gint word)
{
  if (curve->function == GST_VIDEO_TRANSFER_GAMMA10)
    return (word * (gint64) curve->largest * 2 + MOST) / (2 * MOST);
  return floor (curve->zero
      + curve->range * CLAMP (gst_video_transfer_function_encode (curve->function, word / 65535.0), 0, 1) + 0.5);
}

/* The mean of the 3x3 neighbours in light, with the picture's edge going on. */
static gint
expected_at (const Curve *curve, const Component *in, gint x, gint y)
{
  gint sum = 0, code = in->samples[y * in->width + x];

  for (gint j = -1; j <= 1; j++)
    for (gint i = -1; i <= 1; i++)
      sum +=
          word_of (curve, in->samples[CLAMP (y + j, 0, in->height - 1) * in->width + CLAMP (x + i, 0, in->width - 1)]);
  sum = (2 * sum + 9) / 18;
  return sum == word_of (curve, code) ? code : code_of (curve, sum);
}

static void
check_frame (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out)
{
  const Curve curve = curve_of (info);
  Component from[4], to[4];

  frame_read (info, in, from);
  frame_read (info, out, to);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint y = 0; y < from[c].height; y++)
      for (gint x = 0; x < from[c].width; x++) {
        gint at = y * from[c].width + x;
        gint expected = c == 3 ? from[c].samples[at] : expected_at (&curve, &from[c], x, y);

        if (to[c].samples[at] != expected)
          fail ("seed %u: %s %s component %u at %d,%d is %u, expected %d", seed, GST_VIDEO_INFO_NAME (info),
              gst_video_colorimetry_to_string (&info->colorimetry), c, x, y, to[c].samples[at], expected);
      }
  frame_clear (from);
  frame_clear (to);
}

/* Range, matrix, transfer function and primaries, as GStreamer writes them. */
static gchar *
colorimetry_text (gint range, gint transfer)
{
  return g_strdup_printf ("colorimetry=%d:1:%d:1", range, transfer);
}

/* Every format with every transfer function that GStreamer knows, of full and of limited range. */
GST_START_TEST (test_light_of_formats)
{
  g_autoptr (GPtrArray) formats = element_formats ();
  guint n = 0;

  for (guint i = 0; i < formats->len; i++)
    for (gint transfer = 0; transfer <= GST_VIDEO_TRANSFER_BT601; transfer++) {
      g_autofree gchar *more = colorimetry_text (n % 5 == 4 ? 2 : 1, transfer);
      GstVideoInfo info = info_with (formats->pdata[i], 21, 7, more);
      GstHarness *harness;
      GstBuffer *in, *out;

      if (GST_VIDEO_INFO_IS_YUV (&info))
        break;
      harness =
          windows_harness ("mask=box mask-width=3 boundary=replicate light=linear", gst_video_info_to_caps (&info));
      in = random_frame (&info, n++);
      out = push_and_pull (harness, in);
      check_frame (&info, in, out);
      gst_buffer_unref (in);
      gst_buffer_unref (out);
      gst_harness_teardown (harness);
    }
  fail_unless (n >= 20 * 17);
}
GST_END_TEST;

/* A flat area keeps its code value, also where several of them are one word of light. */
GST_START_TEST (test_light_of_flat_areas)
{
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *more = colorimetry_text (1, i ? GST_VIDEO_TRANSFER_SMPTE2084 : GST_VIDEO_TRANSFER_GAMMA28);
    GstVideoInfo info = info_with ("RGB", 9, 9, more);
    GstHarness *harness =
        windows_harness ("mask=gaussian light=linear boundary=reflect", gst_video_info_to_caps (&info));

    for (guint code = 0; code < 256; code++) {
      GstBuffer *in = gst_buffer_new_allocate (NULL, info.size, NULL), *out;

      gst_buffer_memset (in, 0, code, info.size);
      out = push_and_pull (harness, in);
      check_equal (&info, in, out, (Part){ 0, 1, 0, 9, 0, 9 }, "flat");
      gst_buffer_unref (in);
      gst_buffer_unref (out);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* What lies outside of a region or a crop keeps every bit, and the region is the mean of its light. */
GST_START_TEST (test_light_in_parts)
{
  GstVideoInfo info = info_with ("xBGR", 40, 24, NULL);
  const Curve curve = curve_of (&info);
  const Part part = { 0, 1, 8, 24, 4, 20 };
  GstHarness *harness =
      windows_harness ("light=linear apply-to=regions regions=8,4,16,16 region-effect=pixelate region-blocks=1",
          gst_video_info_to_caps (&info));
  GstBuffer *in = random_frame (&info, 1), *out = push_and_pull (harness, in);
  Component from[4], to[4];

  check_rest (&info, in, out, part, "region");
  frame_read (&info, in, from);
  frame_read (&info, out, to);
  for (guint c = 0; c < 3; c++) {
    gint64 sum = 0;
    gint mean;

    for (gint y = part.y; y < part.y_end; y++)
      for (gint x = part.x; x < part.x_end; x++)
        sum += word_of (&curve, from[c].samples[y * 40 + x]);
    mean = (2 * sum + 256) / 512;
    for (gint y = part.y; y < part.y_end; y++)
      for (gint x = part.x; x < part.x_end; x++)
        if (word_of (&curve, from[c].samples[y * 40 + x]) != mean)
          fail_unless_equals_int (to[c].samples[y * 40 + x], code_of (&curve, mean));
  }
  frame_clear (from);
  frame_clear (to);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);

  harness = windows_harness ("light=linear mask=box", gst_video_info_to_caps (&info));
  in = gst_buffer_make_writable (in);
  {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (in);

    crop->x = part.x;
    crop->y = part.y;
    crop->width = crop->height = 16;
  }
  out = push_and_pull (harness, in);
  check_rest (&info, in, out, part, "crop");
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* The sentence for frames that have no light. */
GST_START_TEST (test_light_is_refused)
{
  Run run = run_start ("cudaconvolve mask=box light=linear", "NV12", 16, 16);

  run_push (&run);
  run_expect (&run, GST_MESSAGE_ERROR, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "light: linear takes frames of red, green and blue, or gray, and these are NV12; put \"videoconvert ! "
      "video/x-raw,format=RGBA\" before the element, or set light=coded",
      NULL);
  run_stop (&run);
}
GST_END_TEST;

TCase *
light_tests (void)
{
  TCase *tc = tcase_create ("light");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_light_of_formats);
  tcase_add_test (tc, test_light_of_flat_areas);
  tcase_add_test (tc, test_light_in_parts);
  tcase_add_test (tc, test_light_is_refused);
  return tc;
}
