/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the place of cudastream.c with a GStreamer before 1.24, and in a build without GstCuda. */
#include "cuda/cudastream.h"

GstCudaConvolveStream *
gst_cuda_convolve_stream_new (GstCudaConvolveContext *context)
{
  return NULL;
}

void
gst_cuda_convolve_stream_clear (GstCudaConvolveStream **stream)
{
}

gpointer
gst_cuda_convolve_stream_handle (GstCudaConvolveStream *stream)
{
  return NULL;
}

gboolean
gst_cuda_convolve_stream_orders (GstCudaConvolveStream *stream, GstBuffer *buffer)
{
  return FALSE;
}

void
gst_cuda_convolve_stream_wait (GstBuffer *buffer)
{
}

void
gst_cuda_convolve_stream_mark (GstBuffer *buffer, gboolean under_way)
{
}

void
gst_cuda_convolve_stream_configure (GstCudaConvolveStream *stream, GstStructure *config)
{
}

GstCudaConvolveStream *
gst_cuda_convolve_stream_of_buffer (GstBuffer *buffer)
{
  return NULL;
}
