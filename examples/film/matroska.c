/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "matroska.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#define LONGEST_TEXT (1 << 20)

/* Elements of Matroska (RFC 9559). */
enum
{
  SEGMENT = 0x18538067,
  INFO = 0x1549A966,
  TIME_SCALE = 0x2AD7B1,
  DURATION = 0x4489,
  TRACKS = 0x1654AE6B,
  TRACK = 0xAE,
  VIDEO = 0xE0,
  COLOUR = 0x55B0,
  MASTERING = 0x55D0,
  LUMINANCE_MAX = 0x55D9,
  LUMINANCE_MIN = 0x55DA,
  TAGS = 0x1254C367,
  TAG = 0x7373,
  SIMPLE_TAG = 0x67C8,
  TAG_STRING = 0x4487
};

typedef struct
{
  FILE *file;
  gboolean lit;    /* the brightness is known */
  double max, min; /* candela per square metre */
  guint64 scale;   /* nanoseconds of a tick */
  double duration; /* of the film, in nanoseconds */
  gboolean failed;
} Mending;

/* A number whose first bit that is set tells its length; keep leaves that bit in. FALSE where there is none. */
static gboolean
read_number (FILE *file, gboolean keep, guint64 *number)
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
  return TRUE;
}

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

/* The scale stands before the duration. */
static void
read_scale (Mending *mending, guint64 size)
{
  guint8 bytes[8];

  if (size == 0 || size > 8 || fread (bytes, 1, size, mending->file) != size)
    return;
  mending->scale = 0;
  for (guint64 i = 0; i < size; i++)
    mending->scale = mending->scale << 8 | bytes[i];
  mending->scale = MAX (mending->scale, 1);
}

/* Goes through the elements between two places, and into those that hold what is to be mended. */
static void
mend_elements (Mending *mending, guint64 begin, guint64 end)
{
  while (begin < end && !mending->failed) {
    guint64 id, size, content;

    if (fseeko (mending->file, begin, SEEK_SET) != 0 || !read_number (mending->file, TRUE, &id)
        || !read_number (mending->file, FALSE, &size))
      return;
    content = ftello (mending->file);
    if (size > end - content)
      return;
    if (id == SEGMENT || id == INFO || id == TRACKS || id == TRACK || id == VIDEO || id == COLOUR || id == MASTERING
        || id == TAGS || id == TAG || id == SIMPLE_TAG)
      mend_elements (mending, content, content + size);
    else if (id == TAG_STRING && size < LONGEST_TEXT)
      mend_text (mending, content, size);
    else if (id == TIME_SCALE)
      read_scale (mending, size);
    else if (id == DURATION)
      mend_duration (mending, content, size);
    else if (id == LUMINANCE_MAX || id == LUMINANCE_MIN)
      mend_number (mending, content, size, id == LUMINANCE_MAX ? mending->max : mending->min);
    begin = content + size;
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
matroska_mend (const char *name, const char *mastering, GstClockTime end, GError **error)
{
  Mending mending = { .file = g_fopen (name, "r+b"), .scale = GST_MSECOND, .duration = (double) end };

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
