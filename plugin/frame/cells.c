/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame/cells.h"

#include <string.h>

/* Of the bytes in a word; OWN is the machine's order. */
typedef enum
{
  LITTLE,
  BIG,
  OWN
} Order;

/*
 * A packed format. The letters of a plane are the samples of a cell in their order, from the highest bit on where words are BIG and
 * else from the lowest, and a minus is two unused bits. A word has as many samples as fit, and none is in two words. GStreamer's
 * description has the bits of each component and the tiles.
 */
typedef struct
{
  const gchar *name, *inner;
  gint depth; /* of the inner samples, where the inner format itself has more; otherwise 0 */
  gint word;  /* bytes */
  Order order;
  const gchar *letters[CONVOLVE_CELL_PLANES];
} Packed;

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define WORDS(stem) stem "LE"
#else
#define WORDS(stem) stem "BE"
#endif

static const Packed formats[] = {
  { "v210", WORDS ("I422_10"), 0, 4, LITTLE, { "UYVYUYVYUYVY" } },
  { "UYVP", WORDS ("I422_10"), 0, 5, BIG, { "UYVY" } },
  { "r210", WORDS ("GBR_10"), 0, 4, BIG, { "-RGB" } },
  { "RGB10x2_LE", WORDS ("GBR_10"), 0, 4, LITTLE, { "RGB-" } },
  { "BGR10x2_LE", WORDS ("GBR_10"), 0, 4, LITTLE, { "BGR-" } },
  { "Y410", "AYUV64", 10, 4, LITTLE, { "UYVA" } },
  { "RGB10A2_LE", "ARGB64", 10, 4, LITTLE, { "RGBA" } },
  { "BGR10A2_LE", "ARGB64", 10, 4, LITTLE, { "BGRA" } },
  { "GRAY10_LE32", WORDS ("GRAY16_"), 10, 4, LITTLE, { "YYY" } },
  { "NV12_10LE32", WORDS ("I420_10"), 0, 4, LITTLE, { "YYY", "UVUVUV" } },
  { "NV16_10LE32", WORDS ("I422_10"), 0, 4, LITTLE, { "YYY", "UVUVUV" } },
  { "NV12_10LE40", WORDS ("I420_10"), 0, 5, LITTLE, { "YYYY", "UVUV" } },
  { "NV16_10LE40", WORDS ("I422_10"), 0, 5, LITTLE, { "YYYY", "UVUV" } },
  { "NV12_10LE40_4L4", WORDS ("I420_10"), 0, 5, LITTLE, { "YYYY", "UVUV" } },
  { "NV12_10BE_8L128", WORDS ("I420_10"), 0, 5, BIG, { "YYYY", "UVUV" } },
  { "RGB16", "GBR", 0, 2, OWN, { "BGR" } },
  { "BGR16", "GBR", 0, 2, OWN, { "RGB" } },
  { "RGB15", "GBR", 0, 2, OWN, { "BGR" } },
  { "BGR15", "GBR", 0, 2, OWN, { "RGB" } },
  { "IYU1", "Y41B", 0, 6, LITTLE, { "UYYVYY" } },
  { "NV12_4L4", "NV12", 0, 1, LITTLE, { "Y", "UV" } },
  { "NV12_16L32S", "NV12", 0, 1, LITTLE, { "Y", "UV" } },
  { "NV12_32L32", "NV12", 0, 1, LITTLE, { "Y", "UV" } },
  { "NV12_64Z32", "NV12", 0, 1, LITTLE, { "Y", "UV" } },
  { "NV12_8L128", "NV12", 0, 1, LITTLE, { "Y", "UV" } },
};

static const Packed *
find_packed (const GstVideoFormatInfo *finfo)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_strcmp0 (GST_VIDEO_FORMAT_INFO_NAME (finfo), formats[i].name) == 0)
      return &formats[i];
  return NULL;
}

gboolean
gst_cuda_convolve_format_has_cells (const GstVideoFormatInfo *finfo)
{
  return find_packed (finfo) != NULL;
}

/* The description of the inner format; that of samples with fewer bits is made once. */
static const GstVideoFormatInfo *
inner_format (const Packed *packed)
{
  static GstVideoFormatInfo made[G_N_ELEMENTS (formats)];
  static gsize done[G_N_ELEMENTS (formats)];
  const GstVideoFormatInfo *finfo = gst_video_format_get_info (gst_video_format_from_string (packed->inner));
  gsize number = packed - formats;

  if (!packed->depth)
    return finfo;
  if (g_once_init_enter (&done[number])) {
    made[number] = *finfo;
    for (guint i = 0; i < made[number].n_components; i++)
      made[number].depth[i] = packed->depth;
    g_once_init_leave (&done[number], 1);
  }
  return &made[number];
}

void
gst_cuda_convolve_cells_inner (const GstVideoInfo *info, GstVideoInfo *inner)
{
  const GstVideoFormatInfo *finfo = inner_format (find_packed (info->finfo));
  GstVideoInfo made;

  gst_video_info_set_interlaced_format (&made, GST_VIDEO_FORMAT_INFO_FORMAT (finfo),
      GST_VIDEO_INFO_INTERLACE_MODE (info), GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
  *inner = *info;
  inner->finfo = finfo;
  inner->size = made.size;
  memcpy (inner->offset, made.offset, sizeof (made.offset));
  memcpy (inner->stride, made.stride, sizeof (made.stride));
}

/* --- a plane --- */

/* Adds a sample of a component, `seen` samples of which the cell has already, at a bit as the plane counts bits. */
static void
add_sample (ConvolveCellPlane *plane, const GstVideoFormatInfo *inner, guint component, guint seen, gint bit, gint bits)
{
  gint size = plane->depth > 8 ? 2 : 1, in = GST_VIDEO_FORMAT_INFO_PLANE (inner, component);
  gint samples = GST_VIDEO_FORMAT_INFO_PSTRIDE (inner, component) / size;

  plane->samples[plane->n_samples++] = (ConvolveCellSample){ .shift = bit,
    .bits = bits,
    .plane = in,
    .index = seen * samples + GST_VIDEO_FORMAT_INFO_POFFSET (inner, component) / size };
  plane->counts[in] = (seen + 1) * samples;
}

static void
read_letters (ConvolveCellPlane *plane, const Packed *packed, const gchar *letters, const GstVideoFormatInfo *outer,
    const GstVideoFormatInfo *inner)
{
  static const gchar yuv[] = "YUVA", rgb[] = "RGBA";
  const gchar *names = GST_VIDEO_FORMAT_INFO_IS_RGB (outer) ? rgb : yuv;
  guint seen[GST_VIDEO_MAX_COMPONENTS] = { 0 };
  gint word = 8 * packed->word, bit = 0;

  for (const gchar *letter = letters; *letter; letter++) {
    guint component = *letter == '-' ? 0 : strchr (names, *letter) - names;
    gint bits = *letter == '-' ? 2 : (gint) GST_VIDEO_FORMAT_INFO_DEPTH (outer, component);

    if (bit % word + bits > word)
      bit += word - bit % word;
    if (*letter != '-')
      add_sample (plane, inner, component, seen[component]++, bit, bits);
    bit += bits;
  }
  plane->cell = (bit + word - 1) / word * packed->word;
  for (gint i = 0; packed->order == BIG && i < plane->n_samples; i++)
    plane->samples[i].shift = 8 * plane->cell - plane->samples[i].shift - plane->samples[i].bits;
}

/* The tiles of the plane, from GStreamer's description. That of a format whose samples are no bytes has a stride alone. */
static void
measure_tiles (ConvolveCellPlane *plane, const GstVideoInfo *info, guint number)
{
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, number);

  plane->tile_bytes = GST_VIDEO_FORMAT_INFO_TILE_STRIDE (info->finfo, number);
  plane->tile_rows = GST_VIDEO_FORMAT_INFO_TILE_HEIGHT (info->finfo, number);
  plane->tiles_x = GST_VIDEO_TILE_X_TILES (stride);
  plane->tiles_y = GST_VIDEO_TILE_Y_TILES (stride);
  plane->zigzag = GST_VIDEO_FORMAT_INFO_TILE_MODE (info->finfo) == GST_VIDEO_TILE_MODE_ZFLIPZ_2X2;
}

/* The rows of samples, and the bytes of all cells that a row has; GStreamer's own layout may end inside the last one. */
static void
measure_rows (ConvolveCellPlane *plane, const GstVideoInfo *info, const GstVideoInfo *inner, guint number)
{
  gint room = plane->tile_bytes ? plane->tiles_x * plane->tile_bytes : GST_VIDEO_INFO_PLANE_STRIDE (info, number);
  gint size = plane->depth > 8 ? 2 : 1, cells = 0;

  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS (inner); i++) {
    guint in = GST_VIDEO_INFO_COMP_PLANE (inner, i);
    gint counts = plane->counts[in];

    if (counts == 0)
      continue;
    plane->width[in] = GST_VIDEO_INFO_COMP_WIDTH (inner, i) * GST_VIDEO_INFO_COMP_PSTRIDE (inner, i) / size;
    plane->rows = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (inner->finfo, i, GST_VIDEO_INFO_FIELD_HEIGHT (inner));
    plane->y_shift = GST_VIDEO_FORMAT_INFO_H_SUB (inner->finfo, i);
    cells = MAX (cells, (plane->width[in] + counts - 1) / counts);
  }
  plane->row_bytes = MIN (cells * plane->cell, room);
}

void
gst_cuda_convolve_cells_describe (const GstVideoInfo *info, ConvolveCells *cells)
{
  const Packed *packed = find_packed (info->finfo);
  GstVideoInfo inner;

  gst_cuda_convolve_cells_inner (info, &inner);
  *cells = (ConvolveCells){ .n_planes = GST_VIDEO_INFO_N_PLANES (info) };
  for (gint i = 0; i < cells->n_planes; i++) {
    ConvolveCellPlane *plane = &cells->planes[i];

    plane->big = packed->order == BIG || (packed->order == OWN && G_BYTE_ORDER == G_BIG_ENDIAN);
    plane->depth = GST_VIDEO_INFO_COMP_DEPTH (&inner, 0);
    read_letters (plane, packed, packed->letters[i], info->finfo, inner.finfo);
    if (GST_VIDEO_FORMAT_INFO_IS_TILED (info->finfo))
      measure_tiles (plane, info, i);
    measure_rows (plane, info, &inner, i);
  }
}

gint
gst_cuda_convolve_stride (const GstVideoInfo *info, guint plane)
{
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, plane);

  if (!GST_VIDEO_FORMAT_INFO_IS_TILED (info->finfo))
    return stride;
  return GST_VIDEO_TILE_X_TILES (stride) * GST_VIDEO_FORMAT_INFO_TILE_STRIDE (info->finfo, plane)
      * GST_VIDEO_FORMAT_INFO_TILE_HEIGHT (info->finfo, plane);
}
