/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last step of a magnitude, for C and for CUDA: the root of a sum of squares, scale, offset, round half up, clamp.
 *
 * Let n_k be the sum of set k, without the sum at the zero level and times the set's multiple:
 * (sum - root->zero[k][sample]) * root->multiple[k]. Of an exact plan, n_k is a whole number below 2^24, and the sum of
 * the squares, below 2^51, is exact in double in any order. A sample is then the largest r up to the maximum with
 *
 *   r <= sqrt (sum of n_k^2) * scale + offset
 *
 * in exact arithmetic, on every machine. common/root.c says how a plan finds which precision is right.
 */
#ifndef CONVOLVE_COMMON_ROOT_H
#define CONVOLVE_COMMON_ROOT_H

#include <math.h>

#include "common/tail.h"

/* Both roots are rounded to the nearest number, as IEEE 754 has it. */
#ifdef __CUDA_ARCH__
#define CONVOLVE_ROOT_F(a) __fsqrt_rn (a)
#define CONVOLVE_ROOT_D(a) __dsqrt_rn (a)
#else
#define CONVOLVE_ROOT_F(a) sqrtf (a)
#define CONVOLVE_ROOT_D(a) sqrt (a)
#endif

/* The high 64 bits of a product. */
static CONVOLVE_BOTH uint64_t
convolve_high_product (uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
  return __umul64hi (a, b);
#else
  uint64_t low = (a & 0xffffffff) * (b & 0xffffffff);
  uint64_t middle = (a >> 32) * (b & 0xffffffff) + (low >> 32);
  uint64_t other = (a & 0xffffffff) * (b >> 32) + (middle & 0xffffffff);

  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
#endif
}

/*
 * Whether a magnitude is at least r: (512 r - base_512) * denominator <= 512 * numerator * sqrt (squares). Both sides
 * are squared, to 128 bits: the left side is below 2^57 and 512 * numerator below 2^31 (common/root.c).
 */
static CONVOLVE_BOTH bool
convolve_root_reaches (const ConvolveRoot *root, int sample, uint64_t squares, unsigned r)
{
  int64_t above = 512 * (int64_t) r - root->base_512[sample];
  uint64_t left = (uint64_t) above * root->denominator, factor = 512 * root->numerator;
  uint64_t left_high, right_high;

  if (above <= 0)
    return true;
  left_high = convolve_high_product (left, left);
  right_high = convolve_high_product (factor * factor, squares);
  return left_high != right_high ? left_high < right_high : left * left <= factor * factor * squares;
}

/* r is a result of double precision, which is wrong by 1 at most. */
static CONVOLVE_BOTH unsigned
convolve_root_correct (const ConvolveRoot *root, int sample, uint64_t squares, unsigned r)
{
  if (r > 0 && !convolve_root_reaches (root, sample, squares, r))
    return r - 1;
  if (r < (unsigned) root->maximum && convolve_root_reaches (root, sample, squares, r + 1))
    return r + 1;
  return r;
}

/* For every plan. */
static CONVOLVE_BOTH unsigned
convolve_root_double (const ConvolveRoot *root, int sample, double squares)
{
  double value = CONVOLVE_SCALE_D (CONVOLVE_ROOT_D (squares), root->scale, root->offset[sample]);
  double maximum = root->maximum;
  unsigned r;

  value = value > 0 ? value : 0;
  r = (unsigned) (value < maximum ? value : maximum);
  return root->kind == CONVOLVE_ROOT_CORRECTED ? convolve_root_correct (root, sample, (uint64_t) squares, r) : r;
}

/* Where the kind is CONVOLVE_ROOT_FLOAT. Sums of squares above 2^24 may be rounded: their results are clamped. */
static CONVOLVE_BOTH unsigned
convolve_root_float (const ConvolveRoot *root, int sample, float squares)
{
  float value = CONVOLVE_SCALE_F (CONVOLVE_ROOT_F (squares), root->scale_f, root->offset_f[sample]);

  value = value > 0 ? value : 0;
  return (unsigned) (value < root->maximum ? value : root->maximum);
}

#endif
