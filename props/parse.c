/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens, and the names of presets. Each error names the token that is wrong, and its place. */
#include "parse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_QUOTED 32 /* characters of a token that a message shows */

gboolean
convolve_parse_has_bracket (const gchar *token, gsize length)
{
  return strcspn (token, "[](){}<>") < length;
}

/* Sets the error and returns FALSE. */
static gboolean G_GNUC_PRINTF (2, 3) fail (GError **error, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK, format, arguments));
  va_end (arguments);
  return FALSE;
}

gchar *
convolve_parse_quote (const gchar *token, gsize length)
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
convolve_parse_fail (GError **error, gint code, const gchar *property, const gchar *token, gsize length,
    const gchar *format, ...)
{
  g_autofree gchar *quoted = convolve_parse_quote (token, length), *text = NULL;
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
convolve_parse_number (const gchar *token, gsize length, gdouble *value)
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

static const gchar *
skip_space (const gchar *p)
{
  while (g_ascii_isspace (*p))
    p++;
  return p;
}

static const gchar *
trim_end (const gchar *start, const gchar *end)
{
  while (end > start && g_ascii_isspace (end[-1]))
    end--;
  return end;
}

gboolean
convolve_parse_is_preset (const gchar *text)
{
  return g_ascii_isalpha (*skip_space (text));
}

/*
 * The place of p in the text, counted from 1. All text before p was understood and so is ASCII: a byte is a
 * character.
 */
static guint
character_of (const gchar *text, const gchar *p)
{
  return (guint) (p - text) + 1;
}

/* What the user may have meant by a name that is no preset, in front of a semicolon; to be freed. */
static gchar *
make_hint (const gchar *name, gsize length)
{
  g_autofree gchar *nearest = convolve_preset_nearest (name, length);

  if (nearest)
    return g_strdup_printf (" (did you mean %s?)", nearest);
  return g_strdup (convolve_parse_has_bracket (name, length) ? " (weights are written " CONVOLVE_PARSE_ROWS ")" : "");
}

gboolean
convolve_parse_preset (const gchar *text, const ConvolvePreset **preset, gdouble *argument, GError **error)
{
  const gchar *name = skip_space (text), *end = trim_end (name, name + strlen (name));
  const gchar *colon = memchr (name, ':', end - name), *name_end = trim_end (name, colon ? colon : end);
  const ConvolvePreset *found = convolve_preset_find (name, name_end - name);
  const gchar *token, *problem;
  g_autofree gchar *quoted = NULL;
  gdouble value;

  if (!found) {
    g_autofree gchar *list = convolve_preset_list (), *hint = make_hint (name, name_end - name);

    quoted = convolve_parse_quote (name, name_end - name);
    return fail (error, "mask: %s (character %u) is not a preset%s; the presets are %s", quoted,
        character_of (text, name), hint, list);
  }
  if (!colon) {
    *preset = found;
    *argument = found->argument_default;
    return TRUE;
  }

  token = colon + 1 < end ? skip_space (colon + 1) : end;
  quoted = convolve_parse_quote (token, end - token);
  if (!found->argument)
    return fail (error, "mask: %s (character %u) is one argument too many: the preset %s takes none; %s", quoted,
        character_of (text, token), found->name,
        !found->sized                     ? "it is always 3x3"
            : found->radius_in_sigmas > 0 ? "mask-width sets its size, and sigma its strength"
                                          : "mask-width sets its size");
  problem = convolve_parse_number (token, end - token, &value);
  if (!problem
      && (value < found->argument_min || value > found->argument_max
          || (found->argument_interval != 0 && fmod (value - found->argument_min, found->argument_interval) != 0)))
    problem = "is out of range";
  if (problem)
    return fail (error, "mask: %s (character %u) %s: %s takes %s", quoted, character_of (text, token), problem,
        found->name, found->argument);
  *preset = found;
  *argument = value;
  return TRUE;
}
