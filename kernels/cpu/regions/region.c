/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of a picture on the CPU: blending, and the effects beside the convolution. Every function goes row by row
 * through the plane's region.
 */
#include <stdlib.h>
#include <string.h>

#include "common/area.h"
#include "common/batch.h"
#include "common/internal.h"
#include "common/noise.h"
#include "common/sample.h"
#include "cpu/regions/weights.h"

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

/* --- weights --- */

/* The weight without `outside`. */
static int
inside_weight (const ConvolveArea *area, int x, int y)
{
  int most = 0;

  for (int i = 0; i < area->count && most < CONVOLVE_WHOLE_WEIGHT; i++) {
    const ConvolveOutline *outline = area->extras && area->extras->outlines ? &area->extras->outlines[i] : NULL;

    most = convolve_larger (most,
        outline && outline->count > 0
            ? convolve_corners_weight (area, area->boxes[i], area->extras->corners + outline->first, *outline, x, y)
            : convolve_box_weight (area, area->boxes[i], x, y));
  }
  for (int i = 0; area->extras && i < area->extras->n_mattes; i++)
    most = convolve_larger (most, convolve_matte_weight (area, &area->extras->mattes[i], x, y));
  return most;
}

int
convolve_area_weight (const ConvolveArea *area, int x, int y)
{
  ConvolveArea luma = convolve_luma_area (area);
  int least = CONVOLVE_WHOLE_WEIGHT;

  if (!area->outside)
    return convolve_lessen_weight (inside_weight (area, x, y), area->transparency);
  for (int v = y * area->y_step; v < (y + 1) * area->y_step; v++)
    for (int u = x * area->x_step; u < (x + 1) * area->x_step; u++) {
      int weight = inside_weight (&luma, u, v);

      least = weight < least ? weight : least;
    }
  return convolve_lessen_weight (CONVOLVE_WHOLE_WEIGHT - least, area->transparency);
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

/* Bytes of pixels with nothing else, by a weight for each pixel; for the vectoriser. */
static inline __attribute__ ((always_inline)) void
blend_bytes (int samples, const uint16_t *restrict weights, int count, const uint8_t *restrict source,
    uint8_t *restrict destination)
{
  for (int i = 0; i < count; i++)
    for (int k = 0; k < samples; k++)
      destination[i * samples + k] =
          (uint8_t) convolve_blend_values (source[i * samples + k], destination[i * samples + k], weights[i]);
}

/* Pixels with weights above 0. */
static void
blend_pixels (const ConvolvePixel *pixel, const uint16_t *weights, int count, const uint8_t *source,
    uint8_t *destination)
{
  if (is_plain (pixel) && pixel->type == CONVOLVE_SAMPLE_U8) {
    if (pixel->samples == 1)
      blend_bytes (1, weights, count, source, destination);
    else if (pixel->samples == 2)
      blend_bytes (2, weights, count, source, destination);
    else
      blend_bytes (pixel->samples, weights, count, source, destination);
    return;
  }
  for (int i = 0; i < count; i++)
    blend_pixel (pixel, source + (ptrdiff_t) i * pixel->stride, destination + (ptrdiff_t) i * pixel->stride,
        weights[i]);
}

/* How many weights from the first one on are 0, whole, or between; whole ones count as between where plain is not set. */
static int
count_alike (const uint16_t *weights, int count, bool plain)
{
  const bool whole = plain && weights[0] == CONVOLVE_WHOLE_WEIGHT;
  int n = 1;

  if (whole || weights[0] == 0) {
    const uint64_t four = weights[0] * UINT64_C (0x0001000100010001);
    uint64_t next;

    for (; n + 4 <= count; n += 4) {
      memcpy (&next, weights + n, sizeof (next));
      if (next != four)
        break;
    }
    while (n < count && weights[n] == weights[0])
      n++;
    return n;
  }
  while (n < count && weights[n] > 0 && !(plain && weights[n] == CONVOLVE_WHOLE_WEIGHT))
    n++;
  return n;
}

static void
blend_row (const ConvolvePixel *pixel, const uint16_t *weights, int count, const uint8_t *source, uint8_t *destination)
{
  const bool plain = is_plain (pixel);

  for (int i = 0, n; i < count; i += n) {
    ptrdiff_t at = (ptrdiff_t) i * pixel->stride;

    n = count_alike (weights + i, count - i, plain);
    if (plain && weights[i] == CONVOLVE_WHOLE_WEIGHT)
      memcpy (destination + at, source + at, (size_t) n * pixel->stride);
    else if (weights[i] > 0)
      blend_pixels (pixel, weights + i, n, source + at, destination + at);
  }
}

ConvolveStatus
convolve_blend (const ConvolvePixel *pixel, const ConvolveArea *area, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  ConvolveWeights *weights;

  if (convolve_check_blend (pixel, area, plane, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  weights = convolve_weights_new (area, region, error);
  if (!weights)
    return CONVOLVE_NO_MEMORY;
  for (int y = region->y; y < region->y + region->height; y++)
    blend_row (pixel, convolve_weights_row (weights, y), region->width, source_at (pixel, plane, region->x, y),
        destination_at (pixel, plane, region->x, y));
  convolve_weights_free (weights);
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

/* --- drawings --- */

#define COLUMNS 256 /* whose neighbours are found at once */

/* Row y of `count` columns from x on; `samples` and `plain` are constants of the caller, for the compiler. */
static inline __attribute__ ((always_inline)) void
draw_row (const ConvolvePixel *pixel, int samples, bool plain, const ConvolveDrawing *drawing,
    const ConvolveNeighbours *across, const ConvolvePlane *plane, int x, int count, int y)
{
  const int size = convolve_sample_size (pixel->type);
  const ConvolveNeighbours down = convolve_find_drawn (drawing->y + y * drawing->down, drawing->height);
  uint8_t *at = destination_at (pixel, plane, x, y);

  for (int i = 0; i < count; i++)
    for (int k = 0; k < samples; k++) {
      int value = convolve_drawn_value (drawing, samples, across[i], down, k);

      if (plain)
        at[i * samples + k] = (uint8_t) value;
      else if (pixel->select >> k & 1)
        convolve_write_sample (pixel, at + (ptrdiff_t) i * pixel->stride + k * size, value);
    }
}

ConvolveStatus
convolve_draw (const ConvolvePixel *pixel, const ConvolveDrawing *drawing, const ConvolvePlane *plane,
    ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  const int end = region->x + region->width, bottom = region->y + region->height;
  const bool plain = is_plain (pixel) && pixel->type == CONVOLVE_SAMPLE_U8;
  ConvolveNeighbours across[COLUMNS];

  if (convolve_check_part (pixel, plane, error) != CONVOLVE_OK
      || convolve_check_drawing (drawing, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  for (int x = region->x, count; x < end; x += count) {
    count = end - x < COLUMNS ? end - x : COLUMNS;
    for (int i = 0; i < count; i++)
      across[i] = convolve_find_drawn (drawing->x + (x + i) * drawing->across, drawing->width);
    for (int y = region->y; y < bottom; y++)
      if (plain && pixel->samples == 1)
        draw_row (pixel, 1, true, drawing, across, plane, x, count, y);
      else if (plain && pixel->samples == 2)
        draw_row (pixel, 2, true, drawing, across, plane, x, count, y);
      else
        draw_row (pixel, pixel->samples, false, drawing, across, plane, x, count, y);
  }
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
    for (int k = 0; k < pixel->samples && blocks->noise > 0; k++)
      mean[k] = convolve_add_noise (blocks, column, row, k, mean[k], pixel->depth);
    for (int y = first; y < end; y++)
      fill_row (pixel, mean, plane, x, stop, y);
    x = stop;
  }
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
