/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant cpu gives the same bytes for every instruction set, number of threads and way to cut a plane. */
#ifndef TESTS_KERNELS_CHECK_CPU_H
#define TESTS_KERNELS_CHECK_CPU_H

#include "kernels/check_case.h"

/*
 * Runs the case at every instruction set of this machine, then on pools of several sizes, in small pieces. result is
 * the destination block that a plain run has left. False where any other differs, and said so to file.
 */
bool check_cpu_same (const CheckCase *test, const unsigned char *result, FILE *file);

/* No thread needs 4 MiB for a 4K frame, whatever mask and format. Returns the number of failures. */
int check_cpu_memory (FILE *file);

/* Planes up to 128x64 pixels keep to one thread, a large one does not. Returns the number of failures. */
int check_cpu_threads (FILE *file);

/* Weights that go by way of transforms give what the reference gives. Returns the number of failures. */
int check_cpu_large (FILE *file);

/*
 * Gaussians of sigma 1 to 40 for GRAY8, GRAY16 and ABGR64: none takes transforms or doubles, the estimated cost grows
 * smoothly, and sigma 8 does not take three times as long as sigma 7. Returns the number of failures.
 */
int check_cpu_sigma (FILE *file);

/*
 * Random masks whose sums are wide, or whose integer factors have groups, against the oracle, and check_cpu_same() of
 * each. Returns the number of failures.
 */
int check_cpu_wide (uint64_t seed, int cases, FILE *file);

/* What the bound of the transforms counts. Returns the number of failures. */
int check_cpu_fft_bound (FILE *file);

#endif
