/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of region-mask-location: its name, and the grey picture that was read of it. */
#ifndef CONVOLVE_MATTE_FILE_H
#define CONVOLVE_MATTE_FILE_H

#include <glib.h>

G_BEGIN_DECLS

#define CONVOLVE_MAX_MATTE_FILE (64 << 20) /* bytes */
#define CONVOLVE_MAX_MATTE_SIDE 16384      /* pixels */

/* Grey values row by row, 0 for black and 255 for white. */
typedef struct
{
  gint width, height;
  guint8 *values; /* owned */
} ConvolveGrey;

/*
 * Reference counted, for any thread. All copies of the settings share the file, so that it is read once: a change of
 * another property does not read it again. Setting region-mask-location makes a new one, even with the same name.
 */
typedef struct _ConvolveMatteFile ConvolveMatteFile;

ConvolveMatteFile *convolve_matte_file_new (const gchar *location);
ConvolveMatteFile *convolve_matte_file_ref (ConvolveMatteFile *file);
void convolve_matte_file_unref (ConvolveMatteFile *file);

/* The name of the file as the user wrote it; NULL where file is NULL. */
const gchar *convolve_matte_file_location (const ConvolveMatteFile *file);

/*
 * The picture, which belongs to the file. The first call that succeeds reads the file: a PGM file (P5), or a PNG file,
 * whose colours become grey, and whose transparent pixels lie over black. Samples of 16 bits are rounded to 8. NULL with
 * error (CONVOLVE_PROPS_ERROR_REGIONS), which names the file and what is wrong.
 */
const ConvolveGrey *convolve_matte_file_read (ConvolveMatteFile *file, GError **error);

G_END_DECLS

#endif
