/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/accepts.h"

CONVOLVE_DEVICE_FUNCTIONS (constant);

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  return convolve_accepts_parameters (plan, reason);
}

const ConvolveVariant convolve_variant_constant = {
  .name = "constant",
  .number = 13,
  .on_device = true,
  .idea = "one thread for each pixel, the mask in constant memory",
  .accepts = accepts,
  .prepare = convolve_constant_load,
  .run = convolve_constant_run,
};
