/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unknown is a matrix Z of coefficients of sines, weighted with their expected size W. A view sees
 * known + Y S (W Z) T^T X^T, with S and T the sines. Everything that is needed of a view is (Y S)^T (Y S), likewise for
 * X, and (Y S)^T (seen - known) (X T), so that an iteration costs the same for a small face as for a large one.
 */
#include <math.h>
#include <string.h>

#include "undo/attack.h"

#define ITERATIONS 800 /* for each ratio of noise to signal, which starts where the one before ended */

typedef struct
{
  Matrix down, across; /* sines */
  Matrix weight;       /* expected sizes of coefficients: the amplitude falls with the frequency */
  Matrix surface;      /* the expected picture */
  Matrix *y, *x;       /* of each group of views: products of sines as a view shows them */
  gint n_groups;       /* views of equal x are one group, whose y is the sum */
  Matrix wanted;       /* of all views */
} Problem;

static void
add (Matrix *to, const Matrix *from, gdouble factor)
{
  for (gint i = 0; i < to->rows * to->columns; i++)
    to->at[i] += factor * from->at[i];
}

static void
multiply (Matrix *matrix, const Matrix *by)
{
  for (gint i = 0; i < matrix->rows * matrix->columns; i++)
    matrix->at[i] *= by->at[i];
}

static gdouble
dot (const Matrix *a, const Matrix *b)
{
  gdouble sum = 0;

  for (gint i = 0; i < a->rows * a->columns; i++)
    sum += a->at[i] * b->at[i];
  return sum;
}

/* The frequency of a sine k of n samples is (k + 1) / (2 (n + 1)) cycles a sample. */
static Matrix
expected_sizes (ConvolveRect box, gint rows, gint columns)
{
  Matrix sizes = matrix_new (rows, columns);

  for (gint y = 0; y < rows; y++)
    for (gint x = 0; x < columns; x++)
      sizes.at[y * columns + x] =
          1 / hypot ((y + 1) * 0.5 * box.width / (box.height + 1), (x + 1) * 0.5 * box.width / (box.width + 1));
  return sizes;
}

/* The sines as one direction of a view shows them. */
static Matrix
show_sines (const Matrix *cover, gint start, const Matrix *sines)
{
  Matrix part = matrix_part (cover, (ConvolveRect){ start, 0, sines->rows, cover->rows });
  Matrix shown = matrix_times (&part, sines);

  matrix_clear (&part);
  return shown;
}

/* Takes both matrices. */
static void
group_view (Problem *problem, Matrix y, Matrix x)
{
  for (gint i = 0; i < problem->n_groups; i++)
    if (memcmp (problem->x[i].at, x.at, sizeof (gdouble) * x.rows * x.columns) == 0) {
      add (&problem->y[i], &y, 1);
      matrix_clear (&y);
      matrix_clear (&x);
      return;
    }
  problem->y[problem->n_groups] = y;
  problem->x[problem->n_groups++] = x;
}

static void
add_view (Problem *problem, const Target *target, const View *view)
{
  Matrix frame = matrix_copy (&target->frame), expected, rest, wanted;
  Matrix y = show_sines (&view->cover.y, target->box.y, &problem->down);
  Matrix x = show_sines (&view->cover.x, target->box.x, &problem->across);
  Matrix y_back = matrix_transpose (&y), x_back = matrix_transpose (&x);

  matrix_paste (&frame, &problem->surface, target->box.x, target->box.y);
  expected = matrix_sandwich (&view->cover.y, &frame, &view->cover.x);
  rest = matrix_copy (&view->seen);
  add (&rest, &expected, -1);
  wanted = matrix_sandwich (&y_back, &rest, &x_back);
  add (&problem->wanted, &wanted, 1);
  group_view (problem, matrix_times (&y_back, &y), matrix_times (&x_back, &x));
  matrix_clear (&frame);
  matrix_clear (&expected);
  matrix_clear (&rest);
  matrix_clear (&wanted);
  matrix_clear (&y);
  matrix_clear (&x);
  matrix_clear (&y_back);
  matrix_clear (&x_back);
}

static Problem
problem_new (const Target *target)
{
  ConvolveRect box = target->box;
  gint columns = MIN (box.width, 2 * ATTACK_MOST_CYCLES);
  gint rows = MIN (box.height, 2 * ATTACK_MOST_CYCLES * box.height / box.width);
  Problem problem = {
    .down = matrix_sines (box.height, rows),
    .across = matrix_sines (box.width, columns),
    .weight = expected_sizes (box, rows, columns),
    .surface = attack_surface (target),
    .y = g_new0 (Matrix, target->n_views),
    .x = g_new0 (Matrix, target->n_views),
    .wanted = matrix_new (rows, columns),
  };

  for (gint i = 0; i < target->n_views; i++)
    add_view (&problem, target, &target->views[i]);
  multiply (&problem.wanted, &problem.weight);
  return problem;
}

static void
problem_clear (Problem *problem)
{
  for (gint i = 0; i < problem->n_groups; i++) {
    matrix_clear (&problem->y[i]);
    matrix_clear (&problem->x[i]);
  }
  g_free (problem->y);
  g_free (problem->x);
  matrix_clear (&problem->down);
  matrix_clear (&problem->across);
  matrix_clear (&problem->weight);
  matrix_clear (&problem->surface);
  matrix_clear (&problem->wanted);
}

static Matrix
apply (const Problem *problem, const Matrix *coefficients, gdouble noise)
{
  Matrix weighted = matrix_copy (coefficients), sum = matrix_new (coefficients->rows, coefficients->columns);

  multiply (&weighted, &problem->weight);
  for (gint i = 0; i < problem->n_groups; i++) {
    Matrix shown = matrix_sandwich (&problem->y[i], &weighted, &problem->x[i]);

    add (&sum, &shown, 1);
    matrix_clear (&shown);
  }
  multiply (&sum, &problem->weight);
  add (&sum, coefficients, noise);
  matrix_clear (&weighted);
  return sum;
}

static void
show (const Problem *problem, const Matrix *coefficients, Judge *judge)
{
  Matrix weighted = matrix_copy (coefficients), picture;

  multiply (&weighted, &problem->weight);
  picture = matrix_sandwich (&problem->down, &weighted, &problem->across);
  add (&picture, &problem->surface, 1);
  judge_try (judge, &picture);
  matrix_clear (&weighted);
  matrix_clear (&picture);
}

/* Conjugate gradients from the coefficients on; ends early where nothing is left to gain. */
static void
solve (const Problem *problem, gdouble noise, Matrix *coefficients, Judge *judge)
{
  Matrix rest = matrix_copy (&problem->wanted), direction, now = apply (problem, coefficients, noise);
  gdouble left, enough = 1e-24 * dot (&rest, &rest);

  add (&rest, &now, -1);
  matrix_clear (&now);
  direction = matrix_copy (&rest);
  left = dot (&rest, &rest);
  for (gint i = 1; i <= ITERATIONS && left > enough; i++) {
    Matrix image = apply (problem, &direction, noise);
    gdouble step = left / dot (&direction, &image), before = left;

    add (coefficients, &direction, step);
    add (&rest, &image, -step);
    matrix_clear (&image);
    left = dot (&rest, &rest);
    for (gint k = 0; k < rest.rows * rest.columns; k++)
      direction.at[k] = rest.at[k] + left / before * direction.at[k];
    if (i % 200 == 0)
      show (problem, coefficients, judge);
  }
  show (problem, coefficients, judge);
  matrix_clear (&rest);
  matrix_clear (&direction);
}

void
attack_by_least_squares (const Target *target, Judge *judge)
{
  Problem problem = problem_new (target);
  Matrix coefficients = matrix_new (problem.wanted.rows, problem.wanted.columns);

  for (gint i = 1; i <= 12; i++)
    solve (&problem, pow (10, -i), &coefficients, judge);
  matrix_clear (&coefficients);
  problem_clear (&problem);
}
