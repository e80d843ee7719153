/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/tiled.h"

#include "cuda/device/accepts.h"

size_t
convolve_tiled_shared_size (const ConvolvePlan *plan)
{
  size_t width = CONVOLVE_TILED_WIDTH + plan->taps.width - 1, height = CONVOLVE_TILED_HEIGHT + plan->taps.height - 1;

  return width * height * sizeof (float);
}

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  *reason = CONVOLVE_NEEDS_SHARED;
  return convolve_tiled_shared_size (plan) <= convolve_device_shared_limit (plan->device)
      && convolve_accepts_parameters (plan, reason);
}

const ConvolveVariant convolve_variant_tiled = {
  .name = "tiled",
  .number = 12,
  .on_device = true,
  .idea = "a block loads its output tile, and the halo around the tile, to shared memory",
  .accepts = accepts,
  .prepare = convolve_tiled_load,
  .run = convolve_tiled_run,
};
