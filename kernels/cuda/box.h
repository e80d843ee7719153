/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mask of equal weights, but for those of its edges: what box does by running sums. */
#ifndef CONVOLVE_CUDA_BOX_H
#define CONVOLVE_CUDA_BOX_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Finds the row and the column whose products the plan's weights are, times one factor: small integers, all equal but
 * for the first and the last of each. So is a box over a subsampled plane, where it covers a part of these. False, with
 * the reason, where there are none that keep the error budget; exact for exact plans.
 */
bool convolve_box_choose (const ConvolvePlan *plan, ConvolveBox *box, const char **reason);

/* What the sums of these integers are multiplied by to be those of the plan's weights. */
double convolve_box_factor (const ConvolvePlan *plan, const ConvolveBox *box);

/* Chooses them, and the plan's integer tail where it has one and clamps nothing. */
ConvolveStatus convolve_box_prepare (ConvolvePlan *plan, ConvolveError *error);

/* The shared memory that box needs for this mask at least, in bytes. */
size_t convolve_box_shared_size (const ConvolvePlan *plan);

#ifdef __cplusplus
}
#endif

#endif
