/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Row sums of two rows of inputs, which become the pairs that columns are summed from. */
#ifndef CONVOLVE_CPU_PRODUCTS_TMPL_H
#define CONVOLVE_CPU_PRODUCTS_TMPL_H

#include "cpu/loops/pairs_tmpl.h"
#include "cpu/loops/shuffle_tmpl.h"

#define HALF (VECTORS / 2)

/* The low 16 bits of both sums after the cut, which is at most 16. */
static inline Ints
pair_sums (Ints upper, Ints lower, int cut)
{
  Ints low = upper >> cut, high = lower << (16 - cut);

#if defined(__AVX512BW__)
  return (Ints) _mm512_mask_blend_epi16 (0xaaaaaaaa, (__m512i) low, (__m512i) high);
#elif defined(__AVX2__)
  return (Ints) _mm256_blend_epi16 ((__m256i) low, (__m256i) high, 0xaa);
#elif defined(ARM64)
  return (Ints) vbslq_u32 (vdupq_n_u32 (0xffff), (uint32x4_t) low, (uint32x4_t) high);
#else
  return (low & 0xffff) | (high & 0xffff0000);
#endif
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

      for (int v = 0; v < HALF; v += 2) {
        const IntsAt *in_upper = (const IntsAt *) (upper + x + term->offset + v * LANES);
        const IntsAt *in_lower = (const IntsAt *) (lower + x + term->offset + v * LANES);

        add_four_products (even[0] + v, odd[0] + v, in_upper[0], in_upper[1], even_taps, odd_taps);
        add_four_products (even[1] + v, odd[1] + v, in_lower[0], in_lower[1], even_taps, odd_taps);
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

      for (int v = 0; v < VECTORS; v += 2) {
        const IntsAt *in_upper = (const IntsAt *) (rows[0] + x + term->offset + v * LANES);
        const IntsAt *in_lower = (const IntsAt *) (rows[1] + x + term->offset + v * LANES);

        add_two_products (upper + v, in_upper[0], in_upper[1], taps);
        add_two_products (lower + v, in_lower[0], in_lower[1], taps);
      }
    }
    for (int v = 0; v < VECTORS; v++)
      *(IntsAt *) (pairs + x + v * LANES) = pair_sums (upper[v], lower[v], cut);
  }
}

/*
 * Pairs of the elements of two registers of 16 bits: of the low halves of all 128 bits in *low, of the high halves in
 * *high.
 */
static inline __attribute__ ((always_inline)) void
join_shorts (Shorts a, Shorts b, Ints *low, Ints *high)
{
#if defined(__AVX512BW__)
  *low = (Ints) _mm512_unpacklo_epi16 ((__m512i) a, (__m512i) b);
  *high = (Ints) _mm512_unpackhi_epi16 ((__m512i) a, (__m512i) b);
#elif defined(__AVX2__)
  *low = (Ints) _mm256_unpacklo_epi16 ((__m256i) a, (__m256i) b);
  *high = (Ints) _mm256_unpackhi_epi16 ((__m256i) a, (__m256i) b);
#elif defined(__SSE2__)
  *low = (Ints) _mm_unpacklo_epi16 ((__m128i) a, (__m128i) b);
  *high = (Ints) _mm_unpackhi_epi16 ((__m128i) a, (__m128i) b);
#elif defined(ARM64)
  *low = (Ints) vzip1q_u16 ((uint16x8_t) a, (uint16x8_t) b);
  *high = (Ints) vzip2q_u16 ((uint16x8_t) a, (uint16x8_t) b);
#else
  for (int i = 0; i < LANES; i++) {
    (*low)[i] = a[i] | (uint32_t) b[i] << 16;
    (*high)[i] = a[LANES + i] | (uint32_t) b[LANES + i] << 16;
  }
#endif
}

static inline void
join (const uint16_t *first, const uint16_t *second, Ints *low, Ints *high)
{
  join_shorts (*(const ShortsAt *) first, *(const ShortsAt *) second, low, high);
}

/* Writes what came from join () in the order of the elements. */
static inline void
store_joined (Ints low, Ints high, ConvolvePair *to)
{
#if defined(__AVX512BW__)
  const __m512i first = _mm512_setr_epi64 (0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i second = _mm512_setr_epi64 (4, 5, 12, 13, 6, 7, 14, 15);

  _mm512_storeu_si512 (to, _mm512_permutex2var_epi64 ((__m512i) low, first, (__m512i) high));
  _mm512_storeu_si512 (to + LANES, _mm512_permutex2var_epi64 ((__m512i) low, second, (__m512i) high));
#elif defined(__AVX2__)
  *(IntsAt *) to = (Ints) _mm256_permute2x128_si256 ((__m256i) low, (__m256i) high, 0x20);
  *(IntsAt *) (to + LANES) = (Ints) _mm256_permute2x128_si256 ((__m256i) low, (__m256i) high, 0x31);
#else
  *(IntsAt *) to = low;
  *(IntsAt *) (to + LANES) = high;
#endif
}

static void
row_sums_apart (const ConvolveTerms *terms, const uint16_t *const *rows, int samples, int count, int32_t start, int cut,
    ConvolvePair *restrict pairs)
{
  for (int x = 0; x < count; x += CHUNK) {
    Ints upper[VECTORS], lower[VECTORS];

    for (int v = 0; v < VECTORS; v++)
      upper[v] = lower[v] = spread ((ConvolvePair) start);
    for (int t = 0; t < terms->count; t++) {
      const uint16_t *in_upper = rows[0] + x + terms->terms[t].offset, *in_lower = rows[1] + x + terms->terms[t].offset;
      Ints taps = spread (terms->terms[t].upper);

      for (int v = 0; v < VECTORS; v += 2) {
        Ints low, high;

        join (in_upper + v * LANES, in_upper + v * LANES + samples, &low, &high);
        add_two_products (upper + v, low, high, taps);
        join (in_lower + v * LANES, in_lower + v * LANES + samples, &low, &high);
        add_two_products (lower + v, low, high, taps);
      }
    }
    for (int v = 0; v < VECTORS; v += 2)
      store_joined (pair_sums (upper[v], lower[v], cut), pair_sums (upper[v + 1], lower[v + 1], cut),
          pairs + x + v * LANES);
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
