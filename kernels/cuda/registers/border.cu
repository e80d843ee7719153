/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host side of cuda/registers/border.cuh: the division of a plane into its inner part and its border, and the
 * launch.
 */
#include "cuda/registers/border.cuh"

#include <string.h>

/* A grid has at most 65535 rows of blocks: these two share them. Threads of the border loop over further groups. */
#define MOST_INNER_ROWS 60000
#define MOST_BORDER_ROWS 5000
#define BORDER_COLUMNS 64 /* blocks side by side where the inner part is empty */

ConvolveStatus
convolve_border_load (ConvolvePlan *plan, const ConvolveBorderKernel &alone, const ConvolveBorderTwo &two,
    const void *mask, size_t mask_size, ConvolveError *error)
{
  ConvolveBorderLoaded *loaded =
      (ConvolveBorderLoaded *) convolve_new_loaded (plan, sizeof (ConvolveBorderLoaded), error);

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  loaded->alone = alone;
  loaded->two = two;
  loaded->mask_size = mask_size;
  memcpy (loaded->mask, mask, mask_size);
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

/* Divides the plane for one of the plan's kernels. */
static void
prepare (const ConvolvePlan *plan, const ConvolvePlane *plane, const ConvolveBorderKernel &kernel,
    ConvolvePrepared *prepared)
{
  const ConvolveBorderLoaded *loaded = (const ConvolveBorderLoaded *) plan->loaded;

  prepared->kernel = kernel.kernel;
  prepared->grid = {};
  ConvolveParts parts = convolve_divide (plan, plane, kernel.pixels, CONVOLVE_GROUP, kernel.rows, kernel.warps,
      kernel.side, &prepared->grid);
  memcpy (prepared->mask, loaded->mask, loaded->mask_size);
  memcpy (prepared->mask, &parts, sizeof (parts));
}

/* The kernel for the plane whose launch is held and this one as the second, or NULL. */
static const void *
find_two (const ConvolvePlan *plan)
{
  const ConvolveBorderLoaded *loaded = (const ConvolveBorderLoaded *) plan->loaded;
  const ConvolveDevice *device = plan->device;

  if (plan->pixel.samples == 2 && device->holds)
    for (const void *first : device->held->kernels)
      for (const void *second : loaded->two.kernels)
        if (first && first == second)
          return first;
  return NULL;
}

static bool
may_be_first (const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  const ConvolveBorderLoaded *loaded = (const ConvolveBorderLoaded *) plan->loaded;

  return plan->pixel.samples == 1 && loaded->two.kernels[0] && plan->device->independent
      && (int64_t) plane->region.width * plane->region.height <= loaded->two.most_pixels;
}

ConvolveStatus
convolve_border_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveBorderLoaded *loaded = (const ConvolveBorderLoaded *) plan->loaded;
  const void *kernel = find_two (plan);
  ConvolvePrepared alone, part;

  if (is_too_large (plan, &plane->region))
    return convolve_run_halves (plan, plane, CONVOLVE_ONE_BELOW_THE_OTHER, convolve_border_run, error);
  if (kernel) {
    prepare (plan, plane, loaded->two.part, &part);
    if (plan->device->held->first.grid.blocks.y + part.grid.blocks.y <= CONVOLVE_MOST_BLOCKS_DOWN)
      return convolve_launch_two (plan, plane, kernel, part, error);
  }
  prepare (plan, plane, loaded->alone, &alone);
  if (may_be_first (plan, plane)) {
    prepare (plan, plane, loaded->two.part, &part);
    return convolve_hold (plan, plane, alone, part, loaded->two.kernels, error);
  }
  return convolve_launch (plan, plane, alone.kernel, alone.grid, alone.mask, error);
}
