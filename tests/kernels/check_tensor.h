/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host side of the variant tensor, checked without a device: the bands hold the mask, and taps written in digits
 * keep the promise of convolve.h for the pictures that are worst for them.
 */
#ifndef TESTS_KERNELS_CHECK_TENSOR_H
#define TESTS_KERNELS_CHECK_TENSOR_H

#include <stdint.h>
#include <stdio.h>

/* Tries `masks` random masks. Returns the number of failures and describes each in file. */
int check_tensor_digits (uint64_t seed, int masks, FILE *file);

#endif
