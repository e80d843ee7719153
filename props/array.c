/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "array.h"

#include <gst/gst.h>
#include <math.h>
#include <string.h>

#include "parse.h"

GValue *
convolve_array_new (const GValue *array)
{
  GValue *copy;

  if (gst_value_array_get_size (array) == 0)
    return NULL;
  copy = g_atomic_rc_box_new0 (GValue);
  g_value_init (copy, GST_TYPE_ARRAY);
  g_value_copy (array, copy);
  return copy;
}

void
convolve_array_unref (GValue *array)
{
  g_atomic_rc_box_release_full (array, (GDestroyNotify) g_value_unset);
}

/* --- arrays and lists --- */

/* Lists of Python may come as lists of GStreamer. */
static gboolean
is_row (const GValue *value)
{
  return GST_VALUE_HOLDS_ARRAY (value) || GST_VALUE_HOLDS_LIST (value);
}

static guint
count_values (const GValue *row)
{
  return GST_VALUE_HOLDS_ARRAY (row) ? gst_value_array_get_size (row) : gst_value_list_get_size (row);
}

static const GValue *
get_value (const GValue *row, guint i)
{
  return GST_VALUE_HOLDS_ARRAY (row) ? gst_value_array_get_value (row, i) : gst_value_list_get_value (row, i);
}

/* --- numbers --- */

static gboolean
is_held (gint64 number)
{
  const gint64 limit = G_GINT64_CONSTANT (1) << 53; /* double holds all integers up to here */

  return number >= -limit && number <= limit;
}

/* Reads a number. NULL, or what is wrong with the value. */
static const gchar *
read_number (const GValue *value, gdouble *number)
{
  gint64 integer;

  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_DOUBLE:
      *number = g_value_get_double (value) + 0.0; /* makes 0 of -0 */
      return isfinite (*number) ? NULL : "is not finite";
    case G_TYPE_FLOAT:
      *number = g_value_get_float (value) + 0.0;
      return isfinite (*number) ? NULL : "is not finite";
    case G_TYPE_INT:
      integer = g_value_get_int (value);
      break;
    case G_TYPE_UINT:
      integer = g_value_get_uint (value);
      break;
    case G_TYPE_LONG:
      integer = g_value_get_long (value);
      break;
    case G_TYPE_INT64:
      integer = g_value_get_int64 (value);
      break;
    case G_TYPE_ULONG:
      integer = MIN (g_value_get_ulong (value), G_MAXLONG);
      break;
    case G_TYPE_UINT64:
      integer = MIN (g_value_get_uint64 (value), G_MAXINT64);
      break;
    default:
      return "is neither an int nor a double";
  }
  *number = integer;
  return is_held (integer) ? NULL : "is beyond 2^53, and no double";
}

/* --- rows --- */

/* Sets an error and returns FALSE. column counts from 1; with 0 the fault is the row's. */
static gboolean
fail (GError **error, guint row, guint column, const GValue *value, const gchar *problem)
{
  g_autofree gchar *content = gst_value_serialize (value);
  g_autofree gchar *quoted = content ? convolve_parse_quote (content, strlen (content)) : NULL, *place = NULL;

  place = column ? g_strdup_printf ("row %u, value %u", row + 1, column) : g_strdup_printf ("row %u", row + 1);
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK, "weights: %s: %s (%s) %s", place,
      quoted ? quoted : "a value", G_VALUE_TYPE_NAME (value), problem);
  return FALSE;
}

static gboolean
read_row (const GValue *row, guint j, ConvolveGrid *rows, GError **error)
{
  for (guint i = 0; i < rows->columns; i++) {
    const GValue *value = get_value (row, i);
    const gchar *problem = read_number (value, &g_array_index (rows->values, gdouble, j * rows->columns + i));

    if (problem)
      return fail (error, j, i + 1, value, problem);
  }
  return TRUE;
}

/* Whether the array is of rows of one length. */
static gboolean
check_rows (const GValue *array, GError **error)
{
  guint columns = 0;

  for (guint j = 0; j < gst_value_array_get_size (array); j++) {
    const GValue *row = gst_value_array_get_value (array, j);
    g_autofree gchar *problem = NULL;

    if (!is_row (row))
      problem = g_strdup ("is no array of numbers: rows are written as in <<1,2,1>,<2,4,2>,<1,2,1>>");
    else if (count_values (row) == 0)
      problem = g_strdup ("is empty");
    else if (j > 0 && count_values (row) != columns)
      problem = g_strdup_printf ("and row 1 differ in length: %u and %u values", count_values (row), columns);
    if (problem)
      return fail (error, j, 0, row, problem);
    columns = count_values (row);
  }
  return TRUE;
}

ConvolveGrid *
convolve_array_read (const GValue *array, GError **error)
{
  guint height = gst_value_array_get_size (array), width;
  g_autoptr (ConvolveGrid) rows = NULL;

  if (!check_rows (array, error))
    return NULL;
  width = count_values (gst_value_array_get_value (array, 0));
  if (width > CONVOLVE_MAX_SIDE || height > CONVOLVE_MAX_SIDE) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK,
        "weights: %u rows of %u values are too many: at most %d rows of %d values are possible", height, width,
        CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
    return NULL;
  }
  rows = convolve_grid_new (height, width);
  for (guint j = 0; j < height; j++)
    if (!read_row (gst_value_array_get_value (array, j), j, rows, error))
      return NULL;
  return g_steal_pointer (&rows);
}
