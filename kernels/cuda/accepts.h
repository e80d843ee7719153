/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The conditions of accepts () that several CUDA variants share. Each returns false with the reason. */
#ifndef CONVOLVE_CUDA_ACCEPTS_H
#define CONVOLVE_CUDA_ACCEPTS_H

#include "common/plan.h"

#define CONVOLVE_NEEDS_8_0 "the device's compute capability is below 8.0"
#define CONVOLVE_NEEDS_SHARED "the tile with its halo is larger than the device's shared memory"

/* The taps in single precision keep the error budget. */
bool convolve_accepts_float_taps (const ConvolvePlan *plan, const char **reason);

/* They do, and are few enough for the parameters of a launch. */
bool convolve_accepts_parameters (const ConvolvePlan *plan, const char **reason);

/* The mask is the product of a column and a row. */
bool convolve_accepts_rank_1 (const ConvolvePlan *plan, const char **reason);

/* It is, and sums in single precision are good enough. */
bool convolve_accepts_float_rank_1 (const ConvolvePlan *plan, const char **reason);

#endif
