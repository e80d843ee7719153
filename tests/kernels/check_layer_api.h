/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_KERNELS_CHECK_LAYER_API_H
#define TESTS_KERNELS_CHECK_LAYER_API_H

/* Sizes by the formula, errors, references and source rows of layers. Prints and counts failures. */
int check_layer_api (void);

#endif
