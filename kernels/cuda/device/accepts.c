/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/accepts.h"

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
