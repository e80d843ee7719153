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

#include "common/numbers.h"
#include "common/tail.h"

/* Both roots are rounded to the nearest number, as IEEE 754 has it. */
#ifdef __CUDA_ARCH__
#define CONVOLVE_ROOT_F(a) __fsqrt_rn (a)
#define CONVOLVE_ROOT_D(a) __dsqrt_rn (a)
#else
#define CONVOLVE_ROOT_F(a) sqrtf (a)
#define CONVOLVE_ROOT_D(a) sqrt (a)
#endif

/* Operations in single precision with one rounding each: a * b + c, a * b, and a + b. */
#ifdef __CUDA_ARCH__
#define CONVOLVE_FMA_F(a, b, c) __fmaf_rn (a, b, c)
#define CONVOLVE_PRODUCT_F(a, b) __fmul_rn (a, b)
#define CONVOLVE_SUM_F(a, b) __fadd_rn (a, b)
#else
#define CONVOLVE_FMA_F(a, b, c) fmaf (a, b, c)
#define CONVOLVE_PRODUCT_F(a, b) ((a) * (b))
#define CONVOLVE_SUM_F(a, b) ((a) + (b))
#endif

/*
 * The largest relative error of a root from which convolve_root_near () and convolve_root_pair () make a sample, in
 * units of 2^-24. The squares are added in single precision, which is 4 units for eight sets. The root itself may be
 * wrong by 4 units, and PTX promises 2 of sqrt.approx.f32.
 */
#define CONVOLVE_NEAR_UNITS 8

/* The integer that was added to CONVOLVE_MAGIC, as the bits say on a device. */
#ifdef __CUDA_ARCH__
#define CONVOLVE_ROOT_LOW(a) ((unsigned) (__float_as_int (a) - CONVOLVE_MAGIC_BITS))
#else
#define CONVOLVE_ROOT_LOW(a) ((unsigned) ((a) -CONVOLVE_MAGIC))
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

/*
 * share * factor rounded down to an integer, plus CONVOLVE_MAGIC, for the share that near * scale + offset is, clamped
 * to 0 .. 1, because an instruction does that at no cost. factor is below 2^16.
 */
static CONVOLVE_BOTH float
convolve_root_floor (float near, float scale, float offset, float factor)
{
#ifdef __CUDA_ARCH__
  return __fmaf_rd (__saturatef (__fmaf_rn (near, scale, offset)), factor, CONVOLVE_MAGIC);
#else
  float share = fmaf (near, scale, offset);

  share = share > 0 ? share < 1 ? share : 1 : 0;
  return CONVOLVE_MAGIC + (float) floor ((double) share * factor);
#endif
}

/*
 * Where near_is_right: the sample, as CONVOLVE_ROOT_LOW () takes it from the result. near_factor is the last number
 * before maximum + 1, so that a share of 1 becomes the maximum.
 */
static CONVOLVE_BOTH float
convolve_root_near (const ConvolveRoot *root, int sample, float near)
{
  return convolve_root_floor (near, root->near_scale, root->near_offset[sample], root->near_factor);
}

/*
 * Where pair_is_right: the sample of two values, both times pair_multiple, whose root is about near. A guess that is
 * never too large, and too small by 1 at most, is corrected by one comparison. With m the multiple and L = m * t, where
 * t is the threshold of the next sample,
 *
 *   L^2 - a^2 - b^2 = (L - a) (L + a) - b^2
 *
 * is computed without an error: both factors are integers below 2^24, the rounding of their product is found by a fused
 * multiplication and addition, and what is left after the subtraction of b^2 is small, because the guess is near. Where
 * the guess is far, because it was clamped, what is left is so large that roundings do not change its sign.
 */
static CONVOLVE_BOTH unsigned
convolve_root_pair (const ConvolveRoot *root, int sample, float a, float b, float near)
{
  float guess = convolve_root_floor (near, root->pair_scale, root->pair_offset[sample], root->pair_factor);
  float next = CONVOLVE_SUM_F (guess, 1 - CONVOLVE_MAGIC);
  float threshold = fmaxf (CONVOLVE_FMA_F (next, root->pair_unit, -root->pair_base[sample]), 0);
  float below = CONVOLVE_SUM_F (threshold, -a), above = CONVOLVE_SUM_F (threshold, a);
  float product = CONVOLVE_PRODUCT_F (below, above), lost = CONVOLVE_FMA_F (below, above, -product);
  unsigned r = CONVOLVE_ROOT_LOW (guess);

  return CONVOLVE_SUM_F (CONVOLVE_FMA_F (-b, b, product), lost) <= 0 ? r + 1 : r;
}

#endif
