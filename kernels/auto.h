/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant that "auto" takes. */
#ifndef CONVOLVE_AUTO_H
#define CONVOLVE_AUTO_H

#include "common/plan.h"

/*
 * Fills plan->variant and plan->prepared with what the rules in auto.c choose for the plan's mask, pixels and device; a
 * plan without a device gets the variant cpu.
 */
void convolve_auto_choose (ConvolvePlan *plan);

/*
 * The names of up to `most` variants among which the fastest one is, for a plan that auto chose a variant of a device for: this one
 * first, then what the rules choose for planes of other sizes, and what they choose without the first. Returns how many.
 */
int convolve_auto_candidates (const ConvolvePlan *plan, const char *names[], int most);

#endif
