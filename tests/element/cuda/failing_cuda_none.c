/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/cuda/failing_cuda.h"

gboolean
cuda_frames_new (const GstVideoInfo *info)
{
  return FALSE;
}

void
cuda_frames_free (void)
{
}

GstContext *
cuda_frames_context (void)
{
  return NULL;
}

GstBuffer *
cuda_frames_get (guint i)
{
  return NULL;
}

void
cuda_frames_push_context (void)
{
}

void
cuda_frames_pop_context (void)
{
}
