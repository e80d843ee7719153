/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an attacker knows of an effect: a box of the covered picture is Y F X^T, with F the frame and one matrix for
 * each direction. That is true of every effect of this element but fill, up to the rounding of samples.
 */
#ifndef TESTS_UNDO_COVER_H
#define TESTS_UNDO_COVER_H

#include "undo/matrix.h"

typedef enum
{
  EFFECT_GAUSSIAN,
  EFFECT_BOX,
  EFFECT_PIXELATE,
  EFFECT_FILL
} Effect;

typedef struct
{
  Effect effect;
  gdouble amount; /* region-strength, or region-blocks */
} Setting;

typedef struct
{
  Matrix y, x; /* rows of the box by rows of the frame, and likewise columns */
} Cover;

/* The element's properties for the setting, and for a box of a frame; to be freed. */
gchar *cover_properties (const Setting *setting, ConvolveRect box);

/* Luma pixels: sigma of a mask, side of a block, or 0. */
gdouble cover_size (const Setting *setting, ConvolveRect box);

Cover cover_new (const Setting *setting, ConvolveRect box, gint frame_width, gint frame_height);
void cover_clear (Cover *cover);

/* The cover of a frame whose picture is that of another frame moved down by so many pixels: from that other frame. */
void cover_move_down (Cover *cover, gdouble pixels);

#endif
