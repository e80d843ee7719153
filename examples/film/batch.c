/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "batch.h"

#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "container.h"
#include "convolve.h"
#include "input.h"
#include "made.h"
#include "play.h"
#include "progress.h"
#include "say.h"

/* How names of films and of pictures end; other files of a folder are left alone. */
static const char *const suffixes[] = { "3gp", "avi", "bmp", "flv", "gif", "jpeg", "jpg", "m2ts", "m4v", "mkv", "mov",
  "mp4", "mpeg", "mpg", "mts", "mxf", "ogv", "png", "qt", "tif", "tiff", "ts", "vob", "webm", "webp", "wmv", NULL };

gboolean
batch_is (const char *input)
{
  return !input_is_uri (input)
      && (g_file_test (input, G_FILE_TEST_IS_DIR)
          || (strpbrk (input, "*?") && !g_file_test (input, G_FILE_TEST_EXISTS)));
}

static gboolean
is_film (const char *name)
{
  const char *dot = strrchr (name, '.');
  char *lower = dot ? g_ascii_strdown (dot + 1, -1) : NULL;
  const gboolean is = lower && name[0] != '.' && g_strv_contains (suffixes, lower);

  g_free (lower);
  return is;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* The paths of the films, in the order of their names. */
static GPtrArray *
list_films (const char *input)
{
  const gboolean all = g_file_test (input, G_FILE_TEST_IS_DIR);
  char *folder = all ? g_strdup (input) : g_path_get_dirname (input);
  char *base = all ? g_strdup ("*") : g_path_get_basename (input);
  GPatternSpec *pattern = g_pattern_spec_new (base);
  GPtrArray *films = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir))) {
    char *path =
        !all && !strncmp (input, base, strlen (base)) ? g_strdup (name) : g_build_filename (folder, name, NULL);

    /* A file that a pattern names is taken as a film, whatever the file name ends in. */
    if (g_pattern_spec_match_string (pattern, name) && (!all || is_film (name))
        && g_file_test (path, G_FILE_TEST_IS_REGULAR))
      g_ptr_array_add (films, path);
    else
      g_free (path);
  }
  g_clear_pointer (&dir, g_dir_close);
  g_ptr_array_sort (films, compare);
  g_pattern_spec_free (pattern);
  g_free (base);
  g_free (folder);
  return films;
}

/* The new film has the name of the old one, and its kind where that can be written. */
static char *
output_name (const Options *options, const char *film)
{
  char *base = g_path_get_basename (film), *dot = strrchr (base, '.'), *name, *path;
  const char *end = options->container ? options->container : dot && container_of (film) ? dot + 1 : "mkv";

  if (container_of (film) && container_of (film)->codecs[0] == 'g' && !options->container)
    end = "mp4"; /* a GIF becomes a film */
  if (dot && dot != base)
    name = g_strdup_printf ("%.*s.%s", (int) (dot - base), base, end);
  else
    name = g_strdup_printf ("%s.%s", base, end);
  path = g_build_filename (options->output, name, NULL);
  g_free (name);
  g_free (base);
  return path;
}

static gboolean
is_same_folder (const char *a, const char *b)
{
  GStatBuf first, second;

  return g_stat (a, &first) == 0 && g_stat (b, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino;
}

static gboolean
make_folder (const Options *options)
{
  char *from = g_file_test (options->input, G_FILE_TEST_IS_DIR) ? g_strdup (options->input)
                                                                : g_path_get_dirname (options->input);
  gboolean ok = FALSE;

  if (g_mkdir_with_parents (options->output, 0777) != 0)
    complain ("%s: %s; the output of many films is a folder", options->output, g_strerror (errno));
  else if (is_same_folder (from, options->output))
    complain ("%s: the folder of the output is that of the input; give another one", options->output);
  else
    ok = TRUE;
  g_free (from);
  return ok;
}

gboolean
batch_convolve (const Options *options)
{
  GPtrArray *films;
  GHashTable *outputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint made = 0, there = 0, failed = 0, stopped = 0, warned = 0;

  if (!make_folder (options)) {
    g_hash_table_unref (outputs);
    return FALSE;
  }
  films = list_films (options->input);
  for (guint i = 0; i < films->len && !play_was_interrupted (); i++) {
    Options one = *options;
    char *output = output_name (options, films->pdata[i]);
    const guint warnings = complain_warnings ();

    one.input = films->pdata[i];
    one.output = output;
    one.brief = TRUE;
    if (g_hash_table_contains (outputs, output)) {
      failed++;
      complain ("%s: another film of this run has become %s; rename one of them", one.input, output);
    } else if (g_file_test (output, G_FILE_TEST_EXISTS) && made_how (&one) != MADE_OTHER) {
      there++;
      say_begin ("there");
      say_text ("output", output);
      say_end ("film: %s: is there already%s", output,
          made_how (&one) == MADE_SO ? "" : ", and was left as it is, whatever made it");
    } else if (convolve_film (&one)) {
      made_note (&one);
      made++;
    } else if (play_was_interrupted ())
      stopped++;
    else
      failed++;
    warned += complain_warnings () > warnings;
    g_hash_table_add (outputs, output);
  }
  g_hash_table_unref (outputs);
  if (films->len == 0)
    complain ("%s: there is no film", options->input);
  say_begin ("films");
  say_number ("made", made);
  say_number ("there", there);
  say_number ("failed", failed);
  say_number ("stopped", stopped);
  say_number ("warned", warned);
  say_end ("films: %u made, %u there already, %u failed, %s%u with warnings", made, there, failed,
      stopped ? "1 stopped, " : "", warned);
  g_ptr_array_unref (films);
  return failed == 0 && made + there > 0 && !play_was_interrupted ();
}
