/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "made.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "progress.h"

static void
add_text (GChecksum *sum, const char *text)
{
  /* With the zero behind the text, so that two texts are not taken for one. */
  g_checksum_update (sum, (const guchar *) (text ? text : ""), text ? (gssize) strlen (text) + 1 : 1);
}

static void
add_list (GChecksum *sum, char **list)
{
  for (char **text = list; text && *text; text++)
    add_text (sum, *text);
  add_text (sum, NULL);
}

/* A checksum of the options that decide on the picture and the file, to be freed. Other options change messages alone. */
static char *
key_of (const Options *options)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  GStatBuf input = { 0 };
  char *numbers, *key;

  g_stat (options->input, &input);
  numbers = g_strdup_printf ("%d %g %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, options->quality, options->rate,
      (gint64) input.st_size, (gint64) input.st_mtime);
  add_text (sum, numbers);
  add_text (sum, options->cover);
  add_text (sum, options->model);
  add_text (sum, options->detector);
  add_text (sum, options->effect);
  add_text (sum, options->codec);
  add_text (sum, options->container);
  add_list (sum, options->keyframes);
  add_list (sum, options->properties);
  key = g_strndup (g_checksum_get_string (sum), 16);
  g_free (numbers);
  g_checksum_free (sum);
  return key;
}

static char *
record_of (const Options *options, char **base)
{
  char *folder = g_path_get_dirname (options->output), *record = g_build_filename (folder, MADE_FILE, NULL);

  *base = g_path_get_basename (options->output);
  g_free (folder);
  return record;
}

/* Each line is a key and the name of a film. The last line of a name holds. */
Made
made_how (const Options *options)
{
  char *base, *record = record_of (options, &base), *key = key_of (options), *text = NULL, **lines;
  Made made = MADE_UNKNOWN;

  if (g_file_get_contents (record, &text, NULL, NULL)) {
    lines = g_strsplit (text, "\n", -1);
    for (char **line = lines; *line; line++) {
      const char *space = strchr (*line, ' ');

      if (space && !strcmp (space + 1, base))
        made = g_str_has_prefix (*line, key) ? MADE_SO : MADE_OTHER;
    }
    g_strfreev (lines);
  }
  g_free (text);
  g_free (key);
  g_free (record);
  g_free (base);
  return made;
}

void
made_note (const Options *options)
{
  char *base, *record = record_of (options, &base), *key = key_of (options);
  FILE *file = strchr (base, '\n') ? NULL : g_fopen (record, "a");
  gboolean ok = file && fprintf (file, "%s %s\n", key, base) > 0;

  if (file)
    ok = fclose (file) == 0 && ok;
  if (!ok)
    complain ("warning: %s: %s; the next run will not know how %s was made", record, g_strerror (errno), base);
  g_free (key);
  g_free (record);
  g_free (base);
}
