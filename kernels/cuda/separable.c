/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/separable.h"

#include "cuda/accepts.h"

size_t
convolve_separable_shared_size (const ConvolvePlan *plan)
{
  size_t lines = CONVOLVE_SEPARABLE_ROWS * (CONVOLVE_SEPARABLE_WIDTH + plan->taps.width - 1);
  size_t ring = (CONVOLVE_SEPARABLE_ROWS + plan->taps.height - 1) * CONVOLVE_SEPARABLE_WIDTH;

  return lines * sizeof (float) + ring * (plan->double_sums ? sizeof (double) : sizeof (float));
}

static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  if (!convolve_accepts_rank_1 (plan, reason))
    return false;
  *reason = "the row sums in double precision are larger than the device's shared memory";
  return convolve_separable_shared_size (plan) <= convolve_device_shared_limit (plan->device)
      && convolve_accepts_float_taps (plan, reason);
}

const ConvolveVariant convolve_variant_separable = {
  .name = "separable",
  .number = 11,
  .idea = "a column times a row, as a row pass and a column pass in shared memory",
  .accepts = accepts,
  CONVOLVE_ON_DEVICE (separable),
};
