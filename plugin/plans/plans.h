/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work of a mask on whole frames: a plan for each group of the layout and each kind of rows. Made from the settings
 * when settings or caps change, and never changed afterwards.
 */
#ifndef GST_CUDA_CONVOLVE_PLANS_H
#define GST_CUDA_CONVOLVE_PLANS_H

#include "frame/windows.h"
#include "properties/properties.h"
#include "report/maskinfo.h"
#include "stream/work.h"

G_BEGIN_DECLS

/* Open for those who run frames; nobody changes it. */
typedef struct
{
  GstCudaConvolveWork work; /* input and output have one layout */
  gboolean split;           /* luma and chroma of one pixel are groups of their own */
  gint field_mode;          /* the value of ConvolveFieldMode that the plans were made for */
  guint iterations;         /* how often a frame goes through the plans of the groups */
  guint8 *scratch; /* for iterations on the CPU: memory of the largest plane, for one frame at a time; or NULL */

  /* Of each group of the layout, for each kind of rows that frames can have; otherwise NULL. */
  ConvolvePlan *group[GST_CUDA_CONVOLVE_N_KINDS][GST_VIDEO_MAX_COMPONENTS];

  /* Where the layout says that frames are cropped: plans that copy a group, in windows of a kind. */
  ConvolvePlan *copy[GST_CUDA_CONVOLVE_N_KINDS][GST_VIDEO_MAX_COMPONENTS];

  GstCudaConvolveMaskInfo *mask_info; /* the mask of the first group */
} GstCudaConvolvePlans;

/*
 * Makes the plans for frames with the layout of the work, which are new, all for the device or all for the CPU. device may be
 * NULL. On an error, CONVOLVE_INVALID means that the mask or a number beside it is bad.
 */
ConvolveStatus gst_cuda_convolve_plans_make (GstCudaConvolvePlans *plans, const ConvolveProperties *properties,
    ConvolveDevice *device, ConvolveError *error);

/* For the kind of work. */
void gst_cuda_convolve_plans_set_pool (GstCudaConvolveWork *work, ConvolvePool *pool);
void gst_cuda_convolve_plans_clear (gpointer plans);

G_END_DECLS

#endif
