/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of the variant cpu as the tables of the benchmarks name them. */
#ifndef TESTS_BENCH_BENCH_CPU_PATHS_H
#define TESTS_BENCH_BENCH_CPU_PATHS_H

#include "cpu/paths/cut.h"
#include "cpu/paths/paths.h"

static inline const char *
bench_cpu_path (const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  if (plan->shrink)
    return "shrink";
  return convolve_cpu_paths[convolve_cpu_cut (plan, plane).cpu->path]->name;
}

#endif
