/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of zlib that ZIP archives need. A build without zlib has inflate_none.c instead of inflate.c. */
#ifndef CONVOLVE_INFLATE_H
#define CONVOLVE_INFLATE_H

#include <glib.h>

/* The CRC-32 of ZIP. */
guint32 convolve_crc32 (const guint8 *bytes, gsize size);

/* Whether this build can inflate. */
gboolean convolve_inflate_possible (void);

/*
 * Inflates raw deflate data. Returns NULL, or what is wrong: the data gives other than to_size bytes or ends before
 * from_size bytes, or memory is short.
 */
const gchar *convolve_inflate (const guint8 *from, gsize from_size, guint8 *to, gsize to_size);

#endif
