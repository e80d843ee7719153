/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work on parts of frames: which boxes a frame has, and the effect there. For the streaming thread.
 */
#ifndef GST_CUDA_CONVOLVE_REGIONS_H
#define GST_CUDA_CONVOLVE_REGIONS_H

#include "regions/detections.h"
#include "plans/plans.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveRegions GstCudaConvolveRegions;

/*
 * Works on parts of frames with the plans' layout, where the plans work. plans are for a mask, and are referenced; device
 * is that of plans for a device, and must outlive the regions.
 */
GstCudaConvolveRegions *gst_cuda_convolve_regions_new (GstCudaConvolvePlans *plans, ConvolveDevice *device);
void gst_cuda_convolve_regions_free (GstCudaConvolveRegions *regions);

/*
 * Sets what is to be done, and which boxes detections finds. The effect is not auto. properties differ from those that the plans were made from
 * in the settings of regions alone. FALSE with error filled, which may be NULL, where the settings are bad; nothing is
 * changed then.
 */
gboolean gst_cuda_convolve_regions_set (GstCudaConvolveRegions *regions, GstCudaConvolveDetections *detections,
    const ConvolveProperties *properties, ConvolveError *error);

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
  GST_CUDA_CONVOLVE_N_BOX_FAULTS = 4
} GstCudaConvolveBoxFaults;

/* The faults of the boxes that find() found last, and the sentence about one of them, which is to be freed. */
guint gst_cuda_convolve_regions_faults (const GstCudaConvolveRegions *regions);
gchar *gst_cuda_convolve_regions_explain_fault (const GstCudaConvolveRegions *regions, guint fault);

/* Finds what is to be done with a frame. FALSE where that is nothing. */
gboolean gst_cuda_convolve_regions_find (GstCudaConvolveRegions *regions, GstCudaConvolveDetections *detections,
    GstBuffer *buffer);

/*
 * Works on the frame that the last find() was for. in and out are sound frames, and may be one frame; otherwise out first
 * becomes a copy of in. With plans for the CPU both are on the host. With plans for a device, run_on_device() enqueues
 * the work as a frame in `slot`, which is waited for as after gst_cuda_convolve_run_on_device(). Errors: NO_MEMORY, and
 * those of convolve_run().
 */
ConvolveStatus gst_cuda_convolve_regions_run (GstCudaConvolveRegions *regions, GstCudaConvolveFrame *in,
    GstCudaConvolveFrame *out, ConvolveTimes *times, ConvolveError *error);

ConvolveStatus gst_cuda_convolve_regions_run_on_device (GstCudaConvolveRegions *regions, guint slot,
    GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error);

/* Whether no frame can change, whatever its boxes. */
gboolean gst_cuda_convolve_regions_are_identity (const GstCudaConvolveRegions *regions);

G_END_DECLS

#endif
