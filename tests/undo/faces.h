/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The face of the shipped clip, in several sizes and places, and what the element makes of it. */
#ifndef TESTS_UNDO_FACES_H
#define TESTS_UNDO_FACES_H

#include "undo/attack.h"

/*
 * Frames 40 to 59 of the clip show nothing but this picture, which moves up by 5/6 pixels a frame. Sizes are those whose
 * boxes get exactly the sigma that they ask for: any other box gets a larger one, up to the square root of 2 times.
 */
typedef struct
{
  const gchar *name;
  gint width, height; /* of the frame */
  ConvolveRect face;  /* from ear to ear, in frame FACES_MIDDLE */
} FaceSize;

extern const FaceSize faces_far, faces_normal, faces_near;

#define FACES_FIRST 40
#define FACES_COUNT 20
#define FACES_MIDDLE 49
#define FACES_STEP (5.0 / 6) /* pixels that the picture moves up for each frame, in the clip's own size */

/* The luma of these frames of the clip; FALSE with a message where the clip cannot be decoded. */
gboolean faces_read (const gchar *clip, const FaceSize *size, gint first, gint count, Matrix *frames);

/* The frame after the element, which gets samples of 8, 10 or 16 bits. */
Matrix faces_cover (const Matrix *frame, const gchar *properties, gint bits);

/* One view: the covered frame is what an attacker sees. */
Target faces_target (const Matrix *frame, const Setting *setting, ConvolveRect box, gint bits);

/* Likewise, with boxes of several frames. boxes and moves (pixels down from the first frame) have one item for each. */
Target faces_target_of_frames (const Matrix *frames, const Setting *setting, const ConvolveRect *boxes,
    const gdouble *moves, gint count);

#endif
