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

#endif
