/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the arithmetic of packed and packed-separable rests on, proved without a device. */
#ifndef CHECK_INTEGER_TAIL_H
#define CHECK_INTEGER_TAIL_H

#include <stdint.h>
#include <stdio.h>

/* Random masks; the number of failures, which are told to file. */
int check_integer_tail (uint64_t seed, int masks, FILE *file);

#endif
