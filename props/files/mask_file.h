/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of mask-location. */
#ifndef CONVOLVE_MASK_FILE_H
#define CONVOLVE_MASK_FILE_H

#include "text/grid.h"
#include "files/kept_file.h"

#define CONVOLVE_MAX_MASK_FILE (8 << 20) /* bytes */
#define CONVOLVE_MAX_SHAPE_SIDE 1024     /* pixels of a picture */

/*
 * The content is a ConvolveGrid. A file is one of these:
 *
 *   a picture, whose grey values are weights: PNG (levels 0 to 255), PGM (P5, levels as they are) or PFM (Pf)
 *   a .npy file of two dimensions, rows and columns, with floats or integers
 *   a text in UTF-8: the weights as in the text of mask, where # begins a comment up to the end of the line, and blank
 *   lines do not count. A row may be a line of values with commas, tabs or semicolons between. A semicolon splits values
 *   where all lines have single values between semicolons, and otherwise ends a row.
 *   such a text with a first line more, as libvips writes a matrix: WIDTH HEIGHT [SCALE [OFFSET]], where exactly HEIGHT
 *   rows of WIDTH values follow. SCALE is the divisor, 1 by default, and OFFSET must be 0. Where the first line may also
 *   be a row of a mask of odd width and height, the file is refused.
 *
 * Errors say the line in a text.
 */
extern const ConvolveFileKind convolve_mask_file; /* of mask-location */

#endif
