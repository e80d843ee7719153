/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What sums of integers become bytes with, see common/integer_tail.h: proved without a device. */
#ifndef TESTS_KERNELS_CHECK_INTEGER_TAIL_H
#define TESTS_KERNELS_CHECK_INTEGER_TAIL_H

#include <stdint.h>
#include <stdio.h>

#include "common/integer_tail.h"

/* Random masks; the number of failures, which are told to file. */
int check_integer_tail (uint64_t seed, int masks, FILE *file);

/* The byte of a sum that began at the tail's start, as a device makes it. */
int check_integer_tail_byte (const ConvolveIntegerTail *tail, int sample, int32_t sum);

#endif
