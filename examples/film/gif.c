/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gif.h"

#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>
#include <gst/app/gstappsrc.h>

#define USUAL_DELAY (GST_SECOND / 10) /* of a frame that states none, as browsers have it */

gboolean
gif_is (const char *file)
{
  /* Bytes that were read from a pipe cannot be read again. */
  FILE *stream = g_file_test (file, G_FILE_TEST_IS_REGULAR) ? g_fopen (file, "rb") : NULL;
  char head[6] = "";
  gboolean is;

  if (!stream)
    return FALSE;
  is = fread (head, 1, sizeof head, stream) == sizeof head
      && (!memcmp (head, "GIF87a", 6) || !memcmp (head, "GIF89a", 6));
  fclose (stream);
  return is;
}

typedef struct
{
  const guint8 *data;
  gsize size, at;
} Reader;

/* Bytes of the table of colours that a byte of flags announces. */
static gsize
table_size (guint8 flags)
{
  return flags & 0x80 ? 3u << ((flags & 7) + 1) : 0;
}

/* Goes behind blocks of data, each of which begins with its length, up to an empty one. */
static gboolean
skip_blocks (Reader *reader)
{
  while (reader->at < reader->size) {
    const guint8 length = reader->data[reader->at++];

    if (length == 0)
      return TRUE;
    reader->at += length;
  }
  return FALSE;
}

/* Goes behind the next picture, with what stands before it. FALSE at the end, or where the file is cut off. */
static gboolean
skip_frame (Reader *reader, GstClockTime *delay)
{
  *delay = USUAL_DELAY;
  while (reader->at + 10 < reader->size) {
    const guint8 *block = reader->data + reader->at;

    if (block[0] == ',') {
      reader->at += 10 + table_size (block[9]) + 1; /* the descriptor, its colours, and the code size */
      return skip_blocks (reader);
    }
    if (block[0] != '!')
      return FALSE;
    /* Hundredths of a second; browsers take 0 and 1 for no delay at all. */
    if (block[1] == 0xf9 && GST_READ_UINT16_LE (block + 4) > 1)
      *delay = GST_READ_UINT16_LE (block + 4) * (GST_SECOND / 100);
    reader->at += 2;
    if (!skip_blocks (reader))
      return FALSE;
  }
  return FALSE;
}

/* When a frame begins, and for how long it stays. */
typedef struct
{
  GstClockTime begin, duration;
} Time;

#define TIMES "cudaconvolve-film-times"

static void
push (GstAppSrc *source, const guint8 *data, gsize size, GstClockTime time, GstClockTime delay)
{
  GstBuffer *buffer = gst_buffer_new_memdup (data, size);

  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = time;
  GST_BUFFER_DURATION (buffer) = delay;
  gst_app_src_push_buffer (source, buffer);
}

/* Where all frames stay for one time, the film has a rate; otherwise the times of the frames tell. */
static void
set_rate (GstAppSrc *source, const GArray *times)
{
  const Time *first = &g_array_index (times, Time, 0);
  GstCaps *old, *caps;

  for (guint i = 1; i < times->len; i++)
    if (g_array_index (times, Time, i).duration != first->duration)
      return;
  if (times->len < 2)
    return;
  old = gst_app_src_get_caps (source);
  caps = gst_caps_copy (old);
  gst_caps_unref (old);
  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 100, (int) (first->duration / (GST_SECOND / 100)), NULL);
  gst_app_src_set_caps (source, caps);
  gst_caps_unref (caps);
}

/* The decoder wants the head of the file in front of the first frame. */
static guint
push_frames (GstAppSrc *source, Reader *reader)
{
  GstClockTime time = 0, delay;
  gsize begin = 0;
  GArray *times = g_array_new (FALSE, FALSE, sizeof (Time));
  guint frames = 0;

  g_object_set_data_full (G_OBJECT (source), TIMES, times, (GDestroyNotify) g_array_unref);
  reader->at = 13 + table_size (reader->data[10]);
  while (skip_frame (reader, &delay) && reader->at <= reader->size) {
    push (source, reader->data + begin, reader->at - begin, time, delay);
    g_array_append_vals (times, &(Time){ time, delay }, 1);
    begin = reader->at;
    time += delay;
    frames++;
  }
  g_object_set (source, "duration", time, NULL);
  set_rate (source, times);
  return frames;
}

typedef struct
{
  GArray *times;
  guint next;
} Stamps;

static void
stamps_free (gpointer data)
{
  Stamps *stamps = data;

  g_array_unref (stamps->times);
  g_free (stamps);
}

static GstPadProbeReturn
stamp_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stamps *stamps = data;
  GstBuffer *frame;

  if (stamps->next >= stamps->times->len)
    return GST_PAD_PROBE_OK;
  frame = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_BUFFER_PTS (frame) = g_array_index (stamps->times, Time, stamps->next).begin;
  GST_BUFFER_DURATION (frame) = g_array_index (stamps->times, Time, stamps->next).duration;
  stamps->next++;
  GST_PAD_PROBE_INFO_DATA (info) = frame;
  return GST_PAD_PROBE_OK;
}

void
gif_stamp (GstElement *source, GstPad *pad)
{
  GArray *times = g_object_get_data (G_OBJECT (source), TIMES);
  Stamps *stamps;

  if (!times)
    return;
  stamps = g_new0 (Stamps, 1);
  stamps->times = g_array_ref (times);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, stamp_frame, stamps, stamps_free);
}

GstElement *
gif_make (const char *file, GError **error)
{
  GstElement *source;
  GstCaps *caps;
  char *data;
  gsize size;
  guint frames = 0;

  if (!g_file_get_contents (file, &data, &size, error))
    return NULL;
  source = gst_element_factory_make ("appsrc", NULL);
  if (size > 13) {
    Reader reader = { (const guint8 *) data, size, 0 };

    caps = gst_caps_new_simple ("image/gst-libav-gif", "width", G_TYPE_INT, GST_READ_UINT16_LE (data + 6), "height",
        G_TYPE_INT, GST_READ_UINT16_LE (data + 8), "framerate", GST_TYPE_FRACTION, 0, 1, "parsed", G_TYPE_BOOLEAN, TRUE,
        NULL);
    g_object_set (source, "caps", caps, "format", GST_FORMAT_TIME, "max-bytes", (guint64) 0, NULL);
    gst_caps_unref (caps);
    frames = push_frames (GST_APP_SRC (source), &reader);
    gst_app_src_end_of_stream (GST_APP_SRC (source));
  }
  g_free (data);
  if (frames > 0)
    return source;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DEMUX, "the GIF holds no whole picture");
  gst_object_unref (source);
  return NULL;
}
