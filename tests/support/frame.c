/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/frame.h"

#include <math.h>

#include <gst/check/gstcheck.h>
#include <string.h>

#include "support/names.h"
#include "support/oracle.h"

#define PADDING 24 /* bytes after each row of a padded frame, even for 16-bit samples */

GstCaps *
frame_caps (const gchar *format, gint width, gint height, const gchar *colorimetry)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT, width,
      "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);

  if (colorimetry)
    gst_caps_set_simple (caps, "colorimetry", G_TYPE_STRING, colorimetry, NULL);
  return caps;
}

static gint
frame_depth (const GstVideoInfo *info)
{
  return MAX (8, GST_VIDEO_INFO_COMP_DEPTH (info, 0));
}

gboolean
frame_has_cells (const GstVideoInfo *info)
{
  gint bytes = 0, step = 0;

  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    if (GST_VIDEO_INFO_COMP_PLANE (info, c) == 0) {
      bytes += GST_VIDEO_INFO_COMP_DEPTH (info, c) > 8 ? 2 : 1;
      step = MAX (step, GST_VIDEO_INFO_COMP_PSTRIDE (info, c));
    }
  return bytes > step || GST_VIDEO_FORMAT_INFO_IS_TILED (info->finfo);
}

gboolean
frame_has_few_bits (const GstVideoInfo *info)
{
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    if ((gint) GST_VIDEO_INFO_COMP_DEPTH (info, c) < frame_depth (info))
      return TRUE;
  return FALSE;
}

gboolean
frame_reads_well (const GstVideoInfo *info)
{
  const gchar *name = GST_VIDEO_INFO_NAME (info);
  gint width = GST_VIDEO_INFO_WIDTH (info);

  if (g_str_equal (name, "VYUY"))
    return width % 2 == 0;
  if (g_str_equal (name, "UYVP"))
    return width % 8 != 3;
  if (g_str_equal (name, "NV12_10LE32") || g_str_equal (name, "NV16_10LE32"))
    return width % 6 != 3;
  if (g_str_equal (name, "NV12_10BE_8L128"))
    return width % 2 == 0 || (10 * width + 7) / 8 % 8 != 0;
  return TRUE;
}

static GstBuffer *
allocate (const GstVideoInfo *info, FrameLayout layout)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, size = 0;
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  GstBuffer *buffer = gst_buffer_new ();

  if (layout == FRAME_PLAIN || GST_VIDEO_FORMAT_INFO_IS_TILED (info->finfo)) {
    gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, info->size, NULL));
    return buffer;
  }
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++) {
    gint component[GST_VIDEO_MAX_COMPONENTS];
    gsize rows;

    gst_video_format_info_component (info->finfo, i, component);
    rows = GST_VIDEO_INFO_COMP_HEIGHT (info, component[0]);
    stride[i] = GST_VIDEO_INFO_PLANE_STRIDE (info, i) + PADDING * (i + 1);
    offset[i] = size + (layout != FRAME_MEMORIES ? PADDING : 0);
    if (layout == FRAME_MEMORIES)
      gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, stride[i] * rows, NULL));
    size = offset[i] + stride[i] * rows;
    if (layout == FRAME_UPSIDE_DOWN) {
      offset[i] += stride[i] * (rows - 1);
      stride[i] = -stride[i];
    }
  }
  if (layout != FRAME_MEMORIES)
    gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, size, NULL));
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info), offset, stride);
  return buffer;
}

GstBuffer *
frame_new (const GstVideoInfo *info, FrameLayout layout, guint32 seed)
{
  const GstVideoFormatInfo *finfo = info->finfo;
  gint width = GST_VIDEO_INFO_WIDTH (info), bytes = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, 0) > 8 ? 2 : 1;
  guint16 *line = g_new0 (guint16, 4 * (width + 16));
  GRand *random = g_rand_new_with_seed (seed);
  GstBuffer *buffer = allocate (info, layout);
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (gint y = 0; y < GST_VIDEO_INFO_FIELD_HEIGHT (info); y++) {
    for (gint i = 0; i < 4 * width * bytes; i++)
      ((guint8 *) line)[i] = g_rand_int (random);
    finfo->pack_func (finfo, GST_VIDEO_PACK_FLAG_NONE, line, 0, frame.data, frame.info.stride,
        GST_VIDEO_CHROMA_SITE_UNKNOWN, y, width);
  }
  gst_video_frame_unmap (&frame);
  g_rand_free (random);
  g_free (line);
  return buffer;
}

GstBuffer *
frame_wrap_planes (const GstVideoInfo *info, guint8 *block)
{
  GstBuffer *buffer = gst_buffer_new ();
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };

  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++) {
    gsize end = i + 1 < GST_VIDEO_INFO_N_PLANES (info) ? GST_VIDEO_INFO_PLANE_OFFSET (info, i + 1) : info->size;

    offset[i] = GST_VIDEO_INFO_PLANE_OFFSET (info, i);
    stride[i] = GST_VIDEO_INFO_PLANE_STRIDE (info, i);
    gst_buffer_append_memory (buffer,
        gst_memory_new_wrapped (0, block + offset[i], end - offset[i], 0, end - offset[i], NULL, NULL));
  }
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info), info->width,
      info->height, GST_VIDEO_INFO_N_PLANES (info), offset, stride);
  return buffer;
}

/* The bits of a sample again and again, from the top of depth bits on. */
static gint
widen (gint value, gint bits, gint depth)
{
  gint wide = 0;

  for (gint left = depth - bits; left > -bits; left -= bits)
    wide |= left >= 0 ? value << left : value >> -left;
  return wide;
}

/* The nearest of the samples that have so few bits. */
static gint
nearest (gint value, gint bits, gint depth)
{
  gint most = (1 << bits) - 1;

  return widen (floor ((gdouble) value * most / ((1 << depth) - 1) + 0.5), bits, depth);
}

void
frame_read (const GstVideoInfo *info, GstBuffer *buffer, Component components[4])
{
  static const gint place[4] = { 1, 2, 3, 0 }; /* of a component in AYUV and ARGB */
  const GstVideoFormatInfo *finfo = info->finfo;
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_FIELD_HEIGHT (info);
  gint depth = frame_depth (info);
  guint16 *line = g_new0 (guint16, 4 * (width + 16));
  GstVideoFrame frame;

  memset (components, 0, 4 * sizeof (Component));
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); c++) {
    components[c].width = GST_VIDEO_INFO_COMP_WIDTH (info, c);
    components[c].height = GST_VIDEO_INFO_COMP_HEIGHT (info, c);
    components[c].samples = g_new0 (guint16, components[c].width * components[c].height);
  }
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (gint y = 0; y < height; y++) {
    finfo->unpack_func (finfo, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, line, frame.data, frame.info.stride, 0, y, width);
    for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); c++) {
      gint x_sub = GST_VIDEO_FORMAT_INFO_W_SUB (finfo, c), y_sub = GST_VIDEO_FORMAT_INFO_H_SUB (finfo, c);
      gint bits = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, c);

      for (gint x = 0; x < components[c].width && y % (1 << y_sub) == 0; x++) {
        gint at = 4 * (x << x_sub) + place[c];
        gint value = depth == 8 ? ((guint8 *) line)[at] >> (8 - bits) : line[at] >> (16 - bits);

        components[c].samples[(y >> y_sub) * components[c].width + x] = widen (value, bits, depth);
      }
    }
  }
  gst_video_frame_unmap (&frame);
  g_free (line);
}

void
frame_clear (Component components[4])
{
  for (guint c = 0; c < 4; c++)
    g_free (components[c].samples);
}

void
frame_append_rows (GByteArray *bytes, GstSample *sample)
{
  GstVideoInfo info;
  GstVideoFrame frame;

  /* For programs without gst-check, too. */
  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (sample))
      || !gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ))
    g_error ("a frame cannot be read");
  for (guint i = 0; i < GST_VIDEO_FRAME_N_PLANES (&frame); i++) {
    gint component[GST_VIDEO_MAX_COMPONENTS];
    gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (&frame, i), width;

    gst_video_format_info_component (info.finfo, i, component);
    width = GST_VIDEO_FRAME_COMP_WIDTH (&frame, component[0]) * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, component[0]);
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, component[0]); y++)
      g_byte_array_append (bytes, (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, i) + (gsize) y * stride, width);
  }
  gst_video_frame_unmap (&frame);
}

/*
 * Whether black is 16 and white 235, scaled to the depth: in YUV unless the caps say otherwise, in others only where
 * the caps say so.
 */
static gboolean
is_limited (const GstVideoInfo *info)
{
  if (GST_VIDEO_INFO_IS_YUV (info))
    return info->colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255;
  return info->colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
}

/* The code value of black, or of neutral chroma, from the colorimetry's definition. */
static gint
zero_level (const GstVideoInfo *info, guint component)
{
  gint depth = frame_depth (info);

  if (component == 3) /* alpha: transparent */
    return 0;
  if (GST_VIDEO_INFO_IS_YUV (info) && component > 0)
    return 1 << (depth - 1);
  return is_limited (info) ? 16 << (depth - 8) : 0;
}

/* The number of code values from black to white, from the same definition. */
static gint
nominal_range (const GstVideoInfo *info)
{
  gint depth = frame_depth (info);

  return is_limited (info) ? 219 << (depth - 8) : (1 << depth) - 1;
}

Expected
expected_of_masks (const ConvolveMask *luma, const ConvolveMask *chroma, ConvolveBoundary boundary)
{
  return (Expected){
    .boundary = boundary,
    .width = luma->width,
    .height = luma->height,
    .weights = { luma->taps, chroma->taps },
    .divisors = { luma->divisor, chroma->divisor },
    .chroma_width = chroma->width,
    .chroma_height = chroma->height,
    .bias = luma->offset,
    .masks = { luma, chroma },
  };
}

static void
set_combination (Oracle *oracle, const ConvolveMask *mask)
{
  oracle->combination = check_combination_oracle (mask->combination);
  oracle->more_sets = convolve_mask_sets (mask) - 1;
  for (gint k = 1; k < convolve_mask_sets (mask); k++)
    oracle->more[k - 1] =
        (OracleSet){ .weights = convolve_mask_taps (mask, k), .divisor = convolve_mask_divisor (mask, k) };
}

/* plugin/masks.md: beside luma, edges without their sign are white. */
static gboolean
makes_chroma_neutral (const Expected *expected, const ConvolveMask *mask)
{
  gdouble sum = 0;

  for (gint i = 0; mask && i < mask->width * mask->height * convolve_mask_sets (mask); i++)
    sum += mask->taps[i];
  return mask && mask->combination != CONVOLVE_SUM && fabs (sum) < 1e-9
      && !(expected->chosen && !(expected->chosen & 1));
}

void
frame_check_component (const GstVideoInfo *info, guint c, const Component *in, const Component *out,
    const Expected *expected, const gchar *what)
{
  gboolean yuv = GST_VIDEO_INFO_IS_YUV (info);
  gboolean chroma = GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c) || GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c);
  gboolean scaled = !expected->integers && chroma;
  gboolean chosen = expected->chosen ? expected->chosen >> c & 1 : c < 3;
  gint depth = frame_depth (info), count = in->width * in->height;
  gint bits = GST_VIDEO_FORMAT_INFO_DEPTH (info->finfo, c);
  gint size = depth == 8 ? 1 : 2;
  g_autofree guint8 *bytes = g_malloc (count);
  g_autofree OracleValue *values = g_new (OracleValue, count);
  Oracle oracle = {
    .sample_size = size,
    .depth = depth,
    .samples = 1,
    .pixel_stride = size,
    .select = chosen,
    .biased = c < 3 && (!yuv || c == 0),
    .zero = { zero_level (info, c) },
    .outside = { c == 3 ? (1 << depth) - 1 : zero_level (info, c) }, /* of the default colour, opaque black */
    .range = { nominal_range (info) },
    .pixels = size == 1 ? bytes : (const guint8 *) in->samples,
    .row_stride = size * in->width,
    .width = in->width,
    .height = in->height,
    .boundary = check_boundary_oracle (expected->boundary),
    .mask_width = scaled ? expected->chroma_width : expected->width,
    .mask_height = scaled ? expected->chroma_height : expected->height,
    .integers = expected->integers,
    .numerator = expected->numerator,
    .denominator = expected->denominator,
    .weights = expected->weights[scaled],
    .divisor = expected->divisors[scaled],
    .budget = depth == 8 ? 1.0 / 64 : 0.5,
    .offset = expected->bias,
  };

  if (expected->masks[scaled])
    set_combination (&oracle, expected->masks[scaled]);
  for (gint i = 0; i < count; i++)
    bytes[i] = in->samples[i];
  fail_unless (oracle_convolve (&oracle, 0, 0, in->width, in->height, values));
  for (gint i = 0; i < count && yuv && (c == 1 || c == 2) && makes_chroma_neutral (expected, expected->masks[scaled]);
       i++)
    values[i].low = values[i].high = 1 << (depth - 1);
  for (gint i = 0; i < count; i++) {
    gint low = chosen ? values[i].low : in->samples[i], high = chosen ? values[i].high : low;

    if (bits < depth) {
      low = nearest (low, bits, depth);
      high = nearest (high, bits, depth);
    }
    /*
     * fail() only where a sample is wrong: a call of fail_unless() for each sample would take longer than the
     * comparison.
     */
    if (out->samples[i] < low || out->samples[i] > high)
      fail ("%s: %s %dx%d component %u at %d,%d: %u, expected %d to %d", what,
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)), GST_VIDEO_INFO_WIDTH (info),
          GST_VIDEO_INFO_HEIGHT (info), c, i % in->width, i / in->width, out->samples[i], low, high);
  }
}

void
frame_check (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const Expected *expected, const gchar *what)
{
  Component from[4], to[4];

  frame_read (info, in, from);
  frame_read (info, out, to);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    frame_check_component (info, c, &from[c], &to[c], expected, what);
  frame_clear (from);
  frame_clear (to);
}
