/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps that are refused before the first frame. GStreamer's own error would only say not-negotiated; these
 * functions post an error that says what the element takes. Any thread.
 */
#ifndef GST_CUDA_CONVOLVE_REFUSAL_H
#define GST_CUDA_CONVOLVE_REFUSAL_H

#include "base/element.h"

G_BEGIN_DECLS

/* Whether upstream can offer nothing that the element takes, as far as elements know now. */
gboolean gst_cuda_convolve_refuse_offers (GstCudaConvolveBase *base);

/*
 * Looks at an ACCEPT_CAPS or CAPS query that the element's answer refused. The refusal is final, and posted, where upstream
 * has sent caps that have not arrived here, or can offer nothing else. Otherwise a neighbour is in search of caps that both
 * can do, and the log has the reason as a warning.
 */
void gst_cuda_convolve_refuse_query (GstCudaConvolveBase *base, GstQuery *query);

/* Posts an error where frames come although nobody has sent caps. */
void gst_cuda_convolve_refuse_missing_caps (GstCudaConvolveBase *base);

/* Whether GStreamer cannot describe frames with the caps; otherwise fills info. */
gboolean gst_cuda_convolve_refuse_size (GstCudaConvolveBase *base, GstCaps *caps, GstVideoInfo *info);

/* Whether each view or each field of a frame is in memory of its own, of which a mapped frame has the first alone. */
gboolean gst_cuda_convolve_refuse_parts (GstCudaConvolveBase *base, const GstVideoInfo *info);

/* Whether the answer to the query is that no caps will do. */
gboolean gst_cuda_convolve_is_refusal (GstQuery *query);

G_END_DECLS

#endif
