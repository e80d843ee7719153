/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a box to what is drawn of it: a rectangle, or a polygon in a rectangle. Pure functions, for any thread. */
#ifndef GST_CUDA_CONVOLVE_SHAPES_H
#define GST_CUDA_CONVOLVE_SHAPES_H

#include "regions/patches.h"

G_BEGIN_DECLS

/* The rectangle is the shape where there are no corners. */
typedef struct
{
  ConvolveRect box; /* luma pixels */
  gint margin;      /* of the polygon, in sixteenths of a luma pixel */
  guint n_corners;
  ConvolvePoint corners[CONVOLVE_MAX_CORNERS];
} GstCudaConvolveShape;

/*
 * The expanded box in a frame of that size. Rectangles are rounded outward, and corners to a sixteenth of a luma pixel. A
 * turned box grows along its own sides; a polygon grows by region-expand times the shorter side of the rectangle around
 * it. An ellipse in a turned box is a polygon around the ellipse, at most half a pixel larger where the box is not longer
 * than 800 pixels. Where corners lie on one line, or half a million pixels away, the rectangle around them is the shape.
 */
void gst_cuda_convolve_shape_find (GstCudaConvolveShape *shape, const GstCudaConvolveBox *box,
    const ConvolveRegionSettings *settings, gint width, gint height);

/* The upright area with the margins of its region, rounded outward. */
ConvolveRect gst_cuda_convolve_shape_expand (GstCudaConvolveRectangle area, GstCudaConvolveRectangle region,
    gdouble expand);

/* What the shape touches of the frame, with the feather. The width is 0 where that is nothing. */
ConvolveRect gst_cuda_convolve_shape_touch (const GstCudaConvolveShape *shape, gint feather, gint width, gint height);

G_END_DECLS

#endif
