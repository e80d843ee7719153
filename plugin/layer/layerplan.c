/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/layerplan.h"

#include <math.h>
#include <string.h>

#define OPAQUE 255 /* alpha, where no feature map is shown in that channel */

typedef struct
{
  GstCudaConvolveWork work;
  ConvolveLayerPlan *plan;
  guint shown;         /* feature maps */
  guint columns, rows; /* of the mosaic */
  gboolean mosaic;
  gint map_width, map_height;
} LayerWork;

/* A layer computes with 0 for black and 1 for white. In limited range their code values are not 0 and 255. */
static void
scale_to_ranges (ConvolveLayer *layer, const GstVideoInfo *in, const GstVideoInfo *out)
{
  gint black[GST_VIDEO_MAX_COMPONENTS], range[GST_VIDEO_MAX_COMPONENTS];

  gst_video_color_range_offsets (in->colorimetry.range, in->finfo, black, range);
  if (range[0] != 255) {
    layer->in_scale = 1.0f / range[0];
    layer->in_offset = -(gfloat) black[0] / range[0];
  }
  gst_video_color_range_offsets (out->colorimetry.range, out->finfo, black, range);
  if (range[0] != 255) {
    layer->out_scale *= range[0] / 255.0f;
    layer->out_offset = black[0] + layer->out_offset * range[0] / 255.0f;
  }
}

/* Where the planes of a frame are, on the host or on the device. */
typedef struct
{
  guint8 *data[GST_VIDEO_MAX_PLANES];
  gssize stride[GST_VIDEO_MAX_PLANES];
} Planes;

/* Whether all planes have one stride, as the kernel library expects of the channels of a layer. */
static gboolean
have_one_stride (const Planes *planes, const GstCudaConvolveLayout *layout)
{
  for (guint i = 1; i < layout->n_planes; i++)
    if (planes->stride[i] != planes->stride[0])
      return FALSE;
  return TRUE;
}

/*
 * The offset of the byte that no component has, in RGBx and similar formats: offsets 0 to 3, less those of three
 * components.
 */
static gint
unused_byte (const GstVideoFormatInfo *finfo)
{
  gint sum = 0;

  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); i++)
    sum += GST_VIDEO_FORMAT_INFO_POFFSET (finfo, i);
  return 0 + 1 + 2 + 3 - sum;
}

/*
 * Fills the channels of a frame: gray, or red, green, blue, and alpha or padding if there is any. Returns their
 * number.
 */
static guint
describe_channels (const Planes *planes, const GstVideoFormatInfo *finfo, ConvolveLayerTensor *tensor)
{
  guint n = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo);

  *tensor = (ConvolveLayerTensor){
    .row_stride = planes->stride[0],
    .column_stride = GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, 0),
  };
  for (guint i = 0; i < n; i++)
    tensor->channel[i] =
        planes->data[GST_VIDEO_FORMAT_INFO_PLANE (finfo, i)] + GST_VIDEO_FORMAT_INFO_POFFSET (finfo, i);
  if (n == 3 && GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, 0) == 4)
    tensor->channel[n++] = planes->data[0] + unused_byte (finfo);
  return n;
}

/* Computes rows first up to end of the feature maps. */
static ConvolveStatus
run (const LayerWork *plan, const Planes *in, const Planes *out, gint first, gint end, ConvolveError *error)
{
  ConvolveLayerTask task = {
    .batch = 1,
    .first_row = first,
    .end_row = end,
    .height = GST_VIDEO_INFO_HEIGHT (&plan->work.in.info),
    .width = GST_VIDEO_INFO_WIDTH (&plan->work.in.info),
  };

  describe_channels (in, plan->work.in.info.finfo, &task.source);
  if (plan->mosaic) {
    task.destination =
        convolve_layer_mosaic (out->data[0], out->stride[0], 1, plan->columns, plan->map_height, plan->map_width);
    task.filled = plan->columns * plan->rows - plan->shown;
  } else {
    task.filled = describe_channels (out, plan->work.out.info.finfo, &task.destination) - plan->shown;
    task.fill = OPAQUE;
  }
  return convolve_layer_run (plan->plan, &task, error);
}

/* --- on the host --- */

static Planes
host_planes (const GstCudaConvolveFrame *frame, const GstCudaConvolveLayout *layout)
{
  Planes planes = { 0 };

  for (guint i = 0; i < layout->n_planes; i++) {
    planes.data[i] = GST_VIDEO_FRAME_PLANE_DATA (&frame->video, i);
    planes.stride[i] = GST_VIDEO_FRAME_PLANE_STRIDE (&frame->video, i);
  }
  return planes;
}

/* Allocates planes of one stride for a frame of this layout. To be freed; NULL where there is no memory. */
static guint8 *
new_planes (const GstCudaConvolveLayout *layout, Planes *planes)
{
  gsize size = layout->planes[0].row_bytes * layout->planes[0].rows; /* planar RGB has planes of one size */
  guint8 *memory = g_try_malloc_n (layout->n_planes, size);

  for (guint i = 0; i < layout->n_planes && memory; i++) {
    planes->data[i] = memory + i * size;
    planes->stride[i] = layout->planes[0].row_bytes;
  }
  return memory;
}

static void
copy_planes (const GstCudaConvolveLayout *layout, const Planes *to, const Planes *from)
{
  for (guint i = 0; i < layout->n_planes; i++)
    for (gsize y = 0; y < layout->planes[i].rows; y++)
      memcpy (to->data[i] + (gssize) y * to->stride[i], from->data[i] + (gssize) y * from->stride[i],
          layout->planes[i].row_bytes);
}

/* Planes with different strides, which are rare, are copied to and from planes of one stride. */
static ConvolveStatus
run_on_host (GstCudaConvolveWork *work, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error)
{
  const LayerWork *plan = (LayerWork *) work;
  Planes from = host_planes (in, &plan->work.in), to = host_planes (out, &plan->work.out), from_copy = from,
         to_copy = to;
  gboolean from_fits = have_one_stride (&from, &plan->work.in), to_fits = have_one_stride (&to, &plan->work.out);
  g_autofree guint8 *source = from_fits ? NULL : new_planes (&plan->work.in, &from_copy);
  g_autofree guint8 *destination = to_fits ? NULL : new_planes (&plan->work.out, &to_copy);
  ConvolveStatus status;

  if ((!from_fits && !source) || (!to_fits && !destination)) {
    *error = (ConvolveError){ .status = CONVOLVE_NO_MEMORY, .text = "no memory for the planes of a frame" };
    return error->status;
  }
  if (source)
    copy_planes (&plan->work.in, &from_copy, &from);
  status = run (plan, &from_copy, &to_copy, 0, plan->map_height, error);
  if (destination && status == CONVOLVE_OK)
    copy_planes (&plan->work.out, &to, &to_copy);
  return status;
}

/* --- on the device --- */

/* Takes a stage for each plane that one of the frames has on the host. All stages have one size, and so one stride. */
static ConvolveStatus
place_planes (const LayerWork *plan, ConvolveDevice *device, const GstCudaConvolveFrame *in,
    const GstCudaConvolveFrame *out, Planes *from, Planes *to, ConvolveError *error)
{
  gsize row_bytes = MAX (plan->work.in.planes[0].row_bytes, plan->work.out.planes[0].row_bytes);
  gsize rows = MAX (plan->work.in.planes[0].rows, plan->work.out.planes[0].rows);
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < MAX (plan->work.in.n_planes, plan->work.out.n_planes) && status == CONVOLVE_OK; i++) {
    const GstCudaConvolvePlane *source = &plan->work.in.planes[i], *destination = &plan->work.out.planes[i];
    ConvolveStage stage = { 0 };

    if ((i < plan->work.in.n_planes && !in->on_device) || (i < plan->work.out.n_planes && !out->on_device))
      status = convolve_device_stage (device, i, row_bytes, rows, &stage, error);
    if (i < plan->work.in.n_planes)
      from->data[i] = gst_cuda_convolve_first_row (source, in, i, stage.source, stage.stride, &from->stride[i]);
    if (i < plan->work.out.n_planes)
      to->data[i] = gst_cuda_convolve_first_row (destination, out, i, stage.destination, stage.stride, &to->stride[i]);
  }
  return status;
}

/* A frame on the device. */
typedef struct
{
  const LayerWork *plan;
  ConvolveDevice *device;
  const GstCudaConvolveFrame *in, *out;
  Planes from, to;
  gint uploaded; /* rows from row 0 that the stages have */
} Job;

/* Uploads the rows up to end that the stages do not have yet. */
static ConvolveStatus
upload_rows (Job *job, gint end, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &job->plan->work.in;
  ConvolveStatus status = CONVOLVE_OK;

  if (job->in->on_device || end <= job->uploaded)
    return CONVOLVE_OK;
  for (guint i = 0; i < layout->n_planes && status == CONVOLVE_OK; i++) {
    ConvolveRows rows = gst_cuda_convolve_host_rows (&layout->planes[i], &job->in->video, i, job->uploaded, end);

    status = gst_cuda_convolve_upload (job->device, job->in, i, &rows, error);
  }
  job->uploaded = end;
  return status;
}

static ConvolveStatus
download_rows (const Job *job, gint first, gint end, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &job->plan->work.out;
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < layout->n_planes && !job->out->on_device && status == CONVOLVE_OK; i++) {
    ConvolveRows rows = gst_cuda_convolve_host_rows (&layout->planes[i], &job->out->video, i, first, end);

    status = gst_cuda_convolve_download (job->device, job->out, i, &rows, error);
  }
  return status;
}

/*
 * Goes in strips from the top: a strip is computed while the next is uploaded and the one before downloaded. The rows
 * of a mosaic's strip would lie in several places, so a mosaic is one strip.
 */
static ConvolveStatus
run_strips (Job *job, guint strips, ConvolveError *error)
{
  const LayerWork *plan = job->plan;
  gint64 height = plan->map_height;
  ConvolveStatus status = CONVOLVE_OK;

  strips = plan->mosaic ? 1 : CLAMP (strips, 1, height);
  for (guint i = 0; i < strips && status == CONVOLVE_OK; i++) {
    gint first = height * i / strips, end = height * (i + 1) / strips, needed_first, needed_end;

    convolve_layer_plan_source_rows (plan->plan, GST_VIDEO_INFO_HEIGHT (&plan->work.in.info), first, end, &needed_first,
        &needed_end);
    status = upload_rows (job, needed_end, error);
    if (status == CONVOLVE_OK)
      status = run (plan, &job->from, &job->to, first, end, error);
    if (status == CONVOLVE_OK)
      status = download_rows (job, first * plan->rows, end * plan->rows, error);
  }
  return status;
}

static ConvolveStatus
run_in_slot (Job *job, guint strips, ConvolveError *error)
{
  const LayerWork *plan = job->plan;
  ConvolveStatus status = place_planes (plan, job->device, job->in, job->out, &job->from, &job->to, error);

  if (status != CONVOLVE_OK)
    return status;
  if (have_one_stride (&job->from, &plan->work.in) && have_one_stride (&job->to, &plan->work.out))
    return run_strips (job, strips, error);
  *error = (ConvolveError){ .status = CONVOLVE_UNSUPPORTED,
    .text = "the planes of a frame in CUDA memory have different strides, and a layer takes planes of one stride" };
  return error->status;
}

static ConvolveStatus
run_on_device (GstCudaConvolveWork *work, gboolean alone, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out,
    ConvolveError *error)
{
  Job job = { .plan = (LayerWork *) work, .device = work->device, .in = in, .out = out };
  gsize bytes = MAX (gst_cuda_convolve_count_bytes (work->in.planes, work->in.n_planes),
      gst_cuda_convolve_count_bytes (work->out.planes, work->out.n_planes));

  return run_in_slot (&job, ceil (gst_cuda_convolve_count_strips (bytes, in, out, alone)), error);
}

/* --- the work --- */

static void
set_pool (GstCudaConvolveWork *work, ConvolvePool *pool)
{
  convolve_layer_plan_set_pool (((LayerWork *) work)->plan, pool);
}

static void
clear_work (gpointer data)
{
  convolve_layer_plan_unref (((LayerWork *) data)->plan);
}

static const GstCudaConvolveWorkKind kind_of_layer = {
  .size = sizeof (LayerWork),
  .run_on_host = run_on_host,
  .run_on_device = run_on_device,
  .set_pool = set_pool,
  .clear = clear_work,
};

GstCudaConvolveWork *
gst_cuda_conv_layer_plan_new (const GstCudaConvLayerModel *layer, const GstCudaConvolveLayout *in,
    const GstCudaConvolveLayout *out, const gchar *variant, ConvolveDevice *device, ConvolveError *error)
{
  LayerWork *work = gst_cuda_convolve_work_new (&kind_of_layer, in, out);
  ConvolveLayer resolved;

  work->shown = layer->shown;
  work->columns = layer->columns;
  work->rows = layer->rows;
  work->mosaic = layer->mosaic;
  if (gst_cuda_conv_layer_model_resolve (layer, GST_VIDEO_INFO_WIDTH (&in->info), GST_VIDEO_INFO_HEIGHT (&in->info),
          &resolved, &work->map_width, &work->map_height, error)
      == CONVOLVE_OK) {
    scale_to_ranges (&resolved, &in->info, &out->info);
    work->plan = convolve_layer_plan_new (&resolved, variant, device, error);
  }
  if (!work->plan) {
    gst_cuda_convolve_work_unref (work);
    gst_cuda_convolve_work_name_variant (variant, error);
    return NULL;
  }
  work->work.device = convolve_layer_plan_on_device (work->plan) ? device : NULL;
  work->work.variant = g_intern_string (convolve_layer_plan_variant (work->plan));
  return &work->work;
}
