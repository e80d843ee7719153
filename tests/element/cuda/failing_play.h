/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scenarios of check_failing.c and check_failing_start.c: what is done with an element, and what comes out. */
#ifndef TESTS_ELEMENT_FAILING_PLAY_H
#define TESTS_ELEMENT_FAILING_PLAY_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

/* The functions of failing.h, of the fake device or of the stand-in for the driver. */
typedef struct
{
  void (*begin) (int n, int kind);
  int (*count) (void);
  const char *(*name) (void);
  void (*pause) (int pause);
  int (*held) (char *text, size_t size);
  gboolean over_driver; /* not over the fake device */
} Failing;

extern Failing failing;

/* Finds these functions. Where there is neither fake device nor GPU, the program ends with 77, a skip. */
void failing_find (void);

/* Where the frames of a scenario are. */
typedef enum
{
  IN_SYSTEM_MEMORY,
  FROM_SYSTEM_TO_CUDA,
  FROM_SYSTEM_TO_OWN_CUDA, /* nobody hands a context over to the element */
  FROM_CUDA_TO_SYSTEM,
  IN_CUDA_MEMORY
} Memory;

/* A run of one element, from its start to its stop. */
typedef struct
{
  Memory memory;
  GstElement *element;
  GstBus *bus;
  GstHarness *harness; /* NULL while stopped, and where the element did not start */
  GstVideoInfo info;
  GPtrArray *frames; /* a text for each frame that came out */
  GPtrArray *errors, *infos;
  guint pushed, kept; /* kept: at most so many of the frames that were pushed need not come out */
  gboolean failed;    /* a start or a push was refused: nothing is pushed any more */
} Play;

typedef struct
{
  const gchar *name, *line;
  void (*play) (Play *run);
  Memory memory;
} Scenario;

extern const Scenario scenarios[];
extern const guint n_scenarios;

/* Makes what the scenarios need: a file of weights. */
void play_set_up (void);
void play_tear_down (void);

/* Whether the scenario can run here: frames in CUDA memory need GStreamer's library for them, and a GPU. */
gboolean play_is_possible (const Scenario *scenario);

Play play_new (const Scenario *scenario);
void play_free (Play *run);

/* The same element as of a new stream: starts it, pushes a frame, ends the stream and stops it. */
void play_once_more (Play *run);

void play_start (Play *run);
void play_push (Play *run, guint count);
void play_stop (Play *run);

#endif
