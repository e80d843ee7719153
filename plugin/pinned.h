/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Host memory of frames, page-locked where it comes again, so that the device's copies need no step between. */
#ifndef GST_CUDA_CONVOLVE_PINNED_H
#define GST_CUDA_CONVOLVE_PINNED_H

#include "cudamemory.h"

G_BEGIN_DECLS

/*
 * Pins the buffer's system memory if it is likely to come again: at once where the buffer belongs to a pool, from its
 * second time on otherwise. It stays so until it is freed. In the context, or, where that is NULL, in the process's
 * own of the device. What cannot be pinned stays as it is, which costs speed alone: FALSE then. Any thread.
 */
gboolean gst_cuda_convolve_pin_buffer (GstBuffer * buffer, gint device_id, GstCudaConvolveContext * context);

/* The alignment, as GstAllocationParams has it, that gives each memory pages of its own: those can be pinned. */
#define GST_CUDA_CONVOLVE_PAGE_ALIGN 4095

G_END_DECLS

#endif
