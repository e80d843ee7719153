/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "masks/shape.h"

#include "masks/adjust.h"

/* One direction of the picture and of the mask. */
typedef struct
{
  gint64 pixels; /* of the picture */
  gint64 side;   /* of the picture in luma pixels */
  gint64 middle; /* where the pixel lies, in halves of a luma pixel from the picture's edge */
  gint64 step;   /* luma pixels of a sample */
  gint64 radius; /* of the mask, in samples */
} Side;

/* --- the size --- */

/* The odd number that is nearest to a * b / c. */
static guint
nearest_odd (guint a, guint b, guint c)
{
  return a * b / (2 * c) * 2 + 1;
}

static gboolean
find_size (const ConvolveGrid *picture, const gchar *name, const ConvolveSettings *settings, guint *width,
    guint *height, GError **error)
{
  const guint columns = picture->columns, rows = picture->rows, most = CONVOLVE_MAX_SIDE;

  *width = settings->mask_width;
  *height = settings->mask_height;
  if (*width == 0 && *height == 0) {
    *width = columns;
    *height = rows;
  } else if (*width == 0) {
    *width = nearest_odd (*height, columns, rows);
  } else if (*height == 0) {
    *height = nearest_odd (*width, rows, columns);
  }
  if (*width <= most && *height <= most)
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_MASK,
      "%s: the picture makes %ux%u weights: set %s to at most %u, and leave %s at 0", name, *width, *height,
      columns >= rows ? "mask-width" : "mask-height", most, columns >= rows ? "mask-height" : "mask-width");
  return FALSE;
}

static gboolean
init_side (const gchar *property, gint anchor, const gchar *what, guint pixels, guint side, guint step, Side *made,
    GError **error)
{
  gint index, radius;

  if (!convolve_adjust_find_anchor (property, anchor, side, what, &index, &radius, error))
    return FALSE;
  *made = (Side){ .pixels = pixels, .side = side, .middle = anchor == -1 ? side : 2 * (guint) index + 1, .step = step };
  made->radius = (MAX (made->middle, 2 * made->side - made->middle) + made->step - 1) / (2 * made->step);
  return TRUE;
}

/* --- the weights --- */

/* Where sample i of the mask begins, and pixel k of the picture, in units of which a luma pixel has 2 * pixels. */
static gint64
sample_at (const Side *side, gint64 i)
{
  return (2 * i - 1) * side->step * side->pixels;
}

static gint64
pixel_at (const Side *side, gint64 k)
{
  return 2 * k * side->side - side->middle * side->pixels;
}

/* The part of pixel k that lies under sample i, in these units. */
static gint64
shared (const Side *side, gint64 i, gint64 k)
{
  gint64 from = MAX (sample_at (side, i), pixel_at (side, k));

  return MAX (MIN (sample_at (side, i + 1), pixel_at (side, k + 1)) - from, 0);
}

/* The first pixel that may lie under sample i. */
static gint64
first_pixel (const Side *side, gint64 i)
{
  return MAX (sample_at (side, i) + side->middle * side->pixels, 0) / (2 * side->side);
}

/* Sums of integers, as of PNG and PGM, are exact here: they stay below 2^53. */
static gdouble
sum_under (const ConvolveGrid *picture, const Side *x, const Side *y, gint64 i, gint64 j)
{
  gdouble sum = 0;

  for (gint64 row = first_pixel (y, j); row < y->pixels && pixel_at (y, row) < sample_at (y, j + 1); row++)
    for (gint64 column = first_pixel (x, i); column < x->pixels && pixel_at (x, column) < sample_at (x, i + 1);
         column++)
      sum += g_array_index (picture->values, gdouble, row * x->pixels + column) * (gdouble) shared (y, j, row)
          * (gdouble) shared (x, i, column);
  return sum;
}

gboolean
convolve_shape_make (const ConvolveGrid *picture, const gchar *name, const ConvolveSettings *settings, guint x_step,
    guint y_step, ConvolveMask *mask, GError **error)
{
  guint width, height;
  ConvolveMask made;
  Side x, y;

  if (!find_size (picture, name, settings, &width, &height, error)
      || !init_side ("anchor-x", settings->anchor_x, "columns", picture->columns, width, x_step, &x, error)
      || !init_side ("anchor-y", settings->anchor_y, "rows", picture->rows, height, y_step, &y, error))
    return FALSE;
  if (!convolve_mask_init (&made, 2 * x.radius + 1, 2 * y.radius + 1)) {
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY, "%s: no memory for %ux%u weights", name,
        width, height);
    return FALSE;
  }
  for (gint j = 0; j < made.height; j++)
    for (gint i = 0; i < made.width; i++)
      made.taps[j * made.width + i] =
          sum_under (picture, &x, &y, i - x.radius, j - y.radius) / (gdouble) (4 * x.side * y.side);
  *mask = made;
  return TRUE;
}
