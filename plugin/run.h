/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame through its plans, on the CPU or on the device. */
#ifndef GST_CUDA_CONVOLVE_RUN_H
#define GST_CUDA_CONVOLVE_RUN_H

#include "plans.h"

G_BEGIN_DECLS

/*
 * Whether the buffer's GstVideoMeta, if there is one, is that of a frame with info, so that gst_video_frame_map() can be
 * called. On FALSE *fault says what differs, to be freed.
 */
gboolean gst_cuda_convolve_meta_is_sound (const GstVideoInfo *info, GstBuffer *buffer, gchar **fault);

/*
 * Whether the buffer is large enough for gst_video_frame_map(), as far as sizes tell. On FALSE *fault has the sizes, to be
 * freed.
 */
gboolean gst_cuda_convolve_buffer_has_frame (const GstVideoInfo *info, GstBuffer *buffer, gchar **fault);

/*
 * Whether the frame's planes lie inside the memory that was mapped. On FALSE *fault says which plane does not, to be
 * freed.
 */
gboolean gst_cuda_convolve_frame_is_sound (const GstCudaConvolveLayout *layout, const GstVideoFrame *frame,
    gchar **fault);

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
