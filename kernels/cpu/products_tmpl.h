/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Row sums of two rows of inputs, which become the pairs that columns are summed from. */
#ifndef CONVOLVE_CPU_PRODUCTS_TMPL_H
#define CONVOLVE_CPU_PRODUCTS_TMPL_H

#include "cpu/pairs_tmpl.h"
#include "cpu/shuffle_tmpl.h"

#define HALF (VECTORS / 2)

/* The low 16 bits of both sums, after the cut. */
static inline Ints
pair_sums (Ints upper, Ints lower, int cut)
{
  return ((Ints) ((SignedInts) upper >> cut) & 0xffff) | (Ints) ((SignedInts) lower >> cut) << 16;
}

/* Even and odd outputs of two rows are four sums, so that each has half as many registers as those of two outputs. */
static void
row_sums_of_neighbours (const ConvolveTerms *terms, const uint16_t *const *rows, int count, int32_t start, int cut,
    ConvolvePair *restrict pairs)
{
  const ConvolvePair *upper = (const ConvolvePair *) rows[0], *lower = (const ConvolvePair *) rows[1];

  for (int x = 0; 2 * x < count; x += HALF * LANES) {
    Ints even[2][HALF], odd[2][HALF];

    for (int v = 0; v < HALF; v++)
      even[0][v] = even[1][v] = odd[0][v] = odd[1][v] = spread ((ConvolvePair) start);
    for (int t = 0; t < terms->count; t++) {
      const ConvolveTerm *term = &terms->terms[t];
      Ints even_taps = spread (term->upper), odd_taps = spread (term->lower);

      for (int v = 0; v < HALF; v++) {
        Ints in_upper = *(const IntsAt *) (upper + x + term->offset + v * LANES);
        Ints in_lower = *(const IntsAt *) (lower + x + term->offset + v * LANES);

        even[0][v] = add_products (even[0][v], in_upper, even_taps);
        odd[0][v] = add_products (odd[0][v], in_upper, odd_taps);
        even[1][v] = add_products (even[1][v], in_lower, even_taps);
        odd[1][v] = add_products (odd[1][v], in_lower, odd_taps);
      }
    }
    for (int v = 0; v < HALF; v++) {
      Ints first = pair_sums (even[0][v], even[1][v], cut), second = pair_sums (odd[0][v], odd[1][v], cut);

      *(IntsAt *) (pairs + 2 * (x + v * LANES)) = ZIP_LOW (first, second);
      *(IntsAt *) (pairs + 2 * (x + v * LANES) + LANES) = ZIP_HIGH (first, second);
    }
  }
}

static void
row_sums_of_pairs (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, int32_t start, int cut,
    ConvolvePair *restrict pairs)
{
  for (int x = 0; x < count; x += CHUNK) {
    Ints upper[VECTORS], lower[VECTORS];

    for (int v = 0; v < VECTORS; v++)
      upper[v] = lower[v] = spread ((ConvolvePair) start);
    for (int t = 0; t < terms->count; t++) {
      const ConvolveTerm *term = &terms->terms[t];
      Ints taps = spread (term->upper);

      for (int v = 0; v < VECTORS; v++) {
        upper[v] = add_products (upper[v], *(const IntsAt *) (rows[0] + x + term->offset + v * LANES), taps);
        lower[v] = add_products (lower[v], *(const IntsAt *) (rows[1] + x + term->offset + v * LANES), taps);
      }
    }
    for (int v = 0; v < VECTORS; v++)
      *(IntsAt *) (pairs + x + v * LANES) = pair_sums (upper[v], lower[v], cut);
  }
}

/* The centre's own tap: sums[i] = starts[i] + values[i] * tap, modulo 2^32. */
static void
add_centre (const uint16_t *restrict values, int count, int32_t tap, const int32_t *restrict starts,
    int32_t *restrict sums)
{
  for (int i = 0; i < count; i++)
    sums[i] = (int32_t) ((uint32_t) starts[i] + values[i] * (uint32_t) tap);
}

#undef HALF

#endif
