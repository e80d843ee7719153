/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Powers of two that limits and tricks of floating point are made of, for C and for CUDA: one name for each value. */
#ifndef CONVOLVE_COMMON_NUMBERS_H
#define CONVOLVE_COMMON_NUMBERS_H

#define CONVOLVE_2_24 16777216.0         /* sums of integers up to this are exact in float, in any order */
#define CONVOLVE_2_31 2147483648.0       /* the first integer that 32 bits with a sign do not hold */
#define CONVOLVE_2_52 4503599627370496.0 /* from this to its double, a double is an integer */
#define CONVOLVE_2_53 9007199254740992.0 /* sums of integers up to this are exact in double */

/* The relative error of one operation. */
#define CONVOLVE_FLOAT_UNIT (1.0 / CONVOLVE_2_24)
#define CONVOLVE_DOUBLE_UNIT (1.0 / CONVOLVE_2_53)

/* The float 2^23 and its bits: with an integer below 2^23 in its low bits, the float is 2^23 plus that integer. */
#define CONVOLVE_2_23 8388608.0f
#define CONVOLVE_2_23_BITS 0x4B000000

/*
 * The float 1.5 * 2^23 and its bits. A float that this is added to is rounded to an integer n between -LIMIT and LIMIT,
 * and the bits of the sum are BITS + n: no conversion is needed, and n may be negative.
 */
#define CONVOLVE_MAGIC 12582912.0f
#define CONVOLVE_MAGIC_BITS 0x4B400000
#define CONVOLVE_MAGIC_LIMIT 4194304.0 /* 2^22 */

#endif
