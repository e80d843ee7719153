/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mask properties, turned into the kernel library's ConvolveMask. All are pure functions of their arguments, but for
 * the file of mask-location, which is read once. For any thread and any locale.
 */
#ifndef CONVOLVE_MASK_TEXT_H
#define CONVOLVE_MASK_TEXT_H

#include "settings/mask_settings.h"

G_BEGIN_DECLS

/*
 * Makes the mask for a plane that has one sample for every x_step by y_step luma pixels: 1, 2, 4 or 8 each, and 1 by 1
 * for luma and RGB; in a field, in which every second row is missing, y_step is twice as large. A sized preset is scaled to the plane; weights and 3x3 presets are not.
 *
 * One of mask, weights, mask-location, and mask-x with mask-y gives the mask, and source.h has the rule. The weight at
 * anchor-x, anchor-y lies in the middle of the mask, flip turns the mask around its middle, and mix blends the identity
 * into the mask: see adjust.h.
 *
 * The text of mask is one of the following. White space around the text is ignored.
 *
 *   NAME or NAME:ARGUMENT   a preset; a text that starts with a letter is read so
 *   [WxH:] WEIGHTS          rows split by ';' or a newline, values in a row by white space, one comma, or both
 *
 * A row with a comma without a space, and with a space alone between other values, is refused: "0,5 1" may mean 0.5
 * and 1. A value is a decimal number: a sign, digits with at most one '.', and an exponent after e or E. One ';' or any
 * number of newlines may follow the last row, and a newline may follow each ';'. The text has at most 4 MiB.
 *
 * Several rows must have one length, which is the width. The shape of a single row is the first of these that applies:
 * WxH in front; mask-width and mask-height, where one of them follows from the other and the number of values; a square
 * for n * n values with odd n; one row. An even width or height needs WxH in front.
 *
 * On TRUE the caller clears *mask. On FALSE *mask is untouched, and error (domain CONVOLVE_PROPS_ERROR) names the
 * property, the token and the place of the token: characters, rows and values are counted from 1.
 */
gboolean convolve_settings_make_mask (const ConvolveSettings *settings, guint x_step, guint y_step, ConvolveMask *mask,
    GError **error);

/*
 * Gives the mask, which is the preset gaussian or box, the standard deviation sigma in luma pixels, up to 23. sigma,
 * mask-width and mask-height are replaced; a gaussian ends at 4 sigma, and the width of a box is the least odd one that has the deviation. FALSE with
 * error (CONVOLVE_PROPS_ERROR_REGIONS) where the mask is another one.
 */
gboolean convolve_settings_set_blur (ConvolveSettings *settings, gdouble sigma, GError **error);

/*
 * Adds a sentence, to be freed, for each of sigma, the anchors and absolute that is set and has no effect on the mask.
 */
void convolve_settings_add_idle (const ConvolveSettings *settings, GPtrArray *sentences);

G_END_DECLS

#endif
