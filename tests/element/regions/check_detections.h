/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of check_detections share. */
#ifndef CHECK_DETECTIONS_H
#define CHECK_DETECTIONS_H

#include <gst/check/gstcheck.h>

#include "regions/boxes.h"
#include "regions/frametime.h"

/* check_detections.c */
void expect_rectangle (const GstCudaConvolveRectangle *got, gdouble x, gdouble y, gdouble width, gdouble height,
    guint row);

/* check_detection_time.c: the time of frames */
typedef struct
{
  GstCudaConvolveFrameTime time;
  GstSegment segment;
  GstVideoInfo info;
} Clock;

void clock_init (Clock *clock, gint fps_n, gint fps_d);

/* Goes on to a frame with that time stamp, in milliseconds unless below 0, and gives its moment. */
GstCudaConvolveMoment clock_tick (Clock *clock, gint64 pts, gint64 duration);

/* The tests of each file. */
void add_box_tests (TCase *tc);
void add_time_tests (TCase *tc);
void add_track_tests (TCase *tc);

#endif
