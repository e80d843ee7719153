/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operands of tensor-separable and tensor-fused: banded matrices made of the integers that were chosen. */
#include <stdlib.h>
#include <string.h>

#include "cuda/tensor/tensor_products.h"

static uint32_t
byte_at (int digit, int b)
{
  return (uint32_t) (digit & 255) << 8 * b;
}

/* What sum s multiplies this byte of a sample's word by: digit s - byte of the tap, or 0 where there is none. */
static int
digit_for (const ConvolvePlan *plan, int tap, int s, int byte)
{
  int d = s - byte, digits = convolve_tensor_products_digits (plan);

  if (d < 0 || d >= digits)
    return 0;
  return digits == 1 ? tap
      : d == 0       ? convolve_tensor_products_low_digit (tap)
                     : convolve_tensor_products_high_digit (tap);
}

uint32_t
convolve_tensor_products_row_word (const ConvolvePlan *plan, const ConvolveTensorProducts *products,
    const ConvolveTensorProductsTaps *taps, int r, int u, int s, int lane, int k)
{
  const int bytes = convolve_sample_size (plan->pixel.type), samples = plan->pixel.samples;
  const int radius = plan->taps.width / 2 * samples, output = lane / 4 * 4 + k; /* in samples */
  uint32_t word = 0;

  for (int b = 0; b < 4; b++) {
    int at = convolve_tensor_products_byte (products, u, lane) + b - products->lead; /* bytes, from the first output */
    int byte = at & (bytes - 1), sample = (at - byte) / bytes;
    int distance = sample - (output - radius); /* from where the first tap of this output is */

    if (distance >= 0 && distance <= 2 * radius && distance % samples == 0)
      word |= byte_at (digit_for (plan, taps->row[r][distance / samples], s, byte), b);
  }
  return word;
}

uint32_t
convolve_tensor_products_column_word (const ConvolvePlan *plan, const ConvolveTensorProductsTaps *taps, int r, int p,
    int lane, int k)
{
  const int output = k / 2 * 8 + lane / 4, high = k % 2;
  uint32_t word = 0;

  for (int b = 0; b < 4; b++) {
    /* The rows of a slab in the order in which lanes hold them: 0, 1, 8, 9, 2, 3, 10, 11 and so on. */
    int row = p * CONVOLVE_TENSOR_PRODUCTS_ROWS + b / 2 * 8 + lane % 4 * 2 + b % 2;
    int at = row - output, tap;

    if (at < 0 || at >= plan->taps.height)
      continue;
    tap = taps->column[r][at];
    if (convolve_tensor_products_digits (plan) == 1)
      word |= high ? byte_at (tap, b) : 0;
    else
      word |= byte_at (high ? convolve_tensor_products_high_digit (tap) : convolve_tensor_products_low_digit (tap), b);
  }
  return word;
}

/* Where slabs stay in registers, the columns of a slab are there twice: as those of this slab and of the next one. */
size_t
convolve_tensor_products_operands_size (const ConvolvePlan *plan, const ConvolveTensorProducts *products)
{
  int columns = products->slabs * (convolve_tensor_products_in_registers (products) ? 2 : 1);

  return ((size_t) products->rank * (products->segments * convolve_tensor_products_row_sums (plan) + columns) * 32
             + CONVOLVE_TENSOR_PRODUCTS_HEADER)
      * CONVOLVE_TENSOR_PRODUCTS_CHUNK;
}

/* The parts of the operands, in the order of the header; each writes its words from `to` on and returns their end. */
static uint32_t *
fill_header (const ConvolvePlan *plan, const ConvolveTensorProducts *products, uint32_t *to)
{
  for (int phase = 0; phase < CONVOLVE_TENSOR_PRODUCTS_PHASES; phase++) {
    for (int i = 0; i < 8; i++)
      *to++ = (uint32_t) products->start[(phase + i / 2) % plan->pixel.samples];
    for (int i = 0; i < 4; i++) {
      float offset = convolve_tensor_products_offset (plan, products, (phase + i) % plan->pixel.samples);

      memcpy (to++, &offset, sizeof (float));
    }
  }
  for (int i = 0; i < 4 * CONVOLVE_MAX_RANK; i++)
    *to++ = (uint32_t) products->row_start[i / 4];
  return to;
}

static uint32_t *
fill_rows (const ConvolvePlan *plan, const ConvolveTensorProductsFound *found, int r, uint32_t *to)
{
  const ConvolveTensorProducts *products = &found->products;
  const int sums = convolve_tensor_products_row_sums (plan);

  for (int u = 0; u < products->segments; u += 2)
    for (int s = 0; s < sums; s++)
      if (u + 1 < products->segments) {
        for (int i = 0; i < 256; i++) { /* [half][lane][segment][register] */
          int half = i / 128, lane = i / 4 % 32, segment = i / 2 % 2, k = 2 * half + i % 2;

          *to++ = convolve_tensor_products_row_word (plan, products, &found->taps, r, u + segment, s, lane, k);
        }
      } else {
        for (int i = 0; i < 128; i++) /* [lane][k] */
          *to++ = convolve_tensor_products_row_word (plan, products, &found->taps, r, u, s, i / 4, i % 4);
      }
  return to;
}

static uint32_t *
fill_columns (const ConvolvePlan *plan, const ConvolveTensorProductsFound *found, int r, uint32_t *to)
{
  const int slabs = found->products.slabs;

  for (int p = 0; p < slabs; p++)
    if (convolve_tensor_products_in_registers (&found->products)) {
      for (int i = 0; i < 256; i++) { /* [8 rows of outputs][lane][digit][this slab, next slab] */
        int b = i / 128, lane = i / 4 % 32, digit = i / 2 % 2, slab = (p + i % 2) % slabs;

        *to++ = convolve_tensor_products_column_word (plan, &found->taps, r, slab, lane, 2 * b + digit);
      }
    } else {
      for (int i = 0; i < 128; i++) /* [lane][k] */
        *to++ = convolve_tensor_products_column_word (plan, &found->taps, r, p, i / 4, i % 4);
    }
  return to;
}

ConvolveStatus
convolve_tensor_products_put (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTensorProductsFound *found = plan->prepared;
  const size_t size = convolve_tensor_products_operands_size (plan, &found->products);
  uint32_t *words = malloc (size), *end;
  ConvolveStatus status;

  if (!words)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d", plan->taps.width,
        plan->taps.height);
  end = fill_header (plan, &found->products, words);
  for (int r = 0; r < found->products.rank; r++)
    end = fill_rows (plan, found, r, end);
  for (int r = 0; r < found->products.rank; r++)
    end = fill_columns (plan, found, r, end);
  status =
      convolve_device_put (plan->device, words, (size_t) (end - words) * sizeof (*words), &plan->device_memory, error);
  free (words);
  return status;
}
