/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of mask-location: its name, and what was read of it. */
#ifndef CONVOLVE_MASK_FILE_H
#define CONVOLVE_MASK_FILE_H

#include "grid.h"

#define CONVOLVE_MAX_MASK_FILE (1 << 20) /* bytes */

/*
 * Reference counted, for any thread. All copies of the settings share the file, so that it is read once: a change of
 * another property does not read it again. Setting mask-location makes a new one, even with the same name.
 */
typedef struct _ConvolveMaskFile ConvolveMaskFile;

ConvolveMaskFile *convolve_mask_file_new (const gchar *location);
ConvolveMaskFile *convolve_mask_file_ref (ConvolveMaskFile *file);
void convolve_mask_file_unref (ConvolveMaskFile *file);

/* The name of the file as the user wrote it; NULL where file is NULL. */
const gchar *convolve_mask_file_location (const ConvolveMaskFile *file);

/*
 * The weights, to be unreferenced. The first call that succeeds reads the file, which is one of these:
 *
 *   a .npy file of two dimensions, rows and columns, with floats or integers
 *   a text in UTF-8: the weights as in the text of mask, where # begins a comment up to the end of the line, and blank
 *   lines do not count. A row may be a line of values with commas, tabs or semicolons between. A semicolon splits values
 *   where all lines have single values between semicolons, and otherwise ends a row.
 *   such a text with a first line more, as libvips writes a matrix: WIDTH HEIGHT [SCALE [OFFSET]], where exactly HEIGHT
 *   rows of WIDTH values follow. SCALE is the divisor, 1 by default, and OFFSET must be 0. Where the first line may also
 *   be a row of a mask of odd width and height, the file is refused.
 *
 * NULL with error (CONVOLVE_PROPS_ERROR_MASK), which names the file, what is wrong, and the line in a text.
 */
ConvolveGrid *convolve_mask_file_read (ConvolveMaskFile *file, GError **error);

/* Makes the next call of convolve_mask_file_read() read the file again: the element starts. */
void convolve_mask_file_forget (ConvolveMaskFile *file);

/* What messages about the weights begin with, to be freed: the property and the name of the file. */
gchar *convolve_mask_file_name (const ConvolveMaskFile *file);

#endif
