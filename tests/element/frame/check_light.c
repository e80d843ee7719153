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
  static const gchar *const formats[] = { "NV12", "v210", "NV12_4L4" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    Run run = run_start ("cudaconvolve mask=box light=linear", formats[i], 16, 16);
    g_autofree gchar *text = g_strdup_printf (
        "light: linear takes frames of red, green and blue, or gray, and these are %s; put \"videoconvert ! "
        "video/x-raw,format=RGBA\" before the element, or set light=coded",
        formats[i]);

    run_push (&run);
    run_expect (&run, GST_MESSAGE_ERROR, GST_MESSAGE_ERROR, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text, NULL);
    run_stop (&run);
  }
}
GST_END_TEST;

/* Caps that do not say how samples stand for light are told once, where light is asked for. */
GST_START_TEST (test_light_is_unknown)
{
  static const gchar *const lights[] = { "linear", "coded" };

  for (guint i = 0; i < 4; i++) {
    g_autofree gchar *more = colorimetry_text (1, i < 2 ? GST_VIDEO_TRANSFER_UNKNOWN : GST_VIDEO_TRANSFER_BT709);
    GstVideoInfo info = info_with ("RGB", 9, 9, more);
    g_autofree gchar *line = g_strdup_printf ("mask=box light=%s", lights[i % 2]);
    GstHarness *harness = windows_harness (line, gst_video_info_to_caps (&info));
    GstBuffer *in = random_frame (&info, i);

    listen_begin (GST_LEVEL_WARNING, "light: the colorimetry of the caps (");
    gst_buffer_unref (push_and_pull (harness, in));
    g_object_set (harness->element, "sigma", 1.5, NULL);
    gst_buffer_unref (push_and_pull (harness, in));
    fail_unless_equals_int (listen_end (), i == 0);
    gst_buffer_unref (in);
    gst_harness_teardown (harness);
  }
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
  static const gchar *const regions[] = { "mask=emboss region-effect=mask", "region-effect=fill region-feather=3",
    "region-effect=noise-pixelate region-seed=5", "region-sources=alpha", "components=r region-effect=pixelate" };
  GstVideoInfo info = info_with ("BGRA", 33, 17, NULL);
  GstBuffer *in = frame_with_alpha (&info, 7, SOME), *out;
  GstHarness *harness;
  Component from[4], to[4];

  check_same (&info, "mask=emboss alpha=weigh", "mask=emboss alpha=copy", in);
  check_same (&info, "mask=gaussian components=r alpha=weigh", "mask=gaussian components=r alpha=copy", in);
  check_same (&info, "mask=gaussian components=r+g+b+a alpha=weigh", "mask=gaussian alpha=convolve", in);
  for (guint i = 0; i < G_N_ELEMENTS (regions); i++) {
    g_autofree gchar *weigh = g_strdup_printf ("%s apply-to=regions regions=2,2,12,12 alpha=weigh", regions[i]);
    g_autofree gchar *copy = g_strdup_printf ("%s apply-to=regions regions=2,2,12,12 alpha=copy", regions[i]);

    check_same (&info, weigh, copy, in);
  }
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

/* --- alpha in regions --- */

/* What is done to a box, whose blocks have 8x8 pixels, or to what is around it. */
typedef struct
{
  const gchar *properties;
  gboolean blocks, outside;
  gint feather, share; /* of 256 */
} InRegion;

static const InRegion in_regions[] = {
  { "region-effect=pixelate region-blocks=2", TRUE, FALSE, 0, 256 },
  { "region-effect=pixelate region-blocks=2 region-feather=5", TRUE, FALSE, 5, 256 },
  { "region-effect=pixelate region-blocks=2 region-feather=3 region-opacity=0.75 n-threads=2", TRUE, FALSE, 3, 192 },
  { "mask=box mask-width=3 region-effect=mask", FALSE, FALSE, 0, 256 },
  { "mask=box mask-width=3 region-effect=mask region-feather=4", FALSE, FALSE, 4, 256 },
  { "mask=box mask-width=3 region-opacity=0.5", FALSE, TRUE, 0, 128 },
};

#define BOX_X 12
#define BOX_Y 10
#define BOX_WIDTH 24
#define BOX_HEIGHT 16

/* How much of the effect a pixel gets, of 256. */
static gint
share_at (const InRegion *in_region, gint x, gint y)
{
  const gdouble dx = MAX (0, MAX (BOX_X - x, x - BOX_X - BOX_WIDTH + 1));
  const gdouble dy = MAX (0, MAX (BOX_Y - y, y - BOX_Y - BOX_HEIGHT + 1));
  gint share = MAX (0, floor (256 * (1 - hypot (dx, dy) / (in_region->feather + 1))));

  if (in_region->outside)
    share = 256 - share;
  return floor (share * in_region->share / 256.0 + 0.5);
}

/* The first and the last pixel of a line that an effect takes together. */
static void
find_mates (const InRegion *in_region, gint at, gint begin, gint *first, gint *last)
{
  *first = in_region->blocks ? at - (at - begin + 800) % 8 : at - 1;
  *last = in_region->blocks ? *first + 7 : at + 1;
}

/* Means of one pixel's mates: of words, which alpha has weighed or not, and of code values. Blocks end at the picture's edge. */
typedef struct
{
  gint word, plain, code;
} Means;

static Means
means_at (const InRegion *in_region, const Weighed *weighed, const Weighed *alpha, const Component *in,
    const Component *in_alpha, gint x, gint y)
{
  gint64 words = 0, plain = 0, codes = 0, n = 0;
  gint left, right, top, bottom;

  find_mates (in_region, x, BOX_X, &left, &right);
  find_mates (in_region, y, BOX_Y, &top, &bottom);
  for (gint v = top; v <= bottom; v++)
    for (gint u = left; u <= right; u++) {
      gint at = CLAMP (v, 0, in->height - 1) * in->width + CLAMP (u, 0, in->width - 1);
      gint word = word_of (&weighed->curve, in->samples[at]);

      if (in_region->blocks && (u < 0 || v < 0 || u >= in->width || v >= in->height))
        continue;
      n++;
      codes += in->samples[at];
      plain += word;
      words += in == in_alpha ? word : scaled (weighed, word, word_of (&alpha->curve, in_alpha->samples[at]), MOST);
    }
  return (Means){ (2 * words + n) / (2 * n), (2 * plain + n) / (2 * n), (2 * codes + n) / (2 * n) };
}

static gint
blended (gint before, gint effect, gint share)
{
  return floor (before + (effect - before) * share / 256.0 + 0.5);
}

static gint
expected_in_region (const InRegion *in_region, const Weighed weighed[4], const Component from[4], guint c, gint x,
    gint y)
{
  const gint share = share_at (in_region, x, y), at = y * from[c].width + x, own = from[c].samples[at];
  const gint own_alpha = word_of (&weighed[3].curve, from[3].samples[at]);
  const Means alphas = means_at (in_region, &weighed[3], &weighed[3], &from[3], &from[3], x, y);
  const Means means = means_at (in_region, &weighed[c], &weighed[3], &from[c], &from[3], x, y);
  const gint alpha = blended (own_alpha, alphas.word, share);
  gint before = word_of (&weighed[c].curve, own), after;

  if (c == 3)
    return alpha == own_alpha ? own : code_of (&weighed[3].curve, alpha);
  if (alpha == 0 && weighed[c].curve.function == GST_VIDEO_TRANSFER_GAMMA10)
    return blended (own, means.code, share);
  if (alpha == 0) {
    after = blended (before, means.plain, share);
    return after == before ? own : code_of (&weighed[c].curve, after);
  }
  before = scaled (&weighed[c], before, own_alpha, MOST);
  after = blended (before, means.word, share);
  return after == before && alpha == own_alpha ? own
                                               : code_of (&weighed[c].curve, scaled (&weighed[c], after, MOST, alpha));
}

static void
check_in_region (const GstVideoInfo *info, const InRegion *in_region, gboolean linear, GstBuffer *in, GstBuffer *out)
{
  Component from[4], to[4];
  Weighed weighed[4];

  frame_read (info, in, from);
  frame_read (info, out, to);
  for (guint c = 0; c < 4; c++)
    weighed[c] = weighed_of (info, c, linear);
  for (guint c = 0; c < 4; c++)
    for (gint y = 0; y < from[c].height; y++)
      for (gint x = 0; x < from[c].width; x++) {
        gint expected = expected_in_region (in_region, weighed, from, c, x, y);

        if (c == 3 && GST_VIDEO_INFO_COMP_DEPTH (info, 3) == 2)
          expected = (2 * expected * 3 + 1023) / 2046 * 341;

        if (to[c].samples[y * from[c].width + x] != expected)
          fail ("seed %u: %s %s%s component %u at %d,%d is %u, expected %d", seed, GST_VIDEO_INFO_NAME (info),
              in_region->properties, linear ? " linear" : "", c, x, y, to[c].samples[y * from[c].width + x], expected);
      }
  frame_clear (from);
  frame_clear (to);
}

/* Every format with alpha, in place and not: each effect against the definition, and opaque as if it had no alpha. */
GST_START_TEST (test_alpha_in_regions)
{
  static const gchar *const packed[] = { "RGB10A2_LE", "BGR10A2_LE", "Y410" };
  g_autoptr (GPtrArray) formats = element_formats ();
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (packed); i++)
    g_ptr_array_add (formats, (gpointer) packed[i]);

  for (guint i = 0; i < formats->len; i++)
    for (guint k = 0; k < 2 * G_N_ELEMENTS (in_regions); k++) {
      const InRegion *in_region = &in_regions[k / 2];
      const gboolean linear = k % 2;
      GstVideoInfo info = info_with (formats->pdata[i], 48, 36, NULL);
      g_autofree gchar *copy =
          g_strdup_printf ("boundary=replicate regions=12,10,24,16 %s light=%s apply-to=%s alpha=copy",
              in_region->properties, linear ? "linear" : "coded", in_region->outside ? "outside-regions" : "regions");
      g_autofree gchar *weigh = g_strdup_printf ("%.*sweigh", (gint) strlen (copy) - 4, copy);
      GstHarness *harness;
      GstBuffer *opaque, *in, *out[2];

      if (!GST_VIDEO_INFO_HAS_ALPHA (&info))
        break;
      if (linear && GST_VIDEO_INFO_IS_YUV (&info))
        continue;
      in = frame_with_alpha (&info, n++, SOME);
      opaque = frame_with_alpha (&info, n++, ALL);
      check_same (&info, weigh, copy, opaque);
      harness = windows_harness (weigh, gst_video_info_to_caps (&info));
      out[0] = push_and_pull (harness, in);
      push_ok (harness, gst_buffer_copy_deep (in));
      out[1] = gst_harness_pull (harness);
      check_equal (&info, out[0], out[1], (Part){ 0, 1, 0, 48, 0, 36 }, "in place");
      if (is_subsampled (&info))
        check_same (&info, weigh, copy, in);
      else
        check_in_region (&info, in_region, linear, in, out[0]);
      gst_buffer_unref (in);
      gst_buffer_unref (opaque);
      gst_buffer_unref (out[0]);
      gst_buffer_unref (out[1]);
      gst_harness_teardown (harness);
    }
  fail_unless (n >= 2 * 6 * 10);
}
GST_END_TEST;

/* The place inside a line of n samples that is mirrored at both ends. */
static gint
mirrored (gint i, gint n)
{
  i = ((i % (2 * n)) + 2 * n) % (2 * n);
  return i < n ? i : 2 * n - 1 - i;
}

/* True Gaussians around a pixel: of distances from the zero level, times alpha from 0 to 1, and of alpha. */
static void
blur_at (const GstVideoInfo *info, const Component from[4], gdouble sigma, gint x, gint y, gdouble sums[4])
{
  const gint radius = ceil (5 * sigma), width = from->width, height = from->height;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gdouble total = 0;

  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset, scale);
  memset (sums, 0, 4 * sizeof (*sums));
  for (gint j = -radius; j <= radius; j++)
    for (gint i = -radius; i <= radius; i++) {
      const gint at = mirrored (y + j, height) * width + mirrored (x + i, width);
      const gdouble weight = exp (-(i * i + j * j) / (2 * sigma * sigma));
      const gdouble alpha = from[3].samples[at] / (gdouble) ((1 << GST_VIDEO_INFO_COMP_DEPTH (info, 3)) - 1);

      total += weight;
      sums[3] += weight * alpha;
      for (guint c = 0; c < 3; c++)
        sums[c] += weight * alpha * (from[c].samples[at] - offset[c]);
    }
  for (guint c = 0; c < 4; c++)
    sums[c] /= total;
  for (guint c = 0; c < 3 && sums[3] > 0; c++)
    sums[c] = offset[c] + sums[c] / sums[3];
}

/* A blur by strength is near the true Gaussian of what is seen: colours count as their alpha, so differences do, too. */
GST_START_TEST (test_alpha_of_blurs)
{
  static const gchar *const formats[] = { "RGBA", "AYUV", "ARGB64", "GBRA_10LE", "A444_10LE" };
  static const gchar *const strengths[] = { "0.1", "0.5" };
  static const gdouble sigmas[] = { 2, 8 };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_with (formats[i / 2], 48, 36, NULL);
    const gdouble code = 1 << (GST_VIDEO_INFO_COMP_DEPTH (&info, 0) - 8);
    const gdouble most = (1 << GST_VIDEO_INFO_COMP_DEPTH (&info, 3)) - 1;
    GstBuffer *in = frame_with_alpha (&info, i, SOME), *out;
    g_autofree gchar *line = g_strdup_printf ("mask=gaussian boundary=reflect apply-to=regions regions=12,10,24,16 "
                                              "region-strength=%s alpha=weigh",
        strengths[i % 2]);
    GstHarness *harness = windows_harness (line, gst_video_info_to_caps (&info));
    Component from[4], to[4];
    gdouble worst = 0;

    out = push_and_pull (harness, in);
    frame_read (&info, in, from);
    frame_read (&info, out, to);
    for (gint y = BOX_Y; y < BOX_Y + BOX_HEIGHT; y++)
      for (gint x = BOX_X; x < BOX_X + BOX_WIDTH; x++) {
        gdouble expected[4];

        blur_at (&info, from, sigmas[i % 2], x, y, expected);
        worst = MAX (worst, fabs (to[3].samples[y * 48 + x] - expected[3] * most) / code);
        for (guint c = 0; c < 3; c++)
          worst = MAX (worst, fabs (to[c].samples[y * 48 + x] - expected[c]) * expected[3] / code);
      }
    g_print ("%s, sigma %g: at most %g code values of 8 bits from what is seen\n", formats[i / 2], sigmas[i % 2],
        worst);
    fail_unless (worst < 2, "seed %u: %s, sigma %g: %g code values", seed, formats[i / 2], sigmas[i % 2], worst);
    frame_clear (from);
    frame_clear (to);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* One colour stays that colour under any alpha, and a white square on transparent red has no other colour but white. */
GST_START_TEST (test_alpha_of_one_color)
{
  static const gchar *const effects[] = { "region-effect=pixelate region-blocks=5", "region-strength=0.05",
    "region-strength=0.3", "region-effect=mask mask=gaussian sigma=4", "region-effect=pixelate region-shape=ellipse",
    "region-strength=0.1 region-feather=10 region-opacity=0.5" };
  GstVideoInfo info = info_with ("RGBA", 64, 64, NULL);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (effects); i++) {
    g_autofree gchar *line = g_strdup_printf ("apply-to=regions regions=3,5,50,40 alpha=weigh %s", effects[i / 2]);
    GstHarness *harness = windows_harness (line, gst_video_info_to_caps (&info));
    GstBuffer *in = gst_buffer_new_allocate (NULL, info.size, NULL), *out;
    GstMapInfo map;

    fail_unless (gst_buffer_map (in, &map, GST_MAP_WRITE));
    for (gint k = 0; k < 64 * 64; k++) {
      gboolean white = k % 64 >= 20 && k % 64 < 40 && k / 64 >= 15 && k / 64 < 35;

      GST_WRITE_UINT32_BE (map.data + 4 * k, i % 2 ? 0xc8802800 | 4 * (k % 64) : white ? 0xffffffff : 0xff000000);
    }
    gst_buffer_unmap (in, &map);
    out = push_and_pull (harness, in);
    fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
    for (gint k = 0; k < 64 * 64; k++)
      fail_unless (map.data[4 * k + 3] < 8
              || GST_READ_UINT32_BE (map.data + 4 * k) >> 8 == (i % 2 ? 0xc88028 : 0xffffff),
          "%s: 0x%08x at %d,%d", effects[i / 2], GST_READ_UINT32_BE (map.data + 4 * k), k % 64, k / 64);
    gst_buffer_unmap (out, &map);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Effects and boxes change while the element plays: each frame is as of an element that begins with it. */
GST_START_TEST (test_alpha_of_new_effects)
{
  static const gchar *const effects[] = { "fill", "pixelate", "pixelate", "pixelate", "mask", "mask", "noise-pixelate",
    "mask", "pixelate", "fill" };
  static const gchar *const regions[] = { "12,10,24,16", "4,4,20,16", "4,4,20,16" };
  GstVideoInfo info = info_with ("RGBA", 48, 36, NULL);
  GstHarness *harness = windows_harness ("mask=box apply-to=regions region-seed=9 region-effect=fill alpha=weigh",
      gst_video_info_to_caps (&info));

  for (guint i = 0; i < G_N_ELEMENTS (effects); i++) {
    GstBuffer *in = frame_with_alpha (&info, i, i % 4 == 2 ? ALL : SOME), *out, *expected;
    g_autofree gchar *line =
        g_strdup_printf ("mask=box apply-to=regions regions=%s region-seed=9 region-effect=%s alpha=weigh",
            regions[i % 3], effects[i]);
    GstHarness *alone = windows_harness (line, gst_video_info_to_caps (&info));

    gst_util_set_object_arg (G_OBJECT (harness->element), "region-effect", effects[i]);
    g_object_set (harness->element, "regions", regions[i % 3], NULL);
    out = push_and_pull (harness, in);
    expected = push_and_pull (alone, in);
    if (!g_str_equal (effects[i], "noise-pixelate"))
      check_equal (&info, expected, out, (Part){ 0, 1, 0, 48, 0, 36 }, effects[i]);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_buffer_unref (expected);
    gst_harness_teardown (alone);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* What an earlier frame has left in memory beyond the part that is weighed shows nowhere. */
GST_START_TEST (test_alpha_of_margins)
{
  static const gchar *const kinds[] = { NULL, "interlace-mode=interleaved", "multiview-mode=column-interleaved,views=2",
    "multiview-mode=side-by-side,views=2" };
  static const gchar *const effects[] = { "region-effect=pixelate region-blocks=1 region-feather=9",
    "region-strength=0.1", "region-strength=0.3 region-expand=0.5",
    "mask=box mask-width=15 region-effect=mask iterations=2" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds) * G_N_ELEMENTS (effects) * 3; i++) {
    GstVideoInfo info = info_with ("RGBA", 300, 220, kinds[i % 4]);
    g_autofree gchar *line = g_strdup_printf ("mask=gaussian boundary=%s apply-to=regions %s regions=90,80,40,30 "
                                              "alpha=weigh",
        check_boundary_name (i / 16), effects[i / 4 % 4]);
    GstHarness *used = windows_harness (line, gst_video_info_to_caps (&info));
    GstHarness *fresh = windows_harness (line, gst_video_info_to_caps (&info));
    GstBuffer *in[2] = { frame_with_alpha (&info, 2 * i, SOME), frame_with_alpha (&info, 2 * i + 1, SOME) }, *out[2];

    g_object_set (used->element, "regions", "0,0,300,220", NULL);
    gst_buffer_unref (push_and_pull (used, in[0]));
    g_object_set (used->element, "regions", "90,80,40,30", NULL);
    out[0] = push_and_pull (used, in[1]);
    out[1] = push_and_pull (fresh, in[1]);
    check_equal (&info, out[1], out[0], (Part){ 0, 1, 0, 300, 0, 220 }, line);
    for (guint k = 0; k < 2; k++) {
      gst_buffer_unref (in[k]);
      gst_buffer_unref (out[k]);
    }
    gst_harness_teardown (used);
    gst_harness_teardown (fresh);
  }
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
  tcase_add_test (tc, test_light_is_unknown);
  tcase_add_test (tc, test_alpha_of_formats);
  tcase_add_test (tc, test_alpha_as_it_is);
  tcase_add_test (tc, test_alpha_in_regions);
  tcase_add_test (tc, test_alpha_of_blurs);
  tcase_add_test (tc, test_alpha_of_one_color);
  tcase_add_test (tc, test_alpha_of_new_effects);
  tcase_add_test (tc, test_alpha_of_margins);
  tcase_add_test (tc, test_alpha_in_turns);
  return tc;
}
