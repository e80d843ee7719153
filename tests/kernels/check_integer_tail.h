/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of the integer tail, see common/integer_tail.h, without a device. */
#ifndef TESTS_KERNELS_CHECK_INTEGER_TAIL_H
#define TESTS_KERNELS_CHECK_INTEGER_TAIL_H

#include <stdint.h>
#include <stdio.h>

#include "common/integer_tail.h"

/* Checks random masks. Returns the number of failures, and writes a line for each to file. */
int check_integer_tail (uint64_t seed, int masks, FILE *file);

/* The byte that a device makes of a sum. The sum was begun at the tail's start. */
int check_integer_tail_byte (const ConvolveIntegerTail *tail, int sample, int32_t sum);

#endif
