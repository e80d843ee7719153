/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L
#include "files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SHOWN 200 /* characters of a name; a message has room for few more than twice as many */

static gchar *
read_bytes (gint fd, guint8 *bytes, gsize size)
{
  for (gsize done = 0; done < size;) {
    gssize got = read (fd, bytes + done, size - done);

    if (got == 0)
      return g_strdup_printf ("the file is cut off after %" G_GSIZE_FORMAT " bytes", done);
    if (got < 0 && errno != EINTR)
      return g_strdup (g_strerror (errno));
    if (got > 0)
      done += got;
  }
  return NULL;
}

static gchar *
read_open_file (gint fd, gsize most, guint8 **bytes, gsize *size)
{
  struct stat status;
  gchar *fault;

  if (fstat (fd, &status) != 0)
    return g_strdup (g_strerror (errno));
  if (!S_ISREG (status.st_mode))
    return g_strdup_printf ("not a regular file%s", S_ISDIR (status.st_mode) ? ", but a folder" : "");
  if (status.st_size == 0)
    return g_strdup ("the file is empty");
  if ((guint64) status.st_size > most)
    return g_strdup_printf ("the file has %" G_GINT64_FORMAT " bytes, more than %" G_GSIZE_FORMAT,
        (gint64) status.st_size, most);
  *size = status.st_size;
  *bytes = g_try_malloc (*size + 1);
  if (!*bytes)
    return g_strdup_printf ("there is no memory for %" G_GSIZE_FORMAT " bytes", *size);
  (*bytes)[*size] = '\0';
  fault = read_bytes (fd, *bytes, *size);
  if (fault)
    g_clear_pointer (bytes, g_free);
  return fault;
}

/* With O_NONBLOCK, because opening a pipe without a writer would wait forever. */
gchar *
convolve_file_read (const gchar *location, gsize most, guint8 **bytes, gsize *size)
{
  gint fd = g_open (location, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  gchar *fault;

  *bytes = NULL;
  if (fd < 0)
    return g_strdup (g_strerror (errno));
  fault = read_open_file (fd, most, bytes, size);
  close (fd);
  return fault;
}

gchar *
convolve_file_show (const gchar *location)
{
  gchar *name = g_filename_display_name (location), *end;
  glong length = g_utf8_strlen (name, -1);

  for (gchar *p = name; *p; p++)
    if (g_ascii_iscntrl (*p))
      *p = '?';
  if (length <= MAX_SHOWN)
    return name;
  end = g_strconcat ("...", g_utf8_offset_to_pointer (name, length - MAX_SHOWN), NULL);
  g_free (name);
  return end;
}
