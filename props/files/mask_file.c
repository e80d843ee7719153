/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/mask_file.h"

#include <string.h>

#include "files/npy.h"

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
  return g_strdup_printf ("line %u is not text in UTF-8 (byte 0x%02x), and the file is no .npy file", line,
      (guint) (guchar) *end);
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
  else
    fault = check_text (text, size);
  if (fault)
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK, "%s: %s", name, fault);
  else if (!rows)
    rows = convolve_grid_parse (name, CONVOLVE_GRID_FILE,
        text + (g_str_has_prefix (text, BYTE_ORDER_MARK) ? strlen (BYTE_ORDER_MARK) : 0), error);
  return rows;
}

static void
unref_rows (gpointer rows)
{
  convolve_grid_unref (rows);
}

const ConvolveFileKind convolve_mask_file = { "mask-location", CONVOLVE_MAX_MASK_FILE, CONVOLVE_PROPS_ERROR_MASK,
  parse_bytes, unref_rows };
