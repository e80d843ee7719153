/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A job: a rectangle of the region, convolved by one thread from top to bottom. */
#ifndef CONVOLVE_CPU_JOB_H
#define CONVOLVE_CPU_JOB_H

#include "cpu/paths/prepared.h"

/* Pointers are into the thread's memory. A path sets only what it needs. */
typedef struct
{
  const ConvolvePlan *plan;
  const ConvolvePlane *plane;
  const ConvolveCpu *cpu;
  const ConvolveCpuLevel *level;
  int x, y, width, height; /* pixels to write */
  bool streams;            /* the result is written past the caches */

  int samples;     /* elements of a pixel */
  int count;       /* elements of a row of outputs */
  int input_count; /* elements of a row of inputs: the outputs' and the halo's on both sides */

  /* A row of inputs has the pixels first .. last - 1 of the plane. The boundary supplies the pixels on both sides. */
  int first, last;
  int left, n_outside; /* how many pixels the boundary supplies on the left, and on both sides */
  int *outside;        /* for each of these pixels, the column to copy, or -1 for the zero level */

  void *offsets;                    /* of the tail, for each element; double where the tail is in double */
  void *negative_offsets;           /* of an absolute value: the same for the negative of each sum */
  uint16_t *negatives;              /* the results of these */
  int32_t *mirrors;                 /* what a sum is taken from, for the start of its negative, for each element */
  uint16_t *values[2], *results[2]; /* rows of inputs, rows of outputs */
  int32_t *sums[2];

  uint16_t **rows; /* ring of rows of inputs, of paths that read no pairs and no floats */

  /* pairs */
  int32_t *starts;      /* of the sums, for each element */
  ConvolvePair **pairs; /* ring of pairs of rows, the topmost first; factors: of row sums, a ring for each product */

  /* wide; starts has what is above low_bits */
  int32_t *low_starts;
  double *wide_sums[2];

  /* floating point */
  int batch;      /* rows of outputs whose column sums are made together */
  float **floats; /* ring of rows of inputs */
  float *float_sums;
  double *double_sums;

  /* Rows and sums that a single path uses; one member of the union for each such path. */
  union
  {
    struct
    {
      float *half_offsets[2];         /* of the tail or root, for even and for odd elements */
      int32_t **starts, **low_starts; /* of the sums of each set, for each element */
      double **offsets;               /* of the value of each set, for each element */
      double *squares[2];             /* sums of squares of two rows of outputs */
    } sets;
    struct
    {
      int32_t *columns, *scratch[2]; /* sums of the columns under the mask */
      uint16_t *inner_values[2];     /* rows of inputs that enter and leave the sums of inner taps */
      uint16_t *short_columns;
    } box;
    struct
    {
      ConvolvePair *joined[2];   /* elements of two rows of inputs, each paired with the element a pixel to the right */
      int32_t *centre_starts[2]; /* the starts with the centre's own tap, for two rows of outputs */
    } products;
    struct
    {
      float **float_columns; /* column sums: of each row of the batch, of each product */
      double **double_columns;
    } factors;
    struct
    {
      double *squares[2];
      double *sums;      /* of the outputs of two squares, one sample of each pixel */
      uint16_t *results; /* of the same outputs, all samples */
    } fft;
  };
} ConvolveCpuJob;

/* Memory of a job, which is only measured where base is NULL. */
typedef struct
{
  uint8_t *base;
  size_t used;
} ConvolveCpuArena;

/* Takes `count` elements of `size` bytes, or n rows of them and the pointers to these. */
void *convolve_cpu_take (ConvolveCpuArena *arena, size_t count, size_t size);
void *convolve_cpu_take_rows (ConvolveCpuArena *arena, int n, size_t length, size_t size);

/* Fills a row of offsets from one for each sample of a pixel; and all starts and offsets of the tail. */
void convolve_cpu_fill_row (const ConvolveCpuJob *job, const double *offsets, void *row);
void convolve_cpu_fill_offsets (const ConvolveCpuJob *job);

/*
 * Prepares a job for this rectangle, by what a ConvolveCpuCut chose, with its buffers in memory, which is aligned to 64
 * bytes. Returns the number of bytes that the buffers take. With memory NULL, the buffers are only measured.
 */
size_t convolve_cpu_job_init (ConvolveCpuJob *job, const ConvolveCpu *cpu, const ConvolvePlan *plan,
    const ConvolvePlane *plane, ConvolveRect rectangle, void *memory);

#endif
