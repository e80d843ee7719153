/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/png_file.h"

#include <png.h>

gchar *
convolve_png_read (const guint8 *bytes, gsize size, guint channels, gint most_side, ConvolveImage *image)
{
  png_image png = { .version = PNG_IMAGE_VERSION };
  const png_color black = { 0, 0, 0 };

  if (!png_image_begin_read_from_memory (&png, bytes, size))
    return g_strdup_printf ("the PNG file cannot be read: %s", png.message);
  if (png.width > (guint) most_side || png.height > (guint) most_side) {
    png_image_free (&png);
    return g_strdup_printf ("a picture of %ux%u pixels, and no side may be longer than %d: make it smaller, as with "
                            "ffmpeg -i large.png -vf scale=1024:-1 small.png",
        png.width, png.height, most_side);
  }
  png.format = channels > 1 ? PNG_FORMAT_RGBA : PNG_FORMAT_GRAY;
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  image->width = png.width;
  image->height = png.height;
  image->values = g_malloc ((gsize) png.width * png.height * channels);
  /* Where the format has alpha, nothing lies below. */
  if (png_image_finish_read (&png, &black, image->values, (png_int_32) (png.width * channels), NULL))
    return NULL;
  g_clear_pointer (&image->values, g_free);
  return g_strdup_printf ("the PNG file cannot be read: %s", png.message);
}
