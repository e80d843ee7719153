/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Candidates of "auto" as plans on a device, which are timed there. */
#ifndef CONVOLVE_TRIAL_H
#define CONVOLVE_TRIAL_H

#include "common/plan.h"

/*
 * The plan, which auto made by its rules, or one for the same pixels, boundary and mask by a variant that is faster on this
 * device; the plan is unreferenced then. It stays as it is where memory is short or no candidate can be timed; an error of the
 * device, which no later call survives, is found by the next one. All candidates give the same bytes. Waits for the device's
 * enqueued work. What a candidate needed of memory that its device keeps for all plans, stays with the device.
 */
ConvolvePlan *convolve_trial_best (ConvolvePlan *plan, const ConvolvePixel *pixel, ConvolveBoundary boundary,
    const ConvolveMask *mask);

#endif
