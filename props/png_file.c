/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "png_file.h"

#include <png.h>

gchar *
convolve_png_read (const guint8 *bytes, gsize size, ConvolveGrey *grey)
{
  png_image image = { .version = PNG_IMAGE_VERSION };
  const png_color black = { 0, 0, 0 };

  if (!png_image_begin_read_from_memory (&image, bytes, size))
    return g_strdup_printf ("the PNG file cannot be read: %s", image.message);
  if (image.width > CONVOLVE_MAX_MATTE_SIDE || image.height > CONVOLVE_MAX_MATTE_SIDE) {
    png_image_free (&image);
    return g_strdup_printf ("a picture of %ux%u pixels, and no side may be longer than %d", image.width, image.height,
        CONVOLVE_MAX_MATTE_SIDE);
  }
  image.format = PNG_FORMAT_GRAY;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  grey->values = g_malloc ((gsize) image.width * image.height);
  grey->width = image.width;
  grey->height = image.height;
  if (png_image_finish_read (&image, &black, grey->values, grey->width, NULL))
    return NULL;
  g_clear_pointer (&grey->values, g_free);
  return g_strdup_printf ("the PNG file cannot be read: %s", image.message);
}
