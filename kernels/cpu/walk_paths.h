/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How each path moves down the rows of a job; cpu/walk.c knows which path takes which of these. */
#ifndef CONVOLVE_CPU_WALK_PATHS_H
#define CONVOLVE_CPU_WALK_PATHS_H

#include "cpu/job.h"

void convolve_cpu_walk_box (const ConvolveCpuJob *job);
void convolve_cpu_walk_small_box (const ConvolveCpuJob *job);
void convolve_cpu_walk_pairs (const ConvolveCpuJob *job);
void convolve_cpu_walk_wide (const ConvolveCpuJob *job);
void convolve_cpu_walk_factors (const ConvolveCpuJob *job);
void convolve_cpu_walk_fft (const ConvolveCpuJob *job);
void convolve_cpu_walk_floats (const ConvolveCpuJob *job); /* in double, too */
void convolve_cpu_walk_float_factors (const ConvolveCpuJob *job);
void convolve_cpu_walk_short_sets (const ConvolveCpuJob *job);
void convolve_cpu_walk_sets (const ConvolveCpuJob *job);

#endif
