/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The value of the property mask-info: the mask of the first plane as the plans use it. Never changed once it is made,
 * reference counted, for any thread, once all plans were added.
 */
#ifndef GST_CUDA_CONVOLVE_MASKINFO_H
#define GST_CUDA_CONVOLVE_MASKINFO_H

#include <gst/gst.h>

#include "convolve.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveMaskInfo GstCudaConvolveMaskInfo;

/* exact is that of the mask's plan. */
GstCudaConvolveMaskInfo *gst_cuda_convolve_mask_info_new (const ConvolveMask *mask, gboolean exact);

/* Counts a plan of the frame: the member reproducible is true where all of them are. */
void gst_cuda_convolve_mask_info_add_plan (GstCudaConvolveMaskInfo *info, const ConvolvePlan *plan);

gboolean gst_cuda_convolve_mask_info_is_reproducible (const GstCudaConvolveMaskInfo *info);

/* "WIDTHxHEIGHT", to be freed. */
gchar *gst_cuda_convolve_mask_info_describe_size (const GstCudaConvolveMaskInfo *info);

/* The longer side; 0 for a mask without weights. */
gint gst_cuda_convolve_mask_info_get_side (const GstCudaConvolveMaskInfo *info);

GstCudaConvolveMaskInfo *gst_cuda_convolve_mask_info_ref (GstCudaConvolveMaskInfo *info);
void gst_cuda_convolve_mask_info_unref (GstCudaConvolveMaskInfo *info);

/* The structure, whose members plugin/properties.md names. The rank of a large mask takes some milliseconds. */
GstStructure *gst_cuda_convolve_mask_info_make_structure (const GstCudaConvolveMaskInfo *info);

G_END_DECLS

#endif
