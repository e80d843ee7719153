/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CUDA streams as GStreamer's elements share them, from 1.24 on: memory knows the stream that its work is on, and a flag
 * says that nobody has waited for it yet. Elements on one stream need not wait. Before that there is none: a stream is
 * NULL, orders nothing, and all work is done when a buffer is passed on.
 */
#ifndef GST_CUDA_CONVOLVE_CUDA_STREAM_H
#define GST_CUDA_CONVOLVE_CUDA_STREAM_H

#include "cudamemory.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveStream GstCudaConvolveStream; /* a GstCudaStream */

/* NULL where there are none. */
GstCudaConvolveStream *gst_cuda_convolve_stream_new (GstCudaConvolveContext *context);
void gst_cuda_convolve_stream_clear (GstCudaConvolveStream **stream);

/* The CUstream, or NULL. */
gpointer gst_cuda_convolve_stream_handle (GstCudaConvolveStream *stream);

/* Whether all that is done to the buffer is done on this stream, in order. */
gboolean gst_cuda_convolve_stream_orders (GstCudaConvolveStream *stream, GstBuffer *buffer);

/* Waits for what others have under way in the buffer. */
void gst_cuda_convolve_stream_wait (GstBuffer *buffer);

/* Tells those who get the buffer whether work on its stream is under way. */
void gst_cuda_convolve_stream_mark (GstBuffer *buffer, gboolean under_way);

/* Gives the stream to the pool of CUDA memory that config is for. */
void gst_cuda_convolve_stream_configure (GstCudaConvolveStream *stream, GstStructure *config);

/* The stream of a buffer's memory, referenced, or NULL. */
GstCudaConvolveStream *gst_cuda_convolve_stream_of_buffer (GstBuffer *buffer);

G_END_DECLS

#endif
