/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths in integers: running sums of equal taps, and sums of pairs. */
#include <string.h>

#include "cpu/rows.h"
#include "cpu/walk_paths.h"

/* A row enters the column sums below the mask, and the row above the mask leaves them. */
void
convolve_cpu_walk_box (const ConvolveCpuJob *job)
{
  int w = job->plan->taps.width, h = job->plan->taps.height, top = job->y - h / 2;

  for (int x = 0; x < job->input_count; x++)
    job->columns[x] = -h * job->cpu->center;
  memset (job->values[1], 0, job->input_count * sizeof (*job->values[1]));
  for (int j = 0; j < h - 1; j++) {
    convolve_cpu_load_row (job, top + j, job->values[0]);
    job->level->slide (job->values[0], job->values[1], job->input_count, job->columns);
  }
  for (int i = 0; i < job->height; i++) {
    convolve_cpu_load_row (job, top + i + h - 1, job->values[0]);
    if (i > 0)
      convolve_cpu_load_row (job, top + i - 1, job->values[1]);
    job->level->slide (job->values[0], job->values[1], job->input_count, job->columns);
    job->level->window (job->columns, w, job->samples, job->count, (int32_t **) job->scratch, job->sums[0]);
    convolve_cpu_store_ints (job, job->y + i, job->sums[0]);
  }
}

/* Each product's column sums, for two rows of outputs. */
static void
sum_columns (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;

  for (int r = 0; r < cpu->rank; r++) {
    job->level->shorts_of_rows (&cpu->columns[r], (const ConvolvePair *const *) job->pairs, job->input_count,
        cpu->column_shift[r], job->shorts[0][r], job->shorts[1][r]);
    /* The last elements are paired with padding, which only taps of 0 multiply. */
    for (int i = 0; i < 2 && !cpu->neighbours; i++)
      job->level->pair_up (job->shorts[i][r], job->shorts[i][r] + job->samples, job->input_count, 0,
          job->products[i][r]);
  }
}

/* The row sums of all products, for row i of the two rows: to results[i], or to sums[i] where the tail follows. */
static void
sum_products (const ConvolveCpuJob *job, int i)
{
  const ConvolveCpu *cpu = job->cpu;
  const uint16_t *const *shorts = (const uint16_t *const *) job->shorts[i];
  const ConvolvePair *const *products = (const ConvolvePair *const *) job->products[i];

  if (cpu->neighbours && cpu->shifts)
    job->level->values_of_neighbours (&cpu->terms, shorts, job->count, job->starts, &cpu->shift, job->results[i]);
  else if (cpu->neighbours)
    job->level->sum_neighbours (&cpu->terms, shorts, job->count, job->starts, job->sums[i]);
  else if (cpu->shifts)
    job->level->values_of_row (&cpu->terms, products, job->count, job->starts, &cpu->shift, job->results[i]);
  else
    job->level->sum_row (&cpu->terms, products, job->count, job->starts, job->sums[i]);
}

/* The sums of a mask without factors, for both rows. */
static void
sum_pairs (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  const ConvolvePair *const *pairs = (const ConvolvePair *const *) job->pairs;

  if (cpu->shifts)
    job->level->values_of_rows (&cpu->terms, pairs, job->count, job->starts, &cpu->shift, job->results[0],
        job->results[1]);
  else
    job->level->sum_rows (&cpu->terms, pairs, job->count, job->starts, job->sums[0], job->sums[1]);
}

/*
 * Two rows of outputs at a time, from the same pairs of rows. The mask of the upper row begins at the first row of a
 * pair, that of the lower row at the second.
 */
void
convolve_cpu_walk_pairs (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->plan->taps.height, n = (h + 1) / 2, top = job->y - h / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    int y = job->y + 2 * i, rows = y + 1 < job->y + job->height ? 2 : 1;

    convolve_cpu_load_pairs (job, top + 2 * (i + n - 1), convolve_cpu_turn (job->pairs, n));
    if (i < 0)
      continue;
    if (cpu->path == CONVOLVE_CPU_PAIRS)
      sum_pairs (job);
    else
      sum_columns (job);
    for (int k = 0; k < rows; k++) {
      if (cpu->path == CONVOLVE_CPU_FACTORS)
        sum_products (job, k);
      if (cpu->shifts)
        convolve_cpu_store_row (job, y + k, job->results[k]);
      else
        convolve_cpu_store_ints (job, y + k, job->sums[k]);
    }
  }
}
