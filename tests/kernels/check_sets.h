/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of several sets: every way of the variant cpu, roots next to their thresholds, and who takes them. */
#ifndef TESTS_KERNELS_CHECK_SETS_H
#define TESTS_KERNELS_CHECK_SETS_H

#include <stdint.h>
#include <stdio.h>

#include "kernels/check_run.h"

/* Each function returns the number of failures. */

/* Random combinations by cpu-reference and cpu, held against the oracle, until each path of cpu has occurred. */
int check_sets_random (uint64_t seed, int cases, FILE *file);

/* Masks of edges on pixels that the fast variants read, by a variant that combines on a device. */
int check_sets_on_device (CheckRow *row, uint64_t seed, int cases, FILE *file);

/* Every sum of the squares of two bytes, by such a variant. */
int check_sets_all_pairs (CheckRow *row, FILE *file);

/* Magnitudes at and next to every threshold of random scales and offsets, held against integers of 128 bits. */
int check_sets_roots (uint64_t seed, int plans, FILE *file);

/* The roots that devices make, from approximate roots at the limit of their error; those of sobel for every sum. */
int check_sets_device_roots (uint64_t seed, FILE *file);

/* A thread of the variant cpu needs less than 4 MiB for a 4K frame, for any combination. */
int check_sets_memory (FILE *file);

/* Which variants take the masks of edges, in every depth. */
int check_sets_accepted (FILE *file);

#endif
