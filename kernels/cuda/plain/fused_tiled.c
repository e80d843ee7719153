/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/fused_tiled.h"

#include "common/numbers.h"
#include "cuda/device/accepts.h"
#include "cuda/registers/border.h"

int
convolve_fused_tiled_side (const ConvolvePlan *plan)
{
  static const int sides[] = CONVOLVE_FUSED_TILED_SIDES;

  for (size_t i = 0; i < sizeof (sides) / sizeof (sides[0]); i++)
    if (plan->taps.width <= sides[i] && plan->taps.height <= sides[i])
      return sides[i];
  return 0;
}

/*
 * The shared memory of a block in bytes, for each row of input: chunks of 16 bytes and one more against bank conflicts,
 * and a float for each row sum.
 */
static size_t
shared_size (const ConvolvePlan *plan)
{
  size_t bytes = plan->pixel.stride, side = convolve_fused_tiled_side (plan), chunk = 16 / bytes;
  size_t chunks = CONVOLVE_FUSED_TILED_SAMPLES / plan->pixel.samples / chunk + 2 * ((side / 2 + chunk - 1) / chunk);

  return (CONVOLVE_FUSED_TILED_HEIGHT + side - 1) * (16 * (chunks + 1) + CONVOLVE_FUSED_TILED_SAMPLES * sizeof (float));
}

/* The relative error of so many products that are added one after the other (Higham 2002, lemma 3.1). */
static double
error_of_sum (int count)
{
  return count * CONVOLVE_FLOAT_UNIT / (1 - count * CONVOLVE_FLOAT_UNIT);
}

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  if (!convolve_accepts_rank_1 (plan, reason) || !convolve_border_accepts_pixels (plan, reason))
    return false;
  *reason = "the sums need double precision";
  if (!convolve_float_sums_fit (plan, error_of_sum (plan->taps.width), error_of_sum (plan->taps.height)))
    return false;
  *reason = "the pixels have 3 samples";
  if (plan->pixel.samples == 3)
    return false;
  *reason = "the mask is larger than 63x63";
  if (convolve_fused_tiled_side (plan) == 0)
    return false;
  *reason = CONVOLVE_NEEDS_SHARED;
  return shared_size (plan) <= convolve_device_shared_limit (plan->device);
}

const ConvolveVariant convolve_variant_fused_tiled = {
  .name = "fused-tiled",
  .number = 6,
  .on_device = true,
  .idea = "a column times a row in two passes over a tile in shared memory",
  .accepts = accepts,
  .prepare = convolve_fused_tiled_load,
  .run = convolve_fused_tiled_run,
};
