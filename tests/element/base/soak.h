/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program soak share: the parts, the element's settings, and pipelines under watch. */
#ifndef TESTS_ELEMENT_SOAK_H
#define TESTS_ELEMENT_SOAK_H

#include <gst/gst.h>

#include "support/random.h"
#include "support/usage.h"

/* --- the run --- */

extern CheckRandom soak_random;
extern const gchar *soak_part;      /* the name of the part that runs */
extern gboolean soak_on_fake;       /* the fake device, which is slow */
extern gboolean soak_judges_device; /* memory of the GPU must be flat: no other process of the test is there */

/* Counts and prints a fault of the part that runs. */
void soak_fail (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

/* Fails where the two checksums differ. */
void soak_compare (const gchar *what, const gchar *found, const gchar *expected);

/* Samples the figures, and fails where they grew. The pipelines must stand still. */
Usage *soak_usage_new (guint64 operations);
void soak_usage_end (Usage *usage);

/*
 * The element as launch lines have it, named c: with several frames in flight, and the variant that
 * CUDACONVOLVE_VARIANT names.
 */
gchar *soak_element (void);

/* --- the parts, each for so many operations --- */

void soak_states (guint64 cycles);
void soak_masks (guint64 changes);
void soak_caps (guint64 changes);
void soak_seeks (guint64 seconds);
void soak_frames (guint64 frames);
void soak_elements (guint64 frames);
void soak_processes (guint64 changes);
void soak_cuda (guint64 frames); /* of frames in CUDA memory */
gboolean soak_has_cuda (void);

/* --- settings of the element --- */

typedef struct _Setting Setting;

/* Settings at random, all of them good; and the name under which checksums are kept. */
Setting *setting_new (void);
const gchar *setting_name (const Setting *setting);
void setting_free (Setting *setting);

/* Sets all of them at once. */
void setting_apply (const Setting *setting, GstElement *element);

/* --- a pipeline under watch --- */

typedef struct _Play Play;

/*
 * The pipeline of a launch line with an element c and a sink named sink. Errors and warnings on the bus count as
 * faults, as does a frame whose time is before that of the frame before, unless a flush or a segment lies between.
 * Where nothing comes for a minute, the program says so and ends.
 */
Play *play_new (const gchar *line);
void play_free (Play *play);
GstElement *play_element (Play *play); /* no new reference */
GstElement *play_pipeline (Play *play);

/* Waits until the pipeline has the state, or has begun to go there where wait is not set. */
void play_set_state (Play *play, GstState state, gboolean wait);

/* Waits until the state that was asked for is there. */
void play_settle (Play *play);

/* Waits until so many frames more came, or the stream ended; or until it ended. */
void play_wait_frames (Play *play, guint frames);
void play_wait_end (Play *play);
guint64 play_frames (Play *play); /* that came so far */

/*
 * Keeps a frame from the sink after so many frames that pass; play_wait_held() waits for that frame. Nothing is
 * computed then until play_release(). play_hold() takes the next frame, and waits.
 */
void play_hold_after (Play *play, guint frames);
void play_wait_held (Play *play);
void play_hold (Play *play);
void play_release (Play *play);

/*
 * Collects so many frames from now on, and anew after a flush; waits for them or for the end of the stream, and
 * returns their checksum.
 */
void play_collect (Play *play, guint frames);
gchar *play_checksum (Play *play);

/* The format of the last frame, as in "NV12 64x48". */
gchar *play_format (Play *play);

#endif
