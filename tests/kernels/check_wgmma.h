/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_KERNELS_CHECK_WGMMA_H
#define TESTS_KERNELS_CHECK_WGMMA_H

#include <stdint.h>

/*
 * Checks what the host decides for the layers' variant wgmma, without a device: random layers, whose cells, steps and
 * packed weights are multiplied here as the tensor cores do it, and compared with the definition. Prints each failure and
 * returns their number.
 */
int check_wgmma (uint64_t seed);

#endif
