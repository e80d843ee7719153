/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/tensor/tensor_separable.h"

#include <stdlib.h>

#include "cuda/device/accepts.h"

#define CHUNK CONVOLVE_TENSOR_PRODUCTS_CHUNK

/* The last group's window begins 3 groups after the first one's, which begins `lead` bytes before a multiple of 16. */
int
convolve_tensor_separable_chunks (const ConvolvePlan *plan, const ConvolveTensorProducts *products)
{
  const int group = CONVOLVE_TENSOR_PRODUCTS_GROUP * convolve_sample_size (plan->pixel.type);
  const int window = products->segments * CONVOLVE_TENSOR_PRODUCTS_SEGMENT;
  const int before_window = (CHUNK - products->lead % CHUNK) % CHUNK;

  return (before_window + (CONVOLVE_TENSOR_PRODUCTS_WARPS - 1) * group + window + CHUNK - 1) / CHUNK;
}

/* The shared memory of the smallest block, in bytes: operands, a tile for 16 rows of outputs, and a ring of slabs. */
static size_t
shared_size (const ConvolvePlan *plan, const ConvolveTensorProducts *products)
{
  const size_t pitch = (size_t) (convolve_tensor_separable_chunks (plan, products) | 1) * CHUNK;

  return convolve_tensor_products_operands_size (plan, products)
      + products->slabs * CONVOLVE_TENSOR_PRODUCTS_ROWS * pitch
      + (size_t) CONVOLVE_TENSOR_PRODUCTS_WARPS * products->rank * products->slabs
      * CONVOLVE_TENSOR_PRODUCTS_SLAB_BYTES;
}

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  ConvolveTensorProductsFound *products;

  if (!convolve_tensor_products_accept (plan, false, &products, reason))
    return false;
  if (shared_size (plan, &products->products) > convolve_device_shared_limit (plan->device)
      || convolve_tensor_separable_chunks (plan, &products->products) > CONVOLVE_TENSOR_PRODUCTS_WARPS * 32) {
    *reason = CONVOLVE_NEEDS_SHARED;
    free (products);
    return false;
  }
  found->block = products;
  return true;
}

static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolveStatus status = convolve_tensor_products_put (plan, error);

  return status == CONVOLVE_OK ? convolve_tensor_separable_load (plan, error) : status;
}

const ConvolveVariant convolve_variant_tensor_separable = {
  .name = "tensor-separable",
  .number = 3,
  .on_device = true,
  .idea = "up to four products of a column and a row, as banded matrices on the tensor cores",
  .does_products = true,
  .accepts = accepts,
  .prepare = prepare,
  .run = convolve_tensor_separable_run,
};
