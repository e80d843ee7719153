/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what the user set to a plan for each step of a layout. */
#ifndef GST_CUDA_CONVOLVE_PLANS_H
#define GST_CUDA_CONVOLVE_PLANS_H

#include "convolve_device.h"
#include "layout.h"
#include "props.h"

G_BEGIN_DECLS

/* The properties, as one value. */
typedef struct
{
  ConvolveSettings mask;
  ConvolveBoundary boundary;
  gint variant;                 /* of CONVOLVE_TYPE_VARIANT */
  gint device_id;               /* -1: any */
  guint frames_in_flight;       /* 1..CONVOLVE_MAX_FRAMES */
} GstCudaConvolveSettings;

void gst_cuda_convolve_settings_init (GstCudaConvolveSettings * settings);
void gst_cuda_convolve_settings_copy (GstCudaConvolveSettings * to, const GstCudaConvolveSettings * from);
void gst_cuda_convolve_settings_clear (GstCudaConvolveSettings * settings);

/* Whether a device is of any use, and whether there is no doing without one. */
gboolean gst_cuda_convolve_settings_want_device (const GstCudaConvolveSettings * settings);
gboolean gst_cuda_convolve_settings_need_device (const GstCudaConvolveSettings * settings);

typedef struct
{
  ConvolvePlan *plan[GST_VIDEO_MAX_COMPONENTS]; /* of each step; NULL behind the last */
} GstCudaConvolvePlans;

/*
 * Makes the plans, all for the device or all for the CPU; device may be NULL. On error plans is empty and error is
 * filled; CONVOLVE_INVALID then means that the mask or a number beside it is bad.
 */
ConvolveStatus gst_cuda_convolve_plans_init (GstCudaConvolvePlans * plans, const GstCudaConvolveSettings * settings,
    const GstCudaConvolveLayout * layout, ConvolveDevice * device, ConvolveError * error);
void gst_cuda_convolve_plans_ref (GstCudaConvolvePlans * to, const GstCudaConvolvePlans * from);
void gst_cuda_convolve_plans_clear (GstCudaConvolvePlans * plans);

/* The plans change no sample at all. */
gboolean gst_cuda_convolve_plans_are_identity (const GstCudaConvolvePlans * plans);

/* The variants in use, with commas where planes differ; interned. */
const gchar *gst_cuda_convolve_plans_variant (const GstCudaConvolvePlans * plans,
    const GstCudaConvolveLayout * layout);

G_END_DECLS

#endif
