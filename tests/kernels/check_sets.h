/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of several sets: every way of the variant cpu, roots next to their thresholds, and who refuses them. */
#ifndef TESTS_KERNELS_CHECK_SETS_H
#define TESTS_KERNELS_CHECK_SETS_H

#include <stdint.h>
#include <stdio.h>

/* Each function returns the number of failures. */

/* Random combinations by cpu-reference and cpu, held against the oracle, until each path of cpu has occurred. */
int check_sets_random (uint64_t seed, int cases, FILE *file);

/* Magnitudes at and next to every threshold of random scales and offsets, held against integers of 128 bits. */
int check_sets_roots (uint64_t seed, int plans, FILE *file);

/* A thread of the variant cpu needs less than 4 MiB for a 4K frame, for any combination. */
int check_sets_memory (FILE *file);

/* Variants on a device refuse combinations, in a sentence about the mask. */
int check_sets_refused (FILE *file);

#endif
