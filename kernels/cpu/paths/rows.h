/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a job on their way in, from the source to elements, and out, from sums to the destination. */
#ifndef CONVOLVE_CPU_ROWS_H
#define CONVOLVE_CPU_ROWS_H

#include "cpu/paths/job.h"

/* Moves the oldest of the n rows of a ring to the end and returns it. rows points to the pointers. */
void *convolve_cpu_turn (void *rows, int n);

/* The values of row y of the picture, anywhere inside or outside, with the halo on both sides. */
void convolve_cpu_load_row (const ConvolveCpuJob *job, int y, uint16_t *values);

/* The rows y and y + 1, less the middle, as pairs. */
void convolve_cpu_load_pairs (const ConvolveCpuJob *job, int y, ConvolvePair *pairs);

/* Loads row y as signed values in float. */
void convolve_cpu_load_floats (const ConvolveCpuJob *job, int y, float *row);

/* Writes row y of the result. */
void convolve_cpu_store_row (const ConvolveCpuJob *job, int y, const uint16_t *values);

/* The types of sums. */
typedef enum
{
  CONVOLVE_CPU_INTS,
  CONVOLVE_CPU_FLOATS,
  CONVOLVE_CPU_DOUBLES
} ConvolveCpuSums;

/*
 * Turns sums into values by the tail, for an absolute value also their negatives, of which the larger results remain.
 */
void convolve_cpu_sums_to_values (const ConvolveCpuJob *job, ConvolveCpuSums type, const void *sums, int count,
    uint16_t *values);

/* Turns the sums of row y into values, and writes the row of the result. */
void convolve_cpu_store_sums (const ConvolveCpuJob *job, int y, ConvolveCpuSums type, const void *sums);

#endif
