/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads arrays of numbers in NumPy's file format, versions 1.0 to 3.0. */
#ifndef CONVOLVE_NPY_H
#define CONVOLVE_NPY_H

#include <glib.h>

#define CONVOLVE_NPY_MAX_DIMENSIONS 32 /* as NumPy has it */

typedef struct
{
  guint n_dimensions;
  guint64 shape[CONVOLVE_NPY_MAX_DIMENSIONS];
  gsize count;            /* product of the shape */
  gboolean fortran_order; /* the first dimension runs fastest; otherwise the last */
  gfloat *values;         /* of convolve_npy_read() */
  gdouble *numbers;       /* of convolve_npy_read_numbers() */
} ConvolveNpy;

/*
 * Reads an array of float16, float32 or float64, in either byte order and in C's order of dimensions, as float32. Returns NULL, and the caller clears
 * *array; or a text that says what is wrong, to be freed. Memory is allocated only after a check that the bytes hold as
 * many values as the shape says.
 */
gchar *convolve_npy_read (const guint8 *bytes, gsize size, ConvolveNpy *array);

/*
 * The same for an array of floats or integers of any size up to 8 bytes, with or without a sign, in either order of
 * bytes and of dimensions, as double. An integer that double does not hold is a fault.
 */
gchar *convolve_npy_read_numbers (const guint8 *bytes, gsize size, ConvolveNpy *array);
void convolve_npy_clear (ConvolveNpy *array);

/* Whether the bytes begin as such a file. */
gboolean convolve_npy_is_one (const guint8 *bytes, gsize size);

/* The shape as NumPy writes it, to be freed. */
gchar *convolve_npy_shape (const ConvolveNpy *array);

#endif
