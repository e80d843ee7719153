/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record beside a piece of a film: OUTPUT.json. It says what the piece was made from and what it holds. A piece
 * without a record that fits is not a result.
 */
#ifndef CLUSTER_RECORD_H
#define CLUSTER_RECORD_H

#include <gst/gst.h>

typedef struct
{
  /* The input and the settings; a piece with others is made again. */
  const char *input;       /* the path, as it was given */
  char *fingerprint;       /* of the input's bytes, from record_fingerprint() */
  GstClockTime start, end; /* of the range, in the film's time; end is GST_CLOCK_TIME_NONE for the film's end */
  char *properties;        /* of the element, as a launch line has them */
  char *property_files;    /* checksums of the files that properties name, in their order, with spaces between */
  const char *encoder;     /* as a launch line has it */
  char *version;           /* of the element */

  /* The result. */
  guint64 frames;
  GstClockTime first, last; /* when the first and the last frame are shown */
  char *before, *decoded; /* checksums of the frames before they were encoded, and after the piece was decoded again */
  char *format;           /* of the frames before they were encoded */
  char *device;           /* the variants that ran */
  gboolean reproducible;  /* whether every device gives these bytes */
  double seconds_decoding, seconds_convolving, seconds_encoding, seconds_checking, seconds;
  guint64 size; /* of the piece, in bytes */
  char *sum;    /* SHA-256 of the piece */
} Record;

void record_clear (Record *record);

/*
 * A checksum of a file's size and of 16 MiB of the file at most: its beginning, its end, and blocks of 64 KiB in even
 * steps between. NULL with a message where the file cannot be read.
 */
char *record_fingerprint (const char *file);

/* Checksums of the files that values of NAME=VALUE name. NULL with a message where one cannot be read. */
char *record_property_files (char **properties);

/* SHA-256 of a whole file, and its size. NULL with a message where the file cannot be read. */
char *record_sum (const char *file, guint64 *size);

/* Writes the record to a file, down to the disk. FALSE with a message where that fails. */
gboolean record_write (const Record *record, const char *file);

/* Whether there is a record in file that was made from the same things, and whether piece has the bytes it names. */
gboolean record_fits (const Record *record, const char *file, const char *piece);

/* Waits until what was written to the file, or in the folder, is on the disk. FALSE with a message on an error. */
gboolean record_sync (const char *path);

#endif
