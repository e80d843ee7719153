/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property region-boxes: the text of regions as an array. */
#ifndef CONVOLVE_REGION_BOXES_H
#define CONVOLVE_REGION_BOXES_H

#include <glib-object.h>

/*
 * Boxes as the text of the property regions, to be freed, and as an array: one row for each box, of four numbers, or of
 * strings where any number of any box is in per cent. A polygon is a row of x and y of each corner in turn: an even number
 * of values, and at least six. The text is NULL for an empty array. What is no box becomes a text that
 * cannot be read, so that the error of regions names the token; a text that cannot be read becomes an empty array.
 */
gchar *convolve_region_boxes_read (const GValue *array);
void convolve_region_boxes_write (const gchar *regions, GValue *array);

#endif
