/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame is done in two turns, on the host or on the device. First the effect of every patch is computed from the frame as it came, into memory of
 * its own. Then the patches are blended into the frame, the weakest effect first. So a frame can be changed in place,
 * and the neighbours of a pixel are those of the input, also where another box changes them.
 */
#include "regions/turns.h"

#include <string.h>

#include "regions/effects.h"

/* --- all patches --- */

typedef ConvolveStatus (*Turn) (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint group,
    ConvolveRect rect, const GstCudaConvolvePlanePair *pair, guint8 *bytes, ConvolveError *error);

/* Goes through all patches and groups, with the place of each. pairs has an element for each plane. */
static ConvolveStatus
take_turn (GstCudaConvolveRegions *regions, Turn turn, const GstCudaConvolvePlanePair *pairs, guint8 *bytes,
    ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;
  const GstCudaConvolvePlace *place = (const GstCudaConvolvePlace *) regions->places->data;
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < regions->patches.patches->len; i++)
    for (guint k = 0; k < layout->n_groups && status == CONVOLVE_OK; k++)
      if (layout->groups[k].pixel.select != 0) {
        status = turn (regions, &g_array_index (regions->patches.patches, GstCudaConvolvePatch, i), k, place->rect,
            &pairs[layout->groups[k].plane], bytes + place->offset, error);
        place++;
      }
  return status;
}

/* Copies the planes that are not changed in place, with all bytes of their rows. */
static ConvolveStatus
copy_planes (GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < regions->plans->work.in.n_planes && status == CONVOLVE_OK; i++) {
    const GstCudaConvolvePlane *shape = &regions->windows.planes[i];

    if (pairs[i].source != pairs[i].destination)
      status = convolve_batch_copy (regions->batch, pairs[i].source, pairs[i].source_stride, pairs[i].destination,
          pairs[i].destination_stride, shape->row_bytes, shape->rows, error);
  }
  return status;
}

/* Gives each patch a place in the memory of effects, for each group of samples. Returns the size of that memory in bytes. */
static gsize
find_places (GstCudaConvolveRegions *regions)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;
  gsize bytes = 0;

  g_array_set_size (regions->places, 0);
  for (guint i = 0; i < regions->patches.patches->len; i++)
    for (guint k = 0; k < layout->n_groups; k++)
      if (layout->groups[k].pixel.select != 0) {
        GstCudaConvolvePlace place = { .rect = gst_cuda_convolve_patch_in_group (regions,
                                           &g_array_index (regions->patches.patches, GstCudaConvolvePatch, i),
                                           &layout->groups[k]),
          .offset = bytes };

        g_array_append_val (regions->places, place);
        bytes += gst_cuda_convolve_patch_bytes (&layout->groups[k], place.rect);
      }
  return bytes;
}

/* Finds the windows of each group. */
static void
find_windows (GstCudaConvolveRegions *regions)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;

  for (guint k = 0; k < layout->n_groups; k++) {
    const GstCudaConvolveGroup *group = &layout->groups[k];

    g_array_set_size (regions->windows_of[k], 0);
    for (guint i = 0; i < gst_cuda_convolve_windows_count (&regions->windows, group); i++) {
      GstCudaConvolveWindow window = gst_cuda_convolve_windows_get (&regions->windows, group, i);

      g_array_append_val (regions->windows_of[k], window);
    }
  }
}

/* The rows of the plane with alpha that are copied before the effects are drawn: those of an alpha that changes in place. */
static gsize
count_alpha_rows (const GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs)
{
  const GstCudaConvolveGroup *group = &regions->plans->work.in.groups[regions->alpha_group];

  if (!(regions->properties->region.sources & CONVOLVE_REGION_SOURCE_ALPHA) || !regions->has_alpha
      || !(group->pixel.select >> regions->alpha_sample & 1)
      || pairs[group->plane].source != pairs[group->plane].destination)
    return 0;
  return regions->windows.planes[group->plane].rows;
}

/* Sets the matte of the frame's alpha, and enqueues a copy to the batch's memory from `at` on where the alpha is to change. */
static ConvolveStatus
take_alpha (GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, guint8 *memory, gsize at,
    ConvolveError *error)
{
  const GstCudaConvolveGroup *group = &regions->plans->work.in.groups[regions->alpha_group];
  const GstCudaConvolvePlanePair *pair = &pairs[group->plane];
  gsize rows = count_alpha_rows (regions, pairs), row_bytes = regions->windows.planes[group->plane].row_bytes;
  guint8 *copy = rows > 0 ? memory + at : NULL;

  regions->mattes[1] = (ConvolveMatte){ .samples = (copy ? copy : (const guint8 *) pair->source) + group->offset,
    .stride = copy ? (gssize) row_bytes : pair->source_stride,
    .width = group->width,
    .height = group->height,
    .pixel = group->pixel,
    .sample = regions->alpha_sample };
  if (!copy)
    return CONVOLVE_OK;
  return convolve_batch_copy (regions->batch, pair->source, pair->source_stride, copy, row_bytes, row_bytes, rows,
      error);
}

/* Makes the copy of memory on the work's device, where it has one and there is no copy yet. */
static ConvolveStatus
copy_to_device (GstCudaConvolveRegions *regions, gpointer *copy, gconstpointer memory, gsize bytes,
    ConvolveError *error)
{
  if (!regions->work.device || *copy)
    return CONVOLVE_OK;
  *copy = convolve_device_alloc (regions->work.device, bytes, error);
  if (!*copy)
    return error->status;
  return convolve_device_copy (regions->work.device, *copy, memory, bytes, CONVOLVE_COPY_TO_DEVICE, error);
}

/* Uploads the smoothed weights, which differ from frame to frame, to a stage of the frame's own. */
static ConvolveStatus
upload_smooth (GstCudaConvolveRegions *regions, ConvolveMatte *matte, ConvolveError *error)
{
  ConvolveDevice *device = regions->work.device;
  ConvolveRows rows = { .count = matte->height,
    .row_bytes = matte->width,
    .host = (void *) matte->samples,
    .host_stride = matte->width };
  ConvolveStage stage;
  ConvolveStatus status =
      convolve_device_stage (device, GST_VIDEO_MAX_PLANES, matte->width, matte->height, &stage, error);

  if (status != CONVOLVE_OK)
    return status;
  matte->samples = stage.source;
  matte->stride = stage.stride;
  return convolve_device_upload (device, GST_VIDEO_MAX_PLANES, &rows, error);
}

/* Sets the matte of the picture, or of the smoothed weights, which have the picture's. */
static ConvolveStatus
place_mask (GstCudaConvolveRegions *regions, ConvolveError *error)
{
  gint width = regions->picture.width, height = regions->picture.height;
  const guint8 *plane = regions->is_smooth ? gst_cuda_convolve_smooth_plane (regions->smooth) : regions->mask_plane;
  ConvolveStatus status;

  regions->mattes[0] = gst_cuda_convolve_matte_of_plane (plane, width, height);
  if (!regions->work.device)
    return CONVOLVE_OK;
  if (regions->is_smooth)
    return upload_smooth (regions, &regions->mattes[0], error);
  status = copy_to_device (regions, &regions->mask_on_device, plane, (gsize) width * height, error);
  regions->mattes[0].samples = regions->mask_on_device;
  return status;
}

static ConvolveStatus
run_once (GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, ConvolveError *error)
{
  const GstCudaConvolveGroup *alpha = &regions->plans->work.in.groups[regions->alpha_group];
  gsize of_effects = find_places (regions);
  gsize of_alpha = count_alpha_rows (regions, pairs) * regions->windows.planes[alpha->plane].row_bytes;
  void *bytes;
  ConvolveStatus status = convolve_batch_begin (regions->batch, of_effects + of_alpha, &bytes, error);

  if (status == CONVOLVE_OK && regions->filling.values)
    status = copy_to_device (regions, &regions->filling.on_device, regions->filling.values,
        regions->filling.n_values * sizeof (*regions->filling.values), error);
  find_windows (regions);
  if (status == CONVOLVE_OK)
    status = take_turn (regions, gst_cuda_convolve_compute_patch, pairs, bytes, error);
  if (status == CONVOLVE_OK && (regions->mask || regions->is_smooth))
    status = place_mask (regions, error);
  if (status == CONVOLVE_OK && regions->has_alpha)
    status = take_alpha (regions, pairs, bytes, of_effects, error);
  if (status == CONVOLVE_OK)
    status = copy_planes (regions, pairs, error);
  if (status == CONVOLVE_OK)
    status = take_turn (regions, gst_cuda_convolve_blend_patch, pairs, bytes, error);
  return status == CONVOLVE_OK ? convolve_batch_run (regions->batch, error) : status;
}

/* --- frames with the boxes of the frame before --- */

/*
 * Adds where a plane is now. FALSE where the plane overlaps another one that moved by another distance, and where samples of two
 * bytes would be aligned otherwise.
 */
static gboolean
add_move (ConvolveMove *moves, guint *n, gconstpointer from, gconstpointer to, gsize bytes)
{
  gsize start = GPOINTER_TO_SIZE (from), distance = GPOINTER_TO_SIZE (to) - start;

  if (distance % 2 != 0)
    return FALSE;
  for (guint i = 0; i < *n; i++) {
    gsize other = GPOINTER_TO_SIZE (moves[i].from);

    if (start < other + moves[i].bytes && other < start + bytes && GPOINTER_TO_SIZE (moves[i].to) - other != distance)
      return FALSE;
  }
  moves[(*n)++] = (ConvolveMove){ from, to, bytes };
  return TRUE;
}

/* Finds where the planes are that the batch's work is for. FALSE where they are of another kind. */
static gboolean
find_moves (const GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, ConvolveMove *moves, guint *n)
{
  *n = 0;
  for (guint i = 0; i < regions->plans->work.in.n_planes; i++) {
    const GstCudaConvolvePlanePair *now = &pairs[i], *then = &regions->kept.pairs[i];
    gsize rows = regions->windows.planes[i].rows;

    if (now->source_stride != then->source_stride || now->destination_stride != then->destination_stride
        || now->source_stride <= 0 || now->destination_stride <= 0
        || (now->source == now->destination) != (then->source == then->destination)
        || !add_move (moves, n, then->source, now->source, rows * now->source_stride))
      return FALSE;
    if (now->source != now->destination
        && !add_move (moves, n, then->destination, now->destination, rows * now->destination_stride))
      return FALSE;
  }
  return TRUE;
}

/* Whether a frame can be done by the work that the batch holds. Noise and alpha differ from frame to frame. */
static gboolean
can_run_again (const GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, ConvolveMove *moves,
    guint *n)
{
  const ConvolveRegionSettings *settings = &regions->properties->region;

  return regions->kept.is_valid && regions->plans->iterations == 1
      && settings->effect != CONVOLVE_REGION_EFFECT_NOISE_PIXELATE
      && !(settings->sources & CONVOLVE_REGION_SOURCE_ALPHA)
      && memcmp (&regions->kept.windows, &regions->windows, sizeof (regions->windows)) == 0
      && find_moves (regions, pairs, moves, n);
}

static void
keep (GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, ConvolveStatus status)
{
  regions->kept.is_valid = status == CONVOLVE_OK;
  regions->kept.windows = regions->windows;
  memcpy (regions->kept.pairs, pairs, sizeof (regions->kept.pairs));
}

/* All iterations: the second one and those that follow are done in place. A frame with the boxes of the frame before needs no new work. */
static ConvolveStatus
run_pairs (GstCudaConvolveRegions *regions, GstCudaConvolvePlanePair *pairs, ConvolveError *error)
{
  ConvolveMove moves[2 * GST_VIDEO_MAX_PLANES];
  ConvolveStatus status = CONVOLVE_OK;
  guint n_moves;

  if (!regions->batch) {
    regions->batch = convolve_batch_new (regions->work.device, error);
    if (!regions->batch)
      return error->status;
    convolve_batch_set_pool (regions->batch, regions->pool);
  }
  if (can_run_again (regions, pairs, moves, &n_moves)) {
    status = convolve_batch_run_again (regions->batch, moves, (gint) n_moves, error);
    regions->kept.is_valid = status == CONVOLVE_OK;
    return status;
  }
  for (guint i = 0; i < regions->plans->iterations && status == CONVOLVE_OK; i++) {
    status = run_once (regions, pairs, error);
    keep (regions, pairs, status);
    for (guint k = 0; k < regions->plans->work.in.n_planes; k++) {
      pairs[k].source = pairs[k].destination;
      pairs[k].source_stride = pairs[k].destination_stride;
    }
  }
  return status;
}

static void
init_windows (GstCudaConvolveRegions *regions, const GstCudaConvolveFrame *in, const GstCudaConvolveFrame *out)
{
  GstCudaConvolveWindows *windows = &regions->windows;

  gst_cuda_convolve_windows_init (windows, &regions->plans->work.in, regions->plans->field_mode, in, out);
  /* A crop does not limit the regions: a sink that overlooks the crop would show what is to be hidden. */
  windows->crop_x = windows->picture_x;
  windows->crop_y = windows->picture_y;
}

ConvolveStatus
gst_cuda_convolve_regions_run_on_host (GstCudaConvolveWork *work, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out,
    ConvolveError *error)
{
  GstCudaConvolveRegions *regions = (GstCudaConvolveRegions *) work;
  GstCudaConvolvePlanePair pairs[GST_VIDEO_MAX_PLANES] = { 0 };

  init_windows (regions, in, out);
  for (guint i = 0; i < work->in.n_planes; i++)
    pairs[i] = (GstCudaConvolvePlanePair){
      .source = GST_VIDEO_FRAME_PLANE_DATA (&in->video, i),
      .destination = GST_VIDEO_FRAME_PLANE_DATA (&out->video, i),
      .source_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&in->video, i),
      .destination_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&out->video, i),
    };
  return run_pairs (regions, pairs, error);
}

/* --- on the device --- */

/* Finds where the plane is on the device, and enqueues its upload where it is on the host. */
static ConvolveStatus
place_plane (GstCudaConvolveRegions *regions, guint number, const GstCudaConvolveFrame *in,
    const GstCudaConvolveFrame *out, GstCudaConvolvePlanePair *pair, ConvolveError *error)
{
  const GstCudaConvolvePlane *shape = &regions->windows.planes[number];
  ConvolveStage stage = { 0 };
  ConvolveStatus status = CONVOLVE_OK;

  if (!in->on_device || !out->on_device)
    status = convolve_device_stage (regions->work.device, number, shape->row_bytes, shape->rows, &stage, error);
  pair->source = gst_cuda_convolve_first_row (shape, in, number, stage.source, stage.stride, &pair->source_stride);
  pair->destination =
      gst_cuda_convolve_first_row (shape, out, number, stage.destination, stage.stride, &pair->destination_stride);
  if (status == CONVOLVE_OK && !in->on_device) {
    ConvolveRows rows = gst_cuda_convolve_host_rows (shape, &in->video, number, 0, shape->rows);

    status = gst_cuda_convolve_upload (regions->work.device, in, number, &rows, error);
  }
  return status;
}

static ConvolveStatus
fetch_plane (GstCudaConvolveRegions *regions, guint number, const GstCudaConvolveFrame *out, ConvolveError *error)
{
  const GstCudaConvolvePlane *shape = &regions->windows.planes[number];
  ConvolveRows rows;

  if (out->on_device)
    return CONVOLVE_OK;
  rows = gst_cuda_convolve_host_rows (shape, &out->video, number, 0, shape->rows);
  return gst_cuda_convolve_download (regions->work.device, out, number, &rows, error);
}

ConvolveStatus
gst_cuda_convolve_regions_run_on_device (GstCudaConvolveWork *work, gboolean alone, GstCudaConvolveFrame *in,
    GstCudaConvolveFrame *out, ConvolveError *error)
{
  GstCudaConvolveRegions *regions = (GstCudaConvolveRegions *) work;
  guint n_planes = work->in.n_planes;
  GstCudaConvolvePlanePair pairs[GST_VIDEO_MAX_PLANES] = { 0 };
  ConvolveStatus status = CONVOLVE_OK;

  init_windows (regions, in, out);
  for (guint i = 0; i < n_planes && status == CONVOLVE_OK; i++)
    status = place_plane (regions, i, in, out, &pairs[i], error);
  if (status == CONVOLVE_OK)
    status = run_pairs (regions, pairs, error);
  for (guint i = 0; i < n_planes && status == CONVOLVE_OK; i++)
    status = fetch_plane (regions, i, out, error);
  return status;
}
