/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes a range of a film, convolves its frames and encodes them to a file; and decodes such a file again. */
#ifndef CLUSTER_SEGMENT_H
#define CLUSTER_SEGMENT_H

#include "record.h"

typedef struct
{
  const char *input, *part; /* the film, and the file to write */
  const char *encoder;
  char **properties;          /* NAME=VALUE, ends with NULL */
  GstClockTime start, end;    /* frames from start on and before end; GST_CLOCK_TIME_NONE for the film's end */
  gboolean upright;           /* frames are turned as the film's tag says, because the file cannot carry the tag */
  const volatile int *signal; /* not 0 where the process is to end */
} Segment;

/* Fills in what the record says of the result. FALSE with a message on an error. */
gboolean segment_make (const Segment *segment, Record *record);

/* Decodes the piece and fills in record->decoded. FALSE with a message where it does not have the record's frames. */
gboolean segment_check (const Segment *segment, Record *record);

/* The version of the element, to be freed; NULL with a message where the element is not found. */
char *segment_element_version (void);

#endif
