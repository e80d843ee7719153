/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame through the plans of a mask, as GstCudaConvolveWorkKind says. For plans.c alone. */
#ifndef GST_CUDA_CONVOLVE_RUN_H
#define GST_CUDA_CONVOLVE_RUN_H

#include "plans/plans.h"

G_BEGIN_DECLS

ConvolveStatus gst_cuda_convolve_run_on_host (GstCudaConvolvePlans *plans, GstCudaConvolveFrame *in,
    GstCudaConvolveFrame *out, ConvolveError *error);
ConvolveStatus gst_cuda_convolve_run_on_device (GstCudaConvolvePlans *plans, guint slot, gboolean alone,
    GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error);

G_END_DECLS

#endif
