/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the numbers, makes taps of what gives the mask, and sets the divisor and the offset of the taps. */
#include "masks/mask_text.h"

#include <math.h>
#include <string.h>

#include "masks/adjust.h"
#include "presets/presets.h"
#include "masks/source.h"

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
check_sigma (gdouble sigma, GError **error)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (sigma == -1 || (sigma >= 0 && sigma <= CONVOLVE_MAX_SIGMA))
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER, "sigma: %s is neither -1 nor between 0 and %g",
      g_ascii_formatd (digits, sizeof digits, "%g", sigma), CONVOLVE_MAX_SIGMA);
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
      && check_side ("mask-height", settings->mask_height, error) && check_sigma (settings->sigma, error)
      && check_divisor (settings->divisor, error) && check_range ("bias", settings->bias, -1, 1, error)
      && check_range ("mix", settings->mix, 0, 1, error);
}

/* The default divisor: the sum of the taps, or 1 where the sum is 0. Returns 0 where a double cannot hold the sum. */
static gdouble
natural_divisor (const gdouble *taps, gint count)
{
  gdouble sum = 0, lost = 0, magnitude = 0;

  /* Neumaier's summation, so that the roundings of a large mask do not decide whether the sum counts as 0. */
  for (gint i = 0; i < count; i++) {
    gdouble tap = taps[i], next = sum + tap;

    lost += fabs (sum) >= fabs (tap) ? (sum - next) + tap : (tap - next) + sum;
    sum = next;
    magnitude += fabs (tap);
  }
  sum += lost;
  if (fabs (sum) <= 1e-12 * magnitude)
    sum = 1;
  return isfinite (magnitude) && isnormal (sum) ? sum : 0;
}

/* A divisor of 0 is that of the taps. */
static gboolean
set_divisor_and_offset (ConvolveMask *mask, const ConvolveSettings *settings, gdouble divisor, const gchar *property,
    const ConvolvePreset *preset, GError **error)
{
  for (gint k = 0; k < convolve_mask_sets (mask); k++) {
    gdouble natural = natural_divisor (convolve_mask_taps (mask, k), convolve_adjust_count (mask));

    if (natural == 0) {
      g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK,
          "%s: the weights are too large or too small to be summed", property);
      return FALSE;
    }
    *(k == 0 ? &mask->divisor : &mask->more_divisors[k - 1]) = divisor != 0 ? divisor : natural;
  }

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
  return step == 1 || step == 2 || step == 4 || step == 8;
}

static const gchar *
mask_of (const ConvolveSettings *settings)
{
  return settings->mask ? settings->mask : CONVOLVE_DEFAULT_MASK;
}

/*
 * Makes the taps, with divisor 1 and a preset's own offset. *preset is NULL for weights. *divisor is that of a file which has
 * one, or 0.
 */
static gboolean
make_taps (const ConvolveSettings *settings, ConvolveSource source, guint x_step, guint y_step,
    const ConvolvePreset **preset, gdouble *divisor, ConvolveMask *mask, GError **error)
{
  gdouble argument;

  *preset = NULL;
  *divisor = 0;
  if (source == CONVOLVE_SOURCE_PRESET)
    return convolve_preset_parse (mask_of (settings), preset, &argument, error)
        && convolve_preset_make (*preset, argument, settings, x_step, y_step, mask, error);
  return convolve_source_make (source, settings, x_step, y_step, mask, divisor, error);
}

/*
 * What is done to the mask when taps, divisor and offset are known. The input that mix adds cannot be a weight of a mask
 * whose sum is no result yet. On FALSE, *mask is still the caller's.
 */
static gboolean
adjust (const ConvolveSettings *settings, const ConvolvePreset *preset, ConvolveMask *mask, GError **error)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (settings->flip)
    convolve_adjust_flip (mask);
  if ((mask->combination == CONVOLVE_SUM || mask->combination == CONVOLVE_GAUSSIAN) && !settings->absolute) {
    convolve_adjust_mix (mask, settings->mix);
    return TRUE;
  }
  if (mask->combination == CONVOLVE_GAUSSIAN) {
    g_ascii_formatd (digits, sizeof digits, "%g", settings->sigma);
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
        "absolute: true cannot be done with sigma %s, from which follow more than %d weights; absolute=false can, or "
        "mask-width up to %d",
        digits, CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
    return FALSE;
  }
  if (settings->mix != 1) {
    g_ascii_formatd (digits, sizeof digits, "%g", settings->mix);
    if (mask->combination == CONVOLVE_SUM)
      g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
          "mix: %s cannot be done with absolute=true; mix=1 or absolute=false can", digits);
    else
      g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
          "mix: %s cannot be done with the preset %s in mask, which combines several masks; mix=1 can", digits,
          preset ? preset->name : "");
    return FALSE;
  }
  if (mask->combination == CONVOLVE_SUM)
    mask->combination = CONVOLVE_ABSOLUTE;
  return TRUE;
}

gboolean
convolve_settings_make_mask (const ConvolveSettings *settings, guint x_step, guint y_step, ConvolveMask *mask,
    GError **error)
{
  const ConvolvePreset *preset;
  ConvolveSource source;
  ConvolveMask made;
  gdouble divisor;

  if (!is_step (x_step) || !is_step (y_step)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
        "planes with one sample for every %u by %u pixels are not supported", x_step, y_step);
    return FALSE;
  }
  if (!check_numbers (settings, error) || !convolve_source_find (settings, &source, error)
      || !make_taps (settings, source, x_step, y_step, &preset, &divisor, &made, error))
    return FALSE;
  if (settings->divisor != 0)
    divisor = settings->divisor;
  if (!set_divisor_and_offset (&made, settings, divisor, convolve_source_property (source, settings), preset, error)
      || !adjust (settings, preset, &made, error)) {
    convolve_mask_clear (&made);
    return FALSE;
  }
  *mask = made;
  return TRUE;
}

/* --- settings without effect --- */

static void
add_idle_sigma (const ConvolveSettings *settings, const gchar *property, const ConvolvePreset *preset,
    GPtrArray *sentences)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (settings->sigma == -1 || (preset && preset->radius_in_sigmas > 0))
    return;
  g_ascii_formatd (digits, sizeof digits, "%g", settings->sigma);
  if (preset)
    g_ptr_array_add (sentences,
        g_strdup_printf ("sigma: %s has no effect: the preset %s in mask takes no sigma; gaussian, log and unsharp do",
            digits, preset->name));
  else
    g_ptr_array_add (sentences,
        g_strdup_printf ("sigma: %s has no effect: %s has weights, which are not made from sigma", digits, property));
}

static void
add_idle_anchor (const gchar *property, gint anchor, const ConvolvePreset *preset, GPtrArray *sentences)
{
  if (anchor != -1 && preset)
    g_ptr_array_add (sentences,
        g_strdup_printf (
            "%s: %d has no effect: the preset %s in mask has its middle on the pixel; weights have anchors", property,
            anchor, preset->name));
}

static void
add_idle_absolute (gboolean absolute, const ConvolvePreset *preset, GPtrArray *sentences)
{
  if (absolute && preset && preset->combination != CONVOLVE_SUM)
    g_ptr_array_add (sentences,
        g_strdup_printf ("absolute: true has no effect: the preset %s in mask combines several masks, and its values "
                         "are never negative",
            preset->name));
}

/* Finds the property that gives the mask, and the preset, which is NULL for weights. FALSE where there is an error. */
static gboolean
find_preset (const ConvolveSettings *settings, const gchar **property, const ConvolvePreset **preset)
{
  ConvolveSource source;
  gdouble argument;

  *property = "mask";
  *preset = NULL;
  if (!convolve_source_find (settings, &source, NULL))
    return FALSE;
  *property = convolve_source_property (source, settings);
  return source != CONVOLVE_SOURCE_PRESET || convolve_preset_parse (mask_of (settings), preset, &argument, NULL);
}

/* Settings with an error get no sentence, because the error is reported. */
void
convolve_settings_add_idle (const ConvolveSettings *settings, GPtrArray *sentences)
{
  const ConvolvePreset *preset;
  const gchar *property;

  if (!find_preset (settings, &property, &preset))
    return;
  add_idle_sigma (settings, property, preset, sentences);
  add_idle_anchor ("anchor-x", settings->anchor_x, preset, sentences);
  add_idle_anchor ("anchor-y", settings->anchor_y, preset, sentences);
  add_idle_absolute (settings->absolute, preset, sentences);
}

/* --- the blur of a region --- */

gboolean
convolve_settings_set_blur (ConvolveSettings *settings, gdouble sigma, GError **error)
{
  const ConvolvePreset *preset;
  const gchar *property;
  gboolean is_box;

  find_preset (settings, &property, &preset);
  is_box = preset && g_str_equal (preset->name, "box");
  if (!is_box && !(preset && g_str_equal (preset->name, "gaussian"))) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS,
        "region-strength: %s %s has no strength; gaussian and box have one, and region-strength=-1 takes every mask",
        preset ? preset->name : "the mask from", preset ? "in mask" : property);
    return FALSE;
  }
  settings->mask_height = 0;
  settings->divisor = 0;
  settings->anchor_x = settings->anchor_y = -1;
  settings->flip = settings->absolute = FALSE;
  settings->mix = 1;
  settings->bias = 0;
  if (is_box) {
    /* w equal taps have the variance (w^2 - 1) / 12. */
    settings->mask_width = (guint) ceil (sqrt (12 * sigma * sigma + 1)) | 1;
    settings->sigma = -1;
  } else {
    /* The step where a mask ends at 3 sigma lets a face come back from samples of 16 bits (tests/results/undo.md). */
    settings->mask_width = 2 * (guint) ceil (4 * sigma) + 1;
    settings->sigma = sigma;
  }
  return TRUE;
}
