/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the benchmarks share: a clock, the median, and masks of integers. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include "convolve.h"

/* A clock that only goes forward, in microseconds. */
double bench_now_us (void);

/* Sorts count values, at least one, and returns the middle. */
double bench_median (double *values, int count);

/*
 * Integers either way, so that all variants give the same bytes: a pyramid, which is of rank 1, or numbers without
 * order, so that none of them can make it easier for itself. False where memory is short.
 */
bool bench_make_mask (ConvolveMask *mask, int side, bool rank_1);

#endif
