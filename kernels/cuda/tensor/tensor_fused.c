/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/tensor/tensor_products.h"

CONVOLVE_DEVICE_FUNCTIONS (tensor_fused);

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  ConvolveTensorProductsFound *products;

  *reason = "not all samples of a pixel are convolved";
  if (plan->pixel.select != (1u << plan->pixel.samples) - 1
      || !convolve_tensor_products_accept (plan, true, &products, reason))
    return false;
  found->block = products;
  return true;
}

static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolveStatus status = convolve_tensor_products_put (plan, error);

  return status == CONVOLVE_OK ? convolve_tensor_fused_load (plan, error) : status;
}

const ConvolveVariant convolve_variant_tensor_fused = {
  .name = "tensor-fused",
  .number = 2,
  .on_device = true,
  .idea = "a column times a row on the tensor cores; a warp keeps its samples and row sums in registers",
  .does_products = true,
  .accepts = accepts,
  .prepare = prepare,
  .run = convolve_tensor_fused_run,
};
