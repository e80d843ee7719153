/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The integers and operands of tensor-fused and tensor-separable, against the definition: no device needed. */
#ifndef TESTS_KERNELS_CHECK_TENSOR_PRODUCTS_H
#define TESTS_KERNELS_CHECK_TENSOR_PRODUCTS_H

#include <stdint.h>
#include <stdio.h>

/* Random masks; returns the number of failures, which are described in file. */
int check_products (uint64_t seed, int masks, FILE *file);

#endif
