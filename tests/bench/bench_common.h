/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the benchmarks share: a clock, the median, and masks. */
#ifndef TESTS_BENCH_BENCH_COMMON_H
#define TESTS_BENCH_BENCH_COMMON_H

#include "convolve.h"

/* A clock that only goes forward, in microseconds. */
double bench_now_us (void);

/* Sorts count values, at least one, and returns the middle. */
double bench_median (double *values, int count);

/*
 * Masks of integers, for which all variants give the same bytes: one without any structure that a variant could use,
 * and a pyramid of rank 1. Masks of fractions: a gaussian of rank 1, and twice that gaussian less a wider one.
 */
typedef enum
{
  BENCH_MASK_ANY,
  BENCH_MASK_RANK_1,
  BENCH_MASK_GAUSSIAN,
  BENCH_MASK_LOW_RANK
} BenchMask;

/* Fills the mask. False where memory is short. */
bool bench_make_mask (ConvolveMask *mask, int side, BenchMask kind);

#endif
