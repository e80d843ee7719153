/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of tensor-separable and tensor-fused: the integers, and which plans have such ones. */
#include "cuda/tensor/tensor_products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/factors.h"
#include "common/integer_tail.h"
#include "cuda/device/accepts.h"

#define MOST_START 1e9 /* leaves room for a total in 32 bits */
#define MOST_FLOOR 4e6 /* below the 2^22 of convolve_floor () */

/* The mask's radius, in bytes of a row. */
static int
radius_in_bytes (const ConvolvePlan *plan)
{
  return plan->taps.width / 2 * plan->pixel.samples * convolve_sample_size (plan->pixel.type);
}

/* Whether samples are brought to the tile, and written from there, one by one. */
static bool
lies_apart (const ConvolvePixel *pixel)
{
  return pixel->stride != pixel->samples * convolve_sample_size (pixel->type) || pixel->swapped
      || (pixel->type == CONVOLVE_SAMPLE_U16 && pixel->select != (1u << pixel->samples) - 1);
}

/* The layout for tensor-separable, where a lane reads words of 4 bytes. */
static void
measure (const ConvolvePlan *plan, ConvolveTensorProducts *products)
{
  const int group = CONVOLVE_TENSOR_PRODUCTS_GROUP * convolve_sample_size (plan->pixel.type);
  const int segment = CONVOLVE_TENSOR_PRODUCTS_SEGMENT, rows = CONVOLVE_TENSOR_PRODUCTS_ROWS;
  const int radius = radius_in_bytes (plan);

  products->lane_bytes = 4;
  products->lead = (radius + 3) / 4 * 4;
  products->segments = (products->lead + group + radius + segment - 1) / segment;
  products->slabs = (rows + plan->taps.height - 1 + rows - 1) / rows;
  /* There are kernels with 2, 3 and 5 slabs in registers. A slab too many is multiplied by zeros. */
  if (products->slabs < 2)
    products->slabs = 2;
  else if (products->slabs == 4)
    products->slabs = 5;
}

/* --- exact plans --- */

/*
 * Where the scale of the tail is a power of two, a shift ends the totals, and their start takes the offset. The offset
 * has a share of plan->step on top, against roundings that a shift does not have: floor () drops it.
 */
static bool
shift_exactly (const ConvolvePlan *plan, ConvolveTensorProducts *products)
{
  const int most_bits = 22;

  for (int bits = 0; bits <= most_bits; bits++)
    if (plan->step > 0 && plan->tail.scale == ldexp (1, -bits)) {
      products->shift = bits;
      for (int i = 0; i < plan->pixel.samples; i++) {
        double start = products->start[i] + floor (ldexp (plan->tail.offset[i], bits));

        if (fabs (start) > MOST_START)
          return false;
        products->start[i] = (int32_t) start;
      }
      return true;
    }
  return false;
}

/* Chooses what ends the totals: a shift, the integer tail, or the plan's tail in single precision. */
static bool
choose_exact_tail (const ConvolvePlan *plan, ConvolveTensorProducts *products, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;
  const double gain =
      fabs (plan->tail.scale) * convolve_sum_of_magnitudes (taps->double_taps, taps->width * taps->height);
  double largest_offset = 0;

  if (shift_exactly (plan, products))
    return true;
  products->shift = -1;
  products->has_integer_tail = convolve_integer_tail_choose (plan, &products->integer_tail, reason);
  for (int i = 0; i < plan->pixel.samples && products->has_integer_tail; i++)
    products->start[i] += products->integer_tail.start[i];
  if (products->has_integer_tail)
    return true;
  for (int i = 0; i < plan->pixel.samples; i++)
    largest_offset = fmax (largest_offset, fabs (plan->tail.offset[i]));
  if (!(plan->step > 0) || plan->tail.floor_needs_double || gain * plan->tail.maximum + largest_offset > MOST_FLOOR) {
    *reason = "the mask's divisor is too fine for single precision";
    return false;
  }
  return true;
}

/*
 * Takes row and column as they are: one digit each, and row sums of 16 bits. A bias keeps row sums from being negative,
 * and the start of the totals takes it off again.
 */
static bool
choose_exact (const ConvolvePlan *plan, ConvolveTensorProducts *products, ConvolveTensorProductsTaps *taps,
    const char **reason)
{
  const ConvolveTaps *from = &plan->taps;
  const int maximum = (int) plan->tail.maximum;
  int64_t magnitudes = 0, below = 0, column_sum = 0, bias;
  float peak = 0;

  if (!from->row) {
    *reason = "the mask is not the product of a column and a row";
    return false;
  }
  for (int i = 0; i < from->width; i++) {
    taps->row[0][i] = (int) from->row[i];
    magnitudes += abs (taps->row[0][i]);
    below += from->row[i] < 0 ? -taps->row[0][i] : 0;
    peak = fmaxf (peak, fabsf (from->row[i]));
  }
  for (int j = 0; j < from->height; j++) {
    taps->column[0][j] = (int) from->column[j];
    column_sum += taps->column[0][j];
    peak = fmaxf (peak, fabsf (from->column[j])); /* gcc 12 for arm64 fails on fmax () of floats in a loop */
  }
  if (plan->pixel.type == CONVOLVE_SAMPLE_U8)
    bias = below > 0 ? 32768 : 0;
  else
    bias = below * maximum;
  if (peak > 127 || below * maximum > bias || (magnitudes - below) * maximum + bias > 65535) {
    *reason = "the integers of the mask's row and column need more than one byte, or a row's sum more than two";
    return false;
  }
  products->rank = 1;
  if (plan->pixel.type == CONVOLVE_SAMPLE_U8) {
    products->row_start[0] = (int32_t) bias;
  } else { /* words have the sample pixel.shift bits further up; the sum of samples has to begin at bit 16 */
    products->scale[0] = 1u << (16 - plan->pixel.shift);
    products->row_start[0] = (int32_t) ((uint32_t) bias << 16);
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    products->start[i] = (int32_t) (-bias * column_sum);
  return choose_exact_tail (plan, products, reason);
}

/* --- plans of PRODUCTS --- */

/* Widens *low .. *high by all sums of the product: of column taps times row sums, for any samples. */
static void
add_range (const ConvolvePlan *plan, const ConvolveProduct *product, int64_t *low, int64_t *high)
{
  const int maximum = (int) plan->tail.maximum;
  int64_t below = 0, above = 0;

  for (int i = 0; i < plan->taps.width; i++)
    *(product->row[i] < 0 ? &below : &above) += (int64_t) product->row[i] * maximum;
  below = convolve_cut_row (product, below);
  above = convolve_cut_row (product, above);
  for (int j = 0; j < plan->taps.height; j++) {
    *low += product->column[j] * (product->column[j] < 0 ? above : below);
    *high += product->column[j] * (product->column[j] < 0 ? below : above);
  }
}

/*
 * Where no result needs clamping and totals are no finer than 2^24, they are made that fine: then one byte of a total
 * is the sample, which saves the kernels the shift and the clamp. Column taps get the factor of that, if they have room
 * for it.
 */
static void
make_byte (const ConvolvePlan *plan, ConvolveTensorProducts *products, ConvolveTensorProductsTaps *taps)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const int up = 24 - arithmetic->bits;
  int64_t low = arithmetic->centre < 0 ? arithmetic->centre * 255LL : 0;
  int64_t high = arithmetic->centre > 0 ? arithmetic->centre * 255LL : 0;

  if (plan->pixel.type != CONVOLVE_SAMPLE_U8 || up < 0)
    return;
  for (int r = 0; r < products->rank; r++) {
    add_range (plan, &arithmetic->products[r], &low, &high);
    for (int j = 0; j < plan->taps.height; j++)
      if (abs (taps->column[r][j]) > CONVOLVE_LARGEST_OF_2_DIGITS >> up)
        return;
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    if (low + arithmetic->start[i] < 0 || (high + arithmetic->start[i]) >> arithmetic->bits > 255)
      return;
  for (int r = 0; r < products->rank; r++)
    for (int j = 0; j < plan->taps.height; j++)
      taps->column[r][j] *= 1 << up;
  for (int i = 0; i < plan->pixel.samples; i++)
    products->start[i] = (int32_t) ((uint32_t) products->start[i] << up);
  products->centre = (int32_t) ((uint32_t) products->centre << up);
  products->shift += up;
  products->is_byte = true;
}

/*
 * Takes the integers of the plan's arithmetic. Words of deep samples have the sample pixel.shift bits further up, which
 * makes the words' cut larger. Where that is above 16 bits, the words are shifted down first.
 */
static bool
choose_products (const ConvolvePlan *plan, ConvolveTensorProducts *products, ConvolveTensorProductsTaps *taps,
    const char **reason)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const int most_cut = 16;

  *reason = "the mask is not the sum of up to four products of a column and a row with weights of two bytes";
  if (arithmetic->kind != CONVOLVE_ARITHMETIC_PRODUCTS)
    return false;
  products->rank = arithmetic->rank;
  for (int r = 0; r < products->rank; r++) {
    const ConvolveProduct *product = &arithmetic->products[r];
    const int down = product->cut + plan->pixel.shift - most_cut;

    memcpy (taps->row[r], product->row, plan->taps.width * sizeof (int));
    memcpy (taps->column[r], product->column, plan->taps.height * sizeof (int));
    products->down = down > products->down ? down : products->down;
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    products->start[i] = (int32_t) (arithmetic->start[i] / 256);
  products->centre = arithmetic->centre / 256;
  products->shift = arithmetic->bits - 8;
  make_byte (plan, products, taps);
  products->short_rows = products->is_byte && arithmetic->short_rows;
  for (int r = 0; r < products->rank; r++) {
    const ConvolveProduct *product = &arithmetic->products[r];
    const int up = products->short_rows ? 0 : most_cut - product->cut; /* bits from where a row sum begins to bit 16 */

    products->row_start[r] = (int32_t) (uint32_t) (product->row_start << up);
    products->scale[r] = products->short_rows ? 0 : 1u << (up - plan->pixel.shift + products->down);
  }
  return true;
}

bool
convolve_tensor_products_choose (const ConvolvePlan *plan, ConvolveTensorProducts *products,
    ConvolveTensorProductsTaps *taps, const char **reason)
{
  memset (products, 0, sizeof (*products));
  measure (plan, products);
  products->apart = lies_apart (&plan->pixel);
  return plan->exact ? choose_exact (plan, products, taps, reason) : choose_products (plan, products, taps, reason);
}

/* Whether the samples of a pixel begin or end with different numbers. */
static bool
samples_differ (const ConvolvePlan *plan, const ConvolveTensorProducts *products)
{
  for (int i = 1; i < plan->pixel.samples; i++)
    if (products->start[i] != products->start[0]
        || (plan->exact
            && convolve_tensor_products_offset (plan, products, i)
                != convolve_tensor_products_offset (plan, products, 0)))
      return true;
  return false;
}

bool
convolve_tensor_products_for_fused (const ConvolvePlan *plan, ConvolveTensorProducts *products, const char **reason)
{
  const int bytes = convolve_sample_size (plan->pixel.type), window = 64 * bytes;
  const int group = CONVOLVE_TENSOR_PRODUCTS_GROUP * bytes;

  *reason = "the mask needs more than one product, has more than 33 rows, or has a radius of more than 16 samples";
  if (products->rank > 1 || group + 2 * radius_in_bytes (plan) > window
      || plan->taps.height > CONVOLVE_TENSOR_FUSED_HEIGHT)
    return false;
  *reason = "the mask is a product of a column and a row but for the weight at the centre";
  if (products->centre)
    return false;
  /* The kernels have one list of starts for four samples side by side. Of three to a pixel, any may be the first. */
  *reason = "the three samples of a pixel differ in their zero levels or offsets";
  if (plan->pixel.samples == 3 && samples_differ (plan, products))
    return false;
  products->lane_bytes = 16;
  products->lead = (window - group) / 2;
  products->segments = window / CONVOLVE_TENSOR_PRODUCTS_SEGMENT;
  return true;
}

/* --- both variants --- */

bool
convolve_tensor_products_accept (const ConvolvePlan *plan, bool for_fused, ConvolveTensorProductsFound **found,
    const char **reason)
{
  const ConvolvePixel *pixel = &plan->pixel;

  *reason = CONVOLVE_NEEDS_8_0;
  if (convolve_device_capability (plan->device) < 80)
    return false;
  *reason = "no sample is convolved";
  if (!pixel->select)
    return false;
  *reason = "the pixels have padding bytes, the other byte order, or 16-bit samples that are not convolved";
  if (lies_apart (pixel) && (for_fused || plan->exact))
    return false;
  *reason = CONVOLVE_REASON_NO_MEMORY;
  *found = malloc (sizeof (**found));
  if (*found && convolve_tensor_products_choose (plan, &(*found)->products, &(*found)->taps, reason)
      && (!for_fused || convolve_tensor_products_for_fused (plan, &(*found)->products, reason)))
    return true;
  free (*found);
  *found = NULL;
  return false;
}
