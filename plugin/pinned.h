/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Host memory of frames, page-locked so that the device's copies need no step between.
 *
 * CUDA refuses every copy, whoever makes it, that lies partly inside page-locked memory. So only memory that has its
 * pages for itself is locked: blocks that GStreamer's plain pools allocated by the parameters below.
 */
#ifndef GST_CUDA_CONVOLVE_PINNED_H
#define GST_CUDA_CONVOLVE_PINNED_H

#include "cudamemory.h"

G_BEGIN_DECLS

/*
 * Locks the buffer's memory if that memory has its pages for itself and comes again, as a pool's memory does, and was
 * not locked before. The memory stays locked until GStreamer frees it. The lock is made in the context, or, where that
 * is NULL, in the process's own context of the device. user stands for the caller: memory that several users see comes
 * again when the first of them sees it again. Returns whether the memory is locked; other memory costs speed alone.
 * Any thread.
 */
gboolean gst_cuda_convolve_pin_buffer (GstBuffer *buffer, gconstpointer user, gint device_id,
    GstCudaConvolveContext *context);

/* Raises alignment and padding to what gives each block of a plain pool whole pages of its own. */
void gst_cuda_convolve_pin_set_params (GstAllocationParams *params);

G_END_DECLS

#endif
