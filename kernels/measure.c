/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L

#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum
{
  MOST_NS = 10 * 1000 * 1000, /* for one kind of mask */
  MOST_KEPT = 4096,           /* kinds, in the process and in the file */
  MOST_LINE = 640,
  MOST_PATH = 4096
};

/* One finding. */
typedef struct Found
{
  struct Found *next;
  char device[320], kind[CONVOLVE_MEASURE_KIND], name[32];
} Found;

static struct
{
  pthread_mutex_t lock;
  Found *first;
  int count;
  bool read; /* the file was read */
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * Devices for which the rules are used without timing. The rules were read from the figures of an H200, and hold on an
 * H100 but for a few cases (h200-auto.md). A device is known by these letters in its name, so a GH200 counts as an
 * H200.
 */
static const char *const known[] = { "H100", "H200" };

bool
convolve_measure_is_wanted (const char *device)
{
  const char *way = getenv ("CUDACONVOLVE_AUTO");

  if (way && strcmp (way, "rules") == 0)
    return false;
  if (way && strcmp (way, "measure") == 0)
    return true;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strstr (device, known[i]))
      return false;
  return true;
}

/* --- kinds --- */

/* Sides above 15 count in steps of a fifth, so that a sigma which changes slowly is not always of a new kind. */
static int
step_of (int side)
{
  return side <= 15 ? side : (int) lround (pow (1.2, floor (log (side) / log (1.2))));
}

void
convolve_measure_kind (const ConvolvePlan *plan, char *kind, size_t size)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const double pixels = plan->pixels > 0 ? (double) plan->pixels : 3840 * 2160;

  snprintf (kind, size, "%d bits %d of %d bytes%s %dx%d%s%s arithmetic %d.%d sets %d.%d size %d", pixel->depth,
      pixel->samples, pixel->stride, pixel->swapped ? " swapped" : "", step_of (plan->taps.width),
      step_of (plan->taps.height), plan->taps.row ? " rank 1" : "", plan->double_sums ? " double" : "",
      (int) arithmetic->kind, arithmetic->kind == CONVOLVE_ARITHMETIC_PRODUCTS ? arithmetic->rank : 0,
      (int) plan->combination, plan->n_parts, (int) lround (2 * log2 (pixels)));
}

/* --- what was found --- */

static Found *
find (const char *device, const char *kind)
{
  Found *found = cache.first;

  while (found && (strcmp (found->device, device) != 0 || strcmp (found->kind, kind) != 0))
    found = found->next;
  return found;
}

/* Keeps a finding in place of an older one for the same. */
static void
keep (const char *device, const char *kind, const char *name)
{
  Found *found = find (device, kind);

  if (!found && cache.count < MOST_KEPT && (found = calloc (1, sizeof (Found)))) {
    found->next = cache.first;
    cache.first = found;
    cache.count++;
    snprintf (found->device, sizeof (found->device), "%s", device);
    snprintf (found->kind, sizeof (found->kind), "%s", kind);
  }
  if (found)
    snprintf (found->name, sizeof (found->name), "%s", name);
}

void
convolve_measure_forget (void)
{
  pthread_mutex_lock (&cache.lock);
  while (cache.first) {
    Found *next = cache.first->next;

    free (cache.first);
    cache.first = next;
  }
  cache.count = 0;
  cache.read = false;
  pthread_mutex_unlock (&cache.lock);
}

bool
convolve_measure_file (char *path, size_t size)
{
  const char *folder = getenv ("XDG_CACHE_HOME"), *home = getenv ("HOME");
  int used;

  if (folder && *folder == '/')
    used = snprintf (path, size, "%s/cudaconvolve/auto-%s.csv", folder, CONVOLVE_VERSION);
  else if (home && *home == '/')
    used = snprintf (path, size, "%s/.cache/cudaconvolve/auto-%s.csv", home, CONVOLVE_VERSION);
  else
    return false;
  return used > 0 && (size_t) used < size;
}

/* Makes the file's folder and the one above it, where they are missing. */
static void
make_folders (const char *path)
{
  char folder[MOST_PATH];
  char *end;

  snprintf (folder, sizeof folder, "%s", path);
  end = strrchr (folder, '/');
  *end = '\0';
  if (mkdir (folder, 0700) == 0 || errno != ENOENT)
    return;
  end = strrchr (folder, '/');
  *end = '\0';
  if (mkdir (folder, 0700) == 0) {
    *end = '/';
    mkdir (folder, 0700);
  }
}

/* Reads "device;kind;name" lines. Others, as of a line that was not written to its end, are left out. */
static void
read_file (void)
{
  char path[MOST_PATH], line[MOST_LINE];
  FILE *file = convolve_measure_file (path, sizeof path) ? fopen (path, "r") : NULL;

  cache.read = true;
  while (file && cache.count < MOST_KEPT && fgets (line, sizeof line, file)) {
    char *kind = strchr (line, ';'), *name = kind ? strchr (kind + 1, ';') : NULL,
         *end = name ? strchr (name, '\n') : NULL;

    if (!end || kind - line >= (int) sizeof (cache.first->device))
      continue;
    *kind++ = *name++ = *end = '\0';
    keep (line, kind, name);
  }
  if (file)
    fclose (file);
}

/* Adds a line to the file, in one write, so that lines of several processes do not mix. */
static void
write_file (const char *device, const char *kind, const char *name)
{
  char path[MOST_PATH], line[MOST_LINE];
  int length = snprintf (line, sizeof line, "%s;%s;%s\n", device, kind, name), file;

  if (length >= (int) sizeof line || cache.count >= MOST_KEPT || !convolve_measure_file (path, sizeof path))
    return;
  make_folders (path);
  file = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  /* A file that cannot be written is no loss: the next process times again. */
  if (write (file, line, (size_t) length) != length)
    errno = 0;
  close (file);
}

/* --- the choice --- */

static int64_t
now (const ConvolveMeasurement *measurement)
{
  struct timespec time;

  if (measurement->now)
    return measurement->now (measurement->data);
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

/*
 * The candidates are timed in turns, so that a clock which rises meanwhile favours none. The first one is what the
 * rules chose. Another candidate is taken only if it is more than 4% faster than the first, because two timings of the
 * same candidate differ, too.
 */
static int
time_all (const ConvolveMeasurement *measurement)
{
  double least[CONVOLVE_MOST_CANDIDATES];
  int64_t start = now (measurement);
  int fastest = -1;

  for (int round = 0; round < CONVOLVE_MEASURE_ROUNDS; round++)
    for (int i = 0; i < measurement->count; i++) {
      bool in_time = (round == 0 && i < 2) || now (measurement) - start < MOST_NS;

      if (round == 0)
        least[i] = INFINITY;
      if (!in_time || (round > 0 && isinf (least[i])))
        continue;
      double taken = measurement->time (measurement->data, i);

      if (taken >= 0 && taken < least[i])
        least[i] = taken;
    }
  for (int i = 0; i < measurement->count; i++)
    if (!isinf (least[i]) && (fastest < 0 || least[i] < least[fastest] * (fastest == 0 ? CONVOLVE_MEASURE_MARGIN : 1)))
      fastest = i;
  return fastest;
}

/* The number of the candidate that was found before, or -1. */
static int
find_fastest (const ConvolveMeasurement *measurement)
{
  int fastest = -1;

  pthread_mutex_lock (&cache.lock);
  if (!cache.read)
    read_file ();
  const Found *found = find (measurement->device, measurement->kind);
  for (int i = 0; found && i < measurement->count; i++)
    if (strcmp (found->name, measurement->rows[i]->name) == 0)
      fastest = i;
  pthread_mutex_unlock (&cache.lock);
  return fastest;
}

/* One thread at a time times candidates. Others that find theirs do not wait for it. */
int
convolve_measure_fastest (const ConvolveMeasurement *measurement)
{
  static pthread_mutex_t timing = PTHREAD_MUTEX_INITIALIZER;
  int fastest = find_fastest (measurement);

  if (fastest >= 0)
    return fastest;
  pthread_mutex_lock (&timing);
  fastest = find_fastest (measurement);
  if (fastest < 0 && (fastest = time_all (measurement)) >= 0) {
    pthread_mutex_lock (&cache.lock);
    keep (measurement->device, measurement->kind, measurement->rows[fastest]->name);
    write_file (measurement->device, measurement->kind, measurement->rows[fastest]->name);
    pthread_mutex_unlock (&cache.lock);
  }
  pthread_mutex_unlock (&timing);
  return fastest < 0 ? 0 : fastest;
}
