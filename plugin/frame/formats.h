/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formats of the pads, and their order. */
#ifndef GST_CUDA_CONVOLVE_FORMATS_H
#define GST_CUDA_CONVOLVE_FORMATS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/*
 * The caps of both pads: CUDA memory before system memory, and the common 8-bit formats before all others. Frames of one
 * field, which have the caps feature format:Interlaced, come last and in system memory alone.
 */
GstCaps *gst_cuda_convolve_template_caps (void);

/*
 * The caps of the other pad where size and format stay. The same memory comes first, so that frames do not
 * cross the bus without need.
 */
GstCaps *gst_cuda_convolve_same_caps (GstCaps *caps);

/*
 * Puts the formats of a structure into the template's order where the structure leaves nearly every format open, as
 * videotestsrc does. Shorter lists keep the order that the neighbours gave them. Takes caps.
 */
GstCaps *gst_cuda_convolve_prefer_common_formats (GstCaps *caps);

/* The formats of all structures as "I420, NV12", each once, with a limit on their number. To be freed. */
gchar *gst_cuda_convolve_name_formats (const GstCaps *caps);

G_END_DECLS

#endif
