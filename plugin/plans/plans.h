/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work of a mask on whole frames: a plan for each group of the layout and each kind of rows. Made from the settings
 * when settings or caps change, and never changed afterwards.
 */
#ifndef GST_CUDA_CONVOLVE_PLANS_H
#define GST_CUDA_CONVOLVE_PLANS_H

#include "frame/windows.h"
#include "properties.h"
#include "report/maskinfo.h"
#include "stream/work.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolvePlans GstCudaConvolvePlans;

/*
 * Makes the plans for frames with the layout, all for the device or all for the CPU. device may be NULL. To be
 * unreferenced as work; NULL with error filled. CONVOLVE_INVALID then means that the mask or a number beside it is bad.
 */
GstCudaConvolvePlans *gst_cuda_convolve_plans_new (const ConvolveProperties *properties,
    const GstCudaConvolveLayout *layout, ConvolveDevice *device, ConvolveError *error);

/* The layout of input and output. */
const GstCudaConvolveLayout *gst_cuda_convolve_plans_in (const GstCudaConvolvePlans *plans);

/* The plan of a group of the layout for rows of a kind; NULL where no frame of the caps has such rows. */
const ConvolvePlan *gst_cuda_convolve_plans_group (const GstCudaConvolvePlans *plans, guint kind, guint group);

/* The mask of the first group, which the plans own. */
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

G_END_DECLS

#endif
