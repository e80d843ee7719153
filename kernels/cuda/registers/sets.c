/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/sets.h"

#include <math.h>

#include "common/numbers.h"
#include "cuda/registers/border.h"

#define TWO_44 17592186044416.0 /* of the squares of sums in the low bits of CONVOLVE_MAGIC */

static bool
is_pair (const ConvolvePlan *plan)
{
  return plan->combination == CONVOLVE_MAGNITUDE && !plan->root.near_is_right && plan->root.pair_is_right;
}

double
convolve_set_multiple (const ConvolvePlan *plan, int k)
{
  if (plan->combination != CONVOLVE_MAGNITUDE)
    return 1;
  return plan->root.multiple[k] * (is_pair (plan) ? plan->root.pair_multiple : 1);
}

void
convolve_sets_fill (const ConvolvePlan *plan, ConvolveSets *sets)
{
  sets->count = plan->n_parts;
  sets->magnitude = plan->combination == CONVOLVE_MAGNITUDE;
  sets->exact = plan->exact;
  sets->is_pair = is_pair (plan);
  sets->root = plan->root;
  for (int k = 0; k < plan->n_parts; k++) {
    sets->tail[k] = plan->parts[k].tail;
    sets->multiple[k] = (float) convolve_set_multiple (plan, k);
    for (int i = 0; i < CONVOLVE_MAX_SAMPLES && sets->magnitude; i++)
      sets->start[k][i] = (float) (-plan->root.zero[k][i] * convolve_set_multiple (plan, k));
  }
}

bool
convolve_sets_need_double (const ConvolvePlan *plan)
{
  for (int k = 0; k < plan->n_parts; k++)
    if (plan->parts[k].double_sums)
      return true;
  return false;
}

int
convolve_sets_padded (const ConvolvePlan *plan)
{
  return plan->n_parts <= 2 ? 2 : plan->n_parts <= 4 ? 4 : 8;
}

bool
convolve_sets_are_magnitude_of_sum (const ConvolvePlan *plan, const char **reason)
{
  const ConvolvePlan *set = &plan->parts[0], *negative = &plan->parts[1];
  const int count = plan->taps.width * plan->taps.height;
  /* Weights that no arithmetic holds exactly add up to nearly 0. */
  double most = convolve_plan_is_free (plan) ? convolve_budget (plan) / 100 : 0;

  *reason = "the mask is an absolute value whose weights do not add up to 0, and the zero level of the pixels is not 0";
  for (int i = 0; i < plan->pixel.samples; i++)
    if (fabs (set->tail.offset[i] - negative->tail.offset[i]) > most)
      return false;
  *reason = "the mask is an absolute value, and its negative weights become other integers than its weights";
  for (int i = 0; i < count && !convolve_plan_is_free (plan); i++)
    if (set->taps.double_taps[i] * set->tail.scale != -negative->taps.double_taps[i] * negative->tail.scale)
      return false;
  return true;
}

/* Whether direct and packed can compute every set of the mask. */
static bool
accepts_parts (const ConvolvePlan *plan, const char **reason)
{
  *reason = "the mask has several sets of weights, as most absolute values have, and is larger than 5x5";
  if (plan->taps.width > CONVOLVE_SETS_SIDE || plan->taps.height > CONVOLVE_SETS_SIDE)
    return false;
  for (int k = 0; k < plan->n_parts; k++)
    if (!convolve_border_accepts (&plan->parts[k], reason))
      return false;
  return true;
}

/*
 * Whether the sum of a set may take all products in turn in single precision, as in cuda/registers/direct.c. A sum of a
 * magnitude begins with its value at the zero level, which is up to as large as the largest sum: partial sums are up to
 * twice as large then. In an exact plan they must stay below 2^24 all the same. In another plan, the roundings of the
 * start and of a tap times its multiple count as two more.
 */
static bool
is_single (const ConvolvePlan *plan, int k)
{
  const ConvolvePlan *part = &plan->parts[k];
  bool magnitude = plan->combination == CONVOLVE_MAGNITUDE;
  int count = part->taps.width * part->taps.height;
  double gain = convolve_sum_of_magnitudes_f (part->taps.taps, count), start = 0;

  if (part->double_sums)
    return false;
  for (int i = 0; i < plan->pixel.samples && magnitude; i++)
    start = fmax (start, fabs (plan->root.zero[k][i]));
  if (plan->exact)
    return (gain * part->tail.maximum + start) * convolve_set_multiple (plan, k) < CONVOLVE_2_24;
  if (part->exact && !magnitude)
    return true;
  return (part->exact ? fabs (part->tail.scale) : 1) * (gain * part->tail.maximum + start) * (count + 2) / CONVOLVE_2_24
      <= convolve_budget (part) / 4;
}

bool
convolve_direct_accepts_sets (const ConvolvePlan *plan, const char **reason)
{
  if (!accepts_parts (plan, reason))
    return false;
  for (int k = 0; k < plan->n_parts; k++) {
    *reason = "the sums need double precision";
    if (!is_single (plan, k) || (plan->combination != CONVOLVE_MAGNITUDE && plan->parts[k].tail.floor_needs_double))
      return false;
  }
  *reason = "the weights of the sets have no common factor, and their values are too large for single precision";
  return plan->combination != CONVOLVE_MAGNITUDE || plan->exact
      || (plan->root.near_is_right && convolve_plan_is_free (plan));
}

/* Whether the largest sum has the largest value in every sample. */
static bool
have_one_tail (const ConvolvePlan *plan)
{
  const ConvolveTail *first = &plan->parts[0].tail;

  for (int k = 0; k < plan->n_parts; k++)
    for (int i = 0; i < plan->pixel.samples; i++)
      if (plan->parts[k].tail.scale != first->scale || plan->parts[k].tail.offset[i] != first->offset[i])
        return false;
  return first->scale > 0;
}

/* Whether the weights of a set, times its multiple in a magnitude, fit bytes. Adds the square of its largest sum. */
static bool
are_bytes (const ConvolvePlan *plan, int k, double *squares)
{
  const ConvolveTaps *taps = &plan->parts[k].taps;
  double multiple = convolve_set_multiple (plan, k), sum = 0;

  for (int i = 0; i < taps->width * taps->height; i++) {
    double tap = taps->double_taps[i] * multiple;

    if (tap < -128 || tap > 127)
      return false;
    sum += fabs (tap) * 255;
  }
  *squares += sum * sum;
  return true;
}

bool
convolve_packed_accepts_sets (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  double squares = 0;

  if (!accepts_parts (plan, reason))
    return false;
  *reason = "the pixel format has samples of more than 8 bits";
  if (plan->pixel.type != CONVOLVE_SAMPLE_U8)
    return false;
  *reason = "the weights of all sets are not integers -128 to 127 times one factor";
  if (!plan->exact)
    return false;
  for (int k = 0; k < plan->n_parts; k++)
    if (!are_bytes (plan, k, &squares))
      return false;
  if (plan->combination == CONVOLVE_MAGNITUDE) {
    *reason = "the roots of this mask cannot be proved exact in single precision";
    return plan->root.near_is_right && squares < TWO_44;
  }
  *reason = "the sets of weights do not have one divisor above 0 and one sum";
  return have_one_tail (plan) && convolve_border_accepts_integers (&plan->parts[0], found, reason);
}
