/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes that come to nothing, and frames that are changed as a whole: what the user is told. */
#ifndef GST_CUDA_CONVOLVE_FAULTS_H
#define GST_CUDA_CONVOLVE_FAULTS_H

#include "regions/regions.h"

G_BEGIN_DECLS

/*
 * Whether a box of the property regions touches frames with info, or there are none. FALSE with *fault, which is to be
 * freed, and says what is wrong. The texts are good.
 */
gboolean gst_cuda_convolve_regions_text_touches (const ConvolveRegionSettings *settings, const GstVideoInfo *info,
    gchar **fault);

/* Why a frame has other boxes than the user asked for, as bits. */
typedef enum
{
  GST_CUDA_CONVOLVE_BOX_OF_TEXT_IS_OUTSIDE = 1 << 0,
  GST_CUDA_CONVOLVE_TEXT_IS_OUTSIDE = 1 << 1,     /* all boxes: the whole frame is changed */
  GST_CUDA_CONVOLVE_METADATA_IS_OUTSIDE = 1 << 2, /* all boxes of a frame */
  GST_CUDA_CONVOLVE_BOXES_ARE_LIMITED = 1 << 3,   /* the whole frame is changed */
  GST_CUDA_CONVOLVE_THERE_IS_NO_ALPHA = 1 << 4,   /* the whole frame is changed */
  GST_CUDA_CONVOLVE_MASK_IS_BLACK = 1 << 5,
  GST_CUDA_CONVOLVE_N_BOX_FAULTS = 6
} GstCudaConvolveBoxFaults;

/* The faults of the boxes that find() found last, and the sentence about one of them, which is to be freed. */
guint gst_cuda_convolve_regions_faults (const GstCudaConvolveRegions *regions);
gchar *gst_cuda_convolve_regions_explain_fault (const GstCudaConvolveRegions *regions, guint fault);

/* Looks for boxes outside of frames in the property regions of new settings. */
void gst_cuda_convolve_regions_look_at_text (GstCudaConvolveRegions *regions);

/* Whether there are boxes from metadata, which follow those of the text at `first`, and none of them touches the frame. */
gboolean gst_cuda_convolve_regions_metadata_is_outside (const GstCudaConvolveRegions *regions, const GArray *found,
    guint first);

G_END_DECLS

#endif
