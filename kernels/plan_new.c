/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* New plans: by a variant's name, by the rules of "auto", or by the time that its candidates take. */
#include <string.h>

#include "measure.h"
#include "trial.h"

ConvolvePlan *
convolve_plan_new (const ConvolvePixel *pixel, ConvolveBoundary boundary, const ConvolveMask *mask, const char *variant,
    ConvolveDevice *device, ConvolveError *error)
{
  return convolve_plan_new_sized (pixel, boundary, mask, variant, device, 0, error);
}

ConvolvePlan *
convolve_plan_new_sized (const ConvolvePixel *pixel, ConvolveBoundary boundary, const ConvolveMask *mask,
    const char *variant, ConvolveDevice *device, int64_t pixels, ConvolveError *error)
{
  const ConvolvePlanRequest request = { pixel, boundary, mask, device, pixels };
  const ConvolveVariant *const *row = convolve_variants;

  if (!pixel || !mask || !mask->taps || !variant) {
    convolve_fail (error, CONVOLVE_INVALID, 0, "a plan without %s",
        !pixel         ? "a pixel"
            : !mask    ? "a mask"
            : !variant ? "the name of a variant"
                       : "taps");
    return NULL;
  }
  if (strcmp (variant, "auto") == 0) {
    ConvolvePlan *plan = convolve_plan_make (&request, NULL, error);

    return plan && plan->device && !plan->shrink && !convolve_plan_is_free (plan)
            && convolve_measure_is_wanted (convolve_device_name (plan->device))
        ? convolve_trial_best (plan, &request)
        : plan;
  }
  while (*row && strcmp (variant, (*row)->name) != 0)
    row++;
  if (*row)
    return convolve_plan_make (&request, *row, error);
  convolve_fail (error, CONVOLVE_INVALID, 0, "there is no variant \"%s\"", variant);
  return NULL;
}
