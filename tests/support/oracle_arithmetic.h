/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arithmetic of masks that are not integers, written a second time from the words of kernels/README.md, "The same bytes
 * everywhere". It includes nothing of the project and shares neither code nor tables with the library. Names are those
 * of the text.
 */
#ifndef TESTS_SUPPORT_ORACLE_ARITHMETIC_H
#define TESTS_SUPPORT_ORACLE_ARITHMETIC_H

#include "support/oracle.h"

typedef enum
{
  ORACLE_EXACT,
  ORACLE_ONE_STEP,
  ORACLE_PRODUCTS,
  ORACLE_FREE
} OracleKind;

/* A set of taps, with what the choice depends on. */
typedef struct
{
  int depth; /* bits of a sample: 8..16 */
  int width, height;
  const double *taps; /* height rows of width */
  double divisor;
  double offset; /* fraction of the range */
  int samples;   /* of a pixel: 1..4 */
  int zero[4];
  int range[4];    /* code values from black to white */
  unsigned biased; /* bit i: sample i gets the offset */
  bool combined;   /* the set belongs to a combination */
  int magnitude;   /* the number of sets of the magnitude that the set belongs to; 0 in all other masks */
} OracleTaps;

/* One product: R = floor ((sum of row * s + start) / 2^cut), and column * R is summed up. */
typedef struct
{
  int64_t row[255], column[255];
  int cut;
  int64_t start; /* h */
} OracleProduct;

typedef struct
{
  OracleKind kind;
  int bits;         /* b */
  int64_t start[4]; /* of each sample */
  bool floats;      /* ONE_STEP in floats */
  int64_t *taps;    /* of EXACT and ONE_STEP: width * height integers; otherwise NULL */
  int products;     /* of PRODUCTS: 1..4; otherwise 0 */
  OracleProduct product[4];
  int64_t centre;
  bool short_rows;
  bool narrow; /* every total less c * 2^b fits 32 bits with a sign */
} OracleArithmetic;

/* Chooses the kind and the integers. False where memory is short. oracle_arithmetic_clear() frees what it makes. */
bool oracle_arithmetic_choose (OracleArithmetic *arithmetic, const OracleTaps *taps);
void oracle_arithmetic_clear (OracleArithmetic *arithmetic);

/*
 * Fills values as oracle_convolve() does, with low equal to high, for a plain mask of ONE_STEP or PRODUCTS. False where
 * memory is short.
 */
bool oracle_arithmetic_convolve (const Oracle *oracle, const OracleArithmetic *arithmetic, int x, int y, int width,
    int height, OracleValue *values);

#endif
