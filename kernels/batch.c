/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects the work on parts of a frame, and does it on the host. */
#include <stdlib.h>
#include <string.h>

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

static ConvolveRect
widen (ConvolveRect rect, int across, int down)
{
  return (ConvolveRect){ rect.x - across, rect.y - down, rect.width + 2 * across, rect.height + 2 * down };
}

ConvolveRect
convolve_shrunk_region (const ConvolvePlane *plane, int factor)
{
  const ConvolveRect *region = &plane->region;
  int left = region->x / factor, top = region->y / factor;
  int right = (region->x + region->width - 1) / factor + 1, bottom = (region->y + region->height - 1) / factor + 1;
  int margin = factor > 1 ? 1 : 0; /* for interpolation */

  return widen ((ConvolveRect){ left, top, right - left, bottom - top }, margin, margin);
}

ConvolveRect
convolve_cell_of (const ConvolvePlan *plan, ConvolveRect result)
{
  return widen (result, plan->taps.width / 2, plan->taps.height / 2);
}

/* Where pixel (0, 0) would be, if memory with rows of `stride` bytes held a rectangle of a picture. */
static void *
origin_of (void *memory, ptrdiff_t stride, const ConvolvePixel *pixel, ConvolveRect rect)
{
  return (void *) ((uintptr_t) memory - (uintptr_t) (rect.y * stride + (ptrdiff_t) rect.x * pixel->stride));
}

/*
 * Convolves the part at a smaller size, and makes the result as large as the picture again. The cell is the part of the
 * shrunk picture, with the boundary's samples written into it where it reaches beyond the picture. So the plan's own
 * boundary is of no account.
 */
static ConvolveStatus
convolve_shrunk (ConvolveBatch *batch, const ConvolveWork *work, ConvolveError *error)
{
  const ConvolvePlan *plan = work->mask.plan;
  const ConvolvePixel *pixel = &plan->pixel;
  ConvolvePixel bounded = *pixel; /* with the level outside the picture as its zero level */
  int factor = work->mask.factor;
  ConvolveRect result = convolve_shrunk_region (&work->plane, factor), cell = convolve_cell_of (plan, result);
  ptrdiff_t stride = (ptrdiff_t) cell.width * pixel->stride;
  size_t bytes = (size_t) stride * (size_t) cell.height;
  ConvolvePlane step = work->plane;
  ConvolveStatus status = make_room (&batch->shrunk, &batch->shrunk_bytes, bytes, error);

  if (status == CONVOLVE_OK)
    status = make_room (&batch->blurred, &batch->blurred_bytes, bytes, error);
  if (status != CONVOLVE_OK)
    return status;
  memcpy (bounded.zero, plan->outside_level, sizeof (bounded.zero));
  step.destination = origin_of (batch->shrunk, stride, pixel, cell);
  step.destination_stride = stride;
  step.region = cell;
  status = convolve_shrink (&bounded, plan->boundary, factor, &step, error);

  step = (ConvolvePlane){ batch->shrunk, batch->blurred, stride, stride, cell.width, cell.height,
    { result.x - cell.x, result.y - cell.y, result.width, result.height } };
  if (status == CONVOLVE_OK)
    status = convolve_run (plan, &step, error);

  step = work->plane;
  step.source = origin_of (batch->blurred, stride, pixel, cell);
  step.source_stride = stride;
  return status == CONVOLVE_OK ? convolve_grow (pixel, factor, &step, error) : status;
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
