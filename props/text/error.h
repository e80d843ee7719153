/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The errors of what users write. A message begins with the property. */
#ifndef CONVOLVE_PROPS_ERROR_H
#define CONVOLVE_PROPS_ERROR_H

#include <glib-object.h>

#define CONVOLVE_PROPS_ERROR (convolve_props_error_quark ())
GQuark convolve_props_error_quark (void);

typedef enum
{
  CONVOLVE_PROPS_ERROR_MASK,    /* a property that gives the mask: unknown preset, bad number, bad shape, bad file */
  CONVOLVE_PROPS_ERROR_NUMBER,  /* a number beside the mask, such as mask-width or bias, alone or with the mask */
  CONVOLVE_PROPS_ERROR_LAYER,   /* the file of location, or a property of the layer */
  CONVOLVE_PROPS_ERROR_REGIONS, /* regions, region-types or region-ids, or region-strength with a mask that takes none */
  CONVOLVE_PROPS_ERROR_NO_MEMORY
} ConvolvePropsError;

/* Sets the error, which may be NULL, and returns FALSE. */
gboolean convolve_props_fail (GError **error, ConvolvePropsError code, const gchar *format, ...) G_GNUC_PRINTF (3, 4);

#endif
