/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A combination is computed from the sums of its parts, each of which is a plain mask with taps and tail of its own.
 *
 * The largest value needs no arithmetic of its own: rounding and clamping never change the order of two values, so the
 * largest of the parts' results is the result of the largest value. Its error is at most that of one part. An absolute
 * value is the largest of a value and its negative.
 *
 * The magnitude of the values v_k is their Euclidean norm. If each v_k is wrong by at most e, the norm is wrong by at
 * most the norm of these errors, by the triangle inequality: sqrt (n) * e for n sets. So a part of a magnitude gets
 * 1 / sqrt (n) of the promised error, less 2 per cent for the root itself, which is computed in double.
 */
#include "common/sets.h"

#include <math.h>
#include <stdlib.h>

#include "common/shrink.h"

#define ROOT_SHARE 0.02 /* of the promised error */

/* Analyses set k of the mask, with its divisor times sign, as a plain mask. */
static ConvolveStatus
init_set (ConvolvePlan *plan, const ConvolveMask *mask, int k, int sign, ConvolveError *error)
{
  ConvolveMask set = { .width = mask->width,
    .height = mask->height,
    .divisor = sign * convolve_mask_divisor (mask, k),
    .offset = mask->offset,
    .taps = convolve_mask_taps (mask, k) };
  ConvolveError wrong = { 0 };
  ConvolveStatus status = convolve_taps_init (plan, &set, mask->combination != CONVOLVE_SUM, &wrong);

  if (status == CONVOLVE_OK)
    return status;
  if (convolve_mask_sets (mask) > 1)
    return convolve_fail (error, status, 0, "set %d: %.400s", k + 1, wrong.text);
  return convolve_fail (error, status, 0, "%s", wrong.text);
}

/* The first part of an absolute value has a divisor above 0, so that the result grows with the magnitude of its sum. */
static int
sign_of (const ConvolveMask *mask)
{
  return mask->combination == CONVOLVE_ABSOLUTE && mask->divisor < 0 ? -1 : 1;
}

static ConvolveStatus
init_parts (ConvolvePlan *plan, const ConvolveMask *mask, ConvolveError *error)
{
  bool magnitude = mask->combination == CONVOLVE_MAGNITUDE, absolute = mask->combination == CONVOLVE_ABSOLUTE;
  int n = absolute ? 2 : mask->sets, sign = sign_of (mask);

  plan->parts = calloc (n, sizeof (*plan->parts));
  if (!plan->parts)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d sets of weights", n);
  plan->n_parts = n;
  for (int k = 0; k < n; k++) {
    ConvolvePlan *part = &plan->parts[k];
    ConvolveStatus status;

    part->pixel = plan->pixel;
    part->boundary = plan->boundary;
    part->pixels = plan->pixels;
    part->budget_share = magnitude ? (1 - ROOT_SHARE) / sqrt (n) : 1;
    status = init_set (part, mask, absolute ? 0 : k, absolute && k == 1 ? -sign : sign, error);
    if (status != CONVOLVE_OK)
      return status;
    plan->exact = plan->exact && part->exact;
  }
  if (magnitude)
    plan->exact = convolve_root_init (plan, mask);
  plan->identity = plan->pixel.select == 0;
  return CONVOLVE_OK;
}

static ConvolveStatus
check_sets (const ConvolveMask *mask, ConvolveError *error)
{
  bool several = mask->combination == CONVOLVE_MAGNITUDE || mask->combination == CONVOLVE_LARGEST;
  int least = several ? 2 : 1, most = several ? CONVOLVE_MAX_SETS : 1, sets = mask->sets == 0 ? 1 : mask->sets;

  if ((int) mask->combination < 0 || mask->combination >= CONVOLVE_N_COMBINATIONS)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "%d is no combination of sets of weights",
        (int) mask->combination);
  if (sets < least || sets > most)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "the mask has %d sets of weights: %s", mask->sets,
        several ? "a magnitude and a largest value have 2 to 8" : "others have 1");
  return CONVOLVE_OK;
}

/* A Gaussian without weights. What there is of taps is the identity, with the offset. */
static ConvolveStatus
init_gaussian (ConvolvePlan *plan, const ConvolveMask *mask, ConvolveError *error)
{
  double one = 1;
  const ConvolveMask own = { .width = 1, .height = 1, .divisor = 1, .offset = mask->offset, .taps = &one };
  ConvolveStatus status;

  if (!isfinite (mask->divisor) || mask->divisor == 0)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "the divisor is %g: a divisor must be finite and not 0",
        mask->divisor);
  status = convolve_taps_init (plan, &own, true, error);
  return status == CONVOLVE_OK ? convolve_shrink_init (plan, mask, error) : status;
}

ConvolveStatus
convolve_sets_init (ConvolvePlan *plan, const ConvolveMask *mask, ConvolveError *error)
{
  ConvolveStatus status = check_sets (mask, error);

  plan->budget_share = 1;
  plan->combination = mask->combination;
  if (status == CONVOLVE_OK && mask->combination == CONVOLVE_GAUSSIAN)
    return init_gaussian (plan, mask, error);
  if (status == CONVOLVE_OK)
    status = init_set (plan, mask, 0, sign_of (mask), error);
  if (status == CONVOLVE_OK && mask->combination != CONVOLVE_SUM)
    status = init_parts (plan, mask, error);
  return status;
}

static void
clear_set (ConvolvePlan *set)
{
  convolve_taps_clear (&set->taps);
  convolve_arithmetic_clear (&set->arithmetic);
}

void
convolve_sets_clear (ConvolvePlan *plan)
{
  for (int k = 0; k < plan->n_parts; k++)
    clear_set (&plan->parts[k]);
  free (plan->parts);
  free (plan->shrink);
  clear_set (plan);
}
