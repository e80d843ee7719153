/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GStreamer's side of CUDA: contexts that elements share, and memory and pools in these contexts. Only the sources of
 * this header and of cudastream.h include GstCuda. A build without GstCuda has cudamemory_none.c instead of
 * cudamemory.c: there is never a context. Every function takes NULL for a context; then nothing is made current, and no
 * buffer is in CUDA memory.
 */
#ifndef GST_CUDA_CONVOLVE_CUDA_MEMORY_H
#define GST_CUDA_CONVOLVE_CUDA_MEMORY_H

#include <gst/video/video.h>

G_BEGIN_DECLS

typedef GstObject GstCudaConvolveContext; /* a GstCudaContext */

#define GST_CUDA_CONVOLVE_MEMORY "memory:CUDAMemory"

/* Whether the running version of GStreamer can allocate CUDA memory of this format. */
gboolean gst_cuda_convolve_cuda_has_format (GstVideoFormat format);

/*
 * Finds a context of the device among the neighbours and the application, or makes one and announces it to them.
 * device_id is a number, or -1 for any. FALSE where there is no device.
 */
gboolean gst_cuda_convolve_cuda_ensure (GstElement *element, gint device_id, GstCudaConvolveContext **context);

/*
 * For an element's set_context(): *context becomes the context in the message, referenced, where that is a context of
 * the device and *context is NULL.
 */
void gst_cuda_convolve_cuda_set_context (GstElement *element, GstContext *message, gint device_id,
    GstCudaConvolveContext **context);

/* For an element's CONTEXT query: answers with the context. FALSE where the query asks for something else. */
gboolean gst_cuda_convolve_cuda_answer (GstElement *element, GstQuery *query, GstCudaConvolveContext *context);

/* Makes the context current on this thread. A pop() follows every push() that returned TRUE. */
gboolean gst_cuda_convolve_cuda_push (GstCudaConvolveContext *context);
void gst_cuda_convolve_cuda_pop (GstCudaConvolveContext *context);

/*
 * The context that holds all memories of the buffer, not referenced. NULL where one of the memories is not CUDA memory,
 * or where two memories are in different contexts: such a buffer can only be mapped to the host.
 */
GstCudaConvolveContext *gst_cuda_convolve_cuda_of_buffer (GstBuffer *buffer);

/* The number of the context's device. */
gint gst_cuda_convolve_cuda_device_id (GstCudaConvolveContext *context);

/* The flag beside READ or WRITE that maps CUDA memory of the current context as device pointers. */
GstMapFlags gst_cuda_convolve_cuda_map_flag (void);

/* Makes a pool of CUDA memory in the context. owns_pool() tells whether a pool is of that kind. */
GstBufferPool *gst_cuda_convolve_cuda_pool_new (GstCudaConvolveContext *context);
gboolean gst_cuda_convolve_cuda_owns_pool (GstCudaConvolveContext *context, GstBufferPool *pool);

G_END_DECLS

#endif
