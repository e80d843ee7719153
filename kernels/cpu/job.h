/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A job of the variant cpu: cut out in cpu/cpu.c, walked down in cpu/walk.c. */
#ifndef CONVOLVE_CPU_JOB_H
#define CONVOLVE_CPU_JOB_H

#include "cpu/cpu.h"

/* One call of convolve_run(). */
typedef struct
{
  const ConvolvePlan *plan;
  const ConvolvePlane *plane;
  int samples;     /* elements of a pixel */
  int strip, band; /* pixels and rows of a job */
  int strips, bands, threads;
  bool streams; /* the result is written past the caches */
} ConvolveCpuWork;

/* A job: a rectangle of the region, and the rows it needs, all in the thread's memory. */
typedef struct
{
  const ConvolveCpuWork *work;
  const ConvolveCpu *cpu;
  const ConvolveCpuLevel *level;
  int x, y, width, height; /* pixels to write */
  int step, count, reach;  /* elements: of a pixel, to write in a row, and of a row under the mask */

  int first, last;     /* pixels of a row that are loaded as they lie: first .. last - 1 */
  int *outside;        /* where the pixels before and behind those come from, -1 for the zero level */
  int left, n_outside; /* how many are before, and all */
  void *offsets;       /* the tail's, for each element: float, or double where it is wide */
  uint16_t *values[2], *results[2];
  int32_t *sums[2];

  ConvolvePair **pairs;                   /* ring of pairs of rows, the topmost first */
  uint16_t **shorts[2];                   /* each product's column sums, for the upper and the lower row of outputs */
  ConvolvePair **products[2];             /* the same, paired up with the neighbours a pixel further */
  int32_t *starts;                        /* of the sums, for each element */
  int batch;                              /* rows of outputs whose column sums are made together */
  float **floats, **middles, *float_sums; /* ring of rows; column sums of each row of a batch, by products */
  double **wide_middles, *double_sums;
  int32_t *columns, *scratch[2];
  double *squares[2];
  double *block;           /* sums of the outputs of two squares, one sample of each pixel */
  uint16_t *block_results; /* of all samples */
} ConvolveCpuJob;

/* Outputs of one square. */
static inline int
convolve_cpu_fft_columns (const ConvolveCpu *cpu)
{
  return CONVOLVE_CPU_FFT_POINTS - cpu->fft->part_width + 1;
}

static inline int
convolve_cpu_fft_rows (const ConvolveCpu *cpu)
{
  return CONVOLVE_CPU_FFT_POINTS - cpu->fft->part_height + 1;
}

/* Writes the job's rectangle. */
void convolve_cpu_walk (const ConvolveCpuJob *job);

#endif
