/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recursive-descent parser of weights. Each error names the token that is wrong, and its place. */
#include "text/grid.h"

#include <math.h>
#include <string.h>

#include "text/grid_reader.h"
#include "text/token.h"

#define MAX_TEXT (4 << 20) /* bytes; 255x255 weights of 17 digits need a third of that */
#define MAX_VALUES (CONVOLVE_MAX_SIDE * CONVOLVE_MAX_SIDE)

/* --- the value --- */

static ConvolveGrid *
new_rows (void)
{
  ConvolveGrid *rows = g_atomic_rc_box_new0 (ConvolveGrid);

  rows->values = g_array_new (FALSE, TRUE, sizeof (gdouble));
  return rows;
}

ConvolveGrid *
convolve_grid_new (guint rows, guint columns)
{
  ConvolveGrid *made = new_rows ();

  made->rows = rows;
  made->columns = columns;
  made->any_size = TRUE;
  g_array_set_size (made->values, rows * columns);
  return made;
}

ConvolveGrid *
convolve_grid_ref (ConvolveGrid *rows)
{
  return g_atomic_rc_box_acquire (rows);
}

static void
clear_rows (gpointer data)
{
  g_array_unref (((ConvolveGrid *) data)->values);
}

void
convolve_grid_unref (ConvolveGrid *rows)
{
  g_atomic_rc_box_release_full (rows, clear_rows);
}

/* --- the text --- */

gboolean
convolve_grid_fail (const gchar *name, GError **error, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK, "%s: %s", name, text);
  return FALSE;
}

const gchar *
convolve_grid_skip_blanks (const gchar *p)
{
  while (g_ascii_isspace (*p) && *p != '\n')
    p++;
  return p;
}

gchar *
convolve_grid_place_of (const ConvolveGridReader *reader, const gchar *p)
{
  guint line = 1;

  if (reader->origin != CONVOLVE_GRID_FILE)
    return g_strdup_printf ("character %u", (guint) (p - reader->text) + 1);
  for (const gchar *c = reader->text; c < p; c++)
    line += *c == '\n';
  return g_strdup_printf ("line %u", line);
}

/* Sets an error at p, in the row that is being read, of which so many values were read. Returns FALSE. */
static gboolean
fail_at (const ConvolveGridReader *reader, guint values, const gchar *p, const gchar *what, const gchar *problem,
    GError **error)
{
  g_autofree gchar *place = convolve_grid_place_of (reader, p);

  return convolve_grid_fail (reader->name, error, "%s at row %u, value %u (%s)%s%s", what, reader->rows->rows + 1,
      values + 1, place, problem[0] ? " " : "", problem);
}

/* Reads one side of a shape: 1 to CONVOLVE_MAX_SIDE, otherwise 0. Moves *p behind the digits. */
static guint
parse_side (const gchar **p, const gchar *end)
{
  guint side = 0;

  for (; *p < end && g_ascii_isdigit (**p); (*p)++)
    side = MIN (side * 10 + (**p - '0'), CONVOLVE_MAX_SIDE + 1);
  return side <= CONVOLVE_MAX_SIDE ? side : 0;
}

/* Reads WxH: in front, if there is a colon. Moves *p behind the colon. */
static gboolean
parse_shape (ConvolveGridReader *reader, const gchar **p, GError **error)
{
  const gchar *colon = strchr (*p, ':'), *end, *q = *p;
  ConvolveGrid *rows = reader->rows;

  if (!colon)
    return TRUE;
  end = convolve_token_trim_end (q, colon);
  rows->shape_width = parse_side (&q, end);
  if (q < end && *q == 'x') {
    q++;
    rows->shape_height = parse_side (&q, end);
  }
  if (q != end || rows->shape_width == 0 || rows->shape_height == 0) {
    g_autofree gchar *quoted = convolve_token_quote (*p, end - *p), *place = convolve_grid_place_of (reader, *p);

    return convolve_grid_fail (reader->name, error,
        "%s (%s) before the colon is not a shape such as 5x3, of two numbers from 1 to %d", quoted, place,
        CONVOLVE_MAX_SIDE);
  }
  *p = convolve_token_skip_space (colon + 1);
  return TRUE;
}

/* A comma between two values without a space on either side: perhaps a decimal comma. */
typedef struct
{
  const gchar *start, *end; /* of both values together; NULL where the row has no such comma */
  guint value;              /* index of the first value in the row */
} TightComma;

/* The grammar reads "0,5 1 0,5" as five weights. Readers with a decimal comma mean three, so the row is refused. */
static gboolean
fail_at_comma (const ConvolveGridReader *reader, const TightComma *tight, GError **error)
{
  g_autofree gchar *quoted = convolve_token_quote (tight->start, tight->end - tight->start);

  return fail_at (reader, tight->value, tight->start, quoted,
      "has a comma without a space, and a space alone splits "
      "other values: write a decimal number with a point, or split all values of the row in one way",
      error);
}

/* Sets an error at a comma with no value on one side. Returns FALSE. */
static gboolean
fail_at_gap (const ConvolveGridReader *reader, guint values, const gchar *p, const gchar *format, const gchar *plural,
    GError **error)
{
  g_autofree gchar *what = g_strconcat (format, reader->comma, plural, NULL);

  return fail_at (reader, values, p, what, "", error);
}

/* Adds a row of so many values, which begins at start. */
static gboolean
end_row (ConvolveGridReader *reader, guint values, const gchar *start, GError **error)
{
  g_autofree gchar *place = convolve_grid_place_of (reader, start);
  ConvolveGrid *rows = reader->rows;

  if (values == 0)
    return convolve_grid_fail (reader->name, error, "row %u (%s) is empty", rows->rows + 1, place);
  if (rows->rows > 0 && reader->origin == CONVOLVE_GRID_LIST)
    return convolve_grid_fail (reader->name, error, "row 2 (%s) is one too many: one row of numbers is needed", place);
  if (rows->rows > 0 && values != rows->columns)
    return convolve_grid_fail (reader->name, error, "row %u (%s) and row 1 differ in length: %u and %u values",
        rows->rows + 1, place, values, rows->columns);
  if (rows->rows == CONVOLVE_MAX_SIDE)
    return convolve_grid_fail (reader->name, error, "row %u (%s) is one too many: a mask has at most %d",
        rows->rows + 1, place, CONVOLVE_MAX_SIDE);
  rows->columns = values;
  rows->rows++;
  return TRUE;
}

/* What is wrong with a token that is no number; other languages write lists in brackets. */
static const gchar *
explain_token (const ConvolveGridReader *reader, const gchar *token, gsize length, const gchar *problem)
{
  if (!convolve_token_has_bracket (token, length))
    return problem;
  return reader->origin == CONVOLVE_GRID_LIST
      ? "has a bracket: numbers are written without brackets, split by spaces or commas"
      : "has a bracket: weights are written " CONVOLVE_TOKEN_ROWS;
}

gboolean
convolve_grid_read_row (ConvolveGridReader *reader, const gchar **p, GError **error)
{
  const gchar *start = convolve_grid_skip_blanks (*p), *comma = NULL, *before = NULL, *before_end = NULL, *q;
  TightComma tight = { 0 };
  gboolean spaced = FALSE; /* a space alone splits two values */
  guint values = 0;

  for (q = start; *q != '\0' && *q != '\n' && *q != ';'; q = convolve_grid_skip_blanks (q)) {
    const gchar *token = q, *problem;
    gdouble value;

    if (*q == ',') {
      if (comma)
        return fail_at_gap (reader, values, q, "no value between two ", "s", error);
      if (values == 0)
        return fail_at_gap (reader, values, q, "no value before the ", "", error);
      comma = q++;
      continue;
    }
    q += strcspn (q, " \t\r\f\n,;");
    problem = convolve_token_number (token, q - token, &value);
    if (!problem && reader->rows->values->len == MAX_VALUES)
      problem = "is one too many: a mask has at most 255x255 weights";
    if (problem) {
      g_autofree gchar *quoted = convolve_token_quote (token, q - token);

      return fail_at (reader, values, token, quoted, explain_token (reader, token, q - token, problem), error);
    }
    if (comma && !tight.start && comma == before_end && token == comma + 1)
      tight = (TightComma){ before, q, values - 1 };
    spaced |= before && !comma;
    before = token;
    before_end = q;
    g_array_append_val (reader->rows->values, value);
    values++;
    comma = NULL;
  }
  if (comma)
    return fail_at_gap (reader, values, comma, "no value after the ", "", error);
  if (tight.start && spaced)
    return fail_at_comma (reader, &tight, error);
  *p = q;
  return end_row (reader, values, start, error);
}

gboolean
convolve_grid_read_rows (ConvolveGridReader *reader, const gchar *p, GError **error)
{
  do {
    if (!convolve_grid_read_row (reader, &p, error))
      return FALSE;
    if (*p == ';') {
      const gchar *next = convolve_grid_skip_blanks (p + 1);

      /* A newline after ";" does not end one more row. */
      p = *next == '\n' ? next : p;
    }
    if (*p != '\0')
      p++;
    if (reader->origin == CONVOLVE_GRID_FILE)
      p = convolve_token_skip_space (p);
  } while (*convolve_token_skip_space (p) != '\0');
  return TRUE;
}

gboolean
convolve_grid_read_text (ConvolveGridReader *reader, GError **error)
{
  const gchar *p = convolve_token_skip_space (reader->text);
  gboolean list = reader->origin == CONVOLVE_GRID_LIST;

  if (*p == '\0')
    return convolve_grid_fail (reader->name, error, "the text is empty; %s needed",
        list                                       ? "numbers with spaces or commas between are"
            : reader->origin == CONVOLVE_GRID_FILE ? "weights are"
                                                   : "a preset's name or weights are");
  if (!list && !parse_shape (reader, &p, error))
    return FALSE;
  if (*p == '\0') {
    g_autofree gchar *place = convolve_grid_place_of (reader, p);

    return convolve_grid_fail (reader->name, error, "no weights after the shape (%s)", place);
  }
  return convolve_grid_read_rows (reader, p, error);
}

/* --- from text to rows --- */

gboolean
convolve_grid_check_length (const gchar *name, const gchar *text, GError **error)
{
  gsize length = strlen (text);

  return length <= MAX_TEXT
      || convolve_grid_fail (name, error, "the text has %" G_GSIZE_FORMAT " bytes, more than %d", length, MAX_TEXT);
}

ConvolveGrid *
convolve_grid_parse (const gchar *name, ConvolveGridOrigin origin, const gchar *text, GError **error)
{
  g_autoptr (ConvolveGrid) rows = new_rows ();
  ConvolveGridReader reader = { .name = name, .origin = origin, .text = text, .comma = "comma", .rows = rows };

  rows->any_size = origin == CONVOLVE_GRID_LIST;
  if (!convolve_grid_check_length (name, text, error) || !convolve_grid_read_text (&reader, error))
    return NULL;
  rows->flat = rows->rows == 1 && origin == CONVOLVE_GRID_TEXT;
  return g_steal_pointer (&rows);
}

/* --- from rows to a size --- */

/* Checks a property against the size that the rows have. */
static gboolean
check_against (const gchar *property, guint wanted, const gchar *from, guint found, const gchar *what, GError **error)
{
  if (wanted == 0 || wanted == found)
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER, "%s: %u contradicts %s, %s %u", property,
      wanted, from, what, found);
  return FALSE;
}

/* The shape of several rows is the number of values in a row and the number of rows. */
static gboolean
size_rows (const ConvolveGrid *rows, const ConvolveGridNames *names, guint mask_width, guint mask_height, guint *width,
    guint *height, GError **error)
{
  *width = rows->columns;
  *height = rows->rows;
  if (rows->shape_width != 0 && (rows->shape_width != *width || rows->shape_height != *height))
    return convolve_grid_fail (names->name, error, "the shape %ux%u in front does not fit %u rows of %u values",
        rows->shape_width, rows->shape_height, *height, *width);
  return check_against ("mask-width", mask_width, names->width_from, *width, "whose row length is", error)
      && check_against ("mask-height", mask_height, names->height_from, *height, "whose number of rows is", error);
}

/* The shape of a single row is that of the text, else of the properties, else a square, else one row. */
static gboolean
size_flat (const ConvolveGrid *rows, const ConvolveGridNames *names, guint mask_width, guint mask_height, guint *width,
    guint *height, GError **error)
{
  guint count = rows->columns, root = (guint) (sqrt (count) + 0.5);

  if (rows->shape_width != 0) {
    *width = rows->shape_width;
    *height = rows->shape_height;
    if (*width * *height != count)
      return convolve_grid_fail (names->name, error, "the shape %ux%u in front needs %u values, not %u", *width,
          *height, *width * *height, count);
    return check_against ("mask-width", mask_width, names->width_from, *width, "whose shape in front has width", error)
        && check_against ("mask-height", mask_height, names->height_from, *height, "whose shape in front has height",
            error);
  }

  *width = mask_width;
  *height = mask_height;
  if (*width == 0 && *height == 0) {
    gboolean square = root * root == count;

    if (count % 2 == 0)
      return convolve_grid_fail (names->name, error,
          "a row of %u values makes no mask: width and height must be odd, unless the shape stands in front, as in "
          "%ux1:",
          count, count);
    *width = square ? root : count;
    *height = square ? root : 1;
  } else if (*width == 0) {
    if (count % *height != 0)
      return convolve_grid_fail (names->name, error, "%u values do not make the %u rows that mask-height asks for",
          count, *height);
    *width = count / *height;
  } else if (*height == 0) {
    if (count % *width != 0)
      return convolve_grid_fail (names->name, error, "%u values do not make rows of %u as mask-width asks for", count,
          *width);
    *height = count / *width;
  } else if (*width * *height != count) {
    return convolve_grid_fail (names->name, error,
        "%u values do not make the %ux%u that mask-width and mask-height ask for", count, *width, *height);
  }
  return TRUE;
}

gboolean
convolve_grid_find_size (const ConvolveGrid *rows, const ConvolveGridNames *names, guint mask_width, guint mask_height,
    guint *width, guint *height, GError **error)
{
  if (!(rows->flat ? size_flat : size_rows) (rows, names, mask_width, mask_height, width, height, error))
    return FALSE;
  if (*width > CONVOLVE_MAX_SIDE || *height > CONVOLVE_MAX_SIDE)
    return convolve_grid_fail (names->name, error, "the weights make %ux%u: at most %dx%d is possible", *width, *height,
        CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
  /* A decimal comma makes two values of one, so an even size that nobody asked for may be a mistake. */
  if ((*width % 2 == 0 || *height % 2 == 0) && !rows->any_size && rows->shape_width == 0)
    return convolve_grid_fail (names->name, error,
        "the weights make %ux%u: width and height must be odd, unless the shape stands in front, as in %ux%u:", *width,
        *height, *width, *height);
  return TRUE;
}
