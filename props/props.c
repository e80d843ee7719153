/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the numbers, makes taps of the text of mask, and sets the divisor and the offset of the taps. */
#include "props.h"

#include <math.h>
#include <string.h>

#include "parse.h"

static gboolean
check_side (const gchar *property, guint side, GError **error)
{
  if (side > CONVOLVE_MAX_SIDE || (side != 0 && side % 2 == 0)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER, "%s: %u is not 0 or an odd number up to %d",
        property, side, CONVOLVE_MAX_SIDE);
    return FALSE;
  }
  return TRUE;
}

/* A GParamSpec bounds what a user can set, but GLib newer than 2.74 lets NaN pass. */
static gboolean
check_range (const gchar *property, gdouble value, gdouble lowest, gdouble highest, GError **error)
{
  gchar digits[3][G_ASCII_DTOSTR_BUF_SIZE];

  if (value >= lowest && value <= highest)
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER, "%s: %s is not between %s and %s", property,
      g_ascii_formatd (digits[0], sizeof digits[0], "%g", value),
      g_ascii_formatd (digits[1], sizeof digits[1], "%g", lowest),
      g_ascii_formatd (digits[2], sizeof digits[2], "%g", highest));
  return FALSE;
}

static gboolean
check_divisor (gdouble divisor, GError **error)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (divisor == 0 || isnormal (divisor))
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER, "divisor: %s is not a number to divide by",
      g_ascii_formatd (digits, sizeof digits, "%g", divisor));
  return FALSE;
}

static gboolean
check_numbers (const ConvolveSettings *settings, GError **error)
{
  return check_side ("mask-width", settings->mask_width, error)
      && check_side ("mask-height", settings->mask_height, error)
      && check_range ("sigma", settings->sigma, 0, CONVOLVE_MAX_SIGMA, error)
      && check_divisor (settings->divisor, error) && check_range ("bias", settings->bias, -1, 1, error);
}

/* The default divisor: the sum of the taps, or 1 where the sum is 0. Returns 0 where a double cannot hold the sum. */
static gdouble
natural_divisor (const ConvolveMask *mask)
{
  gdouble sum = 0, lost = 0, magnitude = 0;

  /* Neumaier's summation, so that the roundings of a large mask do not decide whether the sum counts as 0. */
  for (gint i = 0; i < mask->width * mask->height; i++) {
    gdouble tap = mask->taps[i], next = sum + tap;

    lost += fabs (sum) >= fabs (tap) ? (sum - next) + tap : (tap - next) + sum;
    sum = next;
    magnitude += fabs (tap);
  }
  sum += lost;
  if (fabs (sum) <= 1e-12 * magnitude)
    sum = 1;
  return isfinite (magnitude) && isnormal (sum) ? sum : 0;
}

static gboolean
set_divisor_and_offset (ConvolveMask *mask, const ConvolveSettings *settings, const ConvolvePreset *preset,
    GError **error)
{
  gdouble natural = natural_divisor (mask);

  if (natural == 0) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK,
        "mask: the weights are too large or too small to be summed");
    return FALSE;
  }
  mask->divisor = settings->divisor != 0 ? settings->divisor : natural;

  if (fabs (mask->offset + settings->bias) > 1) {
    gchar digits[2][G_ASCII_DTOSTR_BUF_SIZE];

    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
        "bias: %s and the preset %s's own offset %s are together not between -1 and 1",
        g_ascii_formatd (digits[0], sizeof digits[0], "%g", settings->bias), preset ? preset->name : "",
        g_ascii_formatd (digits[1], sizeof digits[1], "%g", mask->offset));
    return FALSE;
  }
  mask->offset += settings->bias;
  return TRUE;
}

static gboolean
is_step (guint step)
{
  return step == 1 || step == 2 || step == 4;
}

gboolean
convolve_settings_make_mask (const ConvolveSettings *settings, guint x_step, guint y_step, ConvolveMask *mask,
    GError **error)
{
  const gchar *text = settings->mask ? settings->mask : CONVOLVE_DEFAULT_MASK;
  const ConvolvePreset *preset = NULL;
  gdouble argument;
  ConvolveMask made;

  if (!is_step (x_step) || !is_step (y_step)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
        "planes with one sample for every %u by %u pixels are not supported", x_step, y_step);
    return FALSE;
  }
  if (!check_numbers (settings, error) || !convolve_parse_check_length (text, error))
    return FALSE;

  if (convolve_parse_is_preset (text)) {
    if (!convolve_parse_preset (text, &preset, &argument, error)
        || !convolve_preset_make (preset, argument, settings, x_step, y_step, &made, error))
      return FALSE;
  } else if (!convolve_parse_weights (text, settings->mask_width, settings->mask_height, &made, error)) {
    return FALSE;
  }

  if (!set_divisor_and_offset (&made, settings, preset, error)) {
    convolve_mask_clear (&made);
    return FALSE;
  }
  *mask = made;
  return TRUE;
}

/* --- sigma without effect --- */

/*
 * Whether sigma shapes the mask. *name is the preset's name, or NULL for weights. TRUE for a text that cannot be read,
 * because an error reports that text.
 */
static gboolean
takes_sigma (const ConvolveSettings *settings, const gchar **name)
{
  const gchar *text = settings->mask ? settings->mask : CONVOLVE_DEFAULT_MASK;
  const ConvolvePreset *preset = NULL;
  gdouble argument;

  *name = NULL;
  if (!convolve_parse_check_length (text, NULL))
    return TRUE;
  if (!convolve_parse_is_preset (text))
    return FALSE;
  if (!convolve_parse_preset (text, &preset, &argument, NULL))
    return TRUE;
  *name = preset->name;
  return preset->radius_in_sigmas > 0;
}

void
convolve_settings_add_idle (const ConvolveSettings *settings, GPtrArray *sentences)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
  const gchar *preset;

  if (settings->sigma == 0 || takes_sigma (settings, &preset))
    return;
  g_ascii_formatd (digits, sizeof digits, "%g", settings->sigma);
  if (preset)
    g_ptr_array_add (sentences,
        g_strdup_printf ("sigma: %s has no effect: the preset %s in mask takes no sigma; gaussian, log and unsharp do",
            digits, preset));
  else
    g_ptr_array_add (sentences,
        g_strdup_printf ("sigma: %s has no effect: mask has weights, which are not made from sigma", digits));
}

/* --- the blur of a region --- */

gboolean
convolve_settings_set_blur (ConvolveSettings *settings, gdouble sigma, GError **error)
{
  const gchar *preset;

  takes_sigma (settings, &preset);
  if (g_strcmp0 (preset, "gaussian") != 0 && g_strcmp0 (preset, "box") != 0) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS,
        "region-strength: %s in mask has no strength; gaussian and box have one, and region-strength=0 takes every "
        "mask",
        preset ? preset : "the text");
    return FALSE;
  }
  settings->mask_width = settings->mask_height = 0;
  settings->sigma = sigma;
  if (g_str_equal (preset, "box")) {
    /* w equal taps have the variance (w^2 - 1) / 12. */
    settings->mask_width = (guint) ceil (sqrt (12 * sigma * sigma + 1)) | 1;
    settings->sigma = 0;
  }
  return TRUE;
}
