/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The components of a frame that the mask convolves, and those that are copied. */
#ifndef GST_CUDA_CONVOLVE_COMPONENTS_H
#define GST_CUDA_CONVOLVE_COMPONENTS_H

#include "frame/layout.h"

G_BEGIN_DECLS

/* Makes the layout convolve the samples of these components (flags of ConvolveComponents), and copy all others. */
void gst_cuda_convolve_components_choose (GstCudaConvolveLayout *layout, guint components);

/*
 * Says in a sentence, to be freed, that frames with the layout have none of these components. NULL where the frames
 * have one of them.
 */
gchar *gst_cuda_convolve_components_explain (const GstCudaConvolveLayout *layout, guint components);

G_END_DECLS

#endif
