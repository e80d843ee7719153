/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Candidates of "auto" as plans on a device, which are timed there. */
#ifndef CONVOLVE_TRIAL_H
#define CONVOLVE_TRIAL_H

#include "plan.h"

/*
 * Returns the plan, which auto made by its rules, or one for the same request by another variant. The
 * other variant is taken only if it is more than 4% faster on this device; `plan` is unreferenced then. All candidates
 * give the same bytes. Waits for the device's enqueued work.
 *
 * Where memory is short or no candidate can be timed, `plan` is returned. An error of the device lasts, so the next
 * call finds it. Memory that the device keeps for all plans, and that a candidate needed, stays with the device.
 */
ConvolvePlan *convolve_trial_best (ConvolvePlan *plan, const ConvolvePlanRequest *request);

#endif
