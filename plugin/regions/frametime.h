/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long ago earlier frames were: in running time, forward and backward, and in frames where they have no time. For
 * one thread at a time.
 */
#ifndef GST_CUDA_CONVOLVE_FRAMETIME_H
#define GST_CUDA_CONVOLVE_FRAMETIME_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* A frame of the past, or of the future. The time has no beginning, and may wrap. */
typedef struct
{
  guint64 time;  /* nanoseconds */
  guint64 frame; /* its number, from 1; 0 for no frame */
} GstCudaConvolveMoment;

/* The time between two frames, whichever is first. */
guint64 gst_cuda_convolve_moments_distance (const GstCudaConvolveMoment *a, const GstCudaConvolveMoment *b);

/* All zero before the first frame, and after a flush. */
typedef struct
{
  GstCudaConvolveMoment now;
  guint64 running; /* running time of the last frame, or a guess from the frames before */
  gboolean is_timed;
  GstClockTime distance, duration; /* between the last two frames, and of the last frame; 0 where unknown */
  GstClockTime longest;            /* what a frame may last, or GST_CLOCK_TIME_NONE where nothing tells */
} GstCudaConvolveFrameTime;

/* Goes on to the next frame. A frame without running time comes one frame's duration after the frame before. */
void gst_cuda_convolve_frame_time_advance (GstCudaConvolveFrameTime *time, const GstSegment *segment, GstBuffer *buffer,
    const GstVideoInfo *info);

/*
 * Whether a moment is at most `hold` away, in either direction. The frame before, or after, counts even where a frame lasts
 * longer than `hold`, so that a detector may miss one frame at any rate; with a hold of 0 no other frame counts. Beyond
 * `hold` and one and a half frames there is a gap, and the neighbouring frame says nothing.
 */
gboolean gst_cuda_convolve_frame_time_is_within (const GstCudaConvolveFrameTime *time,
    const GstCudaConvolveMoment *then, GstClockTime hold);

G_END_DECLS

#endif
