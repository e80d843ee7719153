/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PNG files, read by libpng; png_file_none.c stands in where that library is missing. */
#ifndef CONVOLVE_PNG_FILE_H
#define CONVOLVE_PNG_FILE_H

#include <string.h>

#include "files/image_file.h"

/* Whether the bytes begin as a PNG file does. */
static inline gboolean
convolve_png_is_one (const guint8 *bytes, gsize size)
{
  static const guint8 signature[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

  return size > sizeof signature && memcmp (bytes, signature, sizeof signature) == 0;
}

/*
 * Reads a picture of one channel or of four, and of at most most_side pixels a side. NULL, or a text that says what is
 * wrong, to be freed.
 */
gchar *convolve_png_read (const guint8 *bytes, gsize size, guint channels, gint most_side, ConvolveImage *image);

#endif
