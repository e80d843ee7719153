/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _DEFAULT_SOURCE /* what POSIX has beside C11 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "../progress.h"

enum
{
  BLOCK = 64 * 1024,
  BLOCKS = 256 /* of a fingerprint: 16 MiB */
};

void
record_clear (Record *record)
{
  g_free (record->fingerprint);
  g_free (record->properties);
  g_free (record->property_files);
  g_free (record->version);
  g_free (record->before);
  g_free (record->decoded);
  g_free (record->format);
  g_free (record->device);
  g_free (record->sum);
}

/* --- checksums of files --- */

/* Adds `count` bytes from `offset` on. FALSE where the file has fewer. */
static gboolean
add_bytes (GChecksum *sum, int file, guint64 offset, guint64 count)
{
  guchar *block = g_malloc (BLOCK);

  while (count > 0) {
    ssize_t got = pread (file, block, MIN (count, BLOCK), offset);

    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    g_checksum_update (sum, block, got);
    offset += got;
    count -= got;
  }
  g_free (block);
  return count == 0;
}

static char *
sum_of (const char *path, gboolean whole, guint64 *size)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  int file = open (path, O_RDONLY | O_CLOEXEC);
  GStatBuf status;
  char *text = NULL;
  gboolean ok = file >= 0 && fstat (file, &status) == 0;

  if (ok) {
    *size = status.st_size;
    if (whole || *size <= (guint64) BLOCKS * BLOCK) {
      ok = add_bytes (sum, file, 0, *size);
    } else {
      for (int i = 0; ok && i < BLOCKS; i++)
        ok = add_bytes (sum, file, gst_util_uint64_scale (*size - BLOCK, i, BLOCKS - 1), BLOCK);
    }
  }
  if (ok && !whole)
    g_checksum_update (sum, (const guchar *) size, sizeof *size);
  if (ok)
    text = g_strdup (g_checksum_get_string (sum));
  else
    complain ("%s: %s", path, g_strerror (errno));
  if (file >= 0)
    close (file);
  g_checksum_free (sum);
  return text;
}

char *
record_fingerprint (const char *file)
{
  guint64 size;

  return sum_of (file, FALSE, &size);
}

char *
record_sum (const char *file, guint64 *size)
{
  return sum_of (file, TRUE, size);
}

char *
record_property_files (char **properties)
{
  GString *sums = g_string_new (NULL);

  for (; *properties; properties++) {
    const char *equals = strchr (*properties, '=');
    guint64 size;
    char *sum;

    if (!equals || !g_file_test (equals + 1, G_FILE_TEST_IS_REGULAR))
      continue;
    sum = record_sum (equals + 1, &size);
    if (!sum) {
      g_string_free (sums, TRUE);
      return NULL;
    }
    g_string_append_printf (sums, "%s%s", sums->len ? " " : "", sum);
    g_free (sum);
  }
  return g_string_free (sums, FALSE);
}

/* --- the record's text --- */

static void
add_text (GString *json, const char *name, const char *value)
{
  g_string_append_printf (json, "  \"%s\": \"", name);
  for (const char *c = value ? value : ""; *c; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_printf (json, "\\%c", *c);
    else if ((guchar) *c < ' ')
      g_string_append_printf (json, "\\u%04x", *c);
    else
      g_string_append_c (json, *c);
  }
  g_string_append (json, "\",\n");
}

static void
add_number (GString *json, const char *name, guint64 value)
{
  g_string_append_printf (json, "  \"%s\": %" G_GUINT64_FORMAT ",\n", name, value);
}

static void
add_seconds (GString *json, const char *name, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (json, "  \"%s\": %s,\n", name, g_ascii_formatd (text, sizeof text, "%.6f", value));
}

/* The lines of the record that say what the piece was made from. */
static void
add_origin (GString *json, const Record *record)
{
  char *end =
      record->end == GST_CLOCK_TIME_NONE ? g_strdup ("null") : g_strdup_printf ("%" G_GUINT64_FORMAT, record->end);

  add_text (json, "input-fingerprint", record->fingerprint);
  add_number (json, "start", record->start);
  g_string_append_printf (json, "  \"end\": %s,\n", end);
  add_text (json, "properties", record->properties);
  add_text (json, "property-files", record->property_files);
  add_text (json, "encoder", record->encoder);
  add_text (json, "element-version", record->version);
  g_free (end);
}

/* The lines of the record that say which bytes the piece has. */
static void
add_piece (GString *json, guint64 size, const char *sum)
{
  add_number (json, "piece-size", size);
  g_string_append_printf (json, "  \"piece-sha256\": \"%s\"\n}\n", sum);
}

gboolean
record_write (const Record *record, const char *file)
{
  GString *json = g_string_new ("{\n");
  FILE *stream = fopen (file, "we");
  gboolean ok = stream != NULL;

  add_text (json, "input", record->input);
  add_origin (json, record);
  add_number (json, "frames", record->frames);
  add_number (json, "first-frame", record->first);
  add_number (json, "last-frame", record->last);
  add_text (json, "format", record->format);
  add_text (json, "frames-before-encoding", record->before);
  add_text (json, "frames-decoded-again", record->decoded);
  add_text (json, "device", record->device);
  g_string_append_printf (json, "  \"reproducible\": %s,\n", record->reproducible ? "true" : "false");
  add_seconds (json, "seconds-decoding", record->seconds_decoding);
  add_seconds (json, "seconds-convolving", record->seconds_convolving);
  add_seconds (json, "seconds-encoding", record->seconds_encoding);
  add_seconds (json, "seconds-checking", record->seconds_checking);
  add_seconds (json, "seconds", record->seconds);
  add_piece (json, record->size, record->sum);
  ok = ok && fwrite (json->str, json->len, 1, stream) == 1 && fflush (stream) == 0 && fsync (fileno (stream)) == 0;
  if (!ok)
    complain ("%s: %s", file, g_strerror (errno));
  if (stream)
    fclose (stream);
  g_string_free (json, TRUE);
  return ok;
}

gboolean
record_fits (const Record *record, const char *file, const char *piece)
{
  GString *origin = g_string_new (NULL), *bytes = g_string_new (NULL);
  char *text = NULL, *sum = NULL;
  guint64 size;
  gboolean fits = FALSE;

  add_origin (origin, record);
  /* A record that ends early lacks the lines at the end. */
  if (g_file_test (piece, G_FILE_TEST_IS_REGULAR) && g_file_get_contents (file, &text, NULL, NULL)
      && strstr (text, origin->str) && (sum = record_sum (piece, &size))) {
    add_piece (bytes, size, sum);
    fits = g_str_has_suffix (text, bytes->str);
  }
  g_string_free (origin, TRUE);
  g_string_free (bytes, TRUE);
  g_free (text);
  g_free (sum);
  return fits;
}

gboolean
record_sync (const char *path)
{
  int file = open (path, O_RDONLY | O_CLOEXEC);
  gboolean ok = file >= 0 && fsync (file) == 0;

  if (!ok)
    complain ("%s: %s", path, g_strerror (errno));
  if (file >= 0)
    close (file);
  return ok;
}
