/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pipelines of the example programs: starting and stopping a pipeline whose source may give nothing, and playing a film from
 * the first frame to the last one as fast as the machine can, with progress and errors on stderr.
 */
#ifndef EXAMPLES_PLAY_H
#define EXAMPLES_PLAY_H

#include <gst/gst.h>

#include "progress.h"

typedef struct
{
  GstElement *pipeline;
  const char *file;   /* what messages are about */
  const char *output; /* what messages about writing are about, or NULL */
  const char *task;   /* the first word of the line of progress */
  const char *told;   /* how warnings begin of which the program tells more itself, or NULL */
  char *missing;      /* what no decoder was found for, or NULL */
  char *lacks;        /* what GStreamer lacks, needed or not, in words, or NULL */
  guint64 frames;     /* how many came to the element that counts */

  /* The size of the first frame. FALSE with a line on stderr where the film is not to go on; NULL where not wanted. */
  gboolean (*on_first) (int width, int height, gpointer data);
  /* A frame, and its time in the film. It may be replaced. For the streaming thread; NULL where not wanted. */
  void (*on_frame) (GstBuffer **frame, GstClockTime begin, GstClockTime end, gpointer data);
  /* The film came to its end, and the pipeline has not stopped; NULL where not wanted. */
  void (*on_end) (gpointer data);
  /* A message of an element; NULL where not wanted. */
  void (*on_message) (const GstStructure *message, gpointer data);
  gpointer data;
} Film;

/* For how long no frame has come. All zero at first. */
typedef struct
{
  guint64 frames;
  guint seconds;
} Silence;

/*
 * To be called once a second with the number of frames that came to a pad. After 10 s without one a line on stderr says so,
 * and after 60 s another one; FALSE then, because the program is to give up. While a frame is worked on behind the pad, no
 * time counts. in_line tells that a line of progress stands on the terminal.
 */
gboolean silence_tick (Silence *silence, GstPad *pad, guint64 frames, const char *file, gboolean in_line);

/* Lets a pipeline play. Opening a pipe may take for ever, so a thread does that. Errors come on the bus. */
void play_start (GstElement *pipeline);

/* Ends the film of a pipeline with a line on stderr. May be called in any thread. */
void play_fail (GstElement *pipeline, const char *text);

/*
 * Stops a pipeline. A source that waits for a pipe never stops: the program then ends after 5 s, without a result. Frames
 * that are worked on behind the pad may take longer.
 */
void play_stop (GstElement *pipeline, GstPad *pad);

/*
 * Plays the pipeline, and counts the frames that come to the named element. TRUE where the pipeline came to the end of
 * the film; otherwise a line on stderr says why not.
 */
gboolean play_film (Film *film, const char *counter);

/* Whether a signal ended a film of this program. */
gboolean play_was_interrupted (void);

#endif
