/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths in floating point. One order of additions for each output, whose roundings cpu/prepare_floats.c counts. */
#include "cpu/rows.h"
#include "cpu/walk_paths.h"

/* Columns of a batch that are summed at a time, so that the rows under the mask stay in the L1 cache. */
#define BATCH_COLUMNS 128

/* Loads row y into the ring of n rows. */
static void
load_floats (const ConvolveCpuJob *job, int y, int n)
{
  convolve_cpu_load_floats (job, y, convolve_cpu_turn (job->floats, n));
}

/* Writes row y from few rows of elements, each with one row of `width` taps. */
static void
finish_few (const ConvolveCpuJob *job, const float *taps, int width, const float *const *rows, int n_rows, int y)
{
  const ConvolveTail *tail = &job->cpu->tail;
  const float *at[CONVOLVE_FEW_FLOATS];

  for (int k = 0; k < width * n_rows; k++)
    at[k] = rows[k / width] + k % width * job->samples;
  job->level->values_of_few_floats (taps, width * n_rows, at, job->count, tail->scale_f, tail->offset_f[0],
      (int) tail->maximum, job->results[0]);
  convolve_cpu_store_row (job, y, job->results[0]);
}

/* Writes row y from the rows of the ring. */
static void
sum_row (const ConvolveCpuJob *job, int y)
{
  const ConvolveTaps *taps = &job->plan->taps;
  const float *const *rows = (const float *const *) job->floats;

  if (job->cpu->few) {
    finish_few (job, taps->taps, taps->width, rows, taps->height, y);
  } else if (job->cpu->path == CONVOLVE_CPU_FLOAT) {
    job->level->sum_floats (taps->taps, taps->width, taps->height, job->samples, job->cpu->block, rows, 0, job->count,
        job->float_sums);
    convolve_cpu_store_floats (job, y, job->float_sums);
  } else {
    job->level->sum_floats_in_double (taps->double_taps, taps->width, taps->height, job->samples, rows, 0, job->count,
        job->double_sums);
    convolve_cpu_store_doubles (job, y, job->double_sums);
  }
}

void
convolve_cpu_walk_floats (const ConvolveCpuJob *job)
{
  int h = job->plan->taps.height, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    load_floats (job, top + i + h - 1, h);
    if (i >= 0)
      sum_row (job, job->y + i);
  }
}

/* The column sums of each product, for n rows of outputs. Output row i is made from rows[i] and the rows below. */
static void
sum_batch (const ConvolveCpuJob *job, const float *const *rows, int n)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->plan->taps.height;

  for (int x = 0; x < job->input_count; x += BATCH_COLUMNS) {
    int count = job->input_count - x < BATCH_COLUMNS ? job->input_count - x : BATCH_COLUMNS;

    for (int i = 0; i < n; i++)
      for (int r = 0; r < cpu->rank; r++) {
        if (cpu->path == CONVOLVE_CPU_FLOAT_FACTORS)
          job->level->sum_floats (cpu->float_columns + r * h, 1, h, job->samples, cpu->column_block, rows + i, x, count,
              job->float_columns[i * cpu->rank + r]);
        else
          job->level->sum_floats_in_double (cpu->double_columns + r * h, 1, h, job->samples, rows + i, x, count,
              job->double_columns[i * cpu->rank + r]);
      }
  }
}

/* Writes row y from the column sums of row i of the batch. */
static void
finish_batch (const ConvolveCpuJob *job, int i, int y)
{
  const ConvolveCpu *cpu = job->cpu;
  int w = job->plan->taps.width;

  if (cpu->path == CONVOLVE_CPU_FLOAT_FACTORS) {
    job->level->sum_floats (cpu->float_rows, w, cpu->rank, job->samples, cpu->block,
        (const float *const *) job->float_columns + i * cpu->rank, 0, job->count, job->float_sums);
    convolve_cpu_store_floats (job, y, job->float_sums);
  } else {
    job->level->sum_doubles (cpu->double_rows, w, cpu->rank, job->samples,
        (const double *const *) job->double_columns + i * cpu->rank, job->count, job->double_sums);
    convolve_cpu_store_doubles (job, y, job->double_sums);
  }
}

/* The rows under the mask, the column sums and the values of one row of outputs stay in the L1 cache. */
static void
walk_few (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  int w = job->plan->taps.width, h = job->plan->taps.height, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    load_floats (job, top + i + h - 1, h);
    if (i < 0)
      continue;
    job->level->sum_few_floats (cpu->float_columns, h, (const float *const *) job->floats, job->input_count,
        job->float_columns[0]);
    finish_few (job, cpu->float_rows, w, (const float *const *) job->float_columns, 1, job->y + i);
  }
}

void
convolve_cpu_walk_float_factors (const ConvolveCpuJob *job)
{
  int h = job->plan->taps.height, ring = h + job->batch - 1, loaded = job->y - h / 2;

  if (job->cpu->few) {
    walk_few (job);
    return;
  }
  for (int y = job->y; y < job->y + job->height; y += job->batch) {
    int left = job->y + job->height - y, n = left < job->batch ? left : job->batch;
    int end = y - h / 2 + h + n - 1; /* behind the last row under the batch */

    for (; loaded < end; loaded++)
      load_floats (job, loaded, ring);
    sum_batch (job, (const float *const *) job->floats + ring - (h + n - 1), n);
    for (int i = 0; i < n; i++)
      finish_batch (job, i, y + i);
  }
}
