/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks at each frame before and after an element: whether what lies under boxes of metadata has changed. */
#ifndef EXAMPLES_COVERED_H
#define EXAMPLES_COVERED_H

#include <gst/gst.h>

typedef struct _Covered Covered;

/* Frames by what happened to them. */
typedef struct
{
  guint64 by_new;     /* with a box of their own, and the box hides what was there */
  guint64 by_held;    /* changed with the boxes of other frames, or without a box */
  guint64 bare;       /* without a box, and not changed */
  guint64 open;       /* with a box that hides nothing */
  GstClockTime first; /* where in the film the first open frame is */
} Counts;

/*
 * Looks at what leaves the element's pad src. Frames come out in the order in which they go in. Unless it compares, every box
 * counts as one that hides.
 */
Covered *covered_new (GstElement *element, gboolean compares);
void covered_free (Covered *covered);

/*
 * A frame with its boxes that goes into the element now, and where it is in the film. has_new tells whether one of the
 * boxes belongs to this time. The frame is kept until the element's frame is there, so that the element does not change it
 * in place. For the streaming thread.
 */
void covered_frame_in (Covered *covered, GstPad *sink, GstBuffer *frame, GstClockTime time, gboolean has_new);

/* The counts, when the pipeline has stopped. */
Counts covered_counts (const Covered *covered);

#endif
