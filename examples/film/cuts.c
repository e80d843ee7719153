/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuts.h"

#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "atoms.h"

/* Bytes of the file that are to be others. */
typedef struct
{
  guint64 place;
  gsize size;
  guint8 bytes[8];
} Patch;

/* A duration and the ticks of its second, as mvhd and mdhd have them. */
typedef struct
{
  guint64 place, duration;
  guint32 scale;
  gboolean is_long;
} Header;

static gboolean
read_header (FILE *file, const Atom *atom, Header *header)
{
  gsize size;
  guint8 *data = atom_content (file, atom, &size);
  gboolean ok = data && size >= 20;

  if (ok) {
    header->is_long = data[0] == 1;
    ok = size >= (header->is_long ? 32 : 20);
  }
  if (ok) {
    const guint at = header->is_long ? 20 : 12;

    header->scale = GST_READ_UINT32_BE (data + at);
    header->duration = header->is_long ? GST_READ_UINT64_BE (data + at + 4) : GST_READ_UINT32_BE (data + at + 4);
    header->place = atom->begin + atom->header + at + 4;
  }
  g_free (data);
  return ok && header->scale > 0;
}

/* The latest time, counted from the first frame of the file, that an edit of the track shows. */
static GstClockTime
latest_of (FILE *file, const Atom *trak, guint32 film_scale)
{
  Atom edts, elst, mdia, mdhd;
  Header media;
  GstClockTime latest = 0;
  gsize size;
  guint8 *data;

  if (!atom_find_in (file, trak, "edts", &edts) || !atom_find_in (file, &edts, "elst", &elst)
      || !atom_find_in (file, trak, "mdia", &mdia) || !atom_find_in (file, &mdia, "mdhd", &mdhd)
      || !read_header (file, &mdhd, &media) || !(data = atom_content (file, &elst, &size)))
    return 0;
  if (size >= 8) {
    const gboolean is_long = data[0] == 1;
    const guint row = is_long ? 20 : 12, n = MIN (GST_READ_UINT32_BE (data + 4), (size - 8) / row);

    for (guint i = 0; i < n; i++) {
      const guint8 *entry = data + 8 + i * row;
      const guint64 duration = is_long ? GST_READ_UINT64_BE (entry) : GST_READ_UINT32_BE (entry);
      const gint64 begin = is_long ? (gint64) GST_READ_UINT64_BE (entry + 8) : (gint32) GST_READ_UINT32_BE (entry + 4);

      if (begin > 0)
        latest = MAX (latest,
            gst_util_uint64_scale_ceil (begin, GST_SECOND, media.scale)
                + gst_util_uint64_scale_ceil (duration, GST_SECOND, film_scale));
    }
  }
  g_free (data);
  return latest;
}

static GstPadProbeReturn
bytes_come (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const Patch *patch = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  guint64 begin, end, at, until;

  if (!buffer)
    return GST_PAD_PROBE_OK;
  begin = GST_BUFFER_OFFSET (buffer);
  end = begin + gst_buffer_get_size (buffer);
  at = MAX (begin, patch->place);
  until = MIN (end, patch->place + patch->size);
  if (!GST_BUFFER_OFFSET_IS_VALID (buffer) || at >= until)
    return GST_PAD_PROBE_OK;
  buffer = gst_buffer_make_writable (buffer);
  gst_buffer_fill (buffer, at - begin, patch->bytes + (at - patch->place), until - at);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

static void
put_duration (GstElement *source, const Header *film, guint64 duration)
{
  GstPad *pad = gst_element_get_static_pad (source, "src");
  Patch *patch = g_new0 (Patch, 1);

  patch->place = film->place;
  patch->size = film->is_long ? 8 : 4;
  if (film->is_long)
    GST_WRITE_UINT64_BE (patch->bytes, duration);
  else
    GST_WRITE_UINT32_BE (patch->bytes, duration);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_PULL | GST_PAD_PROBE_TYPE_PUSH, bytes_come,
      patch, g_free);
  gst_object_unref (pad);
}

GstClockTime
cuts_mend (GstElement *source, const char *name)
{
  FILE *file = g_fopen (name, "rb");
  GstClockTime latest = 0, states = 0;
  Atom moov, trak, mvhd;
  Header film;

  if (file && atom_find (file, 0, atom_file_size (file), "moov", &moov) && atom_find_in (file, &moov, "mvhd", &mvhd)
      && read_header (file, &mvhd, &film)) {
    for (guint64 at = moov.begin + moov.header; atom_find (file, at, moov.begin + moov.size, "trak", &trak);
         at = trak.begin + trak.size)
      latest = MAX (latest, latest_of (file, &trak, film.scale));
    states = gst_util_uint64_scale (film.duration, GST_SECOND, film.scale);
  }
  g_clear_pointer (&file, fclose);
  if (latest <= states || gst_util_uint64_scale_ceil (latest, film.scale, GST_SECOND) >= G_MAXUINT32)
    return 0;
  put_duration (source, &film, gst_util_uint64_scale_ceil (latest, film.scale, GST_SECOND));
  return latest - states;
}

/* The answer goes through the pad, too. */
static GstPadProbeReturn
query_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstFormat format;
  gint64 duration;

  if (!(GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_PULL) || GST_QUERY_TYPE (query) != GST_QUERY_DURATION)
    return GST_PAD_PROBE_OK;
  gst_query_parse_duration (query, &format, &duration);
  if (format == GST_FORMAT_TIME && duration > 0)
    gst_query_set_duration (query, format, MAX (0, duration - (gint64) * (GstClockTime *) data));
  return GST_PAD_PROBE_OK;
}

void
cuts_take_off (GstPad *pad, GstClockTime surplus)
{
  if (surplus > 0)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, query_comes, g_memdup2 (&surplus, sizeof surplus),
        g_free);
}
