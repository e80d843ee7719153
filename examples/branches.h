/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The branches behind the tee of convolve_file: an encoder, a window. */
#ifndef EXAMPLES_BRANCHES_H
#define EXAMPLES_BRANCHES_H

#include <gst/gst.h>

/* A bin from the description `first` followed by `rest`, or NULL with a message where the description is wrong. */
GstElement *make_branch (const char *first, const char *rest);

/* A branch that shows frames in this sink, or NULL where the sink cannot be made or opens no window. */
GstElement *open_window (const char *sink);

/* The same with the first sink that opens a window; NULL with a message where none does. */
GstElement *open_any_window (void);

#endif
