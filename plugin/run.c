/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run.h"

/*
 * gst_video_frame_map() believes a GstVideoMeta's offsets and strides; here they are held against the memory that
 * was mapped. Sizes are the negotiated ones.
 */
gboolean
gst_cuda_convolve_frame_is_sound (const GstCudaConvolveLayout * layout, const GstVideoFrame * frame, gchar ** fault)
{
  for (guint i = 0; i < layout->n_planes; i++) {
    const GstCudaConvolvePlane *plane = &layout->planes[i];
    const GstMapInfo *map = &frame->map[frame->meta ? i : 0];
    const guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (frame, i);
    gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, i);
    gsize start = data - map->data, step = ABS ((gint64) stride), reach, end;

    /* With a negative stride the first row is the last in memory. */
    if (data < map->data || step < plane->row_bytes || !g_size_checked_mul (&reach, step, plane->rows - 1)
        || !g_size_checked_add (&end, start, plane->row_bytes)
        || (stride < 0 ? reach > start : !g_size_checked_add (&end, end, reach)) || end > map->size) {
      *fault = g_strdup_printf ("plane %u: %" G_GSIZE_FORMAT " rows of %" G_GSIZE_FORMAT " bytes, stride %d, at %"
          G_GSIZE_FORMAT " in %" G_GSIZE_FORMAT " bytes", i, plane->rows, plane->row_bytes, stride, start, map->size);
      return FALSE;
    }
  }
  return TRUE;
}

static ConvolveStatus
run_step (const ConvolvePlan * plan, const GstCudaConvolveStep * step, const void *source, gssize source_stride,
    void *destination, gssize destination_stride, ConvolveError * error)
{
  ConvolvePlane plane = {
    .source = (const guint8 *) source + step->offset,
    .destination = (guint8 *) destination + step->offset,
    .source_stride = source_stride,
    .destination_stride = destination_stride,
    .width = step->width,
    .height = step->height,
    .region = {0, 0, step->width, step->height},
  };

  return convolve_run (plan, &plane, error);
}

static ConvolveStatus
run_on_host (const GstCudaConvolvePlans * plans, const GstCudaConvolveLayout * layout, GstVideoFrame * in,
    GstVideoFrame * out, ConvolveTimes * times, ConvolveError * error)
{
  gint64 start = g_get_monotonic_time ();
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < layout->n_steps && status == CONVOLVE_OK; i++) {
    guint plane = layout->steps[i].plane;

    status = run_step (plans->plan[i], &layout->steps[i],
        GST_VIDEO_FRAME_PLANE_DATA (in, plane), GST_VIDEO_FRAME_PLANE_STRIDE (in, plane),
        GST_VIDEO_FRAME_PLANE_DATA (out, plane), GST_VIDEO_FRAME_PLANE_STRIDE (out, plane), error);
  }
  *times = (ConvolveTimes) {.kernel = (g_get_monotonic_time () - start) * 1000 };
  return status;
}

/* Where a plane is read and written on the device. */
typedef struct
{
  const void *source;
  void *destination;
  gssize source_stride, destination_stride;
} DevicePlane;

/* A plane on the host as the device's copies take it: the row that is first in memory, and a positive stride. */
static guint8 *
lowest_row (const GstVideoFrame * frame, guint i, gsize rows, gsize * stride)
{
  guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (frame, i);
  gint signed_stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, i);

  *stride = ABS (signed_stride);
  return signed_stride < 0 ? data - (rows - 1) * *stride : data;
}

/* Where row 0 of such a copy is on the device, and the step to row 1: upside down where the host's rows are. */
static guint8 *
first_row (void *memory, const GstVideoFrame * frame, guint i, gsize rows, gsize stage_stride, gssize * stride)
{
  gboolean upside_down = GST_VIDEO_FRAME_PLANE_STRIDE (frame, i) < 0;

  *stride = upside_down ? -(gssize) stage_stride : (gssize) stage_stride;
  return (guint8 *) memory + (upside_down ? (rows - 1) * stage_stride : 0);
}

/* Uploads a plane that is on the host; a frame on the device is used where it lies. */
static ConvolveStatus
bring_plane (const GstCudaConvolvePlane * plane, guint i, ConvolveDevice * device, GstCudaConvolveFrame * in,
    GstCudaConvolveFrame * out, DevicePlane * place, ConvolveError * error)
{
  ConvolveStage stage = { 0 };
  ConvolveStatus status = CONVOLVE_OK;
  gsize host_stride;
  guint8 *host = lowest_row (&in->video, i, plane->rows, &host_stride);

  if (!in->on_device)
    status = convolve_device_upload (device, i, host, host_stride, plane->row_bytes, plane->rows, &stage, error);
  else if (!out->on_device)
    status = convolve_device_stage (device, i, plane->row_bytes, plane->rows, &stage, error);
  if (status != CONVOLVE_OK)
    return status;

  place->source = GST_VIDEO_FRAME_PLANE_DATA (&in->video, i);
  place->source_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&in->video, i);
  if (!in->on_device)
    place->source = first_row (stage.source, &in->video, i, plane->rows, stage.stride, &place->source_stride);
  place->destination = GST_VIDEO_FRAME_PLANE_DATA (&out->video, i);
  place->destination_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&out->video, i);
  if (!out->on_device)
    place->destination = first_row (stage.destination, &out->video, i, plane->rows, stage.stride,
        &place->destination_stride);
  return CONVOLVE_OK;
}

/* Copies a plane of the result to a frame on the host. */
static ConvolveStatus
fetch_plane (const GstCudaConvolvePlane * plane, guint i, ConvolveDevice * device, GstCudaConvolveFrame * out,
    ConvolveError * error)
{
  gsize stride;
  guint8 *host = lowest_row (&out->video, i, plane->rows, &stride);

  return convolve_device_download (device, i, host, stride, plane->row_bytes, plane->rows, error);
}

static ConvolveStatus
run_on_device (const GstCudaConvolvePlans * plans, const GstCudaConvolveLayout * layout, ConvolveDevice * device,
    GstCudaConvolveFrame * in, GstCudaConvolveFrame * out, ConvolveTimes * times, ConvolveError * error)
{
  DevicePlane places[GST_VIDEO_MAX_PLANES];
  ConvolveStatus status = CONVOLVE_OK, finished;

  for (guint i = 0; i < layout->n_planes && status == CONVOLVE_OK; i++)
    status = bring_plane (&layout->planes[i], i, device, in, out, &places[i], error);
  for (guint i = 0; i < layout->n_steps && status == CONVOLVE_OK; i++) {
    const DevicePlane *place = &places[layout->steps[i].plane];

    status = run_step (plans->plan[i], &layout->steps[i], place->source, place->source_stride, place->destination,
        place->destination_stride, error);
  }
  for (guint i = 0; i < layout->n_planes && status == CONVOLVE_OK && !out->on_device; i++)
    status = fetch_plane (&layout->planes[i], i, device, out, error);
  /* Nothing may still read or write the frames when they are unmapped, whatever went wrong. */
  finished = convolve_device_finish (device, times, status == CONVOLVE_OK ? error : NULL);
  return status == CONVOLVE_OK ? finished : status;
}

ConvolveStatus
gst_cuda_convolve_run (const GstCudaConvolvePlans * plans, const GstCudaConvolveLayout * layout,
    ConvolveDevice * device, GstCudaConvolveFrame * in, GstCudaConvolveFrame * out, ConvolveTimes * times,
    ConvolveError * error)
{
  if (convolve_plan_on_device (plans->plan[0]))
    return run_on_device (plans, layout, device, in, out, times, error);
  return run_on_host (plans, layout, &in->video, &out->video, times, error);
}
