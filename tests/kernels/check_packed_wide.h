/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How packed computes weights of 16 bits, played through on the host. */
#ifndef TESTS_KERNELS_CHECK_PACKED_WIDE_H
#define TESTS_KERNELS_CHECK_PACKED_WIDE_H

#include <stdint.h>
#include <stdio.h>

/* Random masks of fractions. Returns the number of failures. */
int check_packed_wide (uint64_t seed, int masks, FILE *file);

#endif
