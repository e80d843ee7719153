/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kinds of files that a film is written to, and what each of them holds. */
#ifndef EXAMPLES_CONTAINER_H
#define EXAMPLES_CONTAINER_H

#include <gst/gst.h>

typedef struct
{
  const char *names[3];  /* how the names of such files end, best first; ends with NULL */
  const char *title;     /* for people */
  const char *muxer;     /* or identity, where the encoder makes the file */
  const char *package;   /* where Debian and Ubuntu have the muxer */
  const char *codecs;    /* best first, for 8 bits; split by spaces */
  const char *deep;      /* the same for films of more than 8 bits */
  const char *clear;     /* the codec that keeps transparency, or NULL */
  const char *sound;     /* the codecs of sound that has to be encoded anew, best first */
  const char *streaming; /* NAME=VALUE of the muxer where the film goes into a pipe */
  gboolean iso;          /* built of the boxes of ISO/IEC 14496-12 */
  gboolean picture;      /* one picture for each file */
} Container;

/* The container by its name, or by the end of a file's name; NULL where there is none. */
const Container *container_named (const char *name);
const Container *container_of (const char *file);

/* The names of all of them, for messages; to be freed. */
char *container_names (void);

/* The caps that the muxer takes for "video_%u", "audio_%u" or "subtitle_%u"; NULL where it takes no such stream. */
GstCaps *container_takes (const Container *container, const char *kind);

#endif
