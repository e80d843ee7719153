/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "edits.h"

#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "atoms.h"

/* A table of runs: how many samples have a value. */
typedef struct
{
  const guint8 *rows;
  guint n, row;
  guint32 left; /* samples of this row */
} Runs;

static void
runs_begin (Runs *runs, const guint8 *data, gsize size)
{
  *runs = (Runs){ 0 };
  if (!data || size < 8)
    return;
  runs->rows = data + 8;
  runs->n = MIN (GST_READ_UINT32_BE (data + 4), (size - 8) / 8);
  runs->left = runs->n ? GST_READ_UINT32_BE (runs->rows) : 0;
}

/* The value of the next sample. FALSE behind the last one. */
static gboolean
runs_next (Runs *runs, gint32 *value)
{
  while (runs->left == 0) {
    if (++runs->row >= runs->n)
      return FALSE;
    runs->left = GST_READ_UINT32_BE (runs->rows + 8 * runs->row);
  }
  *value = (gint32) GST_READ_UINT32_BE (runs->rows + 8 * runs->row + 4);
  runs->left--;
  return TRUE;
}

/* Where the frame that is shown last ends, in the track's units. */
static gint64
end_of (FILE *file, const Atom *table)
{
  Atom stts, ctts;
  gsize size, other = 0;
  guint8 *durations = atom_find_in (file, table, "stts", &stts) ? atom_content (file, &stts, &size) : NULL;
  guint8 *offsets = atom_find_in (file, table, "ctts", &ctts) ? atom_content (file, &ctts, &other) : NULL;
  gint64 time = 0, end = 0;
  gint32 duration, offset;
  Runs steps, shifts;

  runs_begin (&steps, durations, durations ? size : 0);
  runs_begin (&shifts, offsets, other);
  while (runs_next (&steps, &duration)) {
    if (!runs_next (&shifts, &offset))
      offset = 0;
    end = MAX (end, time + offset + duration);
    time += duration;
  }
  g_free (durations);
  g_free (offsets);
  return end;
}

/* The ticks in a second that mvhd and mdhd state. */
static guint32
scale_of (FILE *file, const Atom *header)
{
  gsize size;
  guint8 *data = atom_content (file, header, &size);
  guint32 scale = 0;

  if (data && size >= 24)
    scale = GST_READ_UINT32_BE (data + (data[0] == 1 ? 20 : 12));
  g_free (data);
  return scale;
}

static gboolean
write_at (FILE *file, guint64 place, const guint8 *bytes, gsize size)
{
  return fseeko (file, place, SEEK_SET) == 0 && fwrite (bytes, 1, size, file) == size;
}

/* Makes the duration in a header, which lies there in version 0 and 1, no less than this one. */
static gboolean
lengthen_header (FILE *file, const Atom *header, guint place, guint long_place, guint64 needs)
{
  gsize size;
  guint8 *data = atom_content (file, header, &size), *at;
  const gboolean is_long = data && size > 0 && data[0] == 1;
  gboolean ok = TRUE;

  if (data && size >= (is_long ? long_place + 8 : place + 4)) {
    at = data + (is_long ? long_place : place);
    if (is_long && GST_READ_UINT64_BE (at) < needs) {
      GST_WRITE_UINT64_BE (at, needs);
      ok = write_at (file, header->begin + header->header + long_place, at, 8);
    } else if (!is_long && needs <= G_MAXUINT32 && GST_READ_UINT32_BE (at) < needs) {
      GST_WRITE_UINT32_BE (at, needs);
      ok = write_at (file, header->begin + header->header + place, at, 4);
    }
  }
  g_free (data);
  return ok;
}

/* A file, and what holds for all its tracks. */
typedef struct
{
  FILE *file;
  Atom header;       /* mvhd */
  guint32 scale;     /* ticks in a second, of edit lists */
  GstClockTime most; /* where the last stream ends */
} Film;

static guint64
duration_of (const guint8 *entry, gboolean is_long)
{
  return is_long ? GST_READ_UINT64_BE (entry) : GST_READ_UINT32_BE (entry);
}

/*
 * Lengthens the last entry of a list that is version 0 or 1, up to the end of the track, but not beyond that of the film. all is the
 * duration of all entries then.
 */
static gboolean
lengthen (const Film *film, const Atom *elst, gint64 end, guint32 scale, guint64 *all)
{
  gsize size;
  guint8 *data = atom_content (film->file, elst, &size);
  const gboolean is_long = data && size > 0 && data[0] == 1;
  const guint row = is_long ? 20 : 12;
  const guint n = data && size >= 8 ? GST_READ_UINT32_BE (data + 4) : 0;
  gboolean ok = TRUE;

  *all = 0;
  if (n > 0 && size >= 8 + (gsize) n * row) {
    const guint64 most = gst_util_uint64_scale_ceil (film->most, film->scale, GST_SECOND);
    guint8 *last = data + 8 + (n - 1) * row, *time = last + (is_long ? 8 : 4);
    const gint64 begin = is_long ? (gint64) GST_READ_UINT64_BE (time) : (gint32) GST_READ_UINT32_BE (time);
    guint64 needs = begin < 0 ? 0 : gst_util_uint64_scale_ceil (MAX (0, end - begin), film->scale, scale);

    for (guint i = 0; i + 1 < n; i++)
      *all += duration_of (data + 8 + i * row, is_long);
    needs = MIN (needs, most > *all ? most - *all : 0);
    if (needs > duration_of (last, is_long) && (is_long || needs <= G_MAXUINT32)) {
      if (is_long)
        GST_WRITE_UINT64_BE (last, needs);
      else
        GST_WRITE_UINT32_BE (last, needs);
      ok = write_at (film->file, elst->begin + elst->header + (last - data), last, row);
    }
    *all += duration_of (last, is_long);
  }
  g_free (data);
  return ok;
}

static gboolean
mend_track (const Film *film, const Atom *trak)
{
  FILE *file = film->file;
  guint64 all;
  Atom tkhd, edts, elst, mdia, mdhd, minf, stbl;
  guint32 scale;

  if (!atom_find_in (file, trak, "edts", &edts) || !atom_find_in (file, &edts, "elst", &elst)
      || !atom_find_in (file, trak, "mdia", &mdia) || !atom_find_in (file, &mdia, "mdhd", &mdhd)
      || !atom_find_in (file, &mdia, "minf", &minf) || !atom_find_in (file, &minf, "stbl", &stbl))
    return TRUE;
  scale = scale_of (file, &mdhd);
  if (scale == 0 || film->scale == 0)
    return TRUE;
  return lengthen (film, &elst, end_of (file, &stbl), scale, &all)
      && (!atom_find_in (file, trak, "tkhd", &tkhd) || lengthen_header (file, &tkhd, 20, 28, all))
      && lengthen_header (file, &film->header, 16, 24, all);
}

gboolean
edits_mend (const char *name, GstClockTime end, GError **error)
{
  Film film = { .file = g_fopen (name, "r+b"), .most = end };
  gboolean ok = film.file != NULL;
  Atom moov, atom;
  guint8 kind[4];

  if (film.file && atom_find (film.file, 0, atom_file_size (film.file), "moov", &moov)
      && atom_find_in (film.file, &moov, "mvhd", &film.header)) {
    film.scale = scale_of (film.file, &film.header);
    for (guint64 at = moov.begin + moov.header; ok && atom_at (film.file, at, moov.begin + moov.size, kind, &atom);
         at += atom.size)
      if (!memcmp (kind, "trak", 4))
        ok = mend_track (&film, &atom);
  }
  if (film.file)
    ok = fclose (film.file) == 0 && ok;
  if (!ok)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "the edit lists could not be written: %s",
        g_strerror (errno));
  return ok;
}
