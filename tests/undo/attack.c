/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "undo/attack.h"

#include <math.h>

void
view_clear (View *view)
{
  cover_clear (&view->cover);
  matrix_clear (&view->seen);
}

void
target_clear (Target *target)
{
  matrix_clear (&target->frame);
  for (gint i = 0; i < target->n_views; i++)
    view_clear (&target->views[i]);
  g_clear_pointer (&target->views, g_free);
}

/* --- the surroundings --- */

/* Successive over-relaxation on the frame, from the mean of the pixels around the box. */
Matrix
attack_surface (const Target *target)
{
  ConvolveRect box = target->box, around = { box.x - 1, box.y - 1, box.width + 2, box.height + 2 };
  Matrix work = matrix_part (&target->frame, around);
  gint stride = around.width, most = MAX (box.width, box.height);
  gdouble factor = 2 / (1 + sin (G_PI / (most + 1))), mean = 0;

  for (gint x = 0; x < stride; x++)
    mean += (work.at[x] + work.at[(around.height - 1) * stride + x]) / (2 * stride);
  for (gint y = 1; y <= box.height; y++)
    for (gint x = 1; x <= box.width; x++)
      work.at[y * stride + x] = mean;
  for (gint sweep = 0; sweep < 4 * most; sweep++)
    for (gint y = 1; y <= box.height; y++)
      for (gint x = 1; x <= box.width; x++) {
        gint i = y * stride + x;

        work.at[i] +=
            factor * ((work.at[i - 1] + work.at[i + 1] + work.at[i - stride] + work.at[i + stride]) / 4 - work.at[i]);
      }
  Matrix surface = matrix_part (&work, (ConvolveRect){ 1, 1, box.width, box.height });
  matrix_clear (&work);
  return surface;
}

void
attack_by_surroundings (const Target *target, Judge *judge)
{
  Matrix surface = attack_surface (target);

  judge_try (judge, &surface);
  matrix_clear (&surface);
}

/* --- Richardson-Lucy --- */

/* The parts of both matrices that meet the unknown pixels. */
static Cover
cut_cover (const Cover *cover, ConvolveRect unknown)
{
  return (Cover){ matrix_part (&cover->y, (ConvolveRect){ unknown.y, 0, unknown.height, cover->y.rows }),
    matrix_part (&cover->x, (ConvolveRect){ unknown.x, 0, unknown.width, cover->x.rows }) };
}

static Cover
transpose_cover (const Cover *cover)
{
  return (Cover){ matrix_transpose (&cover->y), matrix_transpose (&cover->x) };
}

/* What the known pixels contribute to the covered box. */
static Matrix
known_part (const Target *target, const Cover *cover)
{
  Matrix frame = matrix_copy (&target->frame), nothing = matrix_new (target->box.height, target->box.width), known;

  matrix_paste (&frame, &nothing, target->box.x, target->box.y);
  known = matrix_sandwich (&cover->y, &frame, &cover->x);
  matrix_clear (&frame);
  matrix_clear (&nothing);
  return known;
}

static gboolean
is_judged (gint iteration)
{
  return iteration <= 3 || (iteration <= 20 && iteration % 5 == 0) || iteration % 25 == 0;
}

void
attack_by_richardson_lucy (const Target *target, gint iterations, Judge *judge)
{
  const View *view = &target->views[0];
  Matrix known = known_part (target, &view->cover), estimate = matrix_copy (&view->seen), ratio, gain;
  Cover cover = cut_cover (&view->cover, target->box), back = transpose_cover (&cover);
  gint count = estimate.rows * estimate.columns;

  ratio = matrix_copy (&estimate);
  for (gint i = 0; i < count; i++) {
    estimate.at[i] = MAX (estimate.at[i], 1);
    ratio.at[i] = 1;
  }
  gain = matrix_sandwich (&back.y, &ratio, &back.x);
  matrix_clear (&ratio);
  for (gint iteration = 1; iteration <= iterations; iteration++) {
    Matrix again = matrix_sandwich (&cover.y, &estimate, &cover.x), correction;

    for (gint i = 0; i < count; i++)
      again.at[i] = view->seen.at[i] / MAX (again.at[i] + known.at[i], 1e-3);
    correction = matrix_sandwich (&back.y, &again, &back.x);
    for (gint i = 0; i < count; i++)
      estimate.at[i] *= gain.at[i] > 1e-9 ? correction.at[i] / gain.at[i] : 1;
    matrix_clear (&again);
    matrix_clear (&correction);
    if (is_judged (iteration))
      judge_try (judge, &estimate);
  }
  matrix_clear (&known);
  matrix_clear (&estimate);
  matrix_clear (&gain);
  cover_clear (&cover);
  cover_clear (&back);
}

/* --- interpolation --- */

static gdouble
cubic (gdouble distance)
{
  gdouble d = fabs (distance);

  return d < 1 ? (1.5 * d - 2.5) * d * d + 1 : d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
}

/* Weights of the samples of a line, of which one in each block counts. */
static Matrix
cubic_line (gint size, gint block)
{
  Matrix line = matrix_new (size, size);
  gint last = (size - 1) / block;

  for (gint i = 0; i < size; i++) {
    gdouble place = (i + 0.5) / block - 0.5;

    for (gint k = floor (place) - 1; k <= floor (place) + 2; k++)
      line.at[i * size + CLAMP (k, 0, last) * block] += cubic (place - k);
  }
  return line;
}

void
attack_by_interpolation (const Target *target, gint block, Judge *judge)
{
  const Matrix *seen = &target->views[0].seen;
  Matrix down = cubic_line (seen->rows, block), across = cubic_line (seen->columns, block);
  Matrix estimate = matrix_sandwich (&down, seen, &across);

  judge_try (judge, &estimate);
  matrix_clear (&down);
  matrix_clear (&across);
  matrix_clear (&estimate);
}
