/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the numbers in a frame's metadata to boxes. Pure functions, for any thread. */
#ifndef GST_CUDA_CONVOLVE_BOXES_H
#define GST_CUDA_CONVOLVE_BOXES_H

#include "regions/patches.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CUDA_CONVOLVE_BOX_TAKEN,
  GST_CUDA_CONVOLVE_BOX_EMPTY,  /* its width or height is 0 */
  GST_CUDA_CONVOLVE_BOX_REFUSED /* its numbers say nothing: negative sizes, infinity, NaN */
} GstCudaConvolveBoxState;

/*
 * The box of a GstVideoRegionOfInterestMeta, for a frame of that size. The fields are unsigned, and trackers write -5
 * into x and y as 4294967291, so x and y are read as signed numbers. A size that is larger than the frame, as -1 is,
 * goes to the frame's edge. A smaller one stays whole where the box passes the edge: the effect follows from the whole
 * face. A box outside the frame is taken, too.
 */
GstCudaConvolveBoxState gst_cuda_convolve_box_read_unsigned (guint x, guint y, guint width, guint height,
    gint frame_width, gint frame_height, GstCudaConvolveBox *box);

/*
 * The box of an object, which is turned by angle about its centre. The angle is in radians. After right angles the box
 * is upright, and its sizes are as above. Other boxes keep their sizes; one that is longer than the frame's width and
 * height together becomes the whole frame.
 */
GstCudaConvolveBoxState gst_cuda_convolve_box_read_turned (gdouble x, gdouble y, gdouble width, gdouble height,
    gdouble angle, gint frame_width, gint frame_height, GstCudaConvolveBox *box);

/* The box or polygon of the property regions, for a frame of that size. A polygon points to text. */
GstCudaConvolveBox gst_cuda_convolve_box_read_text (const ConvolveTextBox *text, gint frame_width, gint frame_height);

/* Where a mask of the frame lies. A mask may be larger than the frame; a size that is a negative number goes to the edge. */
GstCudaConvolveRectangle gst_cuda_convolve_box_place_mask (gint x, gint y, guint width, guint height, gint frame_width,
    gint frame_height);

G_END_DECLS

#endif
