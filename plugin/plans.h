/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what the user set to a plan for each step of a layout. */
#ifndef GST_CUDA_CONVOLVE_PLANS_H
#define GST_CUDA_CONVOLVE_PLANS_H

#include "layerplan.h"
#include "properties.h"

G_BEGIN_DECLS

typedef struct
{
  ConvolvePlan *plan[GST_VIDEO_MAX_COMPONENTS]; /* of each step; NULL behind the last */
  GstCudaConvolveLayerPlan *layer;              /* instead of them, or NULL */
} GstCudaConvolvePlans;

/*
 * Makes the plans, all for the device or all for the CPU; device may be NULL. On error plans is empty and error is
 * filled; CONVOLVE_INVALID then means that the mask or a number beside it is bad.
 */
ConvolveStatus gst_cuda_convolve_plans_init (GstCudaConvolvePlans *plans, const ConvolveProperties *settings,
    const GstCudaConvolveLayout *layout, ConvolveDevice *device, ConvolveError *error);

/* The same for a layer, which makes frames with out of those with in. */
ConvolveStatus gst_cuda_convolve_plans_init_layer (GstCudaConvolvePlans *plans, const ConvolveProperties *settings,
    const GstCudaConvolveLayer *layer, const GstVideoInfo *in, const GstVideoInfo *out, ConvolveDevice *device,
    ConvolveError *error);
void gst_cuda_convolve_plans_ref (GstCudaConvolvePlans *to, const GstCudaConvolvePlans *from);
void gst_cuda_convolve_plans_clear (GstCudaConvolvePlans *plans);

/* Whether there are any, and whether they are for the device. */
gboolean gst_cuda_convolve_plans_exist (const GstCudaConvolvePlans *plans);
gboolean gst_cuda_convolve_plans_are_on_device (const GstCudaConvolvePlans *plans);

/* Plans for the CPU share their work in pool, which may be NULL. */
void gst_cuda_convolve_plans_set_pool (GstCudaConvolvePlans *plans, ConvolvePool *pool);

/* The plans change no sample at all. */
gboolean gst_cuda_convolve_plans_are_identity (const GstCudaConvolvePlans *plans);

/* The variants in use, with commas where planes differ; interned. */
const gchar *gst_cuda_convolve_plans_variant (const GstCudaConvolvePlans *plans, const GstCudaConvolveLayout *layout);

G_END_DECLS

#endif
