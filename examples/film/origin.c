/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "origin.h"

#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "atoms.h"
#include "ebml.h"

#define SECONDS_TO_1970 2082844800 /* from 1904, from which MP4 counts */
#define SECONDS_TO_2001 978307200  /* from 1970; Matroska counts from 2001 */
#define PICTURES 13                /* and 14: types of data in the tags of QuickTime */

static void
clear_track (gpointer data)
{
  g_free (((Track *) data)->name);
}

void
origin_free (Origin *origin)
{
  g_array_unref (origin->tracks);
  g_clear_pointer (&origin->keys, g_byte_array_unref);
  g_clear_pointer (&origin->notes, g_byte_array_unref);
  g_free (origin);
}

Track
origin_track (const Origin *origin, guint64 id)
{
  for (guint i = 0; i < origin->tracks->len; i++)
    if (g_array_index (origin->tracks, Track, i).id == id)
      return g_array_index (origin->tracks, Track, i);
  return (Track){ .id = id, .flags = TRACK_UNKNOWN };
}

const Track *
track_of_kind (const GArray *tracks, char kind, guint n)
{
  for (guint i = 0; i < tracks->len; i++) {
    const Track *track = &g_array_index (tracks, Track, i);

    if (track->kind == kind && n-- == 0)
      return track->flags & TRACK_UNKNOWN ? NULL : track;
  }
  return NULL;
}

/* --- MP4 and QuickTime --- */

/* The seconds since 1970 of a header, which lie behind version and flags; 0 says nothing. */
static gint64
made_of (const guint8 *header, gsize size)
{
  const guint64 seconds = size < 12 ? 0
      : header[0] == 1              ? GST_READ_UINT64_BE (header + 4)
                                    : GST_READ_UINT32_BE (header + 4);

  return seconds ? (gint64) seconds - SECONDS_TO_1970 : ORIGIN_UNKNOWN;
}

/* The flag that a box kind stands for: a scheme and a word, each with a zero behind it. */
static guint
flag_of_kind (const guint8 *data, gsize size)
{
  static const struct
  {
    const char *word;
    guint flag;
  } words[] = { { "forced-subtitle", TRACK_FORCED }, { "caption", TRACK_HEARING }, { "description", TRACK_VISUAL },
    { "commentary", TRACK_COMMENT } };
  const char *scheme = (const char *) data + 4, *word = size > 4 ? scheme + strlen (scheme) + 1 : NULL;

  if (!word || (gsize) (word - (const char *) data) >= size || strcmp (scheme, "urn:mpeg:dash:role:2011") != 0)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (!strcmp (words[i].word, word))
      return words[i].flag;
  return 0;
}

char
track_kind (const guint8 *handler)
{
  char name[5] = { 0 };

  memcpy (name, handler, 4);
  return !strcmp (name, "vide") ? 'v'
      : !strcmp (name, "soun")
      ? 's'
      : g_strv_contains ((const char *const[]){ "sbtl", "text", "subt", "subp", "clcp", NULL }, name) * 't';
}

/* Text for subtitles may say of itself that it is forced. */
static guint
forced_by_sample (FILE *file, const Atom *mdia)
{
  Atom minf, stbl, stsd;
  gsize size;
  guint8 *data = atom_find_in (file, mdia, "minf", &minf) && atom_find_in (file, &minf, "stbl", &stbl)
          && atom_find_in (file, &stbl, "stsd", &stsd)
      ? atom_content (file, &stsd, &size)
      : NULL;
  const gboolean forced = data && size >= 28 && !memcmp (data + 12, "tx3g", 4) && GST_READ_UINT32_BE (data + 24) >> 30;

  g_free (data);
  return forced ? TRACK_FORCED : 0;
}

static void
read_track_notes (FILE *file, const Atom *udta, Track *track)
{
  guint8 name[4];
  Atom atom;

  for (guint64 at = udta->begin + udta->header; atom_at (file, at, udta->begin + udta->size, name, &atom);
       at += atom.size) {
    gsize size;
    guint8 *data = !memcmp (name, "name", 4) || !memcmp (name, "kind", 4) ? atom_content (file, &atom, &size) : NULL;

    if (data && name[0] == 'n' && size > 0 && g_utf8_validate ((char *) data, -1, NULL)) {
      g_free (track->name);
      track->name = g_strdup ((char *) data);
    } else if (data && name[0] == 'k')
      track->flags |= flag_of_kind (data, size);
    g_free (data);
  }
}

static void
read_trak (Origin *origin, FILE *file, const Atom *trak)
{
  Atom tkhd, mdia, hdlr, udta;
  gsize size = 0, n = 0;
  guint8 *header = atom_find_in (file, trak, "tkhd", &tkhd) ? atom_content (file, &tkhd, &size) : NULL;
  guint8 *handler = atom_find_in (file, trak, "mdia", &mdia) && atom_find_in (file, &mdia, "hdlr", &hdlr)
      ? atom_content (file, &hdlr, &n)
      : NULL;

  if (header && handler && size >= 24 && n >= 12) {
    Track track = { .id = GST_READ_UINT32_BE (header + (header[0] == 1 ? 20 : 12)),
      .kind = track_kind (handler + 8),
      .flags = header[3] & 1 ? TRACK_DEFAULT : 0 };

    track.flags |= forced_by_sample (file, &mdia);
    if (atom_find_in (file, trak, "udta", &udta))
      read_track_notes (file, &udta, &track);
    g_array_append_val (origin->tracks, track);
  }
  g_free (header);
  g_free (handler);
}

/* Whether an atom meta holds keys of QuickTime. Four more bytes may stand in front of its atoms. */
static gboolean
has_keys (const guint8 *data, gsize size, gsize *first)
{
  *first = size >= 8 && !memcmp (data + 4, "hdlr", 4) ? 0 : 4;
  return size >= *first + 20 && !memcmp (data + *first + 4, "hdlr", 4) && !memcmp (data + *first + 16, "mdta", 4);
}

static GByteArray *
whole_atom (FILE *file, const Atom *atom)
{
  guint8 *data = atom->size < G_MAXUINT32 && atom->header == 8 ? atom_read (file, atom->begin, atom->size) : NULL;

  return data ? g_byte_array_new_take (data, atom->size) : NULL;
}

static void
read_meta (Origin *origin, FILE *file, const Atom *meta)
{
  GByteArray *whole = origin->keys || meta->size > 1 << 24 ? NULL : whole_atom (file, meta);
  gsize first;

  if (whole && has_keys (whole->data + 8, whole->len - 8, &first))
    origin->keys = whole;
  else
    g_clear_pointer (&whole, g_byte_array_unref);
}

/* Names of tags that GStreamer copies, and what is written anew. */
static gboolean
is_written (const guint8 *name)
{
  static const char *const names[] = { "meta", "chpl", "name", "kind", "\251nam", "\251ART", "\251alb", "\251cmt",
    "\251day", "\251gen", "\251too", "\251swr", "\251cpy", "\251inf", "\251des", "\251enc" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (!memcmp (name, names[i], 4))
      return TRUE;
  return FALSE;
}

static void
read_udta (Origin *origin, FILE *file, const Atom *udta)
{
  guint8 name[4];
  Atom atom;

  for (guint64 at = udta->begin + udta->header; atom_at (file, at, udta->begin + udta->size, name, &atom);
       at += atom.size) {
    GByteArray *whole = is_written (name) || atom.size > 1 << 24 ? NULL : whole_atom (file, &atom);

    if (!memcmp (name, "meta", 4))
      read_meta (origin, file, &atom);
    if (!whole)
      continue;
    if (!origin->notes)
      origin->notes = g_byte_array_new ();
    g_byte_array_append (origin->notes, whole->data, whole->len);
    g_byte_array_unref (whole);
  }
}

static void
read_moov (Origin *origin, FILE *file, const Atom *moov)
{
  guint8 name[4];
  Atom atom;

  for (guint64 at = moov->begin + moov->header; atom_at (file, at, moov->begin + moov->size, name, &atom);
       at += atom.size)
    if (!memcmp (name, "mvhd", 4)) {
      gsize size;
      guint8 *header = atom_content (file, &atom, &size);

      if (header)
        origin->made = made_of (header, size);
      g_free (header);
    } else if (!memcmp (name, "trak", 4))
      read_trak (origin, file, &atom);
    else if (!memcmp (name, "meta", 4))
      read_meta (origin, file, &atom);
    else if (!memcmp (name, "udta", 4))
      read_udta (origin, file, &atom);
}

/* --- Matroska --- */

static const struct
{
  guint32 id;
  guint flag;
} flags[] = { { EBML_FLAG_DEFAULT, TRACK_DEFAULT }, { EBML_FLAG_FORCED, TRACK_FORCED },
  { EBML_FLAG_HEARING, TRACK_HEARING }, { EBML_FLAG_VISUAL, TRACK_VISUAL }, { EBML_FLAG_COMMENT, TRACK_COMMENT } };

char
track_kind_of_type (guint64 type)
{
  return type == 1 ? 'v' : type == 2 ? 's' : type == 17 ? 't' : 0;
}

static void
read_entry (Origin *origin, FILE *file, const Element *entry)
{
  Track track = { .flags = TRACK_DEFAULT };
  Element element;

  for (guint64 at = entry->content; ebml_at (file, at, entry->content + entry->size, &element);
       at = element.content + element.size) {
    const guint64 number = ebml_number (file, &element);

    if (element.id == EBML_TRACK_NUMBER)
      track.id = number;
    else if (element.id == EBML_TRACK_TYPE)
      track.kind = track_kind_of_type (number);
    else if (element.id == EBML_CODEC_DELAY)
      track.delay = number;
    else if (element.id == EBML_TRACK_NAME) {
      g_free (track.name);
      track.name = (char *) ebml_bytes (file, &element);
    }
    for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
      if (element.id == flags[i].id)
        track.flags = number ? track.flags | flags[i].flag : track.flags & ~flags[i].flag;
  }
  g_array_append_val (origin->tracks, track);
}

/* Reads the elements of a Matroska file up to its first cluster of frames. Tracks behind that are not looked for. */
static void
read_elements (Origin *origin, FILE *file, guint64 begin, guint64 end)
{
  Element element;

  for (; ebml_at (file, begin, end, &element) && element.id != EBML_CLUSTER; begin = element.content + element.size)
    if (element.id == EBML_SEGMENT || element.id == EBML_INFO || element.id == EBML_TRACKS)
      read_elements (origin, file, element.content, element.content + element.size);
    else if (element.id == EBML_DATE && element.size == 8)
      origin->made = (gint64) ebml_number (file, &element) / (gint64) GST_SECOND + SECONDS_TO_2001;
    else if (element.id == EBML_TRACK)
      read_entry (origin, file, &element);
}

/* --- both --- */

Origin *
origin_read (const char *name)
{
  Origin *origin = g_new0 (Origin, 1);
  FILE *file = g_file_test (name, G_FILE_TEST_IS_REGULAR) ? g_fopen (name, "rb") : NULL;
  Element element;
  Atom moov;

  origin->made = ORIGIN_UNKNOWN;
  origin->tracks = g_array_new (FALSE, TRUE, sizeof (Track));
  g_array_set_clear_func (origin->tracks, clear_track);
  if (!file)
    return origin;
  if (ebml_at (file, 0, 64, &element) && element.id == 0x1A45DFA3)
    read_elements (origin, file, element.content + element.size, atom_file_size (file));
  else if (atom_find (file, 0, atom_file_size (file), "moov", &moov))
    read_moov (origin, file, &moov);
  fclose (file);
  return origin;
}

/* Whether a tag says a place, or is a picture. Keys are counted from 1; each has its length and a namespace in front. */
static gboolean
tells (const guint8 *keys, gsize size, guint32 number, const guint8 *value, gsize length)
{
  gsize at = 8;

  if (length >= 16 && (value[11] == PICTURES || value[11] == PICTURES + 1))
    return TRUE;
  for (guint32 i = 1; at + 8 <= size; i++) {
    const gsize bytes = GST_READ_UINT32_BE (keys + at);
    char *name;
    gboolean shows;

    if (bytes < 8 || bytes > size - at)
      return TRUE;
    if (i == number) {
      name = g_ascii_strdown ((const char *) keys + at + 8, bytes - 8);
      shows = strstr (name, "location") || strstr (name, "gps") || strstr (name, "artwork");
      g_free (name);
      return shows;
    }
    at += bytes;
  }
  return TRUE;
}

/* Makes free space of each tag that tells something. */
static gboolean
hide_keys (guint8 *data, gsize size)
{
  const guint8 *keys = NULL;
  gsize keys_size = 0, at;
  gboolean hidden = FALSE;

  if (!has_keys (data, size, &at))
    return FALSE;
  while (at + 8 <= size) {
    const gsize length = GST_READ_UINT32_BE (data + at);

    if (length < 8 || length > size - at)
      return hidden;
    if (!memcmp (data + at + 4, "keys", 4)) {
      keys = data + at + 8;
      keys_size = length - 8;
    } else if (!memcmp (data + at + 4, "ilst", 4))
      for (gsize item = at + 8; item + 8 <= at + length;) {
        const gsize bytes = GST_READ_UINT32_BE (data + item);

        if (bytes < 8 || bytes > at + length - item)
          return hidden;
        if (tells (keys, keys_size, GST_READ_UINT32_BE (data + item + 4), data + item + 8, bytes - 8)) {
          memcpy (data + item + 4, "free", 4);
          memset (data + item + 8, 0, bytes - 8);
          hidden = TRUE;
        }
        item += bytes;
      }
    at += length;
  }
  return hidden;
}

gboolean
origin_hide (Origin *origin)
{
  gboolean hidden = origin->notes != NULL;

  g_clear_pointer (&origin->notes, g_byte_array_unref);
  return (origin->keys && hide_keys (origin->keys->data + 8, origin->keys->len - 8)) || hidden;
}
