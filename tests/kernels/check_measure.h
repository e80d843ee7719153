/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of auto by time, with the times of a made-up device. */
#ifndef TESTS_KERNELS_CHECK_MEASURE_H
#define TESTS_KERNELS_CHECK_MEASURE_H

#include <stdint.h>
#include <stdio.h>

/*
 * Random tables of times: the fastest candidate is taken; it is timed once for a device and a kind, in this process and in the
 * next one, whatever a damaged file says, and by several threads at once. Returns the number of failures.
 */
int check_measure (uint64_t seed, FILE *file);

#endif
