/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a frame costs by where it comes from: bench_pipeline --sources. */
#ifndef TESTS_BENCH_SOURCES_H
#define TESTS_BENCH_SOURCES_H

#include <glib.h>
#include <stdio.h>
#include <time.h>

/* Microseconds. */
static inline gdouble
now (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

/*
 * Prints a table of all sources, sizes and numbers of streams. program is run again for each round and each plugin: that of
 * GST_PLUGIN_PATH, and the one in the folder beside, where that is not NULL, in turns. csv may be NULL. Returns 0, or 1
 * where a round failed.
 */
int bench_sources (const gchar *program, const gchar *beside, const gchar *streams, gint n_rounds, gint n_frames,
    FILE *csv);

/*
 * Prints a table of what auto makes of frames from a program, beside the device and the CPU by themselves, in turns. At most 99
 * rounds count. csv may be NULL.
 */
void bench_choice (const gchar *streams, gint n_rounds, gint n_frames, FILE *csv);

/* One round, by the plugin that is there; prints lines that bench_sources () reads. */
void bench_sources_round (const gchar *streams, gint n_frames);

#endif
