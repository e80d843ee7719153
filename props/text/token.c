/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "text/token.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_QUOTED 32 /* characters of a token that a message shows */

gboolean
convolve_token_has_bracket (const gchar *token, gsize length)
{
  return strcspn (token, "[](){}<>") < length;
}

gchar *
convolve_token_quote (const gchar *token, gsize length)
{
  GString *quoted = g_string_new ("\"");
  const gchar *end = token + length;

  for (guint shown = 0; token < end; shown++) {
    gunichar character = g_utf8_get_char_validated (token, end - token);

    if (shown == MAX_QUOTED) {
      g_string_append (quoted, "...");
      break;
    }
    if (character == '"' || character == '\\') {
      g_string_append_printf (quoted, "\\%c", *token++);
    } else if (character == ' ' || (character < 0x110000 && g_unichar_isgraph (character))) {
      g_string_append_unichar (quoted, character);
      token = g_utf8_next_char (token);
    } else {
      g_string_append_printf (quoted, "\\x%02x", (guchar) *token++);
    }
  }
  g_string_append_c (quoted, '"');
  return g_string_free (quoted, FALSE);
}

gboolean
convolve_token_fail (GError **error, ConvolvePropsError code, const gchar *property, const gchar *token, gsize length,
    const gchar *format, ...)
{
  g_autofree gchar *quoted = convolve_token_quote (token, length), *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, CONVOLVE_PROPS_ERROR, code, "%s: %s %s", property, quoted, text);
  return FALSE;
}

static const gchar *
skip_digits (const gchar *p, const gchar *end)
{
  while (p < end && g_ascii_isdigit (*p))
    p++;
  return p;
}

/*
 * Whether the token is [+-] digits with at most one '.' [e [+-] digits]. *nonzero tells whether a digit before the
 * exponent is not 0.
 */
static gboolean
is_decimal (const gchar *p, const gchar *end, gboolean *nonzero)
{
  const gchar *start;
  gsize digits;

  if (p < end && (*p == '+' || *p == '-'))
    p++;
  start = p;
  p = skip_digits (p, end);
  digits = p - start;
  if (p < end && *p == '.') {
    const gchar *fraction = p + 1;

    p = skip_digits (fraction, end);
    digits += p - fraction;
  }
  if (digits == 0)
    return FALSE;
  *nonzero = FALSE;
  for (; start < p; start++)
    *nonzero |= *start != '0' && *start != '.';

  if (p < end && (*p == 'e' || *p == 'E')) {
    p++;
    if (p < end && (*p == '+' || *p == '-'))
      p++;
    start = p;
    p = skip_digits (p, end);
    if (p == start)
      return FALSE;
  }
  return p == end;
}

const gchar *
convolve_token_number (const gchar *token, gsize length, gdouble *value)
{
  gboolean nonzero;

  if (!is_decimal (token, token + length, &nonzero))
    return "is not a number";
  *value = g_ascii_strtod (token, NULL); /* reads all of a decimal number, and nothing behind */
  if (!isfinite (*value))
    return "is too large";
  /* A subnormal number has lost digits, and 0 has lost all of them. */
  if (nonzero && fabs (*value) < DBL_MIN)
    return "is too small to be told from 0";
  *value += 0.0; /* makes 0 of -0 */
  return NULL;
}

const gchar *
convolve_token_skip_space (const gchar *p)
{
  while (g_ascii_isspace (*p))
    p++;
  return p;
}

const gchar *
convolve_token_trim_end (const gchar *start, const gchar *end)
{
  while (end > start && g_ascii_isspace (end[-1]))
    end--;
  return end;
}
