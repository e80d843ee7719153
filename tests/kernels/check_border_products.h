/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How packed-separable, fused and separable compute CONVOLVE_ARITHMETIC_PRODUCTS, played through on the host. */
#ifndef TESTS_KERNELS_CHECK_BORDER_PRODUCTS_H
#define TESTS_KERNELS_CHECK_BORDER_PRODUCTS_H

#include <stdint.h>
#include <stdio.h>

/* The pixels that a thread reads of a row for four outputs: its group, and the groups beside it. */
#define CHECK_PAIRS_PIXELS 12

/*
 * What cuda/row_pairs.cuh adds to sum for output c of four: a row of K weights times bytes, in pairs. pixels are
 * CHECK_PAIRS_PIXELS pixels of S samples, of which s is summed.
 */
int check_row_of_pairs (const int *row, int K, int S, int s, int c, const uint8_t *pixels, int sum);

/* Random masks that are products. Returns the number of failures. */
int check_border_products (uint64_t seed, int masks, FILE *file);

#endif
