/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mask as a sum of few products of a column and a row, each of which takes two passes of one dimension. */
#ifndef CONVOLVE_COMMON_FACTORS_H
#define CONVOLVE_COMMON_FACTORS_H

#include <stdbool.h>

#include "convolve.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_MAX_RANK 4

typedef struct
{
  int rank;
  double column[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE], row[CONVOLVE_MAX_RANK][CONVOLVE_MAX_SIDE];
  double missed;  /* the sum of the magnitudes of the taps less the products */
  bool no_memory; /* memory was short in a call since the caller set this to false */
} ConvolveFactors;

double convolve_sum_of_magnitudes (const double *values, int count);
double convolve_sum_of_magnitudes_f (const float *values, int count);
double convolve_largest_magnitude (const double *values, int count);

/*
 * Finds products until missed is at most most_missed. False where that takes more than CONVOLVE_MAX_RANK products or
 * none, or where memory is short. The caller must not take the latter for a mask without products, whose results may be
 * other bytes. The row of a product is a row of what was left before, and its column is 1 there.
 */
bool convolve_factors_find (const double *taps, int width, int height, double most_missed, ConvolveFactors *factors);

#ifdef __cplusplus
}
#endif

#endif
