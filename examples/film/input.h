/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a film comes from: a file, a URI, a pipe, or a sequence of pictures. */
#ifndef EXAMPLES_INPUT_H
#define EXAMPLES_INPUT_H

#include <gst/gst.h>

/* Whether the name is a URI with a host or the like, a pipe, or a pattern of pictures such as frames/%05d.png. */
gboolean input_is_uri (const char *name);
gboolean input_is_pipe (const char *name);
gboolean input_is_sequence (const char *name);

/* Whether there is such an input; FALSE with a line where not, or where it cannot be read. */
gboolean input_is_there (const char *name);

/* An element whose pad src gives the bytes of the film; rate is that of a sequence, in frames a second. NULL with error. */
GstElement *input_make (const char *name, double rate, GError **error);

#endif
