/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds of the sums of a mask's taps times a pixel's samples, for every kind of integers, and how the sums are rounded.
 * kernels/README.md, "The same bytes everywhere", has the same names.
 */
#ifndef CONVOLVE_COMMON_ANALYSIS_H
#define CONVOLVE_COMMON_ANALYSIS_H

#include <math.h>

#include "common/arithmetic.h"
#include "common/numbers.h"

#define CONVOLVE_SHARE 0.98 /* of the promised error: the rest covers the roundings of the bounds computed here */
#define CONVOLVE_FINE 256   /* starts are multiples of this, where bits are more than CONVOLVE_FINE_BITS */
#define CONVOLVE_FINE_BITS 16
#define CONVOLVE_MOST_BITS 38 /* behind the point of a sum */

/* The input, and what follows from it for every kind of integers. */
typedef struct
{
  const ConvolveArithmeticInput *input;
  int count;         /* taps */
  double maximum;    /* M */
  double middle;     /* c */
  double sum;        /* of w */
  double limit;      /* of the error */
  double magnitudes; /* the sum of those of w */
  int narrow;        /* the most bits with which ConvolveArithmetic.narrow is true, possibly below 0 */
  double largest;    /* of a total's magnitude, in code values */
  int most;          /* the most bits with which totals of PRODUCTS stay below TOTAL_LIMIT, or CONVOLVE_MOST_BITS */
} ConvolveAnalysis;

/*
 * floor (value + 0.5) in doubles. Masks have many taps, and are rounded many times; floor() takes three times as long.
 * The comparison at the end is true for halves alone, which are rare: the processor guesses it right.
 */
static inline double
convolve_round_half_up (double value)
{
  const double rounding = 1.5 * CONVOLVE_2_52; /* a sum with this has no fraction */
  const double half = 0.49999999999999994;     /* 0.5, and the number before it, whose sum with 0.5 is 1 in doubles */
  const double nearest = value + rounding - rounding; /* halves to the even integer */

  if (fabs (value) > CONVOLVE_2_52 / 4)
    return floor (value + 0.5);
  return value - nearest >= half ? nearest + 1 : nearest;
}

/* The number that starts are multiples of. */
static inline double
convolve_fineness (int bits)
{
  return bits > CONVOLVE_FINE_BITS ? CONVOLVE_FINE : 1;
}

/* Fills the analysis; its largest value and its bits come from the range of all results before clamping. */
void convolve_analysis_init (ConvolveAnalysis *a, const ConvolveArithmeticInput *input);

/*
 * The starts: the offset, and the middle times what the integers miss of the sum of taps. `sum` is that of the integer
 * taps in code values; `known` is what totals have too much, and is taken off.
 */
void convolve_set_starts (const ConvolveAnalysis *a, int bits, double sum, double known,
    ConvolveArithmetic *arithmetic);

#endif
