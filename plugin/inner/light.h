/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The step from frames of code values to frames of light. */
#ifndef GST_CUDA_CONVOLVE_LIGHT_H
#define GST_CUDA_CONVOLVE_LIGHT_H

#include "inner/steps.h"

G_BEGIN_DECLS

/*
 * Whether the settings let alpha weigh colours, whatever the frames are: not in regions that are filled or get noise, or whose weights
 * are the alpha.
 */
gboolean gst_cuda_convolve_light_may_weigh (const ConvolveProperties *properties);

/*
 * Finds whether colours of frames with the layout are to be weighed by alpha: where the settings let it, alpha is straight and as fine as
 * the colours, all colours are convolved and alpha is not chosen by itself, and the mask, where it is taken as it is, has no
 * offset. INVALID or NO_MEMORY where there is no mask.
 */
ConvolveStatus gst_cuda_convolve_light_weighs (const GstCudaConvolveLayout *layout,
    const ConvolveProperties *properties, gboolean *weighs, ConvolveError *error);

/*
 * Fills the step for frames with the layout, from code values to linear light, to colours that alpha weighs, or both. FALSE with
 * UNSUPPORTED where linear light is asked for, and the frames are not RGB or gray. caps are those of the stream.
 */
gboolean gst_cuda_convolve_light_find (GstCudaConvolveStep *step, const GstCudaConvolveLayout *layout,
    const GstVideoInfo *caps, const ConvolveProperties *properties, gboolean weighs, ConvolveError *error);

/* How code values of frames with info stand for light. Where the caps do not say, sRGB, and *known becomes FALSE; known may be NULL. */
ConvolveTransfer gst_cuda_convolve_light_transfer (const GstVideoInfo *info, gboolean *known);

G_END_DECLS

#endif
