/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A clip that is the same on every machine, without a decoder or a test source, and checksums of frames. */
#ifndef TESTS_ELEMENT_GOLDEN_CLIP_H
#define TESTS_ELEMENT_GOLDEN_CLIP_H

#include "support/element.h"

enum
{
  GOLDEN_FRAMES = 2,
  GOLDEN_WIDTH = 323,
  GOLDEN_HEIGHT = 181
};

/* Frame n of the clip: gradients with noise, and boxes with hard edges, in all components alike. */
GstBuffer *golden_frame (const GstVideoInfo *info, guint n);

/* Adds the values of all components of the frame, and nothing that lies between them. */
void golden_add (GChecksum *checksum, const GstVideoInfo *info, GstBuffer *frame);

#endif
