/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties light and alpha, against what kernels/README.md says of it, with GStreamer's own transfer functions. */
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
  /* GStreamer's line ends a little above the knee of the standard. */
  if (curve->function == GST_VIDEO_TRANSFER_SMPTE240M && share >= 0.0912 && share < 0.0913)
    return floor (MOST * pow ((share + 0.1115) / 1.1115, 1 / 0.45) + 0.5);
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
      harness = windows_harness ("mask=box mask-width=3 boundary=replicate light=linear alpha=copy",
          gst_video_info_to_caps (&info));
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

/* --- alpha --- */

/* Code values as words, about the word of the zero level. */
typedef struct
{
  Curve curve; /* of light; with linear code values, those words are in proportion */
  gint zero;
} Weighed;

static Weighed
weighed_of (const GstVideoInfo *info, guint c, gboolean linear)
{
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  Weighed weighed = { .curve = curve_of (info) };
  GstVideoColorRange range = info->colorimetry.range;

  if (range == GST_VIDEO_COLOR_RANGE_UNKNOWN)
    range = GST_VIDEO_COLOR_RANGE_16_235;
  gst_video_color_range_offsets (range, info->finfo, offset, scale);
  if (linear && c < 3)
    return weighed;
  weighed.curve.function = GST_VIDEO_TRANSFER_GAMMA10;
  if (c < 3)
    weighed.zero = word_of (&weighed.curve, offset[c]);
  return weighed;
}

/* A distance from the zero level times a fraction of whole numbers, halves away from the level. */
static gint
scaled (const Weighed *weighed, gint word, gint64 numerator, gint64 denominator)
{
  gint64 distance = ABS (word - weighed->zero);

  distance = (2 * distance * numerator + denominator) / (2 * denominator);
  return CLAMP (word < weighed->zero ? weighed->zero - distance : weighed->zero + distance, 0, MOST);
}

static gint
around (const Component *in, gint x, gint y, gint k)
{
  return CLAMP (y + k / 3 - 1, 0, in->height - 1) * in->width + CLAMP (x + k % 3 - 1, 0, in->width - 1);
}

/* The mean of 3x3 colours that alpha weighs. */
static gint
expected_color (const Weighed *weighed, const Weighed *alpha, const Component *in, const Component *in_alpha, gint x,
    gint y)
{
  gint colors = 0, alphas = 0, at = around (in, x, y, 4);
  gint own_alpha = word_of (&alpha->curve, in_alpha->samples[at]);
  gint own = scaled (weighed, word_of (&weighed->curve, in->samples[at]), own_alpha, MOST);

  for (gint k = 0; k < 9; k++) {
    gint i = around (in, x, y, k), weight = word_of (&alpha->curve, in_alpha->samples[i]);

    alphas += weight;
    colors += scaled (weighed, word_of (&weighed->curve, in->samples[i]), weight, MOST);
  }
  alphas = (2 * alphas + 9) / 18;
  colors = (2 * colors + 9) / 18;
  if (alphas == 0 || (alphas == own_alpha && colors == own))
    return in->samples[at];
  return code_of (&weighed->curve, scaled (weighed, colors, MOST, alphas));
}

static gint
expected_alpha (const Weighed *alpha, const Component *in, gint x, gint y)
{
  gint sum = 0, own = in->samples[around (in, x, y, 4)];

  for (gint k = 0; k < 9; k++)
    sum += word_of (&alpha->curve, in->samples[around (in, x, y, k)]);
  sum = (2 * sum + 9) / 18;
  return sum == word_of (&alpha->curve, own) ? own : code_of (&alpha->curve, sum);
}

static void
check_weighed (const GstVideoInfo *info, gboolean linear, GstBuffer *in, GstBuffer *out)
{
  const Weighed alpha = weighed_of (info, 3, linear);
  Component from[4], to[4];

  frame_read (info, in, from);
  frame_read (info, out, to);
  for (guint c = 0; c < 4; c++) {
    const Weighed weighed = weighed_of (info, c, linear);

    for (gint y = 0; y < from[c].height; y++)
      for (gint x = 0; x < from[c].width; x++) {
        gint expected = c == 3 ? expected_alpha (&alpha, &from[3], x, y)
                               : expected_color (&weighed, &alpha, &from[c], &from[3], x, y);

        if (to[c].samples[y * from[c].width + x] != expected)
          fail ("seed %u: %s%s component %u at %d,%d is %u, expected %d", seed, GST_VIDEO_INFO_NAME (info),
              linear ? " linear" : "", c, x, y, to[c].samples[y * from[c].width + x], expected);
      }
  }
  frame_clear (from);
  frame_clear (to);
}

/* Which pixels are opaque: some, of which others are invisible; all; all but the last one. */
typedef enum
{
  SOME,
  ALL,
  ALL_BUT_ONE
} Opaque;

static GstBuffer *
frame_with_alpha (const GstVideoInfo *info, guint32 number, Opaque opaque)
{
  GstBuffer *buffer = random_frame (info, number);
  const GstVideoFormatInfo *finfo = info->finfo;
  GstVideoFrame frame;
  gint width = GST_VIDEO_INFO_WIDTH (info);
  guint16 *line = g_new0 (guint16, 4 * (width + 16));

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READWRITE));
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (info); y++) {
    gboolean deep = GST_VIDEO_INFO_COMP_DEPTH (info, 0) > 8;

    finfo->unpack_func (finfo, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, line, frame.data, frame.info.stride, 0, y, width);
    for (gint x = 0; x < width; x++) {
      guint kind = opaque == SOME ? (x / 4 + y / 4) % 3 : 1;

      if (opaque == ALL_BUT_ONE && x == width - 1 && y == GST_VIDEO_INFO_HEIGHT (info) - 1)
        kind = 0;
      if (kind < 2 && deep)
        line[4 * x] = kind * 0xffff;
      else if (kind < 2)
        ((guint8 *) line)[4 * x] = kind * 0xff;
    }
    finfo->pack_func (finfo, GST_VIDEO_PACK_FLAG_NONE, line, 0, frame.data, frame.info.stride,
        GST_VIDEO_CHROMA_SITE_UNKNOWN, y, width);
  }
  gst_video_frame_unmap (&frame);
  g_free (line);
  return buffer;
}

static gboolean
is_subsampled (const GstVideoInfo *info)
{
  return GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, 1) > 0 || GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, 1) > 0;
}

/* What two elements make of one frame has the same bytes. */
static void
check_same (const GstVideoInfo *info, const gchar *one, const gchar *other, GstBuffer *in)
{
  GstHarness *harnesses[] = { windows_harness (one, gst_video_info_to_caps (info)),
    windows_harness (other, gst_video_info_to_caps (info)) };
  GByteArray *rows[2];

  for (guint i = 0; i < 2; i++) {
    GstBuffer *out = push_and_pull (harnesses[i], in);

    rows[i] = rows_of (info, out);
    gst_buffer_unref (out);
    gst_harness_teardown (harnesses[i]);
  }
  fail_unless_equals_int (rows[0]->len, rows[1]->len);
  fail_unless (memcmp (rows[0]->data, rows[1]->data, rows[0]->len) == 0, "seed %u: %s with %s and %s", seed,
      GST_VIDEO_INFO_NAME (info), one, other);
  g_byte_array_unref (rows[0]);
  g_byte_array_unref (rows[1]);
}

/* Every format with alpha: weighed against the definition, coded and linear, and opaque as if it had none. */
GST_START_TEST (test_alpha_of_formats)
{
  g_autoptr (GPtrArray) formats = element_formats ();
  guint n = 0;

  for (guint i = 0; i < formats->len; i++) {
    GstVideoInfo info = info_with (formats->pdata[i], 21, 14, NULL);
    GstBuffer *opaque, *in, *nearly;

    if (!GST_VIDEO_INFO_HAS_ALPHA (&info))
      continue;
    in = frame_with_alpha (&info, n++, SOME);
    nearly = frame_with_alpha (&info, n++, ALL_BUT_ONE);
    opaque = frame_with_alpha (&info, n++, ALL);
    check_same (&info, "mask=gaussian alpha=weigh", "mask=gaussian alpha=copy", opaque);
    if (is_subsampled (&info))
      check_same (&info, "mask=gaussian alpha=weigh", "mask=gaussian alpha=copy", in);
    for (gint linear = 0; linear < 2 && !is_subsampled (&info); linear++) {
      GstHarness *harness;
      GstBuffer *out;

      if (linear && GST_VIDEO_INFO_IS_YUV (&info))
        break;
      harness = windows_harness (linear ? "mask=box mask-width=3 light=linear alpha=weigh"
                                        : "mask=box mask-width=3 alpha=weigh",
          gst_video_info_to_caps (&info));
      out = push_and_pull (harness, in);
      check_weighed (&info, linear, in, out);
      gst_buffer_unref (out);
      out = push_and_pull (harness, nearly);
      check_weighed (&info, linear, nearly, out);
      gst_buffer_unref (out);
      gst_harness_teardown (harness);
    }
    gst_buffer_unref (in);
    gst_buffer_unref (opaque);
    gst_buffer_unref (nearly);
  }
  fail_unless (n >= 3 * 10);
}
GST_END_TEST;

/* What is not weighed, and that edges leave alpha. */
GST_START_TEST (test_alpha_as_it_is)
{
  GstVideoInfo info = info_with ("BGRA", 33, 17, NULL);
  GstBuffer *in = frame_with_alpha (&info, 7, SOME), *out;
  GstHarness *harness;
  Component from[4], to[4];

  check_same (&info, "mask=emboss alpha=weigh", "mask=emboss alpha=copy", in);
  check_same (&info, "mask=gaussian components=r alpha=weigh", "mask=gaussian components=r alpha=copy", in);
  check_same (&info, "mask=gaussian components=r+g+b+a alpha=weigh", "mask=gaussian alpha=convolve", in);
  check_same (&info, "mask=sobel apply-to=regions regions=2,2,8,8 region-effect=mask alpha=weigh",
      "mask=sobel apply-to=regions regions=2,2,8,8 region-effect=mask alpha=copy", in);
  harness = windows_harness ("mask=sobel alpha=weigh", gst_video_info_to_caps (&info));
  out = push_and_pull (harness, in);
  frame_read (&info, in, from);
  frame_read (&info, out, to);
  fail_unless (memcmp (from[3].samples, to[3].samples, 33 * 17 * sizeof (guint16)) == 0);
  for (guint i = 0; i < 33 * 17; i++)
    if (from[3].samples[i] == 0)
      for (guint c = 0; c < 3; c++)
        fail_unless_equals_int (from[c].samples[i], to[c].samples[i]);
  frame_clear (from);
  frame_clear (to);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* One element, frames with alpha and opaque ones in turns, of which several are under way. */
GST_START_TEST (test_alpha_in_turns)
{
  GstVideoInfo info = info_with ("RGBA", 40, 24, NULL);
  GstHarness *harness = windows_harness ("mask=box mask-width=3 alpha=weigh frames-in-flight=3 iterations=2",
      gst_video_info_to_caps (&info));
  GstBuffer *in[6];

  for (guint i = 0; i < 6; i++) {
    in[i] = frame_with_alpha (&info, i, i % 3);
    push_ok (harness, gst_buffer_ref (in[i]));
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 6; i++) {
    GstHarness *alone =
        windows_harness ("mask=box mask-width=3 alpha=weigh iterations=2", gst_video_info_to_caps (&info));
    GstBuffer *out = gst_harness_pull (harness), *expected = push_and_pull (alone, in[i]);

    check_equal (&info, expected, out, (Part){ 0, 1, 0, 40, 0, 24 }, "in turns");
    gst_buffer_unref (out);
    gst_buffer_unref (expected);
    gst_buffer_unref (in[i]);
    gst_harness_teardown (alone);
  }
  gst_harness_teardown (harness);
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
  tcase_add_test (tc, test_alpha_of_formats);
  tcase_add_test (tc, test_alpha_as_it_is);
  tcase_add_test (tc, test_alpha_in_turns);
  return tc;
}
