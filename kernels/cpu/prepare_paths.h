/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each path answers while a plan is made: whether the path keeps the promise, and what an output costs. The use_
 * functions derive what the chosen path needs. cpu/prepare.c compares the answers.
 *
 * Costs are for one output, in units of one term of a sum of pairs; the constants were measured. Errors are in code
 * values, before rounding. Functions that allocate return false where memory is short.
 */
#ifndef CONVOLVE_CPU_PREPARE_PATHS_H
#define CONVOLVE_CPU_PREPARE_PATHS_H

#include "cpu/analyse.h"

#define CONVOLVE_LARGEST_SHORT 32767.0
#define CONVOLVE_LARGEST_INT (CONVOLVE_2_31 - 1)

#define CONVOLVE_COST_TAIL 4.0        /* in float; a shift costs nothing beside its sum */
#define CONVOLVE_COST_DOUBLE_TAIL 8.0 /* in double */

/* --- box --- */

bool convolve_cpu_is_box (const ConvolveCpuAnalysis *a);
double convolve_cpu_box_cost (const ConvolveCpuAnalysis *a);
void convolve_cpu_use_box (const ConvolveCpuAnalysis *a);

/* The same with sums of 16 bits, which the quotient turns into values. Asked after convolve_cpu_is_box (). */
bool convolve_cpu_is_small_box (const ConvolveCpuAnalysis *a, ConvolveQuotient *quotient);
double convolve_cpu_small_box_cost (const ConvolveCpuAnalysis *a);
void convolve_cpu_use_small_box (const ConvolveCpuAnalysis *a, const ConvolveQuotient *quotient);

/* --- pairs --- */

/* The plan's integer taps as sums of pairs, which are shifted down by `bits`, or followed by the tail where bits is -1. */
typedef struct
{
  int bits;
  int place, low_bits; /* of wide sums: cpu/prepare_wide.c */
  double cost;         /* without the tail */
} ConvolveCpuPairs;

/* False where the plan has no integers, where 16 bits do not hold the taps, or 32 bits not the sums. */
bool convolve_cpu_choose_pairs (const ConvolveCpuAnalysis *a, ConvolveCpuPairs *pairs);
bool convolve_cpu_use_pairs (const ConvolveCpuAnalysis *a, const ConvolveCpuPairs *pairs);

/* False where the plan is not ONE_STEP, where float holds its sums, or where 48 bits do not. */
bool convolve_cpu_choose_wide (const ConvolveCpuAnalysis *a, ConvolveCpuPairs *pairs);
bool convolve_cpu_use_wide (const ConvolveCpuAnalysis *a, const ConvolveCpuPairs *pairs);

/* --- factors --- */

/* The factors of an exact plan. bits is -1 where the tail follows. */
typedef struct
{
  ConvolveProduct product;
  int bits;
} ConvolveIntegerFactors;

/* False where the plan is not exact, or 16 bits do not hold its factors and row sums. */
bool convolve_cpu_take_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors,
    ConvolveIntegerFactors *integers);
double convolve_cpu_factors_cost (const ConvolveCpuAnalysis *a, int rank);
bool convolve_cpu_use_factors (const ConvolveCpuAnalysis *a, const ConvolveIntegerFactors *integers);

/* A plan of PRODUCTS has no other path. Sets the cost without the frame, too. */
bool convolve_cpu_use_products (const ConvolveCpuAnalysis *a);

/* --- fft --- */

/* Infinite where the plan has no integers, or where the transforms' error may change a sum of them. */
double convolve_cpu_fft_cost (const ConvolveCpuAnalysis *a);
bool convolve_cpu_use_fft (const ConvolveCpuAnalysis *a);

/* --- sets --- */

/* Whether the plan is a magnitude, a largest value, or an absolute value that is computed like these. */
bool convolve_cpu_takes_sets (const ConvolveCpuAnalysis *a);

/* Chooses the path of such a plan, and derives what the path needs. */
bool convolve_cpu_use_sets (const ConvolveCpuAnalysis *a);

/* --- floating point --- */

bool convolve_cpu_floats_fit (const ConvolveCpuAnalysis *a);
bool convolve_cpu_float_factors_fit (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors);
bool convolve_cpu_double_factors_fit (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors);

/* Without the tail. */
double convolve_cpu_floats_cost (const ConvolveCpuAnalysis *a);
double convolve_cpu_doubles_cost (const ConvolveCpuAnalysis *a);
double convolve_cpu_float_factors_cost (const ConvolveCpuAnalysis *a, int rank);
double convolve_cpu_double_factors_cost (const ConvolveCpuAnalysis *a, int rank);

void convolve_cpu_use_floats (const ConvolveCpuAnalysis *a);
void convolve_cpu_use_doubles (const ConvolveCpuAnalysis *a);
bool convolve_cpu_use_float_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors);
bool convolve_cpu_use_double_factors (const ConvolveCpuAnalysis *a, const ConvolveFactors *factors);

#endif
