/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "undo/matrix.h"

#include <math.h>
#include <string.h>

Matrix
matrix_new (gint rows, gint columns)
{
  return (Matrix){ rows, columns, g_new0 (gdouble, (gsize) rows * columns) };
}

Matrix
matrix_copy (const Matrix *from)
{
  return (
      Matrix){ from->rows, from->columns, g_memdup2 (from->at, sizeof (gdouble) * (gsize) from->rows * from->columns) };
}

void
matrix_clear (Matrix *matrix)
{
  g_free (matrix->at);
  *matrix = (Matrix){ 0 };
}

static void
add_row (gdouble *restrict to, const gdouble *restrict from, gdouble factor, gint count)
{
  for (gint i = 0; i < count; i++)
    to[i] += factor * from[i];
}

Matrix
matrix_times (const Matrix *a, const Matrix *b)
{
  Matrix product = matrix_new (a->rows, b->columns);

  g_assert_cmpint (a->columns, ==, b->rows);
  for (gint i = 0; i < a->rows; i++)
    for (gint k = 0; k < a->columns; k++)
      if (a->at[i * a->columns + k] != 0)
        add_row (product.at + i * b->columns, b->at + k * b->columns, a->at[i * a->columns + k], b->columns);
  return product;
}

Matrix
matrix_transpose (const Matrix *a)
{
  Matrix transposed = matrix_new (a->columns, a->rows);

  for (gint i = 0; i < a->rows; i++)
    for (gint k = 0; k < a->columns; k++)
      transposed.at[k * a->rows + i] = a->at[i * a->columns + k];
  return transposed;
}

Matrix
matrix_sandwich (const Matrix *left, const Matrix *middle, const Matrix *right)
{
  Matrix first = matrix_times (left, middle), turned = matrix_transpose (&first), second, product;

  matrix_clear (&first);
  second = matrix_times (right, &turned);
  product = matrix_transpose (&second);
  matrix_clear (&turned);
  matrix_clear (&second);
  return product;
}

Matrix
matrix_part (const Matrix *from, ConvolveRect part)
{
  Matrix to = matrix_new (part.height, part.width);

  g_assert_true (
      part.x >= 0 && part.y >= 0 && part.x + part.width <= from->columns && part.y + part.height <= from->rows);
  for (gint y = 0; y < part.height; y++)
    memcpy (to.at + y * part.width, from->at + (part.y + y) * from->columns + part.x, sizeof (gdouble) * part.width);
  return to;
}

void
matrix_paste (Matrix *into, const Matrix *part, gint x, gint y)
{
  for (gint row = 0; row < part->rows; row++)
    memcpy (into->at + (y + row) * into->columns + x, part->at + row * part->columns, sizeof (gdouble) * part->columns);
}

Matrix
matrix_cosines (gint frequencies, gint size)
{
  Matrix cosines = matrix_new (frequencies, size);

  for (gint k = 0; k < frequencies; k++)
    for (gint i = 0; i < size; i++)
      cosines.at[k * size + i] = sqrt ((k ? 2.0 : 1.0) / size) * cos (G_PI * (i + 0.5) * k / size);
  return cosines;
}

Matrix
matrix_sines (gint size, gint frequencies)
{
  Matrix sines = matrix_new (size, frequencies);

  for (gint i = 0; i < size; i++)
    for (gint k = 0; k < frequencies; k++)
      sines.at[i * frequencies + k] = sqrt (2.0 / (size + 1)) * sin (G_PI * (i + 1) * (k + 1) / (size + 1));
  return sines;
}
