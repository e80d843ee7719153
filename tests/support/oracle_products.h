/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the oracle's arithmetic share. Names are those of kernels/README.md, "The same bytes everywhere". */
#ifndef TESTS_SUPPORT_ORACLE_PRODUCTS_H
#define TESTS_SUPPORT_ORACLE_PRODUCTS_H

#include <math.h>

#include "support/oracle_arithmetic.h"

enum
{
  TWO_BYTES = 32639,
  THREE_BYTES = 8355711,
  LARGEST_TAP = 1 << 30,
  MOST_PRODUCTS = 4,
  MOST_FINENESSES = 160
};

/* What the text names by a letter, for one set of taps. */
typedef struct
{
  const OracleTaps *taps;
  int count;   /* of taps */
  double M, c; /* the largest sample; the middle */
  double *w;
  double W, o[4];
  double B, L;
  bool box;
  int64_t *n; /* the integers of EXACT, and of a box; NULL where there are none */
  int narrow_bits;
  double largest_total;
} OracleWords;

typedef struct
{
  double row[255], column[255];
} OracleFactor;

typedef struct
{
  OracleFactor factor[MOST_PRODUCTS];
  int products; /* 0 where there are none */
  double missed;
  bool has_centre; /* of one product and a centre */
} OracleFactors;

static inline double
oracle_round (double x)
{
  return floor (x + 0.5);
}

double oracle_largest_magnitude (const double *numbers, int count);
double oracle_sum_of_magnitudes (const int64_t *numbers, int count);
double oracle_largest_integer (const int64_t *numbers, int count);

/* The factors of w; with_centre those of one product and a centre. False where there are none. */
bool oracle_factors_of (const OracleWords *words, bool with_centre, OracleFactors *factors);

/* Fills the result with the integers of the factors. False where none are good. */
bool oracle_find_products (const OracleWords *words, const OracleFactors *factors, OracleArithmetic *result);

#endif
