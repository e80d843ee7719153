/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/mask_file.h"

#include <string.h>

#include "files/npy.h"
#include "files/png_file.h"
#include "files/pnm_file.h"
#include "text/table.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* which spreadsheets write in front of UTF-8 */

/* --- arrays --- */

static gchar *
check_array (const ConvolveNpy *array)
{
  g_autofree gchar *shape = convolve_npy_shape (array);

  if (array->n_dimensions != 2)
    return g_strdup_printf ("the shape %s is not (rows, columns): a mask has two dimensions", shape);
  if (array->shape[0] > CONVOLVE_MAX_SIDE || array->shape[1] > CONVOLVE_MAX_SIDE)
    return g_strdup_printf ("the shape %s is larger than (%d, %d)", shape, CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
  return NULL;
}

/* Returns NULL and *rows, or what is wrong, to be freed. */
static gchar *
read_array (const guint8 *bytes, gsize size, ConvolveGrid **rows)
{
  ConvolveNpy array;
  gchar *fault = convolve_npy_read_numbers (bytes, size, &array);

  if (fault)
    return fault;
  fault = check_array (&array);
  if (!fault) {
    guint height = array.shape[0], width = array.shape[1];

    *rows = convolve_grid_new (height, width);
    for (guint j = 0; j < height; j++)
      for (guint i = 0; i < width; i++)
        g_array_index ((*rows)->values, gdouble, j * width + i) =
            array.numbers[array.fortran_order ? i * height + j : j * width + i];
  }
  convolve_npy_clear (&array);
  return fault;
}

/* --- pictures --- */

/* Files of netpbm begin with P and the kind. */
static gboolean
is_picture (const guint8 *bytes, gsize size)
{
  return convolve_png_is_one (bytes, size)
      || (size > 2 && bytes[0] == 'P' && bytes[1] && strchr ("1234567Ff", bytes[1]) && g_ascii_isspace (bytes[2]));
}

static gchar *
read_png (const guint8 *bytes, gsize size, ConvolveGrid **rows)
{
  ConvolveImage image = { 0 };
  gchar *fault = convolve_png_read (bytes, size, 1, CONVOLVE_MAX_SHAPE_SIDE, &image);

  if (fault)
    return fault;
  *rows = convolve_grid_new (image.height, image.width);
  for (guint i = 0; i < (*rows)->values->len; i++)
    g_array_index ((*rows)->values, gdouble, i) = image.values[i];
  g_free (image.values);
  return NULL;
}

static gchar *
read_pgm (const guint8 *bytes, gsize size, ConvolveGrid **rows)
{
  ConvolvePnm pnm;
  gchar *fault = convolve_pnm_read (bytes, size, CONVOLVE_MAX_SHAPE_SIDE, &pnm);

  if (fault)
    return fault;
  *rows = convolve_grid_new (pnm.height, pnm.width);
  for (guint i = 0; i < (*rows)->values->len; i++)
    g_array_index ((*rows)->values, gdouble, i) = convolve_pnm_sample (&pnm, i);
  return NULL;
}

static gchar *
read_pfm (const guint8 *bytes, gsize size, ConvolveGrid **rows)
{
  g_autofree gfloat *values = NULL;
  gint width, height;
  gchar *fault = convolve_pfm_read (bytes, size, CONVOLVE_MAX_SHAPE_SIDE, &width, &height, &values);

  if (fault)
    return fault;
  *rows = convolve_grid_new (height, width);
  for (guint i = 0; i < (*rows)->values->len; i++)
    g_array_index ((*rows)->values, gdouble, i) = values[i] + 0.0; /* makes 0 of -0 */
  return NULL;
}

/* As read_array(). */
static gchar *
read_picture (const guint8 *bytes, gsize size, ConvolveGrid **rows)
{
  gchar *fault;
  gboolean black = TRUE;

  if (convolve_png_is_one (bytes, size))
    fault = read_png (bytes, size, rows);
  else if (bytes[1] == '5')
    fault = read_pgm (bytes, size, rows);
  else if (bytes[1] == 'f')
    fault = read_pfm (bytes, size, rows);
  else
    fault =
        g_strdup_printf ("the picture begins with P%c: take a PNG file, a PGM file (P5) or a PFM file (Pf)", bytes[1]);
  if (fault)
    return fault;
  (*rows)->picture = TRUE;
  for (guint i = 0; i < (*rows)->values->len; i++)
    black &= g_array_index ((*rows)->values, gdouble, i) == 0;
  if (!black)
    return NULL;
  g_clear_pointer (rows, convolve_grid_unref);
  return g_strdup ("all pixels are black, and black is a weight of 0");
}

/* --- texts --- */

/* Returns NULL, or what is wrong with the bytes as a text, to be freed. */
static gchar *
check_text (const gchar *text, gsize size)
{
  const gchar *end;
  guint line = 1;

  if (g_utf8_validate (text, size, &end))
    return NULL;
  for (const gchar *c = text; c < end; c++)
    line += *c == '\n';
  return g_strdup_printf (
      "line %u is not text in UTF-8 (byte 0x%02x), and the file is no .npy file and no picture in PNG, PGM or PFM",
      line, (guint) (guchar) *end);
}

/* --- the file --- */

static gpointer
parse_bytes (const gchar *name, const guint8 *bytes, gsize size, GError **error)
{
  const gchar *text = (const gchar *) bytes;
  ConvolveGrid *rows = NULL;
  g_autofree gchar *fault = NULL;

  if (convolve_npy_is_one (bytes, size))
    fault = read_array (bytes, size, &rows);
  else if (is_picture (bytes, size))
    fault = read_picture (bytes, size, &rows);
  else
    fault = check_text (text, size);
  if (fault)
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK, "%s: %s", name, fault);
  else if (!rows)
    rows = convolve_table_parse (name, text + (g_str_has_prefix (text, BYTE_ORDER_MARK) ? strlen (BYTE_ORDER_MARK) : 0),
        error);
  return rows;
}

static void
unref_rows (gpointer rows)
{
  convolve_grid_unref (rows);
}

const ConvolveFileKind convolve_mask_file = { "mask-location", CONVOLVE_MAX_MASK_FILE, CONVOLVE_PROPS_ERROR_MASK,
  parse_bytes, unref_rows };
