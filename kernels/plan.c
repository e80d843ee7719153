/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans: checked arguments, the chosen variant, and the call that runs it. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "common/sets.h"
#include "common/shrink.h"
#include "convolve_pool.h"

bool
convolve_mask_init (ConvolveMask *mask, int width, int height)
{
  return convolve_mask_init_sets (mask, width, height, 1, CONVOLVE_SUM);
}

bool
convolve_mask_init_sets (ConvolveMask *mask, int width, int height, int sets, ConvolveCombination combination)
{
  *mask = (ConvolveMask){ .width = width, .height = height, .divisor = 1, .sets = sets, .combination = combination };
  for (int k = 0; k < CONVOLVE_MAX_SETS - 1; k++)
    mask->more_divisors[k] = 1;
  if (width < 1 || height < 1 || width > CONVOLVE_MAX_SIDE || height > CONVOLVE_MAX_SIDE || sets < 1
      || sets > CONVOLVE_MAX_SETS)
    return false;
  mask->taps = calloc ((size_t) width * height * sets, sizeof (double));
  return mask->taps != NULL;
}

bool
convolve_mask_init_gaussian (ConvolveMask *mask, double sigma_x, double sigma_y)
{
  const double numbers[] = { 0, 1, sigma_x, sigma_y };

  if (!convolve_mask_init_sets (mask, 1, 1, sizeof (numbers) / sizeof (numbers[0]), CONVOLVE_GAUSSIAN))
    return false;
  mask->sets = 1;
  memcpy (mask->taps, numbers, sizeof (numbers));
  return true;
}

void
convolve_mask_clear (ConvolveMask *mask)
{
  free (mask->taps);
  mask->taps = NULL;
}

/* Takes the variant that was asked for, or the one that auto.c chooses. */
static ConvolveStatus
choose_variant (ConvolvePlan *plan, const ConvolveVariant *variant, ConvolveError *error)
{
  const char *reason;
  ConvolveFound found;

  if (!variant) {
    convolve_auto_choose (plan);
  } else {
    if (variant->on_device && !plan->device)
      return convolve_fail (error, CONVOLVE_NO_DEVICE, 0, "%s runs on a CUDA device and there is none", variant->name);
    const bool accepted = convolve_variant_accepts (variant, plan, &found, &reason);

    plan->prepared = found.block;
    plan->kernel = found.kernel;
    if (!accepted) {
      if (strcmp (reason, CONVOLVE_REASON_NO_MEMORY) == 0)
        return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a plan of the variant %s", variant->name);
      return convolve_fail (error, CONVOLVE_UNSUPPORTED, 0, "%s cannot do this mask: %s", variant->name, reason);
    }
    plan->variant = variant;
  }
  if (!plan->variant->on_device)
    plan->device = NULL;
  return CONVOLVE_OK;
}

ConvolvePlan *
convolve_plan_make (const ConvolvePlanRequest *request, const ConvolveVariant *variant, ConvolveError *error)
{
  const ConvolvePixel *pixel = request->pixel;
  const ConvolveBoundary boundary = request->boundary;
  ConvolvePlan *plan;

  if (convolve_check_pixel (pixel, error) != CONVOLVE_OK)
    return NULL;
  if ((int) boundary < 0 || boundary >= CONVOLVE_N_BOUNDARIES) {
    convolve_fail (error, CONVOLVE_INVALID, 0, "%d is no boundary", (int) boundary);
    return NULL;
  }
  plan = calloc (1, sizeof (ConvolvePlan));
  if (!plan) {
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a plan");
    return NULL;
  }
  plan->references = 1;
  plan->pixel = *pixel;
  plan->boundary = boundary == CONVOLVE_BOUNDARY_CONSTANT ? CONVOLVE_BOUNDARY_ZERO : boundary;
  memcpy (plan->outside_level, boundary == CONVOLVE_BOUNDARY_CONSTANT ? pixel->outside : pixel->zero,
      sizeof (plan->outside_level));
  plan->pixels = request->pixels;
  plan->device = request->device;
  if (convolve_sets_init (plan, request->mask, error) != CONVOLVE_OK
      || choose_variant (plan, variant, error) != CONVOLVE_OK
      || (plan->variant->prepare && plan->variant->prepare (plan, error) != CONVOLVE_OK)) {
    convolve_plan_unref (plan);
    return NULL;
  }
  return plan;
}

ConvolvePlan *
convolve_plan_ref (ConvolvePlan *plan)
{
  __atomic_add_fetch (&plan->references, 1, __ATOMIC_RELAXED);
  return plan;
}

void
convolve_plan_unref (ConvolvePlan *plan)
{
  if (!plan || __atomic_sub_fetch (&plan->references, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  if (plan->variant && plan->variant->clear)
    plan->variant->clear (plan);
  if (plan->device_memory)
    convolve_device_release (plan->device, plan->device_memory);
  free (plan->prepared);
  free (plan->loaded);
  convolve_sets_clear (plan);
  free (plan);
}

void
convolve_plan_set_pool (ConvolvePlan *plan, ConvolvePool *pool)
{
  plan->pool = pool;
}

const char *
convolve_plan_variant (const ConvolvePlan *plan)
{
  return plan->variant->name;
}

static const char *const combinations[] = {
  [CONVOLVE_SUM] = "",
  [CONVOLVE_ABSOLUTE] = ", absolute",
  [CONVOLVE_MAGNITUDE] = ", magnitude of several sets",
  [CONVOLVE_LARGEST] = ", largest of several sets",
  [CONVOLVE_GAUSSIAN] = "",
};

/* What the results of the plan depend on. */
static const char *
explain_arithmetic (const ConvolvePlan *plan)
{
  if (convolve_plan_is_free (plan))
    return ", whose results depend on the variant";
  if (convolve_plan_is_exact (plan))
    return "";
  return plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS ? ", as products of integers" : ", as integers";
}

void
convolve_plan_explain (const ConvolvePlan *plan, char *text, size_t size)
{
  const ConvolveTaps *taps = &plan->taps;
  const char *name = plan->variant->name;
  size_t used = plan->shrink
      ? (size_t) snprintf (text, size,
          "%s for a Gaussian on a picture shrunk to 1/%d and 1/%d, within %.2g of a code value", name,
          1 << plan->shrink->x.levels, 1 << plan->shrink->y.levels, plan->shrink->error)
      : (size_t) snprintf (text, size, "%s%s%s for %dx%d %sweights%s%s%s", name, plan->variant->kernels ? ", " : "",
          plan->variant->kernels ? plan->variant->kernels[plan->kernel] : "", taps->width, taps->height,
          convolve_plan_is_exact (plan) ? "exact " : "", taps->row ? " of rank 1" : "", combinations[plan->combination],
          explain_arithmetic (plan));

  for (int i = 0; convolve_variants[i] != plan->variant && used < size; i++) {
    const ConvolveVariant *row = convolve_variants[i];
    const char *reason;
    ConvolveFound found;

    if (row->on_device && !plan->device)
      continue;
    if (convolve_variant_accepts (row, plan, &found, &reason))
      reason = convolve_variant_follows (row, plan) || convolve_plan_is_free (plan)
          ? "others are faster"
          : "its results for these weights are its own";
    free (found.block);
    used += (size_t) snprintf (text + used, size - used, "; not %s: %s", row->name, reason);
  }
}

bool
convolve_plan_on_device (const ConvolvePlan *plan)
{
  return plan->variant->on_device;
}

void
convolve_plan_source_rows (const ConvolvePlan *plan, int height, int first, int end, int *source_first, int *source_end)
{
  int radius = plan->taps.height / 2;

  if (plan->shrink) {
    *source_first = 0;
    *source_end = height;
    return;
  }
  *source_first = first > radius ? first - radius : 0;
  *source_end = height - end > radius ? end + radius : height;
  /* Mirrored and repeated rows are among these already; wrapped ones are at the other end. */
  if (plan->boundary == CONVOLVE_BOUNDARY_WRAP && (first < radius || height - end < radius)) {
    *source_first = 0;
    *source_end = height;
  }
}

bool
convolve_plan_is_identity (const ConvolvePlan *plan)
{
  return plan->identity;
}

bool
convolve_plan_is_exact (const ConvolvePlan *plan)
{
  bool exact = plan->exact && plan->arithmetic.kind == CONVOLVE_ARITHMETIC_EXACT;

  for (int k = 0; k < plan->n_parts; k++)
    exact = exact && plan->parts[k].arithmetic.kind == CONVOLVE_ARITHMETIC_EXACT;
  return exact;
}

bool
convolve_plan_is_reproducible (const ConvolvePlan *plan)
{
  return convolve_variant_follows (plan->variant, plan);
}

ConvolveStatus
convolve_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolvePixel *pixel = &plan->pixel;

  if (convolve_check_plane (pixel, plane, error) != CONVOLVE_OK)
    return CONVOLVE_INVALID;
  if (plan->device && pixel->type == CONVOLVE_SAMPLE_U16
      && (((uintptr_t) plane->source | (uintptr_t) plane->destination | (uintptr_t) plane->source_stride
              | (uintptr_t) plane->destination_stride)
          & 1))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "16-bit samples at an odd address or stride");
  return plan->variant->run (plan, plane, error);
}
