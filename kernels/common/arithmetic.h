/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arithmetic of a plan: which integers its taps become, what is rounded where, and how the last step rounds. The
 * mask, the depth of the samples, their zero levels and the offset decide it, and nothing else. Every variant that
 * follows it gives the same bytes. kernels/README.md, "The same bytes everywhere", says the same in words.
 *
 * The words: M is the largest sample, 2^depth - 1. c is the middle, 2^(depth - 1). w are the taps divided by the
 * divisor. s are samples, without the zero level taken off. floor (x / 2^n) is an arithmetic shift to the right.
 *
 * ONE_STEP     S = sum of t * s
 *              result = clamp (floor ((S + start) / 2^bits))
 *
 * PRODUCTS     R_k = floor ((sum of row_k * s + row_start_k) / 2^cut_k)     along a row of the picture: 0 .. 65535
 *              S = sum over k and down the column of column_k * R_k, plus centre * s of the output's own place
 *              result = clamp (floor ((S + start) / 2^bits))
 *
 * All sums are exact, so their order is free. Only the two floors round.
 */
#ifndef CONVOLVE_COMMON_ARITHMETIC_H
#define CONVOLVE_COMMON_ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/factors.h"
#include "convolve.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_LARGEST_OF_2_DIGITS 32639 /* 127 * 257: both signed bytes of a tap up to this are within -127 .. 127 */
#define CONVOLVE_LARGEST_OF_3_DIGITS 8355711 /* 127 * 65793: the same for three; no tap is larger than 2^30 */
#define CONVOLVE_LARGEST_ROW_SUM 65535       /* of PRODUCTS, after the cut */
#define CONVOLVE_SHORT_CUT 8                 /* bits of the cut with which row sums stay below 2^24 */

typedef enum
{
  CONVOLVE_ARITHMETIC_EXACT,    /* the taps are integers times one factor, and the result is the exactly rounded one */
  CONVOLVE_ARITHMETIC_ONE_STEP, /* one sum of integer taps times samples */
  CONVOLVE_ARITHMETIC_PRODUCTS, /* columns times rows, with row sums of 16 bits */
  CONVOLVE_ARITHMETIC_FREE,     /* none: each variant keeps the promise of convolve.h in its own way */
  CONVOLVE_ARITHMETIC_SHRINK    /* a Gaussian on a shrunk picture: common/shrink.h */
} ConvolveArithmeticKind;

/* One column times one row. */
typedef struct
{
  int row[CONVOLVE_MAX_SIDE], column[CONVOLVE_MAX_SIDE]; /* each -32639 .. 32639 */
  int cut;                                               /* 0 .. 16: the bits that a row sum is shifted down by */
  int64_t row_start; /* makes a row sum positive, and the shift a rounding; a multiple of 2^cut, plus half of that */
} ConvolveProduct;

/* Of EXACT and FREE, nothing but the kind has a meaning. The taps of ONE_STEP are those of the plan: ConvolveTaps. */
typedef struct
{
  ConvolveArithmeticKind kind;
  int bits;                            /* behind the point of a sum, 0 .. 38 */
  int64_t start[CONVOLVE_MAX_SAMPLES]; /* by sample; a multiple of 256 where bits > 16, and in PRODUCTS always */
  bool narrow;                         /* S + start - c * 2^bits fits 32 bits with a sign, for any samples */

  /* PRODUCTS */
  int rank; /* products, 1 .. CONVOLVE_MAX_RANK */
  ConvolveProduct *products;
  int centre;      /* the centre's own tap, a multiple of 256; mostly 0 */
  bool short_rows; /* every cut is CONVOLVE_SHORT_CUT, so that no partial sum of a row reaches 2^24 */
} ConvolveArithmetic;

/* What the choice depends on. */
typedef struct
{
  int depth;                           /* of a sample, in bits */
  int width, height;                   /* of the mask */
  const double *taps;                  /* w, row by row */
  const int *multiples;                /* w = multiples * one factor, each -4 .. 4, as in a box; otherwise NULL */
  double budget;                       /* how far S / 2^bits may be from the sum of w * s, in code values */
  int samples;                         /* of a pixel */
  double offset[CONVOLVE_MAX_SAMPLES]; /* what is added to the sum of w * s, in code values, with the 1/2 of rounding */
  bool one_step;                       /* products are not allowed, as in a part of a combination */
} ConvolveArithmeticInput;

/*
 * Chooses ONE_STEP, PRODUCTS or FREE. integers gets the taps t of ONE_STEP, width * height of them; *exact_in_float is
 * true where every partial sum of ONE_STEP, the start included, is below 2^24. False where memory is short.
 */
bool convolve_arithmetic_choose (const ConvolveArithmeticInput *input, ConvolveArithmetic *arithmetic, double *integers,
    bool *exact_in_float);

void convolve_arithmetic_clear (ConvolveArithmetic *arithmetic);

/* One output of PRODUCTS from 64-bit sums: the row sum after the cut, and the result from the sum of columns. */
static inline int
convolve_cut_row (const ConvolveProduct *product, int64_t sum)
{
  return (int) ((sum + product->row_start) >> product->cut);
}

static inline unsigned
convolve_finish_sum (const ConvolveArithmetic *arithmetic, int depth, int sample, int64_t sum)
{
  int64_t value = (sum + arithmetic->start[sample]) >> arithmetic->bits, largest = (1 << depth) - 1;

  return (unsigned) (value < 0 ? 0 : value > largest ? largest : value);
}

#ifdef __cplusplus
}
#endif

#endif
