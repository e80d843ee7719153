/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the place of cudamemory.c in a build without GstCuda. */
#include "cuda/cudamemory.h"

gboolean
gst_cuda_convolve_cuda_has_format (GstVideoFormat format)
{
  return FALSE;
}

gboolean
gst_cuda_convolve_cuda_ensure (GstElement *element, gint device_id, GstCudaConvolveContext **context)
{
  return FALSE;
}

void
gst_cuda_convolve_cuda_set_context (GstElement *element, GstContext *message, gint device_id,
    GstCudaConvolveContext **context)
{
}

gboolean
gst_cuda_convolve_cuda_answer (GstElement *element, GstQuery *query, GstCudaConvolveContext *context)
{
  return FALSE;
}

gboolean
gst_cuda_convolve_cuda_push (GstCudaConvolveContext *context)
{
  return TRUE;
}

void
gst_cuda_convolve_cuda_pop (GstCudaConvolveContext *context)
{
}

GstCudaConvolveContext *
gst_cuda_convolve_cuda_of_buffer (GstBuffer *buffer)
{
  return NULL;
}

gint
gst_cuda_convolve_cuda_device_id (GstCudaConvolveContext *context)
{
  return -1;
}

GstMapFlags
gst_cuda_convolve_cuda_map_flag (void)
{
  return 0;
}

GstBufferPool *
gst_cuda_convolve_cuda_pool_new (GstCudaConvolveContext *context)
{
  return NULL;
}

gboolean
gst_cuda_convolve_cuda_owns_pool (GstCudaConvolveContext *context, GstBufferPool *pool)
{
  return FALSE;
}
