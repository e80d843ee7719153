/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats that the element takes: those of GStreamer 1.22 by name. Formats with an unknown trait are refused, as
 * made-up ones show.
 */
#include <gst/check/gstcheck.h>

#include "frame/layout.h"

/* The formats of GStreamer 1.22 that version 0.2.0 took. None may be lost. */
static const gchar *const taken[] = { "ABGR64_LE", "BGRA64_LE", "AYUV64", "ARGB64_LE", "ARGB64", "RGBA64_LE",
  "ABGR64_BE", "BGRA64_BE", "ARGB64_BE", "RGBA64_BE", "GBRA_12LE", "GBRA_12BE", "Y412_LE", "Y412_BE", "A444_10LE",
  "GBRA_10LE", "A444_10BE", "GBRA_10BE", "A422_10LE", "A422_10BE", "A420_10LE", "A420_10BE", "GBRA", "ABGR", "VUYA",
  "BGRA", "AYUV", "ARGB", "RGBA", "A420", "AV12", "Y444_16LE", "Y444_16BE", "v216", "P016_LE", "P016_BE", "Y444_12LE",
  "GBR_12LE", "Y444_12BE", "GBR_12BE", "I422_12LE", "I422_12BE", "Y212_LE", "Y212_BE", "I420_12LE", "I420_12BE",
  "P012_LE", "P012_BE", "Y444_10LE", "GBR_10LE", "Y444_10BE", "GBR_10BE", "I422_10LE", "I422_10BE", "Y210", "I420_10LE",
  "I420_10BE", "P010_10LE", "P010_10BE", "Y444", "RGBP", "GBR", "BGRP", "NV24", "xBGR", "BGRx", "xRGB", "RGBx", "BGR",
  "IYU2", "v308", "RGB", "Y42B", "NV61", "NV16", "VYUY", "UYVY", "YVYU", "YUY2", "I420", "YV12", "NV21", "NV12", "Y41B",
  "YVU9", "YUV9", "GRAY16_LE", "GRAY16_BE", "GRAY8" };

/* Formats of newer releases of GStreamer, which the element takes without naming them. */
static const gchar *const newer[] = { "A422", "A444", "A444_12LE", "A444_12BE", "A422_12LE", "A422_12BE", "A420_12LE",
  "A420_12BE", "A444_16LE", "A444_16BE", "A422_16LE", "A422_16BE", "A420_16LE", "A420_16BE", "GBR_16LE", "GBR_16BE",
  "RBGA", "Y216_LE", "Y216_BE", "Y416_LE", "Y416_BE", "GRAY10_LE16" };

static const gchar *const refused[] = { "ENCODED", "RGB16", "BGR16", "RGB15", "BGR15", "RGB8P", "r210", "v210", "UYVP",
  "IYU1", "Y410", "RGB10A2_LE", "BGR10A2_LE", "GRAY10_LE32", "NV12_10LE32", "NV16_10LE32", "NV12_10LE40", "NV12_64Z32",
  "NV12_4L4", "NV12_32L32", "NV12_16L32S", "NV12_8L128", "NV12_10BE_8L128", "NV12_10LE40_4L4", "DMA_DRM", "MT2110T",
  "MT2110R", "NV16_10LE40", "BGR10x2_LE", "RGB10x2_LE", "RGBA_F16LE", "RGBA_F16BE", "RGBA_F32LE", "RGBA_F32BE",
  "ARGB_F32" };

static GstVideoFormatInfo
copy_of (GstVideoFormat format)
{
  return *gst_video_format_get_info (format);
}

static void
check_names (const gchar *const *names, guint n, gboolean all, gboolean supported)
{
  for (guint i = 0; i < n; i++) {
    GstVideoFormat format = gst_video_format_from_string (names[i]);

    fail_unless (!all || format != GST_VIDEO_FORMAT_UNKNOWN, "%s is no format", names[i]);
    if (format != GST_VIDEO_FORMAT_UNKNOWN)
      fail_unless_equals_int (gst_cuda_convolve_format_is_supported (gst_video_format_get_info (format)), supported);
  }
}

GST_START_TEST (test_names)
{
  check_names (taken, G_N_ELEMENTS (taken), TRUE, TRUE);
  check_names (newer, G_N_ELEMENTS (newer), FALSE, TRUE);
  check_names (refused, G_N_ELEMENTS (refused), FALSE, FALSE);
  fail_if (gst_cuda_convolve_format_is_supported (gst_video_format_get_info (GST_VIDEO_FORMAT_UNKNOWN)));
}
GST_END_TEST;

/* The float formats of GStreamer's main branch, as their descriptions there are. */
GST_START_TEST (test_floats)
{
  GstVideoFormatInfo half = copy_of (gst_video_format_from_string ("RGBA64_LE")), single;

  half.name = "RGBA_F16LE";
  half.flags |= 1 << 10;
  fail_if (gst_cuda_convolve_format_is_supported (&half));
  half.name = "RGBA_F16BE";
  half.flags &= ~GST_VIDEO_FORMAT_FLAG_LE;
  fail_if (gst_cuda_convolve_format_is_supported (&half));

  single = half;
  single.name = "RGBA_F32LE";
  single.flags |= GST_VIDEO_FORMAT_FLAG_LE;
  for (guint i = 0; i < 4; i++) {
    single.depth[i] = 32;
    single.pixel_stride[i] = 16;
    single.poffset[i] = 4 * i;
  }
  fail_if (gst_cuda_convolve_format_is_supported (&single));
  single.flags &= ~(1 << 10);
  fail_if (gst_cuda_convolve_format_is_supported (&single));
}
GST_END_TEST;

/* Each test changes one trait of a good format to something that the element does not know. */
#define REFUSE(base, change) \
  do { \
    GstVideoFormatInfo made = copy_of (gst_video_format_from_string (base)); \
    fail_unless (gst_cuda_convolve_format_is_supported (&made), base); \
    made.change; \
    fail_if (gst_cuda_convolve_format_is_supported (&made), "%s with %s", base, #change); \
  } while (0)

GST_START_TEST (test_made_up)
{
  for (guint bit = 10; bit < 31; bit++)
    for (guint i = 0; i < G_N_ELEMENTS (taken); i++) {
      GstVideoFormatInfo made = copy_of (gst_video_format_from_string (taken[i]));

      made.flags |= 1u << bit;
      fail_if (gst_cuda_convolve_format_is_supported (&made), "%s with bit %u", taken[i], bit);
    }
  REFUSE ("I420", flags |= GST_VIDEO_FORMAT_FLAG_COMPLEX);
  REFUSE ("I420", flags |= GST_VIDEO_FORMAT_FLAG_TILED);
  REFUSE ("I420", flags |= GST_VIDEO_FORMAT_FLAG_SUBTILES);
  REFUSE ("RGB", flags |= GST_VIDEO_FORMAT_FLAG_PALETTE);
  REFUSE ("RGB", flags |= GST_VIDEO_FORMAT_FLAG_YUV);
  REFUSE ("RGB", flags &= ~GST_VIDEO_FORMAT_FLAG_RGB);
  REFUSE ("NV12", tile_mode = GST_VIDEO_TILE_MODE_LINEAR);
  REFUSE ("GRAY8", n_components = 0);
  REFUSE ("GRAY8", n_components = 2);
  REFUSE ("GRAY8", flags = GST_VIDEO_FORMAT_FLAG_YUV);
  REFUSE ("I420", n_components = 2);
  REFUSE ("I420", n_planes = 2);
  REFUSE ("I420", w_sub[1] = 3);
  REFUSE ("I420", h_sub[2] = 3);
  REFUSE ("I420", depth[1] = 9);
  REFUSE ("GRAY8", depth[0] = 7);
  REFUSE ("GRAY8", unpack_format = GST_VIDEO_FORMAT_UNKNOWN);
  REFUSE ("GRAY8", unpack_format = GST_VIDEO_FORMAT_AYUV64);
  REFUSE ("GRAY16_LE", unpack_format = GST_VIDEO_FORMAT_AYUV);
  REFUSE ("GRAY16_LE", unpack_format = (GstVideoFormat) 9999);
  REFUSE ("GRAY16_LE", depth[0] = 17);
  REFUSE ("GRAY16_LE", shift[0] = 1);
  REFUSE ("GRAY16_LE", pixel_stride[0] = 1);
  REFUSE ("GRAY16_LE", pixel_stride[0] = 3);
  REFUSE ("GRAY16_LE", pixel_stride[0] = 0);
  REFUSE ("GRAY16_LE", pixel_stride[0] = 10);
  REFUSE ("GRAY16_BE", name = "GRAY16_MIXED");
  REFUSE ("P010_10LE", shift[1] = 5);
  REFUSE ("RGBA", poffset[3] = 2);
  REFUSE ("RGBA", poffset[3] = 4);
  REFUSE ("RGB", pixel_stride[0] = 0);
}
GST_END_TEST;

static Suite *
layout_suite (void)
{
  Suite *suite = suite_create ("layout");
  TCase *tc = tcase_create ("layout");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_names);
  tcase_add_test (tc, test_floats);
  tcase_add_test (tc, test_made_up);
  return suite;
}

GST_CHECK_MAIN (layout);
