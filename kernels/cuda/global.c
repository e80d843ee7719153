/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/plan.h"

CONVOLVE_DEVICE_FUNCTIONS (global);

/* The taps have the type of the sums, so that masks are done whose taps single precision does not hold well enough. */
static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *taps = &plan->taps;
  size_t count = (size_t) taps->width * taps->height;

  if (plan->double_sums)
    return convolve_device_put (plan->device, taps->double_taps, count * sizeof (double), &plan->device_memory, error);
  return convolve_device_put (plan->device, taps->taps, count * sizeof (float), &plan->device_memory, error);
}

const ConvolveVariant convolve_variant_global = {
  .name = "global",
  .number = 16,
  .idea = "one thread for each pixel, image and mask in global memory",
  .prepare = prepare,
  CONVOLVE_ON_DEVICE (global),
};
