/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "png_file.h"

gchar *
convolve_png_read (const guint8 *bytes, gsize size, ConvolveGrey *grey)
{
  return g_strdup ("this build reads no PNG files, because libpng was not there; take a PGM file, as in "
                   "ffmpeg -i mask.png -pix_fmt gray mask.pgm");
}
