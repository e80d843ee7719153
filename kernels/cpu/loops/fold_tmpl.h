/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One product whose row is symmetric, for two rows of outputs at a time. Row sums go from registers straight into the
 * sums of columns. The pairs of a ring stay in the order that join_shorts () gives them, which pack_joined () undoes at
 * the end.
 */
#ifndef CONVOLVE_CPU_FOLD_TMPL_H
#define CONVOLVE_CPU_FOLD_TMPL_H

#include "cpu/loops/pairs_tmpl.h"
#include "cpu/loops/products_tmpl.h"

/* Values from two registers of sums in the order of join_shorts (), clamped to 0 .. maximum. */
static inline __attribute__ ((always_inline)) Shorts
pack_joined (Ints low, Ints high, int middle, int maximum)
{
#if defined(__AVX512BW__)
  __m512i values =
      _mm512_adds_epi16 (_mm512_packs_epi32 ((__m512i) low, (__m512i) high), _mm512_set1_epi16 ((int16_t) middle));

  values = _mm512_max_epi16 (values, _mm512_setzero_si512 ());
  return (Shorts) _mm512_min_epi16 (values, _mm512_set1_epi16 ((int16_t) maximum));
#elif defined(__AVX2__)
  __m256i values =
      _mm256_adds_epi16 (_mm256_packs_epi32 ((__m256i) low, (__m256i) high), _mm256_set1_epi16 ((int16_t) middle));

  values = _mm256_max_epi16 (values, _mm256_setzero_si256 ());
  return (Shorts) _mm256_min_epi16 (values, _mm256_set1_epi16 ((int16_t) maximum));
#elif defined(__SSE2__)
  __m128i values = _mm_adds_epi16 (_mm_packs_epi32 ((__m128i) low, (__m128i) high), _mm_set1_epi16 ((int16_t) middle));

  return (Shorts) _mm_min_epi16 (_mm_max_epi16 (values, _mm_setzero_si128 ()), _mm_set1_epi16 ((int16_t) maximum));
#elif defined(ARM64)
  int16x8_t values = vqmovn_high_s32 (vqmovn_s32 ((int32x4_t) low), (int32x4_t) high);

  values = vmaxq_s16 (vqaddq_s16 (values, vdupq_n_s16 ((int16_t) middle)), vdupq_n_s16 (0));
  return (Shorts) vminq_s16 (values, vdupq_n_s16 ((int16_t) maximum));
#else
  Shorts values = { 0 };

  for (int i = 0; i < 2 * LANES; i++) {
    int32_t value = (int32_t) ((i < LANES ? low[i] : high[i - LANES]) + (uint32_t) middle);

    values[i] = (uint16_t) (value < 0 ? 0 : value < maximum ? value : maximum);
  }
  return values;
#endif
}

#ifdef ARM64
#include "cpu/loops/fold_apart_tmpl.h"
#else

/* Element i of a folded row, for as many outputs as a register has 16-bit elements. Behind the middle, any number. */
static inline __attribute__ ((always_inline)) Shorts
folded_element (const uint16_t *row, int i, int width, int samples)
{
  Shorts left = *(const ShortsAt *) (row + i * samples);

  return i < width / 2 ? left + *(const ShortsAt *) (row + (width - 1 - i) * samples) : left;
}

/* Row sums of two rows of inputs, as pairs of the low and the high halves of join_shorts (). */
static inline __attribute__ ((always_inline)) void
fold_two_rows (const ConvolveFold *fold, int width, const uint16_t *const rows[2], int x, const Ints *taps,
    Ints pairs[2])
{
  Ints sums[2][2];

  for (int k = 0; k < 2; k++) {
    sums[k][0] = sums[k][1] = spread ((ConvolvePair) fold->row_start);
    for (int t = 0; t < width / 4 + 1; t++) {
      Shorts first = folded_element (rows[k] + x, 2 * t, width, fold->samples);
      Shorts second = 2 * t < width / 2 ? folded_element (rows[k] + x, 2 * t + 1, width, fold->samples) : first;
      Ints low, high;

      join_shorts (first, second, &low, &high);
      add_two_products (sums[k], low, high, taps[t]);
    }
  }
  for (int half = 0; half < 2; half++)
    pairs[half] = pair_sums (sums[0][half], sums[1][half], fold->cut);
}

/*
 * Calls with constants are inlined, and their loops over taps unrolled. n is the number of pairs of rows in the ring.
 */
static inline __attribute__ ((always_inline)) void
do_fold_rows (const ConvolveFold *fold, int width, int n, const uint16_t *const rows[2], int count,
    ConvolvePair *const *ring, uint16_t *const values[2])
{
  Ints row_taps[CONVOLVE_FOLD_TERMS], taps[2][CONVOLVE_FOLD_TERMS];
  ConvolvePair *newest = ring[n - 1];

  for (int t = 0; t < width / 4 + 1; t++)
    row_taps[t] = spread (fold->row[t]);
  for (int t = 0; t < n; t++) {
    taps[0][t] = spread (fold->upper[t]);
    taps[1][t] = spread (fold->lower[t]);
  }
  for (int x = 0; x < count; x += 2 * LANES) {
    Ints pairs[2], sums[2][2];

    fold_two_rows (fold, width, rows, x, row_taps, pairs);
    if (values) {
      for (int k = 0; k < 2; k++)
        sums[k][0] = sums[k][1] = spread ((ConvolvePair) fold->start);
      for (int t = 0; t < n; t++) {
        Ints low = pairs[0], high = pairs[1];

        if (t < n - 1) {
          low = *(const IntsAt *) (ring[t] + x);
          high = *(const IntsAt *) (ring[t] + x + LANES);
        }

        for (int k = 0; k < 2; k++)
          add_two_products (sums[k], low, high, taps[k][t]);
      }
      for (int k = 0; k < 2; k++)
        *(ShortsAt *) (values[k] + x) = pack_joined ((Ints) ((SignedInts) sums[k][0] >> fold->shift.bits),
            (Ints) ((SignedInts) sums[k][1] >> fold->shift.bits), fold->shift.middle, fold->shift.maximum);
    }
    *(IntsAt *) (newest + x) = pairs[0];
    *(IntsAt *) (newest + x + LANES) = pairs[1];
  }
}

static void
fold_rows (const ConvolveFold *fold, const uint16_t *const rows[2], int count, ConvolvePair *const *ring,
    uint16_t *const values[2])
{
  const ConvolveFold by = *fold;

  if (!values)
    do_fold_rows (&by, by.width, by.n, rows, count, ring, NULL);
  else if (by.width == 3 && by.n == 2)
    do_fold_rows (&by, 3, 2, rows, count, ring, values);
  else if (by.width == 5 && by.n == 3)
    do_fold_rows (&by, 5, 3, rows, count, ring, values);
  else
    do_fold_rows (&by, by.width, by.n, rows, count, ring, values);
}

#endif

#endif
