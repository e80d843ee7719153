/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads numbers, and the names of presets. convolve_settings_make_mask() in props.h describes the text of mask. */
#ifndef CONVOLVE_PARSE_H
#define CONVOLVE_PARSE_H

#include "presets.h"

/* A token for a message, to be freed: in quotes, shortened, with \xNN for each byte that is not visible text. */
gchar *convolve_parse_quote (const gchar *token, gsize length);

/*
 * Sets an error that begins with the property and the token in quotes, and then has the text. Returns FALSE. code is a
 * value of ConvolvePropsError.
 */
gboolean convolve_parse_fail (GError **error, gint code, const gchar *property, const gchar *token, gsize length,
    const gchar *format, ...) G_GNUC_PRINTF (6, 7);

/*
 * Reads a decimal number. The token ends in front of a character that cannot belong to a number. NULL, or what is wrong
 * with the token, as in "is not a number".
 */
const gchar *convolve_parse_number (const gchar *token, gsize length, gdouble *value);

/* Whether the token has a bracket, in which other languages write lists; and how weights are written instead. */
gboolean convolve_parse_has_bracket (const gchar *token, gsize length);
#define CONVOLVE_PARSE_ROWS "without brackets, rows split by ';' and values by spaces or commas"

/* Whether the text names a preset, rather than lists weights. */
gboolean convolve_parse_is_preset (const gchar *text);

/* Reads NAME or NAME:ARGUMENT. For NAME alone *argument is the preset's default. */
gboolean convolve_parse_preset (const gchar *text, const ConvolvePreset **preset, gdouble *argument, GError **error);

#endif
