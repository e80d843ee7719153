/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the variant shrink puts on the device. */
#ifndef CONVOLVE_CUDA_SHRINK_SHRINK_H
#define CONVOLVE_CUDA_SHRINK_SHRINK_H

#include "common/shrink.h"

CONVOLVE_DEVICE_FUNCTIONS (shrink);

#endif
