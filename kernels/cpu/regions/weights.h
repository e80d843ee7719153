/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The weights of an area, row by row. A row looks at the boxes that reach it, and not at all boxes. Where many
 * rectangles reach a row, the time follows from the row's length and the number of boxes, however wide the feather is.
 */
#ifndef CONVOLVE_CPU_WEIGHTS_H
#define CONVOLVE_CPU_WEIGHTS_H

#include "convolve_region.h"

typedef struct ConvolveWeights ConvolveWeights;

/* For rows of the region; area must outlive the weights. NULL on error: NO_MEMORY. */
ConvolveWeights *convolve_weights_new (const ConvolveArea *area, const ConvolveRect *region, ConvolveError *error);
void convolve_weights_free (ConvolveWeights *weights);

/*
 * The weights of all pixels of row y, which is in the region and not above the row before. Valid until the next call.
 */
const uint16_t *convolve_weights_row (ConvolveWeights *weights, int y);

#endif
