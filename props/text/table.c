/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads texts in files: what semicolons mean as spreadsheets write them, comments, and libvips' header. */
#include "text/table.h"

#include <math.h>
#include <string.h>

#include "text/grid_reader.h"
#include "text/token.h"

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
      const gchar *next = convolve_grid_skip_blanks (text + 1);

      *text = *next == '\n' || *next == '\0' ? ' ' : ',';
    }
}

/*
 * Decides what the semicolons of a file mean. In several lines of single values with semicolons between, as
 * spreadsheets write them, a semicolon splits values. Otherwise it ends a row, as in the property mask.
 */
static gboolean
settle_semicolons (ConvolveGridReader *reader, gchar *text, GError **error)
{
  gchar *colon = strchr (text, ':'), *body = colon ? colon + 1 : text;
  Lines lines = look_at_lines (body);
  g_autofree gchar *decimal = lines.decimal, *quoted = NULL, *place = NULL;
  gboolean table = lines.inner && lines.alone;

  if (table && lines.lines == 1) {
    const gchar *start = convolve_token_skip_space (body), *end = convolve_token_trim_end (text, colon ? colon : text);

    if (!colon) {
      quoted = convolve_token_quote (start, convolve_token_trim_end (start, start + strlen (start)) - start);
      return convolve_grid_fail (reader->name, error,
          "%s may be a row or a column: write a row with commas, or a shape such as 1x3: in front of a column", quoted);
    }
    table = end - text >= 2 && end[-2] == 'x' && end[-1] == '1'; /* the shape of a row */
  }
  if (lines.inner && !lines.alone && lines.lines > 1 && decimal) {
    quoted = convolve_token_quote (decimal, strlen (decimal));
    place = convolve_grid_place_of (reader, lines.where);
    return convolve_grid_fail (reader->name, error,
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
read_below_header (const ConvolveGridReader *reader, Header *header, gboolean *complete)
{
  g_autoptr (ConvolveGrid) first = convolve_grid_new (0, 0), rows = convolve_grid_new (0, 0);
  ConvolveGridReader top = *reader, below = *reader;
  const gchar *p = convolve_token_skip_space (reader->text);

  top.rows = first;
  below.rows = rows;
  if (strchr (p, ':') || !convolve_grid_read_row (&top, &p, NULL) || !read_header (first, header) || *p != '\n'
      || *convolve_token_skip_space (p) == '\0')
    return NULL;
  *complete = convolve_grid_read_rows (&below, convolve_token_skip_space (p), NULL) && rows->rows == header->height;
  rows->divisor = header->scale;
  rows->any_size = TRUE;
  return rows->columns == header->width ? g_steal_pointer (&rows) : NULL;
}

/* Checks what a header says beside the size. Three numbers may be the first row of a mask of three columns, too. */
static gboolean
check_header (const ConvolveGridReader *reader, const Header *header, GError **error)
{
  g_autofree gchar *place = convolve_grid_place_of (reader, convolve_token_skip_space (reader->text));
  gchar digits[2][G_ASCII_DTOSTR_BUF_SIZE];

  if (header->numbers == header->width && header->width % 2 == 1 && header->height % 2 == 0)
    return convolve_grid_fail (reader->name, error,
        "row 1 (%s) may be a header of libvips or a row of weights: write the offset 0 behind the scale of a header, or "
        "%ux%u: in front of weights",
        place, header->width, header->height + 1);
  if (header->offset == 0)
    return TRUE;
  return convolve_grid_fail (reader->name, error,
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

/* --- from a file to rows --- */

static ConvolveGrid *
parse_file (ConvolveGridReader *reader, gchar *text, GError **error)
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
  if (convolve_grid_read_text (reader, error)) {
    reader->rows->flat = reader->rows->rows == 1;
    return convolve_grid_ref (reader->rows);
  }
  if (below)
    mention_header (&header, error);
  return NULL;
}

ConvolveGrid *
convolve_table_parse (const gchar *name, const gchar *text, GError **error)
{
  g_autoptr (ConvolveGrid) rows = convolve_grid_new (0, 0);
  g_autofree gchar *copy = g_strdup (text);
  ConvolveGridReader reader = { .name = name,
    .origin = CONVOLVE_GRID_FILE,
    .text = copy,
    .comma = "comma",
    .rows = rows };

  return convolve_grid_check_length (name, text, error) ? parse_file (&reader, copy, error) : NULL;
}
