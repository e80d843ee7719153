/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The array of the property weights. */
#ifndef CONVOLVE_ARRAY_H
#define CONVOLVE_ARRAY_H

#include "text/grid.h"

/*
 * A copy of a GstValueArray that all copies of the settings share: never changed, reference counted with
 * g_atomic_rc_box_acquire() and convolve_array_unref(). NULL where the array is empty.
 */
GValue *convolve_array_new (const GValue *array);
void convolve_array_unref (GValue *array);

/*
 * The weights, to be unreferenced: an array of rows, each an array or a list of ints and doubles of any size. NULL with
 * error (CONVOLVE_PROPS_ERROR_MASK), which names the row and the value that is wrong.
 */
ConvolveGrid *convolve_array_read (const GValue *array, GError **error);

/* Parts of an array: whether a value is a row, how many values the row has, and each of them. */
gboolean convolve_array_is_row (const GValue *value);
guint convolve_array_count (const GValue *row);
const GValue *convolve_array_value (const GValue *row, guint i);

/* Reads a number of any type. NULL, or what is wrong with the value; static. */
const gchar *convolve_array_number (const GValue *value, gdouble *number);

#endif
