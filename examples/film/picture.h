/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A picture of two frames, side by side. */
#ifndef EXAMPLES_PICTURE_H
#define EXAMPLES_PICTURE_H

#include <gst/gst.h>

/*
 * A copy of a pad's buffer in system memory, because the original may be one of few in a decoder's pool. Mapping a frame
 * in a GPU's memory downloads the frame. NULL where the pad has lost its caps, because the pipeline is being stopped.
 */
GstSample *keep_frame (GstPad *pad, GstBuffer *buffer);

/*
 * Writes a PNG with the first frame at the left and the second at the right. The frames may differ in size. FALSE with a
 * message where that fails.
 */
gboolean write_picture (const char *location, GstSample *first, GstSample *second);

#endif
