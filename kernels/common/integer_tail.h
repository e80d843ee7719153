/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tail of an exact plan: a multiplication and an addition in float turn a sum into a sample. */
#ifndef CONVOLVE_COMMON_INTEGER_TAIL_H
#define CONVOLVE_COMMON_INTEGER_TAIL_H

#include "common/numbers.h"
#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Finds the tail for this plan. A sum of integers is begun at `start`, and its bits are read as a float. This float
 * times scale plus offset, rounded down, is CONVOLVE_MAGIC plus the result, before the result is clamped to 0 .. 255.
 * The tail is exact for every picture. False, with the reason, where there is no such tail.
 */
bool convolve_integer_tail_choose (const ConvolvePlan *plan, ConvolveIntegerTail *tail, const char **reason);

/*
 * Finds the tail for samples of more than 8 bits. A sum of integers is begun at `start`. This sum times scale plus
 * offset, rounded down, is CONVOLVE_MAGIC plus the result, before the result is clamped. Every sum on the way is an
 * integer below 2^24, with any order of the products. Where samples fill their 16 bits at the top, the result has its
 * factor 2^shift, and below that bits of a fraction, which are to be cleared; the samples that are summed have no
 * factor. Other samples have no unused bits below them.
 */
bool convolve_deep_tail_choose (const ConvolvePlan *plan, ConvolveIntegerTail *tail, const char **reason);

#ifdef __cplusplus
}
#endif

#endif
