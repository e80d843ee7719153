/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/tensor_separable.h"

#include <stdlib.h>

#include "cuda/accepts.h"

int
convolve_tensor_separable_chunks (const ConvolvePlan *plan, const ConvolveProducts *products)
{
  int group = CONVOLVE_PRODUCTS_GROUP * convolve_sample_size (plan->pixel.type);

  return ((16 - products->lead % 16) % 16 + (CONVOLVE_PRODUCTS_WARPS - 1) * group
             + products->units * CONVOLVE_PRODUCTS_UNIT + 15)
      / 16;
}

/* Operands, a tile for 16 rows, and the row sums that are kept, in bytes. */
static size_t
shared_size (const ConvolvePlan *plan, const ConvolveProducts *products)
{
  return convolve_products_operands_size (plan, products)
      + (size_t) products->pairs * CONVOLVE_PRODUCTS_ROWS * (convolve_tensor_separable_chunks (plan, products) | 1) * 16
      + (size_t) CONVOLVE_PRODUCTS_WARPS * products->rank * products->pairs * 1024;
}

static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  ConvolveFoundProducts *products;

  if (!convolve_products_accept (plan, false, &products, reason))
    return false;
  if (shared_size (plan, &products->products) > convolve_device_shared_limit (plan->device)
      || convolve_tensor_separable_chunks (plan, &products->products) > CONVOLVE_PRODUCTS_WARPS * 32) {
    *reason = CONVOLVE_NEEDS_SHARED;
    free (products);
    return false;
  }
  *found = products;
  return true;
}

const ConvolveVariant convolve_variant_tensor_separable = {
  .name = "tensor-separable",
  .number = 3,
  .idea = "a mask of rank 1, or a sum of up to four such, as two products with banded matrices on the tensor cores",
  .accepts = accepts,
  .prepare = convolve_products_prepare,
  CONVOLVE_ON_DEVICE (tensor_separable),
};
