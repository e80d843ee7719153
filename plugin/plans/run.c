/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans/run.h"

#include <math.h>

/* Rows first_row up to end_row of a plane, in a group of its samples: window by window. */
static ConvolveStatus
run_once (const GstCudaConvolvePlans *plans, const GstCudaConvolveWindows *windows, guint number,
    const GstCudaConvolvePlanePair *pair, gint first_row, gint end_row, ConvolveError *error)
{
  const GstCudaConvolveGroup *group = &plans->work.in.groups[number];
  const ConvolvePlan *plan = plans->group[windows->kind][number];
  const ConvolvePlan *copy = plans->copy[windows->kind][number];
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < gst_cuda_convolve_windows_count (windows, group) && status == CONVOLVE_OK; i++) {
    GstCudaConvolveWindow window = gst_cuda_convolve_windows_get (windows, group, i);

    status = gst_cuda_convolve_window_run (&window, group, plan, copy, pair, first_row, end_row, error);
  }
  return status;
}

/* The same in every iteration; a frame that has several is one strip. */
static ConvolveStatus
run_group (const GstCudaConvolvePlans *plans, const GstCudaConvolveWindows *windows, guint number,
    const GstCudaConvolvePlanePair *pair, const GstCudaConvolveScratch *scratch, gint first_row, gint end_row,
    ConvolveError *error)
{
  guint count = plans->iterations;
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < count && status == CONVOLVE_OK; i++) {
    GstCudaConvolvePlanePair step = gst_cuda_convolve_iteration (pair, scratch, i, count);

    status = run_once (plans, windows, number, &step, first_row, end_row, error);
  }
  return status;
}

static ConvolveStatus
run_on_host (GstCudaConvolveWork *work, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error)
{
  GstCudaConvolvePlans *plans = (GstCudaConvolvePlans *) work;
  const GstCudaConvolveLayout *layout = &plans->work.in;
  GstCudaConvolveWindows windows;
  GstCudaConvolveScratch scratch = { .bytes = plans->scratch };
  ConvolveStatus status = CONVOLVE_OK;

  gst_cuda_convolve_windows_init (&windows, layout, plans->field_mode, in, out);
  for (guint i = 0; i < layout->n_groups && status == CONVOLVE_OK; i++) {
    guint plane = layout->groups[i].plane;
    GstCudaConvolvePlanePair pair = {
      .source = GST_VIDEO_FRAME_PLANE_DATA (&in->video, plane),
      .destination = GST_VIDEO_FRAME_PLANE_DATA (&out->video, plane),
      .source_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&in->video, plane),
      .destination_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&out->video, plane),
    };

    scratch.stride = windows.planes[plane].row_bytes;
    status = run_group (plans, &windows, i, &pair, &scratch, 0, windows.planes[plane].rows, error);
  }
  return status;
}

/* A plane of a frame on the device. The rows of a frame on the host go through the plane's stage. */
typedef struct
{
  const GstCudaConvolvePlans *plans;
  const GstCudaConvolveLayout *layout;
  const GstCudaConvolveWindows *windows;
  ConvolveDevice *device;
  GstCudaConvolveFrame *in, *out;
  guint number;                  /* of the plane */
  GstCudaConvolvePlanePair pair; /* on the device */
  GstCudaConvolveScratch scratch;
  gint uploaded; /* rows from row 0 that the stage has */
} Plane;

/* Rows first up to end of the plane, in a frame on the host. */
static ConvolveRows
host_rows (const Plane *plane, const GstVideoFrame *frame, gint first, gint end)
{
  return gst_cuda_convolve_host_rows (&plane->windows->planes[plane->number], frame, plane->number, first, end);
}

/* The stage of what lies between two iterations of plane 0. One frame may be done with weights and without. */
static gint
first_scratch (const GstCudaConvolveLayout *layout)
{
  return layout->weighed ? CONVOLVE_ALL_STAGES - GST_VIDEO_MAX_PLANES : GST_VIDEO_MAX_PLANES;
}

static ConvolveStatus
place_plane (Plane *plane, ConvolveError *error)
{
  const GstCudaConvolvePlane *shape = &plane->windows->planes[plane->number];
  GstCudaConvolvePlanePair *pair = &plane->pair;
  ConvolveStage stage = { 0 }, second = { 0 };
  ConvolveStatus status = CONVOLVE_OK;

  if (plane->plans->iterations > 1)
    status = convolve_device_stage (plane->device, first_scratch (plane->layout) + plane->number, shape->row_bytes,
        shape->rows, &second, error);
  plane->scratch = (GstCudaConvolveScratch){ second.source, second.stride };
  if (status == CONVOLVE_OK && (!plane->in->on_device || !plane->out->on_device))
    status = convolve_device_stage (plane->device, plane->number, shape->row_bytes, shape->rows, &stage, error);
  pair->source =
      gst_cuda_convolve_first_row (shape, plane->in, plane->number, stage.source, stage.stride, &pair->source_stride);
  pair->destination = gst_cuda_convolve_first_row (shape, plane->out, plane->number, stage.destination, stage.stride,
      &pair->destination_stride);
  return status;
}

/* The end of the source rows that rows first up to end of the output depend on, in all windows of the plane. */
static gint
rows_needed (const Plane *plane, gint first, gint end)
{
  gint needed = 0;

  for (guint i = 0; i < plane->layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &plane->layout->groups[i];
    const ConvolvePlan *plan = plane->plans->group[plane->windows->kind][i];

    for (guint k = 0; group->plane == plane->number && k < gst_cuda_convolve_windows_count (plane->windows, group);
         k++) {
      GstCudaConvolveWindow window = gst_cuda_convolve_windows_get (plane->windows, group, k);

      needed = MAX (needed, gst_cuda_convolve_window_source_end (&window, plan, first, end));
    }
  }
  return needed;
}

/* Uploads the rows up to end that the stage does not have yet. */
static ConvolveStatus
upload_rows (Plane *plane, gint end, ConvolveError *error)
{
  ConvolveRows rows;

  if (plane->in->on_device || end <= plane->uploaded)
    return CONVOLVE_OK;
  rows = host_rows (plane, &plane->in->video, plane->uploaded, end);
  plane->uploaded = end;
  return gst_cuda_convolve_upload (plane->device, plane->in, plane->number, &rows, error);
}

static ConvolveStatus
run_strip (Plane *plane, gint first, gint end, ConvolveError *error)
{
  ConvolveStatus status = upload_rows (plane, rows_needed (plane, first, end), error);

  for (guint i = 0; i < plane->layout->n_groups && status == CONVOLVE_OK; i++)
    if (plane->layout->groups[i].plane == plane->number)
      status = run_group (plane->plans, plane->windows, i, &plane->pair, &plane->scratch, first, end, error);
  if (status == CONVOLVE_OK && !plane->out->on_device) {
    ConvolveRows rows = host_rows (plane, &plane->out->video, first, end);

    status = gst_cuda_convolve_download (plane->device, plane->out, plane->number, &rows, error);
  }
  return status;
}

/* Goes in strips from the top: a strip is convolved while the next is uploaded and the one before downloaded. */
static ConvolveStatus
run_plane (Plane *plane, guint strips, ConvolveError *error)
{
  gint64 rows = plane->windows->planes[plane->number].rows;
  ConvolveStatus status = place_plane (plane, error);
  gboolean last_first;

  strips = CLAMP (strips, 1, rows);
  /* A Gaussian of any size makes each row from all rows, and strips would do that again and again. */
  if (strips > 1 && rows_needed (plane, rows / strips, rows / strips + 1) == rows)
    strips = 1;
  /* Under the boundary wrap the top strip depends on the last row; then the top strip is convolved last. */
  last_first = rows_needed (plane, 0, rows / strips) == rows;
  for (guint i = 0; i < strips && status == CONVOLVE_OK; i++) {
    guint strip = (i + (last_first ? 1 : 0)) % strips;

    status = run_strip (plane, rows * strip / strips, rows * (strip + 1) / strips, error);
  }
  return status;
}

/*
 * Whether no call of convolve_run () for the frame needs what another one wrote, or writes near it, where all planes are on the
 * device: each is convolved once, by one group.
 */
static gboolean
is_independent (const Plane *frame)
{
  return frame->plans->iterations == 1 && frame->layout->n_groups == frame->layout->n_planes;
}

/* Ends what convolve_device_independent () began, after an error, too. status is that of the runs since then. */
static ConvolveStatus
end_independent (const Plane *frame, ConvolveStatus status, ConvolveError *error)
{
  ConvolveStatus ended = convolve_device_independent (frame->device, FALSE, status == CONVOLVE_OK ? error : NULL);

  return status == CONVOLVE_OK ? ended : status;
}

static ConvolveStatus
run_planes (const Plane *frame, gboolean alone, ConvolveError *error)
{
  gdouble total = gst_cuda_convolve_count_bytes (frame->windows->planes, frame->layout->n_planes);
  gdouble strip = total / gst_cuda_convolve_count_strips (total, frame->in, frame->out, alone);
  gboolean on_device = frame->in->on_device && frame->out->on_device;
  ConvolveStatus status = convolve_device_independent (frame->device, on_device && is_independent (frame), error);

  for (guint i = 0; i < frame->layout->n_planes && status == CONVOLVE_OK; i++) {
    const GstCudaConvolvePlane *shape = &frame->windows->planes[i];
    Plane plane = *frame;

    plane.number = i;
    status = run_plane (&plane, ceil ((gdouble) shape->row_bytes * shape->rows / strip), error);
  }
  return end_independent (frame, status, error);
}

/*
 * Whether the planes follow each other without a gap in one GstMemory on the host, so that one copy takes them all. A
 * copy must not span several memories, even if their addresses meet, because CUDA refuses a copy of which only a part
 * is page-locked.
 */
static gboolean
is_block (const GstCudaConvolvePlane *planes, guint n, const GstCudaConvolveFrame *frame)
{
  guint8 *end = GST_VIDEO_FRAME_PLANE_DATA (&frame->video, 0);

  for (guint i = 0; i < n; i++) {
    const GstMapInfo *map = &frame->video.map[frame->video.meta ? i : 0];

    if (map->memory != frame->video.map[0].memory || GST_VIDEO_FRAME_PLANE_DATA (&frame->video, i) != end
        || GST_VIDEO_FRAME_PLANE_STRIDE (&frame->video, i) != (gint) planes[i].row_bytes)
      return FALSE;
    end += planes[i].row_bytes * planes[i].rows;
  }
  return !frame->on_device;
}

/* Copies all planes at once, up and down: a copy engine pauses after each copy. */
static ConvolveStatus
run_block (const Plane *frame, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = frame->layout;
  const GstCudaConvolvePlane *planes = frame->windows->planes;
  gsize bytes = gst_cuda_convolve_count_bytes (planes, layout->n_planes);
  ConvolveRows up = { .count = 1,
    .row_bytes = bytes,
    .host_stride = bytes,
    .host = GST_VIDEO_FRAME_PLANE_DATA (&frame->in->video, 0) };
  ConvolveRows down = { .count = 1,
    .row_bytes = bytes,
    .host_stride = bytes,
    .host = GST_VIDEO_FRAME_PLANE_DATA (&frame->out->video, 0) };
  ConvolveStage stage;
  ConvolveStatus status = convolve_device_stage (frame->device, 0, bytes, 1, &stage, error);

  if (status == CONVOLVE_OK)
    status = gst_cuda_convolve_upload (frame->device, frame->in, 0, &up, error);
  if (status == CONVOLVE_OK)
    status = convolve_device_independent (frame->device, is_independent (frame), error);
  for (guint i = 0; i < layout->n_groups && status == CONVOLVE_OK; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];
    gssize offset = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame->in->video, group->plane) - (guint8 *) up.host;
    gssize stride = planes[group->plane].row_bytes;
    GstCudaConvolvePlanePair pair = { (guint8 *) stage.source + offset, (guint8 *) stage.destination + offset, stride,
      stride };

    status = run_once (frame->plans, frame->windows, i, &pair, 0, planes[group->plane].rows, error);
  }
  status = end_independent (frame, status, error);
  if (status == CONVOLVE_OK)
    status = gst_cuda_convolve_download (frame->device, frame->out, 0, &down, error);
  return status;
}

static ConvolveStatus
run_on_device (GstCudaConvolveWork *work, gboolean alone, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out,
    ConvolveError *error)
{
  GstCudaConvolvePlans *plans = (GstCudaConvolvePlans *) work;
  ConvolveDevice *device = GST_CUDA_CONVOLVE_WORK (plans)->device;
  const GstCudaConvolveLayout *layout = &plans->work.in;
  GstCudaConvolveWindows windows;
  Plane frame = { .plans = plans, .layout = layout, .windows = &windows, .device = device, .in = in, .out = out };

  gst_cuda_convolve_windows_init (&windows, layout, plans->field_mode, in, out);
  /* An iteration needs all rows of the one before. */
  alone = alone && plans->iterations == 1;
  if (!alone && plans->iterations == 1 && is_block (windows.planes, layout->n_planes, in)
      && is_block (windows.planes, layout->n_planes, out))
    return run_block (&frame, error);
  return run_planes (&frame, alone, error);
}

/* --- the work --- */

static const GstCudaConvolveWorkKind kind_of_plans = {
  .size = sizeof (GstCudaConvolvePlans),
  .run_on_host = run_on_host,
  .run_on_device = run_on_device,
  .set_pool = gst_cuda_convolve_plans_set_pool,
  .clear = gst_cuda_convolve_plans_clear,
};

GstCudaConvolvePlans *
gst_cuda_convolve_plans_new (const ConvolveProperties *properties, const GstCudaConvolveLayout *layout,
    ConvolveDevice *device, ConvolveError *error)
{
  GstCudaConvolvePlans *plans = gst_cuda_convolve_work_new (&kind_of_plans, layout, layout);

  if (gst_cuda_convolve_plans_make (plans, properties, device, error) != CONVOLVE_OK)
    g_clear_pointer (&plans, gst_cuda_convolve_work_unref);
  return plans;
}
