/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Films in GIF. GStreamer 1.22 has a decoder of frames, but finds no end of such a file, so that this file cuts it into frames.
 */
#ifndef EXAMPLES_GIF_H
#define EXAMPLES_GIF_H

#include <gst/gst.h>

/* Whether a file is a GIF. */
gboolean gif_is (const char *file);

/* An element that gives the frames of a GIF, each with its time. NULL with error. */
GstElement *gif_make (const char *file, GError **error);

/*
 * Gives the frames that leave a pad behind the decoder their times again, which the decoder of 1.22 forgets. Does nothing where the
 * element is none of gif_make().
 */
void gif_stamp (GstElement *source, GstPad *pad);

#endif
