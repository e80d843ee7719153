/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of cuda/border.cuh: the division of a plane into its inner part and its border, and the launch. */
#include "cuda/border.cuh"

#include <string.h>

/* A grid has at most 65535 rows of blocks: these two share them. Threads of the border loop over further groups. */
#define MOST_INNER_ROWS 60000
#define MOST_BORDER_ROWS 5000
#define BORDER_COLUMNS 64 /* blocks side by side where the inner part is empty */

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
convolve_divide (const ConvolvePlan *plan, const ConvolvePlane *plane, int pixels, int halo, int rows, int warps,
    int side, ConvolveGrid *grid)
{
  const ConvolveRect *region = &plane->region;
  int bytes = pixels * plan->pixel.stride, alignment = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
  uintptr_t addresses = (uintptr_t) plane->source | (uintptr_t) plane->source_stride | (uintptr_t) plane->destination
      | (uintptr_t) plane->destination_stride;
  int x1 = region->x + region->width, y1 = region->y + region->height;
  ConvolveParts parts;

  parts.boundary = plan->boundary;
  parts.left = ((region->x > halo ? region->x : halo) + pixels - 1) / pixels * pixels;
  parts.right = (x1 < plane->width - halo ? x1 : plane->width - halo) / pixels * pixels;
  parts.top = region->y > side / 2 ? region->y : side / 2;
  parts.bottom = y1 < plane->height - side / 2 ? y1 : plane->height - side / 2;
  grid->block = dim3 (CONVOLVE_LANES, warps);
  int columns = (parts.right - parts.left + CONVOLVE_LANES * pixels - 1) / (CONVOLVE_LANES * pixels);
  int inner_rows = (parts.bottom - parts.top + warps * rows - 1) / (warps * rows);
  if (addresses % alignment || parts.right - parts.left < pixels || parts.bottom - parts.top < rows
      || inner_rows > MOST_INNER_ROWS) {
    parts.left = parts.right = x1;
    parts.top = parts.bottom = y1;
    columns = BORDER_COLUMNS, inner_rows = 0;
  }
  /* A thread of the border has a group of one sample. */
  int64_t groups = (int64_t) ((region->width + 3) / 4) * (region->height - (parts.bottom - parts.top))
      + (int64_t) ((parts.left - region->x + 3) / 4 + (x1 - parts.right + 3) / 4) * (parts.bottom - parts.top);
  int64_t blocks = (groups * plan->pixel.samples + CONVOLVE_LANES * warps - 1) / (CONVOLVE_LANES * warps);
  int64_t border_rows = (blocks + columns - 1) / columns;
  parts.border_rows = (int) (border_rows < MOST_BORDER_ROWS ? border_rows : MOST_BORDER_ROWS);
  grid->blocks = dim3 (columns, parts.border_rows + inner_rows);
  grid->ordered = true;
  return parts;
}

/* Whether the border may have more groups than its 32-bit indices can count. */
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
