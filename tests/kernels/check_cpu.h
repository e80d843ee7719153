/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant cpu gives the same bytes for every instruction set, number of threads and way to cut a plane. */
#ifndef TESTS_KERNELS_CHECK_CPU_H
#define TESTS_KERNELS_CHECK_CPU_H

#include "kernels/check_case.h"

/*
 * Runs the case with every instruction set of this machine, then on pools of several sizes and in small pieces. result
 * is the destination block after a plain run. False where the result of another run differs, which is written to file.
 */
bool check_cpu_same (const CheckCase *test, const unsigned char *result, FILE *file);

/* A thread needs less than 4 MiB for a 4K frame, for any mask and format. Returns the number of failures. */
int check_cpu_memory (FILE *file);

/* Planes up to 128x64 pixels take one thread; a large plane takes several. Returns the number of failures. */
int check_cpu_threads (FILE *file);

/* Masks that take Fourier transforms give the same as cpu-reference. Returns the number of failures. */
int check_cpu_large (FILE *file);

/*
 * Gaussians of sigma 1 to 40 for GRAY8, GRAY16 and ABGR64: none takes Fourier transforms or sums in double, the
 * estimated cost grows smoothly, and sigma 8 does not take three times as long as sigma 7. Returns the number of
 * failures.
 */
int check_cpu_sigma (FILE *file);

/*
 * Compares random masks whose sums need double, or whose integer factors need groups, with the oracle, and runs
 * check_cpu_same() for each. Returns the number of failures.
 */
int check_cpu_double (uint64_t seed, int cases, FILE *file);

/*
 * Boxes and binomials of 9 to 16 bits: where cpu turns sums into values in float and others need double, each value is
 * the exactly rounded one. Returns the number of failures.
 */
int check_cpu_tails (FILE *file);

/* The error bound of the Fourier transforms covers all their roundings. Returns the number of failures. */
int check_cpu_fft_bound (FILE *file);

#endif
