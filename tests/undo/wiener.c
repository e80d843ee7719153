/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "undo/attack.h"

#define ROUNDS 3

/* A square of n x n samples, n a power of two. */
typedef struct
{
  gint n;
  double complex *at, *turn; /* turn: the roots of unity, n / 2 of them */
} Square;

static Square
square_new (gint n)
{
  Square square = { n, g_new0 (double complex, (gsize) n *n), g_new (double complex, n / 2) };

  for (gint i = 0; i < n / 2; i++)
    square.turn[i] = cexp (-2 * G_PI * I * i / n);
  return square;
}

static void
square_clear (Square *square)
{
  g_free (square->at);
  g_free (square->turn);
}

/* Without the cases of infinity that C's product looks for. Older versions of glibc have CMPLX() for gcc alone. */
static double complex
product (double complex a, double complex b)
{
  return creal (a) * creal (b) - cimag (a) * cimag (b) + (creal (a) * cimag (b) + cimag (a) * creal (b)) * I;
}

/* Cooley and Tukey's transform of a line, in place, without a factor. */
static void
transform_line (double complex *line, gint n, const double complex *turn, gboolean back)
{
  for (gint i = 1, k = 0; i < n; i++) {
    gint bit = n / 2;

    for (; k & bit; bit /= 2)
      k ^= bit;
    k ^= bit;
    if (i < k) {
      double complex other = line[i];

      line[i] = line[k];
      line[k] = other;
    }
  }
  for (gint half = 1; half < n; half *= 2)
    for (gint start = 0; start < n; start += 2 * half)
      for (gint i = 0; i < half; i++) {
        double complex factor = turn[i * (n / (2 * half))], *at = line + start + i;
        double complex odd = product (at[half], back ? conj (factor) : factor);

        at[half] = at[0] - odd;
        at[0] += odd;
      }
}

/* Both directions; back divides by the number of samples. */
static void
transform (Square *square, gboolean back)
{
  gint n = square->n;
  double complex *column = g_new (double complex, n);

  for (gint y = 0; y < n; y++)
    transform_line (square->at + (gsize) y * n, n, square->turn, back);
  for (gint x = 0; x < n; x++) {
    for (gint y = 0; y < n; y++)
      column[y] = square->at[(gsize) y * n + x];
    transform_line (column, n, square->turn, back);
    for (gint y = 0; y < n; y++)
      square->at[(gsize) y * n + x] = back ? column[y] / ((gdouble) n * n) : column[y];
  }
  g_free (column);
}

/* How one direction answers to each frequency: the mean row of the cover, which is the mask's row. Real, for masks are even. */
static gdouble *
responses (const Matrix *cover, gint start, gint n)
{
  gdouble *answers = g_new0 (gdouble, n);
  gint first = cover->rows / 2 - 4, rows = 8; /* a multiple of the factors of shrinking */

  for (gint f = 0; f < n; f++)
    for (gint i = first; i < first + rows; i++)
      for (gint k = 0; k < cover->columns; k++)
        answers[f] += cover->at[i * cover->columns + k] * cos (2 * G_PI * f * (k - start - i) / n) / rows;
  return answers;
}

typedef struct
{
  const Target *target;
  ConvolveRect place; /* the box in the window */
  gint n;
  gdouble *y, *x; /* responses */
} Window;

static gdouble
response (const Window *window, gint y, gint x)
{
  return window->y[y] * window->x[x];
}

/* The frame around the box, with its outermost pixels repeated, and the estimate in the box. */
static void
fill_window (const Window *window, const Matrix *estimate, Square *square)
{
  const Matrix *frame = &window->target->frame;

  for (gint y = 0; y < window->n; y++)
    for (gint x = 0; x < window->n; x++) {
      gint row = CLAMP (y - window->place.y + window->target->box.y, 0, frame->rows - 1);
      gint column = CLAMP (x - window->place.x + window->target->box.x, 0, frame->columns - 1);

      square->at[(gsize) y * window->n + x] = frame->at[row * frame->columns + column];
    }
  for (gint y = 0; y < window->place.height; y++)
    for (gint x = 0; x < window->place.width; x++)
      square->at[(gsize) (y + window->place.y) * window->n + x + window->place.x] =
          estimate->at[y * estimate->columns + x];
}

/* The covered window, as far as it is known: the box as seen, and around it the convolution of the estimate. */
static void
guess_covered (const Window *window, const Matrix *estimate, Square *square)
{
  const Matrix *seen = &window->target->views[0].seen;

  fill_window (window, estimate, square);
  transform (square, FALSE);
  for (gint y = 0; y < window->n; y++)
    for (gint x = 0; x < window->n; x++)
      square->at[(gsize) y * window->n + x] *= response (window, y, x);
  transform (square, TRUE);
  for (gint y = 0; y < seen->rows; y++)
    for (gint x = 0; x < seen->columns; x++)
      square->at[(gsize) (y + window->place.y) * window->n + x + window->place.x] = seen->at[y * seen->columns + x];
}

static void
filter (const Window *window, gdouble noise, gboolean rising, Matrix *estimate, Square *square)
{
  gint n = window->n;

  transform (square, FALSE);
  for (gint y = 0; y < n; y++)
    for (gint x = 0; x < n; x++) {
      gdouble h = response (window, y, x), cycles = hypot (MIN (y, n - y), MIN (x, n - x)) * window->place.width / n;
      gdouble ratio = rising ? noise * cycles * cycles : y || x ? noise : 0;

      square->at[(gsize) y * n + x] *= y || x ? h / (h * h + ratio) : 1;
    }
  transform (square, TRUE);
  for (gint y = 0; y < estimate->rows; y++)
    for (gint x = 0; x < estimate->columns; x++)
      estimate->at[y * estimate->columns + x] =
          CLAMP (creal (square->at[(gsize) (y + window->place.y) * n + x + window->place.x]), 0, 255);
}

static void
run_rounds (const Window *window, gdouble noise, gboolean rising, Square *square, Judge *judge)
{
  Matrix estimate = matrix_copy (&window->target->views[0].seen);

  for (gint i = 0; i < ROUNDS; i++) {
    guess_covered (window, &estimate, square);
    filter (window, noise, rising, &estimate, square);
    judge_try (judge, &estimate);
  }
  matrix_clear (&estimate);
}

/* Samples from a pixel to the farthest that counts. */
static gint
radius_of (const Matrix *cover, gint start)
{
  gint middle = cover->rows / 2, radius = 0;

  for (gint k = 0; k < cover->columns; k++)
    if (cover->at[middle * cover->columns + k] != 0)
      radius = MAX (radius, abs (k - start - middle));
  return radius;
}

void
attack_by_wiener (const Target *target, Judge *judge)
{
  const Cover *cover = &target->views[0].cover;
  ConvolveRect box = target->box;
  gint n = 64;

  while (n < MAX (box.width, box.height) + 2 * radius_of (&cover->x, box.x))
    n *= 2;
  Window window = { target, { (n - box.width) / 2, (n - box.height) / 2, box.width, box.height }, n,
    responses (&cover->y, box.y, n), responses (&cover->x, box.x, n) };
  Square square = square_new (n);
  for (gint i = 1; i <= 10; i++)
    for (gint rising = 0; rising < 2; rising++)
      run_rounds (&window, pow (10, -i), rising, &square, judge);
  square_clear (&square);
  g_free (window.y);
  g_free (window.x);
}
