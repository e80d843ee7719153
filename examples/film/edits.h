/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edit lists of MP4 and QuickTime files: which part of a track is shown. */
#ifndef EXAMPLES_EDITS_H
#define EXAMPLES_EDITS_H

#include <gst/gst.h>

/*
 * GStreamer's muxer adds up durations in the order of decoding. Where frames stay for different times, the list so ends before the last
 * frames. This function lengthens the lists of a complete file, up to where its last stream ends. FALSE with error where the file cannot be written.
 */
gboolean edits_mend (const char *file, GstClockTime end, GError **error);

#endif
