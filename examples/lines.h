/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record that cudaconvolve writes to the file of region-log: its lines, and whether they follow each other. */
#ifndef EXAMPLES_LINES_H
#define EXAMPLES_LINES_H

#include "json.h"
#include "samples.h"

/* The settings and the caps of a record, as far as a look at the pictures needs them. */
typedef struct
{
  const GstVideoFormatInfo *format; /* NULL before any caps */
  int width, height, feather;
  gboolean box;           /* a blur is that of mask=box */
  gboolean fields, views; /* rows that are neighbours may be of two fields; a frame may have several views */
  char components[8];     /* that are changed, as in "yuv" */
} Rules;

typedef struct
{
  guint line;       /* from 1 */
  const char *text; /* of the line */
  const char *hash; /* that the line tells; 64 digits */
  guint8 means[GRID * GRID];
  const Rules *rules;
} Frame;

typedef struct
{
  GPtrArray *frames; /* Frame */
  GPtrArray *faults; /* sentences about lines that are not as they were written */
  char *last;        /* the hash of the last line */

  char *bytes;
  GPtrArray *rules;
} Lines;

/* Reads a record. FALSE with error where the file cannot be read, or is no record. */
gboolean lines_read (Lines *lines, const char *name, GError **error);
void lines_clear (Lines *lines);

#endif
