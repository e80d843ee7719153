/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "input.h"
#include "progress.h"

gboolean
output_is_pipe (const char *name)
{
  return !strcmp (name, "-");
}

const char *
output_part (const Output *output)
{
  return output->file.part;
}

static gboolean
begin_pipe (void)
{
  if (!isatty (STDOUT_FILENO))
    return TRUE;
  complain ("-: the standard output is a terminal; send it to a program or a file, as in ... - | COMMAND");
  return FALSE;
}

/* A new folder beside the pictures. */
static gboolean
begin_sequence (Output *output)
{
  char *folder = g_path_get_dirname (output->name);

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    complain ("%s: there is no folder %s; make it with mkdir -p", output->name, folder);
  else {
    output->folder = g_build_filename (folder, ".XXXXXX.part", NULL);
    if (!g_mkdtemp_full (output->folder, 0777)) {
      complain ("%s: cannot be written: %s", output->name, g_strerror (errno));
      g_clear_pointer (&output->folder, g_free);
    }
  }
  g_free (folder);
  return output->folder != NULL;
}

gboolean
output_begin (Output *output, const char *name, const char *input, char *const *assignments)
{
  *output = (Output){ .name = name };
  if (output_is_pipe (name))
    return begin_pipe ();
  if (!input_is_sequence (name))
    return result_begin (&output->file, name, input, assignments);
  if (strcmp (name, input) != 0)
    return begin_sequence (output);
  complain ("%s: the output is the input; give the output another name", name);
  return FALSE;
}

GstElement *
output_make_sink (const Output *output)
{
  const char *kind = output->folder ? "multifilesink" : output->file.part ? "filesink" : "fdsink";
  GstElement *sink = gst_element_factory_make (kind, NULL);
  char *base = g_path_get_basename (output->name), *location;

  if (sink && output->folder) {
    location = g_build_filename (output->folder, base, NULL);
    g_object_set (sink, "location", location, "index", 1, NULL);
    g_free (location);
  } else if (sink && output->file.part)
    g_object_set (sink, "location", output->file.part, NULL);
  else if (sink)
    g_object_set (sink, "fd", STDOUT_FILENO, "sync", FALSE, NULL);
  g_free (base);
  return sink;
}

/* Calls back for each picture of the folder, and deletes the folder when it is empty. */
static gboolean
empty_folder (Output *output, gboolean keep)
{
  char *to = g_path_get_dirname (output->name);
  GDir *dir = g_dir_open (output->folder, 0, NULL);
  const char *name;
  gboolean ok = TRUE;

  while (dir && (name = g_dir_read_name (dir))) {
    char *from = g_build_filename (output->folder, name, NULL), *target = g_build_filename (to, name, NULL);

    if (keep && ok && g_rename (from, target) != 0) {
      complain ("%s: %s", target, g_strerror (errno));
      ok = FALSE;
    } else if (!keep || !ok)
      g_unlink (from);
    g_free (from);
    g_free (target);
  }
  g_clear_pointer (&dir, g_dir_close);
  g_rmdir (output->folder);
  g_clear_pointer (&output->folder, g_free);
  g_free (to);
  return ok;
}

gboolean
output_keep (Output *output)
{
  if (output->folder)
    return empty_folder (output, TRUE);
  return !output->file.part || result_keep (&output->file);
}

void
output_drop (Output *output)
{
  if (output->folder)
    empty_folder (output, FALSE);
  result_drop (&output->file);
}
