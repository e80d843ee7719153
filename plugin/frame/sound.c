/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame/sound.h"

#include "frame/cells.h"
#include "frame/crop.h"

/* Whether the picture begins where GStreamer's layout has the first sample. In a format with cells it has to. */
static gboolean
begins_in_cell (const GstVideoInfo *info, GstBuffer *buffer, gchar **fault)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);

  if (!gst_cuda_convolve_format_has_cells (info->finfo)
      || gst_cuda_convolve_crop_find (info, buffer).kind != GST_CUDA_CONVOLVE_CROP_PICTURE)
    return TRUE;
  *fault = g_strdup_printf ("GstVideoCropMeta: the picture begins at %u,%u of a larger frame, and in %s samples share "
                            "words, or lie in tiles; put a converter before the crop, such as videoconvert",
      crop->x, crop->y, GST_VIDEO_INFO_NAME (info));
  return FALSE;
}

/* gst_video_frame_map() takes such a meta for a fault of the program, and warns through GLib. */
gboolean
gst_cuda_convolve_meta_is_sound (const GstVideoInfo *info, GstBuffer *buffer, gchar **fault)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  if (!meta
      || (meta->format == GST_VIDEO_INFO_FORMAT (info) && meta->n_planes == GST_VIDEO_INFO_N_PLANES (info)
          && meta->width >= (guint) GST_VIDEO_INFO_WIDTH (info)
          && meta->height >= (guint) GST_VIDEO_INFO_HEIGHT (info)))
    return begins_in_cell (info, buffer, fault);
  *fault = g_strdup_printf ("GstVideoMeta: %ux%u, format %d with %u planes, and the caps say %dx%d %s", meta->width,
      meta->height, meta->format, meta->n_planes, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
      GST_VIDEO_INFO_NAME (info));
  return FALSE;
}

/* GStreamer maps a whole buffer, or each plane of a GstVideoMeta, and does not tell why that fails. */
gboolean
gst_cuda_convolve_buffer_has_frame (const GstVideoInfo *info, GstBuffer *buffer, gchar **fault)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  gsize size = gst_buffer_get_size (buffer);

  if (!meta && size < GST_VIDEO_INFO_SIZE (info)) {
    *fault = g_strdup_printf ("buffer: %" G_GSIZE_FORMAT " bytes, and %dx%d %s needs %" G_GSIZE_FORMAT
                              " bytes, with rows of %d bytes in plane 0",
        size, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_NAME (info),
        GST_VIDEO_INFO_SIZE (info), GST_VIDEO_INFO_PLANE_STRIDE (info, 0));
    return FALSE;
  }
  for (guint i = 0; meta && i < meta->n_planes; i++)
    if (meta->offset[i] >= size) {
      *fault = g_strdup_printf ("plane %u: at %" G_GSIZE_FORMAT " in %" G_GSIZE_FORMAT " bytes of %dx%d %s", i,
          meta->offset[i], size, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_NAME (info));
      return FALSE;
    }
  return TRUE;
}

/* Whether tiles in zigzag order have the places that the caps give them, which depend on the number of all tiles. */
static gboolean
tiles_are_sound (const GstCudaConvolveLayout *layout, const GstVideoFrame *frame, guint plane, gchar **fault)
{
  const GstVideoInfo *info = &layout->info;
  gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane), wanted = GST_VIDEO_INFO_PLANE_STRIDE (info, plane);

  if (GST_VIDEO_FORMAT_INFO_TILE_MODE (info->finfo) != GST_VIDEO_TILE_MODE_ZFLIPZ_2X2 || stride == wanted)
    return TRUE;
  *fault =
      g_strdup_printf ("plane %u: %dx%d tiles, and %dx%d %s has %dx%d tiles", plane, GST_VIDEO_TILE_X_TILES (stride),
          GST_VIDEO_TILE_Y_TILES (stride), GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
          GST_VIDEO_INFO_NAME (info), GST_VIDEO_TILE_X_TILES (wanted), GST_VIDEO_TILE_Y_TILES (wanted));
  return FALSE;
}

/*
 * gst_video_frame_map() trusts the offsets and strides of a GstVideoMeta (CVE-2026-86476). This function compares them
 * with the mapped memory. Width and height are those of the caps.
 */
gboolean
gst_cuda_convolve_frame_is_sound (const GstCudaConvolveLayout *layout, const GstVideoFrame *frame, gchar **fault)
{
  for (guint i = 0; i < layout->n_planes; i++) {
    const GstCudaConvolvePlane *plane = &layout->planes[i];
    const GstMapInfo *map = &frame->map[frame->meta ? i : 0];
    const guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (frame, i);
    gint stride = gst_cuda_convolve_stride (&frame->info, i);
    gsize start = data - map->data, pitch = ABS ((gint64) stride), span, end;

    if (!tiles_are_sound (layout, frame, i, fault))
      return FALSE;
    /* With a negative stride row 0 is the last row in memory. */
    if (data < map->data || pitch < plane->row_bytes || !g_size_checked_mul (&span, pitch, plane->rows - 1)
        || !g_size_checked_add (&end, start, plane->row_bytes)
        || (stride < 0 ? span > start : !g_size_checked_add (&end, end, span)) || end > map->size) {
      *fault = g_strdup_printf ("plane %u: %" G_GSIZE_FORMAT " rows of %" G_GSIZE_FORMAT
                                " bytes, stride %d, at %" G_GSIZE_FORMAT " in %" G_GSIZE_FORMAT " bytes of %dx%d %s",
          i, plane->rows, plane->row_bytes, stride, start, map->size, GST_VIDEO_INFO_WIDTH (&layout->info),
          GST_VIDEO_INFO_HEIGHT (&layout->info), GST_VIDEO_INFO_NAME (&layout->info));
      return FALSE;
    }
  }
  return TRUE;
}
