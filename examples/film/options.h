/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user wants, as the command line says it. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <glib.h>

typedef struct
{
  const char *input, *output;
  char **properties; /* NAME=VALUE, ends with NULL */

  char *boxes;      /* a JSON file, or NULL */
  char *cover;      /* what a detector is to find, or NULL */
  char *model;      /* of the detector; NULL for the one that a package has */
  char *detector;   /* a command in place of the program's own detector, or NULL */
  char *save;       /* where the boxes that were found are written, or NULL */
  char *page;       /* where a page with the film and its boxes is written, or NULL */
  gboolean preview; /* boxes are drawn, and nothing is covered */
  char *effect;     /* for boxes, or NULL */
  char **keyframes; /* PROPERTY=TIME:VALUE,... or NULL */
  char *codec, *container;
  char *picture;  /* of a frame before and after, or NULL */
  int quality;    /* 0 to 100 */
  double rate;    /* of a sequence of pictures, in frames a second */
  gboolean brief; /* one line a film */
} Options;

#endif
