/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps in layer mode: formats by the number of channels and of feature maps, sizes by the layer. */
#ifndef GST_CUDA_CONVOLVE_LAYER_CAPS_H
#define GST_CUDA_CONVOLVE_LAYER_CAPS_H

#include "layer.h"

G_BEGIN_DECLS

/*
 * What the other side can have where the side of direction has caps, best first: the same memory before the other,
 * the kind of format that is there before others.
 */
GstCaps *gst_cuda_convolve_layer_transform_caps (const GstCudaConvolveLayer *layer, GstPadDirection direction,
    GstCaps *caps);

/* The best of othercaps, fixed. Takes othercaps. */
GstCaps *gst_cuda_convolve_layer_fixate_caps (const GstCudaConvolveLayer *layer, GstPadDirection direction,
    GstCaps *caps, GstCaps *othercaps);

/*
 * Whether the layer takes frames with info: NULL, or why not, to be freed. And whether it makes frames with out of
 * them.
 */
gchar *gst_cuda_convolve_layer_refuses (const GstCudaConvolveLayer *layer, const GstVideoInfo *info);

/* The same for frames with any of these caps, which need not be fixed: NULL where the layer takes one of them. */
gchar *gst_cuda_convolve_layer_refuses_caps (const GstCudaConvolveLayer *layer, GstCaps *caps);
gboolean gst_cuda_convolve_layer_makes (const GstCudaConvolveLayer *layer, const GstVideoInfo *info,
    const GstVideoInfo *out);

G_END_DECLS

#endif
