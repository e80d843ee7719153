/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that a decoder drops because the film is damaged. GStreamer's decoders tell that to nobody. */
#ifndef EXAMPLES_LOST_H
#define EXAMPLES_LOST_H

#include <gst/gst.h>

/* All zero at first. Each pad counts in its own thread. */
typedef struct
{
  guint64 packets;   /* of frames that are to be shown, in front of the decoder */
  guint64 frames;    /* behind it */
  GstClockTime next; /* the earliest running time of the next frame */
} Lost;

/*
 * Count what passes a pad in front of the decoder, and one behind it. Behind damage a decoder may give several frames one
 * time. The others come a microsecond later each, because encoders and muxers need times that ascend.
 */
void lost_watch_packets (Lost *lost, GstPad *pad);
void lost_watch_frames (Lost *lost, GstPad *pad);

/* Warns where frames are missing, when the film has come to its end. */
void lost_warn (const Lost *lost, const char *file);

#endif
