/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a row of the table of presets to a mask: sizes and sigmas are resolved here. */
#include "presets/presets.h"

#include <math.h>

#define WIDE_SIGMA 0.993 /* times sigma: of the Gaussian without an end that is nearest to one cut at 3 sigma */
#define LEAST_SIGMA 1e-3 /* here the taps beside the middle are 0 already, so less, and 0, give the same mask */

static gboolean
check_fixed_side (const ConvolvePreset *preset, const gchar *property, guint side, GError **error)
{
  if (side == 0 || side == preset->width)
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
      "%s: %u contradicts the preset %s in mask, which is always %ux%u", property, side, preset->name, preset->width,
      preset->width);
  return FALSE;
}

/* The width that mask-width, sigma or the preset asks for, which may be more than CONVOLVE_MAX_SIDE. */
static gint
find_width (const ConvolvePreset *preset, const ConvolveSettings *settings)
{
  if (settings->mask_width != 0)
    return settings->mask_width;
  if (preset->radius_in_sigmas > 0 && settings->sigma >= 0)
    return 2 * (gint) ceil (preset->radius_in_sigmas * MAX (settings->sigma, LEAST_SIGMA)) + 1;
  return preset->width;
}

/* A Gaussian of more weights than a mask has. Its ends are nowhere, so that a height would have no meaning but 1. */
static gboolean
make_wide (const ConvolvePresetRequest *request, const ConvolveSettings *settings, ConvolveMask *mask, GError **error)
{
  const ConvolvePreset *preset = request->preset;
  const gdouble sigma = WIDE_SIGMA * settings->sigma;
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (digits, sizeof digits, "%g", settings->sigma);
  if (!preset->make_wide) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
        "sigma: %s gives the preset %s a width of %d, more than %d; mask-width can set a smaller one, and gaussian and "
        "unsharp take any sigma",
        digits, preset->name, request->width, CONVOLVE_MAX_SIDE);
    return FALSE;
  }
  if (settings->mask_height > 1) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
        "mask-height: %u cannot be done with sigma %s, from which follows a width of %d, more than %d; mask-height 0 or 1 "
        "can, or mask-width up to %d",
        settings->mask_height, digits, request->width, CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
    return FALSE;
  }
  if (!convolve_mask_init_gaussian (mask, sigma / request->x_step,
          settings->mask_height == 1 ? 0 : sigma / request->y_step)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY, "mask: no memory for the preset %s",
        preset->name);
    return FALSE;
  }
  preset->make_wide (request, mask);
  return TRUE;
}

/* The rule of OpenCV's getGaussianKernel. */
static gdouble
sigma_of_width (gint width)
{
  return 0.3 * ((width - 1) * 0.5 - 1) + 0.8;
}

gboolean
convolve_preset_make (const ConvolvePreset *preset, gdouble argument, const ConvolveSettings *settings, guint x_step,
    guint y_step, ConvolveMask *mask, GError **error)
{
  ConvolvePresetRequest request = { .preset = preset, .argument = argument, .x_step = x_step, .y_step = y_step };

  if (!preset->sized
      && (!check_fixed_side (preset, "mask-width", settings->mask_width, error)
          || !check_fixed_side (preset, "mask-height", settings->mask_height, error)))
    return FALSE;
  request.width = find_width (preset, settings);
  if (request.width > CONVOLVE_MAX_SIDE)
    return make_wide (&request, settings, mask, error);
  request.height = settings->mask_height != 0 ? (gint) settings->mask_height : request.width;
  request.sigma_x = settings->sigma >= 0 ? MAX (settings->sigma, LEAST_SIGMA) : sigma_of_width (request.width);
  request.sigma_y = settings->sigma >= 0 ? MAX (settings->sigma, LEAST_SIGMA) : sigma_of_width (request.height);

  if (!preset->make (&request, mask)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY, "mask: no memory for the preset %s",
        preset->name);
    return FALSE;
  }
  mask->offset = preset->offset;
  return TRUE;
}
