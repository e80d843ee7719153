/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes the place of libFuzzer: runs a target once for each file that is named, and for each file in a folder that is
 * named. An input that the target refuses aborts the program, after its name was printed.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned n_inputs;

/*
 * AddressSanitizer calls this function, and does nothing else with it: a block of more than 64 MiB ends the
 * program, because no input is that large. The limit is that of tests/long/fuzz.sh.
 */
const char *__asan_default_options (void) __attribute__ ((visibility ("default")));

const char *
__asan_default_options (void)
{
  return "max_allocation_size_mb=64";
}

/* The input lies in a block of its own size, so that AddressSanitizer sees a byte too many that is read. */
static int
replay_file (const char *name, size_t size)
{
  FILE *file = fopen (name, "rb");
  uint8_t *data = malloc (size > 0 ? size : 1);
  if (file == NULL || data == NULL || fread (data, 1, size, file) != size) {
    fprintf (stderr, "%s: cannot be read\n", name);
    if (file != NULL)
      fclose (file);
    free (data);
    return 1;
  }
  fclose (file);
  /* The name stands in front of what the target prints, also where the target aborts. */
  printf ("%s\n", name);
  fflush (stdout);
  LLVMFuzzerTestOneInput (data, size);
  n_inputs++;
  free (data);
  return 0;
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static int replay (const char *name);

/* In the order of the names, which is the same on every machine. */
static int
replay_folder (const char *folder)
{
  DIR *dir = opendir (folder);
  char **names = NULL;
  size_t count = 0;
  int failed = 0;
  if (dir == NULL) {
    fprintf (stderr, "%s: cannot be read\n", folder);
    return 1;
  }
  for (const struct dirent *entry = readdir (dir); entry != NULL; entry = readdir (dir)) {
    if (entry->d_name[0] == '.')
      continue;
    const size_t size = strlen (folder) + strlen (entry->d_name) + 2;
    char **more = realloc (names, (count + 1) * sizeof *names);
    char *name = malloc (size);
    if (more != NULL)
      names = more;
    if (more == NULL || name == NULL) {
      free (name);
      failed = 1;
      break;
    }
    snprintf (name, size, "%s/%s", folder, entry->d_name);
    names[count++] = name;
  }
  closedir (dir);
  if (count > 0)
    qsort (names, count, sizeof *names, compare_names);
  for (size_t i = 0; i < count; i++) {
    failed |= replay (names[i]);
    free (names[i]);
  }
  free (names);
  return failed;
}

static int
replay (const char *name)
{
  struct stat status;
  if (stat (name, &status) != 0) {
    fprintf (stderr, "%s: there is no such file\n", name);
    return 1;
  }
  return S_ISDIR (status.st_mode) ? replay_folder (name) : replay_file (name, (size_t) status.st_size);
}

int
main (int argc, char **argv)
{
  int failed = 0;
  LLVMFuzzerInitialize (&argc, &argv);
  for (int i = 1; i < argc; i++)
    failed |= replay (argv[i]);
  printf ("%u inputs\n", n_inputs);
  return failed || n_inputs == 0;
}
