/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/separable.h"

#include <stdlib.h>
#include <string.h>

#include "common/factors.h"
#include "common/numbers.h"
#include "cuda/device/accepts.h"

#define EIGHT CONVOLVE_SEPARABLE_EIGHT
#define TALL 64 /* rows of a mask above which blocks are higher, and do fewer row sums twice */

static bool
has_products (const ConvolvePlan *plan)
{
  return plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS;
}

/* Bounds the error of a sum in blocks, relative to the sum of the magnitudes (Higham 2002, lemma 3.1). */
static double
error_of_sum (int count)
{
  int block = count < CONVOLVE_SEPARABLE_BLOCK ? count : CONVOLVE_SEPARABLE_BLOCK;
  double error = (block + (count - 1) / CONVOLVE_SEPARABLE_BLOCK) * CONVOLVE_FLOAT_UNIT;

  return error / (1 - error);
}

/* Blocks, and samples less the middle, may do with float where a plan needs double_sums. */
bool
convolve_separable_sums_floats (const ConvolvePlan *plan)
{
  return convolve_float_sums_fit (plan, error_of_sum (plan->taps.width), error_of_sum (plan->taps.height));
}

/* The largest block whose shared memory the device has, or the smallest one. */
static ConvolveSeparableShape
shape_of (const ConvolvePlan *plan)
{
  static const int warps[][2] = { { 2, 2 }, { 1, 2 }, { 1, 1 } };
  const int size = convolve_separable_sums_floats (plan) ? sizeof (float) : sizeof (double);
  ConvolveSeparableShape shape = { .height = plan->taps.height > TALL ? 96 : 64,
    .lag = (plan->taps.height + EIGHT - 2) / EIGHT };

  for (size_t i = 0; i < sizeof (warps) / sizeof (warps[0]); i++) {
    shape.warps_across = warps[i][0];
    shape.warps_down = warps[i][1];
    shape.groups = shape.lag + shape.warps_down;
    shape.line_pitch =
        shape.warps_across * CONVOLVE_SEPARABLE_WIDTH + (plan->taps.width + EIGHT - 1) / EIGHT * EIGHT + 4;
    shape.ring_pitch = shape.warps_across * CONVOLVE_SEPARABLE_WIDTH + 16 / size;
    shape.chunks = EIGHT
        * (shape.warps_down * shape.line_pitch * (int) sizeof (float) + shape.groups * shape.ring_pitch * size) / 16;
    if ((size_t) shape.chunks * 16 <= convolve_device_shared_limit (plan->device))
      break;
  }
  return shape;
}

size_t
convolve_separable_shared_size (const ConvolvePlan *plan)
{
  if (!has_products (plan))
    return (size_t) shape_of (plan).chunks * 16;
  size_t lines = CONVOLVE_SEPARABLE_ROWS * (CONVOLVE_SEPARABLE_WIDTH + plan->taps.width - 1);
  size_t ring = (CONVOLVE_SEPARABLE_ROWS + plan->taps.height - 1) * CONVOLVE_SEPARABLE_WIDTH;
  size_t totals = CONVOLVE_SEPARABLE_WIDTH * CONVOLVE_SEPARABLE_HEIGHT;

  /* At most 42,304 bytes, of a mask of 255x255 with several products. Every device has 48 KB. */
  return (plan->arithmetic.rank > 1 ? totals * sizeof (int64_t) : 0) + lines * sizeof (int) + ring * sizeof (uint16_t);
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

/* Exact sums stay sums of samples, whose integers are within what float or double holds. */
static ConvolveStatus
derive_taps (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  ConvolveSeparableTaps *to = calloc (1, sizeof (*to));

  plan->prepared = to;
  if (!to)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for the taps of a plan");
  memcpy (to->row, from->row, from->width * sizeof (float));
  memcpy (to->column, from->column, from->height * sizeof (float));
  to->shape = shape_of (plan);
  if (plan->integers)
    return CONVOLVE_OK;
  to->middle = (float) (1 << (plan->pixel.depth - 1));
  to->restored = (float) convolve_middle_of_sums (plan);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_separable_derive (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveArithmetic *from = &plan->arithmetic;
  ConvolveSeparableProducts *to;

  if (!has_products (plan))
    return derive_taps (plan, error);
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
