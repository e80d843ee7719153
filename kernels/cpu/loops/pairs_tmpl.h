/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of pairs (cpu/cpu.h). One turn of a loop makes CHUNK words of a row of outputs, whose sums stay in registers for
 * all terms. With AVX2, a register has 8 lanes, and a turn that serves two outputs has two times 4 registers of sums:
 *
 *   lane          0      1    ...    7
 *   upper[0]     x      x+1   ...   x+7        the sums of the upper output at these words
 *   ...
 *   upper[3]     x+24   x+25  ...   x+31
 *   lower[0..3]  the same for the lower output
 *
 * For each term, the pairs of 8 words are loaded once. One copy of the term's upper taps in each lane multiplies them
 * for upper[v], and one copy of its lower taps for lower[v].
 */
#ifndef CONVOLVE_CPU_PAIRS_TMPL_H
#define CONVOLVE_CPU_PAIRS_TMPL_H

#include <stddef.h>

#include "cpu/loops/vectors_tmpl.h"

#define PAIR_UP(name, Element) \
  static void name (const Element *restrict first, const Element *restrict second, int count, int middle, \
      ConvolvePair *restrict pairs) \
  { \
    for (int i = 0; i < count; i++) \
      pairs[i] = (uint16_t) (first[i] - middle) | (uint32_t) (uint16_t) (second[i] - middle) << 16; \
  }

PAIR_UP (pair_up, uint16_t)
PAIR_UP (pair_up_bytes, uint8_t)

/* --- sums in registers --- */

static inline void
load_starts (const int32_t *starts, Ints sums[VECTORS])
{
  for (int v = 0; v < VECTORS; v++)
    sums[v] = *(const IntsAt *) (starts + v * LANES);
}

/* Adds the terms first .. end - 1. lower is NULL where a term serves one output. */
static inline __attribute__ ((always_inline)) void
add_range (const ConvolveTerm *terms, int first, int end, const ConvolvePair *const *rows, int x, Ints upper[VECTORS],
    Ints lower[VECTORS])
{
  for (int t = first; t < end; t++) {
    const ConvolveTerm *term = &terms[t];
    const ConvolvePair *at = rows[term->row] + x + term->offset;
    Ints upper_taps = spread (term->upper), lower_taps = spread (term->lower);

    for (int v = 0; v < VECTORS; v += 2) {
      Ints left = *(const IntsAt *) (at + v * LANES), right = *(const IntsAt *) (at + (v + 1) * LANES);

      add_four_products (upper + v, lower ? lower + v : NULL, left, right, upper_taps, lower_taps);
    }
  }
}

/* Adds all terms. */
static inline __attribute__ ((always_inline)) void
add_terms (const ConvolveTerms *terms, const ConvolvePair *const *rows, int x, Ints upper[VECTORS], Ints lower[VECTORS])
{
  add_range (terms->terms, 0, terms->count, rows, x, upper, lower);
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
  int32_t value = (int32_t) ((uint32_t) (sum >> shift.bits) + shift.middle);

  value = value > 0 ? value : 0;
  return (unsigned) (value < shift.maximum ? value : shift.maximum);
}

/*
 * Writes two registers as 16-bit numbers, clamped to 0 .. maximum, which 16 bits with a sign hold. Sums beyond 16 bits
 * become the nearest number on the way.
 */
static inline void
store_clamped (Ints low, Ints high, int maximum, uint16_t *to)
{
#if defined(__AVX512BW__)
  __m512i values = _mm512_max_epi16 (_mm512_packs_epi32 ((__m512i) low, (__m512i) high), _mm512_setzero_si512 ());

  values = _mm512_min_epi16 (values, _mm512_set1_epi16 ((int16_t) maximum));
  _mm512_storeu_si512 (to, _mm512_permutexvar_epi64 (_mm512_setr_epi64 (0, 2, 4, 6, 1, 3, 5, 7), values));
#elif defined(__AVX2__)
  __m256i values = _mm256_max_epi16 (_mm256_packs_epi32 ((__m256i) low, (__m256i) high), _mm256_setzero_si256 ());

  values = _mm256_min_epi16 (values, _mm256_set1_epi16 ((int16_t) maximum));
  _mm256_storeu_si256 ((__m256i *) to, _mm256_permute4x64_epi64 (values, 0xd8));
#elif defined(__SSE2__)
  __m128i values = _mm_max_epi16 (_mm_packs_epi32 ((__m128i) low, (__m128i) high), _mm_setzero_si128 ());

  _mm_storeu_si128 ((__m128i *) to, _mm_min_epi16 (values, _mm_set1_epi16 ((int16_t) maximum)));
#elif defined(ARM64)
  int16x8_t values = vqmovn_high_s32 (vqmovn_s32 ((int32x4_t) low), (int32x4_t) high);

  values = vminq_s16 (vmaxq_s16 (values, vdupq_n_s16 (0)), vdupq_n_s16 ((int16_t) maximum));
  vst1q_u16 (to, vreinterpretq_u16_s16 (values));
#else
  for (int i = 0; i < 2 * LANES; i++) {
    int32_t value = (int32_t) (i < LANES ? low[i] : high[i - LANES]);

    to[i] = (uint16_t) (value < 0 ? 0 : value < maximum ? value : maximum);
  }
#endif
}

static inline void
store_values (const Ints sums[VECTORS], ConvolveShift shift, uint16_t *restrict to)
{
  int32_t plain[CHUNK];

  if (shift.maximum <= INT16_MAX) {
    for (int v = 0; v < VECTORS; v += 2)
      store_clamped ((Ints) ((SignedInts) sums[v] >> shift.bits) + (uint32_t) shift.middle,
          (Ints) ((SignedInts) sums[v + 1] >> shift.bits) + (uint32_t) shift.middle, shift.maximum, to + v * LANES);
    return;
  }
  store_ints (sums, plain);
  for (int i = 0; i < CHUNK; i++)
    to[i] = (uint16_t) shift_down (plain[i], shift);
}

/* --- two rows of outputs --- */

static void
sum_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    int32_t *upper_sums, int32_t *lower_sums)
{
  for (int x = 0; x < count; x += CHUNK) {
    Ints upper[VECTORS], lower[VECTORS];

    load_starts (starts + x, upper);
    load_starts (starts + x, lower);
    add_terms (terms, rows, x, upper, lower);
    store_ints (upper, upper_sums + x);
    store_ints (lower, lower_sums + x);
  }
}

static inline __attribute__ ((always_inline)) void
store_tails (const Ints sums[VECTORS], float scale, float offset, int maximum, uint16_t *to)
{
  for (int v = 0; v < VECTORS; v += 2)
    store_truncated (__builtin_convertvector((SignedInts) sums[v], Floats) * scale + offset,
        __builtin_convertvector((SignedInts) sums[v + 1], Floats) * scale + offset, maximum, to + v * LANES);
}

static void
tails_of_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    float scale, float offset, int maximum, uint16_t *upper_values, uint16_t *lower_values)
{
  for (int x = 0; x < count; x += CHUNK) {
    Ints upper[VECTORS], lower[VECTORS];

    load_starts (starts + x, upper);
    load_starts (starts + x, lower);
    add_terms (terms, rows, x, upper, lower);
    store_tails (upper, scale, offset, maximum, upper_values + x);
    store_tails (lower, scale, offset, maximum, lower_values + x);
  }
}

/* Inlined where it is known whether both rows have the same starts, which are loaded once then. */
static inline __attribute__ ((always_inline)) void
do_values_of_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *upper_starts,
    const int32_t *lower_starts, ConvolveShift shift, uint16_t *upper_values, uint16_t *lower_values)
{
  for (int x = 0; x < count; x += CHUNK) {
    Ints upper[VECTORS], lower[VECTORS];

    load_starts (upper_starts + x, upper);
    load_starts (lower_starts + x, lower);
    add_terms (terms, rows, x, upper, lower);
    store_values (upper, shift, upper_values + x);
    store_values (lower, shift, lower_values + x);
  }
}

static void
values_of_rows (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *const starts[2],
    const ConvolveShift *shift, uint16_t *upper_values, uint16_t *lower_values)
{
  if (starts[0] == starts[1])
    do_values_of_rows (terms, rows, count, starts[0], starts[0], *shift, upper_values, lower_values);
  else
    do_values_of_rows (terms, rows, count, starts[0], starts[1], *shift, upper_values, lower_values);
}

/* --- one row of outputs --- */

static void
values_of_row (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
    const ConvolveShift *shift, uint16_t *values)
{
  ConvolveShift by = *shift;

  for (int x = 0; x < count; x += CHUNK) {
    Ints sums[VECTORS];

    load_starts (starts + x, sums);
    add_terms (terms, rows, x, sums, NULL);
    store_values (sums, by, values + x);
  }
}

#endif
