/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "masks/adjust.h"

#include <float.h>
#include <math.h>

/* --- the anchor --- */

#define MOST_RADIUS (CONVOLVE_MAX_SIDE / 2)

gboolean
convolve_adjust_find_anchor (const gchar *property, gint anchor, gint side, const gchar *what, gint *index,
    gint *radius, GError **error)
{
  if (anchor < -1 || anchor >= side) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
        "%s: %d is not one of the mask's %s: 0 to %d, or -1 for the middle", property, anchor, what, side - 1);
    return FALSE;
  }
  *index = anchor == -1 ? side / 2 : anchor;
  *radius = MAX (*index, side - 1 - *index);
  if (*radius <= MOST_RADIUS)
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER,
      "%s: %d of %d %s is too far from the middle: a side may have %d weights on it, so %d to %d are possible",
      property, anchor, side, what, MOST_RADIUS, side - 1 - MOST_RADIUS, MOST_RADIUS);
  return FALSE;
}

gboolean
convolve_adjust_place (const ConvolveSettings *settings, const gdouble *values, guint width, guint height,
    ConvolveMask *mask, GError **error)
{
  gint x, y, x_radius, y_radius;
  ConvolveMask made;

  if (!convolve_adjust_find_anchor ("anchor-x", settings->anchor_x, width, "columns", &x, &x_radius, error)
      || !convolve_adjust_find_anchor ("anchor-y", settings->anchor_y, height, "rows", &y, &y_radius, error))
    return FALSE;
  if (!convolve_mask_init (&made, 2 * x_radius + 1, 2 * y_radius + 1)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY, "mask: no memory for %ux%u weights",
        width, height);
    return FALSE;
  }
  for (guint j = 0; j < height; j++)
    for (guint i = 0; i < width; i++)
      made.taps[(j + y_radius - y) * made.width + i + x_radius - x] = values[j * width + i];
  *mask = made;
  return TRUE;
}

/* --- flip --- */

void
convolve_adjust_flip (ConvolveMask *mask)
{
  for (gint k = 0; k < convolve_mask_sets (mask); k++) {
    gdouble *taps = convolve_mask_taps (mask, k);

    for (gint i = 0, last = mask->width * mask->height - 1; i < last - i; i++) {
      gdouble tap = taps[i];

      taps[i] = taps[last - i];
      taps[last - i] = tap;
    }
  }
}

/* --- mix --- */

#define MOST_EXACT 9007199254740992.0 /* 2^53: double holds all integers up to here */
#define MOST_DENOMINATOR 1e6          /* of a short fraction */

/*
 * The simplest fraction that is the double `value`, above 0 or equal to 0, by continued fractions. FALSE where that is no
 * short fraction.
 */
static gboolean
find_fraction (gdouble value, gdouble *numerator, gdouble *denominator)
{
  gdouble p0 = 0, q0 = 1, p1 = 1, q1 = 0, rest = value;

  for (guint i = 0; i < 40; i++) {
    gdouble whole = floor (rest), p = whole * p1 + p0, q = whole * q1 + q0;

    if (!(q <= MOST_DENOMINATOR && p <= MOST_EXACT))
      return FALSE;
    if (p / q == value) {
      *numerator = p;
      *denominator = q;
      return TRUE;
    }
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    rest = 1 / (rest - whole);
  }
  return FALSE;
}

/*
 * Mixes integer weights. With mix = p / q and divisor = a / b the result is (p b sum + (q - p) a input) / (q a). FALSE,
 * and the mask is untouched, where these are not all integers that double holds.
 */
static gboolean
mix_integers (ConvolveMask *mask, gdouble mix)
{
  gint count = mask->width * mask->height;
  gdouble p, q, a, b, sign = mask->divisor < 0 ? -1 : 1, most = 0;

  if (!find_fraction (mix, &p, &q) || !find_fraction (fabs (mask->divisor), &a, &b))
    return FALSE;
  for (gint i = 0; i < count; i++) {
    if (mask->taps[i] != floor (mask->taps[i]))
      return FALSE;
    most = MAX (most, fabs (mask->taps[i]));
  }
  if (!(p * b * most + q * a < MOST_EXACT))
    return FALSE;
  for (gint i = 0; i < count; i++)
    mask->taps[i] = p * b * mask->taps[i] + 0.0; /* makes 0 of -0 */
  mask->taps[count / 2] += (q - p) * a * sign;
  mask->divisor = q * a * sign;
  return TRUE;
}

gint
convolve_adjust_count (const ConvolveMask *mask)
{
  return mask->combination == CONVOLVE_GAUSSIAN ? 2 : mask->width * mask->height;
}

void
convolve_adjust_mix (ConvolveMask *mask, gdouble mix)
{
  gint count = convolve_adjust_count (mask);
  gdouble *middle = &mask->taps[mask->width * mask->height / 2], part = (1 - mix) * mask->divisor;

  if (mix == 1)
    return;
  mask->offset *= mix;
  if (mask->combination == CONVOLVE_SUM && mix_integers (mask, mix))
    return;
  for (gint i = 0; i < count; i++)
    mask->taps[i] = mix * mask->taps[i] + 0.0;
  /* Two parts that cancel leave what rounding left of them, and the analysis of the mask must not meet that. */
  if (fabs (*middle + part) <= 4 * DBL_EPSILON * fabs (part))
    *middle = 0;
  else
    *middle += part;
}
