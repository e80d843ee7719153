/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/border_product.h"

#include <string.h>

#include "common/integer_tail.h"

#define TOTAL_BITS 32

bool
convolve_border_accepts_product (const ConvolvePlan *plan, const char **reason)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;

  *reason = "the mask is not the product of a column and a row";
  if (arithmetic->rank != 1 || arithmetic->centre != 0)
    return false;
  *reason = "the sums of this mask need more than 32 bits";
  if (!arithmetic->narrow)
    return false;
  *reason = "the row sums of this mask need more than 24 bits";
  if (!arithmetic->short_rows)
    return false;
  return convolve_border_accepts_side (plan, reason) && convolve_border_accepts_layout (plan, reason);
}

/* The least and the largest row sum after the cut, for any samples. */
static void
find_row_sums (const ConvolvePlan *plan, int64_t *least, int64_t *largest)
{
  const ConvolveProduct *product = &plan->arithmetic.products[0];
  int64_t below = 0, above = 0, maximum = (1 << plan->pixel.depth) - 1;

  for (int i = 0; i < plan->taps.width; i++)
    *(product->row[i] < 0 ? &below : &above) += product->row[i] * maximum;
  *least = convolve_cut_row (product, below);
  *largest = convolve_cut_row (product, above);
}

bool
convolve_border_product_clamps (const ConvolvePlan *plan)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const int *column = arithmetic->products[0].column;
  int64_t least, largest, low = 0, high = 0, limit = (int64_t) 1 << (arithmetic->bits + plan->pixel.depth);

  find_row_sums (plan, &least, &largest);
  for (int j = 0; j < plan->taps.height; j++) {
    low += column[j] * (column[j] < 0 ? largest : least);
    high += column[j] * (column[j] < 0 ? least : largest);
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    if (low + arithmetic->start[i] < 0 || high + arithmetic->start[i] >= limit)
      return true;
  return arithmetic->bits > TOTAL_BITS - plan->pixel.depth;
}

void
convolve_border_product_init (const ConvolvePlan *plan, int side, bool clamps, ConvolveBorderProduct *product)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const ConvolveProduct *from = &arithmetic->products[0];
  const int left = (side - plan->taps.width) / 2, top = (side - plan->taps.height) / 2;
  const int up = clamps ? 0 : TOTAL_BITS - plan->pixel.depth - arithmetic->bits;

  memset (product, 0, sizeof (*product));
  product->bits = arithmetic->bits + up;
  product->middle = clamps ? 1 << (plan->pixel.depth - 1) : 0;
  product->row_start = (int) from->row_start;
  for (int i = 0; i < plan->taps.width; i++)
    product->row[left + i] = from->row[i];
  for (int j = 0; j < plan->taps.height; j++)
    product->column[top + j] = from->column[j] * (1 << up);
  for (int i = 0; i < plan->pixel.samples; i++)
    product->start[i] =
        (uint32_t) (((uint64_t) arithmetic->start[i] << up) - ((uint64_t) product->middle << product->bits));
}

bool
convolve_border_product_is_mirrored (const ConvolveBorderProduct *product, int side)
{
  for (int j = 0; j < side / 2; j++)
    if (product->column[j] != product->column[side - 1 - j])
      return false;
  return true;
}

void
convolve_border_product_floats (const ConvolvePlan *plan, const ConvolveBorderProduct *product,
    ConvolveBorderFloats *floats)
{
  const float unit = (float) (1 << plan->pixel.shift);
  uint32_t sum = 0;

  for (int j = 0; j < CONVOLVE_BORDER_SIDE; j++)
    sum += (uint32_t) product->column[j];
  for (int i = 0; i < CONVOLVE_MAX_SAMPLES; i++)
    floats->start[i] = product->start[i] - CONVOLVE_MAGIC_BITS * sum;
  floats->row_start = (float) product->row_start * unit;
  floats->cut = 1 / (unit * (1 << CONVOLVE_SHORT_CUT));
}
