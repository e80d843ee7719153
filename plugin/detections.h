/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which boxes a frame has: those of the property `regions`, those of the frame's metadata, and those that earlier
 * frames had not long ago. For one thread at a time.
 */
#ifndef GST_CUDA_CONVOLVE_DETECTIONS_H
#define GST_CUDA_CONVOLVE_DETECTIONS_H

#include <gst/video/video.h>

#include "patches.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveDetections GstCudaConvolveDetections;

GstCudaConvolveDetections *gst_cuda_convolve_detections_new (void);
void gst_cuda_convolve_detections_free (GstCudaConvolveDetections *detections);

/* Forgets all earlier frames. */
void gst_cuda_convolve_detections_forget (GstCudaConvolveDetections *detections);

/*
 * Reads the texts of the settings. FALSE with error (CONVOLVE_PROPS_ERROR_REGIONS), and the texts before stay. Boxes of
 * earlier frames stay in any case.
 */
gboolean gst_cuda_convolve_detections_set (GstCudaConvolveDetections *detections,
    const ConvolveRegionSettings *settings, GError **error);

/*
 * Finds the boxes of a frame with info. A box from metadata stays for `hold` after the last frame that had it, and goes
 * as soon as its centre lies in a box of a newer frame: that is the same face, which moved. *lost tells whether the
 * metadata is missing for longer than that. A second call with the same buffer finds the same. The array is of
 * GstCudaConvolveBox, and valid until the next call.
 */
const GArray *gst_cuda_convolve_detections_find (GstCudaConvolveDetections *detections, GstBuffer *buffer,
    const GstVideoInfo *info, gboolean *lost);

G_END_DECLS

#endif
