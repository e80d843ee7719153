/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/accepts.h"

#include "common/numbers.h"

bool
convolve_accepts_float_taps (const ConvolvePlan *plan, const char **reason)
{
  *reason = "the weights are too large for single precision";
  return plan->device_taps_fit;
}

bool
convolve_accepts_parameters (const ConvolvePlan *plan, const char **reason)
{
  if (plan->taps.width * plan->taps.height > CONVOLVE_MAX_PARAMETER_TAPS) {
    *reason = "the mask has more than 8100 weights, which is what constant memory holds";
    return false;
  }
  return convolve_accepts_float_taps (plan, reason);
}

bool
convolve_accepts_rank_1 (const ConvolvePlan *plan, const char **reason)
{
  *reason = "the mask is not the product of a column and a row";
  return plan->taps.row;
}

bool
convolve_accepts_float_rank_1 (const ConvolvePlan *plan, const char **reason)
{
  if (!convolve_accepts_rank_1 (plan, reason))
    return false;
  *reason = "the sums need double precision";
  return !plan->double_sums;
}

/*
 * The 3 is for the middle and its addition to the sum, which is up to twice the middle. What float taps and factors miss
 * takes a quarter of the budget at most, see common/taps.c, and a tail in float takes less than a twentieth.
 */
bool
convolve_float_sums_fit (const ConvolvePlan *plan, double rows, double columns)
{
  const ConvolveTaps *taps = &plan->taps;

  if (!plan->double_sums || plan->arithmetic.kind != CONVOLVE_ARITHMETIC_FREE)
    return !plan->double_sums;
  double most = convolve_sum_of_magnitudes_f (taps->row, taps->width)
      * convolve_sum_of_magnitudes_f (taps->column, taps->height) * (1 << (plan->pixel.depth - 1));
  return most * (rows + columns + rows * columns + 3 * CONVOLVE_FLOAT_UNIT) <= convolve_budget (plan) * 0.7;
}

double
convolve_middle_of_sums (const ConvolvePlan *plan)
{
  double sum = 0;

  for (int i = 0; i < plan->taps.width * plan->taps.height; i++)
    sum += plan->taps.double_taps[i];
  return sum * (1 << (plan->pixel.depth - 1));
}
