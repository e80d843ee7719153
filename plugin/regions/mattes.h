/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Planes of weights for a frame: the picture of region-mask-location, and the frame's own alpha. */
#ifndef GST_CUDA_CONVOLVE_MATTES_H
#define GST_CUDA_CONVOLVE_MATTES_H

#include "frame/layout.h"
#include "files/image_file.h"
#include "convolve_region.h"

G_BEGIN_DECLS

/*
 * The picture in a frame of that size, to be freed: each pixel of the frame has the largest value of the picture's pixels
 * that it touches, so that no thin line is lost. *bounds is the least rectangle around all that is above 0; its width is
 * 0 where nothing is.
 */
guint8 *gst_cuda_convolve_matte_scale (const ConvolveImage *image, gint width, gint height, ConvolveRect *bounds);

/* A plane of weights without gaps between the rows, as a matte. */
ConvolveMatte gst_cuda_convolve_matte_of_plane (const guint8 *values, gint width, gint height);

/*
 * The group and the number of the sample that have the alpha of frames with the layout. FALSE where the format has no
 * alpha.
 */
gboolean gst_cuda_convolve_matte_find_alpha (const GstCudaConvolveLayout *layout, guint *group, guint *sample);

G_END_DECLS

#endif
