/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps that are refused before the first frame. GStreamer's own error would only say not-negotiated; these
 * functions post an error that says what the element takes. Any thread.
 */
#ifndef GST_CUDA_CONVOLVE_REFUSAL_H
#define GST_CUDA_CONVOLVE_REFUSAL_H

#include "errors.h"
#include "layer.h"

G_BEGIN_DECLS

/* Whether upstream can offer nothing that the layer takes, as far as elements know before they run. */
gboolean gst_cuda_convolve_refuse_offers (GstCudaConvolveErrors *errors, const GstCudaConvolveLayer *layer,
    GstPad *sink);

/*
 * Whether no caps that the layer takes can follow from the caps that elements upstream have sent. Elements do not
 * send caps that were refused when they asked, so such a refusal is final.
 */
gboolean gst_cuda_convolve_refuse_sent_caps (GstCudaConvolveErrors *errors, const GstCudaConvolveLayer *layer,
    GstPad *sink);

/* Whether each view or each field of a frame is in memory of its own, of which a mapped frame has the first alone. */
gboolean gst_cuda_convolve_refuse_parts (GstCudaConvolveErrors *errors, const GstVideoInfo *info);

/* Whether the answer to the query is that no caps will do. */
gboolean gst_cuda_convolve_is_refusal (GstQuery *query);

G_END_DECLS

#endif
