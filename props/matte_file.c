/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "matte_file.h"

#include <string.h>

#include "file.h"
#include "png_file.h"
#include "props.h"

struct _ConvolveMatteFile
{
  gchar *location;
  GMutex mutex;
  ConvolveGrey grey; /* under the mutex; without values before the file was read, and never changed after that */
};

ConvolveMatteFile *
convolve_matte_file_new (const gchar *location)
{
  ConvolveMatteFile *file = g_atomic_rc_box_new0 (ConvolveMatteFile);

  file->location = g_strdup (location);
  g_mutex_init (&file->mutex);
  return file;
}

ConvolveMatteFile *
convolve_matte_file_ref (ConvolveMatteFile *file)
{
  return g_atomic_rc_box_acquire (file);
}

static void
clear_file (gpointer data)
{
  ConvolveMatteFile *file = data;

  g_free (file->location);
  g_mutex_clear (&file->mutex);
  g_free (file->grey.values);
}

void
convolve_matte_file_unref (ConvolveMatteFile *file)
{
  g_atomic_rc_box_release_full (file, clear_file);
}

const gchar *
convolve_matte_file_location (const ConvolveMatteFile *file)
{
  return file ? file->location : NULL;
}

/* --- PGM --- */

/* Reads the number of the header at *at, behind blanks and comments, up to `most`. FALSE where there is none. */
static gboolean
take_number (const guint8 **at, const guint8 *end, gint most, gint *number)
{
  const guint8 *p = *at;

  while (p < end && (g_ascii_isspace (*p) || *p == '#'))
    if (*p++ == '#')
      while (p < end && *p != '\n')
        p++;
  *number = 0;
  if (p == end || !g_ascii_isdigit (*p))
    return FALSE;
  for (; p < end && g_ascii_isdigit (*p); p++) {
    *number = *number * 10 + (*p - '0');
    if (*number > most)
      return FALSE;
  }
  *at = p;
  return *number > 0;
}

/* The header ends in one blank. Samples of more than 8 bits have the high byte first. */
static gchar *
read_pgm (const guint8 *bytes, gsize size, ConvolveGrey *grey)
{
  const guint8 *at = bytes + 2, *end = bytes + size;
  gint most;
  gsize n, step;

  if (!take_number (&at, end, CONVOLVE_MAX_MATTE_SIDE, &grey->width)
      || !take_number (&at, end, CONVOLVE_MAX_MATTE_SIDE, &grey->height) || !take_number (&at, end, G_MAXUINT16, &most)
      || at == end || !g_ascii_isspace (*at))
    return g_strdup_printf (
        "the header is not P5, a width and a height from 1 to %d, and a largest value from 1 to 65535",
        CONVOLVE_MAX_MATTE_SIDE);
  at++;
  n = (gsize) grey->width * grey->height;
  step = most > 255 ? 2 : 1;
  if ((gsize) (end - at) < n * step)
    return g_strdup_printf ("%dx%d pixels need %" G_GSIZE_FORMAT " bytes, and the file has %" G_GSIZE_FORMAT,
        grey->width, grey->height, n * step, (gsize) (end - at));
  grey->values = g_malloc (n);
  for (gsize i = 0; i < n; i++) {
    guint value = step == 2 ? (guint) (at[2 * i] << 8 | at[2 * i + 1]) : at[i];

    grey->values[i] = (MIN (value, (guint) most) * 255 + most / 2) / most;
  }
  return NULL;
}

/* --- the file --- */

static gchar *
parse_bytes (const guint8 *bytes, gsize size, ConvolveGrey *grey)
{
  static const guint8 png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

  if (size > sizeof png && memcmp (bytes, png, sizeof png) == 0)
    return convolve_png_read (bytes, size, grey);
  if (size > 2 && bytes[0] == 'P' && bytes[1] == '5')
    return read_pgm (bytes, size, grey);
  return g_strdup ("neither a PNG file nor a PGM file that begins with P5");
}

const ConvolveGrey *
convolve_matte_file_read (ConvolveMatteFile *file, GError **error)
{
  const ConvolveGrey *read = NULL;
  g_autofree gchar *fault = NULL, *shown = NULL;
  g_autofree guint8 *bytes = NULL;
  gsize size;

  g_mutex_lock (&file->mutex);
  if (!file->grey.values)
    fault = convolve_file_read (file->location, CONVOLVE_MAX_MATTE_FILE, &bytes, &size);
  if (!file->grey.values && !fault)
    fault = parse_bytes (bytes, size, &file->grey);
  if (!fault)
    read = &file->grey;
  g_mutex_unlock (&file->mutex);
  shown = fault ? convolve_file_show (file->location) : NULL;
  if (fault)
    g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS, "region-mask-location: %s: %s", shown,
        fault);
  return read;
}
