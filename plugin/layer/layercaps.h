/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps on the two sides of a layer. Channels and feature maps decide the formats, the layer decides the sizes.
 */
#ifndef GST_CUDA_CONV_LAYER_CAPS_H
#define GST_CUDA_CONV_LAYER_CAPS_H

#include "layer/layermodel.h"

G_BEGIN_DECLS

/*
 * The caps of the other pad where the pad of direction has caps, best first: the same memory before the other memory,
 * and a format like the one in caps before other formats.
 */
GstCaps *gst_cuda_conv_layer_model_transform_caps (const GstCudaConvLayerModel *layer, GstPadDirection direction,
    GstCaps *caps);

/* The best caps in othercaps, fixed. Takes othercaps. */
GstCaps *gst_cuda_conv_layer_model_fixate_caps (const GstCudaConvLayerModel *layer, GstPadDirection direction,
    GstCaps *caps, GstCaps *othercaps);

/* NULL where the layer takes frames with info; otherwise a text that says why not, to be freed. */
gchar *gst_cuda_conv_layer_model_refuses (const GstCudaConvLayerModel *layer, const GstVideoInfo *info);

/* The same for caps, which need not be fixed: NULL where the layer takes some frames with these caps. */
gchar *gst_cuda_conv_layer_model_refuses_caps (const GstCudaConvLayerModel *layer, GstCaps *caps);

/* Whether the layer makes frames with out of frames with info. */
gboolean gst_cuda_conv_layer_model_makes (const GstCudaConvLayerModel *layer, const GstVideoInfo *info,
    const GstVideoInfo *out);

G_END_DECLS

#endif
