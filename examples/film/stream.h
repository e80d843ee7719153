/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The streams of a film, one and all, for streams.c and the files that do its parts. */
#ifndef EXAMPLES_STREAM_H
#define EXAMPLES_STREAM_H

#include <gst/video/video.h>

#include "lost.h"
#include "streams.h"

/* Encoded frames wait here for the other streams, however far apart the streams lie in the file. */
#define WAIT "queue max-size-time=0 max-size-bytes=0 max-size-buffers=0"

typedef enum
{
  VIDEO,
  SOUND,
  SUBTITLES,
  DATA,
  N_KINDS
} Kind;

typedef struct
{
  Streams *streams;
  GstPad *origin;     /* of parsebin */
  GstClockTime delay; /* of the coder, in front of the sound, which the demuxer leaves in */
  GstElement *queue;  /* behind it, in which the stream waits until all are there; NULL for one that came too late */
  GstPad *pad;        /* where the stream goes on: the queue's */
  gulong hold;        /* the probe there, which lets no data go */
  Kind kind;
  Track track;      /* what the file says of it */
  char *title;      /* such as "sound 2 (MPEG-4 AAC, de)" */
  char *outcome;    /* what became of it, or NULL */
  gboolean kept;    /* as it was */
  gboolean written; /* goes into the new file, as it was or not */
} Stream;

struct _Streams
{
  const Options *options;
  const Container *container;
  const Origin *origin;
  GstBin *pipeline;
  GstElement *source, *mux, *convolve;
  GstClockTime surplus;
  GPtrArray *list; /* Stream, in the order of the file */
  guint counts[N_KINDS];
  Stream *main;      /* the video that is convolved */
  GstPad *mux_main;  /* where that video goes */
  guint64 encoded;   /* frames that went there */
  gboolean matroska; /* is what the film is read from */
  GstVideoOrientationMethod turn;
  gboolean left_out_pictures;    /* because they are not covered */
  gboolean left_out_attachments; /* because the muxer writes none */
  guint pictures;                /* for the streaming thread, as what follows */
  Lost lost;
  int width, height;             /* of the first frame */
  int other_width, other_height; /* of the first one that has another size, or 0 */

  GMutex linking;      /* of what follows, and of the list, until the streams are linked */
  GPtrArray *demuxers; /* inside parsebin */
  gboolean data, linked;
  GMutex lock;        /* of what follows, which streams of several threads bring */
  GHashTable *shapes; /* from the id of a stream to a GValue, the pixel-aspect-ratio of its caps: see shape.c */
  GstClockTime end;
  GstClockTime stays; /* how long the latest frame before the encoder stays, or GST_CLOCK_TIME_NONE */
  Chapters *chapters;
};

typedef struct
{
  const char *name, *pad; /* of the muxer */
} StreamKind;

extern const StreamKind stream_kinds[N_KINDS];

/* streams.c */

/* Whether boxes hide something. What they do not cover, such as a cover picture, must not show it. */
gboolean streams_hide (const Streams *streams);

/* What a stream has; the caps are to be unreferenced. */
GstCaps *stream_caps (const Stream *stream);
Kind stream_kind_of (const char *caps_name);

/* Gives a stream its kind and its title. By then the stream has its caps, unless nothing of it has come. */
void stream_name (Stream *stream);

/* A pad of the muxer, or NULL. */
GstPad *streams_request_pad (Streams *streams, Kind kind);

/* Links all streams. All pads are there, and each of them holds its data back. */
void streams_link (Streams *streams);

/* shape.c: the shape of pixels as the film's container states it */

/* Notes what the caps of a pad of parsebin say. The first pad of a stream is the demuxer's, and counts. */
void shape_note (Streams *streams, GstPad *pad, const GstStructure *structure);

/* Puts the noted shape into caps that say nothing or 1/1. Takes the caps and returns the caps to use. */
GstCaps *shape_keep (const Stream *stream, GstCaps *caps);

/* tags.c: tags and chapters on their way from one file into the other */

/*
 * Makes the tags and caps of a stream those of the new film where they pass this pad. The video that is convolved has a second
 * such pad, behind its decoder: when tags passed the first one, nobody knew yet that this is the video whose turn the program
 * makes, and the turn must not reach the muxer.
 */
void stream_watch_tags (Stream *stream, GstPad *pad);

/* For gst_pad_sticky_events_foreach(): takes what came before stream_watch_tags(). */
gboolean stream_see_sticky (GstPad *pad, GstEvent **event, gpointer stream);

/* What the file says of the track; nothing where the stream is none of the file's. */
Track stream_track (const Stream *stream);

/* copies.c: streams that stay as they are, or are left out */

/* Copies a stream that is not the video, or says why not. FALSE where it cannot be linked. */
gboolean stream_copy (Stream *stream);
void stream_leave_out (Stream *stream, const char *why);
gboolean stream_fits (const GstCaps *caps, GstCaps *taken);

/* A bin of this description, or NULL; and taking it into the pipeline, between two pads. */
GstElement *streams_make_bin (const char *description);
gboolean streams_add_bin (Streams *streams, GstPad *from, GstElement *bin, GstPad *to);

/* subtitles.c */

/* The description of a bin that makes of subtitles what the container takes, or NULL; and what that bin needs besides. */
char *subtitle_description (Stream *stream, const GstCaps *caps, GstCaps *taken);
void subtitle_watch (Stream *stream, GstElement *bin);

/* sound.c, video.c: what is encoded anew */

gboolean sound_encode (Stream *stream, GstPad *to);
gboolean video_decode (Stream *stream);

/* waiting.c: holds the streams of parsebin until all of them are there, and links them then */

void streams_wait (Streams *streams, GstElement *parse);

#endif
