/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "cuda/registers/sets.h"

CONVOLVE_DEVICE_FUNCTIONS (global);

/*
 * A tap of each set, those of set 0 first, then the next tap of each: a thread sums up all sets together. Missing sets
 * are filled with 0. The taps of all sets are doubles where one set needs sums in double.
 */
static ConvolveStatus
put_sets (ConvolvePlan *plan, ConvolveError *error)
{
  size_t count = (size_t) plan->taps.width * plan->taps.height, padded = convolve_sets_padded (plan);
  bool in_double = convolve_sets_need_double (plan);
  double *doubles = calloc (count * padded, sizeof (*doubles));
  float *floats = calloc (count * padded, sizeof (*floats));
  ConvolveStatus status;

  for (size_t i = 0; i < count && doubles && floats; i++)
    for (int k = 0; k < plan->n_parts; k++) {
      doubles[i * padded + k] = plan->parts[k].taps.double_taps[i];
      floats[i * padded + k] = plan->parts[k].taps.taps[i];
    }
  if (!doubles || !floats)
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for the weights of %d sets", plan->n_parts);
  else if (in_double)
    status =
        convolve_device_put (plan->device, doubles, count * padded * sizeof (*doubles), &plan->device_memory, error);
  else
    status = convolve_device_put (plan->device, floats, count * padded * sizeof (*floats), &plan->device_memory, error);
  free (doubles);
  free (floats);
  return status;
}

/* The taps have the type of the sums, so that masks are done whose taps single precision does not hold well enough. */
static ConvolveStatus
put_taps (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *taps = &plan->taps;
  size_t count = (size_t) taps->width * taps->height;

  if (plan->n_parts > 0)
    return put_sets (plan, error);
  if (plan->double_sums)
    return convolve_device_put (plan->device, taps->double_taps, count * sizeof (double), &plan->device_memory, error);
  return convolve_device_put (plan->device, taps->taps, count * sizeof (float), &plan->device_memory, error);
}

static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolveStatus status = put_taps (plan, error);

  return status == CONVOLVE_OK ? convolve_global_load (plan, error) : status;
}

const ConvolveVariant convolve_variant_global = {
  .name = "global",
  .number = 16,
  .on_device = true,
  .combines = true,
  .idea = "one thread for each pixel, image and mask in global memory",
  .prepare = prepare,
  .run = convolve_global_run,
};
