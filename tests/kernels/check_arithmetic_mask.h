/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random masks of every kind that the arithmetic knows, and pixels for them. */
#ifndef TESTS_KERNELS_CHECK_ARITHMETIC_MASK_H
#define TESTS_KERNELS_CHECK_ARITHMETIC_MASK_H

#include "kernels/check_mask.h"

/* 8, 9, 10, 12, 14 or 16 bits, with any zero levels. */
void check_arithmetic_pixel (ConvolvePixel *pixel, CheckRandom *random);

/* False where memory is short. */
bool check_arithmetic_mask (CheckMask *mask, CheckRandom *random, int largest);

#endif
