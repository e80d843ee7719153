/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of pictures: the weights of region-mask-location, and the colours of region-picture. */
#ifndef CONVOLVE_IMAGE_FILE_H
#define CONVOLVE_IMAGE_FILE_H

#include "files/kept_file.h"

G_BEGIN_DECLS

#define CONVOLVE_MAX_MATTE_SIDE 16384  /* pixels */
#define CONVOLVE_MAX_PICTURE_SIDE 4096 /* pixels */

/* Never changed once it is made; reference counted, for any thread. */
typedef struct
{
  gint width, height;
  guint8 *values; /* row by row, with as many channels as its kind of file has */
  gchar *sha256;  /* of the file, in hexadecimal digits */
} ConvolveImage;

void convolve_image_unref (ConvolveImage *image);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ConvolveImage, convolve_image_unref)

/*
 * The content is a ConvolveImage of a PNG file or a PGM file (P5), with samples of 16 bits rounded to 8. A matte has one
 * channel, 0 for black and 255 for white: colours become grey, and transparent pixels lie over black. A picture has
 * four channels, red, green, blue and alpha, of which the colours are not multiplied by alpha. It may be a PPM file (P6).
 */
extern const ConvolveFileKind convolve_matte_file;   /* of region-mask-location */
extern const ConvolveFileKind convolve_picture_file; /* of region-picture */

G_END_DECLS

#endif
