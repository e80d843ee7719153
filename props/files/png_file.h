/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PNG files, read by libpng; png_file_none.c stands in where that library is missing. */
#ifndef CONVOLVE_PNG_FILE_H
#define CONVOLVE_PNG_FILE_H

#include "files/image_file.h"

/*
 * Reads a picture of one channel or of four, and of at most most_side pixels a side. NULL, or a text that says what is
 * wrong, to be freed.
 */
gchar *convolve_png_read (const guint8 *bytes, gsize size, guint channels, gint most_side, ConvolveImage *image);

#endif
