/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of a picture on the CPU: blending, and the effects beside the convolution. Every function goes row by row
 * through the plane's region.
 */
#include <stdlib.h>
#include <string.h>

#include "common/area.h"
#include "common/batch.h"
#include "common/plan.h"
#include "common/sample.h"

/* Both functions add integers, because the plane's first pixel may lie outside the memory. */
static const uint8_t *
source_at (const ConvolvePixel *pixel, const ConvolvePlane *plane, int x, int y)
{
  return (const uint8_t *) ((uintptr_t) plane->source
      + (uintptr_t) (y * plane->source_stride + (ptrdiff_t) x * pixel->stride));
}

static uint8_t *
destination_at (const ConvolvePixel *pixel, const ConvolvePlane *plane, int x, int y)
{
  return (uint8_t *) ((uintptr_t) plane->destination
      + (uintptr_t) (y * plane->destination_stride + (ptrdiff_t) x * pixel->stride));
}

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

/* --- weights --- */

ConvolveStatus
convolve_check_area (const ConvolveArea *area, ConvolveError *error)
{
  if ((int) area->shape < 0 || area->shape >= CONVOLVE_N_SHAPES || !is_step (area->x_step) || !is_step (area->y_step)
      || area->feather < 0 || area->feather > CONVOLVE_MAX_FEATHER || area->count < 0)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "an area of shape %d with feather %d, steps %dx%d and %d boxes",
        (int) area->shape, area->feather, area->x_step, area->y_step, area->count);
  for (int i = 0; i < area->count; i++) {
    ConvolveRect box = area->boxes[i];

    if (box.width < 1 || box.height < 1 || box.width > CONVOLVE_MAX_BOX || box.height > CONVOLVE_MAX_BOX
        || abs (box.x) > CONVOLVE_MAX_BOX || abs (box.y) > CONVOLVE_MAX_BOX)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "box %d is %dx%d at %d,%d", i, box.width, box.height, box.x,
          box.y);
  }
  return CONVOLVE_OK;
}

int
convolve_area_weight (const ConvolveArea *area, int x, int y)
{
  int most = 0;

  for (int i = 0; i < area->count && most < CONVOLVE_WHOLE_WEIGHT; i++)
    most = convolve_larger (most, convolve_box_weight (area, area->boxes[i], x, y));
  return area->outside ? CONVOLVE_WHOLE_WEIGHT - most : most;
}

/* Raises one weight. TRUE where the weight is the whole then. */
static bool
raise (uint16_t *weight, int by)
{
  if (*weight < by)
    *weight = (uint16_t) by;
  return by == CONVOLVE_WHOLE_WEIGHT;
}

/*
 * Raises the weights of the pixels x .. x + count - 1 of row y to those that one box gives. Shapes are convex: between
 * two pixels with the whole weight all others have that, too, so that only the soft edges are computed.
 */
static void
add_box (const ConvolveArea *area, ConvolveRect box, int x, int y, int count, uint16_t *weights)
{
  int margin = area->feather;
  int first, end;

  if ((y + 1) * area->y_step <= box.y - margin || y * area->y_step >= box.y + box.height + margin)
    return;
  first = convolve_clamp (convolve_floor_div (box.x - margin, area->x_step), x, x + count);
  end = convolve_clamp (convolve_floor_div (box.x + box.width + margin - 1, area->x_step) + 1, x, x + count);
  while (first < end && !raise (&weights[first - x], convolve_box_weight (area, box, first, y)))
    first++;
  while (end > first && !raise (&weights[end - 1 - x], convolve_box_weight (area, box, end - 1, y)))
    end--;
  for (; first < end; first++)
    weights[first - x] = CONVOLVE_WHOLE_WEIGHT;
}

static void
weigh_row (const ConvolveArea *area, int x, int y, int count, uint16_t *weights)
{
  memset (weights, 0, (size_t) count * sizeof (weights[0]));
  for (int i = 0; i < area->count; i++)
    add_box (area, area->boxes[i], x, y, count, weights);
  for (int i = 0; i < count && area->outside; i++)
    weights[i] = (uint16_t) (CONVOLVE_WHOLE_WEIGHT - weights[i]);
}

/* --- blending --- */

/* Whether the bytes of a pixel are its selected samples and nothing else. */
static bool
is_plain (const ConvolvePixel *pixel)
{
  return pixel->stride == pixel->samples * convolve_sample_size (pixel->type)
      && pixel->select == (1u << pixel->samples) - 1;
}

static void
blend_pixel (const ConvolvePixel *pixel, const uint8_t *source, uint8_t *destination, int weight)
{
  int size = convolve_sample_size (pixel->type);

  for (int k = 0; k < pixel->samples; k++)
    if (pixel->select >> k & 1) {
      int effect = convolve_read_sample (pixel, source + k * size);
      int before = convolve_read_sample (pixel, destination + k * size);

      convolve_write_sample (pixel, destination + k * size, convolve_blend_values (effect, before, weight));
    }
}

static void
blend_row (const ConvolvePixel *pixel, const uint16_t *weights, int count, const uint8_t *source, uint8_t *destination)
{
  bool plain = is_plain (pixel);

  for (int i = 0, n; i < count; i += n) {
    ptrdiff_t at = (ptrdiff_t) i * pixel->stride;

    for (n = 1; i + n < count && weights[i + n] == weights[i]; n++)
      ;
    if (weights[i] == CONVOLVE_WHOLE_WEIGHT && plain)
      memcpy (destination + at, source + at, (size_t) n * pixel->stride);
    else if (weights[i] > 0)
      for (int k = 0; k < n; k++)
        blend_pixel (pixel, source + at + k * pixel->stride, destination + at + k * pixel->stride, weights[i]);
  }
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
convolve_blend (const ConvolvePixel *pixel, const ConvolveArea *area, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  uint16_t *weights;

  if (convolve_check_blend (pixel, area, plane, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  weights = malloc ((size_t) region->width * sizeof (weights[0]));
  if (!weights)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d weights", region->width);
  for (int y = region->y; y < region->y + region->height; y++) {
    weigh_row (area, region->x, y, region->width, weights);
    blend_row (pixel, weights, region->width, source_at (pixel, plane, region->x, y),
        destination_at (pixel, plane, region->x, y));
  }
  free (weights);
  return CONVOLVE_OK;
}

/* --- fill --- */

/* Writes the values to the selected samples of the pixels x .. end - 1 of row y. */
static void
fill_row (const ConvolvePixel *pixel, const int *values, const ConvolvePlane *plane, int x, int end, int y)
{
  int size = convolve_sample_size (pixel->type), count = end - x, written = is_plain (pixel) ? 1 : count;
  uint8_t *at = destination_at (pixel, plane, x, y);

  for (int i = 0; i < written; i++)
    for (int k = 0; k < pixel->samples; k++)
      if (pixel->select >> k & 1)
        convolve_write_sample (pixel, at + (ptrdiff_t) i * pixel->stride + k * size, values[k]);
  /* Twice as many pixels with each copy. */
  for (int more; written < count; written += more) {
    more = written < count - written ? written : count - written;
    memcpy (at + (ptrdiff_t) written * pixel->stride, at, (size_t) more * pixel->stride);
  }
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
convolve_fill (const ConvolvePixel *pixel, const int *values, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;

  if (convolve_check_part (pixel, plane, error) != CONVOLVE_OK
      || convolve_check_values (pixel, values, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  for (int y = region->y; y < region->y + region->height; y++)
    fill_row (pixel, values, plane, region->x, region->x + region->width, y);
  return CONVOLVE_OK;
}

/* --- means --- */

/* The mean of the source's samples in a rectangle inside the image, rounded half up. */
static void
mean_of (const ConvolvePixel *pixel, const ConvolvePlane *plane, ConvolveRect rect, int *mean)
{
  int size = convolve_sample_size (pixel->type);
  uint64_t count = (uint64_t) rect.width * rect.height, sum[CONVOLVE_MAX_SAMPLES] = { 0 };

  for (int y = rect.y; y < rect.y + rect.height; y++) {
    const uint8_t *at = source_at (pixel, plane, rect.x, y);

    for (int x = 0; x < rect.width; x++, at += pixel->stride)
      for (int k = 0; k < pixel->samples; k++)
        sum[k] += (uint64_t) convolve_read_sample (pixel, at + k * size);
  }
  for (int k = 0; k < pixel->samples; k++)
    mean[k] = convolve_mean (sum[k], count);
}

/* Means of the blocks in block row `row`, written where they meet the region. */
static void
pixelate_blocks (const ConvolvePixel *pixel, const ConvolveBlocks *blocks, const ConvolvePlane *plane, int row)
{
  const ConvolveRect *region = &plane->region;
  int top = convolve_clamp (convolve_block_start (blocks->y, blocks->size, blocks->y_step, row), 0, plane->height);
  int bottom =
      convolve_clamp (convolve_block_start (blocks->y, blocks->size, blocks->y_step, row + 1), 0, plane->height);
  int first = convolve_clamp (top, region->y, region->y + region->height);
  int end = convolve_clamp (bottom, region->y, region->y + region->height);
  int column = convolve_floor_div (region->x * blocks->x_step - blocks->x, blocks->size);

  for (int x = region->x; first < end && x < region->x + region->width; column++) {
    int left = convolve_clamp (convolve_block_start (blocks->x, blocks->size, blocks->x_step, column), 0, plane->width);
    int right =
        convolve_clamp (convolve_block_start (blocks->x, blocks->size, blocks->x_step, column + 1), 0, plane->width);
    int stop = convolve_clamp (right, x, region->x + region->width), mean[CONVOLVE_MAX_SAMPLES];

    if (stop == x)
      continue;
    mean_of (pixel, plane, (ConvolveRect){ left, top, right - left, bottom - top }, mean);
    for (int y = first; y < end; y++)
      fill_row (pixel, mean, plane, x, stop, y);
    x = stop;
  }
}

ConvolveStatus
convolve_check_blocks (const ConvolveBlocks *blocks, ConvolveError *error)
{
  if (blocks->size < 1 || blocks->size > CONVOLVE_MAX_BOX || abs (blocks->x) > CONVOLVE_MAX_BOX
      || abs (blocks->y) > CONVOLVE_MAX_BOX || !is_step (blocks->x_step) || !is_step (blocks->y_step))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "blocks of %d at %d,%d with steps %dx%d", blocks->size, blocks->x,
        blocks->y, blocks->x_step, blocks->y_step);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_pixelate (const ConvolvePixel *pixel, const ConvolveBlocks *blocks, const ConvolvePlane *plane,
    ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  int first, last;

  if (convolve_check_part (pixel, plane, error) != CONVOLVE_OK || convolve_check_blocks (blocks, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  first = convolve_floor_div (region->y * blocks->y_step - blocks->y, blocks->size);
  last = convolve_floor_div ((region->y + region->height - 1) * blocks->y_step - blocks->y, blocks->size);
  for (int row = first; row <= last; row++)
    pixelate_blocks (pixel, blocks, plane, row);
  return CONVOLVE_OK;
}

/* --- smaller and larger --- */

/* Adds the samples of `count` pixels of a row to sums, one for each sample. */
static void
add_row (const ConvolvePixel *pixel, const uint8_t *at, int count, uint32_t *sums)
{
  int size = convolve_sample_size (pixel->type);

  if (pixel->type == CONVOLVE_SAMPLE_U8 && pixel->stride == pixel->samples) {
    for (int i = 0; i < count * pixel->samples; i++)
      sums[i] += at[i];
    return;
  }
  for (int i = 0; i < count; i++, at += pixel->stride)
    for (int k = 0; k < pixel->samples; k++)
      sums[i * pixel->samples + k] += (uint32_t) convolve_read_sample (pixel, at + k * size);
}

/* The code value of sample k outside the picture, where the boundary has a level there. */
static int
level_of (const ConvolvePixel *pixel, ConvolveBoundary boundary, int k)
{
  return boundary == CONVOLVE_BOUNDARY_CONSTANT ? pixel->outside[k] : pixel->zero[k];
}

/* Adds row v of the picture, with the boundary around it, from column `first` up to `end`. */
static void
add_bounded_row (const ConvolvePixel *pixel, ConvolveBoundary boundary, const ConvolvePlane *plane, int v, int first,
    int end, uint32_t *sums)
{
  int size = convolve_sample_size (pixel->type), y = convolve_boundary_index (boundary, v, plane->height);
  int left = y < 0 ? end : convolve_clamp (0, first, end), right = convolve_clamp (plane->width, left, end);

  for (int u = first; u < end; u++) {
    int x = y < 0 ? -1 : convolve_boundary_index (boundary, u, plane->width);

    if (u == left && left < right) {
      add_row (pixel, source_at (pixel, plane, left, y), right - left, sums + (size_t) (left - first) * pixel->samples);
      u = right - 1;
      continue;
    }
    for (int k = 0; k < pixel->samples; k++)
      sums[(size_t) (u - first) * pixel->samples + k] += x < 0
          ? (uint32_t) level_of (pixel, boundary, k)
          : (uint32_t) convolve_read_sample (pixel, source_at (pixel, plane, x, y) + k * size);
  }
}

/*
 * Row y of the small picture: the rows of the source are added first, and then the columns. sums has room for all
 * samples of the source under the region's row; 64 x 64 samples of 16 bits fit 32 bits.
 */
static void
shrink_row (const ConvolvePixel *pixel, ConvolveBoundary boundary, int factor, const ConvolvePlane *plane, int y,
    uint32_t *sums)
{
  const ConvolveRect *region = &plane->region;
  int first = region->x * factor, end = first + region->width * factor;
  uint32_t count = (uint32_t) (factor * factor);

  memset (sums, 0, (size_t) (end - first) * pixel->samples * sizeof (sums[0]));
  for (int v = y * factor; v < (y + 1) * factor; v++)
    add_bounded_row (pixel, boundary, plane, v, first, end, sums);
  for (int x = region->x; x < region->x + region->width; x++) {
    const uint32_t *block = sums + (size_t) (x - region->x) * factor * pixel->samples;
    int mean[CONVOLVE_MAX_SAMPLES];

    for (int k = 0; k < pixel->samples; k++) {
      uint32_t sum = 0;

      for (int i = 0; i < factor; i++)
        sum += block[i * pixel->samples + k];
      mean[k] = convolve_mean (sum, count);
    }
    fill_row (pixel, mean, plane, x, x + 1, y);
  }
}

/* The region of a picture that was shrunk may reach beyond the picture. */
static ConvolveStatus
check_shrink (const ConvolvePixel *pixel, ConvolveBoundary boundary, int factor, const ConvolvePlane *plane,
    ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  ConvolvePlane large = *plane, small = *plane;

  if (factor < 1 || factor > CONVOLVE_MAX_FACTOR)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a factor of %d", factor);
  if ((int) boundary < 0 || boundary >= CONVOLVE_N_BOUNDARIES)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d is no boundary", (int) boundary);
  if (abs (region->x) > CONVOLVE_MAX_BOX || abs (region->y) > CONVOLVE_MAX_BOX || region->width > CONVOLVE_MAX_BOX
      || region->height > CONVOLVE_MAX_BOX)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a region of %dx%d at %d,%d", region->width, region->height,
        region->x, region->y);
  large.region = (ConvolveRect){ 0, 0, 1, 1 };
  small.width = region->width;
  small.height = region->height;
  small.source_stride = PTRDIFF_MAX; /* checked with the large picture */
  small.region.x = small.region.y = 0;
  return convolve_check_part (pixel, &large, error) == CONVOLVE_OK ? convolve_check_part (pixel, &small, error)
                                                                   : CONVOLVE_INVALID;
}

ConvolveStatus
convolve_shrink (const ConvolvePixel *pixel, ConvolveBoundary boundary, int factor, const ConvolvePlane *plane,
    ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  uint32_t *sums;

  if (check_shrink (pixel, boundary, factor, plane, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  sums = malloc ((size_t) region->width * factor * pixel->samples * sizeof (sums[0]));
  if (!sums)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for the sums of %d pixels", region->width * factor);
  for (int y = region->y; y < region->y + region->height; y++)
    shrink_row (pixel, boundary, factor, plane, y, sums);
  free (sums);
  return CONVOLVE_OK;
}

static void
grow_row (const ConvolvePixel *pixel, int factor, const ConvolvePlane *plane, int y)
{
  const ConvolveRect *region = &plane->region;
  int size = convolve_sample_size (pixel->type);
  ConvolveNeighbours down = convolve_find_neighbours (y, factor);
  uint8_t *at = destination_at (pixel, plane, region->x, y);

  for (int x = region->x; x < region->x + region->width; x++, at += pixel->stride) {
    ConvolveNeighbours across = convolve_find_neighbours (x, factor);
    const uint8_t *corner[4] = { source_at (pixel, plane, across.first, down.first),
      source_at (pixel, plane, across.second, down.first), source_at (pixel, plane, across.first, down.second),
      source_at (pixel, plane, across.second, down.second) };

    for (int k = 0; k < pixel->samples; k++)
      if (pixel->select >> k & 1) {
        int value[4];

        for (int n = 0; n < 4; n++)
          value[n] = convolve_read_sample (pixel, corner[n] + k * size);
        convolve_write_sample (pixel, at + k * size, convolve_interpolate (value, across, down, factor));
      }
  }
}

ConvolveStatus
convolve_grow (const ConvolvePixel *pixel, int factor, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  ConvolvePlane small = *plane, large = *plane;

  if (factor < 1 || factor > CONVOLVE_MAX_FACTOR || (factor & (factor - 1)))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a factor of %d", factor);
  if (convolve_check_pixel (pixel, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  large.source_stride = PTRDIFF_MAX; /* checked with the small picture, of which a part may be there */
  small.width = (region->x + region->width - 1) / factor - region->x / factor + 3;
  small.height = (region->y + region->height - 1) / factor - region->y / factor + 3;
  small.region = (ConvolveRect){ 0, 0, 1, 1 };
  if (convolve_check_part (pixel, &large, error) != CONVOLVE_OK
      || convolve_check_part (pixel, &small, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  for (int y = region->y; y < region->y + region->height; y++)
    grow_row (pixel, factor, plane, y);
  return CONVOLVE_OK;
}
