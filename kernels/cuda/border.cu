/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How direct, fused, packed and packed-separable divide a plane in an inner part and a rim, and launch. */
#include "cuda/border.cuh"

#include <string.h>

#define MOST_BANDS 60000   /* rows of blocks of the inner part; a grid has 65535 */
#define MOST_RIM_ROWS 5000 /* the rest of a grid's rows; the rim's threads go on to the next groups */
#define RIM_COLUMNS 64     /* blocks side by side where all of the plane is rim */

ConvolveStatus
convolve_border_load (ConvolvePlan *plan, const ConvolveBorderKernel &kernel, const void *mask, ConvolveError *error)
{
  ConvolveBorderKernel *kept =
      (ConvolveBorderKernel *) convolve_new_loaded (plan, sizeof (ConvolveBorderKernel), error);

  if (!kept)
    return CONVOLVE_NO_MEMORY;
  *kept = kernel;
  memcpy (kept->mask, mask, kernel.mask_size);
  return CONVOLVE_OK;
}

ConvolveParts
convolve_divide (const ConvolvePlan *plan, const ConvolvePlane *plane, int pixels, int radius, int rows, int warps,
    int side, ConvolveGrid *grid)
{
  const ConvolveRect *region = &plane->region;
  int bytes = pixels * plan->pixel.stride, alignment = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
  uintptr_t addresses = (uintptr_t) plane->source | (uintptr_t) plane->source_stride | (uintptr_t) plane->destination
      | (uintptr_t) plane->destination_stride;
  int x1 = region->x + region->width, y1 = region->y + region->height;
  ConvolveParts parts;
  int64_t rim;

  parts.boundary = plan->boundary;
  parts.left = ((region->x > radius ? region->x : radius) + pixels - 1) / pixels * pixels;
  parts.right = (x1 < plane->width - radius ? x1 : plane->width - radius) / pixels * pixels;
  parts.top = region->y > side / 2 ? region->y : side / 2;
  parts.bottom = y1 < plane->height - side / 2 ? y1 : plane->height - side / 2;
  grid->block = dim3 (CONVOLVE_LANES, warps);
  int columns = (parts.right - parts.left + CONVOLVE_LANES * pixels - 1) / (CONVOLVE_LANES * pixels);
  int bands = (parts.bottom - parts.top + warps * rows - 1) / (warps * rows);
  if (addresses % alignment || parts.right - parts.left < pixels || parts.bottom - parts.top < rows
      || bands > MOST_BANDS) {
    parts.left = parts.right = x1;
    parts.top = parts.bottom = y1;
    columns = RIM_COLUMNS, bands = 0;
  }
  rim = (int64_t) ((region->width + 3) / 4) * (region->height - (parts.bottom - parts.top))
      + (int64_t) ((parts.left - region->x + 3) / 4 + (x1 - parts.right + 3) / 4) * (parts.bottom - parts.top);
  rim = (rim * plan->pixel.samples + CONVOLVE_LANES * warps - 1) / (CONVOLVE_LANES * warps); /* blocks */
  rim = (rim + columns - 1) / columns;
  parts.rim_rows = (int) (rim < MOST_RIM_ROWS ? rim : MOST_RIM_ROWS);
  grid->blocks = dim3 (columns, parts.rim_rows + bands);
  grid->waits = true;
  return parts;
}

/* Whether a plane has more groups than the rim's indices can count. */
static bool
is_too_large (const ConvolvePlan *plan, const ConvolveRect *region)
{
  return (int64_t) region->width * region->height * plan->pixel.samples > INT32_MAX && region->height > 1;
}

ConvolveStatus
convolve_border_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveBorderKernel *kept = (const ConvolveBorderKernel *) plan->loaded;
  ConvolveGrid grid = {};
  alignas (16) unsigned char mask[sizeof (kept->mask)];

  if (is_too_large (plan, &plane->region))
    return convolve_run_halves (plan, plane, CONVOLVE_ONE_BELOW_THE_OTHER, convolve_border_run, error);
  ConvolveParts parts =
      convolve_divide (plan, plane, kept->pixels, CONVOLVE_GROUP, kept->rows, kept->warps, kept->side, &grid);

  memcpy (mask, kept->mask, kept->mask_size);
  memcpy (mask, &parts, sizeof (parts));
  return convolve_launch (plan, plane, kept->kernel, grid, mask, error);
}
