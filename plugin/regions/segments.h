/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of segmentation, from GStreamer 1.26; segments_none.c stands in where the analytics library has none. */
#ifndef GST_CUDA_CONVOLVE_SEGMENTS_H
#define GST_CUDA_CONVOLVE_SEGMENTS_H

#include <gst/analytics/analytics.h>

#include "regions/analytics.h"

G_BEGIN_DECLS

/*
 * Adds the parts of each region in each mask. The type of a region is the class that the mask's related classification
 * has for it. Left out is the background: id 0 without a class. Refused is a mask that says nothing of the frame.
 */
void gst_cuda_convolve_segments_read (GstAnalyticsRelationMeta *relations,
    const GstCudaConvolveAnalyticsReader *reader);

G_END_DECLS

#endif
