/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tensor's arithmetic rests on, proved without a device: the operands hold the mask, and the limbs keep the
 * promise of convolve.h for the samples that are worst for them.
 */
#ifndef TESTS_KERNELS_CHECK_TENSOR_H
#define TESTS_KERNELS_CHECK_TENSOR_H

#include <stdint.h>
#include <stdio.h>

/* Random masks; the number of failures, which are told to file. */
int check_limbs (uint64_t seed, int masks, FILE *file);

#endif
