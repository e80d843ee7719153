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
 * The weights of a source that is no preset, as the user wrote them: *values are to be freed, height rows of width. *divisor
 * is that of a file that has one, or 0. FALSE with error, and *values is NULL.
 */
gboolean convolve_source_read (ConvolveSource source, const ConvolveSettings *settings, gdouble **values, guint *width,
    guint *height, gdouble *divisor, GError **error);

#endif
