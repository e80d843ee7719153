/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of integers for masks that are columns times rows. The names are those of kernels/README.md, "The same
 * bytes everywhere".
 */
#ifndef CONVOLVE_COMMON_PRODUCTS_H
#define CONVOLVE_COMMON_PRODUCTS_H

#include "common/analysis.h"

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

/* Takes the mask apart, with an eighth of the budget for what is missed. False where that takes too many products. */
bool convolve_find_factors (const ConvolveAnalysis *a, const double *taps, ConvolveDecomposition *d);

/*
 * One product and a tap of its own at the centre, as unsharp has: the centre that makes the neighbours a product is put
 * in its place while the factors are found. taps is room for the mask. False where there are no such two.
 */
bool convolve_find_factors_beside_centre (const ConvolveAnalysis *a, double *taps, ConvolveDecomposition *d);

/*
 * Chooses the integers of the products: short row sums before long ones, and narrow totals before wide ones. False
 * where none are good.
 */
bool convolve_choose_products (const ConvolveAnalysis *a, ConvolveDecomposition *d, ConvolveArithmetic *arithmetic);

#endif
