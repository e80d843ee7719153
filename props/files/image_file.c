/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/image_file.h"

#include <string.h>

#include "files/png_file.h"

#define MAX_FILE (64 << 20) /* bytes */

static void
clear_image (gpointer data)
{
  g_free (((ConvolveImage *) data)->values);
  g_free (((ConvolveImage *) data)->sha256);
}

void
convolve_image_unref (ConvolveImage *image)
{
  g_atomic_rc_box_release_full (image, clear_image);
}

/* --- PGM and PPM --- */

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

/* A sample of a picture whose largest value is `most`, in 8 bits. Samples of more than 8 bits have the high byte first. */
static guint8
read_sample (const guint8 *samples, gsize i, gint most)
{
  guint value = most > 255 ? (guint) (samples[2 * i] << 8 | samples[2 * i + 1]) : samples[i];

  return (MIN (value, (guint) most) * 255 + most / 2) / most;
}

/* The header ends in one blank. */
static gchar *
read_pnm (const guint8 *bytes, gsize size, guint channels, gint most_side, ConvolveImage *image)
{
  const guint8 *at = bytes + 2, *end = bytes + size;
  guint colors = bytes[1] == '6' ? 3 : 1;
  gint most;
  gsize n, wanted;

  if (!take_number (&at, end, most_side, &image->width) || !take_number (&at, end, most_side, &image->height)
      || !take_number (&at, end, G_MAXUINT16, &most) || at == end || !g_ascii_isspace (*at))
    return g_strdup_printf (
        "the header is not P%c, a width and a height from 1 to %d, and a largest value from 1 to 65535", bytes[1],
        most_side);
  at++;
  n = (gsize) image->width * image->height;
  wanted = n * colors * (most > 255 ? 2 : 1);
  if ((gsize) (end - at) < wanted)
    return g_strdup_printf ("%dx%d pixels need %" G_GSIZE_FORMAT " bytes, and the file has %" G_GSIZE_FORMAT,
        image->width, image->height, wanted, (gsize) (end - at));
  image->values = g_malloc (n * channels);
  for (gsize i = 0; i < n; i++)
    for (guint k = 0; k < channels; k++)
      image->values[i * channels + k] = k == 3 ? 255 : read_sample (at, i * colors + MIN (k, colors - 1), most);
  return NULL;
}

/* --- the file --- */

static gchar *
parse_bytes (const guint8 *bytes, gsize size, guint channels, gint most_side, ConvolveImage *image)
{
  static const guint8 png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

  if (size > sizeof png && memcmp (bytes, png, sizeof png) == 0)
    return convolve_png_read (bytes, size, channels, most_side, image);
  if (size > 2 && bytes[0] == 'P' && (bytes[1] == '5' || (bytes[1] == '6' && channels > 1)))
    return read_pnm (bytes, size, channels, most_side, image);
  return g_strdup (channels > 1 ? "neither a PNG file nor a PGM or PPM file that begins with P5 or P6"
                                : "neither a PNG file nor a PGM file that begins with P5");
}

static gpointer
parse_image (const gchar *name, const guint8 *bytes, gsize size, guint channels, gint most_side, GError **error)
{
  ConvolveImage *image = g_atomic_rc_box_new0 (ConvolveImage);
  g_autofree gchar *fault = parse_bytes (bytes, size, channels, most_side, image);

  if (!fault) {
    image->sha256 = g_compute_checksum_for_data (G_CHECKSUM_SHA256, bytes, size);
    return image;
  }
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS, "%s: %s", name, fault);
  convolve_image_unref (image);
  return NULL;
}

static gpointer
parse_matte (const gchar *name, const guint8 *bytes, gsize size, GError **error)
{
  return parse_image (name, bytes, size, 1, CONVOLVE_MAX_MATTE_SIDE, error);
}

static gpointer
parse_picture (const gchar *name, const guint8 *bytes, gsize size, GError **error)
{
  return parse_image (name, bytes, size, 4, CONVOLVE_MAX_PICTURE_SIDE, error);
}

static void
unref_image (gpointer image)
{
  convolve_image_unref (image);
}

const ConvolveFileKind convolve_matte_file = { "region-mask-location", MAX_FILE, CONVOLVE_PROPS_ERROR_REGIONS,
  parse_matte, unref_image };
const ConvolveFileKind convolve_picture_file = { "region-picture", MAX_FILE, CONVOLVE_PROPS_ERROR_REGIONS,
  parse_picture, unref_image };
