/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans of PRODUCTS (common/arithmetic.h): every variant on the host that follows gives the bytes of cpu-reference. */
#ifndef TESTS_KERNELS_CHECK_PRODUCTS_H
#define TESTS_KERNELS_CHECK_PRODUCTS_H

#include <stdint.h>
#include <stdio.h>

/*
 * Random masks of one to four products, with and without a tap of the centre's own, for samples of 8 to 12 bits. The
 * variant cpu runs with every instruction set and several numbers of threads. Returns the number of failures.
 */
int check_products (uint64_t seed, int cases, FILE *file);

#endif
