/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of one instruction set; see cpu/level_tmpl.c. */
#ifndef CONVOLVE_CPU_VECTORS_TMPL_H
#define CONVOLVE_CPU_VECTORS_TMPL_H

#include "cpu/level.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Elements of a register, and how many registers hold sums of a row of outputs: twice those are half of all. */
#if defined(__AVX512BW__)
#define LANES 16
#define VECTORS 8
#elif defined(__AVX2__)
#define LANES 8
#define VECTORS 4
#else
#define LANES 4
#define VECTORS 4
#endif
#define CHUNK (VECTORS * LANES)

_Static_assert(CONVOLVE_CPU_PADDING % CHUNK == 0, "a loop writes no further than its rows have room");

/* One register, and the same at any address. Sums are unsigned: what stands behind a row's end may wrap. */
typedef uint32_t Ints __attribute__ ((vector_size (4 * LANES)));
typedef int32_t SignedInts __attribute__ ((vector_size (4 * LANES)));
typedef float Floats __attribute__ ((vector_size (4 * LANES)));
typedef double Doubles __attribute__ ((vector_size (4 * LANES)));
typedef uint32_t IntsAt __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef float FloatsAt __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef double DoublesAt __attribute__ ((vector_size (4 * LANES), aligned (8), may_alias));
typedef float HalfAt __attribute__ ((vector_size (2 * LANES), aligned (4), may_alias));
typedef uint16_t Word __attribute__ ((aligned (1), may_alias));
typedef uint32_t TwoWords __attribute__ ((may_alias));

/* sum + a pair of 16-bit products, in each lane. The one instruction that compilers do not find by themselves. */
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

static inline Ints
spread (ConvolvePair taps)
{
  return (Ints){ 0 } + taps;
}

#endif
