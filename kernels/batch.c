/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects the work on parts of a frame, and does it on the host. */
#include <stdlib.h>
#include <string.h>

#include "common/area.h"
#include "common/batch.h"
#include "common/plan.h"

ConvolveBatch *
convolve_batch_new (ConvolveDevice *device, ConvolveError *error)
{
  ConvolveBatch *batch = calloc (1, sizeof (*batch));

  if (!batch)
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a batch");
  else
    batch->device = device;
  return batch;
}

void
convolve_batch_free (ConvolveBatch *batch)
{
  if (!batch)
    return;
  if (batch->device)
    convolve_device_batch_clear (batch);
  else
    free (batch->memory);
  free (batch->works);
  free (batch->boxes);
  free (batch->shrunk);
  free (batch->blurred);
  free (batch);
}

/* Makes room for `bytes` bytes, a multiple of 256 bytes. What the memory held is lost. */
static ConvolveStatus
make_room (void **memory, size_t *room, size_t bytes, ConvolveError *error)
{
  if (bytes <= *room)
    return CONVOLVE_OK;
  free (*memory);
  bytes = (bytes + 255) / 256 * 256;
  *memory = aligned_alloc (256, bytes);
  *room = *memory ? bytes : 0;
  return *memory ? CONVOLVE_OK
                 : convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu bytes of regions", bytes);
}

ConvolveStatus
convolve_batch_begin (ConvolveBatch *batch, size_t bytes, void **memory, ConvolveError *error)
{
  ConvolveStatus status;

  batch->n_works = batch->n_boxes = 0;
  status = batch->device ? convolve_device_batch_begin (batch, bytes, error)
                         : make_room (&batch->memory, &batch->bytes, bytes, error);
  *memory = batch->memory;
  return status;
}

/* --- collecting --- */

/* Room for one more element at the end of a list. */
static bool
extend (void **list, size_t count, size_t *room, size_t more, size_t size)
{
  size_t wanted = count + more, larger = 2 * wanted;
  void *moved;

  if (wanted <= *room)
    return true;
  moved = realloc (*list, larger * size);
  if (!moved)
    return false;
  *list = moved;
  *room = larger;
  return true;
}

static ConvolveStatus
add (ConvolveBatch *batch, const ConvolveWork *work, ConvolveError *error)
{
  const ConvolvePlane *plane = &work->plane;

  if (batch->device && work->kind != CONVOLVE_WORK_COPY && work->pixel.type == CONVOLVE_SAMPLE_U16
      && (((uintptr_t) plane->source | (uintptr_t) plane->destination | (uintptr_t) plane->source_stride
              | (uintptr_t) plane->destination_stride)
          & 1))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "16-bit samples at an odd address or stride");
  if (work->kind < CONVOLVE_WORK_COPY && batch->n_works > 0
      && batch->works[batch->n_works - 1].kind >= CONVOLVE_WORK_COPY)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "an effect behind a copy or a blend");
  if (!extend ((void **) &batch->works, batch->n_works, &batch->works_room, 1, sizeof (*work)))
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu works", batch->n_works + 1);
  batch->works[batch->n_works++] = *work;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_batch_convolve (ConvolveBatch *batch, const ConvolvePlan *plan, int factor, const ConvolvePlane *plane,
    ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_CONVOLVE, .pixel = plan->pixel, .plane = *plane };

  work.mask.plan = plan;
  work.mask.factor = factor;
  if (factor < 1 || factor > CONVOLVE_MAX_FACTOR || (factor & (factor - 1)))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a factor of %d", factor);
  if (convolve_check_part (&work.pixel, plane, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  return add (batch, &work, error);
}

ConvolveStatus
convolve_batch_pixelate (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveBlocks *blocks,
    const ConvolvePlane *plane, ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_PIXELATE, .pixel = *pixel, .plane = *plane };

  work.blocks = *blocks;
  if (convolve_check_part (pixel, plane, error) != CONVOLVE_OK || convolve_check_blocks (blocks, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  return add (batch, &work, error);
}

ConvolveStatus
convolve_batch_fill (ConvolveBatch *batch, const ConvolvePixel *pixel, const int *values, const ConvolvePlane *plane,
    ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_FILL, .pixel = *pixel, .plane = *plane };

  memcpy (work.values, values, sizeof (work.values));
  if (convolve_check_part (pixel, plane, error) != CONVOLVE_OK
      || convolve_check_values (pixel, values, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  return add (batch, &work, error);
}

ConvolveStatus
convolve_batch_copy (ConvolveBatch *batch, const void *source, ptrdiff_t source_stride, void *destination,
    ptrdiff_t destination_stride, size_t row_bytes, int rows, ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_COPY,
    .plane = { .source = source,
        .destination = destination,
        .source_stride = source_stride,
        .destination_stride = destination_stride,
        .height = rows } };

  work.row_bytes = row_bytes;
  if (!source || !destination || rows < 1 || row_bytes == 0)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a copy of %d rows of %zu bytes", rows, row_bytes);
  return add (batch, &work, error);
}

ConvolveStatus
convolve_batch_blend (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveArea *area,
    const ConvolvePlane *plane, ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_BLEND, .pixel = *pixel, .plane = *plane };

  if (convolve_check_blend (pixel, area, plane, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  if (!extend ((void **) &batch->boxes, batch->n_boxes, &batch->boxes_room, (size_t) area->count,
          sizeof (*batch->boxes)))
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d boxes", area->count);
  work.blend.area = *area;
  work.blend.area.boxes = NULL;
  work.blend.first_box = batch->n_boxes;
  if (area->count > 0)
    memcpy (batch->boxes + batch->n_boxes, area->boxes, (size_t) area->count * sizeof (*batch->boxes));
  batch->n_boxes += (size_t) area->count;
  return add (batch, &work, error);
}

/* --- on the host --- */

/* A rectangle with a margin, as far as it lies in a picture of width x height pixels. */
static ConvolveRect
widen (ConvolveRect rect, int across, int down, int width, int height)
{
  int left = convolve_larger (rect.x - across, 0), top = convolve_larger (rect.y - down, 0);
  int right = convolve_clamp (rect.x + rect.width + across, 0, width);
  int bottom = convolve_clamp (rect.y + rect.height + down, 0, height);

  return (ConvolveRect){ left, top, right - left, bottom - top };
}

ConvolveRect
convolve_shrunk_region (const ConvolvePlane *plane, int factor)
{
  const ConvolveRect *region = &plane->region;
  int left = region->x / factor, top = region->y / factor;
  int right = (region->x + region->width - 1) / factor + 1, bottom = (region->y + region->height - 1) / factor + 1;
  ConvolveRect rect = { left, top, right - left, bottom - top };

  return widen (rect, 1, 1, (plane->width + factor - 1) / factor, (plane->height + factor - 1) / factor);
}

/* Convolves the picture at a smaller size, and makes the result as large as the picture again. */
static ConvolveStatus
convolve_shrunk (ConvolveBatch *batch, const ConvolveWork *work, ConvolveError *error)
{
  const ConvolvePlan *plan = work->mask.plan;
  const ConvolvePlane *plane = &work->plane;
  int factor = work->mask.factor;
  int width = (plane->width + factor - 1) / factor, height = (plane->height + factor - 1) / factor;
  /* Under the boundary wrap the opposite edge is a neighbour, so that the whole picture is needed. */
  bool whole = plan->boundary == CONVOLVE_BOUNDARY_WRAP;
  ptrdiff_t stride = (ptrdiff_t) width * work->pixel.stride;
  ConvolveRect needed = convolve_shrunk_region (plane, factor);
  ConvolvePlane small = *plane;
  ConvolveStatus status = make_room (&batch->shrunk, &batch->shrunk_bytes, (size_t) (stride * height), error);

  if (status == CONVOLVE_OK)
    status = make_room (&batch->blurred, &batch->blurred_bytes, (size_t) (stride * height), error);
  if (status != CONVOLVE_OK)
    return status;
  small.destination = batch->shrunk;
  small.destination_stride = stride;
  small.region = whole ? (ConvolveRect){ 0, 0, width, height }
                       : widen (needed, plan->taps.width, plan->taps.height, width, height);
  status = convolve_shrink (&work->pixel, factor, &small, error);

  small.source = batch->shrunk;
  small.source_stride = stride;
  small.destination = batch->blurred;
  small.width = width;
  small.height = height;
  small.region = needed;
  if (status == CONVOLVE_OK)
    status = convolve_run (plan, &small, error);

  small = *plane;
  small.source = batch->blurred;
  small.source_stride = stride;
  return status == CONVOLVE_OK ? convolve_grow (&work->pixel, factor, &small, error) : status;
}

static ConvolveStatus
copy (const ConvolveWork *work)
{
  const ConvolvePlane *plane = &work->plane;

  for (int y = 0; y < plane->height; y++)
    memcpy ((uint8_t *) plane->destination + y * plane->destination_stride,
        (const uint8_t *) plane->source + y * plane->source_stride, work->row_bytes);
  return CONVOLVE_OK;
}

static ConvolveStatus
run_work (ConvolveBatch *batch, const ConvolveWork *work, ConvolveError *error)
{
  ConvolveArea area;

  switch (work->kind) {
    case CONVOLVE_WORK_CONVOLVE:
      return work->mask.factor == 1 ? convolve_run (work->mask.plan, &work->plane, error)
                                    : convolve_shrunk (batch, work, error);
    case CONVOLVE_WORK_PIXELATE:
      return convolve_pixelate (&work->pixel, &work->blocks, &work->plane, error);
    case CONVOLVE_WORK_FILL:
      return convolve_fill (&work->pixel, work->values, &work->plane, error);
    case CONVOLVE_WORK_COPY:
      return copy (work);
    case CONVOLVE_WORK_BLEND:
      area = convolve_batch_area (batch, work);
      return convolve_blend (&work->pixel, &area, &work->plane, error);
  }
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_host_batch_run (ConvolveBatch *batch, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  for (size_t i = 0; i < batch->n_works && status == CONVOLVE_OK; i++)
    status = run_work (batch, &batch->works[i], error);
  return status;
}

ConvolveStatus
convolve_batch_run (ConvolveBatch *batch, ConvolveError *error)
{
  return batch->device ? convolve_device_batch_run (batch, error) : convolve_host_batch_run (batch, error);
}
