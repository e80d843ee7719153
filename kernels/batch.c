/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects the work on parts of a frame. cpu/regions/batch.c does it on the host. */
#include <stdlib.h>
#include <string.h>

#include "common/area.h"
#include "common/batch.h"
#include "common/internal.h"

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
  convolve_host_batch_clear (batch);
  free (batch->works);
  free (batch->boxes);
  free (batch->outlines);
  free (batch->corners);
  free (batch->mattes);
  free (batch);
}

void
convolve_batch_set_pool (ConvolveBatch *batch, ConvolvePool *pool)
{
  batch->pool = pool;
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

  batch->n_works = batch->n_boxes = batch->n_outlines = batch->n_corners = batch->n_mattes = 0;
  batch->has_run = false;
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

/* Effects come first, then copies, then blends. */
static int
phase_of (ConvolveWorkKind kind)
{
  return kind == CONVOLVE_WORK_BLEND ? 2 : kind == CONVOLVE_WORK_COPY ? 1 : 0;
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
  if (batch->n_works > 0 && phase_of (work->kind) < phase_of (batch->works[batch->n_works - 1].kind))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "an effect behind a copy or a blend, or a copy behind a blend");
  if (!extend ((void **) &batch->works, batch->n_works, &batch->works_room, 1, sizeof (*work)))
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu works", batch->n_works + 1);
  batch->works[batch->n_works++] = *work;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_batch_convolve (ConvolveBatch *batch, const ConvolvePlan *plan, const ConvolvePlane *plane,
    ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_CONVOLVE, .pixel = plan->pixel, .plane = *plane };

  work.plan = plan;
  if (convolve_check_part (&work.pixel, plane, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  return add (batch, &work, error);
}

ConvolveStatus
convolve_batch_blur (ConvolveBatch *batch, const ConvolvePixel *pixel, ConvolveBoundary boundary,
    const ConvolveBlur *blur, const ConvolvePlane *plane, ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_BLUR, .pixel = *pixel, .plane = *plane };

  work.blur.blur = blur;
  work.blur.boundary = boundary;
  if ((int) boundary < 0 || boundary >= CONVOLVE_N_BOUNDARIES)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d is no boundary", (int) boundary);
  if (convolve_check_part (pixel, plane, error) != CONVOLVE_OK)
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

  if (convolve_check_part (pixel, plane, error) != CONVOLVE_OK
      || convolve_check_values (pixel, values, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  memcpy (work.values, values, pixel->samples * sizeof (*values));
  return add (batch, &work, error);
}

ConvolveStatus
convolve_batch_draw (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveDrawing *drawing,
    const ConvolvePlane *plane, ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_DRAW, .pixel = *pixel, .plane = *plane };

  work.drawing = *drawing;
  if (convolve_check_part (pixel, plane, error) != CONVOLVE_OK
      || convolve_check_drawing (drawing, error) != CONVOLVE_OK)
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

static ConvolveStatus
add_mattes (ConvolveBatch *batch, const ConvolveExtras *extras, ConvolveError *error)
{
  if (!extend ((void **) &batch->mattes, batch->n_mattes, &batch->mattes_room, (size_t) extras->n_mattes,
          sizeof (*batch->mattes)))
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d mattes", extras->n_mattes);
  for (int i = 0; i < extras->n_mattes; i++) {
    const ConvolveMatte *matte = &extras->mattes[i];

    if (batch->device && matte->pixel.type == CONVOLVE_SAMPLE_U16
        && (((uintptr_t) matte->samples | (uintptr_t) matte->stride) & 1))
      return convolve_fail (error, CONVOLVE_INVALID, 0, "16-bit samples of a matte at an odd address or stride");
    batch->mattes[batch->n_mattes++] = *matte;
  }
  return CONVOLVE_OK;
}

/* Copies the polygons of an area, whose corners follow each other then. FALSE without memory. */
static bool
add_outlines (ConvolveBatch *batch, const ConvolveArea *area)
{
  if (!extend ((void **) &batch->outlines, batch->n_outlines, &batch->outlines_room, (size_t) area->count,
          sizeof (*batch->outlines)))
    return false;
  for (int i = 0; i < area->count; i++) {
    ConvolveOutline outline = area->extras->outlines[i];

    if (!extend ((void **) &batch->corners, batch->n_corners, &batch->corners_room, (size_t) outline.count,
            sizeof (*batch->corners)))
      return false;
    if (outline.count > 0)
      memcpy (batch->corners + batch->n_corners, area->extras->corners + outline.first,
          (size_t) outline.count * sizeof (*batch->corners));
    outline.first = (int) batch->n_corners;
    batch->n_corners += (size_t) outline.count;
    batch->outlines[batch->n_outlines++] = outline;
  }
  return true;
}

#define FEW_BOXES 32 /* that are compared each with each */

/*
 * Whether one pixel of the plane may have luma pixels of two boxes. Outside of boxes such a pixel counts luma pixel by luma
 * pixel, as all of them together may lie inside.
 */
static bool
share_pixels (const ConvolveArea *area)
{
  if (area->count > FEW_BOXES)
    return true;
  for (int i = 1; i < area->count; i++) {
    ConvolveRect a = convolve_box_pixels (area, area->boxes[i]);

    for (int k = 0; k < i; k++) {
      ConvolveRect b = convolve_box_pixels (area, area->boxes[k]);

      if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height)
        return true;
    }
  }
  return false;
}

/* Whether a blend has more than boxes that count one by one: polygons, mattes, or boxes outside of which chroma lies. */
static bool
find_shapes (const ConvolveWork *work, const ConvolveArea *area)
{
  return work->blend.outlined || work->blend.n_mattes > 0
      || (area->outside && area->x_step * area->y_step > 1 && share_pixels (area));
}

ConvolveStatus
convolve_batch_blend (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveArea *area,
    const ConvolvePlane *plane, ConvolveError *error)
{
  ConvolveWork work = { .kind = CONVOLVE_WORK_BLEND, .pixel = *pixel, .plane = *plane };
  ConvolveStatus status;

  if (convolve_check_blend (pixel, area, plane, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  if (!extend ((void **) &batch->boxes, batch->n_boxes, &batch->boxes_room, (size_t) area->count,
          sizeof (*batch->boxes)))
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d boxes", area->count);
  work.blend.area = *area;
  work.blend.area.boxes = NULL;
  work.blend.area.extras = NULL;
  work.blend.n_mattes = area->extras ? area->extras->n_mattes : 0;
  work.blend.first_matte = batch->n_mattes;
  if (work.blend.n_mattes > 0 && (status = add_mattes (batch, area->extras, error)) != CONVOLVE_OK)
    return status;
  work.blend.outlined = area->extras && area->extras->outlines && area->count > 0;
  work.blend.first_outline = batch->n_outlines;
  if (work.blend.outlined && !add_outlines (batch, area))
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d polygons", area->count);
  work.blend.has_shapes = batch->device && find_shapes (&work, area);
  work.blend.first_box = batch->n_boxes;
  if (area->count > 0)
    memcpy (batch->boxes + batch->n_boxes, area->boxes, (size_t) area->count * sizeof (*batch->boxes));
  batch->n_boxes += (size_t) area->count;
  return add (batch, &work, error);
}

static ConvolveStatus
run (ConvolveBatch *batch, const ConvolveMoves *moves, ConvolveError *error)
{
  ConvolveStatus status =
      batch->device ? convolve_device_batch_run (batch, moves, error) : convolve_host_batch_run (batch, moves, error);

  batch->has_run = status == CONVOLVE_OK;
  return status;
}

ConvolveStatus
convolve_batch_run (ConvolveBatch *batch, ConvolveError *error)
{
  const ConvolveMoves none = { NULL, 0 };

  batch->has_run = false;
  return run (batch, &none, error);
}

ConvolveStatus
convolve_batch_run_again (ConvolveBatch *batch, const ConvolveMove *moves, int n_moves, ConvolveError *error)
{
  const ConvolveMoves all = { moves, n_moves };

  if (!batch->has_run)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a batch that has not run cannot run again");
  return run (batch, &all, error);
}
