/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The work of a mask on parts of frames: which boxes a frame has, and the effect there. For the streaming thread. */
#ifndef GST_CUDA_CONVOLVE_REGIONS_H
#define GST_CUDA_CONVOLVE_REGIONS_H

#include "regions/detections.h"
#include "regions/noise.h"
#include "regions/smooth.h"
#include "plans/plans.h"
#include "stream/record.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveRegions GstCudaConvolveRegions;

/*
 * Works on parts of frames with the plans' layout, where the plans work. To be unreferenced as work. The noise must outlive
 * the regions: it is that of the regions before, because new noise with every change of settings could be averaged away. So
 * must the smoothed weights, which go on when settings change.
 */
GstCudaConvolveRegions *gst_cuda_convolve_regions_new (GstCudaConvolvePlans *plans, GstCudaConvolveNoise *noise,
    GstCudaConvolveSmooth *smooth);

/*
 * Works on the same frames in another form, with the plans' layout. What is done there, and where, is what the leader's settings and its
 * last find() say. The effects are those of masks, and pixelate. To be unreferenced as work; the leader is referenced.
 */
GstCudaConvolveRegions *gst_cuda_convolve_regions_new_follower (GstCudaConvolvePlans *plans,
    GstCudaConvolveRegions *leader);

/*
 * Sets what is to be done, and which boxes detections finds. The effect is not auto. properties differ from those that
 * the plans were made from in the settings of regions alone, and are referenced. FALSE with error filled, which may be NULL, where the settings are bad; nothing is
 * changed then.
 */
gboolean gst_cuda_convolve_regions_set (GstCudaConvolveRegions *regions, GstCudaConvolveDetections *detections,
    ConvolveProperties *properties, ConvolveError *error);

/*
 * Finds what is to be done with the frame that is run next. FALSE where that is nothing. The frame is run as work is; where in and
 * out are two frames, out first becomes a copy of in. Errors of a run: NO_MEMORY, and those of convolve_run().
 */
gboolean gst_cuda_convolve_regions_find (GstCudaConvolveRegions *regions, GstCudaConvolveDetections *detections,
    GstBuffer *buffer);

/* Tells the record of the regions that find() found last, and of what is done there. The frame's line has begun. */
void gst_cuda_convolve_regions_describe (const GstCudaConvolveRegions *regions,
    const GstCudaConvolveDetections *detections, GstCudaConvolveRecord *record);

G_END_DECLS

#endif
