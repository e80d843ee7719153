/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Polygons in rows of luma pixels. */
#ifndef CONVOLVE_CPU_OUTLINES_H
#define CONVOLVE_CPU_OUTLINES_H

#include "convolve_region.h"

/* A row of luma pixels in one polygon. */
typedef struct
{
  int x, y, count; /* columns x .. x + count - 1 */
  double *squares; /* of distances, 0 in the polygon; NULL where nothing fades */
  uint16_t *found; /* then the weights of pixels, one for each `step` luma pixels */
  int step;
} ConvolveLumaRow;

/* Finds what a polygon is to the luma pixels of a row. corners are those of the outline, feather is in luma pixels. */
void convolve_look_at_polygon (const ConvolvePoint *corners, const ConvolveOutline *outline, int feather,
    const ConvolveLumaRow *row);

#endif
