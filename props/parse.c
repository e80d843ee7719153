/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recursive-descent parser. Each error names the token that is wrong, and its place. */
#include "parse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_TEXT (4 << 20) /* bytes; 255x255 weights of 17 digits need a third of that */
#define MAX_VALUES (CONVOLVE_MAX_SIDE * CONVOLVE_MAX_SIDE)
#define MAX_QUOTED 32 /* characters of a token that a message shows */

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
  gchar *stop;

  if (!is_decimal (token, token + length, &nonzero))
    return "is not a number";
  *value = g_ascii_strtod (token, &stop);
  if (stop != token + length)
    return "is not a number";
  if (!isfinite (*value))
    return "is too large";
  /* A subnormal number has lost digits, and 0 has lost all of them. */
  if (nonzero && fabs (*value) < DBL_MIN)
    return "is too small to be told from 0";
  *value += 0.0; /* makes 0 of -0 */
  return NULL;
}

static gboolean
is_blank (gchar c)
{
  return g_ascii_isspace (c) && c != '\n';
}

static const gchar *
skip_space (const gchar *p)
{
  while (g_ascii_isspace (*p))
    p++;
  return p;
}

static const gchar *
skip_blanks (const gchar *p)
{
  while (is_blank (*p))
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
convolve_parse_check_length (const gchar *text, GError **error)
{
  gsize length = strlen (text);

  if (length > MAX_TEXT)
    return fail (error, "mask: the text has %" G_GSIZE_FORMAT " bytes, more than %d", length, MAX_TEXT);
  return TRUE;
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
    g_autofree gchar *list = convolve_preset_list (), *nearest = convolve_preset_nearest (name, name_end - name);

    quoted = convolve_parse_quote (name, name_end - name);
    return fail (error, "mask: %s (character %u) is not a preset%s%s%s; the presets are %s", quoted,
        character_of (text, name), nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "", list);
  }
  if (!colon) {
    *preset = found;
    *argument = found->argument_default;
    return TRUE;
  }

  token = colon + 1 < end ? skip_space (colon + 1) : end;
  quoted = convolve_parse_quote (token, end - token);
  if (!found->argument)
    return fail (error, "mask: %s (character %u) is one argument too many: the preset %s takes none", quoted,
        character_of (text, token), found->name);
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

/* The weights that were read so far. */
typedef struct
{
  const gchar *text;
  guint mask_width, mask_height;   /* the properties */
  guint shape_width, shape_height; /* of WxH: in front; 0 where there is no shape */
  GArray *values;                  /* gdouble */
  guint rows;                      /* that are complete */
  guint columns;                   /* of the first row */
} Weights;

/* Reads one side of a shape: an odd number up to CONVOLVE_MAX_SIDE, otherwise 0. Moves *p behind the digits. */
static guint
parse_side (const gchar **p, const gchar *end)
{
  guint side = 0;

  for (; *p < end && g_ascii_isdigit (**p); (*p)++)
    side = MIN (side * 10 + (**p - '0'), CONVOLVE_MAX_SIDE + 1);
  return side % 2 == 1 && side <= CONVOLVE_MAX_SIDE ? side : 0;
}

/* Reads WxH: in front, if there is a colon. Moves *p behind the colon. */
static gboolean
parse_shape (Weights *weights, const gchar **p, GError **error)
{
  const gchar *colon = strchr (*p, ':'), *end, *q = *p;

  if (!colon)
    return TRUE;
  end = trim_end (q, colon);
  weights->shape_width = parse_side (&q, end);
  if (q < end && *q == 'x') {
    q++;
    weights->shape_height = parse_side (&q, end);
  }
  if (q != end || weights->shape_width == 0 || weights->shape_height == 0) {
    g_autofree gchar *quoted = convolve_parse_quote (*p, end - *p);

    return fail (error,
        "mask: %s (character %u) before the colon is not a shape such as 5x3, of two odd numbers up to %d", quoted,
        character_of (weights->text, *p), CONVOLVE_MAX_SIDE);
  }
  *p = skip_space (colon + 1);
  return TRUE;
}

/* Sets an error at p, in the row that is being read, of which so many values were read. Returns FALSE. */
static gboolean
fail_at (const Weights *weights, guint values, const gchar *p, const gchar *what, const gchar *problem, GError **error)
{
  return fail (error, "mask: %s at row %u, value %u (character %u)%s%s", what, weights->rows + 1, values + 1,
      character_of (weights->text, p), problem[0] ? " " : "", problem);
}

/* A comma between two values without a space on either side: perhaps a decimal comma. */
typedef struct
{
  const gchar *start, *end; /* of both values together; NULL where the row has no such comma */
  guint value;              /* index of the first value in the row */
} TightComma;

/* The grammar reads "0,5 1 0,5" as five weights. Readers with a decimal comma mean three, so the row is refused. */
static gboolean
fail_at_comma (const Weights *weights, const TightComma *tight, GError **error)
{
  g_autofree gchar *quoted = convolve_parse_quote (tight->start, tight->end - tight->start);

  return fail_at (weights, tight->value, tight->start, quoted,
      "has a comma without a space, and a space alone splits "
      "other values: write a decimal number with a point, or split all values of the row in one way",
      error);
}

/* Reads the values of one row, and moves *p to its end. */
static gboolean
parse_row (Weights *weights, const gchar **p, GError **error)
{
  const gchar *start = skip_blanks (*p), *comma = NULL, *before = NULL, *before_end = NULL, *q;
  TightComma tight = { NULL };
  gboolean spaced = FALSE; /* a space alone splits two values */
  guint values = 0;

  for (q = start; *q != '\0' && *q != '\n' && *q != ';'; q = skip_blanks (q)) {
    const gchar *token = q, *problem;
    gdouble value;

    if (*q == ',') {
      if (comma)
        return fail_at (weights, values, q, "no value between two commas", "", error);
      if (values == 0)
        return fail_at (weights, values, q, "no value before the comma", "", error);
      comma = q++;
      continue;
    }
    q += strcspn (q, " \t\r\f\n,;");
    problem = convolve_parse_number (token, q - token, &value);
    if (!problem && weights->values->len == MAX_VALUES)
      problem = "is one too many: a mask has at most 255x255 weights";
    if (problem) {
      g_autofree gchar *quoted = convolve_parse_quote (token, q - token);

      return fail_at (weights, values, token, quoted, problem, error);
    }
    if (comma && !tight.start && comma == before_end && token == comma + 1)
      tight = (TightComma){ before, q, values - 1 };
    spaced |= before && !comma;
    before = token;
    before_end = q;
    g_array_append_val (weights->values, value);
    values++;
    comma = NULL;
  }
  if (comma)
    return fail_at (weights, values, comma, "no value after the comma", "", error);
  if (tight.start && spaced)
    return fail_at_comma (weights, &tight, error);
  if (values == 0)
    return fail (error, "mask: row %u (character %u) is empty", weights->rows + 1, character_of (weights->text, start));
  if (weights->rows > 0 && values != weights->columns)
    return fail (error, "mask: row %u (character %u) and row 1 differ in length: %u and %u values", weights->rows + 1,
        character_of (weights->text, start), values, weights->columns);
  if (weights->rows == CONVOLVE_MAX_SIDE)
    return fail (error, "mask: row %u (character %u) is one too many: a mask has at most %d", weights->rows + 1,
        character_of (weights->text, start), CONVOLVE_MAX_SIDE);
  weights->columns = values;
  weights->rows++;
  *p = q;
  return TRUE;
}

static gboolean
parse_rows (Weights *weights, const gchar *p, GError **error)
{
  do {
    if (!parse_row (weights, &p, error))
      return FALSE;
    if (*p == ';') {
      const gchar *next = skip_blanks (p + 1);

      /* A newline after ";" does not end one more row. */
      p = *next == '\n' ? next : p;
    }
    if (*p != '\0')
      p++;
  } while (*skip_space (p) != '\0');
  return TRUE;
}

/* Checks a property against the size in the text of mask. */
static gboolean
check_against (const gchar *property, guint wanted, guint found, const gchar *what, GError **error)
{
  if (wanted == 0 || wanted == found)
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER, "%s: %u contradicts mask, %s %u", property,
      wanted, what, found);
  return FALSE;
}

/* The shape of several rows is the number of values in a row and the number of rows. */
static gboolean
shape_rows (const Weights *weights, guint *width, guint *height, GError **error)
{
  *width = weights->columns;
  *height = weights->rows;
  if (weights->shape_width != 0 && (weights->shape_width != *width || weights->shape_height != *height))
    return fail (error, "mask: the shape %ux%u in front does not fit %u rows of %u values", weights->shape_width,
        weights->shape_height, *height, *width);
  return check_against ("mask-width", weights->mask_width, *width, "whose row length is", error)
      && check_against ("mask-height", weights->mask_height, *height, "whose number of rows is", error);
}

/* The shape of a single row is that of the text, else of the properties, else a square, else one row. */
static gboolean
shape_flat (const Weights *weights, guint *width, guint *height, GError **error)
{
  guint count = weights->columns, root = (guint) (sqrt (count) + 0.5);

  if (weights->shape_width != 0) {
    *width = weights->shape_width;
    *height = weights->shape_height;
    if (*width * *height != count)
      return fail (error, "mask: the shape %ux%u in front needs %u values, not %u", *width, *height, *width * *height,
          count);
    return check_against ("mask-width", weights->mask_width, *width, "whose shape in front has width", error)
        && check_against ("mask-height", weights->mask_height, *height, "whose shape in front has height", error);
  }

  *width = weights->mask_width;
  *height = weights->mask_height;
  if (*width == 0 && *height == 0) {
    gboolean square = root * root == count;

    if (count % 2 == 0)
      return fail (error, "mask: a row of %u values makes no mask: width and height must be odd", count);
    *width = square ? root : count;
    *height = square ? root : 1;
  } else if (*width == 0) {
    if (count % *height != 0)
      return fail (error, "mask: %u values do not make the %u rows that mask-height asks for", count, *height);
    *width = count / *height;
  } else if (*height == 0) {
    if (count % *width != 0)
      return fail (error, "mask: %u values do not make rows of %u as mask-width asks for", count, *width);
    *height = count / *width;
  } else if (*width * *height != count) {
    return fail (error, "mask: %u values do not make the %ux%u that mask-width and mask-height ask for", count, *width,
        *height);
  }
  return TRUE;
}

static gboolean
make_weights (Weights *weights, ConvolveMask *mask, GError **error)
{
  const gchar *p = skip_space (weights->text);
  guint width, height;
  ConvolveMask made;

  if (*p == '\0')
    return fail (error, "mask: the text is empty; a preset's name or weights are needed");
  if (!parse_shape (weights, &p, error))
    return FALSE;
  if (*p == '\0')
    return fail (error, "mask: no weights after the shape (character %u)", character_of (weights->text, p));
  if (!parse_rows (weights, p, error)
      || !(weights->rows > 1 ? shape_rows : shape_flat) (weights, &width, &height, error))
    return FALSE;
  if (width % 2 == 0 || height % 2 == 0)
    return fail (error, "mask: the weights make %ux%u: width and height must be odd", width, height);
  if (width > CONVOLVE_MAX_SIDE || height > CONVOLVE_MAX_SIDE)
    return fail (error, "mask: the weights make %ux%u: at most %dx%d is possible", width, height, CONVOLVE_MAX_SIDE,
        CONVOLVE_MAX_SIDE);

  if (!convolve_mask_init (&made, width, height)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY, "mask: no memory for %ux%u weights",
        width, height);
    return FALSE;
  }
  memcpy (made.taps, weights->values->data, sizeof (gdouble) * weights->values->len);
  *mask = made;
  return TRUE;
}

gboolean
convolve_parse_weights (const gchar *text, guint mask_width, guint mask_height, ConvolveMask *mask, GError **error)
{
  Weights weights = { .text = text, .mask_width = mask_width, .mask_height = mask_height };
  gboolean made;

  weights.values = g_array_new (FALSE, FALSE, sizeof (gdouble));
  made = make_weights (&weights, mask, error);
  g_array_unref (weights.values);
  return made;
}
