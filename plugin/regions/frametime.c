/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/frametime.h"

#include <math.h>

#define USUAL_DURATION (GST_SECOND / 25) /* of a frame where neither time stamps nor caps tell */
#define FARTHEST (G_GUINT64_CONSTANT (1) << 62)

/* What time of the stream is in running time. */
static GstClockTime
scale_duration (GstClockTime duration, const GstSegment *segment)
{
  return GST_CLOCK_TIME_IS_VALID (duration) ? MIN (duration / fabs (segment->rate), (gdouble) FARTHEST) : 0;
}

/* The duration of a frame as the caps say, or 0. */
static GstClockTime
duration_of (const GstVideoInfo *info, const GstSegment *segment)
{
  if (GST_VIDEO_INFO_FPS_N (info) <= 0)
    return 0;
  return scale_duration (gst_util_uint64_scale_int (GST_SECOND, GST_VIDEO_INFO_FPS_D (info),
                             GST_VIDEO_INFO_FPS_N (info)),
      segment);
}

/*
 * The running time of a frame, which may lie outside its segment; a negative time wraps. FALSE where there is none.
 * GStreamer does not take a segment that runs backward from nowhere.
 */
static gboolean
read_running_time (const GstSegment *segment, GstBuffer *buffer, guint64 *running)
{
  gint sign;

  if (segment->format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID (buffer)
      || (segment->rate < 0 && (segment->stop == GST_CLOCK_TIME_NONE || segment->stop < segment->offset)))
    return FALSE;
  sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer), running);
  if (sign == 0 || *running >= FARTHEST)
    return FALSE;
  if (sign < 0)
    *running = -*running;
  return TRUE;
}

/* The distance between two numbers, whichever is first; they may wrap. */
static guint64
distance_of (guint64 a, guint64 b)
{
  return MIN (a - b, b - a);
}

guint64
gst_cuda_convolve_moments_distance (const GstCudaConvolveMoment *a, const GstCudaConvolveMoment *b)
{
  return distance_of (a->time, b->time);
}

void
gst_cuda_convolve_frame_time_advance (GstCudaConvolveFrameTime *time, const GstSegment *segment, GstBuffer *buffer,
    const GstVideoInfo *info)
{
  GstClockTime duration = duration_of (info, segment);
  guint64 running, step = duration ? duration : time->duration ? time->duration : USUAL_DURATION;
  gboolean is_timed = read_running_time (segment, buffer, &running);

  time->longest = MAX (duration, MAX (time->distance, time->duration));
  if (time->longest == 0)
    time->longest = GST_CLOCK_TIME_NONE;
  time->distance = 0;
  if (is_timed && time->is_timed) {
    step = running - time->running;
    time->distance = distance_of (running, time->running);
  }
  time->running = is_timed ? running : time->running + step;
  time->is_timed |= is_timed;
  time->duration = scale_duration (GST_BUFFER_DURATION (buffer), segment);
  time->now.time += step;
  time->now.frame++;
}

gboolean
gst_cuda_convolve_frame_time_is_within (const GstCudaConvolveFrameTime *time, const GstCudaConvolveMoment *then,
    GstClockTime hold)
{
  guint64 frames = distance_of (time->now.frame, then->frame);
  guint64 age = gst_cuda_convolve_moments_distance (&time->now, then);

  if (then->frame == 0)
    return FALSE;
  if (frames == 0)
    return TRUE;
  if (hold == 0)
    return FALSE;
  return age <= hold || (frames == 1 && (age - hold) / 3 <= time->longest / 2);
}
