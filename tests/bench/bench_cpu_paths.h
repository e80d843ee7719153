/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of the variant cpu as the tables of the benchmarks name them. */
#ifndef TESTS_BENCH_BENCH_CPU_PATHS_H
#define TESTS_BENCH_BENCH_CPU_PATHS_H

#include "cpu/cut.h"

static inline const char *
bench_cpu_path (const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  static const char *const names[] = {
    [CONVOLVE_CPU_COPY] = "copy",
    [CONVOLVE_CPU_BOX] = "box",
    [CONVOLVE_CPU_SMALL_BOX] = "small-box",
    [CONVOLVE_CPU_PAIRS] = "pairs",
    [CONVOLVE_CPU_WIDE] = "wide",
    [CONVOLVE_CPU_FACTORS] = "factors",
    [CONVOLVE_CPU_FFT] = "fft",
    [CONVOLVE_CPU_FLOAT_FACTORS] = "float-factors",
    [CONVOLVE_CPU_FLOAT] = "float",
    [CONVOLVE_CPU_DOUBLE_FACTORS] = "double-factors",
    [CONVOLVE_CPU_DOUBLE] = "double",
    [CONVOLVE_CPU_SHORT_SETS] = "short-sets",
    [CONVOLVE_CPU_SETS] = "sets",
  };

  return names[convolve_cpu_cut (plan, plane).cpu->path];
}

#endif
