/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of segmentation, from GStreamer 1.26; segments_none.c stands in where the analytics library has none. */
#ifndef GST_CUDA_CONVOLVE_SEGMENTS_H
#define GST_CUDA_CONVOLVE_SEGMENTS_H

#include <gst/analytics/analytics.h>

#include "regions/analytics.h"

G_BEGIN_DECLS

/* Reads an object, with its names where they are needed. FALSE where it cannot be read. */
gboolean gst_cuda_convolve_analytics_read_object (const GstAnalyticsODMtd *object, gboolean needs_names,
    GstCudaConvolveObject *read);

/*
 * Adds the parts of each region in each mask. The type of a region is the class that the mask's related
 * classification has for it. A mask with one region, which is related to one object, is that object: it has its id,
 * confidence and names, and its type where there is no class. Samples whose id is not in the mask's list are one
 * region more, because decoders forget to list them. Left out is the background: id 0 without a class. Refused is a
 * mask that says nothing of the frame.
 */
void gst_cuda_convolve_segments_read (GstAnalyticsRelationMeta *relations,
    const GstCudaConvolveAnalyticsReader *reader);

G_END_DECLS

#endif
