/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "ebml.h"

#define LARGEST (16u << 20) /* that is read */

/* A number whose first bit that is set tells its length; keep leaves that bit in. FALSE where there is none. */
static gboolean
read_number (FILE *file, gboolean keep, guint64 *number, gboolean *unknown)
{
  const int first = getc (file);
  int bytes = 1;

  if (first <= 0)
    return FALSE;
  while (!(first & 0x80 >> (bytes - 1)))
    bytes++;
  *number = keep ? first : first & (0xff >> bytes);
  for (int i = 1; i < bytes; i++) {
    const int next = getc (file);

    if (next < 0)
      return FALSE;
    *number = *number << 8 | next;
  }
  if (unknown)
    *unknown = *number == (G_GUINT64_CONSTANT (1) << 7 * bytes) - 1;
  return TRUE;
}

gboolean
ebml_at (FILE *file, guint64 begin, guint64 end, Element *element)
{
  gboolean unknown;

  if (begin >= end || fseeko (file, begin, SEEK_SET) != 0 || !read_number (file, TRUE, &element->id, NULL)
      || !read_number (file, FALSE, &element->size, &unknown))
    return FALSE;
  element->begin = begin;
  element->content = ftello (file);
  if (element->content > end)
    return FALSE;
  if (unknown)
    element->size = end - element->content;
  return element->size <= end - element->content;
}

guint8 *
ebml_bytes (FILE *file, const Element *element)
{
  guint8 *bytes = element->size < LARGEST ? g_malloc0 (element->size + 1) : NULL;

  if (bytes
      && (fseeko (file, element->content, SEEK_SET) != 0 || fread (bytes, 1, element->size, file) != element->size))
    g_clear_pointer (&bytes, g_free);
  return bytes;
}

guint64
ebml_number (FILE *file, const Element *element)
{
  guint8 *bytes = element->size <= 8 ? ebml_bytes (file, element) : NULL;
  guint64 number = 0;

  for (guint64 i = 0; bytes && i < element->size; i++)
    number = number << 8 | bytes[i];
  g_free (bytes);
  return number;
}

void
ebml_append (GByteArray *to, guint32 id, const void *content, gsize size)
{
  guint8 head[12];
  guint n = 0, bytes = 1;

  for (int shift = 24; shift >= 0; shift -= 8)
    if (id >> shift)
      head[n++] = (guint8) (id >> shift);
  while (bytes < 8 && size >= (G_GUINT64_CONSTANT (1) << 7 * bytes) - 1)
    bytes++;
  for (guint i = bytes; i-- > 0;)
    head[n++] = (guint8) ((guint64) size >> 8 * i | (i + 1 == bytes ? 0x80 >> i : 0));
  g_byte_array_append (to, head, n);
  g_byte_array_append (to, content, size);
}
