/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes the place of cudamemory.c and cudastream.c over the fake device. There is no CUDA memory, unless
 * CUDACONVOLVE_FAKE=one-stream: then all buffers count as memory of one context, and all work on them as work of one stream.
 */
#include <stdint.h>

#include "cuda/cudastream.h"

extern _Atomic int64_t fake_device_skew;

/* The linker puts the first function in the place of the second. The fake device moves the clock. */
GstClockTime __wrap_gst_util_get_timestamp (void);
GstClockTime __real_gst_util_get_timestamp (void);

GstClockTime
__wrap_gst_util_get_timestamp (void)
{
  return __real_gst_util_get_timestamp () + (GstClockTime) fake_device_skew;
}

static gboolean
is_one_stream (void)
{
  return g_strcmp0 (g_getenv ("CUDACONVOLVE_FAKE"), "one-stream") == 0;
}

/* Any object, which lives as long as the process. */
static GstCudaConvolveContext *
the_context (void)
{
  static gsize context;

  if (g_once_init_enter (&context))
    g_once_init_leave (&context, (gsize) gst_bus_new ());
  return (GstCudaConvolveContext *) context;
}

static GstCudaConvolveStream *
the_stream (void)
{
  return is_one_stream () ? (GstCudaConvolveStream *) the_context () : NULL;
}

/* --- memory --- */

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
  return is_one_stream () ? the_context () : NULL;
}

gint
gst_cuda_convolve_cuda_device_id (GstCudaConvolveContext *context)
{
  return 0;
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

/* --- the stream --- */

GstCudaConvolveStream *
gst_cuda_convolve_stream_new (GstCudaConvolveContext *context)
{
  return the_stream ();
}

void
gst_cuda_convolve_stream_clear (GstCudaConvolveStream **stream)
{
  *stream = NULL;
}

gpointer
gst_cuda_convolve_stream_handle (GstCudaConvolveStream *stream)
{
  return stream;
}

gboolean
gst_cuda_convolve_stream_orders (GstCudaConvolveStream *stream, GstBuffer *buffer)
{
  return stream != NULL;
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
  return the_stream ();
}
