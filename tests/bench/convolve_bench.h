/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the variants cost: the benchmark half of convolve_check. */
#ifndef TESTS_BENCH_CONVOLVE_BENCH_H
#define TESTS_BENCH_CONVOLVE_BENCH_H

#include "convolve_device.h"

typedef struct
{
  const char *variant; /* the only variant to measure, or NULL for all */
  const char *csv;     /* file to write, or NULL */
  int rounds;          /* rounds on a device */
  int side;            /* only masks of this width, or 0 for all */
  int cpu_rounds;      /* rounds on the host; 0 leaves the host's variants out */
} BenchOptions;

/* Prints the table; device may be NULL. Returns the exit code. */
int bench_run (const BenchOptions *options, ConvolveDevice *device);

/* One 8-bit image through a 3x3 mask, once, host to host; to be timed from outside. Returns the exit code. */
int bench_once (const char *variant, int width, int height);

#endif
