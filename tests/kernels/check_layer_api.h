/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_KERNELS_CHECK_LAYER_API_H
#define TESTS_KERNELS_CHECK_LAYER_API_H

/*
 * Checks the public functions for layers: sizes of outputs, errors, plans, source rows and memory. Prints each failure
 * and returns their number.
 */
int check_layer_api (void);

#endif
