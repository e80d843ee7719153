/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans: checked arguments, the chosen variant, and the call that runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "convolve_pool.h"

#define MAX_EXTENT (1 << 28) /* pixels along a side: index arithmetic on twice as many stays in an int */

bool
convolve_mask_init (ConvolveMask *mask, int width, int height)
{
  *mask = (ConvolveMask){ .width = width, .height = height, .divisor = 1 };
  if (width < 1 || height < 1 || width > CONVOLVE_MAX_SIDE || height > CONVOLVE_MAX_SIDE)
    return false;
  mask->taps = calloc ((size_t) width * height, sizeof (double));
  return mask->taps != NULL;
}

void
convolve_mask_clear (ConvolveMask *mask)
{
  free (mask->taps);
  mask->taps = NULL;
}

static ConvolveStatus
check_pixel (const ConvolvePixel *pixel, ConvolveError *error)
{
  bool bytes = pixel->type == CONVOLVE_SAMPLE_U8;

  if (pixel->type != CONVOLVE_SAMPLE_U8 && pixel->type != CONVOLVE_SAMPLE_U16)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d is no sample type", (int) pixel->type);
  if (bytes ? pixel->depth != 8 : pixel->depth < 9 || pixel->depth > 16)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d significant bits in a sample of %d", pixel->depth,
        bytes ? 8 : 16);
  if (pixel->shift < 0 || pixel->shift > (bytes ? 0 : 16 - pixel->depth))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a shift of %d for %d bits", pixel->shift, pixel->depth);
  if (bytes && pixel->swapped)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "samples of 8 bits have no byte order");
  if (pixel->samples < 1 || pixel->samples > CONVOLVE_MAX_SAMPLES)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d samples in a pixel: there are 1 to %d", pixel->samples,
        CONVOLVE_MAX_SAMPLES);
  if (pixel->stride < pixel->samples * convolve_sample_size (pixel->type) || (!bytes && pixel->stride % 2))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d bytes from pixel to pixel for %d samples of %d",
        pixel->stride, pixel->samples, convolve_sample_size (pixel->type));
  if (pixel->select >> pixel->samples || pixel->biased >> pixel->samples)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "select or biased names a sample that the pixel has not");
  for (int i = 0; i < pixel->samples; i++)
    if (pixel->zero[i] < 0 || pixel->zero[i] >= 1 << pixel->depth)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "a zero level of %d in %d bits", pixel->zero[i], pixel->depth);
  for (int i = 0; i < pixel->samples; i++)
    if (pixel->range[i] < 0 || pixel->range[i] >= 1 << pixel->depth)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "a range of %d code values in %d bits", pixel->range[i],
          pixel->depth);
  return CONVOLVE_OK;
}

/* Takes the variant by its name, or the one that auto.c chooses. */
static ConvolveStatus
choose_variant (ConvolvePlan *plan, const char *name, ConvolveDevice *device, ConvolveError *error)
{
  const ConvolveVariant *const *row = convolve_variants;
  const char *reason;

  plan->device = device;
  if (strcmp (name, "auto") == 0) {
    convolve_auto_choose (plan);
  } else {
    while (*row && strcmp (name, (*row)->name) != 0)
      row++;
    if (!*row)
      return convolve_fail (error, CONVOLVE_INVALID, 0, "there is no variant \"%s\"", name);
    if ((*row)->on_device && !device)
      return convolve_fail (error, CONVOLVE_NO_DEVICE, 0, "%s runs on a CUDA device and there is none", name);
    if (!convolve_variant_accepts (*row, plan, &plan->prepared, &reason))
      return convolve_fail (error, CONVOLVE_UNSUPPORTED, 0, "%s cannot do this mask: %s", name, reason);
    plan->variant = *row;
  }
  if (!plan->variant->on_device)
    plan->device = NULL;
  return CONVOLVE_OK;
}

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
  ConvolvePlan *plan;

  if (check_pixel (pixel, error) != CONVOLVE_OK)
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
  plan->boundary = boundary;
  plan->pixels = pixels;
  if (convolve_taps_init (plan, mask, error) != CONVOLVE_OK
      || choose_variant (plan, variant, device, error) != CONVOLVE_OK
      || (plan->variant->prepare && plan->variant->prepare (plan, error) != CONVOLVE_OK)
      || (plan->variant->load && plan->variant->load (plan, error) != CONVOLVE_OK)) {
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
  convolve_taps_clear (&plan->taps);
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

void
convolve_plan_explain (const ConvolvePlan *plan, char *text, size_t size)
{
  const ConvolveTaps *taps = &plan->taps;
  size_t used = (size_t) snprintf (text, size, "%s for %dx%d %sweights%s", plan->variant->name, taps->width,
      taps->height, plan->exact ? "exact " : "", taps->row ? " of rank 1" : "");

  for (int i = 0; convolve_variants[i] != plan->variant && used < size; i++) {
    const ConvolveVariant *row = convolve_variants[i];
    const char *reason;
    void *found;

    if (row->on_device && !plan->device)
      continue;
    if (convolve_variant_accepts (row, plan, &found, &reason))
      reason = "others are faster";
    free (found);
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
  int reach = plan->taps.height / 2;

  *source_first = first > reach ? first - reach : 0;
  *source_end = height - end > reach ? end + reach : height;
  /* Mirrored and repeated rows are among these already; wrapped ones are at the other end. */
  if (plan->boundary == CONVOLVE_BOUNDARY_WRAP && (first < reach || height - end < reach)) {
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
  return plan->exact;
}

ConvolveStatus
convolve_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveRect *region = &plane->region;
  int64_t row;

  if (!plane->source || !plane->destination)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a plane without memory");
  if (plane->width < 1 || plane->height < 1 || plane->width > MAX_EXTENT || plane->height > MAX_EXTENT)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a plane of %dx%d pixels", plane->width, plane->height);
  if (region->x < 0 || region->y < 0 || region->width < 1 || region->height < 1
      || region->width > plane->width - region->x || region->height > plane->height - region->y)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "a region of %dx%d at %d,%d in a plane of %dx%d", region->width,
        region->height, region->x, region->y, plane->width, plane->height);
  row = (int64_t) (plane->width - 1) * pixel->stride + pixel->samples * convolve_sample_size (pixel->type);
  if (row > INT32_MAX)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "rows of %lld bytes", (long long) row);
  if (plane->height > 1 && (llabs (plane->source_stride) < row || llabs (plane->destination_stride) < row))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "rows of %lld bytes and strides of %td and %td", (long long) row,
        plane->source_stride, plane->destination_stride);
  if (plan->device && pixel->type == CONVOLVE_SAMPLE_U16
      && (((uintptr_t) plane->source | (uintptr_t) plane->destination | (uintptr_t) plane->source_stride
              | (uintptr_t) plane->destination_stride)
          & 1))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "16-bit samples at an odd address or stride");
  return plan->variant->run (plan, plane, error);
}
