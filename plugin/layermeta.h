/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of a frame's metas where a layer changes its size and what its samples mean. */
#ifndef GST_CUDA_CONVOLVE_LAYER_META_H
#define GST_CUDA_CONVOLVE_LAYER_META_H

#include "layer.h"

G_BEGIN_DECLS

/*
 * Whether the meta holds for the output as it is. One that speaks of places in the picture does not: it is scaled and
 * put on outbuf here, but for a mosaic, which shows the picture many times.
 */
gboolean gst_cuda_convolve_layer_keeps_meta (const GstCudaConvolveLayer *layer, const GstVideoInfo *in,
    const GstVideoInfo *out, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf);

G_END_DECLS

#endif
