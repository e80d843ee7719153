/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of the properties makes the mask, and the weights that it has. */
#ifndef CONVOLVE_SOURCE_H
#define CONVOLVE_SOURCE_H

#include "text/grid.h"
#include "settings/mask_settings.h"

typedef enum
{
  CONVOLVE_SOURCE_PRESET,  /* mask names a preset */
  CONVOLVE_SOURCE_TEXT,    /* mask has weights */
  CONVOLVE_SOURCE_ARRAY,   /* weights */
  CONVOLVE_SOURCE_FILE,    /* mask-location */
  CONVOLVE_SOURCE_VECTORS, /* mask-x, mask-y or both */
} ConvolveSource;

/*
 * Finds the property that makes the mask. mask at its default, gaussian, is not set. FALSE with error
 * (CONVOLVE_PROPS_ERROR_MASK) where several are set.
 */
gboolean convolve_source_find (const ConvolveSettings *settings, ConvolveSource *source, GError **error);

/* The property, as in "mask-location". */
const gchar *convolve_source_property (ConvolveSource source, const ConvolveSettings *settings);

/*
 * Makes the mask of a source that is no preset, with divisor 1, for a plane whose samples lie x_step and y_step luma pixels apart:
 * these count for a picture alone. *divisor is that of a file that has one, or 0. FALSE with error, and *mask is untouched.
 */
gboolean convolve_source_make (ConvolveSource source, const ConvolveSettings *settings, guint x_step, guint y_step,
    ConvolveMask *mask, gdouble *divisor, GError **error);

#endif
