/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats whose samples share words, or lie in tiles: the same samples as a format in which each has a word of its own, for fields,
 * views, crops, regions and iterations, on the CPU and over a device. Bits that are no samples stay.
 */
#include "element/frame/check_windows.h"

#define MASK "mask=\"" SKEWED "\" boundary=wrap bias=0.125"

/* Formats with the samples of others. GStreamer 1.28 has all of them. */
static const struct
{
  const gchar *name, *wide;
} pairs[] = {
  { "v210", "I422_10LE" },
  { "UYVP", "I422_10LE" },
  { "r210", "GBR_10LE" },
  { "Y410", "A444_10LE" },
  { "RGB10A2_LE", "GBRA_10LE" },
  { "BGR10A2_LE", "GBRA_10LE" },
  { "NV12_10LE32", "I420_10LE" },
  { "NV16_10LE32", "I422_10LE" },
  { "NV12_10LE40", "I420_10LE" },
  { "NV12_10BE_8L128", "I420_10LE" },
  { "NV12_10LE40_4L4", "I420_10LE" },
  { "NV16_10LE40", "I422_10LE" },
  { "RGB10x2_LE", "GBR_10LE" },
  { "BGR10x2_LE", "GBR_10LE" },
  { "IYU1", "Y41B" },
  { "NV12_4L4", "NV12" },
  { "NV12_16L32S", "NV12" },
  { "NV12_32L32", "NV12" },
  { "NV12_64Z32", "NV12" },
  { "NV12_8L128", "NV12" },
};

static gboolean
is_known (const gchar *format)
{
  return gst_video_format_from_string (format) != GST_VIDEO_FORMAT_UNKNOWN;
}

/* The frame with the same samples in another format, by GStreamer's own functions. */
static GstBuffer *
widen (const GstVideoInfo *info, GstBuffer *in, const GstVideoInfo *wide)
{
  g_autofree guint16 *line = g_new0 (guint16, 4 * (info->width + 16));
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, wide->size, NULL);
  GstVideoFrame from, to;

  fail_unless (
      gst_video_frame_map (&from, info, in, GST_MAP_READ) && gst_video_frame_map (&to, wide, buffer, GST_MAP_WRITE));
  for (gint y = 0; y < GST_VIDEO_INFO_FIELD_HEIGHT (info); y++) {
    info->finfo->unpack_func (info->finfo, GST_VIDEO_PACK_FLAG_NONE, line, from.data, from.info.stride, 0, y,
        info->width);
    /* GStreamer leaves the bits below alpha's two 0. */
    for (gint x = 0; x < info->width && GST_VIDEO_INFO_HAS_ALPHA (info); x++)
      line[4 * x] = (line[4 * x] >> 14) * 0x5555;
    wide->finfo->pack_func (wide->finfo, GST_VIDEO_PACK_FLAG_NONE, line, 0, to.data, to.info.stride,
        GST_VIDEO_CHROMA_SITE_UNKNOWN, y, info->width);
  }
  gst_video_frame_unmap (&from);
  gst_video_frame_unmap (&to);
  return buffer;
}

/* The samples of both results are to be equal, in the bits that the packed format has. */
static void
compare (const GstVideoInfo *info, GstBuffer *out, const GstVideoInfo *wide, GstBuffer *expected, const gchar *what)
{
  Component got[4], wanted[4];

  frame_read (info, out, got);
  frame_read (wide, expected, wanted);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    gint unused = GST_VIDEO_INFO_COMP_DEPTH (wide, c) - GST_VIDEO_INFO_COMP_DEPTH (info, c);

    for (gint i = 0; i < got[c].width * got[c].height; i++)
      if (got[c].samples[i] >> unused != wanted[c].samples[i] >> unused)
        fail ("%s %s: component %u at %d,%d is %u, expected %u; seed %u", GST_VIDEO_INFO_NAME (info), what, c,
            i % got[c].width, i / got[c].width, got[c].samples[i], wanted[c].samples[i], seed);
  }
  frame_clear (got);
  frame_clear (wanted);
}

static GstBuffer *
take_through (const GstVideoInfo *info, const gchar *properties, GstBuffer *in)
{
  GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (info));
  GstBuffer *out = push_and_pull (harness, in);

  gst_harness_teardown (harness);
  return out;
}

static void
add_crop (GstBuffer *buffer)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  *crop = (GstVideoCropMeta){ .meta = crop->meta, .x = 7, .y = 4, .width = 40, .height = 30 };
}

GST_START_TEST (test_kinds_of_frames)
{
  static const gchar *const kinds[] = { NULL, "interlace-mode=interleaved", "multiview-mode=side-by-side,views=2",
    "interlace-mode=alternate", "multiview-mode=row-interleaved,views=2", "multiview-mode=column-interleaved,views=2" };
  static const gchar *const settings[] = { MASK, "mask=gaussian sigma=2 boundary=reflect", MASK " components=y+r",
    MASK " iterations=3", "mask=sobel boundary=wrap",
    MASK " apply-to=regions regions=10,8,20,16;5,5,9,9 region-feather=5 region-shape=ellipse region-effect=mask",
    "apply-to=regions region-effect=pixelate regions=3,3,31,17", MASK " components=u+v+g+b" };
  guint n = G_N_ELEMENTS (pairs) * G_N_ELEMENTS (kinds) * G_N_ELEMENTS (settings);

  for (guint i = 0; i < n; i++) {
    guint pair = i % G_N_ELEMENTS (pairs), kind = i / G_N_ELEMENTS (pairs) % G_N_ELEMENTS (kinds);
    const gchar *setting = settings[i / G_N_ELEMENTS (pairs) / G_N_ELEMENTS (kinds)];
    g_autofree gchar *what = g_strdup_printf ("%s, %s", setting, kinds[kind] ? kinds[kind] : "progressive");
    g_autoptr (GstBuffer) in = NULL, same = NULL, out = NULL, expected = NULL;
    GstVideoInfo info, wide;

    if (!is_known (pairs[pair].name))
      continue;
    info = info_with (pairs[pair].name, 62 + 2 * (i % 2), 48, kinds[kind]);
    wide = info_with (pairs[pair].wide, 62 + 2 * (i % 2), 48, kinds[kind]);
    in = frame_new (&info, i % 3, seed + i);
    same = widen (&info, in, &wide);
    /* No variant for devices takes regions, and regions are parts of whole frames. */
    if (strstr (setting, "apply-to") && (g_getenv ("CUDACONVOLVE_OVER_DEVICE") || strstr (what, "alternate")))
      continue;
    if (i % 7 == 0) {
      add_crop (in);
      add_crop (same);
    }
    out = take_through (&info, setting, in);
    expected = take_through (&wide, setting, same);
    compare (&info, out, &wide, expected, what);
  }
}
GST_END_TEST;

/* The bytes of a word whose highest bit is set, in the machine's byte order. */
#define FIRST (G_BYTE_ORDER == G_BIG_ENDIAN ? 0x80 : 0)
#define SECOND (0x80 - FIRST)

/* Bits that are no samples, and alpha: two of each word of v210, of GRAY10_LE32 and of kin, one of RGB15. */
GST_START_TEST (test_bits_between_samples)
{
  static const struct
  {
    const gchar *format;
    guint8 bits[4]; /* of four bytes */
  } kept[] = { { "v210", { 0, 0, 0, 0xc0 } }, { "r210", { 0xc0, 0, 0, 0 } }, { "Y410", { 0, 0, 0, 0xc0 } },
    { "RGB10A2_LE", { 0, 0, 0, 0xc0 } }, { "BGR10A2_LE", { 0, 0, 0, 0xc0 } }, { "GRAY10_LE32", { 0, 0, 0, 0xc0 } },
    { "NV12_10LE32", { 0, 0, 0, 0xc0 } }, { "NV16_10LE32", { 0, 0, 0, 0xc0 } },
    { "RGB15", { FIRST, SECOND, FIRST, SECOND } }, { "BGR15", { FIRST, SECOND, FIRST, SECOND } },
    { "RGB10x2_LE", { 0, 0, 0, 0xc0 } }, { "BGR10x2_LE", { 0, 0, 0, 0xc0 } } };

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    g_autoptr (GstBuffer) in = NULL, out = NULL;
    gboolean changed = FALSE;
    GstMapInfo from, to;
    GstVideoInfo info;
    GRand *random;

    if (!is_known (kept[i].format))
      continue;
    info = info_with (kept[i].format, 48, 8, NULL);
    random = g_rand_new_with_seed (seed + i);
    in = gst_buffer_new_allocate (NULL, info.size, NULL);
    gst_buffer_map (in, &from, GST_MAP_WRITE);
    for (gsize k = 0; k < from.size; k++)
      from.data[k] = g_rand_int (random);
    gst_buffer_unmap (in, &from);
    out = take_through (&info, MASK, in);
    fail_unless (gst_buffer_map (in, &from, GST_MAP_READ) && gst_buffer_map (out, &to, GST_MAP_READ));
    for (gint p = 0; p < (gint) GST_VIDEO_INFO_N_PLANES (&info); p++)
      for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (&info, p); y++)
        for (gint x = 0; x < (g_str_has_prefix (kept[i].format, "v210") ? 128 : info.stride[p] / 4 * 4); x++) {
          gsize at = info.offset[p] + y * info.stride[p] + x;

          changed |= from.data[at] != to.data[at];
          fail_unless (((from.data[at] ^ to.data[at]) & kept[i].bits[x % 4]) == 0, "%s: plane %d at %d,%d: %02x, %02x",
              kept[i].format, p, x, y, from.data[at], to.data[at]);
        }
    fail_unless (changed);
    gst_buffer_unmap (in, &from);
    gst_buffer_unmap (out, &to);
    g_rand_free (random);
  }
}
GST_END_TEST;

/* A mask that changes nothing passes the buffer on. */
GST_START_TEST (test_passthrough)
{
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    GstVideoInfo info;
    GstHarness *harness;
    GstBuffer *in, *out;

    if (!is_known (pairs[i].name))
      continue;
    info = info_with (pairs[i].name, 32, 16, NULL);
    harness = windows_harness ("mask=identity", gst_video_info_to_caps (&info));
    in = frame_new (&info, FRAME_PLAIN, seed);
    fail_unless_equals_int (gst_harness_push (harness, in), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    fail_unless (out == in, "%s", pairs[i].name);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A picture that begins somewhere in a larger frame, and zigzag tiles in other numbers than those of the caps. */
GST_START_TEST (test_refused_frames)
{
  static const struct
  {
    const gchar *format;
    gint width, height;
    guint x, y;
    gboolean taken;
  } frames[] = { { "v210", 64, 48, 0, 0, TRUE }, { "v210", 64, 48, 6, 4, FALSE }, { "NV12_4L4", 64, 48, 8, 8, FALSE },
    { "NV12_4L4", 96, 64, 0, 0, TRUE }, { "NV12_64Z32", 300, 100, 0, 0, FALSE }, { "NV12_64Z32", 64, 32, 0, 0, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    GstVideoInfo info = info_with (frames[i].format, 40, 30, NULL);
    GstVideoInfo large = info_with (frames[i].format, frames[i].width, frames[i].height, NULL);
    GstHarness *harness = windows_harness ("mask=box", gst_video_info_to_caps (&info));
    GstBuffer *in = frame_new (&large, FRAME_PLAIN, seed);
    GstVideoCropMeta *crop;

    gst_buffer_add_video_meta_full (in, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (&large), large.width,
        large.height, GST_VIDEO_INFO_N_PLANES (&large), large.offset, large.stride);
    crop = gst_buffer_add_video_crop_meta (in);
    *crop = (GstVideoCropMeta){ .meta = crop->meta, .x = frames[i].x, .y = frames[i].y, .width = 40, .height = 30 };
    fail_unless_equals_int (gst_harness_push (harness, in), frames[i].taken ? GST_FLOW_OK : GST_FLOW_ERROR);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

TCase *
cell_tests (void)
{
  TCase *tc = tcase_create ("cells");

  tcase_add_test (tc, test_kinds_of_frames);
  tcase_add_test (tc, test_bits_between_samples);
  tcase_add_test (tc, test_passthrough);
  tcase_add_test (tc, test_refused_frames);
  return tc;
}
