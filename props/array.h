/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The array of the property weights. */
#ifndef CONVOLVE_ARRAY_H
#define CONVOLVE_ARRAY_H

#include "grid.h"

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

/*
 * Boxes as the text of the property regions, to be freed, and as an array: one row for each box, of four numbers, or of
 * strings where any number of any box is in per cent. The text is NULL for an empty array. What is no box becomes a text that
 * cannot be read, so that the error of regions names the token; a text that cannot be read becomes an empty array.
 */
gchar *convolve_array_to_regions (const GValue *array);
void convolve_array_from_regions (const gchar *regions, GValue *array);

#endif
