/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/inflate.h"

guint32
convolve_crc32 (const guint8 *bytes, gsize size)
{
  guint32 crc = ~0u;

  for (gsize i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (guint bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

gboolean
convolve_inflate_possible (void)
{
  return FALSE;
}

const gchar *
convolve_inflate (const guint8 *from, gsize from_size, guint8 *to, gsize to_size)
{
  return "this build has no zlib";
}
