/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The elements of EBML that a Matroska or WebM file consists of (RFC 8794, RFC 9559). */
#ifndef EXAMPLES_EBML_H
#define EXAMPLES_EBML_H

#include <stdio.h>

#include <glib.h>

enum
{
  EBML_VOID = 0xEC,
  EBML_SEGMENT = 0x18538067,
  EBML_CLUSTER = 0x1F43B675,
  EBML_INFO = 0x1549A966,
  EBML_TIME_SCALE = 0x2AD7B1,
  EBML_DURATION = 0x4489,
  EBML_DATE = 0x4461,
  EBML_TRACKS = 0x1654AE6B,
  EBML_TRACK = 0xAE,
  EBML_TRACK_NUMBER = 0xD7,
  EBML_TRACK_TYPE = 0x83,
  EBML_TRACK_NAME = 0x536E,
  EBML_CODEC_DELAY = 0x56AA,
  EBML_FLAG_DEFAULT = 0x88,
  EBML_FLAG_FORCED = 0x55AA,
  EBML_FLAG_HEARING = 0x55AB,
  EBML_FLAG_VISUAL = 0x55AC,
  EBML_FLAG_COMMENT = 0x55AF,
  EBML_VIDEO = 0xE0,
  EBML_AUDIO = 0xE1,
  EBML_COLOUR = 0x55B0,
  EBML_MASTERING = 0x55D0,
  EBML_LUMINANCE_MAX = 0x55D9,
  EBML_LUMINANCE_MIN = 0x55DA,
  EBML_TAGS = 0x1254C367,
  EBML_TAG = 0x7373,
  EBML_SIMPLE_TAG = 0x67C8,
  EBML_TAG_STRING = 0x4487
};

typedef struct
{
  guint64 id, begin, content, size; /* the size is that of the content; an unknown one goes to the parent's end */
} Element;

/* The element that begins here. FALSE where there is none between begin and end. */
gboolean ebml_at (FILE *file, guint64 begin, guint64 end, Element *element);

/* The content of an element as a number, as bytes with a zero behind them, or NULL where it is large; to be freed. */
guint64 ebml_number (FILE *file, const Element *element);
guint8 *ebml_bytes (FILE *file, const Element *element);

/* Appends an element with as few bytes as can be. */
void ebml_append (GByteArray *to, guint32 id, const void *content, gsize size);

#endif
