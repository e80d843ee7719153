/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recursive-descent parser of weights. Each error names the token that is wrong, and its place. */
#include "text/grid.h"

#include <math.h>
#include <string.h>

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

/* The text and what was read of it so far. */
typedef struct
{
  const gchar *name;
  ConvolveGridOrigin origin;
  const gchar *text;
  const gchar *comma; /* what stands for a comma in the file: "comma" or "semicolon" */
  ConvolveGrid *rows;
} Reader;

/* Sets the error and returns FALSE. */
static gboolean G_GNUC_PRINTF (3, 4) fail (const gchar *name, GError **error, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK, "%s: %s", name, text);
  return FALSE;
}

static const gchar *
skip_blanks (const gchar *p)
{
  while (g_ascii_isspace (*p) && *p != '\n')
    p++;
  return p;
}

/*
 * The place of p, to be freed: its character counted from 1, or its line where the text is a file. All text before p was
 * understood and so is ASCII: a byte is a character.
 */
static gchar *
place_of (const Reader *reader, const gchar *p)
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
fail_at (const Reader *reader, guint values, const gchar *p, const gchar *what, const gchar *problem, GError **error)
{
  g_autofree gchar *place = place_of (reader, p);

  return fail (reader->name, error, "%s at row %u, value %u (%s)%s%s", what, reader->rows->rows + 1, values + 1, place,
      problem[0] ? " " : "", problem);
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
parse_shape (Reader *reader, const gchar **p, GError **error)
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
    g_autofree gchar *quoted = convolve_token_quote (*p, end - *p), *place = place_of (reader, *p);

    return fail (reader->name, error,
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
fail_at_comma (const Reader *reader, const TightComma *tight, GError **error)
{
  g_autofree gchar *quoted = convolve_token_quote (tight->start, tight->end - tight->start);

  return fail_at (reader, tight->value, tight->start, quoted,
      "has a comma without a space, and a space alone splits "
      "other values: write a decimal number with a point, or split all values of the row in one way",
      error);
}

/* Sets an error at a comma with no value on one side. Returns FALSE. */
static gboolean
fail_at_gap (const Reader *reader, guint values, const gchar *p, const gchar *format, const gchar *plural,
    GError **error)
{
  g_autofree gchar *what = g_strconcat (format, reader->comma, plural, NULL);

  return fail_at (reader, values, p, what, "", error);
}

/* Adds a row of so many values, which begins at start. */
static gboolean
end_row (Reader *reader, guint values, const gchar *start, GError **error)
{
  g_autofree gchar *place = place_of (reader, start);
  ConvolveGrid *rows = reader->rows;

  if (values == 0)
    return fail (reader->name, error, "row %u (%s) is empty", rows->rows + 1, place);
  if (rows->rows > 0 && reader->origin == CONVOLVE_GRID_LIST)
    return fail (reader->name, error, "row 2 (%s) is one too many: one row of numbers is needed", place);
  if (rows->rows > 0 && values != rows->columns)
    return fail (reader->name, error, "row %u (%s) and row 1 differ in length: %u and %u values", rows->rows + 1, place,
        values, rows->columns);
  if (rows->rows == CONVOLVE_MAX_SIDE)
    return fail (reader->name, error, "row %u (%s) is one too many: a mask has at most %d", rows->rows + 1, place,
        CONVOLVE_MAX_SIDE);
  rows->columns = values;
  rows->rows++;
  return TRUE;
}

/* What is wrong with a token that is no number; other languages write lists in brackets. */
static const gchar *
explain_token (const Reader *reader, const gchar *token, gsize length, const gchar *problem)
{
  if (!convolve_token_has_bracket (token, length))
    return problem;
  return reader->origin == CONVOLVE_GRID_LIST
      ? "has a bracket: numbers are written without brackets, split by spaces or commas"
      : "has a bracket: weights are written " CONVOLVE_TOKEN_ROWS;
}

/* Reads the values of one row, and moves *p to its end. */
static gboolean
parse_row (Reader *reader, const gchar **p, GError **error)
{
  const gchar *start = skip_blanks (*p), *comma = NULL, *before = NULL, *before_end = NULL, *q;
  TightComma tight = { 0 };
  gboolean spaced = FALSE; /* a space alone splits two values */
  guint values = 0;

  for (q = start; *q != '\0' && *q != '\n' && *q != ';'; q = skip_blanks (q)) {
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

static gboolean
parse_rows (Reader *reader, const gchar *p, GError **error)
{
  do {
    if (!parse_row (reader, &p, error))
      return FALSE;
    if (*p == ';') {
      const gchar *next = skip_blanks (p + 1);

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

static gboolean
parse_text (Reader *reader, GError **error)
{
  const gchar *p = convolve_token_skip_space (reader->text);
  gboolean list = reader->origin == CONVOLVE_GRID_LIST;

  if (*p == '\0')
    return fail (reader->name, error, "the text is empty; %s needed",
        list                                       ? "numbers with spaces or commas between are"
            : reader->origin == CONVOLVE_GRID_FILE ? "weights are"
                                                   : "a preset's name or weights are");
  if (!list && !parse_shape (reader, &p, error))
    return FALSE;
  if (*p == '\0') {
    g_autofree gchar *place = place_of (reader, p);

    return fail (reader->name, error, "no weights after the shape (%s)", place);
  }
  return parse_rows (reader, p, error);
}

/* --- semicolons in a file --- */

/* What the lines of a file hold, comments and the shape in front left out. */
typedef struct
{
  guint lines;        /* that are not blank */
  gboolean inner;     /* a line has a ';' before its end */
  gboolean alone;     /* each value has a ';' or an end of the line on both sides */
  gchar *decimal;     /* a line that has such a ';' and a comma without a space on either side, or NULL */
  const gchar *where; /* this line in the text */
} Lines;

static gboolean
has_tight_comma (const gchar *line)
{
  for (const gchar *c = line; *c; c++)
    if (*c == ',' && c > line && !g_ascii_isspace (c[-1]) && c[1] && !g_ascii_isspace (c[1]))
      return TRUE;
  return FALSE;
}

/* Takes line, which stands at `where`. */
static void
look_at_line (gchar *line, const gchar *where, Lines *lines)
{
  g_auto (GStrv) pieces = NULL;

  g_strstrip (line);
  if (g_str_has_suffix (line, ";"))
    line[strlen (line) - 1] = '\0';
  lines->lines += line[0] != '\0';
  pieces = g_strsplit (line, ";", -1);
  for (guint i = 0; pieces[i]; i++)
    lines->alone &= strpbrk (g_strstrip (pieces[i]), ", \t\r\f\v") == NULL;
  if (g_strv_length (pieces) > 1) {
    lines->inner = TRUE;
    if (!lines->decimal && has_tight_comma (line)) {
      lines->decimal = g_steal_pointer (&line);
      lines->where = where;
    }
  }
  g_free (line);
}

static Lines
look_at_lines (const gchar *text)
{
  Lines lines = { .alone = TRUE };

  while (*text) {
    gsize length = strcspn (text, "\n");

    look_at_line (g_strndup (text, length), text, &lines);
    text += length + (text[length] != '\0');
  }
  return lines;
}

/* Makes commas of the semicolons, but for those at the end of a line. */
static void
replace_semicolons (gchar *text)
{
  for (; *text; text++)
    if (*text == ';') {
      const gchar *next = skip_blanks (text + 1);

      *text = *next == '\n' || *next == '\0' ? ' ' : ',';
    }
}

/*
 * Decides what the semicolons of a file mean. In several lines of single values with semicolons between, as
 * spreadsheets write them, a semicolon splits values. Otherwise it ends a row, as in the property mask.
 */
static gboolean
settle_semicolons (Reader *reader, gchar *text, GError **error)
{
  gchar *colon = strchr (text, ':'), *body = colon ? colon + 1 : text;
  Lines lines = look_at_lines (body);
  g_autofree gchar *decimal = lines.decimal, *quoted = NULL, *place = NULL;
  gboolean table = lines.inner && lines.alone;

  if (table && lines.lines == 1) {
    const gchar *start = convolve_token_skip_space (body), *end = convolve_token_trim_end (text, colon ? colon : text);

    if (!colon) {
      quoted = convolve_token_quote (start, convolve_token_trim_end (start, start + strlen (start)) - start);
      return fail (reader->name, error,
          "%s may be a row or a column: write a row with commas, or a shape such as 1x3: in front of a column", quoted);
    }
    table = end - text >= 2 && end[-2] == 'x' && end[-1] == '1'; /* the shape of a row */
  }
  if (lines.inner && !lines.alone && lines.lines > 1 && decimal) {
    quoted = convolve_token_quote (decimal, strlen (decimal));
    place = place_of (reader, lines.where);
    return fail (reader->name, error,
        "%s (%s) has semicolons, and a comma without a space: write decimal numbers with a point", quoted, place);
  }
  if (table)
    replace_semicolons (body);
  reader->comma = table ? "semicolon" : "comma";
  reader->rows->any_size = table || !lines.inner;
  return TRUE;
}

/* Makes blanks of comments, so that all places stay. */
static void
blank_comments (gchar *text)
{
  gboolean comment = FALSE;

  for (; *text; text++) {
    comment = *text != '\n' && (comment || *text == '#');
    if (comment)
      *text = ' ';
  }
}

/* --- the header of a matrix of libvips --- */

/* The first line of such a file: width, height, and perhaps scale and offset. */
typedef struct
{
  guint width, height;
  gdouble scale, offset;
  guint numbers;
} Header;

static gboolean
is_side (gdouble number)
{
  return number >= 1 && number <= CONVOLVE_MAX_SIDE && number == floor (number);
}

/* Whether the row reads as a header. */
static gboolean
read_header (const ConvolveGrid *row, Header *header)
{
  const gdouble *numbers = (const gdouble *) row->values->data;

  if (row->columns < 2 || row->columns > 4 || !is_side (numbers[0]) || !is_side (numbers[1]))
    return FALSE;
  *header = (Header){ .width = numbers[0],
    .height = numbers[1],
    .scale = row->columns > 2 ? numbers[2] : 1,
    .offset = row->columns > 3 ? numbers[3] : 0,
    .numbers = row->columns };
  return header->scale != 0;
}

/*
 * Reads the first line of a file as a header, and the rows below. NULL where the line is no header, or the first row is not as
 * wide as a header would say. *complete tells whether all rows are there, and no more.
 */
static ConvolveGrid *
read_below_header (const Reader *reader, Header *header, gboolean *complete)
{
  g_autoptr (ConvolveGrid) first = new_rows (), rows = new_rows ();
  Reader top = *reader, below = *reader;
  const gchar *p = convolve_token_skip_space (reader->text);

  top.rows = first;
  below.rows = rows;
  if (strchr (p, ':') || !parse_row (&top, &p, NULL) || !read_header (first, header) || *p != '\n'
      || *convolve_token_skip_space (p) == '\0')
    return NULL;
  *complete = parse_rows (&below, convolve_token_skip_space (p), NULL) && rows->rows == header->height;
  rows->divisor = header->scale;
  rows->any_size = TRUE;
  return rows->columns == header->width ? g_steal_pointer (&rows) : NULL;
}

/* Checks what a header says beside the size. Three numbers may be the first row of a mask of three columns, too. */
static gboolean
check_header (const Reader *reader, const Header *header, GError **error)
{
  g_autofree gchar *place = place_of (reader, convolve_token_skip_space (reader->text));
  gchar digits[2][G_ASCII_DTOSTR_BUF_SIZE];

  if (header->numbers == header->width && header->width % 2 == 1 && header->height % 2 == 0)
    return fail (reader->name, error,
        "row 1 (%s) may be a header of libvips or a row of weights: write the offset 0 behind the scale of a header, or "
        "%ux%u: in front of weights",
        place, header->width, header->height + 1);
  if (header->offset == 0)
    return TRUE;
  return fail (reader->name, error,
      "row 1 (%s), a header of libvips, has the offset %s: write 0 there, and set bias, which is a share of the range "
      "from black to white, as in %s",
      place, g_ascii_formatd (digits[0], sizeof digits[0], "%g", header->offset),
      g_ascii_formatd (digits[1], sizeof digits[1], "%.3f", header->offset / 255));
}

/* Adds to the error of a table what its first row may be. */
static void
mention_header (const Header *header, GError **error)
{
  gchar *text;

  if (!error || header->numbers == header->width)
    return;
  text = g_strdup_printf ("%s; as a header of libvips, row 1 needs %u rows of %u numbers", (*error)->message,
      header->height, header->width);
  g_free ((*error)->message);
  (*error)->message = text;
}

/* --- from text to rows --- */

static ConvolveGrid *
parse_file (Reader *reader, gchar *text, GError **error)
{
  g_autoptr (ConvolveGrid) below = NULL;
  gboolean complete = FALSE;
  Header header;

  blank_comments (text);
  if (!settle_semicolons (reader, text, error))
    return NULL;
  below = read_below_header (reader, &header, &complete);
  if (below && complete)
    return check_header (reader, &header, error) ? g_steal_pointer (&below) : NULL;
  if (parse_text (reader, error)) {
    reader->rows->flat = reader->rows->rows == 1;
    return convolve_grid_ref (reader->rows);
  }
  if (below)
    mention_header (&header, error);
  return NULL;
}

ConvolveGrid *
convolve_grid_parse (const gchar *name, ConvolveGridOrigin origin, const gchar *text, GError **error)
{
  g_autoptr (ConvolveGrid) rows = new_rows ();
  g_autofree gchar *copy = NULL;
  Reader reader = { .name = name, .origin = origin, .text = text, .comma = "comma", .rows = rows };
  gsize length = strlen (text);

  if (length > MAX_TEXT) {
    fail (name, error, "the text has %" G_GSIZE_FORMAT " bytes, more than %d", length, MAX_TEXT);
    return NULL;
  }
  rows->any_size = origin == CONVOLVE_GRID_LIST;
  if (origin == CONVOLVE_GRID_FILE) {
    reader.text = copy = g_strdup (text);
    return parse_file (&reader, copy, error);
  }
  if (!parse_text (&reader, error))
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
    return fail (names->name, error, "the shape %ux%u in front does not fit %u rows of %u values", rows->shape_width,
        rows->shape_height, *height, *width);
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
      return fail (names->name, error, "the shape %ux%u in front needs %u values, not %u", *width, *height,
          *width * *height, count);
    return check_against ("mask-width", mask_width, names->width_from, *width, "whose shape in front has width", error)
        && check_against ("mask-height", mask_height, names->height_from, *height, "whose shape in front has height",
            error);
  }

  *width = mask_width;
  *height = mask_height;
  if (*width == 0 && *height == 0) {
    gboolean square = root * root == count;

    if (count % 2 == 0)
      return fail (names->name, error,
          "a row of %u values makes no mask: width and height must be odd, unless the shape stands in front, as in "
          "%ux1:",
          count, count);
    *width = square ? root : count;
    *height = square ? root : 1;
  } else if (*width == 0) {
    if (count % *height != 0)
      return fail (names->name, error, "%u values do not make the %u rows that mask-height asks for", count, *height);
    *width = count / *height;
  } else if (*height == 0) {
    if (count % *width != 0)
      return fail (names->name, error, "%u values do not make rows of %u as mask-width asks for", count, *width);
    *height = count / *width;
  } else if (*width * *height != count) {
    return fail (names->name, error, "%u values do not make the %ux%u that mask-width and mask-height ask for", count,
        *width, *height);
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
    return fail (names->name, error, "the weights make %ux%u: at most %dx%d is possible", *width, *height,
        CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
  /* A decimal comma makes two values of one, so an even size that nobody asked for may be a mistake. */
  if ((*width % 2 == 0 || *height % 2 == 0) && !rows->any_size && rows->shape_width == 0)
    return fail (names->name, error,
        "the weights make %ux%u: width and height must be odd, unless the shape stands in front, as in %ux%u:", *width,
        *height, *width, *height);
  return TRUE;
}
