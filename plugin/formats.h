/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formats that the pads name, and their order. */
#ifndef GST_CUDA_CONVOLVE_FORMATS_H
#define GST_CUDA_CONVOLVE_FORMATS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Frames in CUDA memory, then in system memory, in all formats that are supported: the common 8-bit ones first. */
GstCaps *gst_cuda_convolve_template_caps (void);

/*
 * The caps of the other side where a mask convolves frames with caps: the same frames in the same memory first, so that
 * nothing moves without need, then in the other memory.
 */
GstCaps *gst_cuda_convolve_mask_transform_caps (GstCaps *caps);

/*
 * Returns caps with the formats in the template's order where a structure leaves open nearly every format, as
 * videotestsrc does. Shorter lists keep the order that the neighbours gave them. Takes caps.
 */
GstCaps *gst_cuda_convolve_prefer_common_formats (GstCaps *caps);

G_END_DECLS

#endif
