/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library for LD_PRELOAD that lets the program's n-th call of a function fail, or the process die there.
 * AT_CALL=FUNCTION:N:ERROR, as in rename:2:28; where ERROR is 0, the process is killed before the call. FUNCTION is
 * writev, fsync, rename or unlink. AT_CALL=count prints the number of each on stderr when the program ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum
{
  WRITEV,
  FSYNC,
  RENAME,
  UNLINK,
  N_FUNCTIONS
};

static const char *const names[N_FUNCTIONS] = { "writev", "fsync", "rename", "unlink" };
static int counts[N_FUNCTIONS];

/* Whether this call fails; errno is set then. */
static int
fails (int function)
{
  const char *at = getenv ("AT_CALL");
  const size_t length = strlen (names[function]);
  int number, error;

  __atomic_add_fetch (&counts[function], 1, __ATOMIC_RELAXED);
  if (!at || strncmp (at, names[function], length) != 0 || sscanf (at + length, ":%d:%d", &number, &error) != 2
      || counts[function] != number)
    return 0;
  if (error == 0)
    kill (getpid (), SIGKILL);
  errno = error;
  return 1;
}

__attribute__ ((destructor)) static void
report (void)
{
  const char *at = getenv ("AT_CALL");

  if (at && !strcmp (at, "count"))
    for (int i = 0; i < N_FUNCTIONS; i++)
      fprintf (stderr, "%s %d\n", names[i], counts[i]);
}

__attribute__ ((visibility ("default"))) ssize_t
writev (int file, const struct iovec *parts, int count)
{
  ssize_t (*next) (int, const struct iovec *, int) = dlsym (RTLD_NEXT, "writev");

  return fails (WRITEV) ? -1 : next (file, parts, count);
}

__attribute__ ((visibility ("default"))) int
fsync (int file)
{
  int (*next) (int) = dlsym (RTLD_NEXT, "fsync");

  return fails (FSYNC) ? -1 : next (file);
}

__attribute__ ((visibility ("default"))) int
rename (const char *from, const char *to)
{
  int (*next) (const char *, const char *) = dlsym (RTLD_NEXT, "rename");

  return fails (RENAME) ? -1 : next (from, to);
}

__attribute__ ((visibility ("default"))) int
unlink (const char *path)
{
  int (*next) (const char *) = dlsym (RTLD_NEXT, "unlink");

  return fails (UNLINK) ? -1 : next (path);
}
