/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Colours that users write, as code values of a format. */
#ifndef GST_CUDA_CONVOLVE_COLOR_H
#define GST_CUDA_CONVOLVE_COLOR_H

#include "frame/layout.h"

G_BEGIN_DECLS

/*
 * The code values of a colour 0xAARRGGBB for the samples of a group's pixel, by the matrix and the range of the frames'
 * colorimetry. A sample that the pixel does not select gets 0. values has CONVOLVE_MAX_SAMPLES members.
 */
void gst_cuda_convolve_color_values (const GstCudaConvolveLayout *layout, const GstCudaConvolveGroup *group,
    guint color, gint *values);

G_END_DECLS

#endif
