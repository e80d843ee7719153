/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame through its plans, on the CPU or over the device. */
#ifndef GST_CUDA_CONVOLVE_RUN_H
#define GST_CUDA_CONVOLVE_RUN_H

#include "plans.h"

G_BEGIN_DECLS

/* A mapped frame: its planes are device pointers or host pointers. */
typedef struct
{
  GstVideoFrame video;
  gboolean on_device;
} GstCudaConvolveFrame;

/*
 * Whether the frame's planes lie inside the memory that was mapped. On FALSE *fault says which does not, to be freed.
 */
gboolean gst_cuda_convolve_frame_is_sound (const GstCudaConvolveLayout * layout, const GstVideoFrame * frame,
    gchar ** fault);

/*
 * Convolves sound frames of one layout and waits for the result. device is the one that the plans were made for;
 * frames of plans for the CPU are on the host. times is filled on success.
 */
ConvolveStatus gst_cuda_convolve_run (const GstCudaConvolvePlans * plans, const GstCudaConvolveLayout * layout,
    ConvolveDevice * device, GstCudaConvolveFrame * in, GstCudaConvolveFrame * out, ConvolveTimes * times,
    ConvolveError * error);

G_END_DECLS

#endif
