/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is done to the weights on the way to the kernel library, whose masks are odd with the pixel in the middle. */
#ifndef CONVOLVE_ADJUST_H
#define CONVOLVE_ADJUST_H

#include "settings/mask_settings.h"

/*
 * Finds the index of the weight that lies on the pixel, and the radius of the odd mask around that weight, along a side
 * of so many weights, which are rows or columns as `what` says. FALSE with error (CONVOLVE_PROPS_ERROR_NUMBER).
 */
gboolean convolve_adjust_find_anchor (const gchar *property, gint anchor, gint side, const gchar *what, gint *index,
    gint *radius, GError **error);

/*
 * Makes the mask in which the weight at anchor-x, anchor-y lies in the middle: zeros are added on the shorter sides.
 * values are height rows of width. divisor is 1 and offset 0. FALSE with error (CONVOLVE_PROPS_ERROR_NUMBER), which
 * names the anchor, and *mask is untouched.
 */
gboolean convolve_adjust_place (const ConvolveSettings *settings, const gdouble *values, guint width, guint height,
    ConvolveMask *mask, GError **error);

/* Turns each set of the mask by 180 degrees. */
void convolve_adjust_flip (ConvolveMask *mask);

/* The numbers at the start of the taps that add up to the gain: all weights, or the two shares of a Gaussian. */
gint convolve_adjust_count (const ConvolveMask *mask);

/*
 * Makes of a plain mask or a Gaussian the one whose result is (1 - mix) times the input and mix, 0..1, times the result
 * of the mask before. Integer weights with a divisor that is a short fraction stay integers where mix is a short
 * fraction, as 0.25 and 0.3 are.
 */
void convolve_adjust_mix (ConvolveMask *mask, gdouble mix);

#endif
