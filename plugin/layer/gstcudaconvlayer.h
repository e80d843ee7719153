/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element cudaconvlayer: frames go through a convolution layer of a network. */
#ifndef GST_CUDA_CONV_LAYER_H
#define GST_CUDA_CONV_LAYER_H

#include "base/gstcudaconvolvebase.h"
#include "layer/layermodel.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_CONV_LAYER (gst_cuda_conv_layer_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaConvLayer, gst_cuda_conv_layer, GST, CUDA_CONV_LAYER, GstCudaConvolveBase)

struct _GstCudaConvLayer
{
  GstCudaConvolveBase base;

  GstCudaConvLayerModel *model; /* NULL before the start; written under the object lock */

  /* The streaming thread's. */
  GstCudaConvolveWork *work; /* or NULL */
  guint work_told;           /* see GST_CUDA_CONVOLVE_TELL */
  guint faults_told;         /* of frames, as bits */
  gchar *warning;            /* the text of the warning that stands, or NULL */
};

GST_ELEMENT_REGISTER_DECLARE (cudaconvlayer)

G_END_DECLS

#endif
