/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "moov.h"

#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "atoms.h"

#define LARGEST (256u << 20)
#define SECONDS_TO_1970 2082844800 /* from 1904 */
#define FORCED 0xC0000000u         /* all texts of a track */

typedef struct
{
  const Chapters *chapters;
  const Origin *origin;
  const GArray *tracks;
  guint counts[128]; /* of tracks of each kind so far */
  gboolean broken;   /* not all boxes could be read */
} Additions;

static void
append_box (GByteArray *to, const char *name, const void *content, gsize size)
{
  guint8 head[8];

  GST_WRITE_UINT32_BE (head, size + 8);
  memcpy (head + 4, name, 4);
  g_byte_array_append (to, head, sizeof head);
  g_byte_array_append (to, content, size);
}

/* The content of the box at a place, its size and its name. NULL at the end. place moves on to the next box. */
static guint8 *
next_box (guint8 *data, gsize size, gsize *place, gsize *length, char name[5])
{
  guint8 *box = data + *place;
  const gsize all = *place + 8 <= size ? GST_READ_UINT32_BE (box) : 0;

  if (all < 8 || all > size - *place)
    return NULL;
  memcpy (name, box + 4, 4);
  name[4] = '\0';
  *length = all - 8;
  *place += all;
  return box + 8;
}

/* The content of a box inside others, whose names slashes split, or NULL. */
static guint8 *
find_box (guint8 *data, gsize size, const char *path, gsize *length)
{
  char **names = g_strsplit (path, "/", -1), name[5];
  guint8 *box = data;

  *length = size;
  for (char **wanted = names; *wanted && box; wanted++) {
    guint8 *parent = box;
    const gsize all = *length;
    gsize place = 0;

    while ((box = next_box (parent, all, &place, length, name)) && strcmp (name, *wanted) != 0)
      ;
  }
  g_strfreev (names);
  return box;
}

/* mvhd, tkhd and mdhd have the time in one place, which is 0 where nobody knows it. The muxer writes the time of today. */
static void
set_made (const Additions *additions, guint8 *header, gsize size)
{
  const gint64 made = additions->origin->made;
  const guint64 seconds = made == ORIGIN_UNKNOWN || made < -SECONDS_TO_1970 ? 0 : (guint64) (made + SECONDS_TO_1970);

  if (!header || size < 12)
    return;
  if (header[0] == 1)
    GST_WRITE_UINT64_BE (header + 4, seconds);
  else if (seconds <= G_MAXUINT32)
    GST_WRITE_UINT32_BE (header + 4, seconds);
}

static void
append_kinds (GByteArray *udta, guint flags)
{
  static const struct
  {
    guint flag;
    const char *word;
  } kinds[] = { { TRACK_HEARING, "caption" }, { TRACK_VISUAL, "description" }, { TRACK_COMMENT, "commentary" },
    { TRACK_FORCED, "forced-subtitle" } };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (flags & kinds[i].flag) {
      GByteArray *kind = g_byte_array_new ();

      g_byte_array_append (kind, (const guint8 *) "\0\0\0\0urn:mpeg:dash:role:2011", 4 + 24);
      g_byte_array_append (kind, (const guint8 *) kinds[i].word, strlen (kinds[i].word) + 1);
      append_box (udta, "kind", kind->data, kind->len);
      g_byte_array_unref (kind);
    }
}

/* The first video and the first sound play where no flag says which one does. */
static gboolean
plays (const Additions *additions, const Track *track)
{
  const Track *first = NULL;

  if (track->flags & TRACK_DEFAULT || track->kind == 't')
    return track->flags & TRACK_DEFAULT;
  for (guint i = 0; i < additions->tracks->len; i++) {
    const Track *other = &g_array_index (additions->tracks, Track, i);

    if (other->kind != track->kind || other->flags & TRACK_UNKNOWN)
      continue;
    if (other->flags & TRACK_DEFAULT)
      return FALSE;
    if (!first)
      first = other;
  }
  return track == first;
}

/* Copies the content of a trak with what is known of the track. */
static GByteArray *
complete_trak (Additions *additions, guint8 *trak, gsize size)
{
  GByteArray *content = g_byte_array_new (), *udta = g_byte_array_new ();
  gsize place = 0, length, n;
  const guint8 *handler = find_box (trak, size, "mdia/hdlr", &n);
  const char kind = handler && n >= 12 ? track_kind (handler + 8) : 0;
  const Track *track = kind ? track_of_kind (additions->tracks, kind, additions->counts[(guint8) kind]++) : NULL;
  guint8 *box;
  char name[5];

  while ((box = next_box (trak, size, &place, &length, name))) {
    guint8 *inside;

    if (!strcmp (name, "tkhd")) {
      set_made (additions, box, length);
      if (track)
        box[3] = plays (additions, track) ? box[3] | 1 : box[3] & ~1;
    } else if (!strcmp (name, "mdia")) {
      set_made (additions, find_box (box, length, "mdhd", &n), n);
      inside = find_box (box, length, "minf/stbl/stsd", &n);
      if (track && track->flags & TRACK_FORCED && inside && n >= 28 && !memcmp (inside + 12, "tx3g", 4))
        GST_WRITE_UINT32_BE (inside + 24, GST_READ_UINT32_BE (inside + 24) | FORCED);
    }
    if (!strcmp (name, "udta"))
      g_byte_array_append (udta, box, length);
    else
      append_box (content, name, box, length);
  }
  additions->broken = additions->broken || place != size;
  if (track && track->name)
    append_box (udta, "name", track->name, strlen (track->name));
  if (track)
    append_kinds (udta, track->flags);
  if (udta->len)
    append_box (content, "udta", udta->data, udta->len);
  g_byte_array_unref (udta);
  return content;
}

/* Appends the boxes of notes whose names are not there yet. */
static void
append_notes (GByteArray *udta, GByteArray *notes)
{
  gsize place = 0, length, n;
  guint8 *box;
  char name[5];

  while ((box = next_box (notes->data, notes->len, &place, &length, name)))
    if (!find_box (udta->data, udta->len, name, &n))
      append_box (udta, name, box, length);
}

/* The content of moov, with all that is to be added. */
static GByteArray *
complete_moov (Additions *additions, guint8 *moov, gsize size)
{
  const Origin *origin = additions->origin;
  GByteArray *content = g_byte_array_new (), *udta = g_byte_array_new (), *inside;
  gboolean has_meta = FALSE;
  gsize place = 0, length;
  guint8 *box;
  char name[5];

  while ((box = next_box (moov, size, &place, &length, name)))
    if (!strcmp (name, "trak")) {
      inside = complete_trak (additions, box, length);
      append_box (content, name, inside->data, inside->len);
      g_byte_array_unref (inside);
    } else if (!strcmp (name, "udta"))
      g_byte_array_append (udta, box, length);
    else {
      has_meta = has_meta || !strcmp (name, "meta");
      if (!strcmp (name, "mvhd"))
        set_made (additions, box, length);
      append_box (content, name, box, length);
    }
  additions->broken = additions->broken || place != size;
  if (origin->notes)
    append_notes (udta, origin->notes);
  if (additions->chapters) {
    inside = chapters_to_chpl (additions->chapters);
    append_box (udta, "chpl", inside->data, inside->len);
    g_byte_array_unref (inside);
  }
  if (udta->len)
    append_box (content, "udta", udta->data, udta->len);
  if (origin->keys && !has_meta)
    g_byte_array_append (content, origin->keys->data, origin->keys->len);
  g_byte_array_unref (udta);
  return content;
}

/* moov holds the places of all frames, so that it may grow only where no frames follow. */
static gboolean
may_grow (FILE *file, const Atom *moov, guint64 size)
{
  Atom place;

  return size - moov->begin < LARGEST && moov->header == 8
      && !atom_find (file, moov->begin + moov->size, size, "mdat", &place)
      && !atom_find (file, moov->begin + moov->size, size, "moof", &place);
}

gboolean
moov_complete (const char *name, const Chapters *chapters, const Origin *origin, const GArray *tracks, GError **error)
{
  Additions additions = { .chapters = chapters, .origin = origin, .tracks = tracks };
  FILE *file = g_fopen (name, "r+b");
  const guint64 size = file ? atom_file_size (file) : 0;
  guint8 *old = NULL;
  gboolean ok = FALSE;
  Atom moov;

  /* The box and what lies behind it. */
  if (file && atom_find (file, 0, size, "moov", &moov) && may_grow (file, &moov, size))
    old = atom_read (file, moov.begin, size - moov.begin);
  if (old) {
    GByteArray *content = complete_moov (&additions, old + moov.header, moov.size - moov.header);
    GByteArray *box = g_byte_array_new ();

    append_box (box, "moov", content->data, content->len);
    g_byte_array_append (box, old + moov.size, size - moov.begin - moov.size);
    ok = !additions.broken && fseeko (file, moov.begin, SEEK_SET) == 0
        && fwrite (box->data, 1, box->len, file) == box->len;
    g_byte_array_unref (content);
    g_byte_array_unref (box);
    g_free (old);
  }
  if (file)
    ok = fclose (file) == 0 && ok;
  if (!ok)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
        "chapters, names and dates could not be written; is the disk full?");
  return ok;
}
