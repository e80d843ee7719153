/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/cuda/failing_cuda.h"

#define GST_USE_UNSTABLE_API
#include <gst/check/gstcheck.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include "support/frame.h"

static GstCudaContext *context;
static GstBufferPool *pool;
static GstBuffer *frames[CUDA_FRAMES];

/* Fills a frame, and maps it on the device once, because GstCuda uploads what the host wrote at that time. */
static void
fill (GstBuffer *frame, const GstVideoInfo *info, guint32 seed)
{
  GstBuffer *picture = frame_new (info, FRAME_PLAIN, seed);
  GstVideoFrame from, to;

  fail_unless (gst_video_frame_map (&from, info, picture, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&to, info, frame, GST_MAP_WRITE));
  fail_unless (gst_video_frame_copy (&to, &from));
  gst_video_frame_unmap (&to);
  gst_video_frame_unmap (&from);
  gst_buffer_unref (picture);
  fail_unless (gst_video_frame_map (&to, info, frame, (GstMapFlags) (GST_MAP_READ | GST_MAP_CUDA)));
  gst_video_frame_unmap (&to);
}

gboolean
cuda_frames_new (const GstVideoInfo *info)
{
  GstCaps *caps = gst_video_info_to_caps (info);
  GstStructure *config;

  if (!gst_cuda_load_library () || !(context = gst_cuda_context_new (0))) {
    gst_caps_unref (caps);
    return FALSE;
  }
  gst_cuda_memory_init_once ();
  gst_caps_set_features (caps, 0, gst_caps_features_new (GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, NULL));
  pool = gst_cuda_buffer_pool_new (context);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, info->size, CUDA_FRAMES, 0);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  fail_unless (gst_buffer_pool_set_config (pool, config) && gst_buffer_pool_set_active (pool, TRUE));
  for (guint i = 0; i < CUDA_FRAMES; i++) {
    fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &frames[i], NULL), GST_FLOW_OK);
    fill (frames[i], info, i);
  }
  gst_caps_unref (caps);
  return TRUE;
}

void
cuda_frames_free (void)
{
  for (guint i = 0; i < CUDA_FRAMES; i++)
    gst_clear_buffer (&frames[i]);
  if (pool)
    gst_buffer_pool_set_active (pool, FALSE);
  gst_clear_object (&pool);
  gst_clear_object (&context);
}

GstContext *
cuda_frames_context (void)
{
  return context ? gst_context_new_cuda_context (context) : NULL;
}

GstBuffer *
cuda_frames_get (guint i)
{
  return gst_buffer_ref (frames[i % CUDA_FRAMES]);
}

void
cuda_frames_push_context (void)
{
  fail_unless (gst_cuda_context_push (context));
}

void
cuda_frames_pop_context (void)
{
  gst_cuda_context_pop (NULL);
}
