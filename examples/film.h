/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plays a pipeline from the first frame to the last one as fast as it goes, with progress and errors on stderr. */
#ifndef FILM_H
#define FILM_H

#include <gst/gst.h>

typedef struct
{
  GstElement *pipeline;
  const char *file; /* what messages are about */
  const char *task; /* the first word of the line of progress */
  char *missing;    /* what no decoder was found for, or NULL */
  guint64 frames;   /* how many came to the element that counts */

  /* A frame, and its time in the film. It may be replaced. For the streaming thread; NULL where not wanted. */
  void (*on_frame) (GstBuffer **frame, GstClockTime begin, GstClockTime end, gpointer data);
  /* A message of an element; NULL where not wanted. */
  void (*on_message) (const GstStructure *message, gpointer data);
  gpointer data;
} Film;

/* One line on stderr, in the form of printf. */
void complain (const char *format, ...) G_GNUC_PRINTF (1, 2);

/*
 * Plays the pipeline, and counts the frames that come to the named element. TRUE where the pipeline came to the end of
 * the film; otherwise a line on stderr says why not.
 */
gboolean film_play (Film *film, const char *counter);

#endif
