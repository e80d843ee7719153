/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The integers and operands of tensor-separable and tensor-fused, compared with the definition without a device. */
#ifndef TESTS_KERNELS_CHECK_TENSOR_PRODUCTS_H
#define TESTS_KERNELS_CHECK_TENSOR_PRODUCTS_H

#include <stdint.h>
#include <stdio.h>

/* Tries `masks` random masks. Returns the number of failures and describes each in file. */
int check_tensor_products (uint64_t seed, int masks, FILE *file);

#endif
