/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of pairs: see cpu/cpu.h. */
#ifndef CONVOLVE_CPU_PAIRS_TMPL_H
#define CONVOLVE_CPU_PAIRS_TMPL_H

#include "cpu/vectors_tmpl.h"

static void
pair_up (const uint16_t *restrict first, const uint16_t *restrict second, int count, int center,
    ConvolvePair *restrict pairs)
{
  for (int i = 0; i < count; i++)
    pairs[i] = (uint16_t) (first[i] - center) | (uint32_t) (uint16_t) (second[i] - center) << 16;
}

static void
pair_up_bytes (const uint8_t *restrict first, const uint8_t *restrict second, int count, int center,
    ConvolvePair *restrict pairs)
{
  for (int i = 0; i < count; i++)
    pairs[i] = (uint16_t) (first[i] - center) | (uint32_t) (uint16_t) (second[i] - center) << 16;
}

static inline void
load_starts (const int32_t *starts, Ints sums[VECTORS])
{
  for (int v = 0; v < VECTORS; v++)
    sums[v] = *(const IntsAt *) (starts + v * LANES);
}

static inline __attribute__ ((always_inline)) void
add_range_2 (const ConvolveTerms *terms, int first, int end, const ConvolvePair *const *rows, int x,
    Ints upper[VECTORS], Ints lower[VECTORS])
{
  for (int t = first; t < end; t++) {
    const ConvolveTerm *term = &terms->terms[t];
    const ConvolvePair *at = rows[term->row] + x + term->offset;
    Ints upper_taps = spread (term->upper), lower_taps = spread (term->lower);

    for (int v = 0; v < VECTORS; v++) {
      Ints pairs = *(const IntsAt *) (at + v * LANES);

      upper[v] = add_products (upper[v], pairs, upper_taps);
      lower[v] = add_products (lower[v], pairs, lower_taps);
    }
  }
}

/* Adds the sums of a group, which are rounded by what they started from, to the totals. */
static inline void
end_group (const Ints sums[VECTORS], int shift, Ints total[VECTORS])
{
  for (int v = 0; v < VECTORS; v++)
    total[v] += (Ints) ((SignedInts) sums[v] >> shift);
}

/* Inlined where grouped is known, so that sums without groups keep all registers. */
static inline __attribute__ ((always_inline)) void
add_terms_2 (const ConvolveTerms *terms, bool grouped, const ConvolvePair *const *rows, int x, Ints upper[VECTORS],
    Ints lower[VECTORS])
{
  int shift = terms->group_shift, first = 0;
  Ints half = spread (shift > 0 ? 1u << (shift - 1) : 0);

  if (!grouped) {
    add_range_2 (terms, 0, terms->count, rows, x, upper, lower);
    return;
  }
  for (int g = 0; g < terms->n_groups; first = terms->ends[g++]) {
    Ints sums[2][VECTORS];

    for (int v = 0; v < VECTORS; v++)
      sums[0][v] = sums[1][v] = half;
    add_range_2 (terms, first, terms->ends[g], rows, x, sums[0], sums[1]);
    end_group (sums[0], shift, upper);
    end_group (sums[1], shift, lower);
  }
}

static inline __attribute__ ((always_inline)) void
add_range_1 (const ConvolveTerms *terms, int first, int end, const ConvolvePair *const *rows, int x, Ints sums[VECTORS])
{
  for (int t = first; t < end; t++) {
    const ConvolveTerm *term = &terms->terms[t];
    const ConvolvePair *at = rows[term->row] + x + term->offset;
    Ints taps = spread (term->upper);

    for (int v = 0; v < VECTORS; v++)
      sums[v] = add_products (sums[v], *(const IntsAt *) (at + v * LANES), taps);
  }
}

static inline __attribute__ ((always_inline)) void
add_terms_1 (const ConvolveTerms *terms, bool grouped, const ConvolvePair *const *rows, int x, Ints total[VECTORS])
{
  int shift = terms->group_shift, first = 0;
  Ints half = spread (shift > 0 ? 1u << (shift - 1) : 0);

  if (!grouped) {
    add_range_1 (terms, 0, terms->count, rows, x, total);
    return;
  }
  for (int g = 0; g < terms->n_groups; first = terms->ends[g++]) {
    Ints sums[VECTORS];

    for (int v = 0; v < VECTORS; v++)
      sums[v] = half;
    add_range_1 (terms, first, terms->ends[g], rows, x, sums);
    end_group (sums, shift, total);
  }
}

static inline void
store_ints (const Ints sums[VECTORS], int32_t *to)
{
  for (int v = 0; v < VECTORS; v++)
    *(IntsAt *) (to + v * LANES) = sums[v];
}

static inline unsigned
shift_down (int32_t sum, ConvolveShift shift)
{
  int32_t value = (int32_t) ((uint32_t) (sum >> shift.bits) + shift.center);

  value = value > 0 ? value : 0;
  return (unsigned) (value < shift.maximum ? value : shift.maximum);
}

static inline void
store_values (const Ints sums[VECTORS], ConvolveShift shift, uint16_t *restrict to)
{
  int32_t plain[CHUNK];

  store_ints (sums, plain);
  for (int i = 0; i < CHUNK; i++)
    to[i] = (uint16_t) shift_down (plain[i], shift);
}

static void
sum_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    int32_t *upper_sums, int32_t *lower_sums)
{
  for (int x = 0; x < count; x += CHUNK) {
    Ints upper[VECTORS], lower[VECTORS];

    load_starts (starts + x, upper);
    load_starts (starts + x, lower);
    add_terms_2 (terms, false, rows, x, upper, lower);
    store_ints (upper, upper_sums + x);
    store_ints (lower, lower_sums + x);
  }
}

static void
values_of_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *upper_values, uint16_t *lower_values)
{
  ConvolveShift by = *shift;

  for (int x = 0; x < count; x += CHUNK) {
    Ints upper[VECTORS], lower[VECTORS];

    load_starts (starts + x, upper);
    load_starts (starts + x, lower);
    add_terms_2 (terms, false, rows, x, upper, lower);
    store_values (upper, by, upper_values + x);
    store_values (lower, by, lower_values + x);
  }
}

static void
shorts_of_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, int shift,
    uint16_t *restrict upper_values, uint16_t *restrict lower_values)
{
  Ints half = spread (shift > 0 ? 1u << (shift - 1) : 0);

  for (int x = 0; x < count; x += CHUNK) {
    Ints upper[VECTORS], lower[VECTORS];
    int32_t plain[2][CHUNK];

    for (int v = 0; v < VECTORS; v++)
      upper[v] = lower[v] = half;
    add_terms_2 (terms, false, rows, x, upper, lower);
    for (int v = 0; v < VECTORS; v++) {
      *(IntsAt *) (plain[0] + v * LANES) = (Ints) ((SignedInts) upper[v] >> shift);
      *(IntsAt *) (plain[1] + v * LANES) = (Ints) ((SignedInts) lower[v] >> shift);
    }
    for (int i = 0; i < CHUNK; i++)
      upper_values[x + i] = (uint16_t) plain[0][i];
    for (int i = 0; i < CHUNK; i++)
      lower_values[x + i] = (uint16_t) plain[1][i];
  }
}

/* Even outputs meet pairs from their first neighbour on; odd ones meet the same pairs, the taps one place further. */
static inline __attribute__ ((always_inline)) void
add_neighbours (const ConvolveTerms *terms, bool grouped, const uint16_t *const *rows, int x, const int32_t *starts,
    int32_t even[CHUNK], int32_t odd[CHUNK])
{
  Ints first[VECTORS], second[VECTORS];

  load_starts (starts + x, first);
  load_starts (starts + x, second);
  add_terms_2 (terms, grouped, (const ConvolvePair *const *) rows, x, first, second);
  store_ints (first, even);
  store_ints (second, odd);
}

static inline __attribute__ ((always_inline)) void
do_sum_neighbours (const ConvolveTerms *terms, bool grouped, const uint16_t *const *rows, int count,
    const int32_t *starts, int32_t *restrict sums)
{
  for (int x = 0; 2 * x < count; x += CHUNK) {
    int32_t even[CHUNK], odd[CHUNK];

    add_neighbours (terms, grouped, rows, x, starts, even, odd);
    for (int i = 0; i < CHUNK; i++) {
      sums[2 * (x + i)] = even[i];
      sums[2 * (x + i) + 1] = odd[i];
    }
  }
}

static __attribute__ ((noinline)) void
sum_neighbours_in_groups (const ConvolveTerms *terms, const uint16_t *const *rows, int count, const int32_t *starts,
    int32_t *restrict sums)
{
  do_sum_neighbours (terms, true, rows, count, starts, sums);
}

static void
sum_neighbours (const ConvolveTerms *terms, const uint16_t *const *rows, int count, const int32_t *starts,
    int32_t *restrict sums)
{
  if (terms->n_groups > 0)
    sum_neighbours_in_groups (terms, rows, count, starts, sums);
  else
    do_sum_neighbours (terms, false, rows, count, starts, sums);
}

static inline __attribute__ ((always_inline)) void
do_values_of_neighbours (const ConvolveTerms *terms, bool grouped, const uint16_t *const *rows, int count,
    const int32_t *starts, const ConvolveShift *shift, uint16_t *restrict values)
{
  ConvolveShift by = *shift;
  TwoWords *restrict pairs = (TwoWords *) values;

  for (int x = 0; 2 * x < count; x += CHUNK) {
    int32_t even[CHUNK], odd[CHUNK];

    add_neighbours (terms, grouped, rows, x, starts, even, odd);
    for (int i = 0; i < CHUNK; i++)
      pairs[x + i] = shift_down (even[i], by) | shift_down (odd[i], by) << 16;
  }
}

static __attribute__ ((noinline)) void
values_of_neighbours_in_groups (const ConvolveTerms *terms, const uint16_t *const *rows, int count,
    const int32_t *starts, const ConvolveShift *shift, uint16_t *restrict values)
{
  do_values_of_neighbours (terms, true, rows, count, starts, shift, values);
}

static void
values_of_neighbours (const ConvolveTerms *terms, const uint16_t *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *restrict values)
{
  if (terms->n_groups > 0)
    values_of_neighbours_in_groups (terms, rows, count, starts, shift, values);
  else
    do_values_of_neighbours (terms, false, rows, count, starts, shift, values);
}

static inline __attribute__ ((always_inline)) void
do_sum_row (const ConvolveTerms *terms, bool grouped, const ConvolvePair *const *rows, int count, const int32_t *starts,
    int32_t *sums)
{
  for (int x = 0; x < count; x += CHUNK) {
    Ints total[VECTORS];

    load_starts (starts + x, total);
    add_terms_1 (terms, grouped, rows, x, total);
    store_ints (total, sums + x);
  }
}

static __attribute__ ((noinline)) void
sum_row_in_groups (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    int32_t *sums)
{
  do_sum_row (terms, true, rows, count, starts, sums);
}

static void
sum_row (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts, int32_t *sums)
{
  if (terms->n_groups > 0)
    sum_row_in_groups (terms, rows, count, starts, sums);
  else
    do_sum_row (terms, false, rows, count, starts, sums);
}

static inline __attribute__ ((always_inline)) void
do_values_of_row (const ConvolveTerms *terms, bool grouped, const ConvolvePair *const *rows, int count,
    const int32_t *starts, const ConvolveShift *shift, uint16_t *values)
{
  ConvolveShift by = *shift;

  for (int x = 0; x < count; x += CHUNK) {
    Ints total[VECTORS];

    load_starts (starts + x, total);
    add_terms_1 (terms, grouped, rows, x, total);
    store_values (total, by, values + x);
  }
}

static __attribute__ ((noinline)) void
values_of_row_in_groups (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *values)
{
  do_values_of_row (terms, true, rows, count, starts, shift, values);
}

static void
values_of_row (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *values)
{
  if (terms->n_groups > 0)
    values_of_row_in_groups (terms, rows, count, starts, shift, values);
  else
    do_values_of_row (terms, false, rows, count, starts, shift, values);
}

#endif
