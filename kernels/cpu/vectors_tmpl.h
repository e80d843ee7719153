/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vector registers of one instruction set: included by the headers of cpu/level_tmpl.c. */
#ifndef CONVOLVE_CPU_VECTORS_TMPL_H
#define CONVOLVE_CPU_VECTORS_TMPL_H

#include "cpu/level.h"

#ifdef __SSE2__
#include <immintrin.h>
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
typedef float FloatsAt __attribute__ ((vector_size (4 * LANES), aligned (4), may_alias));
typedef double DoublesAt __attribute__ ((vector_size (4 * LANES), aligned (8), may_alias));
typedef float HalfAt __attribute__ ((vector_size (2 * LANES), aligned (4), may_alias));
typedef uint16_t Word __attribute__ ((aligned (1), may_alias));

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

/* The same pair of taps in each lane. */
static inline Ints
spread (ConvolvePair taps)
{
  return (Ints){ 0 } + taps;
}

#endif
