/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The work of a mask on whole frames. */
#ifndef GST_CUDA_CONVOLVE_RUN_H
#define GST_CUDA_CONVOLVE_RUN_H

#include "plans/plans.h"

G_BEGIN_DECLS

/* Makes the work for frames with the layout. To be unreferenced as work; NULL with the error of gst_cuda_convolve_plans_make(). */
GstCudaConvolvePlans *gst_cuda_convolve_plans_new (const ConvolveProperties *properties,
    const GstCudaConvolveLayout *layout, ConvolveDevice *device, ConvolveError *error);

G_END_DECLS

#endif
