/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the element agrees on with its neighbours: caps and allocations. */
#ifndef GST_CUDA_CONVOLVE_NEGOTIATION_H
#define GST_CUDA_CONVOLVE_NEGOTIATION_H

#include "base/element.h"

G_BEGIN_DECLS

/* Sets the virtual functions of GstBaseTransform that negotiate. */
void gst_cuda_convolve_install_negotiation (GstBaseTransformClass *klass);

/*
 * For transform_caps(): those of the other pad's caps that the filter, which may be NULL, has; in the filter's order.
 * Logs them.
 */
GstCaps *gst_cuda_convolve_filter_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
    GstCaps *other, GstCaps *filter);

/* Whether the next element takes any frames that this one makes of the input. */
gboolean gst_cuda_convolve_is_taken_downstream (GstCudaConvolveBase *base);

/*
 * How many buffers of upstream frames that wait keep, with the one that comes, by the settings that the next frame
 * uses.
 */
guint gst_cuda_convolve_count_waiting (GstCudaConvolveBase *base);

/* Whether frames may go on in their own buffers, by the settings that the next frame uses. */
gboolean gst_cuda_convolve_passes_buffers (GstCudaConvolveBase *base);

G_END_DECLS

#endif
