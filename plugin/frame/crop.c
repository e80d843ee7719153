/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame/crop.h"

/* Whether the caps say the size of the crop, and the frame's memory has more. */
static gboolean
is_picture (const GstVideoInfo *info, GstBuffer *buffer, const GstVideoCropMeta *crop)
{
  const GstVideoMeta *memory = gst_buffer_get_video_meta (buffer);

  return memory && crop->width == (guint) GST_VIDEO_INFO_WIDTH (info)
      && crop->height == (guint) GST_VIDEO_INFO_HEIGHT (info) && crop->width <= memory->width
      && crop->x <= memory->width - crop->width && crop->height <= memory->height
      && crop->y <= memory->height - crop->height;
}

GstCudaConvolveCrop
gst_cuda_convolve_crop_find (const GstVideoInfo *info, GstBuffer *buffer)
{
  const GstVideoCropMeta *meta = gst_buffer_get_video_crop_meta (buffer);
  gint64 width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info), right, bottom;
  GstCudaConvolveCrop crop = { GST_CUDA_CONVOLVE_CROP_NONE, { 0, 0, width, height } };

  if (!meta)
    return crop;
  if (is_picture (info, buffer, meta)) {
    if (meta->x || meta->y)
      crop.kind = GST_CUDA_CONVOLVE_CROP_PICTURE;
    return crop;
  }
  right = MIN ((gint64) meta->x + meta->width, width);
  bottom = MIN ((gint64) meta->y + meta->height, height);
  if (meta->x >= right || meta->y >= bottom) {
    crop.kind = GST_CUDA_CONVOLVE_CROP_EMPTY;
    return crop;
  }
  crop.rect = (ConvolveRect){ meta->x, meta->y, right - meta->x, bottom - meta->y };
  if (crop.rect.width < width || crop.rect.height < height)
    crop.kind = GST_CUDA_CONVOLVE_CROP_PART;
  return crop;
}

/* The plane's row that has row y of the picture. In the fields of an interlaced frame the samples are counted apart. */
static gssize
row_of_plane (const GstVideoInfo *info, GstBuffer *buffer, guint y, guint y_step)
{
  guint field = y / 2, phase = y % 2;

  switch (GST_VIDEO_INFO_INTERLACE_MODE (info)) {
    case GST_VIDEO_INTERLACE_MODE_ALTERNATE:
      return field / y_step;
    case GST_VIDEO_INTERLACE_MODE_MIXED:
      if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED))
        return y / y_step;
      return field / y_step * 2 + phase;
    case GST_VIDEO_INTERLACE_MODE_INTERLEAVED:
      return field / y_step * 2 + phase;
    default:
      return y / y_step;
  }
}

/* The group of the plane with the most luma pixels to a sample: in packed 4:2:2 luma cannot move without chroma. */
static const GstCudaConvolveGroup *
coarsest_group (const GstCudaConvolveLayout *layout, guint plane)
{
  const GstCudaConvolveGroup *found = NULL;

  for (guint i = 0; i < layout->n_groups; i++)
    if (layout->groups[i].plane == plane && (!found || layout->groups[i].x_step > found->x_step))
      found = &layout->groups[i];
  return found;
}

void
gst_cuda_convolve_crop_enter (const GstCudaConvolveLayout *layout, const GstCudaConvolveCrop *crop,
    GstVideoFrame *frame)
{
  const GstVideoCropMeta *meta = gst_buffer_get_video_crop_meta (frame->buffer);

  if (crop->kind != GST_CUDA_CONVOLVE_CROP_PICTURE)
    return;
  for (guint i = 0; i < layout->n_planes; i++) {
    const GstCudaConvolveGroup *group = coarsest_group (layout, i);
    gssize row = row_of_plane (&layout->info, frame->buffer, meta->y, group->y_step);
    gssize column = meta->x / group->x_step;

    frame->data[i] = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, i) + row * GST_VIDEO_FRAME_PLANE_STRIDE (frame, i)
        + column * group->pixel.stride;
  }
}

gsize
gst_cuda_convolve_crop_room (const GstCudaConvolveLayout *layout, const GstCudaConvolveCrop *crop, GstBuffer *buffer,
    guint plane)
{
  const GstVideoCropMeta *meta = gst_buffer_get_video_crop_meta (buffer);
  const GstVideoMeta *memory = gst_buffer_get_video_meta (buffer);
  GstVideoInfo info;
  gsize first, room;

  if (crop->kind != GST_CUDA_CONVOLVE_CROP_PICTURE)
    return layout->room[plane];
  if (!gst_video_info_set_interlaced_format (&info, GST_VIDEO_INFO_FORMAT (&layout->info),
          GST_VIDEO_INFO_INTERLACE_MODE (&layout->info), memory->width, memory->height))
    return 0;
  first = row_of_plane (&layout->info, buffer, meta->y, coarsest_group (layout, plane)->y_step);
  room = gst_cuda_convolve_layout_room (&info, plane);
  return room > first ? room - first : 0;
}
