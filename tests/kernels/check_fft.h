/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of the variant fft. */
#ifndef TESTS_KERNELS_CHECK_FFT_H
#define TESTS_KERNELS_CHECK_FFT_H

#include <stdint.h>
#include <stdio.h>

/*
 * Masks of every size and depth: fft takes all integers in double precision, and their two parts are integers that give the
 * taps again. Returns the number of failures.
 */
int check_fft (uint64_t seed, int masks, FILE *file);

#endif
