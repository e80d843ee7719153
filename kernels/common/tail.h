/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last step of every variant, for C and for CUDA: scale, offset, round half up, clamp. */
#ifndef CONVOLVE_COMMON_TAIL_H
#define CONVOLVE_COMMON_TAIL_H

#include "common/boundary.h"
#include "common/internal.h"

/*
 * The product is rounded before the addition on every machine, so that a CPU and a GPU give the same result. C files
 * that include this header must be compiled without contraction to fused multiply-add (-ffp-contract=off).
 */
#ifdef __CUDA_ARCH__
#define CONVOLVE_SCALE_F(a, b, c) __fadd_rn (__fmul_rn (a, b), c)
#define CONVOLVE_SCALE_D(a, b, c) __dadd_rn (__dmul_rn (a, b), c)
#else
#define CONVOLVE_SCALE_F(a, b, c) ((a) * (b) + (c))
#define CONVOLVE_SCALE_D(a, b, c) ((a) * (b) + (c))
#endif

/* The offset contains the 1/2 of rounding half up. Negative values are clamped, so that truncation is a floor. */
static CONVOLVE_BOTH unsigned
convolve_tail_double (const ConvolveTail *tail, int sample, double sum)
{
  double value = CONVOLVE_SCALE_D (sum, tail->scale, tail->offset[sample]);
  double maximum = tail->maximum;

  value = value > 0 ? value : 0;
  return (unsigned) (value < maximum ? value : maximum);
}

static CONVOLVE_BOTH unsigned
convolve_tail_float (const ConvolveTail *tail, int sample, float sum)
{
  float value;

  if (tail->needs_double)
    return convolve_tail_double (tail, sample, sum);
  value = CONVOLVE_SCALE_F (sum, tail->scale_f, tail->offset_f[sample]);
  value = value > 0 ? value : 0;
  return (unsigned) (value < tail->maximum ? value : tail->maximum);
}

#endif
