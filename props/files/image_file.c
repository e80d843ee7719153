/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/image_file.h"

#include "files/png_file.h"
#include "files/pnm_file.h"

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

/* Samples become 8 bits. */
static gchar *
read_pnm (const guint8 *bytes, gsize size, guint channels, gint most_side, ConvolveImage *image)
{
  ConvolvePnm pnm;
  gchar *fault = convolve_pnm_read (bytes, size, most_side, &pnm);
  gsize n;

  if (fault)
    return fault;
  image->width = pnm.width;
  image->height = pnm.height;
  n = (gsize) pnm.width * pnm.height;
  image->values = g_malloc (n * channels);
  for (gsize i = 0; i < n; i++)
    for (guint k = 0; k < channels; k++)
      image->values[i * channels + k] = k == 3
          ? 255
          : (convolve_pnm_sample (&pnm, i * pnm.colors + MIN (k, pnm.colors - 1)) * 255 + pnm.most / 2) / pnm.most;
  return NULL;
}

/* --- the file --- */

static gchar *
parse_bytes (const guint8 *bytes, gsize size, guint channels, gint most_side, ConvolveImage *image)
{
  if (convolve_png_is_one (bytes, size))
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
