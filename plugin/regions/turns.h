/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame with regions, from its input to its output. */
#ifndef GST_CUDA_CONVOLVE_TURNS_H
#define GST_CUDA_CONVOLVE_TURNS_H

#include "regions/regions.h"

G_BEGIN_DECLS

/* The two runs of a kind of work; the work is regions. Regions are one strip, whether the frame is alone or not. */
ConvolveStatus gst_cuda_convolve_regions_run_on_host (GstCudaConvolveWork *work, GstCudaConvolveFrame *in,
    GstCudaConvolveFrame *out, ConvolveError *error);
ConvolveStatus gst_cuda_convolve_regions_run_on_device (GstCudaConvolveWork *work, gboolean alone,
    GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error);

G_END_DECLS

#endif
