/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames in CUDA memory for failing_play.c. A build without GstCuda has failing_cuda_none.c. */
#ifndef TESTS_ELEMENT_FAILING_CUDA_H
#define TESTS_ELEMENT_FAILING_CUDA_H

#include <gst/video/video.h>

#define CUDA_FRAMES 10 /* different ones */

/* Makes a context of device 0 and frames of these sizes there. FALSE where that is not possible. */
gboolean cuda_frames_new (const GstVideoInfo *info);
void cuda_frames_free (void);

/* The context, for an element that asks for one. */
GstContext *cuda_frames_context (void);

/* Frame i, which is always the same buffer. */
GstBuffer *cuda_frames_get (guint i);

/* Makes the context current on this thread, and no more. */
void cuda_frames_push_context (void);
void cuda_frames_pop_context (void);

#endif
