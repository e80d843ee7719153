/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the arguments of the public functions are in their documented ranges. */
#include "common/batch.h"
#include "common/internal.h"

#define MAX_EXTENT (1 << 28) /* pixels along a side: index arithmetic on twice as many stays in an int */

ConvolveStatus
convolve_check_pixel (const ConvolvePixel *pixel, ConvolveError *error)
{
  bool bytes = pixel->type == CONVOLVE_SAMPLE_U8;

  if (pixel->type != CONVOLVE_SAMPLE_U8 && pixel->type != CONVOLVE_SAMPLE_U16)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d is no sample type", (int) pixel->type);
  if (bytes ? pixel->depth != 8 : pixel->depth < 9 || pixel->depth > 16)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d significant bits in a sample of %d", pixel->depth,
        bytes ? 8 : 16);
  if (pixel->shift < 0 || pixel->shift > (bytes ? 0 : 16 - pixel->depth))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a shift of %d for %d bits", pixel->shift, pixel->depth);
  if (bytes && pixel->swapped)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "samples of 8 bits have no byte order");
  if (pixel->samples < 1 || pixel->samples > CONVOLVE_MAX_SAMPLES)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d samples in a pixel: there are 1 to %d", pixel->samples,
        CONVOLVE_MAX_SAMPLES);
  if (pixel->stride < pixel->samples * convolve_sample_size (pixel->type) || (!bytes && pixel->stride % 2))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d bytes from pixel to pixel for %d samples of %d",
        pixel->stride, pixel->samples, convolve_sample_size (pixel->type));
  if (pixel->select >> pixel->samples || pixel->biased >> pixel->samples)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "select or biased names a sample that the pixel has not");
  for (int i = 0; i < pixel->samples; i++)
    if (pixel->zero[i] < 0 || pixel->zero[i] >= 1 << pixel->depth)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "a zero level of %d in %d bits", pixel->zero[i], pixel->depth);
  for (int i = 0; i < pixel->samples; i++)
    if (pixel->outside[i] < 0 || pixel->outside[i] >= 1 << pixel->depth)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "an outside level of %d in %d bits", pixel->outside[i],
          pixel->depth);
  for (int i = 0; i < pixel->samples; i++)
    if (pixel->range[i] < 0 || pixel->range[i] >= 1 << pixel->depth)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "a range of %d code values in %d bits", pixel->range[i],
          pixel->depth);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_check_plane (const ConvolvePixel *pixel, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  int64_t row, written;
  uint64_t source_extent, destination_extent;

  if (!plane->source || !plane->destination)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a plane without memory");
  if (plane->width < 1 || plane->height < 1 || plane->width > MAX_EXTENT || plane->height > MAX_EXTENT)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a plane of %dx%d pixels", plane->width, plane->height);
  if (region->x < 0 || region->y < 0 || region->width < 1 || region->height < 1
      || region->width > plane->width - region->x || region->height > plane->height - region->y)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a region of %dx%d at %d,%d in a plane of %dx%d", region->width,
        region->height, region->x, region->y, plane->width, plane->height);
  row = (int64_t) (plane->width - 1) * pixel->stride + pixel->samples * convolve_sample_size (pixel->type);
  written = row - (int64_t) (plane->width - region->width) * pixel->stride;
  if (row > INT32_MAX)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "rows of %lld bytes", (long long) row);
  source_extent = destination_extent = (uint64_t) row;
  if ((plane->height > 1 && convolve_stride_magnitude (plane->source_stride) < (uint64_t) row)
      || (region->height > 1 && convolve_stride_magnitude (plane->destination_stride) < (uint64_t) written)
      || !convolve_extend (&source_extent, plane->source_stride, plane->height - 1)
      || !convolve_extend (&destination_extent, plane->destination_stride, region->y + region->height - 1))
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "strides of %td and %td for rows of %lld bytes, of which %lld are written", plane->source_stride,
        plane->destination_stride, (long long) row, (long long) written);
  return CONVOLVE_OK;
}

/* --- parts of a picture --- */

static bool
is_step (int step)
{
  return step == 1 || step == 2 || step == 4;
}

ConvolveStatus
convolve_check_part (const ConvolvePixel *pixel, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_check_pixel (pixel, error) == CONVOLVE_OK ? convolve_check_plane (pixel, plane, error)
                                                            : CONVOLVE_INVALID;
}

/* Whether the polygons' corners are in the list, and in the polygons' boxes. */
static ConvolveStatus
check_outlines (const ConvolveArea *area, const ConvolveExtras *extras, ConvolveError *error)
{
  for (int i = 0; i < area->count && extras->outlines; i++) {
    ConvolveOutline outline = extras->outlines[i];
    ConvolveRect box = area->boxes[i];
    int64_t left = (int64_t) box.x * CONVOLVE_POINTS, top = (int64_t) box.y * CONVOLVE_POINTS;
    int64_t right = left + (int64_t) box.width * CONVOLVE_POINTS, bottom = top + (int64_t) box.height * CONVOLVE_POINTS;

    if (outline.count == 0)
      continue;
    if (outline.count < 3 || outline.count > CONVOLVE_MAX_CORNERS || outline.first < 0
        || outline.first > extras->n_corners - outline.count || outline.margin < 0)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "polygon %d has %d of %d corners, from %d on, and margin %d", i,
          outline.count, extras->n_corners, outline.first, outline.margin);
    for (int k = 0; k < outline.count; k++) {
      ConvolvePoint corner = extras->corners[outline.first + k];

      if (corner.x - (int64_t) outline.margin < left || corner.x + (int64_t) outline.margin > right
          || corner.y - (int64_t) outline.margin < top || corner.y + (int64_t) outline.margin > bottom)
        return convolve_fail (error, CONVOLVE_INVALID, 0, "corner %d of polygon %d, or its margin, is not in its box",
            k, i);
    }
  }
  return CONVOLVE_OK;
}

static ConvolveStatus
check_mattes (const ConvolveExtras *extras, ConvolveError *error)
{
  if (extras->n_mattes < 0 || extras->n_mattes > CONVOLVE_MAX_MATTES)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "an area of %d mattes", extras->n_mattes);
  for (int i = 0; i < extras->n_mattes; i++) {
    const ConvolveMatte *matte = &extras->mattes[i];

    if (!matte->samples || matte->width < 1 || matte->height < 1 || matte->width > MAX_EXTENT
        || matte->height > MAX_EXTENT || matte->sample < 0 || matte->sample >= matte->pixel.samples)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "a matte of %dx%d pixels, and sample %d of %d", matte->width,
          matte->height, matte->sample, matte->pixel.samples);
    if (convolve_check_pixel (&matte->pixel, error) != CONVOLVE_OK)
      return CONVOLVE_INVALID;
  }
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_check_area (const ConvolveArea *area, ConvolveError *error)
{
  if ((int) area->shape < 0 || area->shape >= CONVOLVE_N_SHAPES || !is_step (area->x_step) || !is_step (area->y_step)
      || area->feather < 0 || area->feather > CONVOLVE_MAX_FEATHER || area->count < 0
      || area->transparency > CONVOLVE_WHOLE_WEIGHT)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "an area of shape %d with feather %d, transparency %d, steps %dx%d and %d boxes", (int) area->shape,
        area->feather, area->transparency, area->x_step, area->y_step, area->count);
  for (int i = 0; i < area->count; i++) {
    ConvolveRect box = area->boxes[i];

    if (box.width < 1 || box.height < 1 || box.width > CONVOLVE_MAX_BOX || box.height > CONVOLVE_MAX_BOX
        || box.x < -CONVOLVE_MAX_BOX || box.x > CONVOLVE_MAX_BOX || box.y < -CONVOLVE_MAX_BOX
        || box.y > CONVOLVE_MAX_BOX)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "box %d is %dx%d at %d,%d", i, box.width, box.height, box.x,
          box.y);
  }
  if (area->extras && check_mattes (area->extras, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  return area->extras ? check_outlines (area, area->extras, error) : CONVOLVE_OK;
}

ConvolveStatus
convolve_check_blend (const ConvolvePixel *pixel, const ConvolveArea *area, const ConvolvePlane *plane,
    ConvolveError *error)
{
  ConvolvePlane turned = *plane;

  /* The source may have short rows, and the destination is the picture: the reverse of what is checked. */
  turned.destination_stride = plane->source_stride;
  turned.source_stride = plane->destination_stride;
  return convolve_check_part (pixel, &turned, error) == CONVOLVE_OK ? convolve_check_area (area, error)
                                                                    : CONVOLVE_INVALID;
}

ConvolveStatus
convolve_check_values (const ConvolvePixel *pixel, const int *values, ConvolveError *error)
{
  for (int k = 0; k < pixel->samples; k++)
    if ((pixel->select >> k & 1) && (values[k] < 0 || values[k] >= 1 << pixel->depth))
      return convolve_fail (error, CONVOLVE_INVALID, 0, "a value of %d in %d bits", values[k], pixel->depth);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_check_drawing (const ConvolveDrawing *drawing, ConvolveError *error)
{
  if (!drawing->values || drawing->width < 1 || drawing->height < 1 || drawing->width > MAX_EXTENT
      || drawing->height > MAX_EXTENT || drawing->x < -CONVOLVE_MAX_PLACE || drawing->x > CONVOLVE_MAX_PLACE
      || drawing->y < -CONVOLVE_MAX_PLACE || drawing->y > CONVOLVE_MAX_PLACE || drawing->across < 1
      || drawing->across > CONVOLVE_MAX_PITCH || drawing->down < 1 || drawing->down > CONVOLVE_MAX_PITCH)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a drawing of %dx%d pixels", drawing->width, drawing->height);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_check_blocks (const ConvolveBlocks *blocks, ConvolveError *error)
{
  if (blocks->size < 1 || blocks->size > CONVOLVE_MAX_BOX || blocks->x < -CONVOLVE_MAX_BOX
      || blocks->x > CONVOLVE_MAX_BOX || blocks->y < -CONVOLVE_MAX_BOX || blocks->y > CONVOLVE_MAX_BOX
      || !is_step (blocks->x_step) || !is_step (blocks->y_step))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "blocks of %d at %d,%d with steps %dx%d", blocks->size, blocks->x,
        blocks->y, blocks->x_step, blocks->y_step);
  return CONVOLVE_OK;
}
