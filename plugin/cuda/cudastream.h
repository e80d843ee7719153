/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CUDA streams as GStreamer's elements share them, from 1.24 on: CUDA memory knows the stream that its work is on,
 * and a flag tells that nobody has waited for that work yet. Elements on one stream need not wait for each other.
 * Before 1.24, and without GstCuda, cudastream_none.c takes the place of cudastream.c: every stream is NULL, and each
 * element waits for its own work before it passes a buffer on.
 */
#ifndef GST_CUDA_CONVOLVE_CUDA_STREAM_H
#define GST_CUDA_CONVOLVE_CUDA_STREAM_H

#include "cuda/cudamemory.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveStream GstCudaConvolveStream; /* a GstCudaStream */

/* A new stream in the context. NULL where there are no streams. */
GstCudaConvolveStream *gst_cuda_convolve_stream_new (GstCudaConvolveContext *context);
void gst_cuda_convolve_stream_clear (GstCudaConvolveStream **stream);

/* The CUstream of the stream, or NULL. */
gpointer gst_cuda_convolve_stream_handle (GstCudaConvolveStream *stream);

/* Whether all work on the buffer is on this stream, and so in order. */
gboolean gst_cuda_convolve_stream_orders (GstCudaConvolveStream *stream, GstBuffer *buffer);

/* Waits until the work of other elements on the buffer is done. */
void gst_cuda_convolve_stream_wait (GstBuffer *buffer);

/* Sets or clears the flag by which the next elements know that work on the buffer may be under way. */
void gst_cuda_convolve_stream_mark (GstBuffer *buffer, gboolean under_way);

/* Sets the stream in the configuration of a pool of CUDA memory. */
void gst_cuda_convolve_stream_configure (GstCudaConvolveStream *stream, GstStructure *config);

/* The stream of a buffer's memory, referenced, or NULL. */
GstCudaConvolveStream *gst_cuda_convolve_stream_of_buffer (GstBuffer *buffer);

G_END_DECLS

#endif
