/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame through its plans, on the CPU or on the device. */
#ifndef GST_CUDA_CONVOLVE_RUN_H
#define GST_CUDA_CONVOLVE_RUN_H

#include "plans/plans.h"

G_BEGIN_DECLS

/*
 * Convolves a sound frame with plans for the CPU. Input and output are on the host, and the output is done on return.
 */
ConvolveStatus gst_cuda_convolve_run_on_host (const GstCudaConvolvePlans *plans, GstCudaConvolveFrame *in,
    GstCudaConvolveFrame *out, ConvolveTimes *times, ConvolveError *error);

/*
 * Enqueues a sound frame with plans for device, as the device's frame number slot: convolve_device_wait() waits, and
 * until then frames and plans stay. alone is set where no other frame is to overlap this frame. On error nothing is
 * under way.
 */
ConvolveStatus gst_cuda_convolve_run_on_device (const GstCudaConvolvePlans *plans, ConvolveDevice *device, guint slot,
    gboolean alone, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error);

G_END_DECLS

#endif
