/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/accepts.h"
#include "cuda/registers/border.h"
#include "cuda/registers/border_product.h"

CONVOLVE_DEVICE_FUNCTIONS (packed_separable);

/* The largest sum of magnitudes of a row. Its row sums span 257 * 255 = 65535, and fit into 16 bits. */
#define LARGEST_ROW 257

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;

  if (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS) {
    *reason = "the pixel format has samples of more than 8 bits";
    return plan->pixel.type == CONVOLVE_SAMPLE_U8 && convolve_border_accepts_product (plan, reason);
  }
  if (!convolve_accepts_rank_1 (plan, reason))
    return false;
  *reason = "the mask's row and column are not integers -128 to 127, or the row's sum of magnitudes is above 257";
  if (plan->exact
      && (!convolve_border_are_bytes (taps->row, taps->width) || !convolve_border_are_bytes (taps->column, taps->height)
          || convolve_sum_of_magnitudes_f (taps->row, taps->width) > LARGEST_ROW))
    return false;
  return convolve_border_accepts_integers (plan, found, reason);
}

const ConvolveVariant convolve_variant_packed_separable = {
  .name = "packed-separable",
  .number = 4,
  .on_device = true,
  .does_products = true,
  .idea = "a column times a row of integers on 8-bit samples: four products in an instruction along rows",
  .accepts = accepts,
  .prepare = convolve_packed_separable_load,
  .run = convolve_packed_separable_run,
};
