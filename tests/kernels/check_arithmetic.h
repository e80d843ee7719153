/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of the arithmetic of masks that are not integers against its second writing, see support/oracle_arithmetic.h. */
#ifndef TESTS_KERNELS_CHECK_ARITHMETIC_H
#define TESTS_KERNELS_CHECK_ARITHMETIC_H

#include <stdio.h>

#include "kernels/check_mask.h"
#include "support/oracle_arithmetic.h"

/* The sets that have integers of their own: an absolute value is made of two sets, all other masks of theirs. */
int check_arithmetic_parts (const ConvolveMask *mask);

/* Such a set of a mask on these pixels, as the oracle takes it. The taps are the mask's own. */
OracleTaps check_arithmetic_taps (const ConvolvePixel *pixel, const ConvolveMask *mask, int part);

/*
 * Compares the integers of the plans of random masks with the oracle's, and bounds the error of each plan's integers. Returns
 * the number of failures, and writes a line for each to file, and one that counts the kinds.
 */
int check_arithmetic (uint64_t seed, int masks, FILE *file);

#endif
