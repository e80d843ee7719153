/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "undo/judge.h"

#include <math.h>

/* Enough cosines for the finest ring. A frequency k of n samples has k / 2 cycles over these samples. */
static gint
frequencies_of (gint size, gint face_width)
{
  return MIN (size, 2 * (JUDGE_MOST_CYCLES + 1) * size / face_width + 1);
}

/* Hann's window. The rim of the box is nothing of the face, and the pixels around the box tell what the rim looks like. */
static gdouble
window (gint i, gint size)
{
  gdouble wave = sin (G_PI * (i + 0.5) / size);

  return wave * wave;
}

/* The spectrum of the difference from the mean, inside the window. */
static Matrix
transform_face (const Judge *judge, const Matrix *picture)
{
  Matrix work = matrix_copy (picture), spectrum;
  gdouble sum = 0, total = 0;

  for (gint y = 0; y < work.rows; y++)
    for (gint x = 0; x < work.columns; x++) {
      gdouble weight = window (y, work.rows) * window (x, work.columns);

      sum += weight * work.at[y * work.columns + x];
      total += weight;
    }
  for (gint y = 0; y < work.rows; y++)
    for (gint x = 0; x < work.columns; x++)
      work.at[y * work.columns + x] =
          window (y, work.rows) * window (x, work.columns) * (work.at[y * work.columns + x] - sum / total);
  spectrum = matrix_sandwich (&judge->rows, &work, &judge->columns);
  matrix_clear (&work);
  return spectrum;
}

Judge
judge_new (const Matrix *original, ConvolveRect face)
{
  Judge judge = { .face = face, .original = matrix_copy (original) };

  judge.rows = matrix_cosines (frequencies_of (face.height, face.width), face.height);
  judge.columns = matrix_cosines (frequencies_of (face.width, face.width), face.width);
  judge.spectrum = transform_face (&judge, original);
  judge_restart (&judge);
  return judge;
}

void
judge_restart (Judge *judge)
{
  judge->best = (Score){ -INFINITY, -1, 0 };
  matrix_clear (&judge->picture);
}

void
judge_clear (Judge *judge)
{
  matrix_clear (&judge->original);
  matrix_clear (&judge->rows);
  matrix_clear (&judge->columns);
  matrix_clear (&judge->spectrum);
  matrix_clear (&judge->picture);
}

static gdouble
psnr (const Matrix *a, const Matrix *b)
{
  gint count = a->rows * a->columns;
  gdouble sum = 0;

  for (gint i = 0; i < count; i++)
    sum += (a->at[i] - b->at[i]) * (a->at[i] - b->at[i]);
  return sum > 0 ? 10 * log10 (255.0 * 255.0 * count / sum) : 99;
}

/* Correlation of the frequencies from low to below high, in cycles per face width; 0 where the estimate has none. */
static gdouble
correlate (const Judge *judge, const Matrix *spectrum, gdouble low, gdouble high)
{
  gdouble product = 0, own = 0, other = 0;

  for (gint y = 0; y < spectrum->rows; y++)
    for (gint x = 0; x < spectrum->columns; x++) {
      gdouble cycles = hypot (y * 0.5 * judge->face.width / judge->face.height, x * 0.5);
      gdouble a = judge->spectrum.at[y * spectrum->columns + x], b = spectrum->at[y * spectrum->columns + x];

      if (cycles < low || cycles >= high)
        continue;
      product += a * b;
      own += a * a;
      other += b * b;
    }
  return own > 0 && other > 1e-6 ? product / sqrt (own * other) : 0;
}

static gint
count_cycles (const Judge *judge, const Matrix *spectrum)
{
  gint most = MIN (JUDGE_MOST_CYCLES, judge->face.width / 2 - 1), cycles = 0;

  while (cycles < most && correlate (judge, spectrum, cycles + 0.5, cycles + 1.5) >= 0.5)
    cycles++;
  return cycles;
}

void
judge_try (Judge *judge, const Matrix *estimate)
{
  Matrix picture = matrix_part (estimate, judge->face), spectrum;
  Score score;

  for (gint i = 0; i < picture.rows * picture.columns; i++)
    picture.at[i] = CLAMP (picture.at[i], 0, 255);
  spectrum = transform_face (judge, &picture);
  score.psnr = psnr (&judge->original, &picture);
  score.correlation = correlate (judge, &spectrum, JUDGE_BAND_LOW, JUDGE_BAND_HIGH);
  score.cycles = count_cycles (judge, &spectrum);
  matrix_clear (&spectrum);

  if (!judge->picture.at || score.psnr > judge->best.psnr) {
    matrix_clear (&judge->picture);
    judge->picture = picture;
  } else {
    matrix_clear (&picture);
  }
  judge->best.psnr = MAX (judge->best.psnr, score.psnr);
  judge->best.correlation = MAX (judge->best.correlation, score.correlation);
  judge->best.cycles = MAX (judge->best.cycles, score.cycles);
}
