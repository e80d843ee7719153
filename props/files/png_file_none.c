/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/png_file.h"

gchar *
convolve_png_read (const guint8 *bytes, gsize size, guint channels, gint most_side, ConvolveImage *image)
{
  return g_strdup_printf ("this build reads no PNG files, because libpng was not there; take a %s file, as in %s",
      channels > 1 ? "PPM" : "PGM",
      channels > 1 ? "ffmpeg -i picture.png picture.ppm" : "ffmpeg -i mask.png -pix_fmt gray mask.pgm");
}
