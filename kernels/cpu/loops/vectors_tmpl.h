/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vector registers of one instruction set: included by the headers of cpu/loops/level_tmpl.c. */
#ifndef CONVOLVE_CPU_VECTORS_TMPL_H
#define CONVOLVE_CPU_VECTORS_TMPL_H

#include "cpu/loops/level.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>
#define ARM64
#endif

/*
 * LANES is the number of 32-bit elements of a register. VECTORS registers hold sums of a row of outputs, and loops over
 * two rows use twice as many: half of all registers. The other half is for pairs and taps.
 */
#if defined(__AVX512BW__)
#define LANES 16
#define VECTORS 8
#elif defined(__AVX2__)
#define LANES 8
#define VECTORS 4
#elif defined(ARM64)
#define LANES 4
#define VECTORS 8
#else
#define LANES 4
#define VECTORS 4
#endif
#define CHUNK (VECTORS * LANES) /* elements that a loop makes in one turn */

_Static_assert(CONVOLVE_CPU_PADDING % CHUNK == 0, "the last chunk of a row must fit the padding");

/*
 * One register; ...At is the same in memory, at any address. Sums are unsigned, because sums of a row's padding may
 * overflow.
 */
typedef uint32_t Ints __attribute__ ((vector_size (4 * LANES)));
typedef int32_t SignedInts __attribute__ ((vector_size (4 * LANES)));
typedef float Floats __attribute__ ((vector_size (4 * LANES)));
typedef double Doubles __attribute__ ((vector_size (4 * LANES)));
typedef uint32_t IntsAt __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef int32_t SignedIntsAt __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef float FloatsAt __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef double DoublesAt __attribute__ ((vector_size (4 * LANES), aligned (8), may_alias));
typedef float HalfAt __attribute__ ((vector_size (2 * LANES), aligned (4), may_alias));
typedef uint16_t Word __attribute__ ((aligned (1), may_alias));

/* The same with 16-bit elements. Sums are unsigned, because they may overflow on the way. */
typedef uint16_t Shorts __attribute__ ((vector_size (4 * LANES)));
typedef int16_t SignedShorts __attribute__ ((vector_size (4 * LANES)));
typedef uint16_t ShortsAt __attribute__ ((vector_size (4 * LANES), aligned (2), may_alias));

/* Registers of 16-bit sums. A turn over two sets has both, squares and taps in registers. */
#define SHORT_VECTORS 4
#define SHORT_CHUNK (SHORT_VECTORS * 2 * LANES)

_Static_assert(CONVOLVE_CPU_PADDING % SHORT_CHUNK == 0, "the last chunk of a row must fit the padding");

/* In each lane: sum + the products of both elements by their taps. Compilers do not find this instruction. */
static inline Ints
add_products (Ints sum, Ints pairs, Ints taps)
{
#if defined(__AVX512VNNI__)
  return (Ints) _mm512_dpwssd_epi32 ((__m512i) sum, (__m512i) pairs, (__m512i) taps);
#elif defined(__AVX512BW__)
  return sum + (Ints) _mm512_madd_epi16 ((__m512i) pairs, (__m512i) taps);
#elif defined(__AVX2__)
  return sum + (Ints) _mm256_madd_epi16 ((__m256i) pairs, (__m256i) taps);
#elif defined(__SSE2__)
  return sum + (Ints) _mm_madd_epi16 ((__m128i) pairs, (__m128i) taps);
#else
  return sum + (Ints) ((SignedInts) (pairs << 16) >> 16) * (Ints) ((SignedInts) (taps << 16) >> 16)
      + (Ints) ((SignedInts) pairs >> 16) * (Ints) ((SignedInts) taps >> 16);
#endif
}

/*
 * add_products () to two registers of sums. Products of 16 bits are one instruction on arm64 once the first elements of
 * all pairs lie side by side, and the second ones too. What separates them is done once where two calls have the same
 * pairs.
 */
static inline __attribute__ ((always_inline)) void
add_two_products (Ints sums[2], Ints first_pairs, Ints second_pairs, Ints taps)
{
#ifdef ARM64
  int16x8_t a = (int16x8_t) first_pairs, b = (int16x8_t) second_pairs, by = (int16x8_t) taps;
  int16x8_t firsts = vuzp1q_s16 (a, b), seconds = vuzp2q_s16 (a, b);
  int32x4_t low = vmlal_laneq_s16 ((int32x4_t) sums[0], vget_low_s16 (firsts), by, 0);
  int32x4_t high = vmlal_high_laneq_s16 ((int32x4_t) sums[1], firsts, by, 0);

  sums[0] = (Ints) vmlal_laneq_s16 (low, vget_low_s16 (seconds), by, 1);
  sums[1] = (Ints) vmlal_high_laneq_s16 (high, seconds, by, 1);
#else
  sums[0] = add_products (sums[0], first_pairs, taps);
  sums[1] = add_products (sums[1], second_pairs, taps);
#endif
}

/*
 * Adds the products of samples in two registers and one pair of taps to sums, and the products of the same samples and
 * other_taps to others, where others is not NULL.
 */
static inline __attribute__ ((always_inline)) void
add_four_products (Ints sums[2], Ints others[2], Ints first_pairs, Ints second_pairs, Ints taps, Ints other_taps)
{
#ifdef ARM64
  add_two_products (sums, first_pairs, second_pairs, taps);
  if (others)
    add_two_products (others, first_pairs, second_pairs, other_taps);
#else
  sums[0] = add_products (sums[0], first_pairs, taps);
  if (others)
    others[0] = add_products (others[0], first_pairs, other_taps);
  sums[1] = add_products (sums[1], second_pairs, taps);
  if (others)
    others[1] = add_products (others[1], second_pairs, other_taps);
#endif
}

/* Writes two registers of values, truncated and clamped to 0 .. maximum. 32 bits with a sign hold them. */
static inline __attribute__ ((always_inline)) void
store_truncated (Floats low, Floats high, int maximum, uint16_t *to)
{
#if defined(__AVX512BW__)
  __m512i words = _mm512_packus_epi32 (_mm512_cvttps_epi32 ((__m512) low), _mm512_cvttps_epi32 ((__m512) high));

  words = _mm512_min_epu16 (words, _mm512_set1_epi16 ((int16_t) maximum));
  _mm512_storeu_si512 (to, _mm512_permutexvar_epi64 (_mm512_setr_epi64 (0, 2, 4, 6, 1, 3, 5, 7), words));
#elif defined(__AVX2__)
  __m256i words = _mm256_packus_epi32 (_mm256_cvttps_epi32 ((__m256) low), _mm256_cvttps_epi32 ((__m256) high));

  words = _mm256_min_epu16 (words, _mm256_set1_epi16 ((int16_t) maximum));
  _mm256_storeu_si256 ((__m256i *) to, _mm256_permute4x64_epi64 (words, 0xd8));
#elif defined(__SSE2__)
  const __m128 zero = _mm_setzero_ps (), most = _mm_set1_ps ((float) maximum); /* a NaN becomes the second, 0 */
  const __m128i half = _mm_set1_epi32 (32768);
  __m128i first = _mm_cvttps_epi32 (_mm_min_ps (_mm_max_ps ((__m128) low, zero), most));
  __m128i second = _mm_cvttps_epi32 (_mm_min_ps (_mm_max_ps ((__m128) high, zero), most));
  __m128i words = _mm_packs_epi32 (_mm_sub_epi32 (first, half), _mm_sub_epi32 (second, half));

  _mm_storeu_si128 ((__m128i *) to, _mm_xor_si128 (words, _mm_set1_epi16 (-32768)));
#elif defined(ARM64)
  uint16x4_t first = vqmovun_s32 (vcvtq_s32_f32 ((float32x4_t) low));
  uint16x8_t words = vqmovun_high_s32 (first, vcvtq_s32_f32 ((float32x4_t) high));

  vst1q_u16 (to, vminq_u16 (words, vdupq_n_u16 ((uint16_t) maximum)));
#else
  for (int i = 0; i < 2 * LANES; i++) {
    float value = i < LANES ? low[i] : high[i - LANES];

    /* The last register reaches beyond the row, where there may be NaN. A NaN is not above 0, and gives 0. */
    to[i] = (uint16_t) (value > 0 ? value < (float) maximum ? value : (float) maximum : 0);
  }
#endif
}

/* The same pair of taps in each lane. */
static inline Ints
spread (ConvolvePair taps)
{
  return (Ints){ 0 } + taps;
}

#endif
