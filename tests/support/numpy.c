/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/numpy.h"

#include <string.h>

#include "files/inflate.h"

void
numpy_put16 (GByteArray *bytes, guint value)
{
  guint8 two[] = { value, value >> 8 };

  g_byte_array_append (bytes, two, 2);
}

void
numpy_put32 (GByteArray *bytes, guint32 value)
{
  numpy_put16 (bytes, value & 0xffff);
  numpy_put16 (bytes, value >> 16);
}

void
numpy_put_text (GByteArray *bytes, const gchar *text)
{
  g_byte_array_append (bytes, (const guint8 *) text, strlen (text));
}

GByteArray *
numpy_begin (guint major, const gchar *header)
{
  GByteArray *bytes = g_byte_array_new ();
  gsize length = strlen (header), start = major == 1 ? 10 : 12, padded = (start + length + 1 + 63) / 64 * 64;

  numpy_put_text (bytes, "\x93NUMPY");
  g_byte_array_append (bytes, (const guint8[]){ major, 0 }, 2);
  if (major == 1)
    numpy_put16 (bytes, padded - start);
  else
    numpy_put32 (bytes, padded - start);
  numpy_put_text (bytes, header);
  while (bytes->len + 1 < padded)
    numpy_put_text (bytes, " ");
  numpy_put_text (bytes, "\n");
  return bytes;
}

GByteArray *
numpy_floats (const gchar *header, const gfloat *values, gsize count)
{
  GByteArray *bytes = numpy_begin (1, header);

  for (gsize i = 0; i < count; i++) {
    guint32 word;

    memcpy (&word, &values[i], 4);
    numpy_put32 (bytes, word);
  }
  return bytes;
}

/* One block of deflate that is not compressed, which every inflater takes. */
static GByteArray *
deflate_stored (const GByteArray *content)
{
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8[]){ 1 }, 1);
  numpy_put16 (bytes, content->len);
  numpy_put16 (bytes, ~content->len & 0xffff);
  g_byte_array_append (bytes, content->data, content->len);
  return bytes;
}

/* The header of a member: an entry of the directory, or what stands in front of the member's bytes. */
static void
put_member (GByteArray *archive, const NumpyMember *member, const GByteArray *packed, gboolean entry, gsize offset)
{
  /* In front of the bytes numpy.savez() leaves the sizes to an extra field. */
  gboolean extra = !entry && !member->plain;

  numpy_put32 (archive, entry ? 0x02014b50 : 0x04034b50);
  if (entry)
    numpy_put16 (archive, 45);
  numpy_put16 (archive, 45);
  numpy_put16 (archive, member->flags);
  numpy_put16 (archive, member->deflate ? 8 : member->method);
  numpy_put32 (archive, 0); /* time */
  numpy_put32 (archive, convolve_crc32 (member->content->data, member->content->len));
  numpy_put32 (archive, extra ? G_MAXUINT32 : packed->len);
  numpy_put32 (archive, extra ? G_MAXUINT32 : member->content->len + member->size_change);
  numpy_put16 (archive, strlen (member->name));
  numpy_put16 (archive, extra ? 20 : 0);
  if (entry) {
    numpy_put16 (archive, 0); /* comment, disk, attributes */
    numpy_put32 (archive, 0);
    numpy_put32 (archive, 0);
    numpy_put32 (archive, offset);
  }
  numpy_put_text (archive, member->name);
  if (extra)
    for (guint i = 0; i < 5; i++)
      numpy_put32 (archive, i == 0 ? 0x00100001 : 0);
}

GByteArray *
numpy_archive (const NumpyMember *members, guint count, const gchar *comment)
{
  GByteArray *archive = g_byte_array_new (), *packed[4];
  gsize offset[4], directory, end;

  for (guint i = 0; i < count; i++) {
    packed[i] = members[i].deflate ? deflate_stored (members[i].content) : g_byte_array_ref (members[i].content);
    offset[i] = archive->len;
    put_member (archive, &members[i], packed[i], FALSE, 0);
    g_byte_array_append (archive, packed[i]->data, packed[i]->len);
  }
  directory = archive->len;
  for (guint i = 0; i < count; i++)
    put_member (archive, &members[i], packed[i], TRUE, offset[i]);
  end = archive->len;
  numpy_put32 (archive, 0x06054b50);
  numpy_put32 (archive, 0);
  numpy_put16 (archive, count);
  numpy_put16 (archive, count);
  numpy_put32 (archive, end - directory);
  numpy_put32 (archive, directory);
  numpy_put16 (archive, strlen (comment));
  numpy_put_text (archive, comment);
  for (guint i = 0; i < count; i++) {
    g_byte_array_unref (packed[i]);
    g_byte_array_unref (members[i].content);
  }
  return archive;
}
