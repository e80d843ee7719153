/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PNG files, read by libpng; png_file_none.c stands in where that library is missing. */
#ifndef CONVOLVE_PNG_FILE_H
#define CONVOLVE_PNG_FILE_H

#include "matte_file.h"

/* Reads a picture of at most CONVOLVE_MAX_MATTE_SIDE pixels a side. NULL, or a text that says what is wrong, to be freed. */
gchar *convolve_png_read (const guint8 *bytes, gsize size, ConvolveGrey *grey);

#endif
