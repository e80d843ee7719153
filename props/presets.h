/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The presets' table and how a row becomes a mask. */
#ifndef CONVOLVE_PRESETS_H
#define CONVOLVE_PRESETS_H

#include "props.h"

typedef struct _ConvolvePreset ConvolvePreset;

/* What a preset's generator gets: everything resolved, in luma pixels. */
typedef struct
{
  const ConvolvePreset *preset;
  gdouble argument;
  gint width, height;       /* odd, 1..CONVOLVE_MAX_SIDE */
  gdouble sigma_x, sigma_y; /* above 0 */
  gint x_step, y_step;      /* luma pixels for each sample of the plane */
} ConvolvePresetRequest;

struct _ConvolvePreset
{
  const gchar *name, *purpose, *formula; /* one line each */
  guint width;                           /* its own width and height */
  gboolean sized;                        /* mask-width and mask-height may say otherwise */
  guint reach;    /* sigmas from the centre to the edge where sigma gives the width; 0: has no sigma */
  gdouble offset; /* -1..1 of black to white; bias is added */

  const gchar *argument; /* what it means; NULL: takes none */
  gdouble argument_default, argument_min, argument_max;
  gdouble argument_interval; /* only argument_min plus a multiple of it; 0: any */

  gboolean (*make) (const ConvolvePresetRequest *request, ConvolveMask *mask); /* FALSE: no memory */
  gint8 taps[9];                                                               /* of a fixed 3x3 mask */
};

const ConvolvePreset *convolve_preset_find (const gchar *name, gsize length); /* NULL where there is none */
gchar *convolve_preset_nearest (const gchar *name, gsize length); /* those that were meant, to be freed, or NULL */
gchar *convolve_preset_list (void);                               /* "identity, box, ...", to be freed */

/*
 * The preset's taps for a plane, divisor 1 and the preset's own offset. Reads mask_width, mask_height and sigma of
 * settings, which are in their ranges. FALSE with error where they do not fit the preset.
 */
gboolean convolve_preset_make (const ConvolvePreset *preset, gdouble argument, const ConvolveSettings *settings,
    guint x_step, guint y_step, ConvolveMask *mask, GError **error);

#endif
