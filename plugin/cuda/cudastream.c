/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For GStreamer 1.24 and later. */
#include "cuda/cudastream.h"

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudastream.h>

GstCudaConvolveStream *
gst_cuda_convolve_stream_new (GstCudaConvolveContext *context)
{
  return (GstCudaConvolveStream *) gst_cuda_stream_new (GST_CUDA_CONTEXT (context));
}

void
gst_cuda_convolve_stream_clear (GstCudaConvolveStream **stream)
{
  gst_clear_cuda_stream ((GstCudaStream **) stream);
}

gpointer
gst_cuda_convolve_stream_handle (GstCudaConvolveStream *stream)
{
  return stream ? gst_cuda_stream_get_handle ((GstCudaStream *) stream) : NULL;
}

gboolean
gst_cuda_convolve_stream_orders (GstCudaConvolveStream *stream, GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);

    if (!stream || !gst_is_cuda_memory (memory)
        || gst_cuda_memory_get_stream (GST_CUDA_MEMORY_CAST (memory)) != (GstCudaStream *) stream)
      return FALSE;
  }
  return TRUE;
}

void
gst_cuda_convolve_stream_wait (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);

    if (gst_is_cuda_memory (memory))
      gst_cuda_memory_sync (GST_CUDA_MEMORY_CAST (memory));
  }
}

void
gst_cuda_convolve_stream_mark (GstBuffer *buffer, gboolean under_way)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);

    if (under_way)
      GST_MINI_OBJECT_FLAG_SET (memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
    else
      GST_MINI_OBJECT_FLAG_UNSET (memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
  }
}

void
gst_cuda_convolve_stream_configure (GstCudaConvolveStream *stream, GstStructure *config)
{
  if (stream)
    gst_buffer_pool_config_set_cuda_stream (config, (GstCudaStream *) stream);
}

GstCudaConvolveStream *
gst_cuda_convolve_stream_of_buffer (GstBuffer *buffer)
{
  GstMemory *memory = gst_buffer_n_memory (buffer) > 0 ? gst_buffer_peek_memory (buffer, 0) : NULL;
  GstCudaStream *stream =
      memory && gst_is_cuda_memory (memory) ? gst_cuda_memory_get_stream (GST_CUDA_MEMORY_CAST (memory)) : NULL;

  return (GstCudaConvolveStream *) (stream ? gst_cuda_stream_ref (stream) : NULL);
}
