/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes the place of kernels/cpu/loops/levels.c in a plugin for tests: CUDACONVOLVE_LEVEL is the number of the last instruction
 * set that the variant cpu may take, from 0.
 */
#include <stdlib.h>

#define convolve_cpu_level_count machine_level_count
#include "cpu/loops/levels.c"
#undef convolve_cpu_level_count

int convolve_cpu_level_count (void);

int
convolve_cpu_level_count (void)
{
  const char *last = getenv ("CUDACONVOLVE_LEVEL");
  int count = machine_level_count ();

  return last && atoi (last) < count ? atoi (last) + 1 : count;
}
