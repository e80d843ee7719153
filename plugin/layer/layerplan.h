/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A layer's plan for frames of one size and format at each side, and frames through that plan. Reference counted. */
#ifndef GST_CUDA_CONVOLVE_LAYER_PLAN_H
#define GST_CUDA_CONVOLVE_LAYER_PLAN_H

#include "convolve_pool.h"
#include "layer/layer.h"
#include "frame/rows.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveLayerPlan GstCudaConvolveLayerPlan;

/*
 * out is the layout of what the layer makes of frames with the layout in; both must outlive the plan. variant is a name
 * or "auto"; device may be NULL. NULL with error filled.
 */
GstCudaConvolveLayerPlan *gst_cuda_convolve_layer_plan_new (const GstCudaConvolveLayer *layer,
    const GstCudaConvolveLayout *in, const GstCudaConvolveLayout *out, const gchar *variant, ConvolveDevice *device,
    ConvolveError *error);
void gst_cuda_convolve_layer_plan_free (GstCudaConvolveLayerPlan *plan);

const gchar *gst_cuda_convolve_layer_plan_variant (const GstCudaConvolveLayerPlan *plan);
gboolean gst_cuda_convolve_layer_plan_is_on_device (const GstCudaConvolveLayerPlan *plan);

/* As gst_cuda_convolve_plans_set_pool(). */
void gst_cuda_convolve_layer_plan_set_pool (GstCudaConvolveLayerPlan *plan, ConvolvePool *pool);

/*
 * As the functions of run.h, for sound frames. On the device a frame is cut into so many strips from the top; a
 * mosaic is always one strip.
 */
ConvolveStatus gst_cuda_convolve_layer_plan_run_on_host (const GstCudaConvolveLayerPlan *plan, GstCudaConvolveFrame *in,
    GstCudaConvolveFrame *out, ConvolveError *error);
ConvolveStatus gst_cuda_convolve_layer_plan_run_on_device (const GstCudaConvolveLayerPlan *plan, ConvolveDevice *device,
    guint slot, guint strips, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error);

G_END_DECLS

#endif
