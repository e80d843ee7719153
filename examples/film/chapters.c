/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "chapters.h"

#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "atoms.h"

#define MOST 255 /* chapters, because chpl counts in a byte */
#define TICK 100 /* nanoseconds of chpl's unit of time */

typedef struct
{
  GstClockTime begin;
  char *title;
} Chapter;

struct _Chapters
{
  GArray *list; /* Chapter, in the order of their times */
};

static void
clear_chapter (gpointer data)
{
  g_free (((Chapter *) data)->title);
}

static Chapters *
new_chapters (void)
{
  Chapters *chapters = g_new0 (Chapters, 1);

  chapters->list = g_array_new (FALSE, TRUE, sizeof (Chapter));
  g_array_set_clear_func (chapters->list, clear_chapter);
  return chapters;
}

void
chapters_free (Chapters *chapters)
{
  g_array_unref (chapters->list);
  g_free (chapters);
}

/* The chapters, or NULL where there are none. */
static Chapters *
not_empty (Chapters *chapters)
{
  if (chapters->list->len == 0)
    g_clear_pointer (&chapters, chapters_free);
  return chapters;
}

guint
chapters_count (const Chapters *chapters)
{
  return chapters->list->len;
}

/* --- GstToc --- */

static void
add_entries (Chapters *chapters, GList *entries)
{
  for (; entries; entries = entries->next) {
    GstTocEntry *entry = entries->data;
    GstTagList *tags = gst_toc_entry_get_tags (entry);
    Chapter chapter = { 0 };
    gint64 begin;

    if (gst_toc_entry_get_entry_type (entry) != GST_TOC_ENTRY_TYPE_CHAPTER) {
      add_entries (chapters, gst_toc_entry_get_sub_entries (entry));
      continue;
    }
    if (!gst_toc_entry_get_start_stop_times (entry, &begin, NULL) || begin < 0)
      continue;
    chapter.begin = begin;
    if (!tags || !gst_tag_list_get_string (tags, GST_TAG_TITLE, &chapter.title))
      chapter.title = g_strdup ("");
    g_array_append_val (chapters->list, chapter);
  }
}

Chapters *
chapters_from_toc (const GstToc *toc)
{
  Chapters *chapters = new_chapters ();

  add_entries (chapters, gst_toc_get_entries (toc));
  return not_empty (chapters);
}

/* A chapter ends where the next one begins. */
GstToc *
chapters_to_toc (const Chapters *chapters, GstClockTime film)
{
  GstToc *toc = gst_toc_new (GST_TOC_SCOPE_GLOBAL);
  GstTocEntry *edition = gst_toc_entry_new (GST_TOC_ENTRY_TYPE_EDITION, "1");

  for (guint i = 0; i < chapters->list->len; i++) {
    const Chapter *chapter = &g_array_index (chapters->list, Chapter, i);
    char *uid = g_strdup_printf ("%u", i + 1);
    GstTocEntry *entry = gst_toc_entry_new (GST_TOC_ENTRY_TYPE_CHAPTER, uid);
    const GstClockTime end = i + 1 < chapters->list->len ? (chapter + 1)->begin
        : film > chapter->begin                          ? film
                                                         : chapter->begin + GST_SECOND;

    gst_toc_entry_set_start_stop_times (entry, chapter->begin, end);
    gst_toc_entry_set_tags (entry, gst_tag_list_new (GST_TAG_TITLE, *chapter->title ? chapter->title : uid, NULL));
    gst_toc_entry_append_sub_entry (edition, entry);
    g_free (uid);
  }
  gst_toc_append_entry (toc, edition);
  return toc;
}

/* --- the box chpl --- */

/* Version 1 of chpl: version and flags, a reserved word, a count, then for each a time and a text with its length. */
static void
parse_chpl (Chapters *chapters, const guint8 *data, gsize size)
{
  gsize at = 9;
  guint count;

  if (size < at || data[0] != 1)
    return;
  for (count = data[8]; count > 0 && at + 9 <= size && at + 9 + data[at + 8] <= size; count--) {
    const char *title = (const char *) data + at + 9;
    const Chapter chapter = { GST_READ_UINT64_BE (data + at) * TICK, g_strndup (title, data[at + 8]) };

    g_array_append_val (chapters->list, chapter);
    at += 9 + data[at + 8];
  }
}

Chapters *
chapters_read (const char *name)
{
  FILE *file = g_fopen (name, "rb");
  Chapters *chapters = new_chapters ();
  Atom moov, udta, chpl;

  if (file && atom_find (file, 0, atom_file_size (file), "moov", &moov)
      && atom_find (file, moov.begin + moov.header, moov.begin + moov.size, "udta", &udta)
      && atom_find (file, udta.begin + udta.header, udta.begin + udta.size, "chpl", &chpl) && chpl.size < 1 << 17) {
    guint8 *data = g_malloc (chpl.size);

    if (fseeko (file, chpl.begin + chpl.header, SEEK_SET) == 0
        && fread (data, 1, chpl.size - chpl.header, file) == chpl.size - chpl.header)
      parse_chpl (chapters, data, chpl.size - chpl.header);
    g_free (data);
  }
  g_clear_pointer (&file, fclose);
  return not_empty (chapters);
}

GByteArray *
chapters_to_chpl (const Chapters *chapters)
{
  GByteArray *content = g_byte_array_new ();
  const guint count = MIN (chapters->list->len, MOST);
  const guint8 head[9] = { 1, 0, 0, 0, 0, 0, 0, 0, count };

  g_byte_array_append (content, head, sizeof head);
  for (guint i = 0; i < count; i++) {
    const Chapter *chapter = &g_array_index (chapters->list, Chapter, i);
    gsize length = strlen (chapter->title);
    guint8 time[9];

    /* A title is cut between two characters. */
    if (length > 255)
      length = g_utf8_find_prev_char (chapter->title, chapter->title + 256) - chapter->title;
    GST_WRITE_UINT64_BE (time, chapter->begin / TICK);
    time[8] = length;
    g_byte_array_append (content, time, sizeof time);
    g_byte_array_append (content, (const guint8 *) chapter->title, length);
  }
  return content;
}

/* Whether the track is one of time codes, by its handler. */
static gboolean
is_time_code (FILE *file, const Atom *trak)
{
  guint8 handler[12];
  Atom mdia, hdlr;

  return atom_find (file, trak->begin + trak->header, trak->begin + trak->size, "mdia", &mdia)
      && atom_find (file, mdia.begin + mdia.header, mdia.begin + mdia.size, "hdlr", &hdlr)
      && fseeko (file, hdlr.begin + hdlr.header, SEEK_SET) == 0 && fread (handler, sizeof handler, 1, file) == 1
      && !memcmp (handler + 8, "tmcd", 4);
}

guint
time_codes_count (const char *name)
{
  FILE *file = g_fopen (name, "rb");
  Atom moov, trak;
  guint count = 0;

  if (file && atom_find (file, 0, atom_file_size (file), "moov", &moov))
    for (guint64 at = moov.begin + moov.header; atom_find (file, at, moov.begin + moov.size, "trak", &trak);
         at = trak.begin + trak.size)
      count += is_time_code (file, &trak);
  g_clear_pointer (&file, fclose);
  return count;
}
