/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/numbers.h"
#include "common/integer_tail.h"
#include "cuda/registers/border.h"
#include "cuda/registers/direct.h"
#include "cuda/registers/sets.h"

CONVOLVE_DEVICE_FUNCTIONS (direct);

/*
 * Whether the kernel for 16-bit samples can do the plan's: it has no tail in float but for samples that fill 16 bits.
 */
static bool
is_deep (const ConvolvePlan *plan)
{
  ConvolveIntegerTail tail;
  const char *unused;

  return plan->n_parts == 0 && plan->pixel.type == CONVOLVE_SAMPLE_U16
      && (convolve_deep_is_top (plan) || convolve_deep_tail_choose (plan, &tail, &unused));
}

/*
 * One float sum takes all products of an output in turn, and is rounded after each. convolve_taps_init () counts fewer
 * roundings, because other variants sum each row of the mask alone. So the error of count roundings is compared here:
 * each is at most 2^-24 of the largest sum, and all may take a quarter of the error budget.
 */
static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  int count = plan->taps.width * plan->taps.height;
  double gain = convolve_sum_of_magnitudes_f (plan->taps.taps, count);

  found->kernel = plan->n_parts > 0 ? CONVOLVE_DIRECT_ABSOLUTE : CONVOLVE_DIRECT_ANY;
  if (plan->n_parts > 0
      && (plan->combination != CONVOLVE_ABSOLUTE || !convolve_sets_are_magnitude_of_sum (plan, reason))) {
    found->kernel = CONVOLVE_DIRECT_SETS;
    return convolve_direct_accepts_sets (plan, reason);
  }
  *reason = "the sums need double precision";
  if (plan->double_sums
      || (!plan->exact && gain * count * plan->tail.maximum / CONVOLVE_2_24 > convolve_budget (plan) / 4))
    return false;
  if (!convolve_border_accepts (plan, reason))
    return false;
  if (is_deep (plan))
    found->kernel = CONVOLVE_DIRECT_DEEP;
  return true;
}

static const char *const kernels[] = {
  [CONVOLVE_DIRECT_ANY] = "any samples",
  [CONVOLVE_DIRECT_DEEP] = "16-bit samples",
  [CONVOLVE_DIRECT_ABSOLUTE] = "the magnitude of a sum",
  [CONVOLVE_DIRECT_SETS] = "sets",
};

const ConvolveVariant convolve_variant_direct = {
  .name = "direct",
  .kernels = kernels,
  .number = 8,
  .on_device = true,
  .combines = true,
  .idea = "each thread keeps a block of outputs in registers and reads each sample once",
  .accepts = accepts,
  .prepare = convolve_direct_load,
  .run = convolve_direct_run,
};
