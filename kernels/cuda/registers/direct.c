/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/numbers.h"
#include "cuda/registers/border.h"
#include "cuda/registers/sets.h"

CONVOLVE_DEVICE_FUNCTIONS (direct);

/*
 * One float sum takes all products of an output in turn, and is rounded after each. convolve_taps_init () counts fewer
 * roundings, because other variants sum each row of the mask alone. So the error of count roundings is compared here:
 * each is at most 2^-24 of the largest sum, and all may take a quarter of the error budget.
 */
static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  int count = plan->taps.width * plan->taps.height;
  double gain = convolve_sum_of_magnitudes_f (plan->taps.taps, count);

  if (plan->n_parts > 0
      && (plan->combination != CONVOLVE_ABSOLUTE || !convolve_sets_are_magnitude_of_sum (plan, reason)))
    return convolve_direct_accepts_sets (plan, reason);
  *reason = "the sums need double precision";
  if (plan->double_sums
      || (!plan->exact && gain * count * plan->tail.maximum / CONVOLVE_2_24 > convolve_budget (plan) / 4))
    return false;
  return convolve_border_accepts (plan, reason);
}

const ConvolveVariant convolve_variant_direct = {
  .name = "direct",
  .number = 8,
  .combines = true,
  .idea = "each thread keeps a block of outputs in registers and reads each sample once",
  .accepts = accepts,
  CONVOLVE_ON_DEVICE (direct),
};
