/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame from the middle of a film, before and after an element, as one picture. */
#ifndef EXAMPLES_COMPARED_H
#define EXAMPLES_COMPARED_H

#include <gst/gst.h>

typedef struct _Compared Compared;

/* Watches the frames that go through the element, until the pipeline has stopped. */
Compared *compared_new (GstElement *element);
void compared_free (Compared *compared);

/* Writes a PNG. FALSE with a line on stderr where that fails. */
gboolean compared_write (Compared *compared, const char *file);

#endif
