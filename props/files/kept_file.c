/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files/kept_file.h"

#include "files/file.h"

struct _ConvolveKeptFile
{
  const ConvolveFileKind *kind;
  gchar *location;
  GMutex mutex;
  gpointer content; /* under the mutex; NULL before the file was read */
};

ConvolveKeptFile *
convolve_kept_file_new (const ConvolveFileKind *kind, const gchar *location)
{
  ConvolveKeptFile *file = g_atomic_rc_box_new0 (ConvolveKeptFile);

  file->kind = kind;
  file->location = g_strdup (location);
  g_mutex_init (&file->mutex);
  return file;
}

ConvolveKeptFile *
convolve_kept_file_ref (ConvolveKeptFile *file)
{
  return g_atomic_rc_box_acquire (file);
}

static void
clear_file (gpointer data)
{
  ConvolveKeptFile *file = data;

  g_free (file->location);
  g_mutex_clear (&file->mutex);
  g_clear_pointer (&file->content, file->kind->unref);
}

void
convolve_kept_file_unref (ConvolveKeptFile *file)
{
  g_atomic_rc_box_release_full (file, clear_file);
}

const gchar *
convolve_kept_file_location (const ConvolveKeptFile *file)
{
  return file ? file->location : NULL;
}

gchar *
convolve_kept_file_name (const ConvolveKeptFile *file)
{
  g_autofree gchar *shown = convolve_file_show (file->location);

  return g_strdup_printf ("%s: %s", file->kind->property, shown);
}

static gpointer
read_content (const ConvolveKeptFile *file, GError **error)
{
  g_autofree gchar *name = convolve_kept_file_name (file);
  g_autofree guint8 *bytes = NULL;
  gsize size;
  g_autofree gchar *fault = convolve_file_read (file->location, file->kind->most, &bytes, &size);

  if (!fault)
    return file->kind->parse (name, bytes, size, error);
  g_set_error (error, CONVOLVE_PROPS_ERROR, file->kind->code, "%s: %s", name, fault);
  return NULL;
}

gpointer
convolve_kept_file_read (ConvolveKeptFile *file, GError **error)
{
  gpointer content;

  g_mutex_lock (&file->mutex);
  if (!file->content)
    file->content = read_content (file, error);
  content = file->content ? g_atomic_rc_box_acquire (file->content) : NULL;
  g_mutex_unlock (&file->mutex);
  return content;
}

void
convolve_kept_file_forget (ConvolveKeptFile *file)
{
  g_mutex_lock (&file->mutex);
  g_clear_pointer (&file->content, file->kind->unref);
  g_mutex_unlock (&file->mutex);
}
