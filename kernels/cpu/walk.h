/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CONVOLVE_CPU_WALK_H
#define CONVOLVE_CPU_WALK_H

#include "cpu/job.h"

/* Convolves a job from its first row to its last by the plan's path, and writes its rectangle. */
void convolve_cpu_walk (const ConvolveCpuJob *job);

#endif
