/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "undo/cover.h"

#include <math.h>

#include "convolve_region.h"
#include "masks/mask_text.h"

gchar *
cover_properties (const Setting *setting, ConvolveRect box)
{
  static const gchar *const effects[] = { "region-effect=mask mask=gaussian region-strength=",
    "region-effect=mask mask=box region-strength=", "region-effect=pixelate region-blocks=", "region-effect=fill" };
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE] = "";

  if (setting->effect != EFFECT_FILL)
    g_ascii_formatd (digits, sizeof digits, "%g", setting->amount);
  return g_strdup_printf ("apply-to=regions regions=%d,%d,%d,%d %s%s", box.x, box.y, box.width, box.height,
      effects[setting->effect], digits);
}

/* The blurb of region-strength: strength times the shorter side, rounded up to one of 17 values from 1 to 256. */
gdouble
cover_size (const Setting *setting, ConvolveRect box)
{
  gint side = MIN (box.width, box.height), strength = 0;

  if (setting->effect == EFFECT_FILL)
    return 0;
  if (setting->effect == EFFECT_PIXELATE)
    return ceil (side / setting->amount);
  while (strength < 16 && exp2 (strength / 2.0) < setting->amount * side)
    strength++;
  return exp2 (strength / 2.0);
}

static void
add_at (Matrix *matrix, gint row, gint column, gdouble value)
{
  matrix->at[row * matrix->columns + CLAMP (column, 0, matrix->columns - 1)] += value;
}

/* --- masks --- */

/* A convolution along a line of `size` samples that are repeated outside. */
static Matrix
blur_line (Effect effect, gdouble sigma, gint size)
{
  Matrix blur = matrix_new (size, size);
  ConvolveSettings settings;
  ConvolveMask mask;
  ConvolveBlur vectors;

  convolve_settings_init (&settings);
  g_free (settings.mask);
  settings.mask = g_strdup (effect == EFFECT_BOX ? "box" : "gaussian");
  g_assert_true (convolve_settings_set_blur (&settings, sigma, NULL));
  g_assert_true (convolve_settings_make_mask (&settings, 1, 1, &mask, NULL));
  g_assert_cmpint (convolve_blur_init (&vectors, &mask, 1, NULL), ==, CONVOLVE_OK);
  for (gint i = 0; i < size; i++)
    for (gint k = 0; k < vectors.width; k++)
      add_at (&blur, i, i + k - vectors.width / 2, vectors.row[k] / (gdouble) CONVOLVE_BLUR_SUM);
  convolve_mask_clear (&mask);
  convolve_settings_clear (&settings);
  return blur;
}

/* Means of `factor` samples of the line, whose ends are repeated outside, from small sample `first` on. */
static Matrix
shrink_line (gint factor, gint size, gint first, gint count)
{
  Matrix shrink = matrix_new (count, size);

  for (gint i = 0; i < count; i++)
    for (gint k = 0; k < factor; k++)
      add_at (&shrink, i, (first + i) * factor + k, 1.0 / factor);
  return shrink;
}

/* Linear interpolation between the centres of the small line's samples, of which `first` is the first one. */
static Matrix
grow_line (gint factor, gint first, gint count, ConvolveRect part, gboolean down)
{
  gint start = down ? part.y : part.x, length = down ? part.height : part.width;
  Matrix grow = matrix_new (length, count);

  for (gint i = 0; i < length; i++) {
    gdouble place = (start + i + 0.5) / factor - 0.5 - first;
    gint before = floor (place);

    add_at (&grow, i, before, 1 - (place - before));
    add_at (&grow, i, before + 1, place - before);
  }
  return grow;
}

static Matrix
mask_axis (Effect effect, gdouble sigma, ConvolveRect box, gint size, gboolean down)
{
  /* plugin/regions.md: beyond a sigma of 5.7 the picture is shrunk first, and its edge is repeated around it before. */
  gint factor = sigma < 5.8 ? 1 : 1 << (gint) ceil (log2 (sigma / 5.7)), margin = factor == 1 ? 0 : 200;
  gint count = (size + factor - 1) / factor + 2 * margin;
  Matrix shrink = shrink_line (factor, size, -margin, count), blur = blur_line (effect, sigma / factor, count);
  Matrix grow = grow_line (factor, -margin, count, box, down);
  Matrix half = matrix_times (&grow, &blur), axis = matrix_times (&half, &shrink);

  matrix_clear (&shrink);
  matrix_clear (&blur);
  matrix_clear (&grow);
  matrix_clear (&half);
  return axis;
}

/* --- blocks --- */

/* Blocks begin at the box's corner. The last one may go beyond the box, but not beyond the frame. */
static Matrix
blocks_axis (gint block, gint start, gint length, gint size)
{
  Matrix axis = matrix_new (length, size);

  for (gint i = 0; i < length; i++) {
    gint first = start + i / block * block, end = MIN (first + block, size);

    for (gint k = first; k < end; k++)
      add_at (&axis, i, k, 1.0 / (end - first));
  }
  return axis;
}

/* --- covers --- */

Cover
cover_new (const Setting *setting, ConvolveRect box, gint frame_width, gint frame_height)
{
  gdouble size = cover_size (setting, box);

  switch (setting->effect) {
    case EFFECT_PIXELATE:
      return (Cover){ blocks_axis (size, box.y, box.height, frame_height),
        blocks_axis (size, box.x, box.width, frame_width) };
    case EFFECT_FILL:
      return (Cover){ matrix_new (box.height, frame_height), matrix_new (box.width, frame_width) };
    case EFFECT_GAUSSIAN:
    case EFFECT_BOX:
      break;
  }
  return (Cover){ mask_axis (setting->effect, size, box, frame_height, TRUE),
    mask_axis (setting->effect, size, box, frame_width, FALSE) };
}

void
cover_clear (Cover *cover)
{
  matrix_clear (&cover->y);
  matrix_clear (&cover->x);
}

/* The cubic of Catmull and Rom, at a distance. */
static gdouble
cubic (gdouble distance)
{
  gdouble d = fabs (distance);

  return d < 1 ? (1.5 * d - 2.5) * d * d + 1 : d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
}

void
cover_move_down (Cover *cover, gdouble pixels)
{
  gint size = cover->y.columns;
  Matrix move = matrix_new (size, size), moved;

  for (gint i = 0; i < size; i++) {
    gdouble place = i - pixels;

    for (gint k = floor (place) - 1; k <= floor (place) + 2; k++)
      add_at (&move, i, k, cubic (place - k));
  }
  moved = matrix_times (&cover->y, &move);
  matrix_clear (&move);
  matrix_clear (&cover->y);
  cover->y = moved;
}
