/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests use of the layer's variants on the host. */
#ifndef CONVOLVE_LAYER_CPU_CPU_H
#define CONVOLVE_LAYER_CPU_CPU_H

#include "layer/common/internal.h"

/* Bytes of memory that each thread of the variant cpu needs for the job. */
size_t convolve_layer_cpu_memory (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job);

/* The plain loops of cpu-reference, for any plan. The tests' fake device runs them too. Errors: NO_MEMORY. */
ConvolveStatus convolve_layer_cpu_reference_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);

#endif
