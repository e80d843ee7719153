/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gaussians of any size: the bound of their error, the results, and the bytes of the arithmetic in words. */
#ifndef TESTS_KERNELS_CHECK_SHRINK_H
#define TESTS_KERNELS_CHECK_SHRINK_H

#include <stdint.h>
#include <stdio.h>

#include "convolve_device.h"

/*
 * Compares what halving, taps and interpolation are together with the Gaussian, for sigmas from 0.5 to 1,000: no place
 * misses more than the plan's bound says. Returns the number of failures.
 */
int check_shrink_bound (uint64_t seed, int cases, FILE *file);

/*
 * Random planes: within the promise of the exact sums, and the bytes that the words of kernels/README.md give, in
 * parts, by every instruction set, on several threads. With a device, its bytes instead. Returns the number of
 * failures.
 */
int check_shrink_planes (uint64_t seed, int cases, ConvolveDevice *device, FILE *file);

#endif
