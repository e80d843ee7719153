/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gaussians of any size on the CPU. */
#ifndef CONVOLVE_CPU_SHRINK_H
#define CONVOLVE_CPU_SHRINK_H

#include "common/internal.h"

/* Runs a plan of the arithmetic SHRINK, of the variant cpu or with nothing prepared. Errors: NO_MEMORY. */
ConvolveStatus convolve_cpu_shrink_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

#endif
