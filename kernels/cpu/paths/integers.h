/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Integer sums, for the paths pairs, wide and factors: the range of sums, how sums become values, and lists of terms.
 */
#ifndef CONVOLVE_CPU_INTEGERS_H
#define CONVOLVE_CPU_INTEGERS_H

#include "cpu/paths/paths.h"

#define CONVOLVE_COST_PAIRS 2.6 /* of rows becoming pairs */

/* The least and the largest value of a sum, for any samples. */
typedef struct
{
  double low, high;
} ConvolveRange;

/* The range of signed values, and that of sums of `count` taps times values. */
ConvolveRange convolve_cpu_signed_values (const ConvolveCpuAnalysis *a);
ConvolveRange convolve_cpu_range_of_sum (const int *taps, int count, ConvolveRange values);

/* The range of sums of the plan's taps times values. */
ConvolveRange convolve_cpu_range_of_taps (const ConvolveCpuAnalysis *a, ConvolveRange values);

/* Whether -largest - 1 <= low + offset and high + offset <= largest. */
bool convolve_cpu_range_fits (ConvolveRange range, double offset, double largest);

/* The start of sample i's sums where a shift by `bits` follows, which adds the middle to the value. */
double convolve_cpu_start_of_shift (const ConvolveCpuAnalysis *a, int i, int bits);

/* Whether sums at 2^bits of a code value, with the start that a shift needs where one follows, fit 32 bits. */
bool convolve_cpu_can_shift (const ConvolveCpuAnalysis *a, int bits, ConvolveRange sums);

/* The bits by which an exact plan's sums, of this range, can be shifted down to values, or -1. */
int convolve_cpu_exact_bits (const ConvolveCpuAnalysis *a, ConvolveRange sums);

/*
 * Sets how sums become values: by a shift of `bits`, for an absolute value the larger one of a sum's shift and its
 * negative's, or by the tail where bits is -1 or the sums are combined otherwise.
 */
void convolve_cpu_set_end (const ConvolveCpuAnalysis *a, int bits);

/* Room for `count` terms. False where memory is short. */
bool convolve_cpu_allocate_terms (ConvolveTerms *terms, int count);

/* A term is left out where all its taps are 0. */
void convolve_cpu_add_term (ConvolveTerms *terms, int row, int offset, ConvolvePair upper, ConvolvePair lower);

/* Ends a group at the last term. terms->groups may be NULL, and then groups are only counted. */
void convolve_cpu_end_group (ConvolveWideTerms *terms, int place);

/*
 * Adds terms for taps that lie `stride` apart, two taps to a term. The pairs are those from row `row` and element
 * `offset` on, in the rows below where `down` is set and to the right otherwise. The second of two outputs begins one
 * element further: its taps are those of the first, shifted by one.
 */
void convolve_cpu_add_pairs (ConvolveTerms *terms, const int *taps, int count, int stride, int row, int offset,
    bool down);

/* Adds terms of a row of taps for one output, over elements that are paired with those a pixel to the right. */
void convolve_cpu_add_row (ConvolveTerms *terms, const int *taps, int count, int row, int offset, int samples);

#endif
