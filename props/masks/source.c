/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "masks/source.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "text/array.h"
#include "files/kept_file.h"
#include "masks/adjust.h"
#include "masks/shape.h"
#include "presets/presets.h"

/* --- which property --- */

static gboolean
is_set (const gchar *text)
{
  return text && text[0];
}

static const gchar *
mask_of (const ConvolveSettings *settings)
{
  return settings->mask ? settings->mask : CONVOLVE_DEFAULT_MASK;
}

/* Whether the source is there. A preset and weights in mask are one source. */
static gboolean
has (ConvolveSource source, const ConvolveSettings *settings)
{
  switch (source) {
    case CONVOLVE_SOURCE_PRESET:
      return FALSE;
    case CONVOLVE_SOURCE_TEXT:
      return !g_str_equal (mask_of (settings), CONVOLVE_DEFAULT_MASK);
    case CONVOLVE_SOURCE_ARRAY:
      return settings->weights != NULL;
    case CONVOLVE_SOURCE_FILE:
      return settings->file != NULL;
    case CONVOLVE_SOURCE_VECTORS:
      return is_set (settings->mask_x) || is_set (settings->mask_y);
  }
  g_return_val_if_reached (FALSE);
}

const gchar *
convolve_source_property (ConvolveSource source, const ConvolveSettings *settings)
{
  switch (source) {
    case CONVOLVE_SOURCE_PRESET:
    case CONVOLVE_SOURCE_TEXT:
      return "mask";
    case CONVOLVE_SOURCE_ARRAY:
      return "weights";
    case CONVOLVE_SOURCE_FILE:
      return "mask-location";
    case CONVOLVE_SOURCE_VECTORS:
      return is_set (settings->mask_x) ? "mask-x" : "mask-y";
  }
  g_return_val_if_reached (NULL);
}

gboolean
convolve_source_find (const ConvolveSettings *settings, ConvolveSource *source, GError **error)
{
  gboolean found = FALSE;

  *source = CONVOLVE_SOURCE_PRESET;
  for (ConvolveSource s = CONVOLVE_SOURCE_TEXT; s <= CONVOLVE_SOURCE_VECTORS; s++) {
    if (found && has (s, settings)) {
      g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK,
          "%s: the mask comes from %s already; set one of mask, weights, mask-location, and mask-x with mask-y, and "
          "leave the others at their defaults",
          convolve_source_property (s, settings), convolve_source_property (*source, settings));
      return FALSE;
    }
    if (has (s, settings)) {
      *source = s;
      found = TRUE;
    }
  }
  if (*source == CONVOLVE_SOURCE_TEXT && convolve_preset_is_named (mask_of (settings)))
    *source = CONVOLVE_SOURCE_PRESET;
  return TRUE;
}

/* --- the weights --- */

/* The rows, and the names for messages, of which *name is to be freed. */
static ConvolveGrid *
read_rows (ConvolveSource source, const ConvolveSettings *settings, gchar **name, GError **error)
{
  *name = source == CONVOLVE_SOURCE_FILE ? convolve_kept_file_name (settings->file)
                                         : g_strdup (convolve_source_property (source, settings));
  switch (source) {
    case CONVOLVE_SOURCE_ARRAY:
      return convolve_array_read (settings->weights, error);
    case CONVOLVE_SOURCE_FILE:
      return convolve_kept_file_read (settings->file, error);
    default:
      return convolve_grid_parse (*name, CONVOLVE_GRID_TEXT, mask_of (settings), error);
  }
}

static gboolean
fail_without_memory (const gchar *property, guint width, guint height, GError **error)
{
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY, "%s: no memory for %ux%u weights", property,
      width, height);
  return FALSE;
}

/* The numbers of mask-x or mask-y; a 1 where the text is not set. */
static ConvolveGrid *
read_vector (const gchar *property, const gchar *text, GError **error)
{
  ConvolveGrid *one;

  if (is_set (text))
    return convolve_grid_parse (property, CONVOLVE_GRID_LIST, text, error);
  one = convolve_grid_new (1, 1);
  g_array_index (one->values, gdouble, 0) = 1;
  return one;
}

static gboolean
multiply (const ConvolveGrid *x, const ConvolveGrid *y, gdouble *values, GError **error)
{
  for (guint j = 0; j < y->columns; j++)
    for (guint i = 0; i < x->columns; i++) {
      gdouble a = g_array_index (x->values, gdouble, i), b = g_array_index (y->values, gdouble, j), product = a * b;

      if (!isfinite (product) || (a != 0 && b != 0 && fabs (product) < DBL_MIN)) {
        g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK,
            "mask-x: value %u times value %u of mask-y is too %s for a weight", i + 1, j + 1,
            isfinite (product) ? "small" : "large");
        return FALSE;
      }
      values[j * x->columns + i] = product + 0.0; /* makes 0 of -0 */
    }
  return TRUE;
}

static gboolean
read_vectors (const ConvolveSettings *settings, gdouble **values, guint *width, guint *height, GError **error)
{
  const gchar *property = convolve_source_property (CONVOLVE_SOURCE_VECTORS, settings);
  const ConvolveGridNames names = { property, property, is_set (settings->mask_y) ? "mask-y" : property };
  g_autoptr (ConvolveGrid) x = read_vector ("mask-x", settings->mask_x, error);
  g_autoptr (ConvolveGrid) y = x ? read_vector ("mask-y", settings->mask_y, error) : NULL;
  ConvolveGrid size;

  if (!y)
    return FALSE;
  size = (ConvolveGrid){ .rows = y->columns, .columns = x->columns, .any_size = TRUE };
  if (!convolve_grid_find_size (&size, &names, settings->mask_width, settings->mask_height, width, height, error))
    return FALSE;
  *values = g_try_new (gdouble, *width * *height);
  if (!*values)
    return fail_without_memory (property, *width, *height, error);
  if (!multiply (x, y, *values, error))
    g_clear_pointer (values, g_free);
  return *values != NULL;
}

/* Makes the mask of rows whose weights stand as the user wrote them, for every plane. */
static gboolean
make_of_rows (const ConvolveGrid *rows, const gchar *name, const gchar *property, const ConvolveSettings *settings,
    ConvolveMask *mask, GError **error)
{
  const ConvolveGridNames names = { name, property, property };
  guint width, height;

  return convolve_grid_find_size (rows, &names, settings->mask_width, settings->mask_height, &width, &height, error)
      && convolve_adjust_place (settings, (const gdouble *) rows->values->data, width, height, mask, error);
}

gboolean
convolve_source_make (ConvolveSource source, const ConvolveSettings *settings, guint x_step, guint y_step,
    ConvolveMask *mask, gdouble *divisor, GError **error)
{
  g_autofree gdouble *values = NULL;
  g_autofree gchar *name = NULL;
  g_autoptr (ConvolveGrid) rows = NULL;
  guint width, height;

  *divisor = 0;
  if (source == CONVOLVE_SOURCE_VECTORS)
    return read_vectors (settings, &values, &width, &height, error)
        && convolve_adjust_place (settings, values, width, height, mask, error);
  rows = read_rows (source, settings, &name, error);
  if (!rows)
    return FALSE;
  *divisor = rows->divisor;
  if (rows->picture)
    return convolve_shape_make (rows, name, settings, x_step, y_step, mask, error);
  return make_of_rows (rows, name, convolve_source_property (source, settings), settings, mask, error);
}
