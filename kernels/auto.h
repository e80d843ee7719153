/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant that "auto" takes. */
#ifndef CONVOLVE_AUTO_H
#define CONVOLVE_AUTO_H

#include "common/internal.h"

/*
 * Fills plan->variant and plan->prepared with what the rules in auto.c choose for the plan's mask, pixels and device; a
 * plan without a device gets the variant cpu.
 */
void convolve_auto_choose (ConvolvePlan *plan);

/*
 * Writes up to `most` variants that are worth timing, for a plan whose variant on a device auto chose.
 * This variant is the first. Then come what the rules choose for planes of all three sizes, and what they choose for
 * these sizes if the first variant is left out. Returns how many there are; each is there once.
 */
int convolve_auto_candidates (const ConvolvePlan *plan, const ConvolveVariant *rows[], int most);

#endif
