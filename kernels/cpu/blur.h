/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CONVOLVE_CPU_BLUR_H
#define CONVOLVE_CPU_BLUR_H

#include "convolve_region.h"

/* Writes the plane's region, blurred. The arguments have been checked. Errors: NO_MEMORY. */
ConvolveStatus convolve_blur_region (const ConvolvePixel *pixel, ConvolveBoundary boundary, const ConvolveBlur *blur,
    const ConvolvePlane *plane, ConvolveError *error);

#endif
