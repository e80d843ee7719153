/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of "auto" by time, on devices that the rules in auto.c were not read from: some candidates are timed on a
 * plane of the plan's size, and the fastest is taken. What was found is kept, by device and by kind of mask and pixels:
 * in the process, and in the file cudaconvolve/auto-VERSION.csv of the user's cache folder, for the next process.
 *
 * The environment variable CUDACONVOLVE_AUTO has the value "rules" where nothing is to be timed, and "measure" where
 * the device is to be treated as one that the rules do not know.
 */
#ifndef CONVOLVE_MEASURE_H
#define CONVOLVE_MEASURE_H

#include "common/internal.h"

#define CONVOLVE_MOST_CANDIDATES 4
#define CONVOLVE_MEASURE_ROUNDS 4    /* how often each candidate is timed, of which the least time counts */
#define CONVOLVE_MEASURE_MARGIN 0.96 /* another candidate has to take less than this part of the first one's time */
#define CONVOLVE_MEASURE_KIND 192    /* bytes of a kind's text */
#define CONVOLVE_MEASURE_SIDE 31     /* of masks: plans for wider ones take longer than the time there is */

/* What is timed. time () times candidate i once, in nanoseconds; a negative number where it cannot run. */
typedef struct
{
  const char *device;               /* convolve_device_name () */
  char kind[CONVOLVE_MEASURE_KIND]; /* of mask and pixels, without a semicolon */
  int count;                        /* candidates; the first one is what the rules choose */
  const ConvolveVariant *rows[CONVOLVE_MOST_CANDIDATES];
  double (*time) (void *data, int i);
  int64_t (*now) (void *data); /* a clock in nanoseconds, for the limit; NULL: the system's */
  void *data;
} ConvolveMeasurement;

/* Whether "auto" times its candidates on a device of this name, "NVIDIA H200 (sm_90, driver for CUDA 13.0)". */
bool convolve_measure_is_wanted (const char *device);

/* Writes the kind of the plan's mask and pixels. Masks of one kind are the same work for every variant, or nearly. */
void convolve_measure_kind (const ConvolvePlan *plan, char *kind, size_t size);

/*
 * The number of the candidate to take: one that was found before for the device and the kind, or the fastest of those
 * that could be timed in 10 ms. At least two are timed. Another candidate is taken only if it is more than 4% faster
 * than the first. 0 where none could be timed. Any thread may call this.
 */
int convolve_measure_fastest (const ConvolveMeasurement *measurement);

/* The path of the file. False where there is no cache folder, or the path is longer than size - 1. */
bool convolve_measure_file (char *path, size_t size);

/* Forgets what this process found and read, as a new process would. For tests. */
void convolve_measure_forget (void);

#endif
