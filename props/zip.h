/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of a ZIP archive that lies in memory. */
#ifndef CONVOLVE_ZIP_H
#define CONVOLVE_ZIP_H

#include <glib.h>

/* A member's bytes: inside the archive where it is stored, otherwise its own. */
typedef struct
{
  const guint8 *bytes;
  gsize size;
  guint8 *inflated; /* what is to be freed, or NULL */
} ConvolveZipMember;

/* Whether the bytes begin as an archive does. */
gboolean convolve_zip_is_one (const guint8 *bytes, gsize size);

/*
 * Finds a member by its name, checks it against its CRC and inflates it. NULL, and *member is to be cleared, its bytes
 * NULL where the archive has no such member; or what is wrong, to be freed. At most limit bytes are taken out.
 */
gchar *convolve_zip_find (const guint8 *archive, gsize size, const gchar *name, gsize limit, ConvolveZipMember *member);
void convolve_zip_member_clear (ConvolveZipMember *member);

#endif
