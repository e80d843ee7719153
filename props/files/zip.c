/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An archive ends with a record that says where the directory is. The directory has an entry for each member, and the
 * entry says where the member begins. A member begins with a header of its own, of which this file reads only the
 * length.
 */
#include "files/zip.h"

#include <string.h>

#include "files/inflate.h"

#define LOCAL_SIGNATURE 0x04034b50
#define ENTRY_SIGNATURE 0x02014b50
#define END_SIGNATURE 0x06054b50
#define LOCAL_SIZE 30
#define ENTRY_SIZE 46
#define END_SIZE 22
#define MAX_COMMENT 65535
#define ENCRYPTED 1 /* a flag */
#define STORED 0    /* a method, as the next */
#define DEFLATED 8
#define MOST_INFLATION 1032 /* bytes that deflate makes of one byte at most */

typedef struct
{
  guint flags, method;
  guint32 crc, packed, size, offset;
  gsize name_length;
  const guint8 *name;
} Entry;

static guint
get16 (const guint8 *p)
{
  return p[0] | p[1] << 8;
}

static guint32
get32 (const guint8 *p)
{
  return get16 (p) | (guint32) get16 (p + 2) << 16;
}

gboolean
convolve_zip_is_one (const guint8 *bytes, gsize size)
{
  return size >= 4 && (get32 (bytes) == LOCAL_SIGNATURE || get32 (bytes) == END_SIGNATURE);
}

void
convolve_zip_member_clear (ConvolveZipMember *member)
{
  g_clear_pointer (&member->inflated, g_free);
}

/* The record at the archive's end, or NULL. Only the record's own comment may follow it. */
static const guint8 *
find_end (const guint8 *archive, gsize size)
{
  for (gsize comment = 0; comment <= MAX_COMMENT && size >= END_SIZE + comment; comment++) {
    const guint8 *p = archive + size - END_SIZE - comment;

    if (get32 (p) == END_SIGNATURE && get16 (p + 20) == comment)
      return p;
  }
  return NULL;
}

/* Reads the entry at *p, and moves *p behind the entry. */
static gboolean
read_entry (const guint8 **p, const guint8 *end, Entry *entry)
{
  const guint8 *at = *p;
  gsize length;

  if (end - at < ENTRY_SIZE || get32 (at) != ENTRY_SIGNATURE)
    return FALSE;
  *entry = (Entry){ .flags = get16 (at + 8),
    .method = get16 (at + 10),
    .crc = get32 (at + 16),
    .packed = get32 (at + 20),
    .size = get32 (at + 24),
    .offset = get32 (at + 42),
    .name_length = get16 (at + 28),
    .name = at + ENTRY_SIZE };
  length = ENTRY_SIZE + entry->name_length + get16 (at + 30) + get16 (at + 32);
  if ((gsize) (end - at) < length)
    return FALSE;
  *p = at + length;
  return TRUE;
}

/* The member's bytes; NULL where they are not completely inside the archive. */
static const guint8 *
find_bytes (const guint8 *archive, gsize size, const Entry *entry)
{
  const guint8 *local = archive + entry->offset;
  gsize header;

  if (entry->offset > size || size - entry->offset < LOCAL_SIZE || get32 (local) != LOCAL_SIGNATURE)
    return NULL;
  header = LOCAL_SIZE + get16 (local + 26) + get16 (local + 28);
  if (size - entry->offset < header || size - entry->offset - header < entry->packed)
    return NULL;
  return local + header;
}

static gchar *
take_out (const guint8 *bytes, const Entry *entry, gsize limit, ConvolveZipMember *member)
{
  const gchar *fault;

  if (entry->size > limit)
    return g_strdup_printf ("the member has %u bytes, more than %" G_GSIZE_FORMAT, entry->size, limit);
  if (entry->method == STORED) {
    if (entry->size != entry->packed)
      return g_strdup_printf ("the member is stored as %u bytes and said to have %u", entry->packed, entry->size);
    member->bytes = bytes;
  } else if (entry->method != DEFLATED) {
    return g_strdup_printf ("the compression method %u is neither stored nor deflated", entry->method);
  } else if (!convolve_inflate_possible ()) {
    return g_strdup (
        "the member is deflated, and this build has no zlib; numpy.savez() stores members without compression");
  } else {
    if (entry->size / MOST_INFLATION > entry->packed)
      return g_strdup_printf ("the member is said to inflate from %u bytes to %u", entry->packed, entry->size);
    member->inflated = g_try_malloc (MAX (entry->size, 1));
    if (!member->inflated)
      return g_strdup_printf ("there is no memory for %u bytes", entry->size);
    fault = convolve_inflate (bytes, entry->packed, member->inflated, entry->size);
    if (fault)
      return g_strdup (fault);
    member->bytes = member->inflated;
  }
  member->size = entry->size;
  if (convolve_crc32 (member->bytes, member->size) != entry->crc)
    return g_strdup ("the bytes are damaged: the CRC-32 does not match");
  return NULL;
}

static gchar *
open_member (const guint8 *archive, gsize size, const Entry *entry, gsize limit, ConvolveZipMember *member)
{
  const guint8 *bytes;
  gchar *fault;

  if (entry->flags & ENCRYPTED)
    return g_strdup ("the member is encrypted");
  if (entry->size == G_MAXUINT32 || entry->packed == G_MAXUINT32 || entry->offset == G_MAXUINT32)
    return g_strdup ("the member is larger than 4 GiB (ZIP64)");
  bytes = find_bytes (archive, size, entry);
  if (!bytes)
    return g_strdup ("the member does not lie inside the archive");
  fault = take_out (bytes, entry, limit, member);
  if (fault) {
    convolve_zip_member_clear (member);
    *member = (ConvolveZipMember){ 0 };
  }
  return fault;
}

gchar *
convolve_zip_find (const guint8 *archive, gsize size, const gchar *name, gsize limit, ConvolveZipMember *member)
{
  const guint8 *end = find_end (archive, size), *p;
  gsize length = strlen (name);
  Entry entry, found = { 0 };
  gboolean have = FALSE;
  guint count;

  *member = (ConvolveZipMember){ 0 };
  if (!end)
    return g_strdup ("the archive is cut off: the end is missing");
  count = get16 (end + 10);
  if (get16 (end + 4) != 0 || get16 (end + 6) != 0 || get16 (end + 8) != count)
    return g_strdup ("the archive is a part of several");
  if (count == G_MAXUINT16 || get32 (end + 16) == G_MAXUINT32)
    return g_strdup ("the archive is a ZIP64 one, of too many members");
  if (get32 (end + 16) > (gsize) (end - archive) || get32 (end + 12) > (gsize) (end - archive) - get32 (end + 16))
    return g_strdup ("the directory does not lie inside the archive");
  p = archive + get32 (end + 16);
  end = p + get32 (end + 12);
  for (guint i = 0; i < count; i++) {
    if (!read_entry (&p, end, &entry))
      return g_strdup_printf ("the archive's directory is damaged at entry %u", i + 1);
    if (entry.name_length != length || memcmp (entry.name, name, length) != 0)
      continue;
    if (have)
      return g_strdup ("two members have this name");
    found = entry;
    have = TRUE;
  }
  return have ? open_member (archive, size, &found, limit, member) : NULL;
}
