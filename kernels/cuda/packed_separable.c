/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/accepts.h"
#include "cuda/border.h"

CONVOLVE_DEVICE_FUNCTIONS (packed_separable);

/* The largest sum of magnitudes of a row. Its row sums span 257 * 255 = 65535, and fit into 16 bits. */
#define LARGEST_ROW 257

static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;

  if (!convolve_accepts_rank_1 (plan, reason))
    return false;
  *reason = "the mask's row and column are not integers -128 to 127, or the row's sum of magnitudes is above 257";
  if (plan->exact
      && (!convolve_border_are_bytes (taps->row, taps->width) || !convolve_border_are_bytes (taps->column, taps->height)
          || convolve_border_magnitude (taps->row, taps->width) > LARGEST_ROW))
    return false;
  return convolve_border_accepts_integers (plan, found, reason);
}

const ConvolveVariant convolve_variant_packed_separable = {
  .name = "packed-separable",
  .number = 4,
  .idea = "a column times a row of 8-bit integers: four products in an instruction along rows, two down columns",
  .accepts = accepts,
  CONVOLVE_ON_DEVICE (packed_separable),
};
