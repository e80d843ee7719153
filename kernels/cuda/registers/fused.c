/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/device/accepts.h"
#include "cuda/registers/border.h"
#include "cuda/registers/border_product.h"
#include "cuda/registers/fused.h"

CONVOLVE_DEVICE_FUNCTIONS (fused);

static bool
is_deep (const ConvolvePlan *plan)
{
  const int side = 3 + 2 * convolve_border_size (plan);
  ConvolveBorderProduct product;

  if (plan->pixel.type != CONVOLVE_SAMPLE_U16 || (!convolve_deep_is_top (plan) && plan->pixel.shift != 0)
      || convolve_border_product_clamps (plan))
    return false;
  convolve_border_product_init (plan, side, false, &product);
  return convolve_border_product_is_mirrored (&product, side);
}

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  if (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS) {
    if (!convolve_border_accepts_product (plan, reason))
      return false;
    found->kernel = is_deep (plan) ? CONVOLVE_FUSED_DEEP_PRODUCT : CONVOLVE_FUSED_PRODUCT;
    return true;
  }
  return convolve_accepts_float_rank_1 (plan, reason) && convolve_border_accepts (plan, reason);
}

static const char *const kernels[] = {
  [CONVOLVE_FUSED_FLOATS] = "floats",
  [CONVOLVE_FUSED_PRODUCT] = "integers",
  [CONVOLVE_FUSED_DEEP_PRODUCT] = "integers of 16-bit samples",
};

const ConvolveVariant convolve_variant_fused = {
  .name = "fused",
  .kernels = kernels,
  .number = 5,
  .on_device = true,
  .does_products = true,
  .idea = "a column times a row in one pass: row sums stay in registers and are added to all outputs above and below",
  .accepts = accepts,
  .prepare = convolve_fused_load,
  .run = convolve_fused_run,
};
