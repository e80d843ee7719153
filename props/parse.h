/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of the mask property, as props.h describes it at convolve_settings_make_mask(). */
#ifndef CONVOLVE_PARSE_H
#define CONVOLVE_PARSE_H

#include "presets.h"

/* A token as a message shows it, to be freed: in quotes, shortened, every byte that is not visible text as \xNN. */
gchar *convolve_parse_quote (const gchar *token, gsize length);

/* FALSE where the text is longer than can be meant; to be asked before the functions below. */
gboolean convolve_parse_check_length (const gchar *text, GError **error);

gboolean convolve_parse_is_preset (const gchar *text);

/* NAME or NAME:ARGUMENT; without one *argument is the preset's default. */
gboolean convolve_parse_preset (const gchar *text, const ConvolvePreset **preset, gdouble *argument, GError **error);

/* Weights, divisor 1 and offset 0. mask_width and mask_height are 0 or odd. On FALSE *mask is untouched. */
gboolean convolve_parse_weights (const gchar *text, guint mask_width, guint mask_height, ConvolveMask *mask,
    GError **error);

#endif
