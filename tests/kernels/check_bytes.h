/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes that follow from README's arithmetic, for plans whose masks have one. */
#ifndef TESTS_KERNELS_CHECK_BYTES_H
#define TESTS_KERNELS_CHECK_BYTES_H

#include "kernels/check_case.h"

/* Whether the plan's mask has an arithmetic that all machines share: all sets are EXACT, ONE_STEP or PRODUCTS. */
bool check_bytes_are_known (const ConvolvePlan *plan);

/* Whether the plan's variant claims to follow this arithmetic. */
bool check_bytes_followed (const ConvolvePlan *plan);

/*
 * Fills values for the case's region as oracle_convolve() does: with one value for each sample, but for magnitudes and
 * exact sets with long fractions, where two values are allowed next to a tie. False where memory is short.
 */
bool check_bytes_expected (const CheckCase *test, OracleValue *values);

#endif
