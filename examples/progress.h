/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines on stderr that the example programs write: messages, and how many frames of a film are done. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include <gst/gst.h>

/* One line on stderr, in the form of printf, after the program's name. */
void complain (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* How many of these lines began with "warning: ". */
guint complain_warnings (void);

/* Hands each such line, without the program's name, to a function instead. */
void complain_through (void (*call) (const char *text));

/* The frames that came, counted in the streaming thread. */
typedef struct
{
  GMutex lock;
  guint64 frames;
  gint64 first, last;            /* microseconds at which the first and the last frame came */
  GstClockTime first_time, time; /* where in the film the first frame begins and the last one ends, or NONE */
} Progress;

/* For a structure that is all zero, and for one that is no longer needed. */
void progress_init (Progress *progress);
void progress_clear (Progress *progress);

/* Counts a frame, which begins and ends at these times in the film; NONE where it has no time. */
void progress_add (Progress *progress, GstClockTime begin, GstClockTime end);

/* How many frames came. */
guint64 progress_frames (Progress *progress);

/* How far a film of this duration, which may be NONE, is. What is not known is below 0. */
typedef struct
{
  guint64 frames;
  int percent;
  double rate; /* frames a second */
  int left;    /* seconds */
} ProgressNow;

ProgressNow progress_now (Progress *progress, GstClockTime duration);

/*
 * Writes a line with the frames, their rate, and the time that is left of a film of this duration, which may be NONE.
 * Nothing where no frame came. On a terminal the line takes the place of the one before, and stays where it is the last.
 * task is the first word, or NULL.
 */
void progress_show (Progress *progress, const char *task, GstClockTime duration, gboolean terminal, gboolean last);

#endif
