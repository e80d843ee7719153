/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_KERNELS_CHECK_POINTWISE_H
#define TESTS_KERNELS_CHECK_POINTWISE_H

#include <stdint.h>

/*
 * Checks what the host packs for gemm's 1x1 kernels, without a device: the weights of random layers are looked up where the
 * tensor cores of a warp find them, and compared with those of the layer. Prints each failure and returns their number.
 */
int check_pointwise (uint64_t seed);

#endif
