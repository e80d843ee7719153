/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which films of a folder were made with which options of which inputs: a hidden file in that folder says so. */
#ifndef EXAMPLES_MADE_H
#define EXAMPLES_MADE_H

#include "options.h"

#define MADE_FILE ".cudaconvolve-film"

typedef enum
{
  MADE_UNKNOWN, /* by whom and how nobody knows */
  MADE_SO,      /* of this input with these options */
  MADE_OTHER    /* of an input or with options that were others */
} Made;

/* How the output of the options was made. */
Made made_how (const Options *options);

/* Notes that the output was made with these options. A line on stderr where that fails. */
void made_note (const Options *options);

#endif
