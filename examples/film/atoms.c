/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "atoms.h"

#include <string.h>

#include <gst/gst.h>

#define LARGEST (256u << 20) /* that is read */

guint64
atom_file_size (FILE *file)
{
  return fseeko (file, 0, SEEK_END) == 0 ? (guint64) ftello (file) : 0;
}

gboolean
atom_at (FILE *file, guint64 begin, guint64 end, guint8 name[4], Atom *atom)
{
  guint8 head[16];

  if (begin + 8 > end || fseeko (file, begin, SEEK_SET) != 0 || fread (head, 1, 8, file) != 8)
    return FALSE;
  *atom = (Atom){ begin, GST_READ_UINT32_BE (head), 8 };
  memcpy (name, head + 4, 4);
  if (atom->size == 1) {
    if (fread (head + 8, 1, 8, file) != 8)
      return FALSE;
    atom->size = GST_READ_UINT64_BE (head + 8);
    atom->header = 16;
  } else if (atom->size == 0)
    atom->size = end - begin;
  return atom->size >= atom->header && atom->size <= end - begin;
}

gboolean
atom_find (FILE *file, guint64 begin, guint64 end, const char *wanted, Atom *atom)
{
  guint8 name[4];

  for (; atom_at (file, begin, end, name, atom); begin += atom->size)
    if (!memcmp (name, wanted, 4))
      return TRUE;
  return FALSE;
}

gboolean
atom_find_in (FILE *file, const Atom *parent, const char *wanted, Atom *atom)
{
  return atom_find (file, parent->begin + parent->header, parent->begin + parent->size, wanted, atom);
}

guint8 *
atom_read (FILE *file, guint64 begin, gsize size)
{
  guint8 *data = g_malloc0 (size + 1);

  if (fseeko (file, begin, SEEK_SET) == 0 && fread (data, 1, size, file) == size)
    return data;
  g_free (data);
  return NULL;
}

guint8 *
atom_content (FILE *file, const Atom *atom, gsize *size)
{
  *size = atom->size - atom->header;
  return *size < LARGEST ? atom_read (file, atom->begin + atom->header, *size) : NULL;
}
