/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the arguments of the public functions are in their documented ranges. */
#include "common/plan.h"

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
