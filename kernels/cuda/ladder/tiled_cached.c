/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/accepts.h"

CONVOLVE_DEVICE_FUNCTIONS (tiled_cached);

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  return convolve_accepts_parameters (plan, reason);
}

const ConvolveVariant convolve_variant_tiled_cached = {
  .name = "tiled-cached",
  .number = 14,
  .on_device = true,
  .idea = "a block loads its output tile alone to shared memory; the halo comes through the L2 cache",
  .accepts = accepts,
  .prepare = convolve_tiled_cached_load,
  .run = convolve_tiled_cached_run,
};
