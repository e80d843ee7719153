/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The streams of a film on their way from one file into another one. The first video is decoded, goes through cudaconvolve
 * and is encoded. All other streams are copied as they are where the new file holds such streams. Sound that it does not
 * hold is encoded anew.
 */
#ifndef EXAMPLES_STREAMS_H
#define EXAMPLES_STREAMS_H

#include <gst/gst.h>

#include "chapters.h"
#include "container.h"
#include "options.h"
#include "origin.h"

typedef struct _Streams Streams;

/*
 * Puts cudaconvolve, named convolve, and the muxer into a pipeline, which writes into the sink. source gives the bytes of
 * the film, origin is what its file says, and by surplus the demuxer states too long a duration. chapters are those of the input, which are taken over, or NULL. NULL with error where an element is missing.
 */
Streams *streams_new (GstElement *pipeline, GstElement *source, GstElement *sink, const Options *options,
    const Container *container, const Origin *origin, GstClockTime surplus, Chapters *chapters, GError **error);
void streams_free (Streams *streams);

/* cudaconvolve, which the streams own. */
GstElement *streams_convolve (const Streams *streams);

/* The caps that go into the encoder, or NULL; and the chapters that came with the streams. */
Chapters *streams_chapters (const Streams *streams);

/* How many frames of the video came to the muxer. */
guint64 streams_encoded (const Streams *streams);

/* What the film says of the screen on which its HDR was made, as caps hold it; to be freed, or NULL. */
char *streams_mastering (const Streams *streams);

/* What the origin knows of the streams that are in the new file: an array of Track, whose names belong to the origin. */
GArray *streams_tracks (const Streams *streams);

/* Where the last data of any stream ends, when the pipeline has stopped. */
GstClockTime streams_end (const Streams *streams);

/* How many streams GStreamer could not read at all. To be asked before the pipeline stops. */
guint streams_lost (const Streams *streams);

/* Warns of frames that could not be decoded, and of a size that changes. */
void streams_warn (const Streams *streams);

/* Says a line for each stream: what became of it. */
void streams_say (const Streams *streams);

#endif
