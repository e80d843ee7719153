/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happens to the metas of a frame where a layer changes the size and the meaning of its samples. */
#ifndef GST_CUDA_CONV_LAYER_META_H
#define GST_CUDA_CONV_LAYER_META_H

#include "layer/layermodel.h"

G_BEGIN_DECLS

/* Whether metas of this API can be had on the output at all: none about colour, and of a mosaic none about places. */
gboolean gst_cuda_conv_layer_model_can_keep_meta (const GstCudaConvLayerModel *layer, GType api);

/*
 * Whether the meta can be copied to the output. A meta that names places in the picture cannot: this function puts a
 * scaled copy on outbuf, unless the output is a mosaic, which shows the picture many times. A meta about colour is
 * lost.
 */
gboolean gst_cuda_conv_layer_model_keeps_meta (const GstCudaConvLayerModel *layer, const GstVideoInfo *in,
    const GstVideoInfo *out, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf);

G_END_DECLS

#endif
