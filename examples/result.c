/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* realpath(), SA_RESETHAND */
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "progress.h"

#define MOST 4 /* results of one program at a time */

/* Those that were begun. A signal handler reads the list. */
static Result *volatile begun[MOST];

void
results_delete (void)
{
  for (guint i = 0; i < MOST; i++)
    if (begun[i])
      unlink (begun[i]->part);
}

/* The signal comes again when this function returns, and then ends the program as it would have. */
static void
die (int number)
{
  results_delete ();
  raise (number);
}

void
results_guard (void)
{
  static const int deadly[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
  struct sigaction action = { .sa_handler = die, .sa_flags = SA_RESETHAND }, now;

  /* nohup and the like let a program ignore signals. */
  for (guint i = 0; i < G_N_ELEMENTS (deadly); i++)
    if (sigaction (deadly[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaction (deadly[i], &action, NULL);
}

/* The path of a file that may not exist yet. NULL where its folder, or what a symbolic link leads to, does not exist. */
static char *
find_target (const char *name)
{
  char *folder = g_path_get_dirname (name), *base = g_path_get_basename (name), *path = NULL, *full;

  if (g_file_test (name, G_FILE_TEST_IS_SYMLINK))
    full = realpath (name, NULL);
  else if ((full = realpath (folder, NULL))) {
    path = g_build_filename (full, base, NULL);
    free (full);
    full = NULL;
  }
  if (full) {
    path = g_strdup (full);
    free (full);
  }
  g_free (folder);
  g_free (base);
  return path;
}

static gboolean
is_file (const GStatBuf *file, const char *path)
{
  GStatBuf other;

  return g_stat (path, &other) == 0 && file->st_dev == other.st_dev && file->st_ino == other.st_ino;
}

/* Whether the file that is there may be replaced. */
static gboolean
may_replace (const char *name, const GStatBuf *file, const char *input, char *const *assignments)
{
  if (S_ISDIR (file->st_mode))
    complain ("%s: is a folder; give the name of a file in it", name);
  else if (!S_ISREG (file->st_mode) || g_str_has_prefix (name, "/dev/")) /* /dev/stdout may be a file */
    complain ("%s: is a pipe or a device; give the name of a file, which appears when it is complete", name);
  else if (is_file (file, input))
    complain ("%s: the output is the input %s; give the output another name", name, input);
  else if (g_access (name, W_OK) != 0)
    complain ("%s: %s", name, g_strerror (errno));
  else {
    for (; *assignments; assignments++) {
      const char *value = strchr (*assignments, '=');

      if (value && is_file (file, value + 1)) {
        complain ("%s: the output is the file of %s; give the output another name", name, *assignments);
        return FALSE;
      }
    }
    return TRUE;
  }
  return FALSE;
}

static gboolean
has_folder (const char *name)
{
  char *folder = g_path_get_dirname (name);
  const gboolean ok = *name && g_file_test (folder, G_FILE_TEST_IS_DIR);

  if (!*name)
    complain ("the name of an output is empty; give the name of a file");
  else if (!ok)
    complain ("%s: there is no folder %s; make it with mkdir -p", name, folder);
  g_free (folder);
  return ok;
}

static gboolean
is_wanted_twice (const Result *result)
{
  for (guint i = 0; i < MOST; i++)
    if (begun[i] && !strcmp (begun[i]->target, result->target)) {
      complain ("%s: two outputs have this name; give one another name", result->name);
      return TRUE;
    }
  return FALSE;
}

static gboolean
make_part (Result *result, int mode)
{
  int file;

  result->part = g_strconcat (result->target, ".XXXXXX.part", NULL);
  file = g_mkstemp_full (result->part, O_RDWR | O_CLOEXEC, 0666);
  if (file < 0) {
    complain ("%s: cannot be written: %s", result->name, g_strerror (errno));
    return FALSE;
  }
  /* A file that only its owner may read stays so. */
  if (mode && fchmod (file, mode & 0777) != 0)
    complain ("%s: %s", result->part, g_strerror (errno));
  close (file);
  for (guint i = 0; i < MOST; i++)
    if (!begun[i]) {
      begun[i] = result;
      break;
    }
  results_guard ();
  return TRUE;
}

static void
clear (Result *result)
{
  for (guint i = 0; i < MOST; i++)
    if (begun[i] == result)
      begun[i] = NULL;
  g_free (result->target);
  g_free (result->part);
  *result = (Result){ 0 };
}

gboolean
result_begin (Result *result, const char *name, const char *input, char *const *assignments)
{
  GStatBuf file = { 0 };
  const gboolean exists = g_stat (name, &file) == 0;
  gboolean ok;

  *result = (Result){ .name = name };
  if (!has_folder (name) || (exists && !may_replace (name, &file, input, assignments)))
    return FALSE;
  result->target = find_target (name);
  if (!result->target)
    complain ("%s: a symbolic link to a file that is not there; give the name of a file", name);
  ok = result->target && !is_wanted_twice (result) && make_part (result, file.st_mode);
  if (!ok)
    clear (result);
  return ok;
}

gboolean
result_keep (Result *result)
{
  const gboolean ok = g_rename (result->part, result->target) == 0;

  if (!ok) {
    complain ("%s: %s", result->name, g_strerror (errno));
    g_unlink (result->part);
  }
  clear (result);
  return ok;
}

void
result_drop (Result *result)
{
  if (result->part)
    g_unlink (result->part);
  clear (result);
}
