/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads members of a ZIP archive in memory. */
#ifndef CONVOLVE_ZIP_H
#define CONVOLVE_ZIP_H

#include <glib.h>

/* The bytes of a member. They are part of the archive where the member is stored without compression. */
typedef struct
{
  const guint8 *bytes;
  gsize size;
  guint8 *inflated; /* owned, or NULL */
} ConvolveZipMember;

/* Whether the bytes begin as an archive. */
gboolean convolve_zip_is_one (const guint8 *bytes, gsize size);

/*
 * Finds a member by its name, inflates its bytes and checks their CRC-32. A member of more than limit bytes is
 * refused. Returns NULL, and the caller clears *member, whose bytes are NULL where the archive has no such member; or
 * a text that says what is wrong, to be freed.
 */
gchar *convolve_zip_find (const guint8 *archive, gsize size, const gchar *name, gsize limit, ConvolveZipMember *member);
void convolve_zip_member_clear (ConvolveZipMember *member);

#endif
