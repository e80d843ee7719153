/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L

#include "kernels/check_measure.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "support/random.h"
#include "variants.h"

#define DEVICE "A device (sm_75, driver for CUDA 12.4)"

enum
{
  KINDS = 60,
  THREADS = 4
};

/* The times of a kind's candidates in nanoseconds; negative: it cannot run. */
typedef struct
{
  double times[CONVOLVE_MOST_CANDIDATES];
  int asked[CONVOLVE_MOST_CANDIDATES]; /* how often each was timed */
  int takes_ms;                        /* what it takes to time one */
  int64_t clock;                       /* of this table, so that a slow machine changes nothing; nanoseconds */
} Table;

static double
tell (void *data, int i)
{
  Table *table = data;
  struct timespec pause = { 0, table->takes_ms * 1000000L };

  nanosleep (&pause, NULL); /* so that other threads ask meanwhile */
  table->clock += table->takes_ms * INT64_C (1000000);
  table->asked[i]++;
  return table->times[i];
}

static int64_t
tell_clock (void *data)
{
  return ((Table *) data)->clock;
}

static ConvolveMeasurement
measurement_of (Table *table, const char *device, int kind, int count)
{
  ConvolveMeasurement made = { .device = device,
    .count = count,
    .rows = { &convolve_variant_direct, &convolve_variant_packed, &convolve_variant_fused, &convolve_variant_tensor },
    .time = tell,
    .now = tell_clock,
    .data = table };

  snprintf (made.kind, sizeof made.kind, "kind %d", kind);
  return made;
}

static Table
random_table (CheckRandom *random)
{
  Table table = { .takes_ms = 0 };

  for (int i = 0; i < CONVOLVE_MOST_CANDIDATES; i++)
    table.times[i] = check_random_one_in (random, 5) ? -1 : 1000 + check_random_unit (random) * 1e5;
  /* One that is a little faster than the first. */
  if (check_random_one_in (random, 4))
    table.times[1] = table.times[0] * (0.9 + 0.1 * check_random_unit (random));
  return table;
}

/* The fastest one that runs, or 0: also where no other is faster by the margin. */
static int
expected_of (const Table *table, int count)
{
  int fastest = -1;

  for (int i = 0; i < count; i++)
    if (table->times[i] >= 0 && (fastest < 0 || table->times[i] < table->times[fastest]))
      fastest = i;
  if (fastest < 0 || (table->times[0] >= 0 && table->times[fastest] >= CONVOLVE_MEASURE_MARGIN * table->times[0]))
    return 0;
  return fastest;
}

/* How often all candidates are timed: those that cannot run once. */
static int
expected_asked (const Table *table, int count)
{
  int asked = 0;

  for (int i = 0; i < count; i++)
    asked += table->times[i] < 0 ? 1 : CONVOLVE_MEASURE_ROUNDS;
  return asked;
}

static int
count_asked (const Table *table)
{
  int asked = 0;

  for (int i = 0; i < CONVOLVE_MOST_CANDIDATES; i++)
    asked += table->asked[i];
  return asked;
}

static int
fail (FILE *file, const char *what, int kind)
{
  fprintf (file, "FAILED measure: %s, kind %d\n", what, kind);
  return 1;
}

/* Each kind twice in this process, and once more in one that read the file. */
static int
check_tables (uint64_t seed, FILE *file)
{
  CheckRandom random;
  int failures = 0;

  convolve_measure_forget ();
  check_random_init (&random, seed, 0);
  for (int kind = 0; kind < KINDS; kind++) {
    Table table = random_table (&random);
    int count = check_random_range (&random, 2, CONVOLVE_MOST_CANDIDATES), expected = expected_of (&table, count);
    int asked = expected_asked (&table, count);
    bool runs = table.times[expected] >= 0;
    ConvolveMeasurement measurement = measurement_of (&table, DEVICE, kind, count);

    if (convolve_measure_fastest (&measurement) != expected || count_asked (&table) != asked)
      failures += fail (file, "not the fastest candidate, or one was not timed as often as it should be", kind);
    if (runs && (convolve_measure_fastest (&measurement) != expected || count_asked (&table) != asked))
      failures += fail (file, "timed again in the same process", kind);
    convolve_measure_forget ();
    if (runs && (convolve_measure_fastest (&measurement) != expected || count_asked (&table) != asked))
      failures += fail (file, "timed again in the next process", kind);
    measurement.device = DEVICE " of another driver";
    if (convolve_measure_fastest (&measurement) != expected || (runs && count_asked (&table) != 2 * asked))
      failures += fail (file, "not timed for another device", kind);
  }
  return failures;
}

/* Candidates that are slow to time: two are timed in any case, and no more after 10 ms. */
static int
check_limit (FILE *file)
{
  Table table = { .times = { 4, 3, 2, 1 }, .takes_ms = 6 };
  ConvolveMeasurement measurement = measurement_of (&table, DEVICE, KINDS, CONVOLVE_MOST_CANDIDATES);
  int fastest = convolve_measure_fastest (&measurement);

  return fastest == 1 && count_asked (&table) == 2 ? 0 : fail (file, "more than 10 ms", fastest);
}

static void *
ask (void *data)
{
  convolve_measure_fastest (data);
  return NULL;
}

static int
check_threads (FILE *file)
{
  Table table = { .times = { 4, 3, 2, 1 }, .takes_ms = 1 };
  ConvolveMeasurement measurement = measurement_of (&table, DEVICE, KINDS + 1, 3);
  pthread_t threads[THREADS];
  int started = 0;

  while (started < THREADS && pthread_create (&threads[started], NULL, ask, &measurement) == 0)
    started++;
  for (int i = 0; i < started; i++)
    pthread_join (threads[i], NULL);
  return started > 0 && count_asked (&table) >= 3 && count_asked (&table) <= 3 * CONVOLVE_MEASURE_ROUNDS
      ? 0
      : fail (file, "timed by several threads", count_asked (&table));
}

/* Lines that are no findings, a finding for a variant that is no candidate, and a file without its last line's end. */
static int
check_damaged (FILE *file)
{
  static const char text[] =
      "\n;;\n;\nx;y\n" DEVICE ";kind 100;no-such-variant\n" DEVICE ";kind 101;fused\n" DEVICE ";kind 102;packed";
  static const int expected[] = { 3, 2, 3 }, timed[] = { 4 * CONVOLVE_MEASURE_ROUNDS, 0, 4 * CONVOLVE_MEASURE_ROUNDS };
  char name[4200];
  FILE *damaged;
  int failures = 0;

  damaged = convolve_measure_file (name, sizeof name) ? fopen (name, "w") : NULL;
  if (!damaged)
    return fail (file, "the file cannot be written", 0);
  for (int i = 0; i < 3000; i++)
    fputc ('a' + i % 26, damaged);
  fwrite (text, 1, sizeof text - 1, damaged);
  fclose (damaged);
  convolve_measure_forget ();
  for (int i = 0; i < 3; i++) {
    Table table = { .times = { 4, 3, 2, 1 } };
    ConvolveMeasurement measurement = measurement_of (&table, DEVICE, 100 + i, CONVOLVE_MOST_CANDIDATES);

    if (convolve_measure_fastest (&measurement) != expected[i] || count_asked (&table) != timed[i])
      failures += fail (file, "a damaged file", 100 + i);
  }
  return failures;
}

/* No folder, one that cannot be made, and a name that is too long: the process keeps what it found. */
static int
check_no_folder (FILE *file)
{
  char *path = malloc (5001);
  int failures = 0;

  if (!path)
    return fail (file, "out of memory", 0);
  memset (path, 'x', 5000);
  path[0] = '/';
  path[5000] = '\0';
  for (int i = 0; i < 3; i++) {
    Table table = { .times = { 4, 3, 2, 1 } };
    ConvolveMeasurement measurement = measurement_of (&table, DEVICE, 200 + i, CONVOLVE_MOST_CANDIDATES);

    setenv ("XDG_CACHE_HOME", i == 0 ? "" : i == 1 ? "/dev/null/x" : path, 1);
    if (i == 0)
      unsetenv ("HOME");
    convolve_measure_forget ();
    for (int k = 0; k < 2; k++)
      if (convolve_measure_fastest (&measurement) != 3 || count_asked (&table) != 4 * CONVOLVE_MEASURE_ROUNDS)
        failures += fail (file, "without a cache folder", 200 + i);
  }
  free (path);
  return failures;
}

static int
check_wanted (FILE *file)
{
  static const struct
  {
    const char *way, *device;
    bool wanted;
  } rows[] = {
    { NULL, "NVIDIA H200 (sm_90, driver for CUDA 13.0)", false },
    { NULL, "NVIDIA H100 80GB HBM3 (sm_90, driver for CUDA 13.0)", false },
    { NULL, "Tesla T4 (sm_75, driver for CUDA 12.4)", true },
    { "measure", "NVIDIA H200 (sm_90, driver for CUDA 13.0)", true },
    { "rules", "Tesla T4 (sm_75, driver for CUDA 12.4)", false },
    { "", "Tesla T4 (sm_75, driver for CUDA 12.4)", true },
  };
  int failures = 0;

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].way)
      setenv ("CUDACONVOLVE_AUTO", rows[i].way, 1);
    else
      unsetenv ("CUDACONVOLVE_AUTO");
    if (convolve_measure_is_wanted (rows[i].device) != rows[i].wanted)
      failures += fail (file, rows[i].device, (int) i);
  }
  return failures;
}

/* The kinds that a gaussian has while its side grows from 3 to 255: a controller that changes sigma meets few new ones. */
static int
check_kinds (FILE *file)
{
  char before[96] = "", kind[96];
  int kinds = 0;

  for (int side = 3; side <= CONVOLVE_MAX_SIDE; side += 2) {
    ConvolvePlan plan = { .pixel = { .depth = 8, .samples = 1, .stride = 1 }, .pixels = 1920 * 1080 };

    plan.taps.width = plan.taps.height = side;
    convolve_measure_kind (&plan, kind, sizeof kind);
    kinds += strcmp (kind, before) != 0;
    snprintf (before, sizeof before, "%s", kind);
    if (strpbrk (kind, ";\n"))
      return fail (file, "a kind has a character of the file", side);
  }
  return kinds <= 25 ? 0 : fail (file, "too many kinds of sides", kinds);
}

/* Sets a variable of the environment again, or takes it out. */
static void
restore (const char *name, const char *value)
{
  if (value)
    setenv (name, value, 1);
  else
    unsetenv (name);
}

int
check_measure (uint64_t seed, FILE *file)
{
  static const char *const names[] = { "XDG_CACHE_HOME", "HOME", "CUDACONVOLVE_AUTO" };
  char path[] = "/tmp/cudaconvolve-measure-XXXXXX", name[100], *values[3];
  int failures = 0;

  if (!mkdtemp (path))
    return fail (file, "no folder", 0);
  for (int i = 0; i < 3; i++) {
    const char *value = getenv (names[i]);

    values[i] = value ? strdup (value) : NULL;
  }
  setenv ("XDG_CACHE_HOME", path, 1);
  failures += check_tables (seed, file) + check_limit (file) + check_threads (file) + check_damaged (file);
  failures += check_no_folder (file) + check_wanted (file) + check_kinds (file);
  setenv ("XDG_CACHE_HOME", path, 1);
  if (convolve_measure_file (name, sizeof name))
    unlink (name);
  for (int i = 0; i < 3; i++) {
    restore (names[i], values[i]);
    free (values[i]);
  }
  convolve_measure_forget ();
  snprintf (name, sizeof name, "%s/cudaconvolve", path);
  rmdir (name);
  rmdir (path);
  return failures;
}
