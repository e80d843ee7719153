/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame through its plans, on the CPU or over the device. */
#ifndef GST_CUDA_CONVOLVE_RUN_H
#define GST_CUDA_CONVOLVE_RUN_H

#include "plans.h"

G_BEGIN_DECLS

/*
 * Whether the frame's planes lie inside the memory that was mapped. On FALSE *fault says which does not, to be freed.
 */
gboolean gst_cuda_convolve_frame_is_sound (const GstCudaConvolveLayout *layout, const GstVideoFrame *frame,
    gchar **fault);

/*
 * Convolves sound frames of one layout, or takes them through the plans' layer. Plans for the CPU work on frames that
 * are on the host, and are done on return. Plans for device enqueue all of it, as the device's frame number slot:
 * convolve_device_wait() waits, and till then frames and plans stay. alone is set where no other frame is to overlap
 * this one. On error nothing is under way.
 */
ConvolveStatus gst_cuda_convolve_run_on_host (const GstCudaConvolvePlans *plans, const GstCudaConvolveLayout *layout,
    GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveTimes *times, ConvolveError *error);
ConvolveStatus gst_cuda_convolve_run_on_device (const GstCudaConvolvePlans *plans, const GstCudaConvolveLayout *layout,
    ConvolveDevice *device, guint slot, gboolean alone, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out,
    ConvolveError *error);

G_END_DECLS

#endif
