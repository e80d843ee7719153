/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instruction sets that this build has loops for and this machine runs, from the plainest to the best. */
#ifndef CONVOLVE_CPU_LEVELS_H
#define CONVOLVE_CPU_LEVELS_H

#include "cpu/loops/level.h"

int convolve_cpu_level_count (void); /* at least 1 */
const ConvolveCpuLevel *convolve_cpu_level (int index);

#endif
