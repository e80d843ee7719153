/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a text of weights is read, for texts of properties and for files. */
#ifndef CONVOLVE_GRID_READER_H
#define CONVOLVE_GRID_READER_H

#include "text/grid.h"

/* The text and what was read of it so far. */
typedef struct
{
  const gchar *name;
  ConvolveGridOrigin origin;
  const gchar *text;
  const gchar *comma; /* what stands for a comma in the file: "comma" or "semicolon" */
  ConvolveGrid *rows;
} ConvolveGridReader;

/* Sets the error, which begins with the name, and returns FALSE. */
gboolean convolve_grid_fail (const gchar *name, GError **error, const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* Whether the text is short enough to be read. */
gboolean convolve_grid_check_length (const gchar *name, const gchar *text, GError **error);

/* The end of the blanks at p, in the line of p. */
const gchar *convolve_grid_skip_blanks (const gchar *p);

/*
 * The place of p, to be freed: its character counted from 1, or its line where the text is a file. All text before p was
 * understood and so is ASCII: a byte is a character.
 */
gchar *convolve_grid_place_of (const ConvolveGridReader *reader, const gchar *p);

/* Reads the values of one row, and moves *p to its end. */
gboolean convolve_grid_read_row (ConvolveGridReader *reader, const gchar **p, GError **error);

/* Reads all rows from p on. */
gboolean convolve_grid_read_rows (ConvolveGridReader *reader, const gchar *p, GError **error);

/* Reads the whole text, with a shape in front. */
gboolean convolve_grid_read_text (ConvolveGridReader *reader, GError **error);

#endif
