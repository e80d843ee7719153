/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layer's variants on the host. */
#ifndef CONVOLVE_LAYER_CPU_CPU_H
#define CONVOLVE_LAYER_CPU_CPU_H

#include "layer/common/plan.h"

/* Bytes that each thread of the variant cpu needs for this job. */
size_t convolve_layer_cpu_memory (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job);

/* The plain loops that all variants are held against, for any plan. */
ConvolveStatus convolve_layer_cpu_reference_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);

#endif
