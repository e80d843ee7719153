/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks of several sets of taps. Sums of 16 bits stay in registers until the combination is done:
 *
 *   lane of 32 bits        0         1         2    ...
 *   sums of set 0       a0  a1    a2  a3    a4  a5         two elements to a lane
 *   sums of set 1       b0  b1    b2  b3    b4  b5
 *   even pairs          a0  b0    a2  b2    a4  b4         a pair times itself, added up: a0^2 + b0^2
 *   odd pairs           a1  b1    a3  b3    a5  b5
 *
 * The results of even and odd elements are put side by side again.
 */
#ifndef CONVOLVE_CPU_SETS_TMPL_H
#define CONVOLVE_CPU_SETS_TMPL_H

#include "common/root.h"
#include "cpu/loops/vectors_tmpl.h"

/* Adds the terms first .. end - 1 to the sums of both sets, or to those of one where the other is NULL. */
static inline __attribute__ ((always_inline)) void
add_shorts (const ConvolveShortTerm *terms, int first, int end, const uint16_t *const *rows, int x,
    Shorts first_sums[SHORT_VECTORS], Shorts second_sums[SHORT_VECTORS])
{
  for (int t = first; t < end; t++) {
    const uint16_t *at = rows[terms[t].row] + x + terms[t].offset;
    Shorts first_tap = (Shorts){ 0 } + (uint16_t) terms[t].first;
    Shorts second_tap = (Shorts){ 0 } + (uint16_t) terms[t].second;

    for (int v = 0; v < SHORT_VECTORS; v++) {
      Shorts elements = *(const ShortsAt *) (at + v * 2 * LANES);

      if (first_sums)
        first_sums[v] += elements * first_tap;
      if (second_sums)
        second_sums[v] += elements * second_tap;
    }
  }
}

/* The sums of both sets of a couple, for SHORT_CHUNK elements, which are loaded once for both. */
static inline __attribute__ ((always_inline)) void
sum_shorts (const ConvolveShortSets *sets, int c, const uint16_t *const *rows, int x, Shorts first[SHORT_VECTORS],
    Shorts second[SHORT_VECTORS])
{
  const ConvolveShortCouple *couple = &sets->couples[c];

  for (int v = 0; v < SHORT_VECTORS; v++)
    first[v] = second[v] = (Shorts){ 0 };
  add_shorts (sets->terms, couple->both, couple->first, rows, x, first, second);
  add_shorts (sets->terms, couple->first, couple->second, rows, x, first, NULL);
  add_shorts (sets->terms, couple->second, couple->end, rows, x, NULL, second);
}

/* Instructions that compilers do not find for vectors of this kind. */
#if defined(__AVX512BW__)
#define FLOATS(name, ...) (Floats) _mm512_##name (__VA_ARGS__)
typedef __m512 Native;
#elif defined(__AVX2__)
#define FLOATS(name, ...) (Floats) _mm256_##name (__VA_ARGS__)
typedef __m256 Native;
#elif defined(__SSE2__)
#define FLOATS(name, ...) (Floats) _mm_##name (__VA_ARGS__)
typedef __m128 Native;
#endif

static inline Floats
square_roots (Floats values)
{
#if defined(FLOATS)
  return FLOATS (sqrt_ps, (Native) values);
#elif defined(ARM64)
  return (Floats) vsqrtq_f32 ((float32x4_t) values);
#else
  for (int i = 0; i < LANES; i++)
    values[i] = CONVOLVE_ROOT_F (values[i]);
  return values;
#endif
}

/* The values clamped to 0 .. maximum and rounded down. */
static inline Ints
clamp_floats (Floats values, float maximum)
{
#if defined(FLOATS)
  Floats most = (Floats){ 0 } + maximum;

  values = FLOATS (min_ps, (Native) values, (Native) most);
  values = FLOATS (max_ps, (Native) values, (Native) (Floats){ 0 });
#elif defined(ARM64)
  values = (Floats) vmaxq_f32 (vminq_f32 ((float32x4_t) values, vdupq_n_f32 (maximum)), vdupq_n_f32 (0));
#else
  for (int i = 0; i < LANES; i++)
    values[i] = values[i] > 0 ? values[i] < maximum ? values[i] : maximum : 0;
#endif
  return (Ints) __builtin_convertvector(values, SignedInts);
}

/* A scale of 1 needs no product, which changes no result. */
static inline __attribute__ ((always_inline)) Ints
root_to_value (Ints squares, bool scaled, float scale, Floats offsets, float maximum)
{
  Floats root = square_roots (__builtin_convertvector((SignedInts) squares, Floats));

  return clamp_floats (scaled ? root * scale + offsets : root + offsets, maximum);
}

/* Adds the squares of both sets' sums, where a and b have two elements to a lane. */
static inline void
add_squares (Ints *even, Ints *odd, Ints a, Ints b)
{
#ifdef ARM64
  int16x8_t evens = vuzp1q_s16 ((int16x8_t) a, (int16x8_t) b), odds = vuzp2q_s16 ((int16x8_t) a, (int16x8_t) b);
  int32x4_t even_sums = vmlal_s16 ((int32x4_t) *even, vget_low_s16 (evens), vget_low_s16 (evens));
  int32x4_t odd_sums = vmlal_s16 ((int32x4_t) *odd, vget_low_s16 (odds), vget_low_s16 (odds));

  *even = (Ints) vmlal_high_s16 (even_sums, evens, evens);
  *odd = (Ints) vmlal_high_s16 (odd_sums, odds, odds);
#else
  Ints even_pairs = (a & 0xffff) | b << 16, odd_pairs = a >> 16 | (b & 0xffff0000);

  *even = add_products (*even, even_pairs, even_pairs);
  *odd = add_products (*odd, odd_pairs, odd_pairs);
#endif
}

/* Inlined where scaled is known. */
static inline __attribute__ ((always_inline)) void
do_magnitude (const ConvolveShortSets *sets, const uint16_t *const *rows, int count, bool scaled, float scale,
    float *const offsets[2], float maximum, uint16_t *values)
{
  for (int x = 0; x < count; x += SHORT_CHUNK) {
    Ints even[SHORT_VECTORS] = { 0 }, odd[SHORT_VECTORS] = { 0 };

    for (int c = 0; c < sets->n_couples; c++) {
      Shorts first[SHORT_VECTORS], second[SHORT_VECTORS];

      sum_shorts (sets, c, rows, x, first, second);
      for (int v = 0; v < SHORT_VECTORS; v++) {
        add_squares (&even[v], &odd[v], (Ints) first[v], (Ints) second[v]);
      }
    }
    for (int v = 0; v < SHORT_VECTORS; v++) {
      int at = x / 2 + v * LANES;
      Ints low = root_to_value (even[v], scaled, scale, *(const FloatsAt *) (offsets[0] + at), maximum);
      Ints high = root_to_value (odd[v], scaled, scale, *(const FloatsAt *) (offsets[1] + at), maximum);

      *(IntsAt *) (values + 2 * at) = low | high << 16;
    }
  }
}

static void
magnitude_of_shorts (const ConvolveShortSets *sets, const uint16_t *const *rows, int count, float scale,
    float *const offsets[2], float maximum, uint16_t *values)
{
  if (scale == 1)
    do_magnitude (sets, rows, count, false, 1, offsets, maximum, values);
  else
    do_magnitude (sets, rows, count, true, scale, offsets, maximum, values);
}

/* The larger ones of signed sums. */
static inline Shorts
larger_shorts (Shorts a, Shorts b)
{
#if defined(__AVX512BW__)
  return (Shorts) _mm512_max_epi16 ((__m512i) a, (__m512i) b);
#elif defined(__AVX2__)
  return (Shorts) _mm256_max_epi16 ((__m256i) a, (__m256i) b);
#elif defined(__SSE2__)
  return (Shorts) _mm_max_epi16 ((__m128i) a, (__m128i) b);
#elif defined(ARM64)
  return (Shorts) vmaxq_s16 ((int16x8_t) a, (int16x8_t) b);
#else
  Shorts more = (Shorts) ((SignedShorts) a > (SignedShorts) b);

  return (a & more) | (b & ~more);
#endif
}

static inline Ints
sum_to_value (SignedInts sums, float scale, Floats offsets, float maximum)
{
  return clamp_floats (__builtin_convertvector(sums, Floats) * scale + offsets, maximum);
}

static void
largest_of_shorts (const ConvolveShortSets *sets, const uint16_t *const *rows, int count, float scale,
    float *const offsets[2], float maximum, uint16_t *values)
{
  for (int x = 0; x < count; x += SHORT_CHUNK) {
    Shorts largest[SHORT_VECTORS], first[SHORT_VECTORS], second[SHORT_VECTORS];

    for (int v = 0; v < SHORT_VECTORS; v++)
      largest[v] = (Shorts){ 0 } + (uint16_t) INT16_MIN;
    for (int c = 0; c < sets->n_couples; c++) {
      sum_shorts (sets, c, rows, x, first, second);
      for (int v = 0; v < SHORT_VECTORS; v++)
        largest[v] = larger_shorts (largest[v], larger_shorts (first[v], second[v]));
    }
    for (int v = 0; v < SHORT_VECTORS; v++) {
      int at = x / 2 + v * LANES;
      Ints pairs = (Ints) largest[v];
      Floats low_offsets = *(const FloatsAt *) (offsets[0] + at), high_offsets = *(const FloatsAt *) (offsets[1] + at);
      Ints low = sum_to_value ((SignedInts) (pairs << 16) >> 16, scale, low_offsets, maximum);
      Ints high = sum_to_value ((SignedInts) pairs >> 16, scale, high_offsets, maximum);

      *(IntsAt *) (values + 2 * at) = low | high << 16;
    }
  }
}

/* --- the combination of sums in memory --- */

#define ADD_SQUARES(name, Sum) \
  static void name (const Sum *restrict sums, int count, double scale, const double *restrict offsets, \
      double *restrict squares) \
  { \
    for (int i = 0; i < count; i++) { \
      double value = (sums[i] - offsets[i]) * scale; \
\
      squares[i] += value * value; \
    } \
  }

ADD_SQUARES (add_squares_of_ints, int32_t)
ADD_SQUARES (add_squares_of_floats, float)
ADD_SQUARES (add_squares_of_doubles, double)

/* Differences are taken modulo 2^32, because the sum of both starts may not fit 32 bits. */
static void
larger_of_shifts (const int32_t *restrict sums, const int32_t *restrict mirrors, int count, const ConvolveShift *shift,
    uint16_t *restrict values)
{
  const int bits = shift->bits, middle = shift->middle, maximum = shift->maximum;

  for (int i = 0; i < count; i++) {
    int32_t negative = (int32_t) ((uint32_t) mirrors[i] - (uint32_t) sums[i]);
    int32_t larger = (sums[i] > negative ? sums[i] : negative) >> bits;

    larger = (int32_t) ((uint32_t) larger + middle);
    larger = larger > 0 ? larger : 0;
    values[i] = (uint16_t) (larger < maximum ? larger : maximum);
  }
}

static void
replace_by_larger (const uint16_t *restrict others, int count, uint16_t *restrict values)
{
  for (int i = 0; i < count; i++)
    values[i] = others[i] > values[i] ? others[i] : values[i];
}

#endif
