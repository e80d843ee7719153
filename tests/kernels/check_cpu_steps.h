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

/*
 * Boxes of 1x1 to 17x17 in 8 bits with gains of 0.5 to 100, most of which give results that have to be clamped: the bytes
 * of cpu are those of cpu-reference. Returns the number of failures.
 */
int check_cpu_bright_boxes (uint64_t seed, FILE *file);

#endif
