/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How packed-separable, fused and separable compute CONVOLVE_ARITHMETIC_PRODUCTS, played through on the host. */
#ifndef TESTS_KERNELS_CHECK_BORDER_PRODUCTS_H
#define TESTS_KERNELS_CHECK_BORDER_PRODUCTS_H

#include <stdint.h>
#include <stdio.h>

/* sum plus two products: the weights of 16 bits in a, times the lower or the upper two bytes of a word, as dp2a. */
int check_dot_of_bytes (int a, uint32_t bytes, int half, int sum);

/* Random masks that are products. Returns the number of failures. */
int check_border_products (uint64_t seed, int masks, FILE *file);

#endif
