/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the two files share that choose the integers of a mask: arithmetic.c, and products.c for masks that are columns times
 * rows. The names are those of kernels/README.md, "The same bytes everywhere".
 */
#ifndef CONVOLVE_COMMON_PRODUCTS_H
#define CONVOLVE_COMMON_PRODUCTS_H

#include <math.h>

#include "common/arithmetic.h"
#include "common/factors.h"

#define SHARE 0.98            /* of the promised error: the rest covers the roundings of the bounds computed here */
#define INT_LIMIT 2147483648. /* 2^31 */
#define FINE 256              /* starts are multiples of this, where bits are more than FINE_BITS */
#define FINE_BITS 16
#define ROUNDING 6755399441055744.       /* 1.5 * 2^52: a sum with this has no fraction */
#define ROUNDING_LIMIT 1125899906842624. /* 2^50 */
#define HALF 0.49999999999999994         /* 0.5, and the number before it, whose sum with 0.5 is 1 in doubles */

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
  int most;          /* the most bits with which totals of PRODUCTS stay below TOTAL_LIMIT, or MOST_BITS */
} ConvolveAnalysis;

/*
 * floor (value + 0.5) in doubles. Masks have many taps, and are rounded many times; floor() takes three times as long. The
 * comparison at the end is true for halves alone, which are rare: the processor guesses it right.
 */
static inline double
convolve_round_half_up (double value)
{
  const double nearest = value + ROUNDING - ROUNDING; /* halves to the even integer */

  if (fabs (value) > ROUNDING_LIMIT)
    return floor (value + 0.5);
  return value - nearest >= HALF ? nearest + 1 : nearest;
}

/* The number that starts are multiples of. */
static inline double
convolve_fineness (int bits)
{
  return bits > FINE_BITS ? FINE : 1;
}

enum
{
  CONVOLVE_ROW_SCALES = 160 /* that are tried for row sums */
};

/* A row that is rounded at one scale. */
typedef struct
{
  bool fits;
  int cut;
  double sum;   /* of the taps, in code values */
  double error; /* of the taps, in code values */
  double start; /* of the row sums, after the cut */
} ConvolveRoundedRow;

/* A mask as products of columns and rows, with the rows rounded at every scale. */
typedef struct
{
  ConvolveFactors factors;           /* the magnitudes of each row add up to 1 */
  bool has_centre;                   /* what the factors miss at the centre is a tap of its own */
  double columns[CONVOLVE_MAX_RANK]; /* the sums of magnitudes of the factors' columns */
  /* A row sum is scale / 256 units to a code value, before the cut's roundings; 0: no such scale. */
  double scales[CONVOLVE_ROW_SCALES];
  ConvolveRoundedRow rows[2][CONVOLVE_MAX_RANK][CONVOLVE_ROW_SCALES]; /* long ones, then short ones */
} ConvolveDecomposition;

/*
 * The starts: the offset, and the middle times what the integers miss of the sum of taps. `sum` is that of the integer taps in
 * code values; `known` is what totals have too much, and is taken off.
 */
void convolve_set_starts (const ConvolveAnalysis *a, int bits, double sum, double known,
    ConvolveArithmetic *arithmetic);

/* Takes the mask apart, with an eighth of the budget for what is missed. False where that takes too many products. */
bool convolve_find_factors (const ConvolveAnalysis *a, const double *taps, ConvolveDecomposition *d);

/*
 * One product and a tap of its own at the centre, as unsharp has: the centre that makes the neighbours a product is put in
 * its place while the factors are found. taps is room for the mask. False where there are no such two.
 */
bool convolve_find_factors_beside_centre (const ConvolveAnalysis *a, double *taps, ConvolveDecomposition *d);

/*
 * Chooses the integers of the products: short row sums before long ones, and narrow totals before wide ones. False where none
 * are good.
 */
bool convolve_choose_products (const ConvolveAnalysis *a, ConvolveDecomposition *d, ConvolveArithmetic *arithmetic);

#endif
