/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A layer's plan for frames of one size and format in and out, and frames through it. Reference counted. */
#ifndef GST_CUDA_CONVOLVE_LAYER_PLAN_H
#define GST_CUDA_CONVOLVE_LAYER_PLAN_H

#include "layer.h"
#include "rows.h"

G_BEGIN_DECLS

typedef struct
{
  ConvolveLayerPlan *plan;
  GstVideoInfo in_info, out_info;
  GstCudaConvolveLayout in, out; /* their planes */
  guint shown, columns, rows;
  gboolean mosaic;
  gint map_width, map_height;
} GstCudaConvolveLayerPlan;

/*
 * out is what the layer makes of frames with in. variant is a name or "auto"; device may be NULL. NULL with error
 * filled.
 */
GstCudaConvolveLayerPlan *gst_cuda_convolve_layer_plan_new (const GstCudaConvolveLayer *layer, const GstVideoInfo *in,
    const GstVideoInfo *out, const gchar *variant, ConvolveDevice *device, ConvolveError *error);
GstCudaConvolveLayerPlan *gst_cuda_convolve_layer_plan_ref (GstCudaConvolveLayerPlan *plan);
void gst_cuda_convolve_layer_plan_unref (GstCudaConvolveLayerPlan *plan);

/* As the functions of run.h, for sound frames; in so many strips from the top where that can be. */
ConvolveStatus gst_cuda_convolve_layer_plan_run_on_host (const GstCudaConvolveLayerPlan *plan, GstCudaConvolveFrame *in,
    GstCudaConvolveFrame *out, ConvolveError *error);
ConvolveStatus gst_cuda_convolve_layer_plan_run_on_device (const GstCudaConvolveLayerPlan *plan, ConvolveDevice *device,
    guint slot, guint strips, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error);

G_END_DECLS

#endif
