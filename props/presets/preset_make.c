/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a row of the table of presets to a mask: sizes and sigmas are resolved here. */
#include "presets/presets.h"

#include <math.h>

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

/* The width that mask-width, sigma or the preset asks for. */
static gboolean
find_width (const ConvolvePreset *preset, const ConvolveSettings *settings, gint *width, GError **error)
{
  if (settings->mask_width != 0) {
    *width = settings->mask_width;
  } else if (preset->radius_in_sigmas > 0 && settings->sigma >= 0) {
    *width = 2 * (gint) ceil (preset->radius_in_sigmas * MAX (settings->sigma, LEAST_SIGMA)) + 1;
    if (*width > CONVOLVE_MAX_SIDE) {
      gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

      g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
          "sigma: %s gives the preset %s a width of %d, more than %d; mask-width can set a smaller one",
          g_ascii_formatd (digits, sizeof digits, "%g", settings->sigma), preset->name, *width, CONVOLVE_MAX_SIDE);
      return FALSE;
    }
  } else {
    *width = preset->width;
  }
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
  if (!find_width (preset, settings, &request.width, error))
    return FALSE;
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
