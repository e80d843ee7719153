/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What turns a frame with the input's caps into a frame with the output's caps: a plan for each group of the layout and
 * each kind of rows, or a layer's plan. Made from the settings when settings or caps change, and never changed afterwards. Reference
 * counted; the last reference to plans for a device goes while the device's context is current.
 */
#ifndef GST_CUDA_CONVOLVE_PLANS_H
#define GST_CUDA_CONVOLVE_PLANS_H

#include "layer/layerplan.h"
#include "report/maskinfo.h"
#include "properties.h"
#include "frame/windows.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolvePlans GstCudaConvolvePlans;

/*
 * Makes the plans, all for the device or all for the CPU. layer is what takes the mask's place, or NULL; without a
 * layer in and out have one format and size. device may be NULL. NULL with error filled; CONVOLVE_INVALID then means
 * that the mask or a number beside it is bad.
 */
GstCudaConvolvePlans *gst_cuda_convolve_plans_new (const ConvolveProperties *properties,
    const GstCudaConvolveLayer *layer, const GstCudaConvolveLayout *in, const GstCudaConvolveLayout *out,
    ConvolveDevice *device, ConvolveError *error);
GstCudaConvolvePlans *gst_cuda_convolve_plans_ref (GstCudaConvolvePlans *plans);
void gst_cuda_convolve_plans_unref (GstCudaConvolvePlans *plans);

/* The layouts of input and output. */
const GstCudaConvolveLayout *gst_cuda_convolve_plans_in (const GstCudaConvolvePlans *plans);
const GstCudaConvolveLayout *gst_cuda_convolve_plans_out (const GstCudaConvolvePlans *plans);

/*
 * The plan of a group of the input's layout for rows of a kind, or the layer's plan; NULL where there is none, because
 * no frame of the caps has such rows or a layer convolves the frames.
 */
const ConvolvePlan *gst_cuda_convolve_plans_group (const GstCudaConvolvePlans *plans, guint kind, guint group);
const GstCudaConvolveLayerPlan *gst_cuda_convolve_plans_layer (const GstCudaConvolvePlans *plans);

/* The mask of the first group, which the plans own; NULL for a layer's plan. */
GstCudaConvolveMaskInfo *gst_cuda_convolve_plans_mask_info (const GstCudaConvolvePlans *plans);

/* A plan that copies a group, in windows of a kind; NULL where the layout says that no frame is cropped. */
const ConvolvePlan *gst_cuda_convolve_plans_copy (const GstCudaConvolvePlans *plans, guint kind, guint group);

/*
 * How often a frame goes through the plans of the groups, and memory for the largest plane where plans for the CPU do
 * so more than once. One frame at a time uses the memory.
 */
guint gst_cuda_convolve_plans_iterations (const GstCudaConvolvePlans *plans);
guint8 *gst_cuda_convolve_plans_scratch (const GstCudaConvolvePlans *plans);

/* The value of ConvolveFieldMode that the plans were made for. */
gint gst_cuda_convolve_plans_field_mode (const GstCudaConvolvePlans *plans);

gboolean gst_cuda_convolve_plans_are_on_device (const GstCudaConvolvePlans *plans);

/* Whether the plans change no sample at all. */
gboolean gst_cuda_convolve_plans_are_identity (const GstCudaConvolvePlans *plans);

/* The variants in use, with commas where planes differ; interned. */
const gchar *gst_cuda_convolve_plans_variant (const GstCudaConvolvePlans *plans);

/* Plans for the CPU share their work in pool, which may be NULL and must outlive them. */
void gst_cuda_convolve_plans_set_pool (GstCudaConvolvePlans *plans, ConvolvePool *pool);

G_END_DECLS

#endif
