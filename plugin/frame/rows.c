/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame/rows.h"

#include <math.h>

#include "frame/cells.h"

#define STRIP_UNIT 250e3 /* bytes; measured on PCIe 5, where 3 to 10 strips of a 4K frame take the same time */
#define PAGEABLE_FEWER 3 /* so many times fewer strips of memory that threads copy, which wake up for each strip */

ConvolveRows
gst_cuda_convolve_host_rows (const GstCudaConvolvePlane *shape, const GstVideoFrame *frame, guint plane, gint first,
    gint end)
{
  guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (frame, plane);
  gint stride = gst_cuda_convolve_stride (&frame->info, plane);
  gboolean upside_down = stride < 0;

  return (ConvolveRows){
    .first = upside_down ? shape->rows - end : (gsize) first,
    .count = end - first,
    .row_bytes = shape->row_bytes,
    .host = data + (gssize) (upside_down ? end - 1 : first) * stride,
    .host_stride = ABS ((gint64) stride), /* that of a single row may be any number */
  };
}

ConvolveStatus
gst_cuda_convolve_upload (ConvolveDevice *device, const GstCudaConvolveFrame *frame, guint plane,
    const ConvolveRows *rows, ConvolveError *error)
{
  return (frame->pinned ? convolve_device_upload : convolve_device_upload_pageable) (device, plane, rows, error);
}

ConvolveStatus
gst_cuda_convolve_download (ConvolveDevice *device, const GstCudaConvolveFrame *frame, guint plane,
    const ConvolveRows *rows, ConvolveError *error)
{
  return (frame->pinned ? convolve_device_download : convolve_device_download_pageable) (device, plane, rows, error);
}

guint8 *
gst_cuda_convolve_first_row (const GstCudaConvolvePlane *shape, const GstCudaConvolveFrame *frame, guint plane,
    void *stage, gsize stage_stride, gssize *stride)
{
  gssize last = shape->rows - 1;

  *stride = gst_cuda_convolve_stride (&frame->video.info, plane);
  if (frame->on_device)
    return GST_VIDEO_FRAME_PLANE_DATA (&frame->video, plane);
  *stride = *stride < 0 ? -(gssize) stage_stride : (gssize) stage_stride;
  /* Without memory for the stage there is nothing to count rows in. The caller has the error. */
  if (!stage)
    return NULL;
  return (guint8 *) stage + (*stride < 0 ? last * (gssize) stage_stride : 0);
}

/* The last iteration writes the destination, the one before the scratch, and so on in turns. */
GstCudaConvolvePlanePair
gst_cuda_convolve_iteration (const GstCudaConvolvePlanePair *pair, const GstCudaConvolveScratch *scratch, guint index,
    guint count)
{
  GstCudaConvolvePlanePair made = *pair;
  gboolean to_scratch = (count - 1 - index) % 2 == 1;

  if (to_scratch) {
    made.destination = scratch->bytes;
    made.destination_stride = scratch->stride;
  }
  if (index > 0) {
    made.source = to_scratch ? pair->destination : scratch->bytes;
    made.source_stride = to_scratch ? pair->destination_stride : scratch->stride;
  }
  return made;
}

gsize
gst_cuda_convolve_count_bytes (const GstCudaConvolvePlane *planes, guint n)
{
  gsize bytes = 0;

  for (guint i = 0; i < n; i++)
    bytes += planes[i].row_bytes * planes[i].rows;
  return bytes;
}

/*
 * Nothing overlaps the upload of the first strip and the download of the
 * last one, and each strip costs the copy engines a pause. Therefore the best number grows with the square root of the
 * frame's size. Threads copy pageable memory strip by strip, and fewer strips are best. Frames that overlap each other
 * need no strips.
 */
gdouble
gst_cuda_convolve_count_strips (gdouble bytes, const GstCudaConvolveFrame *in, const GstCudaConvolveFrame *out,
    gboolean alone)
{
  gboolean pinned = (in->on_device || in->pinned) && (out->on_device || out->pinned);
  gdouble strips = sqrt (bytes / STRIP_UNIT) / (pinned ? 1 : PAGEABLE_FEWER);

  return alone && !(in->on_device && out->on_device) ? MAX (1, strips) : 1;
}
