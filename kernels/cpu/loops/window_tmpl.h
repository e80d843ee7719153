/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of windows of columns, for masks of equal taps. */
#ifndef CONVOLVE_CPU_WINDOW_TMPL_H
#define CONVOLVE_CPU_WINDOW_TMPL_H

#include <string.h>

#include "cpu/loops/floats_tmpl.h"
#include "cpu/loops/shuffle_tmpl.h"

static void
slide (const uint16_t *restrict entering, const uint16_t *restrict leaving, int count, int32_t *restrict columns)
{
  for (int i = 0; i < count; i++)
    columns[i] += entering[i] - leaving[i];
}

static inline __attribute__ ((always_inline)) void
do_slide_edges (const uint16_t *restrict enter, const uint16_t *restrict leave, const uint16_t *restrict enter_inner,
    const uint16_t *restrict leave_inner, int count, int edge, int inner, int32_t *restrict columns)
{
  for (int i = 0; i < count; i++)
    columns[i] += edge * (enter[i] - leave[i]) + inner * (enter_inner[i] - leave_inner[i]);
}

static void
slide_edges (const uint16_t *const entering[2], const uint16_t *const leaving[2], int count, int edge, int inner,
    int32_t *columns)
{
  do_slide_edges (entering[0], leaving[0], entering[1], leaving[1], count, edge, inner, columns);
}

static void
add_windows (const int32_t *restrict others, int count, int edge, int inner, int32_t *restrict sums)
{
  for (int i = 0; i < count; i++)
    sums[i] = (int32_t) ((unsigned) edge * (unsigned) sums[i] + (unsigned) inner * (unsigned) others[i]);
}

/* to[x] = a[x] + b[x] + c[x]; to may be a. */
static inline void
add_rows (const int32_t *a, const int32_t *b, const int32_t *c, int count, int32_t *to)
{
  for (int x = 0; x < count; x += LANES)
    *(IntsAt *) (to + x) = *(const IntsAt *) (a + x) + *(const IntsAt *) (b + x) + *(const IntsAt *) (c + x);
}

/*
 * Prefix sums: totals[x + samples] = columns[x] + columns[x - samples] + columns[x - 2 * samples] + ... The sums may
 * overflow, which differences of them undo.
 *
 * Within a register, sums of 1, 2, 4, ... columns are added to themselves, moved up. With samples = 1 and four lanes:
 *
 *   columns            1  2  3  4
 *   + moved up by 1    1  3  5  7
 *   + moved up by 2    1  3  6 10
 *   + carry            the last `samples` lanes of the register before, repeated in all lanes
 */
static inline void
add_up (const int32_t *columns, int samples, int length, int32_t *totals)
{
  Ints carry = { 0 };

  for (int x = 0; x < samples; x++)
    totals[x] = 0;
  for (int x = 0; x < length; x += LANES) {
    Ints sum = *(const IntsAt *) (columns + x);

    if (samples == 1)
      sum += MOVE_UP (sum, 1);
    if (samples <= 2)
      sum += MOVE_UP (sum, 2);
    if (LANES > 4)
      sum += MOVE_UP (sum, 4);
    if (LANES > 8)
      sum += MOVE_UP (sum, 8);
    sum += carry;
    carry = samples == 1 ? REPEAT_LAST (sum, 1) : samples == 2 ? REPEAT_LAST (sum, 2) : REPEAT_LAST (sum, 4);
    *(IntsAt *) (totals + x + samples) = sum;
  }
}

/*
 * A wide window is the difference of two prefix sums, unless a pixel of 3 samples does not divide a register.
 *
 * Other windows are sums of parts of 1, 2, 4, ... columns, one part for each bit that is set in the width. The parts of
 * one size are made for all elements at once, each from two parts of half the size. A width of 11 = 1 + 2 + 8 is the
 * first column, a part of the next 2 columns, and a part of the 8 columns after that.
 */
static void
window (const int32_t *columns, int width, int samples, int count, int32_t *scratch[2], int32_t *sums)
{
  const int32_t *part = columns, *sum = columns;
  int length = count + (width - 1) * samples, done = 1, turn = 0;

  if (width > 5 && samples != 3) {
    if (samples == 1)
      add_up (columns, 1, length, scratch[0]);
    else if (samples == 2)
      add_up (columns, 2, length, scratch[0]);
    else
      add_up (columns, 4, length, scratch[0]);
    for (int x = 0; x < count; x += LANES)
      *(IntsAt *) (sums + x) =
          *(const IntsAt *) (scratch[0] + x + width * samples) - *(const IntsAt *) (scratch[0] + x);
    return;
  }
  if (width == 1)
    memcpy (sums, columns, count * sizeof (*sums));
  for (int size = 1; 2 * size <= width; size *= 2) {
    if (width & 2 * size) {
      add_rows (sum, part + done * samples, part + (done + size) * samples, count, sums);
      sum = sums;
      done += 2 * size;
    }
    if (4 * size <= width) {
      int32_t *next = scratch[turn++ % 2];

      length -= size * samples;
      for (int x = 0; x < length; x += LANES)
        *(IntsAt *) (next + x) = *(const IntsAt *) (part + x) + *(const IntsAt *) (part + x + size * samples);
      part = next;
    }
  }
}

static void
values_of_int_windows (const int32_t *columns, int width, int samples, int count, float scale, float offset,
    int maximum, uint16_t *values)
{
  for (int x = 0; x < count; x += 2 * LANES) {
    Ints low = { 0 }, high = { 0 }; /* lanes behind the last value may wrap around */

    for (int i = 0; i < width; i++) {
      low += *(const IntsAt *) (columns + x + i * samples);
      high += *(const IntsAt *) (columns + x + i * samples + LANES);
    }
    store_truncated (__builtin_convertvector((SignedInts) low, Floats) * scale + offset,
        __builtin_convertvector((SignedInts) high, Floats) * scale + offset, maximum, values + x);
  }
}

/* --- sums of 16 bits --- */

static void
slide_shorts (const uint16_t *restrict entering, const uint16_t *restrict leaving, int count,
    uint16_t *restrict columns)
{
  for (int i = 0; i < count; i++)
    columns[i] = (uint16_t) (columns[i] + entering[i] - leaving[i]);
}

/* The upper 16 bits of products. */
static inline Shorts
upper_halves (Shorts a, Shorts b)
{
#if defined(__AVX512BW__)
  return (Shorts) _mm512_mulhi_epu16 ((__m512i) a, (__m512i) b);
#elif defined(__AVX2__)
  return (Shorts) _mm256_mulhi_epu16 ((__m256i) a, (__m256i) b);
#elif defined(__SSE2__)
  return (Shorts) _mm_mulhi_epu16 ((__m128i) a, (__m128i) b);
#elif defined(ARM64)
  uint32x4_t low = vmull_u16 (vget_low_u16 ((uint16x8_t) a), vget_low_u16 ((uint16x8_t) b));
  uint32x4_t high = vmull_high_u16 ((uint16x8_t) a, (uint16x8_t) b);

  return (Shorts) vuzp2q_u16 ((uint16x8_t) low, (uint16x8_t) high);
#else
  for (int i = 0; i < 2 * LANES; i++)
    a[i] = (uint16_t) ((uint32_t) a[i] * b[i] >> 16);
  return a;
#endif
}

static void
values_of_windows (const uint16_t *columns, int width, int samples, int count, const ConvolveQuotient *quotient,
    uint16_t *values)
{
  const Shorts start = (Shorts){ 0 } + quotient->start, factor = (Shorts){ 0 } + quotient->factor;
  const int bits = quotient->bits;

  for (int x = 0; x < count; x += SHORT_CHUNK) {
    Shorts sums[SHORT_VECTORS];

    for (int v = 0; v < SHORT_VECTORS; v++)
      sums[v] = start;
    for (int i = 0; i < width; i++)
      for (int v = 0; v < SHORT_VECTORS; v++)
        sums[v] += *(const ShortsAt *) (columns + x + i * samples + v * 2 * LANES);
    for (int v = 0; v < SHORT_VECTORS; v++)
      *(ShortsAt *) (values + x + v * 2 * LANES) = upper_halves (sums[v], factor) >> bits;
  }
}

#endif
