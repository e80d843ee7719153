/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the variant "auto" chooses among the variants that can do a layer. */
#ifndef CONVOLVE_LAYER_AUTO_H
#define CONVOLVE_LAYER_AUTO_H

#include "layer/common/internal.h"

/*
 * Sets the variant for the plan's layer and device, by the rules in layer/auto.c, and what its accepts() found; cpu for a
 * plan without a device.
 */
void convolve_layer_auto_choose (ConvolveLayerPlan *plan);

#endif
