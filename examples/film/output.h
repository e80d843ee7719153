/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a film goes: a file, a sequence of pictures, or a pipe. What is not complete has another name. */
#ifndef EXAMPLES_OUTPUT_H
#define EXAMPLES_OUTPUT_H

#include <gst/gst.h>

#include "result.h"

/* All zero is empty. An output must not move from begin to keep or drop. */
typedef struct
{
  const char *name;
  Result file;
  char *folder; /* of the pictures of a sequence, until they are complete */
} Output;

/* Whether the name means the standard output. */
gboolean output_is_pipe (const char *name);

/* As result_begin(); the pictures of a sequence are written into a folder of their own first. */
gboolean output_begin (Output *output, const char *name, const char *input, char *const *assignments);

/* The element that writes. */
GstElement *output_make_sink (const Output *output);

/* The file that is written, or NULL. */
const char *output_part (const Output *output);

/* Gives what is complete its name. FALSE with a line where that fails. */
gboolean output_keep (Output *output);
void output_drop (Output *output);

#endif
