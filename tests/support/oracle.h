/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The definition of a convolved plane, as plain as possible and slow. The checks compare every variant with this
 * oracle, which includes nothing of the project and shares neither code nor tables with the kernels.
 *
 *  out(x, y) = zero + sum over j, i of t[j][i] * (s(x + i - w/2, y + j - h/2) - zero) / divisor + offset * range
 *
 * The result is rounded half up and clamped to 0 .. 2^depth - 1. With several sets of taps, each set has the value
 * sum over j, i of t[j][i] * (s - zero) / divisor, and the combination of the values takes the sum's place.
 */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/oracle_boundary.h"

typedef enum
{
  ORACLE_ONE,            /* the value of one set */
  ORACLE_ABSOLUTE_VALUE, /* its magnitude */
  ORACLE_NORM,           /* the square root of the sum of the values' squares */
  ORACLE_MAXIMUM         /* the largest value */
} OracleCombination;

/* A set of taps, in one of two forms: see Oracle. All sets have the same form. */
typedef struct
{
  const int64_t *integers;
  int64_t numerator, denominator;
  const double *weights;
  double divisor;
} OracleSet;

enum
{
  ORACLE_SETS = 8
};

typedef struct
{
  /* The pixel. */
  int sample_size; /* bytes: 1 or 2 */
  int depth, shift;
  bool swapped;
  int samples, pixel_stride;
  unsigned select, biased;
  int zero[4];
  int outside[4]; /* level outside the image, for the boundary constant */
  int range[4];   /* code values from black to white */

  /* The image. */
  const unsigned char *pixels; /* the first sample of pixel (0, 0) */
  ptrdiff_t row_stride;
  int width, height;
  OracleBoundary boundary;

  /*
   * The mask, in one of two forms. Integers with the factor numerator / denominator in place of 1 / divisor are
   * computed exactly; largest sample * sum |integers| < 2^24, |numerator| < 2^30, 0 < denominator < 2^30. Where
   * integers is NULL, weights and divisor are computed in long double, and a result may be wrong by budget before
   * rounding.
   */
  int mask_width, mask_height;
  const int64_t *integers;
  int64_t numerator, denominator;
  const double *weights;
  double divisor;
  double budget; /* code values; also of a magnitude whose fractions are too long for integers */
  double offset; /* fraction of the sample's range */

  /* The mask's other sets, of the same size. */
  OracleCombination combination;
  int more_sets;
  OracleSet more[ORACLE_SETS - 1];
} Oracle;

/* The values that are allowed for one sample. */
typedef struct
{
  int low, high; /* code values; for a sample that is not selected both are its word */
  double exact;  /* before rounding and clamping; 0 for a sample that is not selected */
} OracleValue;

/* The word of one sample as this machine reads it, not swapped. */
int oracle_word (const Oracle *oracle, const unsigned char *at);

/* A sample of 16 bits without the unused bits below it; a swapped word is in the other byte order than this machine's. */
int oracle_sample (const unsigned char *at, bool swapped, int shift);

/*
 * Fills values for the rectangle, which lies inside the image: value of sample k of pixel (x + c, y + r) is
 * values[(r * width + c) * samples + k]. False where memory is short.
 */
bool oracle_convolve (const Oracle *oracle, int x, int y, int width, int height, OracleValue *values);

/*
 * The samples under the mask of a rectangle inside the image: rows of width + mask width - 1, the first of which belongs to
 * the mask's first row. Free them. NULL where memory is short.
 */
int32_t *oracle_around (const Oracle *oracle, int k, int x, int y, int width, int height);

/* Fills the values of sample k, which is not selected. */
void oracle_copy (const Oracle *oracle, int k, int x, int y, int width, int height, OracleValue *values);

/* Whether the word at that place is an allowed result for sample k. */
bool oracle_accepts (const Oracle *oracle, int k, const OracleValue *value, const unsigned char *at);

#endif
