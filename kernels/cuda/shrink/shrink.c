/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/shrink/shrink.h"

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  *reason = "the mask has weights";
  return plan->shrink;
}

const ConvolveVariant convolve_variant_shrink = {
  .name = "shrink",
  .number = 24,
  .on_device = true,
  .shrinks = true,
  .idea = "a Gaussian of any size on a picture that is halved several times, and enlarged again",
  .accepts = accepts,
  .prepare = convolve_shrink_load,
  .run = convolve_shrink_run,
};
