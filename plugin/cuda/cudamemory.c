/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/cudamemory.h"

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

/*
 * GstCuda does not list the formats that it can allocate. since is the minor version of GStreamer 1 that brought one.
 */
gboolean
gst_cuda_convolve_cuda_has_format (GstVideoFormat format)
{
  static const struct
  {
    const gchar *name;
    guint since;
  } formats[] = {
    { "I420", 22 },
    { "YV12", 22 },
    { "NV12", 22 },
    { "NV21", 22 },
    { "P010_10LE", 22 },
    { "P016_LE", 22 },
    { "I420_10LE", 22 },
    { "Y444", 22 },
    { "Y444_16LE", 22 },
    { "BGRA", 22 },
    { "RGBA", 22 },
    { "RGBx", 22 },
    { "BGRx", 22 },
    { "ARGB", 22 },
    { "ABGR", 22 },
    { "RGB", 22 },
    { "BGR", 22 },
    { "Y42B", 22 },
    { "I422_10LE", 22 },
    { "I422_12LE", 22 },
    { "RGBP", 22 },
    { "BGRP", 22 },
    { "GBR", 22 },
    { "GBRA", 22 },
    { "RGB10A2_LE", 22 },
    { "BGR10A2_LE", 22 },
    { "YUY2", 22 },
    { "UYVY", 22 },
    { "P012_LE", 24 },
    { "I420_12LE", 24 },
    { "Y444_10LE", 24 },
    { "Y444_12LE", 24 },
    { "GBR_10LE", 24 },
    { "GBR_12LE", 24 },
    { "GBR_16LE", 24 },
    { "VUYA", 24 },
  };
  const gchar *name = gst_video_format_to_string (format);
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_str_equal (name, formats[i].name))
      return minor >= formats[i].since;
  return FALSE;
}

gboolean
gst_cuda_convolve_cuda_ensure (GstElement *element, gint device_id, GstCudaConvolveContext **context)
{
  if (!gst_cuda_load_library ())
    return FALSE;
  /* The allocator of CUDA memory. The plugin nvcodec registers it, too, but may not be in the process. */
  gst_cuda_memory_init_once ();
  return gst_cuda_ensure_element_context (element, device_id, (GstCudaContext **) context);
}

void
gst_cuda_convolve_cuda_set_context (GstElement *element, GstContext *message, gint device_id,
    GstCudaConvolveContext **context)
{
  gst_cuda_handle_set_context (element, message, device_id, (GstCudaContext **) context);
}

gboolean
gst_cuda_convolve_cuda_answer (GstElement *element, GstQuery *query, GstCudaConvolveContext *context)
{
  return gst_cuda_handle_context_query (element, query, (GstCudaContext *) context);
}

gboolean
gst_cuda_convolve_cuda_push (GstCudaConvolveContext *context)
{
  /* Memory stays page-locked if this fails where it is given back, so one failure is not the end. */
  return !context || gst_cuda_context_push (GST_CUDA_CONTEXT (context))
      || gst_cuda_context_push (GST_CUDA_CONTEXT (context));
}

void
gst_cuda_convolve_cuda_pop (GstCudaConvolveContext *context)
{
  if (context)
    gst_cuda_context_pop (NULL);
}

GstCudaConvolveContext *
gst_cuda_convolve_cuda_of_buffer (GstBuffer *buffer)
{
  GstObject *context = NULL;

  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);
    GstObject *of_memory = gst_is_cuda_memory (memory) ? GST_OBJECT (GST_CUDA_MEMORY_CAST (memory)->context) : NULL;

    if (!of_memory || (context && context != of_memory))
      return NULL;
    context = of_memory;
  }
  return context;
}

gint
gst_cuda_convolve_cuda_device_id (GstCudaConvolveContext *context)
{
  guint id = 0;

  g_object_get (context, "cuda-device-id", &id, NULL);
  return id;
}

GstMapFlags
gst_cuda_convolve_cuda_map_flag (void)
{
  return (GstMapFlags) GST_MAP_CUDA;
}

GstBufferPool *
gst_cuda_convolve_cuda_pool_new (GstCudaConvolveContext *context)
{
  return gst_cuda_buffer_pool_new (GST_CUDA_CONTEXT (context));
}

gboolean
gst_cuda_convolve_cuda_owns_pool (GstCudaConvolveContext *context, GstBufferPool *pool)
{
  return context && GST_IS_CUDA_BUFFER_POOL (pool)
      && GST_CUDA_BUFFER_POOL (pool)->context == GST_CUDA_CONTEXT (context);
}
