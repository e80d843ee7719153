/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The work of a layer on frames of one size and format at each side. */
#ifndef GST_CUDA_CONV_LAYER_PLAN_H
#define GST_CUDA_CONV_LAYER_PLAN_H

#include "layer/layermodel.h"
#include "stream/work.h"

G_BEGIN_DECLS

/*
 * out is the layout of what the layer makes of frames with the layout in. variant is a name or "auto"; device may be NULL.
 * On the device a frame is cut into strips from the top, but a mosaic is one strip. NULL with error filled.
 */
GstCudaConvolveWork *gst_cuda_conv_layer_plan_new (const GstCudaConvLayerModel *layer, const GstCudaConvolveLayout *in,
    const GstCudaConvolveLayout *out, const gchar *variant, ConvolveDevice *device, ConvolveError *error);

G_END_DECLS

#endif
