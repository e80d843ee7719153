/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/accepts.h"
#include "cuda/registers/border.h"
#include "cuda/registers/border_product.h"

CONVOLVE_DEVICE_FUNCTIONS (fused);

static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  if (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS)
    return convolve_border_accepts_product (plan, reason);
  return convolve_accepts_float_rank_1 (plan, reason) && convolve_border_accepts (plan, reason);
}

const ConvolveVariant convolve_variant_fused = {
  .name = "fused",
  .number = 5,
  .does_products = true,
  .idea = "a column times a row in one pass: row sums stay in registers and are added to all outputs above and below",
  .accepts = accepts,
  CONVOLVE_ON_DEVICE (fused),
};
