/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "matroska.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "ebml.h"

#define LONGEST_TEXT (1 << 20)
#define SECONDS_TO_2001 978307200 /* from 1970 */

typedef struct
{
  FILE *file;
  gboolean lit;    /* the brightness is known */
  double max, min; /* candela per square metre */
  guint64 scale;   /* nanoseconds of a tick */
  double duration; /* of the film, in nanoseconds */
  gint64 made;     /* seconds since 1970, or ORIGIN_UNKNOWN */
  const GArray *tracks;
  gboolean failed;
} Mending;

/* Writes over an element's content, which begins here and has this size. */
static void
write_over (Mending *mending, guint64 begin, const void *bytes, gsize size)
{
  if (fseeko (mending->file, begin, SEEK_SET) != 0 || fwrite (bytes, 1, size, mending->file) != size)
    mending->failed = TRUE;
}

/* A text may end before its element does: zeros fill the rest. */
static void
mend_text (Mending *mending, guint64 begin, guint64 size)
{
  char *text = g_malloc0 (size + 1);
  GValue value = G_VALUE_INIT;
  gsize length;

  g_value_init (&value, G_TYPE_STRING);
  if (fread (text, 1, size, mending->file) == size && (length = strlen (text)) >= 2 && text[0] == '"'
      && text[length - 1] == '"' && gst_value_deserialize (&value, text)
      && strlen (g_value_get_string (&value)) < size) {
    memset (text, 0, size);
    strcpy (text, g_value_get_string (&value));
    write_over (mending, begin, text, size);
  }
  g_value_unset (&value);
  g_free (text);
}

static void
mend_number (Mending *mending, guint64 begin, guint64 size, double number)
{
  guint8 bytes[8];

  if (!mending->lit || (size != 8 && size != 4))
    return;
  if (size == 8)
    GST_WRITE_DOUBLE_BE (bytes, number);
  else
    GST_WRITE_FLOAT_BE (bytes, number);
  write_over (mending, begin, bytes, size);
}

/* The duration is not made shorter. */
static void
mend_duration (Mending *mending, guint64 begin, guint64 size)
{
  guint8 bytes[8];
  double has;

  if ((size != 8 && size != 4) || fread (bytes, 1, size, mending->file) != size)
    return;
  has = size == 8 ? GST_READ_DOUBLE_BE (bytes) : GST_READ_FLOAT_BE (bytes);
  if (mending->duration / mending->scale <= has)
    return;
  if (size == 8)
    GST_WRITE_DOUBLE_BE (bytes, mending->duration / mending->scale);
  else
    GST_WRITE_FLOAT_BE (bytes, mending->duration / mending->scale);
  write_over (mending, begin, bytes, size);
}

/* The muxer writes the time of today; where the film has none, a Void of the same size stands in its place. */
static void
mend_date (Mending *mending, const Element *date)
{
  guint8 bytes[16] = { EBML_VOID };
  const gsize size = date->content + date->size - date->begin;

  if (date->size != 8)
    return;
  if (mending->made == ORIGIN_UNKNOWN && size <= sizeof bytes) {
    bytes[1] = 0x80 | (size - 2);
    write_over (mending, date->begin, bytes, size);
  } else if (mending->made != ORIGIN_UNKNOWN) {
    GST_WRITE_UINT64_BE (bytes, (guint64) (mending->made - SECONDS_TO_2001) * GST_SECOND);
    write_over (mending, date->content, bytes, 8);
  }
}

/* --- names and flags of tracks --- */

/* Names that the muxer gives to tracks without one. */
static gboolean
is_usual_name (const guint8 *name)
{
  return g_strv_contains ((const char *const[]){ "Video", "Audio", "Subtitle", NULL }, (const char *) name);
}

static char
kind_of_entry (Mending *mending, const Element *entry)
{
  Element element;

  for (guint64 at = entry->content; ebml_at (mending->file, at, entry->content + entry->size, &element);
       at = element.content + element.size)
    if (element.id == EBML_TRACK_TYPE)
      return track_kind_of_type (ebml_number (mending->file, &element));
  return 0;
}

/* Copies elements with as few bytes for sizes as can be; names that the muxer made up are left out. */
static void
copy_elements (Mending *mending, const Element *parent, gboolean named, GByteArray *to)
{
  Element element;

  for (guint64 at = parent->content; ebml_at (mending->file, at, parent->content + parent->size, &element);
       at = element.content + element.size) {
    guint8 *bytes = ebml_bytes (mending->file, &element);
    GByteArray *inside = g_byte_array_new ();

    if (element.id == EBML_VIDEO || element.id == EBML_AUDIO) {
      copy_elements (mending, &element, TRUE, inside);
      ebml_append (to, element.id, inside->data, inside->len);
    } else if (bytes && (named || element.id != EBML_TRACK_NAME || !is_usual_name (bytes)))
      ebml_append (to, element.id, bytes, element.size);
    else if (!bytes)
      mending->failed = TRUE;
    g_byte_array_unref (inside);
    g_free (bytes);
  }
}

/* Default is on where nothing stands, and the others are off. */
static void
append_flags (GByteArray *to, guint flags)
{
  static const struct
  {
    guint32 id;
    guint flag;
  } all[] = { { EBML_FLAG_FORCED, TRACK_FORCED }, { EBML_FLAG_HEARING, TRACK_HEARING },
    { EBML_FLAG_VISUAL, TRACK_VISUAL }, { EBML_FLAG_COMMENT, TRACK_COMMENT } };

  if (!(flags & TRACK_DEFAULT))
    ebml_append (to, EBML_FLAG_DEFAULT, "", 1);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (flags & all[i].flag)
      ebml_append (to, all[i].id, "\1", 1);
}

/*
 * Writes Tracks anew in its place. The muxer takes eight bytes for each size, and most need one. So there is room for flags, and what is
 * left becomes a Void. Where the room is too small, the file stays as it is.
 */
static void
mend_tracks (Mending *mending, const Element *old)
{
  const gsize room = old->content + old->size - old->begin;
  GByteArray *content = g_byte_array_new (), *made = g_byte_array_new ();
  guint counts[128] = { 0 }; /* of each kind */
  Element entry;

  for (guint64 at = old->content; ebml_at (mending->file, at, old->content + old->size, &entry);
       at = entry.content + entry.size) {
    const char kind = entry.id == EBML_TRACK ? kind_of_entry (mending, &entry) : 0;
    const Track *track = kind ? track_of_kind (mending->tracks, kind, counts[(guint8) kind]++) : NULL;
    GByteArray *inside = g_byte_array_new ();

    copy_elements (mending, &entry, track && track->name, inside);
    if (track)
      append_flags (inside, track->flags);
    ebml_append (content, entry.id, inside->data, inside->len);
    g_byte_array_unref (inside);
  }
  ebml_append (made, EBML_TRACKS, content->data, content->len);
  /* A Void has two bytes at least. One for its size goes up to 126, and two go on. */
  if (made->len + 2 <= room) {
    const gsize left = room - made->len;
    guint8 *zeros = g_malloc0 (left);

    ebml_append (made, EBML_VOID, zeros, left - 2 - (left > 2 + 126));
    g_free (zeros);
  }
  if (made->len == room && !mending->failed)
    write_over (mending, old->begin, made->data, made->len);
  g_byte_array_unref (content);
  g_byte_array_unref (made);
}

/* Goes through the elements between two places, and into those that hold what is to be mended. */
static void
mend_elements (Mending *mending, guint64 begin, guint64 end)
{
  Element element;

  for (; !mending->failed && ebml_at (mending->file, begin, end, &element); begin = element.content + element.size) {
    const guint64 id = element.id;

    if (id == EBML_SEGMENT || id == EBML_INFO || id == EBML_TRACKS || id == EBML_TRACK || id == EBML_VIDEO
        || id == EBML_COLOUR || id == EBML_MASTERING || id == EBML_TAGS || id == EBML_TAG || id == EBML_SIMPLE_TAG)
      mend_elements (mending, element.content, element.content + element.size);
    if (id == EBML_TRACKS)
      mend_tracks (mending, &element);
    else if (id == EBML_TAG_STRING && element.size < LONGEST_TEXT)
      mend_text (mending, element.content, element.size);
    else if (id == EBML_TIME_SCALE)
      mending->scale = MAX (ebml_number (mending->file, &element), 1);
    else if (id == EBML_DURATION)
      mend_duration (mending, element.content, element.size);
    else if (id == EBML_DATE)
      mend_date (mending, &element);
    else if (id == EBML_LUMINANCE_MAX || id == EBML_LUMINANCE_MIN)
      mend_number (mending, element.content, element.size, id == EBML_LUMINANCE_MAX ? mending->max : mending->min);
  }
}

/* The last two of ten numbers that are split by colons, in ten-thousandths. */
static void
read_mastering (Mending *mending, const char *text)
{
  char **numbers = g_strsplit (text ? text : "", ":", -1);

  if (g_strv_length (numbers) == 10) {
    mending->max = g_ascii_strtoull (numbers[8], NULL, 10) / 1e4;
    mending->min = g_ascii_strtoull (numbers[9], NULL, 10) / 1e4;
    mending->lit = TRUE;
  }
  g_strfreev (numbers);
}

gboolean
matroska_mend (const char *name, const char *mastering, GstClockTime end, const Origin *origin, const GArray *tracks,
    GError **error)
{
  Mending mending = { .file = g_fopen (name, "r+b"),
    .scale = GST_MSECOND,
    .duration = (double) end,
    .made = origin->made,
    .tracks = tracks };

  mending.failed = !mending.file;
  if (mending.file) {
    read_mastering (&mending, mastering);
    if (fseeko (mending.file, 0, SEEK_END) == 0)
      mend_elements (&mending, 0, ftello (mending.file));
    mending.failed = fclose (mending.file) != 0 || mending.failed;
  }
  if (mending.failed)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "the tags could not be written: %s",
        g_strerror (errno));
  return !mending.failed;
}
