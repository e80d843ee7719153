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
}
