/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What box's arithmetic rests on, proved without a device: the integers that it finds are the mask, and running sums of
 * 32 bits that overflow give the same as the products.
 */
#ifndef TESTS_KERNELS_CHECK_BOX_H
#define TESTS_KERNELS_CHECK_BOX_H

#include <stdint.h>
#include <stdio.h>

/* Random masks; the number of failures, which are told to file. */
int check_box (uint64_t seed, int masks, FILE *file);

#endif
