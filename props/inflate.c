/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inflate.h"

#include <zlib.h>

guint32
convolve_crc32 (const guint8 *bytes, gsize size)
{
  uLong crc = crc32 (0, NULL, 0);

  while (size > 0) {
    uInt part = MIN (size, G_MAXINT);

    crc = crc32 (crc, bytes, part);
    bytes += part;
    size -= part;
  }
  return crc;
}

gboolean
convolve_inflate_possible (void)
{
  return TRUE;
}

gboolean
convolve_inflate (const guint8 *from, gsize from_size, guint8 *to, gsize to_size)
{
  z_stream stream = { .next_in = (guint8 *) from, .avail_in = from_size, .next_out = to, .avail_out = to_size };
  gboolean complete;

  if (from_size > G_MAXUINT || to_size > G_MAXUINT || inflateInit2 (&stream, -MAX_WBITS) != Z_OK)
    return FALSE;
  complete = inflate (&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
  inflateEnd (&stream);
  return complete;
}
