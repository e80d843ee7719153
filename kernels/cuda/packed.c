/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/border.h"
#include "cuda/sets.h"

CONVOLVE_DEVICE_FUNCTIONS (packed);

static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  if (plan->combination == CONVOLVE_ABSOLUTE && !convolve_sets_are_magnitude_of_sum (plan, reason))
    return false;
  if (plan->combination == CONVOLVE_MAGNITUDE || plan->combination == CONVOLVE_LARGEST)
    return convolve_packed_accepts_sets (plan, found, reason);
  *reason = "the weights are not integers -128 to 127 times one factor";
  if (plan->exact && !convolve_border_are_bytes (plan->taps.taps, plan->taps.width * plan->taps.height))
    return false;
  return convolve_border_accepts_integers (plan, found, reason);
}

const ConvolveVariant convolve_variant_packed = {
  .name = "packed",
  .number = 7,
  .combines = true,
  .idea = "8-bit samples as they lie in memory, times 8-bit integer weights, four products in an instruction",
  .accepts = accepts,
  CONVOLVE_ON_DEVICE (packed),
};
