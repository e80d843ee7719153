/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conditions that the accepts () of several CUDA variants share. A condition that does not hold returns the reason. */
#ifndef CONVOLVE_CUDA_ACCEPTS_H
#define CONVOLVE_CUDA_ACCEPTS_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_NEEDS_8_0 "the device's compute capability is below 8.0"
#define CONVOLVE_NEEDS_SHARED "the tile with its halo is larger than the device's shared memory"

/* Whether the taps, rounded to float, keep the error budget. */
bool convolve_accepts_float_taps (const ConvolvePlan *plan, const char **reason);

/* As convolve_accepts_float_taps (), for masks whose taps fit into the parameters of a launch. */
bool convolve_accepts_parameters (const ConvolvePlan *plan, const char **reason);

/* Whether the mask is the product of a column and a row. */
bool convolve_accepts_rank_1 (const ConvolvePlan *plan, const char **reason);

/* As convolve_accepts_rank_1 (), for plans whose sums in float keep the error budget. */
bool convolve_accepts_float_rank_1 (const ConvolvePlan *plan, const char **reason);

/*
 * Whether a column times a row may be summed in float, from samples less the middle. rows and columns bound the errors
 * of a row's sum and of a column's, each relative to the sum of the magnitudes. Not for PRODUCTS.
 */
bool convolve_float_sums_fit (const ConvolvePlan *plan, double rows, double columns);

/* The sum of all weights times the middle of the samples: sums of samples less the middle lack it. */
double convolve_middle_of_sums (const ConvolvePlan *plan);

#ifdef __cplusplus
}
#endif

#endif
