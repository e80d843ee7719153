/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant cpu follows the arithmetic ONE_STEP by each of its paths. */
#ifndef TESTS_KERNELS_CHECK_CPU_STEPS_H
#define TESTS_KERNELS_CHECK_CPU_STEPS_H

#include <stdint.h>
#include <stdio.h>

/*
 * Random masks without structure, with peaks, equal ones and combinations of these, for samples of 8 to 16 bits: the bytes of
 * cpu are those of cpu-reference, with every instruction set, several numbers of threads and ways to cut a plane. Every
 * path occurs among 300 cases. Returns the number of failures.
 */
int check_cpu_steps (uint64_t seed, int cases, FILE *file);

#endif
