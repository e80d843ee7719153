/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of several sets of taps, whose values are combined. */
#ifndef CONVOLVE_COMMON_SETS_H
#define CONVOLVE_COMMON_SETS_H

#include "common/internal.h"

/*
 * Checks and analyses a mask: fills what convolve_taps_init () fills, and of a combination also parts and root. INVALID
 * where the mask is outside its ranges, NO_MEMORY.
 */
ConvolveStatus convolve_sets_init (ConvolvePlan *plan, const ConvolveMask *mask, ConvolveError *error);
void convolve_sets_clear (ConvolvePlan *plan);

/* Fills plan->root from the parts of a magnitude. Returns whether the plan is exact. */
bool convolve_root_init (ConvolvePlan *plan, const ConvolveMask *mask);

#endif
