/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matrices of doubles, which are pictures too: code values from 0 (black) to 255, row by row. */
#ifndef TESTS_UNDO_MATRIX_H
#define TESTS_UNDO_MATRIX_H

#include <glib.h>

#include "convolve.h"

typedef struct
{
  gint rows, columns;
  gdouble *at; /* owned */
} Matrix;

Matrix matrix_new (gint rows, gint columns); /* zeros */
Matrix matrix_copy (const Matrix *from);
void matrix_clear (Matrix *matrix);

Matrix matrix_times (const Matrix *a, const Matrix *b); /* a b; zeros of a cost little */
Matrix matrix_transpose (const Matrix *a);
Matrix matrix_sandwich (const Matrix *left, const Matrix *middle, const Matrix *right); /* left middle right^T */

/* The part of a matrix, which must lie inside; and the other way. */
Matrix matrix_part (const Matrix *from, ConvolveRect part);
void matrix_paste (Matrix *into, const Matrix *part, gint x, gint y);

/* Rows of cosines (of the DCT-II) or columns of sines (of the DST-I), orthonormal, lowest frequency first. */
Matrix matrix_cosines (gint frequencies, gint size);
Matrix matrix_sines (gint size, gint frequencies);

#endif
