/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ZIP archives need of zlib; inflate_none.c takes the place of inflate.c in builds without it. */
#ifndef CONVOLVE_INFLATE_H
#define CONVOLVE_INFLATE_H

#include <glib.h>

/* The CRC-32 of ZIP. */
guint32 convolve_crc32 (const guint8 *bytes, gsize size);

/* Whether deflated members can be read at all. */
gboolean convolve_inflate_possible (void);

/* Inflates raw deflate data; FALSE where it does not give exactly to_size bytes or goes on behind its end. */
gboolean convolve_inflate (const guint8 *from, gsize from_size, guint8 *to, gsize to_size);

#endif
