/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checksums of frames: of the picture's bytes alone, so that padding and strides do not matter. */
#ifndef CLUSTER_FRAMES_H
#define CLUSTER_FRAMES_H

#include <gst/video/video.h>

typedef struct
{
  GstVideoInfo info;
  gboolean has_info;
  GChecksum *sum; /* SHA-256 over the CRC-32 of each frame, four bytes with the lowest first */
  guint64 frames;
} Frames;

void frames_init (Frames *frames);
void frames_clear (Frames *frames);

/* Adds each frame that comes through the pad from now on. The pad's thread posts an error where a frame cannot be read. */
void frames_watch (Frames *frames, GstPad *pad);

/* The checksum so far, to be freed. */
char *frames_sum (const Frames *frames);

/* As in "I420 640x360", to be freed. */
char *frames_format (const Frames *frames);

#endif
