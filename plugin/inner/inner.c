/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inner/inner.h"

#include "convolve_region.h"
#include "frame/cells.h"

#define ALIGNMENT 256 /* of strides of inner frames, in bytes */

typedef struct
{
  GstCudaConvolveWork work;
  GstCudaConvolveInnerParts parts;
  gsize strides[GST_VIDEO_MAX_PLANES], offsets[GST_VIDEO_MAX_PLANES]; /* of an inner frame */
  gsize bytes;                                                        /* that the frame takes */
  guint8 *memory;       /* on the CPU: an inner input, and where needs_second() says so, another frame as large */
  ConvolvePool *pool;   /* of the batch, or NULL */
  GArray *changes;      /* ConvolveRect: what of the part of a frame changes, where the work covers; or NULL */
  ConvolveBatch *batch; /* that copies parts of frames which change in place; made at first use, or NULL */
  gboolean translucent; /* on a device: the latest frame was not opaque */
} Inner;

/* --- frames --- */

/* The stream's frame in its inner form, in memory. */
static GstCudaConvolveFrame
inner_frame (const Inner *inner, const GstCudaConvolveFrame *frame, guint8 *memory)
{
  const GstCudaConvolveLayout *layout = &inner->parts.inside->in;
  GstCudaConvolveFrame made = { .crop = frame->crop, .on_device = inner->work.device != NULL };

  made.video.info = layout->info;
  made.video.flags = frame->video.flags;
  made.video.buffer = frame->video.buffer;
  made.video.id = frame->video.id;
  for (guint i = 0; i < layout->n_planes; i++) {
    made.video.data[i] = memory + inner->offsets[i];
    made.video.info.stride[i] = inner->strides[i];
  }
  return made;
}

static ConvolvePicture
picture_of (const GstCudaConvolveLayout *layout, const GstVideoFrame *frame)
{
  ConvolvePicture picture = { .width = GST_VIDEO_INFO_WIDTH (&layout->info),
    .height = GST_VIDEO_INFO_FIELD_HEIGHT (&layout->info) };

  for (guint i = 0; i < layout->n_planes; i++)
    picture.planes[i] =
        (ConvolveFormPlane){ GST_VIDEO_FRAME_PLANE_DATA (frame, i), gst_cuda_convolve_stride (&frame->info, i) };
  return picture;
}

/* Whether a second frame of the inner size is needed: for the inner output, or for outer samples before they are covered. */
static gboolean
needs_second (const Inner *inner)
{
  return !inner->parts.in_place || inner->parts.covers;
}

/* The part of a picture, in which each pixel of a plane stands for one luma pixel. */
static ConvolvePicture
part_of (const GstCudaConvolveLayout *layout, const ConvolvePicture *picture, ConvolveRect part)
{
  ConvolvePicture cut = { .width = part.width, .height = part.height };

  for (guint i = 0; i < layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];
    const ConvolveFormPlane *plane = &picture->planes[group->plane];

    cut.planes[group->plane] =
        (ConvolveFormPlane){ (guint8 *) plane->data + part.y * plane->stride + (gsize) part.x * group->pixel.stride,
          plane->stride };
  }
  return cut;
}

/* Where the outer frames and the inner ones are, and which part of them goes through the inner form. */
typedef struct
{
  ConvolvePicture in, out;
  GstCudaConvolveFrame inner_in, inner_out;
  ConvolveRect part; /* of frames whose parts cover */
} Places;

/* --- parts --- */

/* The part of the next frame, and what of it changes; FALSE where there is none. */
static gboolean
find_part (Inner *inner, Places *places)
{
  g_array_set_size (inner->changes, 0);
  return inner->parts.inside->kind->find_part (inner->parts.inside, &places->part, inner->changes);
}

/*
 * Packs what changes of the part. Rectangles that lie over each other are packed twice, with one result. A device takes the part in
 * one launch.
 */
static ConvolveStatus
pack_changes (const Inner *inner, const Places *places, const ConvolvePicture *changed, ConvolveError *error)
{
  const GArray *changes = inner->changes;
  gint64 area = 0;
  gboolean one;
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < changes->len; i++)
    area += (gint64) g_array_index (changes, ConvolveRect, i).width * g_array_index (changes, ConvolveRect, i).height;
  one = inner->work.device || area >= (gint64) places->part.width * places->part.height;
  for (guint i = 0; i < (one ? 1 : changes->len) && status == CONVOLVE_OK; i++) {
    const ConvolveRect rect = one ? places->part : g_array_index (changes, ConvolveRect, i);
    const ConvolvePicture in = part_of (&inner->work.in, &places->in, rect),
                          from = part_of (&inner->parts.inside->in, changed, rect),
                          to = part_of (&inner->work.in, &places->out, rect);

    status = convolve_form_pack (inner->parts.form, &in, &from, &to, error);
  }
  return status;
}

/* The picture as large as places->in, in memory for the second frame, of which the strides are those of the inner frame. */
static ConvolvePicture
second_picture (const Inner *inner, const Places *places, guint8 *memory)
{
  ConvolvePicture second = places->in;

  for (guint i = 0; i < inner->work.in.n_planes; i++)
    second.planes[i] = (ConvolveFormPlane){ memory + inner->offsets[i], inner->strides[i] };
  return second;
}

/* Copies the part to memory where the frame changes in place, and takes that for the input: on the host, or enqueued. */
static ConvolveStatus
save_part (Inner *inner, Places *places, guint8 *memory, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &inner->work.in;
  ConvolvePicture second = second_picture (inner, places, memory);
  ConvolvePicture from = part_of (layout, &places->in, places->part), to = part_of (layout, &second, places->part);
  ConvolveStatus status = CONVOLVE_OK;
  void *none;

  if (places->in.planes[0].data != places->out.planes[0].data)
    return CONVOLVE_OK;
  if (!inner->batch)
    inner->batch = convolve_batch_new (inner->work.device, error);
  if (inner->batch)
    convolve_batch_set_pool (inner->batch, inner->pool);
  status = inner->batch ? convolve_batch_begin (inner->batch, 0, &none, error) : error->status;
  for (guint i = 0; i < layout->n_groups && status == CONVOLVE_OK; i++) {
    guint plane = layout->groups[i].plane;

    status = convolve_batch_copy (inner->batch, from.planes[plane].data, from.planes[plane].stride,
        to.planes[plane].data, to.planes[plane].stride, (gsize) places->part.width * layout->groups[i].pixel.stride,
        places->part.height, error);
  }
  places->in = second;
  return status == CONVOLVE_OK ? convolve_batch_run (inner->batch, error) : status;
}

/* --- passes --- */

/* Unpacks, takes the inner frames through the inside, and packs. `alone` is for a device. */
static ConvolveStatus
take_through (Inner *inner, Places *places, gboolean alone, ConvolveError *error)
{
  GstCudaConvolveWork *inside = inner->parts.inside;
  GstCudaConvolveFrame *result = inner->parts.in_place ? &places->inner_in : &places->inner_out;
  ConvolvePicture in = places->in, unpacked = picture_of (&inside->in, &places->inner_in.video);
  ConvolvePicture changed = picture_of (&inside->in, &result->video);
  ConvolveStatus status;

  if (inner->parts.covers) {
    in = part_of (&inner->work.in, &in, places->part);
    unpacked = part_of (&inside->in, &unpacked, places->part);
  }
  status = convolve_form_unpack (inner->parts.form, &in, &unpacked, error);
  if (status == CONVOLVE_OK && inner->work.device)
    status = inside->kind->run_on_device (inside, alone, &places->inner_in, result, error);
  else if (status == CONVOLVE_OK)
    status = inside->kind->run_on_host (inside, &places->inner_in, result, error);
  if (status == CONVOLVE_OK && inner->parts.covers)
    status = pack_changes (inner, places, &changed, error);
  else if (status == CONVOLVE_OK)
    status = convolve_form_pack (inner->parts.form, &in, &changed, &places->out, error);
  return status;
}

/* The opaque work first, and then the parts in their inner form. */
static ConvolveStatus
cover_on_host (Inner *inner, Places *places, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error)
{
  GstCudaConvolveWork *opaque = inner->parts.opaque;
  gboolean weighs = find_part (inner, places);
  ConvolveStatus status = CONVOLVE_OK;

  if (weighs) {
    ConvolvePicture part = part_of (&inner->work.in, &places->in, places->part);

    weighs = !convolve_form_is_opaque (inner->parts.form, &part);
  }
  if (weighs)
    status = save_part (inner, places, inner->memory + inner->bytes, error);
  if (status == CONVOLVE_OK)
    status = opaque->kind->run_on_host (opaque, in, out, error);
  return status == CONVOLVE_OK && weighs ? take_through (inner, places, TRUE, error) : status;
}

static ConvolveStatus
run_on_host (GstCudaConvolveWork *work, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error)
{
  Inner *inner = (Inner *) work;
  Places places = { .in = picture_of (&work->in, &in->video),
    .out = picture_of (&work->in, &out->video),
    .inner_in = inner_frame (inner, in, inner->memory),
    .inner_out = inner_frame (inner, out, inner->memory + inner->bytes) };

  if (inner->parts.covers)
    return cover_on_host (inner, &places, in, out, error);
  if (inner->parts.opaque && convolve_form_is_opaque (inner->parts.form, &places.in))
    return inner->parts.opaque->kind->run_on_host (inner->parts.opaque, in, out, error);
  return take_through (inner, &places, TRUE, error);
}

/* --- on the device --- */

/* Finds where a plane of both frames is on the device, and uploads the input's where that is on the host. */
static ConvolveStatus
place_plane (const Inner *inner, guint number, const GstCudaConvolveFrame *in, const GstCudaConvolveFrame *out,
    Places *places, ConvolveError *error)
{
  const GstCudaConvolvePlane *shape = &inner->work.in.planes[number];
  ConvolveFormPlane *from = &places->in.planes[number], *to = &places->out.planes[number];
  ConvolveStage stage = { 0 };
  ConvolveStatus status = CONVOLVE_OK;
  gssize stride;

  if (!in->on_device || !out->on_device)
    status = convolve_device_stage (inner->work.device, number, shape->row_bytes, shape->rows, &stage, error);
  from->data = gst_cuda_convolve_first_row (shape, in, number, stage.source, stage.stride, &stride);
  from->stride = stride;
  to->data = gst_cuda_convolve_first_row (shape, out, number, stage.destination, stage.stride, &stride);
  to->stride = stride;
  if (status == CONVOLVE_OK && !in->on_device) {
    ConvolveRows rows = gst_cuda_convolve_host_rows (shape, &in->video, number, 0, shape->rows);

    status = gst_cuda_convolve_upload (inner->work.device, in, number, &rows, error);
  }
  return status;
}

static ConvolveStatus
fetch_plane (const Inner *inner, guint number, const GstCudaConvolveFrame *out, ConvolveError *error)
{
  const GstCudaConvolvePlane *shape = &inner->work.in.planes[number];
  ConvolveRows rows;

  if (out->on_device)
    return CONVOLVE_OK;
  rows = gst_cuda_convolve_host_rows (shape, &out->video, number, 0, shape->rows);
  return gst_cuda_convolve_download (inner->work.device, out, number, &rows, error);
}

/* The frame as one in the device's memory, where its planes are at these places. */
static GstCudaConvolveFrame
placed_frame (const GstCudaConvolveLayout *layout, const GstCudaConvolveFrame *frame, const ConvolvePicture *places)
{
  GstCudaConvolveFrame placed = *frame;

  placed.on_device = TRUE;
  for (guint i = 0; i < layout->n_planes; i++) {
    placed.video.data[i] = places->planes[i].data;
    placed.video.info.stride[i] = places->planes[i].stride;
  }
  return placed;
}

/*
 * The device looks whether the frame is opaque, and the host waits for the answer. Meanwhile the device writes the output of an
 * opaque frame where the frame before was one; a translucent frame then overwrites that. Parts that cover change the frame
 * itself, and nothing is written before the answer. No part is alone in the frame.
 */
static ConvolveStatus
take_either_way (Inner *inner, Places *places, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, guint8 *second,
    ConvolveError *error)
{
  GstCudaConvolveWork *opaque = inner->parts.opaque;
  GstCudaConvolveFrame from = placed_frame (&inner->work.in, in, &places->in),
                       to = placed_frame (&inner->work.in, out, &places->out);
  gboolean covers = inner->parts.covers, looks = !covers || find_part (inner, places);
  gboolean guessed = !covers && !inner->translucent;
  ConvolvePicture looked_at = covers && looks ? part_of (&inner->work.in, &places->in, places->part) : places->in;
  ConvolveStatus status = looks ? convolve_form_look (inner->parts.form, &looked_at, error) : CONVOLVE_OK;
  bool is_opaque = true;

  if (status == CONVOLVE_OK && guessed)
    status = opaque->kind->run_on_device (opaque, FALSE, &from, &to, error);
  if (status == CONVOLVE_OK && looks)
    status = convolve_form_await_look (inner->parts.form, &is_opaque, error);
  if (status != CONVOLVE_OK)
    return status;
  inner->translucent = !is_opaque;
  if (covers && !is_opaque)
    status = save_part (inner, places, second, error);
  if (status == CONVOLVE_OK && !guessed && (covers || is_opaque))
    status = opaque->kind->run_on_device (opaque, FALSE, &from, &to, error);
  return status == CONVOLVE_OK && !is_opaque ? take_through (inner, places, FALSE, error) : status;
}

static ConvolveStatus
run_on_device (GstCudaConvolveWork *work, gboolean alone, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out,
    ConvolveError *error)
{
  Inner *inner = (Inner *) work;
  ConvolveStage stage = { 0 };
  ConvolveStatus status =
      convolve_device_stage (work->device, CONVOLVE_MAX_STAGES + inner->parts.depth, inner->bytes, 1, &stage, error);
  Places places = { .in = picture_of (&work->in, &in->video), .out = picture_of (&work->in, &out->video) };

  if (status != CONVOLVE_OK)
    return status;
  places.inner_in = inner_frame (inner, in, stage.source);
  places.inner_out = inner_frame (inner, out, stage.destination);
  for (guint i = 0; i < work->in.n_planes && status == CONVOLVE_OK; i++)
    status = place_plane (inner, i, in, out, &places, error);
  if (status == CONVOLVE_OK && inner->parts.opaque)
    status = take_either_way (inner, &places, in, out, stage.destination, error);
  else if (status == CONVOLVE_OK)
    status = take_through (inner, &places, alone, error);
  for (guint i = 0; i < work->in.n_planes && status == CONVOLVE_OK; i++)
    status = fetch_plane (inner, i, out, error);
  return status;
}

/* --- the work --- */

static void
set_pool (GstCudaConvolveWork *work, ConvolvePool *pool)
{
  Inner *inner = (Inner *) work;

  convolve_form_set_pool (inner->parts.form, pool);
  inner->parts.inside->kind->set_pool (inner->parts.inside, pool);
  if (inner->parts.opaque)
    inner->parts.opaque->kind->set_pool (inner->parts.opaque, pool);
  inner->pool = pool;
}

static void
clear (gpointer data)
{
  Inner *inner = data;

  convolve_form_free (inner->parts.form);
  gst_cuda_convolve_work_unref (inner->parts.inside);
  g_clear_pointer (&inner->parts.opaque, gst_cuda_convolve_work_unref);
  g_clear_pointer (&inner->changes, g_array_unref);
  convolve_batch_free (inner->batch); /* waits for the device */
  g_free (inner->memory);
}

static const GstCudaConvolveWorkKind kind_of_inner = {
  .size = sizeof (Inner),
  .run_on_host = run_on_host,
  .run_on_device = run_on_device,
  .set_pool = set_pool,
  .clear = clear,
};

/* One plane after the other. */
static void
place_planes (Inner *inner)
{
  const GstCudaConvolveLayout *layout = &inner->parts.inside->in;

  for (guint i = 0; i < layout->n_planes; i++) {
    inner->offsets[i] = inner->bytes;
    inner->strides[i] = (layout->planes[i].row_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    inner->bytes += inner->strides[i] * layout->planes[i].rows;
  }
}

GstCudaConvolveWork *
gst_cuda_convolve_inner_new (const GstCudaConvolveLayout *layout, const GstCudaConvolveInnerParts *parts,
    ConvolveError *error)
{
  Inner *inner = gst_cuda_convolve_work_new (&kind_of_inner, layout, layout);

  inner->parts = *parts;
  gst_cuda_convolve_work_ref (parts->inside);
  if (parts->opaque)
    gst_cuda_convolve_work_ref (parts->opaque);
  inner->work.device = parts->inside->device;
  inner->work.is_identity = parts->opaque ? parts->opaque->is_identity : parts->inside->is_identity;
  inner->work.reproducible = parts->inside->reproducible && (!parts->opaque || parts->opaque->reproducible);
  inner->work.variant = parts->opaque ? parts->opaque->variant : parts->inside->variant;
  place_planes (inner);
  if (parts->covers)
    inner->changes = g_array_new (FALSE, FALSE, sizeof (ConvolveRect));
  if (inner->work.device)
    return &inner->work;
  inner->memory = g_try_malloc (inner->bytes * (needs_second (inner) ? 2 : 1));
  if (inner->memory)
    return &inner->work;
  *error = (ConvolveError){ .status = CONVOLVE_NO_MEMORY };
  g_snprintf (error->text, sizeof (error->text), "no memory for an inner frame of %" G_GSIZE_FORMAT " bytes",
      inner->bytes);
  gst_cuda_convolve_work_unref (inner);
  return NULL;
}
