/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The step from frames of code values to frames of light. */
#ifndef GST_CUDA_CONVOLVE_LIGHT_H
#define GST_CUDA_CONVOLVE_LIGHT_H

#include "inner/steps.h"

G_BEGIN_DECLS

/* Fills the step for frames with the layout. FALSE with UNSUPPORTED where these are not RGB or gray. */
gboolean gst_cuda_convolve_light_find (GstCudaConvolveStep *step, const GstCudaConvolveLayout *layout,
    ConvolveError *error);

/* How code values of frames with info stand for light. Where the caps do not say, sRGB. */
ConvolveTransfer gst_cuda_convolve_light_transfer (const GstVideoInfo *info);

G_END_DECLS

#endif
