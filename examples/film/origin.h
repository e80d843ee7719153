/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The metadata of a file that GStreamer's demuxers do not tell or its muxers do not write: the date of recording, names and
 * flags of tracks, and the tags of QuickTime. MP4, QuickTime, Matroska and WebM are read.
 */
#ifndef EXAMPLES_ORIGIN_H
#define EXAMPLES_ORIGIN_H

#include <glib.h>

/* Flags of a track. */
enum
{
  TRACK_DEFAULT = 1,
  TRACK_FORCED = 2,
  TRACK_HEARING = 4, /* for those who hear badly */
  TRACK_VISUAL = 8,  /* for those who see badly */
  TRACK_COMMENT = 16,
  TRACK_UNKNOWN = 32 /* nothing is known of the track */
};

typedef struct
{
  guint64 id;    /* in the file; GStreamer's id of the stream ends with it */
  char kind;     /* 'v', 's' or 't', for video, sound and text, or 0 */
  char *name;    /* or NULL */
  guint flags;   /* TRACK_DEFAULT and kin */
  guint64 delay; /* nanoseconds of sound in front that players leave out: Matroska's CodecDelay */
} Track;

typedef struct
{
  gint64 made;       /* seconds since 1970, or ORIGIN_UNKNOWN */
  GArray *tracks;    /* Track */
  GByteArray *keys;  /* the atom meta with the tags of QuickTime, or NULL */
  GByteArray *notes; /* other atoms that cameras write into udta, or NULL */
} Origin;

#define ORIGIN_UNKNOWN G_MININT64

/* Reads the metadata of a file: never NULL. Metadata that the file has not is ORIGIN_UNKNOWN, NULL or an empty array. */
Origin *origin_read (const char *file);
void origin_free (Origin *origin);

/* Takes out what may show what boxes hide: places, pictures, and what is not known. TRUE where there was such a thing. */
gboolean origin_hide (Origin *origin);

/* The track with this id, or one with TRACK_UNKNOWN. Its name belongs to origin. */
Track origin_track (const Origin *origin, guint64 id);

/* The kind of a track by the four letters of its handler in an MP4 file, and by its type in Matroska. */
char track_kind (const guint8 *handler);
char track_kind_of_type (guint64 type);

/* The n-th track of a kind among those of a new file, or NULL where nothing is known of it. */
const Track *track_of_kind (const GArray *tracks, char kind, guint n);

#endif
