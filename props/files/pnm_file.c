/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/pnm_file.h"

#include <math.h>
#include <string.h>

/* --- headers --- */

static const guint8 *
skip_blanks (const guint8 *p, const guint8 *end)
{
  while (p < end && (g_ascii_isspace (*p) || *p == '#'))
    if (*p++ == '#')
      while (p < end && *p != '\n')
        p++;
  return p;
}

/* Reads the number of the header at *at, behind blanks and comments, up to `most`. FALSE where there is none. */
static gboolean
take_number (const guint8 **at, const guint8 *end, gint most, gint *number)
{
  const guint8 *p = skip_blanks (*at, end);

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

static gchar *
check_size (gint width, gint height, gsize wanted, gsize found)
{
  if (found >= wanted)
    return NULL;
  return g_strdup_printf ("%dx%d pixels need %" G_GSIZE_FORMAT " bytes, and the file has %" G_GSIZE_FORMAT, width,
      height, wanted, found);
}

/* --- PGM and PPM --- */

/* The header ends in one blank. */
gchar *
convolve_pnm_read (const guint8 *bytes, gsize size, gint most_side, ConvolvePnm *pnm)
{
  const guint8 *at = bytes + 2, *end = bytes + size;
  gsize n;

  pnm->colors = bytes[1] == '6' ? 3 : 1;
  if (!take_number (&at, end, most_side, &pnm->width) || !take_number (&at, end, most_side, &pnm->height)
      || !take_number (&at, end, G_MAXUINT16, &pnm->most) || at == end || !g_ascii_isspace (*at))
    return g_strdup_printf (
        "the header is not P%c, a width and a height from 1 to %d, and a largest value from 1 to 65535", bytes[1],
        most_side);
  pnm->samples = at + 1;
  n = (gsize) pnm->width * pnm->height;
  return check_size (pnm->width, pnm->height, n * pnm->colors * (pnm->most > 255 ? 2 : 1), end - pnm->samples);
}

/* Samples of more than 8 bits have the high byte first. */
gint
convolve_pnm_sample (const ConvolvePnm *pnm, gsize i)
{
  gint value = pnm->most > 255 ? pnm->samples[2 * i] << 8 | pnm->samples[2 * i + 1] : pnm->samples[i];

  return MIN (value, pnm->most);
}

/* --- PFM --- */

/* Reads the scale at *at, with the one blank behind. */
static gboolean
take_scale (const guint8 **at, const guint8 *end, gdouble *scale)
{
  const guint8 *p = skip_blanks (*at, end);
  gchar text[40];
  gchar *behind;
  gsize n = 0;

  while (p + n < end && n < sizeof text - 1 && !g_ascii_isspace (p[n])) {
    text[n] = p[n];
    n++;
  }
  text[n] = '\0';
  *scale = g_ascii_strtod (text, &behind);
  if (n == 0 || *behind || !isfinite (*scale) || *scale == 0 || p + n == end || !g_ascii_isspace (p[n]))
    return FALSE;
  *at = p + n + 1;
  return TRUE;
}

static gfloat
float_at (const guint8 *bytes, gboolean little)
{
  guint32 bits;
  gfloat value;

  memcpy (&bits, bytes, sizeof bits);
  bits = little ? GUINT32_FROM_LE (bits) : GUINT32_FROM_BE (bits);
  memcpy (&value, &bits, sizeof value);
  return value;
}

/* The bottom row stands first. */
gchar *
convolve_pfm_read (const guint8 *bytes, gsize size, gint most_side, gint *width, gint *height, gfloat **values)
{
  const guint8 *at = bytes + 2, *end = bytes + size;
  gdouble scale;
  gchar *fault;

  *values = NULL;
  if (!take_number (&at, end, most_side, width) || !take_number (&at, end, most_side, height)
      || !take_scale (&at, end, &scale))
    return g_strdup_printf ("the header is not Pf, a width and a height from 1 to %d, and a scale that is not 0",
        most_side);
  fault = check_size (*width, *height, (gsize) *width * *height * 4, end - at);
  if (fault)
    return fault;
  *values = g_new (gfloat, (gsize) *width * *height);
  for (gint y = 0; y < *height; y++)
    for (gint x = 0; x < *width; x++) {
      gfloat value = float_at (at + ((gsize) (*height - 1 - y) * *width + x) * 4, scale < 0);

      if (!isfinite (value)) {
        g_clear_pointer (values, g_free);
        return g_strdup_printf ("the pixel at %d,%d is not finite", x, y);
      }
      (*values)[(gsize) y * *width + x] = value;
    }
  return NULL;
}
