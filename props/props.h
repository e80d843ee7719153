/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the user writes: presets, weights, and the numbers beside them, turned into the kernel library's ConvolveMask.
 * Pure functions of their arguments; any thread, any locale.
 */
#ifndef CONVOLVE_PROPS_H
#define CONVOLVE_PROPS_H

#include <glib-object.h>

#include "convolve.h"

G_BEGIN_DECLS

#define CONVOLVE_PROPS_ERROR (convolve_props_error_quark ())
GQuark convolve_props_error_quark (void);

typedef enum
{
  CONVOLVE_PROPS_ERROR_MASK,   /* the text of mask: unknown preset, bad number, bad shape */
  CONVOLVE_PROPS_ERROR_NUMBER, /* mask-width, mask-height, sigma, divisor or bias, or what they make of mask */
  CONVOLVE_PROPS_ERROR_LAYER,  /* the file of layer-location, or a property of the layer */
  CONVOLVE_PROPS_ERROR_NO_MEMORY
} ConvolvePropsError;

/* The mask properties as they stand, one value for each. README's property table says what they mean. */
typedef struct
{
  gchar *mask;                   /* owned; NULL reads as CONVOLVE_DEFAULT_MASK */
  guint mask_width, mask_height; /* 0, or odd up to CONVOLVE_MAX_SIDE */
  gdouble sigma;                 /* luma pixels, 0..CONVOLVE_MAX_SIGMA; 0 = from the width */
  gdouble divisor;               /* finite; 0 = the weights' sum, or 1 where that is 0 */
  gdouble bias;                  /* -1..1 of black to white, and so is its sum with the preset's own offset */
} ConvolveSettings;

#define CONVOLVE_DEFAULT_MASK "gaussian"
#define CONVOLVE_MAX_SIGMA 255.0 /* with a larger sigma the widest gaussian is a box */

void convolve_settings_init (ConvolveSettings *settings);                         /* the properties' defaults */
void convolve_settings_copy (ConvolveSettings *to, const ConvolveSettings *from); /* to is uninitialised */
void convolve_settings_clear (ConvolveSettings *settings);

/*
 * The mask for a plane that holds one sample for every x_step by y_step luma pixels (1, 2 or 4; 1 and 1 for luma
 * and RGB). A sized preset is scaled to the plane; explicit weights and 3x3 presets are not.
 *
 * The text of mask is, white space around it aside, one of
 *
 *   NAME or NAME:ARGUMENT   a preset, where it starts with a letter
 *   [WxH:] WEIGHTS          rows split by ';' or a newline, values in a row by white space, one comma, or both
 *
 * A row may not have both a comma without a space and a space alone between values: "0,5 1" looks like 0.5 and 1.
 *
 * A value is decimal: digits with at most one '.', then perhaps e and an exponent; signs as usual. One ';' or any
 * number of newlines may follow the last row, and a newline may follow each ';'. Several rows are as wide as they are
 * written. A single row gets its shape from WxH, else from mask-width and mask-height (of one alone the other
 * follows), else it is square if it has n*n values, n odd, else one-dimensional. At most 4 MiB of text.
 *
 * On TRUE *mask is to be cleared by the caller. On FALSE *mask is untouched and error (domain CONVOLVE_PROPS_ERROR)
 * names the property, the token and its place: characters, rows and values are counted from 1.
 */
gboolean convolve_settings_make_mask (const ConvolveSettings *settings, guint x_step, guint y_step, ConvolveMask *mask,
    GError **error);

/* Adds a sentence, to be freed, where sigma is set and the mask is not made from sigma. */
void convolve_settings_add_idle (const ConvolveSettings *settings, GPtrArray *sentences);

G_END_DECLS

#endif
