/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens in what users write: where they begin and end, numbers, and errors that name them. Any locale. */
#ifndef CONVOLVE_TOKEN_H
#define CONVOLVE_TOKEN_H

#include "text/error.h"

/* The first character that is no white space; and the end without white space before it. */
const gchar *convolve_token_skip_space (const gchar *p);
const gchar *convolve_token_trim_end (const gchar *start, const gchar *end);

/* A token for a message, to be freed: in quotes, shortened, with \xNN for each byte that is not visible text. */
gchar *convolve_token_quote (const gchar *token, gsize length);

/* Sets an error that begins with the property and the token in quotes, and then has the text. Returns FALSE. */
gboolean convolve_token_fail (GError **error, ConvolvePropsError code, const gchar *property, const gchar *token,
    gsize length, const gchar *format, ...) G_GNUC_PRINTF (6, 7);

/*
 * Reads a decimal number. The token ends in front of a character that cannot belong to a number. NULL, or what is wrong
 * with the token, as in "is not a number".
 */
const gchar *convolve_token_number (const gchar *token, gsize length, gdouble *value);

/* Whether the token has a bracket, in which other languages write lists; and how weights are written instead. */
gboolean convolve_token_has_bracket (const gchar *token, gsize length);
#define CONVOLVE_TOKEN_ROWS "without brackets, rows split by ';' and values by spaces or commas"

#endif
