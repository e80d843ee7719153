/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The analysis of a plan, or of a part of a combination, before paths are compared. */
#include "cpu/paths/analyse.h"

#include <math.h>

#include "cpu/loops/levels.h"

/*
 * Bounds the error of the tail in float, for plans without integers. The tail rounds the sum, the scale and their
 * product, each of which is a result less the offset. The tail also rounds the offset and the result. Results out of
 * range are clamped in any case.
 */
static double
float_tail_error (const ConvolveCpuAnalysis *a)
{
  const ConvolveTail *tail = &a->plan->tail;
  double offset = 0;

  for (int i = 0; i < a->samples; i++) {
    offset = fmax (offset, fmax (fabs (tail->offset[i]), fabs (tail->offset[i] + a->middle * a->sum)));
    if (a->plan->combination == CONVOLVE_ABSOLUTE) {
      double negative = a->plan->parts[1].tail.offset[i];

      offset = fmax (offset, fmax (fabs (negative), fabs (negative - a->middle * a->sum)));
    }
  }
  return 4.1 * (tail->maximum + 2 + offset) * CONVOLVE_FLOAT_UNIT;
}

/*
 * The budget is the promised error, less what the taps lost when they became floats, less the tail's error. The tail is
 * in float where that takes at most a quarter, and in double otherwise. A fiftieth is left for the rounding of these
 * computations themselves.
 */
static void
find_budget (ConvolveCpuAnalysis *a)
{
  double budget = convolve_budget (a->plan), tail;

  if (a->plan->integers)
    return;
  if (a->plan->device_taps_fit)
    budget -= convolve_sum_of_magnitudes (a->taps, a->width * a->height) * a->plan->tail.maximum * CONVOLVE_FLOAT_UNIT;
  tail = float_tail_error (a);
  a->cpu->tail.needs_double = tail > budget / 4;
  a->budget = 0.98 * (a->cpu->tail.needs_double ? budget : budget - tail);
}

/* Half a unit in the last place of the largest float below m. */
static double
half_unit_below (double m)
{
  return ldexp (CONVOLVE_FLOAT_UNIT, (int) ceil (log2 (m)) - 1);
}

/*
 * Whether float turns all sums of an exact plan into the exact results, where common/taps.c does not prove that. Sums
 * are exact in float, also those in units of a tap. Results fall nowhere where sums grow, so that it is enough to look
 * at those that are not clamped.
 *
 * Where the results before rounding, which are multiples of the plan's step, are floats themselves, nothing is rounded,
 * and the offset is to be without its half of a step. Otherwise the errors of the scale, the product, the offset and
 * the result must be less than that half.
 */
static bool
make_float_tail (const ConvolvePlan *plan, ConvolveTail *tail)
{
  const double end = tail->maximum + 1.0;
  const bool whole = fabs (tail->scale) <= 1 && tail->scale_low == 0 && end / plan->step <= CONVOLVE_2_24;

  for (int i = 0; i < plan->pixel.samples; i++) {
    double offset = tail->offset[i], product = offset > 0 ? fmax (end, offset) : end - offset;
    double error = product * CONVOLVE_FLOAT_UNIT + half_unit_below (product) + fabs (offset) * CONVOLVE_FLOAT_UNIT
        + half_unit_below (end);

    if (!(whole && offset >= 0 && offset < end) && !(1.001 * error < plan->margin))
      return false;
  }
  for (int i = 0; i < plan->pixel.samples && whole; i++) {
    tail->offset[i] -= plan->margin;
    tail->offset_f[i] = (float) tail->offset[i];
  }
  return true;
}

void
convolve_cpu_analyse (const ConvolvePlan *plan, ConvolveCpu *cpu, ConvolveCpuAnalysis *a)
{
  const ConvolveTaps *taps = &plan->taps;

  *a = (ConvolveCpuAnalysis){ .plan = plan,
    .cpu = cpu,
    .taps = taps->double_taps,
    .width = taps->width,
    .height = taps->height,
    .samples = plan->pixel.samples,
    .middle = 1 << (plan->pixel.depth - 1) };
  cpu->level = convolve_cpu_level (convolve_cpu_level_count () - 1);
  cpu->tail = plan->tail;
  cpu->middle = (int) a->middle;
  for (int i = 0; i < a->width * a->height; i++)
    a->sum += a->taps[i];
  find_budget (a);
  if (plan->exact && plan->combination == CONVOLVE_SUM && plan->step > 0 && cpu->tail.needs_double)
    cpu->tail.needs_double = !make_float_tail (plan, &cpu->tail);
}
