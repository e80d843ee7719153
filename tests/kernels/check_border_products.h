/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How packed-separable, fused and separable compute CONVOLVE_ARITHMETIC_PRODUCTS, played through on the host. */
#ifndef TESTS_KERNELS_CHECK_BORDER_PRODUCTS_H
#define TESTS_KERNELS_CHECK_BORDER_PRODUCTS_H

#include <stdint.h>
#include <stdio.h>

/* Random masks that are products. Returns the number of failures. */
int check_border_products (uint64_t seed, int masks, FILE *file);

#endif
