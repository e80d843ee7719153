/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Page-locks host memory of frames, so that the device copies the memory without the CPU.
 *
 * CUDA refuses every copy, by any code of the process, that is partly inside page-locked memory. Therefore only memory
 * that shares no page with other memory is locked: blocks of GStreamer's plain pools with the parameters below.
 */
#ifndef GST_CUDA_CONVOLVE_PINNED_H
#define GST_CUDA_CONVOLVE_PINNED_H

#include "cuda/cudamemory.h"

G_BEGIN_DECLS

/*
 * Locks the buffer's memory where no other memory shares its pages and the memory is used repeatedly, as a pool's
 * memory is. The memory stays locked until GStreamer frees the memory. The lock is made in the context, or, where
 * that is NULL, in the process's own context of the device. Only the uses by the element that came first count. Returns
 * whether the memory is locked by now; frames in other memory are slower, and no more. told is the element's, for
 * GST_CUDA_CONVOLVE_TELL. Any thread.
 */
gboolean gst_cuda_convolve_pin_buffer (GstBuffer *buffer, GstElement *element, guint *told, gint device_id,
    GstCudaConvolveContext *context);

/* Whether the buffer's memory is of the kind that may be locked: a block of a plain pool. */
gboolean gst_cuda_convolve_pin_takes (GstBuffer *buffer);

/* Raises alignment and padding so that no block of a plain pool shares a page with other memory. */
void gst_cuda_convolve_pin_set_params (GstAllocationParams *params);

G_END_DECLS

#endif
