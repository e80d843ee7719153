/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats are read from GStreamer's own description, component by component. A format of a newer GStreamer is so
 * supported without a change here, unless its description says something that this file does not know.
 */
#include "frame/layout.h"

#include "frame/cells.h"

#define ALPHA 3      /* the component's number in every format that has it */
#define NOTHING (-1) /* a sample that is padding */

/*
 * Packed formats of 16-bit words, with the sample in the upper bits. GStreamer's description has no offsets for them:
 * Y U Y V, and U Y V A. Of VYUY the description has the offsets of UYVY; GStreamer's own unpacking has V first.
 */
typedef struct
{
  const gchar *stem; /* that the names of the formats begin with */
  gint offset[4];    /* bytes from the pixel's start to Y, U, V and A; -1 where there is none */
  gint shift;        /* unused bits below the sample */
} Words;

static const Words *
find_words (const GstVideoFormatInfo *finfo)
{
  static const Words words[] = {
    { "Y210", { 0, 2, 6, -1 }, 6 },
    { "Y212_", { 0, 2, 6, -1 }, 4 },
    { "Y216_", { 0, 2, 6, -1 }, 0 },
    { "Y412_", { 2, 0, 4, 6 }, 4 },
    { "Y416_", { 2, 0, 4, 6 }, 0 },
    { "VYUY", { 1, 2, 0, -1 }, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (GST_VIDEO_FORMAT_INFO_NAME (finfo), words[i].stem))
      return &words[i];
  return NULL;
}

/* Where a component's first sample lies in its plane, in bytes, or -1 where the format does not say. */
static gint
component_offset (const GstVideoFormatInfo *finfo, guint component)
{
  gint offset = GST_VIDEO_FORMAT_INFO_POFFSET (finfo, component);
  gint size = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, component) > 8 ? 2 : 1;
  const Words *words = find_words (finfo);

  if (words)
    return words->offset[component];
  /* P010 and similar formats give the offset of the second sample in samples, not in bytes. */
  if (offset % size)
    offset *= size;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); i++)
    if (i != component && GST_VIDEO_FORMAT_INFO_PLANE (finfo, i) == GST_VIDEO_FORMAT_INFO_PLANE (finfo, component)
        && GST_VIDEO_FORMAT_INFO_POFFSET (finfo, i) == GST_VIDEO_FORMAT_INFO_POFFSET (finfo, component))
      return -1;
  return offset;
}

/* The order of the bytes in a word: G_LITTLE_ENDIAN, G_BIG_ENDIAN, or 0 where the description does not say. */
static gint
byte_order (const GstVideoFormatInfo *finfo)
{
  const gchar *name = GST_VIDEO_FORMAT_INFO_NAME (finfo);

  if (GST_VIDEO_FORMAT_INFO_DEPTH (finfo, 0) == 8)
    return G_BYTE_ORDER;
  if (GST_VIDEO_FORMAT_INFO_IS_LE (finfo))
    return G_LITTLE_ENDIAN;
  if (g_str_has_suffix (name, "BE"))
    return G_BIG_ENDIAN;
  if (g_str_equal (name, "ARGB64") || g_str_equal (name, "AYUV64"))
    return G_BYTE_ORDER;
  /* The descriptions of these little-endian formats lack the flag. */
  return g_str_equal (name, "Y210") || g_str_equal (name, "v216") ? G_LITTLE_ENDIAN : 0;
}

/* Whether the format is gray, YUV or RGB, without a flag that this file does not know: such a flag has a meaning. */
static gboolean
has_known_kind (const GstVideoFormatInfo *finfo)
{
  const guint kinds = GST_VIDEO_FORMAT_FLAG_YUV | GST_VIDEO_FORMAT_FLAG_RGB | GST_VIDEO_FORMAT_FLAG_GRAY;
  const guint known = kinds | GST_VIDEO_FORMAT_FLAG_ALPHA | GST_VIDEO_FORMAT_FLAG_LE | GST_VIDEO_FORMAT_FLAG_UNPACK;
  guint flags = GST_VIDEO_FORMAT_INFO_FLAGS (finfo), n = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo);

  if ((flags & ~known) || GST_VIDEO_FORMAT_INFO_TILE_MODE (finfo) != GST_VIDEO_TILE_MODE_UNKNOWN)
    return FALSE;
  switch (flags & kinds) {
    case GST_VIDEO_FORMAT_FLAG_GRAY:
      return n == 1;
    case GST_VIDEO_FORMAT_FLAG_YUV:
    case GST_VIDEO_FORMAT_FLAG_RGB:
      return n == 3 || n == 4;
    default:
      return FALSE;
  }
}

/* Whether samples are integers: GStreamer unpacks integers to the four formats below, and floats to others. */
static gboolean
has_known_samples (const GstVideoFormatInfo *finfo)
{
  gboolean deep = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, 0) > 8;

  switch (finfo->unpack_format) {
    case GST_VIDEO_FORMAT_AYUV:
    case GST_VIDEO_FORMAT_ARGB:
      return !deep;
    case GST_VIDEO_FORMAT_AYUV64:
    case GST_VIDEO_FORMAT_ARGB64:
      return deep && byte_order (finfo) != 0;
    default:
      return FALSE;
  }
}

/* Whether each sample has a known place in a word of its own, and the depth of the first component: 8 to 16 bits. */
static gboolean
is_known_component (const GstVideoFormatInfo *finfo, guint component)
{
  gint depth = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, component), size = depth > 8 ? 2 : 1;
  gint stride = GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, component),
       shift = GST_VIDEO_FORMAT_INFO_SHIFT (finfo, component);
  gint offset = component_offset (finfo, component);

  return depth == (gint) GST_VIDEO_FORMAT_INFO_DEPTH (finfo, 0) && depth >= 8 && depth <= 16
      && shift == (gint) GST_VIDEO_FORMAT_INFO_SHIFT (finfo, 0) && shift >= 0 && shift + depth <= 8 * size
      && stride % size == 0 && stride <= CONVOLVE_MAX_SAMPLES * size && offset >= 0 && offset + size <= stride
      && GST_VIDEO_FORMAT_INFO_PLANE (finfo, component) < GST_VIDEO_FORMAT_INFO_N_PLANES (finfo)
      && GST_VIDEO_FORMAT_INFO_W_SUB (finfo, component) <= 2 && GST_VIDEO_FORMAT_INFO_H_SUB (finfo, component) <= 2;
}

gboolean
gst_cuda_convolve_format_is_supported (const GstVideoFormatInfo *finfo)
{
  if (!has_known_kind (finfo) || !has_known_samples (finfo))
    return FALSE;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); i++)
    if (!is_known_component (finfo, i))
      return FALSE;
  return TRUE;
}

/* Fills the group for one sample. The component decides zero level, range and whether bias applies. */
static void
describe_sample (GstCudaConvolveGroup *group, guint sample, const GstVideoInfo *info, guint component)
{
  ConvolvePixel *pixel = &group->pixel;
  const GstVideoFormatInfo *finfo = info->finfo;
  GstVideoColorRange range = info->colorimetry.range;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];

  group->component[sample] = component;
  if (component == ALPHA) {
    pixel->range[sample] = (1 << pixel->depth) - 1; /* for those who choose alpha, which is copied otherwise */
    return;
  }
  if (range == GST_VIDEO_COLOR_RANGE_UNKNOWN && GST_VIDEO_FORMAT_INFO_IS_YUV (finfo))
    range = GST_VIDEO_COLOR_RANGE_16_235;
  gst_video_color_range_offsets (range, finfo, offset, scale);
  group->component[sample] = component;
  pixel->select |= 1u << sample;
  pixel->zero[sample] = offset[component];
  pixel->range[sample] = scale[component];
  if (component == GST_VIDEO_COMP_Y || !GST_VIDEO_FORMAT_INFO_IS_YUV (finfo))
    pixel->biased |= 1u << sample;
}

/* Whether all components of the plane have one pixel stride, so that they make one group. */
static gboolean
fills_plane (const GstVideoFormatInfo *finfo, guint component)
{
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); i++)
    if (GST_VIDEO_FORMAT_INFO_PLANE (finfo, i) == GST_VIDEO_FORMAT_INFO_PLANE (finfo, component)
        && GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, i) != GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, component))
      return FALSE;
  return TRUE;
}

static GstCudaConvolveGroup *
find_group (GstCudaConvolveLayout *layout, guint plane)
{
  for (guint i = 0; i < layout->n_groups; i++)
    if (layout->groups[i].plane == plane)
      return &layout->groups[i];
  return NULL;
}

/* In packed 4:2:2 of odd width the last pair of a row has a second luma sample, outside the picture: one to copy. */
static void
add_odd_end (GstCudaConvolveLayout *layout)
{
  const GstCudaConvolveGroup *luma = &layout->groups[0], *chroma = &layout->groups[1];

  if (layout->n_planes == 1 && layout->n_groups == 3 && luma->x_step < chroma->x_step && luma->width % 2) {
    GstCudaConvolveGroup *end = &layout->groups[layout->n_groups++];

    *end = *luma;
    end->offset += (gsize) luma->width * luma->pixel.stride;
    end->width = 1;
    end->pixel.select = end->pixel.biased = 0;
    end->component[0] = NOTHING;
  }
}

static void
measure_planes (GstCudaConvolveLayout *layout, gint size)
{
  for (guint i = 0; i < layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];
    GstCudaConvolvePlane *plane = &layout->planes[group->plane];
    gsize end = group->offset + (gsize) (group->width - 1) * group->pixel.stride + group->pixel.samples * size;

    plane->rows = group->height;
    plane->row_bytes = MAX (plane->row_bytes, end);
  }
  for (guint i = 0; i < layout->n_planes; i++)
    layout->room[i] = gst_cuda_convolve_layout_room (&layout->info, i);
}

gsize
gst_cuda_convolve_layout_room (const GstVideoInfo *info, guint plane)
{
  gsize start = GST_VIDEO_INFO_PLANE_OFFSET (info, plane), end = GST_VIDEO_INFO_SIZE (info);

  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++)
    if (GST_VIDEO_INFO_PLANE_OFFSET (info, i) > start)
      end = MIN (end, GST_VIDEO_INFO_PLANE_OFFSET (info, i));
  return (end - start) / GST_VIDEO_INFO_PLANE_STRIDE (info, plane);
}

/* The planes of a format with cells. Rows of tiles are rows, as many as have samples; in zigzag order all of them. */
static void
measure_cells (GstCudaConvolveLayout *layout)
{
  ConvolveCells cells;

  gst_cuda_convolve_cells_describe (&layout->info, &cells);
  for (guint i = 0; i < layout->n_planes; i++) {
    const ConvolveCellPlane *plane = &cells.planes[i];
    gsize tiles_x, tiles_y;

    layout->planes[i] = (GstCudaConvolvePlane){ plane->row_bytes, plane->rows };
    if (plane->tile_bytes) {
      tiles_x = plane->zigzag ? plane->tiles_x : (plane->row_bytes + plane->tile_bytes - 1) / plane->tile_bytes;
      tiles_y = plane->zigzag ? plane->tiles_y : (plane->rows + plane->tile_rows - 1) / plane->tile_rows;
      layout->planes[i] = (GstCudaConvolvePlane){ tiles_x * plane->tile_bytes * plane->tile_rows, tiles_y };
    }
    layout->room[i] = layout->planes[i].rows;
  }
}

void
gst_cuda_convolve_layout_init (GstCudaConvolveLayout *layout, const GstVideoInfo *info)
{
  const GstVideoFormatInfo *finfo = info->finfo;
  gint depth = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, 0), size = depth > 8 ? 2 : 1;
  const Words *words = find_words (finfo);

  *layout = (GstCudaConvolveLayout){ .info = *info, .n_planes = GST_VIDEO_FORMAT_INFO_N_PLANES (finfo) };
  if (gst_cuda_convolve_format_has_cells (finfo)) {
    measure_cells (layout);
    return;
  }
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); i++) {
    guint plane = GST_VIDEO_FORMAT_INFO_PLANE (finfo, i);
    gint offset = component_offset (finfo, i), stride = GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, i);
    gboolean together = fills_plane (finfo, i);
    GstCudaConvolveGroup *group = together ? find_group (layout, plane) : NULL;

    if (!group) {
      group = &layout->groups[layout->n_groups++];
      group->plane = plane;
      for (guint k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
        group->component[k] = NOTHING;
      group->offset = together ? 0 : offset;
      group->width = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH (finfo, i, GST_VIDEO_INFO_WIDTH (info));
      group->height = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (finfo, i, GST_VIDEO_INFO_FIELD_HEIGHT (info));
      group->x_step = 1u << GST_VIDEO_FORMAT_INFO_W_SUB (finfo, i);
      group->y_step = 1u << GST_VIDEO_FORMAT_INFO_H_SUB (finfo, i);
      group->pixel.type = size == 1 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16;
      group->pixel.depth = depth;
      group->pixel.shift = words ? words->shift : (gint) GST_VIDEO_FORMAT_INFO_SHIFT (finfo, i);
      group->pixel.swapped = byte_order (finfo) != G_BYTE_ORDER;
      group->pixel.stride = stride;
      group->pixel.samples = together ? stride / size : 1;
    }
    describe_sample (group, together ? offset / size : 0, info, i);
  }
  add_odd_end (layout);
  measure_planes (layout, size);
}

/* --- luma and chroma --- */

/* Whether the group convolves a component of YUV that is luma, or is not. */
static gboolean
has_component (const GstCudaConvolveLayout *layout, guint number, gboolean luma)
{
  const GstCudaConvolveGroup *group = &layout->groups[number];

  for (gint k = 0; k < group->pixel.samples && GST_VIDEO_INFO_IS_YUV (&layout->info); k++)
    if ((group->pixel.select >> k & 1) && group->component[k] != ALPHA
        && (group->component[k] == GST_VIDEO_COMP_Y) == luma)
      return TRUE;
  return FALSE;
}

gboolean
gst_cuda_convolve_layout_has_luma (const GstCudaConvolveLayout *layout, guint group)
{
  return has_component (layout, group, TRUE);
}

gboolean
gst_cuda_convolve_layout_has_chroma (const GstCudaConvolveLayout *layout, guint group)
{
  return has_component (layout, group, FALSE);
}

/* One sample of the group as a group. */
static GstCudaConvolveGroup
take_sample (const GstCudaConvolveGroup *group, guint sample)
{
  GstCudaConvolveGroup taken = *group;

  taken.offset += sample * (group->pixel.type == CONVOLVE_SAMPLE_U16 ? 2 : 1);
  taken.pixel.samples = 1;
  taken.pixel.select = group->pixel.select >> sample & 1;
  taken.pixel.biased = group->pixel.biased >> sample & 1;
  taken.pixel.zero[0] = group->pixel.zero[sample];
  taken.pixel.range[0] = group->pixel.range[sample];
  taken.component[0] = group->component[sample];
  return taken;
}

void
gst_cuda_convolve_layout_split (GstCudaConvolveLayout *layout)
{
  GstCudaConvolveGroup group = layout->groups[0];
  guint samples = group.pixel.samples;

  layout->n_groups = 0;
  for (guint chroma = 0; chroma < 2; chroma++)
    for (guint k = 0; k < samples; k++)
      if ((group.component[k] != GST_VIDEO_COMP_Y) == chroma)
        layout->groups[layout->n_groups++] = take_sample (&group, k);
}
