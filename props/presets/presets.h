/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The presets as a table, and the way from a row of the table to a mask.
 *
 * Sizes and sigmas are luma pixels. step is the number of luma pixels for each sample of a plane, in one direction: 1
 * for luma and RGB, 2 or 4 for subsampled chroma. A mask for such a plane has the same shape, step times smaller.
 */
#ifndef CONVOLVE_PRESETS_H
#define CONVOLVE_PRESETS_H

#include "settings/mask_settings.h"

typedef struct _ConvolvePreset ConvolvePreset;

/* What a preset's function makes a mask from. All settings are resolved. */
typedef struct
{
  const ConvolvePreset *preset;
  gdouble argument;
  gint width, height;       /* luma pixels, odd, 1..CONVOLVE_MAX_SIDE */
  gdouble sigma_x, sigma_y; /* luma pixels, above 0 */
  gint x_step, y_step;      /* 1, 2 or 4 */
} ConvolvePresetRequest;

/* A row of the table. Every text is one line. */
struct _ConvolvePreset
{
  const gchar *name;
  const gchar *purpose;   /* what the preset is for */
  const gchar *formula;   /* the taps, and their source */
  guint width;            /* the default width and height, in luma pixels */
  gboolean sized;         /* mask-width and mask-height set another size; otherwise always 3x3 */
  guint radius_in_sigmas; /* the radius, where sigma gives the width; 0 where the preset takes no sigma */
  gdouble offset;         /* added to bias: -1..1 of the range from black to white */

  const gchar *argument; /* what NAME:ARGUMENT means, with its range and default; NULL where the preset takes none */
  gdouble argument_default, argument_min, argument_max;
  gdouble argument_interval; /* allowed are argument_min and multiples of the interval above it; 0 allows any number */

  gboolean (*make) (const ConvolvePresetRequest *request, ConvolveMask *mask); /* FALSE where there is no memory */
  gint8 taps[9];                                                               /* of a fixed 3x3 mask */
  /*
   * Where sigma gives a width beyond CONVOLVE_MAX_SIDE: sets the shares of CONVOLVE_GAUSSIAN. NULL: the preset is
   * refused.
   */
  void (*make_wide) (const ConvolvePresetRequest *request, ConvolveMask *mask);
  ConvolveCombination combination; /* of the sets of taps that make () makes; a plain mask has one */
};

/* The table, and the number of its rows. */
const ConvolvePreset *convolve_presets (guint *n);

/* The preset of that name, or NULL. */
const ConvolvePreset *convolve_preset_find (const gchar *name, gsize length);

/* The presets that a misspelt name may stand for, as "sobel-x or sobel-y", to be freed; NULL where none is near. */
gchar *convolve_preset_nearest (const gchar *name, gsize length);

/* Whether the text names a preset, rather than lists weights. */
gboolean convolve_preset_is_named (const gchar *text);

/*
 * Reads NAME or NAME:ARGUMENT. For NAME alone *argument is the preset's default. FALSE with error
 * (CONVOLVE_PROPS_ERROR_MASK), which names the token and its place.
 */
gboolean convolve_preset_parse (const gchar *text, const ConvolvePreset **preset, gdouble *argument, GError **error);

/* All presets as "identity, box, ...", to be freed. */
gchar *convolve_preset_list (void);

/*
 * The preset's taps for a plane, with divisors of 1 and the preset's own offset. Reads mask_width, mask_height and
 * sigma of settings, which are in their ranges. FALSE with error where these do not fit the preset.
 */
gboolean convolve_preset_make (const ConvolvePreset *preset, gdouble argument, const ConvolveSettings *settings,
    guint x_step, guint y_step, ConvolveMask *mask, GError **error);

#endif
