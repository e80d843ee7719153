/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of an exact plan's sums of 8-bit samples: one multiplication and addition in float makes the result. */
#ifndef CONVOLVE_COMMON_INTEGER_TAIL_H
#define CONVOLVE_COMMON_INTEGER_TAIL_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * A float in 2^23 .. 2^24 has 1 as its last place: an integer n within 2^22 of 0, added to the bits of this one, makes
 * the float 12582912 + n.
 */
#define CONVOLVE_MAGIC 12582912.0f
#define CONVOLVE_MAGIC_BITS 0x4B400000

/*
 * Finds the tail for this plan: a sum begun at start, read as float, times scale plus offset, rounded down, has the
 * result in the last bits of a float such as above, before it is clamped to 0 .. 255. Exact for every picture.
 * False, with the reason, where there is none.
 */
bool convolve_integer_tail_choose (const ConvolvePlan *plan, ConvolveIntegerTail *tail, const char **reason);

#ifdef __cplusplus
}
#endif

#endif
