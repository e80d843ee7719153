/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/inflate.h"

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

/* So that zlib's memory is that of GLib, which tests can make fail. */
static voidpf
take_memory (voidpf opaque, uInt count, uInt size)
{
  return g_try_malloc_n (count, size);
}

static void
free_memory (voidpf opaque, voidpf memory)
{
  g_free (memory);
}

const gchar *
convolve_inflate (const guint8 *from, gsize from_size, guint8 *to, gsize to_size)
{
  z_stream stream = { .next_in = (guint8 *) from,
    .avail_in = from_size,
    .next_out = to,
    .avail_out = to_size,
    .zalloc = take_memory,
    .zfree = free_memory };
  gboolean complete;
  int status;

  if (from_size > G_MAXUINT || to_size > G_MAXUINT)
    return "the member has 4 GiB or more";
  status = inflateInit2 (&stream, -MAX_WBITS);
  if (status == Z_OK) {
    status = inflate (&stream, Z_FINISH);
    complete = status == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
    inflateEnd (&stream);
    if (complete)
      return NULL;
  }
  return status == Z_MEM_ERROR ? "there is no memory to inflate the member" : "the deflated bytes are damaged";
}
