/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of pairs. */
#include "cpu/rows.h"
#include "cpu/walk_paths.h"

/*
 * The sums of all terms over the pairs, for two rows of outputs from row y on, and the rows of results. The starts of
 * each row have its own place's samples in them where the mask has a tap for these.
 */
static void
finish_pairs (const ConvolveCpuJob *job, int y, const int32_t *const starts[2])
{
  const ConvolveCpu *cpu = job->cpu;
  const ConvolvePair *const *pairs = (const ConvolvePair *const *) job->pairs;
  int rows = y + 1 < job->y + job->height ? 2 : 1;

  if (cpu->wide.n_groups > 0)
    job->level->wide_values_of_rows (&cpu->wide, pairs, job->count,
        (const ConvolveWideStarts[]){ { starts[0], job->low_starts }, { starts[1], job->low_starts } }, &cpu->shift,
        job->results[0], job->results[1]);
  else if (cpu->shifts)
    job->level->values_of_rows (&cpu->terms, pairs, job->count, starts, &cpu->shift, job->results[0], job->results[1]);
  else
    job->level->sum_rows (&cpu->terms, pairs, job->count, job->starts, job->sums[0], job->sums[1]);
  for (int k = 0; k < rows; k++) {
    if (cpu->shifts)
      convolve_cpu_store_row (job, y + k, job->results[k]);
    else
      convolve_cpu_store_ints (job, y + k, job->sums[k]);
  }
}

/*
 * Two rows of outputs at a time, from the same pairs of rows. The mask of the upper row begins at the first row of a
 * pair, that of the lower row at the second.
 */
void
convolve_cpu_walk_pairs (const ConvolveCpuJob *job)
{
  int n = (job->plan->taps.height + 1) / 2, top = job->y - job->plan->taps.height / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    convolve_cpu_load_pairs (job, top + 2 * (i + n - 1), convolve_cpu_turn (job->pairs, n));
    if (i >= 0)
      finish_pairs (job, job->y + 2 * i, (const int32_t *const[]){ job->starts, job->starts });
  }
}

/* The row sums of each product, of the rows y and y + 1. */
static void
sum_products (const ConvolveCpuJob *job, int y)
{
  const ConvolveCpu *cpu = job->cpu;
  int n = (job->plan->taps.height + 1) / 2;
  uint16_t *values[2];

  for (int i = 0; i < 2; i++) {
    values[i] = cpu->centre_tap ? convolve_cpu_turn (job->rows, convolve_cpu_centre_rows (job->plan->taps.height))
                                : job->values[i];
    convolve_cpu_load_row (job, y + i, values[i]);
    /* The last elements are paired with padding, which only taps of 0 multiply. */
    if (cpu->joins)
      job->level->pair_up (values[i], values[i] + job->samples, job->input_count, 0, job->joined[i]);
  }
  for (int r = 0; r < cpu->rank; r++) {
    ConvolvePair *pairs = convolve_cpu_turn (job->pairs + r * n, n);

    if (cpu->neighbours)
      job->level->row_sums_of_neighbours (&cpu->rows[r], (const uint16_t *const *) values, job->count,
          cpu->row_start[r], cpu->cut[r], pairs);
    else if (cpu->joins)
      job->level->row_sums_of_pairs (&cpu->rows[r], (const ConvolvePair *const *) job->joined, job->count,
          cpu->row_start[r], cpu->cut[r], pairs);
    else
      job->level->row_sums_apart (&cpu->rows[r], (const uint16_t *const *) values, job->samples, job->count,
          cpu->row_start[r], cpu->cut[r], pairs);
  }
}

/* Two rows of outputs at a time, of one product that is folded. */
static void
walk_folded (const ConvolveCpuJob *job)
{
  int h = job->plan->taps.height, n = (h + 1) / 2, top = job->y - h / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    int y = job->y + 2 * i;

    convolve_cpu_turn (job->pairs, n);
    for (int k = 0; k < 2; k++)
      convolve_cpu_load_row (job, top + 2 * (i + n - 1) + k, job->values[k]);
    job->level->fold_rows (&job->cpu->fold, (const uint16_t *const *) job->values, job->count, job->pairs,
        i < 0 ? NULL : job->results);
    for (int k = 0; k < 2 && i >= 0 && y + k < job->y + job->height; k++)
      convolve_cpu_store_row (job, y + k, job->results[k]);
  }
}

/* As convolve_cpu_walk_pairs (), but the pairs are row sums. */
void
convolve_cpu_walk_factors (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  int n = (job->plan->taps.height + 1) / 2, top = job->y - job->plan->taps.height / 2;
  int side = job->plan->taps.width / 2 * job->samples;

  if (cpu->folds) {
    walk_folded (job);
    return;
  }
  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    const int32_t *starts[2] = { job->starts, job->starts };

    sum_products (job, top + 2 * (i + n - 1));
    if (i < 0)
      continue;
    for (int k = 0; k < 2 && cpu->centre_tap; k++) {
      job->level->add_centre (job->rows[k] + side, job->count, cpu->centre_tap, job->starts, job->centre_starts[k]);
      starts[k] = job->centre_starts[k];
    }
    finish_pairs (job, job->y + 2 * i, starts);
  }
}
