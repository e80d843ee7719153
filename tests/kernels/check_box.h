/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arithmetic of the variant box, checked without a device: the small integers that convolve_box_choose () finds
 * are the mask, and differences of 32-bit prefix sums give the sum of products although the prefix sums overflow.
 */
#ifndef TESTS_KERNELS_CHECK_BOX_H
#define TESTS_KERNELS_CHECK_BOX_H

#include <stdint.h>
#include <stdio.h>

/* Checks random masks. Returns the number of failures, and writes a line for each to file. */
int check_box (uint64_t seed, int masks, FILE *file);

#endif
