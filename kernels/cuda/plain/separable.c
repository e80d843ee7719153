/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/separable.h"

#include <stdlib.h>

#include "cuda/device/accepts.h"

static bool
has_products (const ConvolvePlan *plan)
{
  return plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS;
}

size_t
convolve_separable_shared_size (const ConvolvePlan *plan)
{
  size_t lines = CONVOLVE_SEPARABLE_ROWS * (CONVOLVE_SEPARABLE_WIDTH + plan->taps.width - 1);
  size_t ring = (CONVOLVE_SEPARABLE_ROWS + plan->taps.height - 1) * CONVOLVE_SEPARABLE_WIDTH;

  if (has_products (plan)) {
    size_t totals = CONVOLVE_SEPARABLE_WIDTH * CONVOLVE_SEPARABLE_HEIGHT;

    /* At most 42,304 bytes, of a mask of 255x255 with several products. Every device has 48 KB. */
    return (plan->arithmetic.rank > 1 ? totals * sizeof (int64_t) : 0) + lines * sizeof (int)
        + ring * sizeof (uint16_t);
  }
  return lines * sizeof (float) + ring * (plan->double_sums ? sizeof (double) : sizeof (float));
}

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  if (has_products (plan))
    return true;
  if (!convolve_accepts_rank_1 (plan, reason))
    return false;
  *reason = "the row sums in double precision are larger than the device's shared memory";
  return convolve_separable_shared_size (plan) <= convolve_device_shared_limit (plan->device)
      && convolve_accepts_float_taps (plan, reason);
}

ConvolveStatus
convolve_separable_derive (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveArithmetic *from = &plan->arithmetic;
  ConvolveSeparableProducts *to;

  if (!has_products (plan))
    return CONVOLVE_OK;
  plan->prepared = to = calloc (1, sizeof (*to));
  if (!to)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d products", from->rank);
  to->bits = from->bits;
  to->middle = 1 << (plan->pixel.depth - 1);
  to->rank = from->rank;
  to->centre = from->centre;
  for (int i = 0; i < CONVOLVE_MAX_SAMPLES; i++)
    to->start[i] = from->start[i] - ((int64_t) to->middle << to->bits);
  for (int k = 0; k < from->rank; k++) {
    const ConvolveProduct *product = &from->products[k];

    to->products[k].cut = product->cut;
    to->products[k].row_start = (uint32_t) product->row_start;
    for (int i = 0; i < plan->taps.width; i++)
      to->products[k].row[i] = (int16_t) product->row[i];
    for (int j = 0; j < plan->taps.height; j++)
      to->products[k].column[j] = (int16_t) product->column[j];
  }
  return CONVOLVE_OK;
}

static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolveStatus status = convolve_separable_derive (plan, error);

  return status == CONVOLVE_OK ? convolve_separable_load (plan, error) : status;
}

const ConvolveVariant convolve_variant_separable = {
  .name = "separable",
  .number = 11,
  .on_device = true,
  .does_products = true,
  .idea = "a column times a row, as a row pass and a column pass in shared memory",
  .accepts = accepts,
  .prepare = prepare,
  .run = convolve_separable_run,
};
