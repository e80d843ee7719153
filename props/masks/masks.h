/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The masks of the planes of a frame: each one is made once, and what gives the mask is read as often as masks differ. */
#ifndef CONVOLVE_MASKS_H
#define CONVOLVE_MASKS_H

#include "masks/mask_text.h"

G_BEGIN_DECLS

/* Luma and chroma, each in the four kinds of rows and columns that frames can have. */
#define CONVOLVE_MAX_MASKS 8

typedef struct
{
  const ConvolveSettings *settings; /* which must outlive the masks */
  gboolean one_for_all;             /* no plane has another mask than luma */
  guint n;
  struct
  {
    guint x_step, y_step;
    ConvolveMask mask;
  } made[CONVOLVE_MAX_MASKS];
} ConvolveMasks;

void convolve_masks_init (ConvolveMasks *masks, const ConvolveSettings *settings);
void convolve_masks_clear (ConvolveMasks *masks);

/* As convolve_settings_make_mask(). The mask belongs to masks. NULL with error. */
const ConvolveMask *convolve_masks_get (ConvolveMasks *masks, guint x_step, guint y_step, GError **error);

G_END_DECLS

#endif
