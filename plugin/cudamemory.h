/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GStreamer's side of CUDA: contexts that elements share, memory and pools in them. All of the GstCuda library stands
 * behind this file and cudastream.h; cudamemory_none.c takes the place of cudamemory.c in builds without it and knows no context. A context may be
 * NULL everywhere: then nothing is pushed, and no buffer is CUDA memory.
 */
#ifndef GST_CUDA_CONVOLVE_CUDA_MEMORY_H
#define GST_CUDA_CONVOLVE_CUDA_MEMORY_H

#include <gst/video/video.h>

G_BEGIN_DECLS

typedef GstObject GstCudaConvolveContext; /* a GstCudaContext */

#define GST_CUDA_CONVOLVE_MEMORY "memory:CUDAMemory"

/* Whether the running version can allocate CUDA memory of this format. */
gboolean gst_cuda_convolve_cuda_has_format (GstVideoFormat format);

/* Finds a context of the device among the neighbours or makes one, and tells them. FALSE where there is none. */
gboolean gst_cuda_convolve_cuda_ensure (GstElement *element, gint device_id, GstCudaConvolveContext **context);

/* What set_context and the CONTEXT query of an element come down to. */
void gst_cuda_convolve_cuda_set_context (GstElement *element, GstContext *message, gint device_id,
    GstCudaConvolveContext **context);
gboolean gst_cuda_convolve_cuda_answer (GstElement *element, GstQuery *query, GstCudaConvolveContext *context);

/* Makes the context current on this thread; every push that succeeds has one pop. */
gboolean gst_cuda_convolve_cuda_push (GstCudaConvolveContext *context);
void gst_cuda_convolve_cuda_pop (GstCudaConvolveContext *context);

/*
 * The context that holds all of the buffer's memories, not referenced. NULL where one of the memories is no CUDA memory
 * or is in another context: such a buffer can be mapped to the host alone.
 */
GstCudaConvolveContext *gst_cuda_convolve_cuda_of_buffer (GstBuffer *buffer);

/* The number of the context's device. */
gint gst_cuda_convolve_cuda_device_id (GstCudaConvolveContext *context);

/* A flag beside READ or WRITE to map CUDA memory of the current context as device pointers. */
GstMapFlags gst_cuda_convolve_cuda_map_flag (void);

/* A pool of CUDA memory, and whether a pool is one in that context. */
GstBufferPool *gst_cuda_convolve_cuda_pool_new (GstCudaConvolveContext *context);
gboolean gst_cuda_convolve_cuda_owns_pool (GstCudaConvolveContext *context, GstBufferPool *pool);

G_END_DECLS

#endif
