/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a variant that can do a mask is worth taking, before those behind it in the table. */
#ifndef CONVOLVE_AUTO_H
#define CONVOLVE_AUTO_H

#include "common/plan.h"

bool convolve_pays_beyond_3x3 (const ConvolvePlan *plan);
bool convolve_pays_beyond_5x5 (const ConvolvePlan *plan);
bool convolve_pays_box (const ConvolvePlan *plan);
bool convolve_pays_packed_separable (const ConvolvePlan *plan);
bool convolve_pays_fused (const ConvolvePlan *plan);
bool convolve_pays_packed (const ConvolvePlan *plan);
bool convolve_pays_direct (const ConvolvePlan *plan);
bool convolve_pays_fused_tiled (const ConvolvePlan *plan);
bool convolve_pays_fft (const ConvolvePlan *plan);
bool convolve_pays_tensor (const ConvolvePlan *plan);
bool convolve_pays_tensor_separable (const ConvolvePlan *plan);
bool convolve_pays_tensor_fused (const ConvolvePlan *plan);

/* What the table says that a variant can do, for those that others wait for. */
bool convolve_accepts_direct (const ConvolvePlan *plan, const char **reason);
bool convolve_accepts_packed_separable (const ConvolvePlan *plan, const char **reason);
bool convolve_accepts_tensor (const ConvolvePlan *plan, const char **reason);

#endif
