/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of pairs that need more than 32 bits: ConvolveWideTerms of cpu/loops/level.h says how they are added up. */
#ifndef CONVOLVE_CPU_WIDE_TMPL_H
#define CONVOLVE_CPU_WIDE_TMPL_H

#include "cpu/loops/pairs_tmpl.h"

/* The two registers of a total, for VECTORS registers of words. */
typedef struct
{
  Ints high[VECTORS], all[VECTORS];
} Totals;

static inline void
begin_totals (ConvolveWideStarts starts, int low_bits, int x, Totals *totals)
{
  for (int v = 0; v < VECTORS; v++) {
    totals->high[v] = *(const IntsAt *) (starts.high + x + v * LANES);
    totals->all[v] = (totals->high[v] << low_bits) + *(const IntsAt *) (starts.low + x + v * LANES);
  }
}

static inline void
add_to_totals (const Ints sums[VECTORS], int place, int low_bits, Totals *totals)
{
  if (place >= low_bits) {
    for (int v = 0; v < VECTORS; v++) {
      totals->high[v] += sums[v] << (place - low_bits);
      totals->all[v] += sums[v] << place;
    }
    return;
  }
  for (int v = 0; v < VECTORS; v++) {
    totals->high[v] += (Ints) ((SignedInts) sums[v] >> (low_bits - place));
    totals->all[v] += sums[v] << place;
  }
}

/* The totals of CHUNK words of both rows of outputs. */
static inline void
add_wide_terms (const ConvolveWideTerms *terms, const ConvolvePair *const *rows, int x,
    const ConvolveWideStarts starts[2], Totals *upper, Totals *lower)
{
  int first = 0;

  begin_totals (starts[0], terms->low_bits, x, upper);
  begin_totals (starts[1], terms->low_bits, x, lower);
  for (int g = 0; g < terms->n_groups; first = terms->groups[g++].end) {
    Ints sums[2][VECTORS];

    for (int v = 0; v < VECTORS; v++)
      sums[0][v] = sums[1][v] = (Ints){ 0 };
    if (first >= terms->groups[g].end) /* without this, compilers copy all sums in every turn of the loop over terms */
      continue;
    add_range (terms->terms, first, terms->groups[g].end, rows, x, sums[0], sums[1]);
    add_to_totals (sums[0], terms->groups[g].place, terms->low_bits, upper);
    add_to_totals (sums[1], terms->groups[g].place, terms->low_bits, lower);
  }
}

/* The bits of a total below low_bits; their sum may be larger than low_bits hold, and then carries. */
static inline Ints
low_part (const Totals *totals, int low_bits, int v)
{
  return totals->all[v] - (totals->high[v] << low_bits);
}

static inline void
store_wide_values (const Totals *totals, int low_bits, ConvolveShift shift, uint16_t *restrict to)
{
  Ints sums[VECTORS];

  for (int v = 0; v < VECTORS; v++)
    sums[v] = totals->high[v] + (low_part (totals, low_bits, v) >> low_bits);
  store_values (sums, shift, to);
}

static inline void
store_wide_sums (const Totals *totals, int low_bits, double *restrict to)
{
  double unit = 1 << low_bits;
  int32_t high[CHUNK];
  uint32_t low[CHUNK];

  for (int v = 0; v < VECTORS; v++) {
    *(IntsAt *) (high + v * LANES) = totals->high[v];
    *(IntsAt *) (low + v * LANES) = low_part (totals, low_bits, v);
  }
  for (int i = 0; i < CHUNK; i++)
    to[i] = high[i] * unit + low[i];
}

static void
wide_values_of_rows (const ConvolveWideTerms *terms, const ConvolvePair *const *rows, int count,
    const ConvolveWideStarts starts[2], const ConvolveShift *shift, uint16_t *upper_values, uint16_t *lower_values)
{
  ConvolveShift by = *shift;

  for (int x = 0; x < count; x += CHUNK) {
    Totals upper, lower;

    add_wide_terms (terms, rows, x, starts, &upper, &lower);
    store_wide_values (&upper, terms->low_bits, by, upper_values + x);
    store_wide_values (&lower, terms->low_bits, by, lower_values + x);
  }
}

static void
wide_sums_of_rows (const ConvolveWideTerms *terms, const ConvolvePair *const *rows, int count,
    ConvolveWideStarts starts, double *upper_sums, double *lower_sums)
{
  const ConvolveWideStarts both[2] = { starts, starts };

  for (int x = 0; x < count; x += CHUNK) {
    Totals upper, lower;

    add_wide_terms (terms, rows, x, both, &upper, &lower);
    store_wide_sums (&upper, terms->low_bits, upper_sums + x);
    store_wide_sums (&lower, terms->low_bits, lower_sums + x);
  }
}

#endif
