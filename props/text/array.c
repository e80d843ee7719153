/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "text/array.h"

#include <gst/gst.h>
#include <math.h>
#include <string.h>

#include "text/token.h"

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

/* Bindings that know no GstValueArray make GLib's array, which gst_util_set_object_array () takes. GLib advises against it. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS
static const GValueArray *
get_glib_array (const GValue *value)
{
  return G_VALUE_HOLDS (value, g_value_array_get_type ()) ? g_value_get_boxed (value) : NULL;
}
G_GNUC_END_IGNORE_DEPRECATIONS

/* Lists of Python may come as lists of GStreamer. */
gboolean
convolve_array_is_row (const GValue *value)
{
  return GST_VALUE_HOLDS_ARRAY (value) || GST_VALUE_HOLDS_LIST (value) || get_glib_array (value);
}

guint
convolve_array_count (const GValue *row)
{
  if (get_glib_array (row))
    return get_glib_array (row)->n_values;
  return GST_VALUE_HOLDS_ARRAY (row) ? gst_value_array_get_size (row) : gst_value_list_get_size (row);
}

const GValue *
convolve_array_value (const GValue *row, guint i)
{
  if (get_glib_array (row))
    return &get_glib_array (row)->values[i];
  return GST_VALUE_HOLDS_ARRAY (row) ? gst_value_array_get_value (row, i) : gst_value_list_get_value (row, i);
}

/* --- numbers --- */

static gboolean
is_held (gint64 number)
{
  const gint64 limit = G_GINT64_CONSTANT (1) << 53; /* double holds all integers up to here */

  return number >= -limit && number <= limit;
}

static const gchar *
read_text (const gchar *text, gdouble *number)
{
  return text ? convolve_token_number (text, strlen (text), number) : "is not a number";
}

const gchar *
convolve_array_number (const GValue *value, gdouble *number)
{
  gint64 integer;

  if (GST_VALUE_HOLDS_FRACTION (value)) {
    *number = (gdouble) gst_value_get_fraction_numerator (value) / gst_value_get_fraction_denominator (value);
    return NULL;
  }
  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_DOUBLE:
      *number = g_value_get_double (value) + 0.0; /* makes 0 of -0 */
      return isfinite (*number) ? NULL : "is not finite";
    case G_TYPE_FLOAT:
      *number = g_value_get_float (value) + 0.0;
      return isfinite (*number) ? NULL : "is not finite";
    case G_TYPE_STRING:
      return read_text (g_value_get_string (value), number);
    case G_TYPE_BOOLEAN:
      integer = g_value_get_boolean (value);
      break;
    case G_TYPE_CHAR:
      integer = (gint) g_value_get_schar (value); /* its sign stays */
      break;
    case G_TYPE_UCHAR:
      integer = g_value_get_uchar (value);
      break;
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
      return "is not a number";
  }
  *number = integer;
  return is_held (integer) ? NULL : "is beyond 2^53, and no double";
}

/* --- rows --- */

static gboolean G_GNUC_PRINTF (2, 3) fail (GError **error, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK, "weights: %s", text);
  return FALSE;
}

/* A value with its type, as messages show it, to be freed. */
static gchar *
show (const GValue *value)
{
  g_autofree gchar *content = gst_value_serialize (value);
  g_autofree gchar *quoted = content ? convolve_token_quote (content, strlen (content)) : g_strdup ("a value");

  return g_strdup_printf ("%s (%s)", quoted, G_VALUE_TYPE_NAME (value));
}

static gboolean
read_row (const GValue *row, guint j, ConvolveGrid *grid, GError **error)
{
  for (guint i = 0; i < grid->columns; i++) {
    const GValue *value = convolve_array_value (row, i);
    const gchar *problem = convolve_array_number (value, &g_array_index (grid->values, gdouble, j * grid->columns + i));

    if (problem) {
      g_autofree gchar *shown = show (value);

      return fail (error, "row %u, value %u: %s %s", j + 1, i + 1, shown, problem);
    }
  }
  return TRUE;
}

/* What Python's user is told where GStreamer's bindings for Python may have left numbers out, with a critical. */
#define PYTHON \
  "of a row in Python, Gst.ValueArray keeps the numbers of the first one's type alone: take map(float, row)"

/* The type of all values of the row, or 0 where there are several, as Gst.ValueArray makes none. */
static GType
find_type (const GValue *row)
{
  GType type = G_VALUE_TYPE (convolve_array_value (row, 0));

  for (guint i = 1; i < convolve_array_count (row); i++)
    if (G_VALUE_TYPE (convolve_array_value (row, i)) != type)
      return 0;
  return type;
}

/*
 * Whether numbers may be missing: the width is even, and there is one type in each row, and another one in another row. So
 * the rows [0, 1.5, 0] and [1.5, 4, 1.5] of Python come as <0,0> and <1.5,1.5>.
 */
static gboolean
may_lack_values (const GValue *array, guint columns)
{
  GType first = find_type (gst_value_array_get_value (array, 0));
  gboolean several = FALSE;

  for (guint j = 0; j < gst_value_array_get_size (array); j++) {
    GType type = find_type (gst_value_array_get_value (array, j));

    if (type == 0)
      return FALSE;
    several |= type != first;
  }
  return several && columns % 2 == 0;
}

static gboolean
are_all_zero (const ConvolveGrid *grid)
{
  for (guint i = 0; i < grid->values->len; i++)
    if (g_array_index (grid->values, gdouble, i) != 0)
      return FALSE;
  return TRUE;
}

/* Whether the array is of rows of one length, which is *columns. */
static gboolean
check_rows (const GValue *array, guint *columns, GError **error)
{
  for (guint j = 0; j < gst_value_array_get_size (array); j++) {
    const GValue *row = gst_value_array_get_value (array, j);

    if (!convolve_array_is_row (row)) {
      g_autofree gchar *shown = show (row);

      return fail (error, "row %u: %s is no array of numbers: rows are written as in <<1,2,1>,<2,4,2>,<1,2,1>>", j + 1,
          shown);
    }
    if (convolve_array_count (row) == 0)
      return fail (error, "row %u is empty", j + 1);
    if (j > 0 && convolve_array_count (row) != *columns)
      return fail (error, "row %u and row 1 differ in length: %u and %u values; " PYTHON, j + 1,
          convolve_array_count (row), *columns);
    *columns = convolve_array_count (row);
  }
  return TRUE;
}

ConvolveGrid *
convolve_array_read (const GValue *array, GError **error)
{
  guint height = gst_value_array_get_size (array), width = 0;
  g_autoptr (ConvolveGrid) grid = NULL;

  if (!check_rows (array, &width, error))
    return NULL;
  if (width > CONVOLVE_MAX_SIDE || height > CONVOLVE_MAX_SIDE) {
    fail (error, "%u rows of %u values are too many: at most %d rows of %d values are possible", height, width,
        CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE);
    return NULL;
  }
  if (may_lack_values (array, width)) {
    fail (error,
        "the rows have %u values each, of several types, and some may be missing: write all as floats; " PYTHON, width);
    return NULL;
  }
  grid = convolve_grid_new (height, width);
  for (guint j = 0; j < height; j++)
    if (!read_row (gst_value_array_get_value (array, j), j, grid, error))
      return NULL;
  if (are_all_zero (grid)) {
    fail (error, "all weights are 0, which makes a black picture; " PYTHON);
    return NULL;
  }
  return g_steal_pointer (&grid);
}
