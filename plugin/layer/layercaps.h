/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps where a layer takes the mask's place. Channels and feature maps decide the formats, the layer decides the
 * sizes.
 */
#ifndef GST_CUDA_CONVOLVE_LAYER_CAPS_H
#define GST_CUDA_CONVOLVE_LAYER_CAPS_H

#include "layer/layer.h"

G_BEGIN_DECLS

/*
 * The caps of the other pad where the pad of direction has caps, best first: the same memory before the other memory,
 * and a format like the one in caps before other formats.
 */
GstCaps *gst_cuda_convolve_layer_transform_caps (const GstCudaConvolveLayer *layer, GstPadDirection direction,
    GstCaps *caps);

/* The best caps in othercaps, fixed. Takes othercaps. */
GstCaps *gst_cuda_convolve_layer_fixate_caps (const GstCudaConvolveLayer *layer, GstPadDirection direction,
    GstCaps *caps, GstCaps *othercaps);

/* NULL where the layer takes frames with info; otherwise a text that says why not, to be freed. */
gchar *gst_cuda_convolve_layer_refuses (const GstCudaConvolveLayer *layer, const GstVideoInfo *info);

/* The same for caps, which need not be fixed: NULL where the layer takes some frames with these caps. */
gchar *gst_cuda_convolve_layer_refuses_caps (const GstCudaConvolveLayer *layer, GstCaps *caps);

/* Whether the layer makes frames with out of frames with info. */
gboolean gst_cuda_convolve_layer_makes (const GstCudaConvolveLayer *layer, const GstVideoInfo *info,
    const GstVideoInfo *out);

G_END_DECLS

#endif
