/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures of netpbm without compression: PGM (P5), PPM (P6) and PFM (Pf). */
#ifndef CONVOLVE_PNM_FILE_H
#define CONVOLVE_PNM_FILE_H

#include <glib.h>

/* A PGM or PPM file, whose samples lie in the bytes of the file. */
typedef struct
{
  gint width, height, most; /* most is the value of white */
  guint colors;             /* samples of a pixel: 1 or 3 */
  const guint8 *samples;
} ConvolvePnm;

/*
 * Reads the header of a file that begins with P5 or P6. Returns NULL, or a text that says what is wrong, to be freed: a side above
 * most_side, or fewer samples than the header says.
 */
gchar *convolve_pnm_read (const guint8 *bytes, gsize size, gint most_side, ConvolvePnm *pnm);

/* Sample i of the picture, 0 up to most. */
gint convolve_pnm_sample (const ConvolvePnm *pnm, gsize i);

/*
 * Reads a file that begins with Pf: floats of any sign, to be freed, whose first row is the top one. Returns NULL, or what is
 * wrong, to be freed. The sign of the header's scale is the order of the bytes, and its magnitude does not count.
 */
gchar *convolve_pfm_read (const guint8 *bytes, gsize size, gint most_side, gint *width, gint *height, gfloat **values);

#endif
