/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the element agrees on with its neighbours: caps and allocations. */
#ifndef GST_CUDA_CONVOLVE_NEGOTIATION_H
#define GST_CUDA_CONVOLVE_NEGOTIATION_H

#include "base/element.h"

G_BEGIN_DECLS

/* Sets the virtual functions of GstBaseTransform that negotiate. */
void gst_cuda_convolve_install_negotiation (GstBaseTransformClass *klass);

/* Whether the next element takes any frames that the layer, or the mask, makes of the input. */
gboolean gst_cuda_convolve_is_taken_downstream (GstCudaConvolve *self);

G_END_DECLS

#endif
