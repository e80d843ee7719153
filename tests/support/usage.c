/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/usage.h"

#include <gmodule.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES 40

/* gcc says by names that it defines which sanitizer there is, and clang by __has_feature(). */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) \
    || __has_feature(thread_sanitizer)
#define SANITIZED TRUE
#else
#define SANITIZED FALSE
#endif

#define KIB 1024.0

typedef struct
{
  const gchar *name, *unit;
  gdouble (*read) (void);
  gdouble bound; /* the most that the figure may grow by */
  gboolean is_memory, is_device;
} Figure;

/* --- the figures --- */

static gdouble
read_resident (void)
{
  g_autofree gchar *text = NULL;
  unsigned long size, resident;

  if (!g_file_get_contents ("/proc/self/statm", &text, NULL, NULL) || sscanf (text, "%lu %lu", &size, &resident) != 2)
    return 0;
  return resident * (sysconf (_SC_PAGESIZE) / KIB);
}

/* What malloc() has given out and not got back, in all threads. */
static gdouble
read_heap (void)
{
#ifdef HAVE_MALLINFO2
  struct mallinfo2 info = mallinfo2 ();

  return (info.uordblks + info.hblkhd) / KIB;
#else
  return 0;
#endif
}

static gdouble
read_threads (void)
{
  g_autofree gchar *text = NULL;
  const gchar *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL) || !(line = strstr (text, "\nThreads:")))
    return 0;
  return g_ascii_strtoull (line + strlen ("\nThreads:"), NULL, 10);
}

static gdouble
read_files (void)
{
  GDir *folder = g_dir_open ("/proc/self/fd", 0, NULL);
  guint count = 0;

  if (!folder)
    return 0;
  while (g_dir_read_name (folder))
    count++;
  g_dir_close (folder);
  return count - 1; /* without the folder itself */
}

typedef struct
{
  int (*push) (void *context);
  int (*pop) (void **context);
  int (*info) (size_t *free_bytes, size_t *bytes);
  void *context; /* NULL where there is no GPU */
} Driver;

/* CUDA's driver is looked for while the program runs, so that the program needs neither CUDA nor a GPU. */
static void
driver_open (Driver *driver)
{
  GModule *module = g_module_open ("libcuda.so.1", G_MODULE_BIND_LAZY);
  int (*init) (unsigned), (*get) (int *, int), (*retain) (void **, int);
  int device;

  if (!module || !g_module_symbol (module, "cuInit", (gpointer *) &init)
      || !g_module_symbol (module, "cuDeviceGet", (gpointer *) &get)
      || !g_module_symbol (module, "cuDevicePrimaryCtxRetain", (gpointer *) &retain)
      || !g_module_symbol (module, "cuCtxPushCurrent_v2", (gpointer *) &driver->push)
      || !g_module_symbol (module, "cuCtxPopCurrent_v2", (gpointer *) &driver->pop)
      || !g_module_symbol (module, "cuMemGetInfo_v2", (gpointer *) &driver->info))
    return;
  if (init (0) != 0 || get (&device, 0) != 0 || retain (&driver->context, device) != 0)
    driver->context = NULL;
}

guint64
usage_of_device (void)
{
  static Driver driver;
  static gboolean opened;
  size_t free_bytes = 0, bytes = 0;
  void *context;

  if (!opened)
    driver_open (&driver);
  opened = TRUE;
  if (!driver.context || driver.push (driver.context) != 0)
    return 0;
  if (driver.info (&free_bytes, &bytes) != 0)
    free_bytes = bytes = 0;
  driver.pop (&context);
  return bytes - free_bytes;
}

static gdouble
read_device (void)
{
  return usage_of_device () / KIB;
}

/*
 * The heap is exact where glibc's caches of threads are off, as tests/meson.build sets them. Resident memory also has what malloc() keeps for later. A GPU's memory is given out in blocks of
 * 2 MiB. GLib and GStreamer keep threads for a while that have nothing to do.
 */
static const Figure figures[] = {
  { .name = "resident memory", .unit = "KiB", .read = read_resident, .bound = 6 * 1024, .is_memory = TRUE },
  { .name = "heap in use", .unit = "KiB", .read = read_heap, .bound = 1024, .is_memory = TRUE },
  { .name = "GPU memory", .unit = "KiB", .read = read_device, .bound = 8 * 1024, .is_memory = TRUE, .is_device = TRUE },
  { .name = "threads", .unit = "", .read = read_threads, .bound = 6 },
  { .name = "file descriptors", .unit = "", .read = read_files, .bound = 2 },
};

#define N_FIGURES G_N_ELEMENTS (figures)

const gchar *
usage_emulator (void)
{
  return g_getenv ("MESON_EXE_WRAPPER");
}

/* --- samples --- */

typedef struct
{
  guint64 done;
  gdouble value[N_FIGURES];
} Sample;

struct _Usage
{
  gchar *name;
  guint64 operations, next;
  gboolean device;
  guint resident, heap; /* KiB by which these may grow besides */
  GArray *samples;
};

void
usage_init (void)
{
#if defined(M_ARENA_MAX) && defined(M_MMAP_THRESHOLD)
  mallopt (M_ARENA_MAX, 1);
  mallopt (M_MMAP_THRESHOLD, 64 * 1024);
#endif
}

Usage *
usage_new (const gchar *name, guint64 operations, gboolean device)
{
  Usage *usage = g_new0 (Usage, 1);

  usage->name = g_strdup (name);
  usage->operations = operations;
  usage->next = operations / 5;
  usage->device = device;
  usage->samples = g_array_new (FALSE, FALSE, sizeof (Sample));
  usage_of_device (); /* has memory of its own, which is not to count as growth */
  return usage;
}

gboolean
usage_is_due (const Usage *usage, guint64 done)
{
  return done >= usage->next;
}

void
usage_sample (Usage *usage, guint64 done)
{
  Sample sample = { .done = done };

  for (guint i = 0; i < N_FIGURES; i++)
    sample.value[i] = figures[i].read ();
  g_array_append_val (usage->samples, sample);
  usage->next = done + MAX (1, usage->operations * 4 / 5 / SAMPLES);
}

void
usage_allow (Usage *usage, guint resident, guint heap)
{
  usage->resident = resident;
  usage->heap = heap;
}

gboolean
usage_is_enough (const Usage *usage)
{
  return usage->samples->len > 1;
}

/* The slope of the straight line with the least squares of differences from the samples, for one operation. */
static gdouble
find_slope (const GArray *samples, guint figure)
{
  gdouble x = 0, y = 0, xx = 0, xy = 0;

  for (guint i = 0; i < samples->len; i++) {
    const Sample *sample = &g_array_index (samples, Sample, i);

    x += sample->done / (gdouble) samples->len;
    y += sample->value[figure] / samples->len;
  }
  for (guint i = 0; i < samples->len; i++) {
    const Sample *sample = &g_array_index (samples, Sample, i);

    xx += (sample->done - x) * (sample->done - x);
    xy += (sample->done - x) * (sample->value[figure] - y);
  }
  return xx > 0 ? xy / xx : 0;
}

static gboolean
judge (const Usage *usage, guint index)
{
  const Figure *figure = &figures[index];
  const Sample *first = &g_array_index (usage->samples, Sample, 0);
  const Sample *last = &g_array_index (usage->samples, Sample, usage->samples->len - 1);
  gdouble slope = find_slope (usage->samples, index), largest = 0, growth;
  gdouble bound = figure->bound + (figure->read == read_resident ? usage->resident : 0)
      + (figure->read == read_heap ? usage->heap : 0);
  gboolean judged = !(SANITIZED && figure->is_memory) && !(usage_emulator () && figure->read == read_resident)
      && (usage->device || !figure->is_device);

  for (guint i = 0; i < usage->samples->len; i++)
    largest = MAX (largest, g_array_index (usage->samples, Sample, i).value[index]);
  growth = slope * (last->done - first->done);
  if (largest > 0)
    g_print ("%s: %s %.0f at the start, %.0f at the end, %.0f at most%s%s; %.3f for 1,000, %.1f in all, bound %.0f%s\n",
        usage->name, figure->name, first->value[index], last->value[index], largest, *figure->unit ? " " : "",
        figure->unit, slope * 1000, growth, bound, judged ? "" : ", not judged");
  /* A line through counts that jump, as threads of forty elements do, can rise where the ends do not. */
  return !judged || growth <= bound || (!figure->is_memory && last->value[index] - first->value[index] <= bound / 2);
}

gboolean
usage_end (Usage *usage)
{
  gboolean enough = usage_is_enough (usage), flat = enough;

  if (!enough)
    g_print ("%s: %u samples of what is used, which is too few\n", usage->name, usage->samples->len);
  for (guint i = 0; enough && i < N_FIGURES; i++)
    if (!judge (usage, i)) {
      g_print ("%s: %s grows:", usage->name, figures[i].name);
      for (guint j = 0; j < usage->samples->len; j++)
        g_print (" %.0f", g_array_index (usage->samples, Sample, j).value[i]);
      g_print ("\n");
      flat = FALSE;
    }
  g_array_unref (usage->samples);
  g_free (usage->name);
  g_free (usage);
  return flat;
}
